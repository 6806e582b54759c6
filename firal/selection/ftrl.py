"""From weights to points: follow-the-regularized-leader rounding (lines 3-11 of Algorithm 1).

Given weights z with sum b, let Sigma = Sigma(z) and D = (1/b) sum_labeled H, and measure every
point in the geometry of Sigma: H~_i = Sigma^{-1/2} (H(x_i) + D) Sigma^{-1/2}. Then
sum_i z_i H~_i = I. One point is picked per step t = 1..b. With the points picked so far,

    A_t^{-1/2} = nu_t I + eta sum_{l<t} H~_{i_l},     trace(A_t) = 1,
    i_t maximizes the gain (1/eta) trace[A_t^{1/2} - (A_t^{-1/2} + eta H~_i)^{-1}].

Proposition 8: lambda_min(sum_l H~_{i_l}) >= -2 sqrt(d~)/eta + sum of the gains. If that smallest
eigenvalue is at least tau, then the picked points have f <= f(z) / tau (Proposition 7).

**No matrix per point.** In the original coordinates, with K = nu Sigma + eta sum_l (H_{i_l} + D),

    W1 = (K + eta D)^{-1}    and    W2 = W1 Sigma W1

meet a point only through the k x k matrices Q1 = [x^T W1_kl x] and Q2 = [x^T W2_kl x], and
the gain is a constant plus the score trace[(I + eta G Q1)^{-1} G Q2] with G = diag(h) - h h^T.
``firal.selection.scoring`` finds the point with the largest one.

**nu.** Let l_1 <= l_2 <= .. be the eigenvalues of sum_l H~_{i_l} and u = nu + eta l_1. The equation
is phi(u) = (sum_j (u + eta (l_j - l_1))^{-2})^{-1/2} = 1. phi is concave and increasing, and
phi(1) <= 1, so Newton's method started at u = 1 climbs to the root without overshooting.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from firal.common import checks
from firal.common.threads import threads_for
from firal.model.hessians import curvature, information_root
from firal.selection.problem import (
    Problem,
    factor_of,
    from_lower,
    information_by_parts,
    prepare,
)
from firal.selection.scoring import all_scores, best_point

LARGEST_ETA = 1e12  # A^{-1/2} >= I is a difference of numbers of size eta: beyond, rounding decides


class Selection(NamedTuple):
    """The picked points and what is known about them."""

    indices: np.ndarray  # (b,) rows of the pool, in the order they were picked
    eta: float
    lambda_min: float  # smallest eigenvalue of the picked information against Sigma(z)
    lower_bound: np.ndarray  # (b,) right-hand side of Proposition 8 after every step
    gains: np.ndarray  # (b,) what every step added to it
    objective: float  # f of the picked points; inf if their information is singular
    relaxation: object = None  # Relaxation, when it was solved here (select)
    tried: tuple = ()  # ((eta, lambda_min), ..) of every eta tried (select)


class Rounding(NamedTuple):
    """What all runs on one z share, whatever eta."""

    problem: Problem
    Sigma: np.ndarray  # (d~, d~)
    factor: np.ndarray  # lower triangular C, Sigma = C C^T
    share: np.ndarray  # D = labeled information / b
    white_share: np.ndarray  # C^{-1} D C^{-T}
    spectra: dict  # digest of the picked points -> eigenvalues of sum_l H~_{i_l}
    memory: dict  # what firal.selection.scoring uses again


def sparsify(pool, labeled, theta, z, budget, eta, *, replace=False, watch=None):
    """Pick ``budget`` points so that their information is close to Sigma(z) from below.

    pool (m, d), labeled (n0, d) or None, theta (c-1, d), z (m,) nonnegative with sum budget,
    0 < eta < 1e12. ``replace=True`` may pick a point again, which is what Theorem 10 is about;
    ``replace=False`` picks distinct points. Scores equal to rounding are ties, and the lowest
    index wins. ``watch(i, gains)``, if given, is called at every step with the picked row and the
    (m,) gains of all points. Returns a ``Selection``. Cost per step: m d~^2 / 2 multiply-adds for
    the pool, m c^3 / 2 for the eliminations, both in float32, and about 4 d~^3 for nu, W1 and W2.
    """
    problem = prepare(pool, labeled, theta, budget)
    m = problem.X.shape[0]
    z = checks.weights(z, m, "z")
    if not np.isclose(z.sum(), budget, rtol=1e-6, atol=0):
        raise ValueError(f"z must have sum {budget}, the budget, got sum {z.sum():g}")
    eta = checks.number(eta, "eta", 0, LARGEST_ETA)
    checks.function(watch, "watch")
    check_budget(problem, replace)
    with threads_for(problem.size):
        return run(prepare_rounding(problem, z), eta, replace, watch=watch)


def check_budget(problem, replace):
    """Distinct points must exist, unless ``replace`` is True."""
    checks.boolean(replace, "replace")
    m = problem.X.shape[0]
    if not replace and problem.budget > m:
        raise ValueError(
            f"budget must be at most the pool size {m} when replace=False, got {problem.budget}"
        )


def prepare_rounding(problem, z):
    """Sigma(z) and its factor; ValueError if Sigma(z) is singular."""
    Sigma = information_by_parts(problem.X, problem.h, z, problem.threads) + problem.labeled
    factor, failed = lapack.dpotrf(Sigma.T, lower=1, clean=1)
    if failed:
        raise ValueError(
            "z must give information of full rank, got a singular Sigma(z): "
            f"{np.count_nonzero(z)} points have weight"
        )
    share = problem.labeled / problem.budget
    half = blas.dtrsm(1.0, factor, share, lower=1)
    white_share = blas.dtrsm(1.0, factor, half, lower=1, side=1, trans_a=1)
    return Rounding(problem, Sigma, factor, share, (white_share + white_share.T) / 2, {}, {})


def run(rounding, eta, replace, report=None, watch=None):
    """``sparsify`` on prepared data; ``report(done, total)`` is called after each step."""
    problem, Sigma = rounding.problem, rounding.Sigma
    size, b = problem.size, problem.budget
    picked, white = np.zeros((size, size)), np.zeros((size, size))
    allowed = np.ones(problem.X.shape[0], dtype=bool)
    indices, gains = [], []
    for step in range(b):
        spectrum = spectrum_of(rounding, indices, white)
        nu = _normalizer(eta * spectrum)
        W1 = inverse(nu * Sigma + eta * (picked + rounding.share))
        half = blas.dtrmm(1.0, rounding.factor, W1.T, side=1, lower=1)  # W1 C
        W2 = from_lower(blas.dsyrk(1.0, half, lower=1))
        i, score = best_point(problem, eta * W1, W2, allowed, rounding.memory)
        constant = np.sum(1 / (nu + eta * spectrum)) - np.vdot(W1, Sigma)
        gains.append(constant / eta + score)
        if watch is not None:
            watch(i, constant / eta + all_scores(problem, eta * W1, W2))
        indices.append(i)
        allowed[i] = replace
        picked += rounding.share + np.kron(
            curvature(problem.h[i : i + 1])[0], np.outer(problem.X[i], problem.X[i])
        )
        white += rounding.white_share + white_information(rounding, i)
        if report is not None:
            report(step + 1, b)
    spectrum = spectrum_of(rounding, indices, white)
    gains = np.array(gains)
    return Selection(
        indices=np.array(indices),
        eta=eta,
        lambda_min=float(max(spectrum[0], 0.0)),
        lower_bound=np.cumsum(gains) - 2 * np.sqrt(size) / eta,
        gains=gains,
        objective=objective_of(problem, picked, spectrum),
    )


def spectrum_of(rounding, indices, white):
    """Ascending eigenvalues of white = sum_l H~_{i_l}, up to a rotation of the coordinates.

    They depend on the picked points only, so runs with another eta find them in ``spectra``.
    """
    if len(indices) == 0:
        return np.zeros(len(white))
    key = blake2b(np.sort(indices).tobytes(), digest_size=16).digest()
    if key not in rounding.spectra:
        rounding.spectra[key] = linalg.eigvalsh(white, check_finite=False)
    return rounding.spectra[key]


def _normalizer(values):
    """nu with sum_j (nu + values_j)^{-2} = 1 and all nu + values_j > 0; ``values`` ascending."""
    shifted = values - values[0]
    u = 1.0
    for _ in range(100):
        inverse = 1 / (u + shifted)
        square = np.sum(inverse**2)
        # Newton for square^{-1/2} = 1; its derivative in u is square^{-3/2} sum inverse^3
        move = (np.sqrt(square) - 1) * square / np.sum(inverse**3)
        u += move
        if move <= 4e-16 * u:
            break
    return u - values[0]


def white_information(rounding, i):
    """C^{-1} H(x_i) C^{-T}."""
    problem = rounding.problem
    root = information_root(problem.X[i], problem.h[i], problem.reference[i])
    half = blas.dtrsm(1.0, rounding.factor, root, lower=1)
    return half @ half.T


def objective_of(problem, picked, spectrum):
    """f of the picked points, or inf when their information is singular to rounding."""
    if spectrum[0] <= len(spectrum) * np.finfo(float).eps * spectrum[-1]:
        return np.inf
    factor, failed = lapack.dpotrf(picked.T, lower=1)
    if failed:
        return np.inf
    half = blas.dtrsm(1.0, factor, factor_of(problem.mean), lower=1)
    return float(np.vdot(half, half))


def inverse(K):
    """Inverse of a positive definite matrix; K is overwritten."""
    factor, failed = lapack.dpotrf(K.T, lower=1, overwrite_a=1)  # .T: the order LAPACK wants
    if failed:
        raise ValueError("Sigma(z) must be well conditioned, got K + eta D singular to rounding")
    return from_lower(lapack.dpotri(factor, lower=1, overwrite_c=1)[0])
