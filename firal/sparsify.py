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
The inverse of G is diag(1/h) + 1 1^T / h_c (h_c: probability of the reference class), so the score
is the derivative at s = 0 of log|det| of the bordered matrix

    [ diag(1/h) + eta Q1 + s Q2    1  ]
    [            1^T             -h_c ]

taken along by symmetric elimination. All its pivots but the last are positive and the last is
negative, whatever h: nothing cancels, and neither eigenvectors nor roots per point are needed.

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

from firal import checks
from firal.kernels import (
    _packed_coefficients,
    _packed_products,
    curvature,
    pool_blocks,
)
from firal.problem import (
    Problem,
    by_parts,
    factor_of,
    from_lower,
    information_by_parts,
    prepare,
)
from firal.threads import threads_for

BLOCK_BYTES = 16 * 2**20  # working memory of one block of points
_symmetric = from_lower  # under this name it is used by firal.adaptive
LARGEST_ETA = 1e12  # A^{-1/2} >= I is a difference of numbers of size eta: beyond, rounding decides
TIE = 1e-9  # scores within this relative distance of the best are ties: the lowest index wins


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


def sparsify(pool, labeled, theta, z, budget, eta, *, replace=False):
    """Pick ``budget`` points so that their information is close to Sigma(z) from below.

    pool (m, d), labeled (n0, d) or None, theta (c-1, d), z (m,) nonnegative with sum budget,
    0 < eta < 1e12. ``replace=True`` may pick a point again, which is what Theorem 10 is about;
    ``replace=False`` picks distinct points. Scores equal to rounding are ties, and the lowest
    index wins. Returns a ``Selection``. Cost per step: m d~^2 / 2 multiply-adds for the pool,
    m c^3 / 2 for the eliminations, and about 4 d~^3 for nu, W1 and W2.
    """
    problem = prepare(pool, labeled, theta, budget)
    m = problem.X.shape[0]
    z = checks.weights(z, m, "z")
    if not np.isclose(z.sum(), budget, rtol=1e-6, atol=0):
        raise ValueError(f"z must have sum {budget}, the budget, got sum {z.sum():g}")
    eta = checks.number(eta, "eta", 0, LARGEST_ETA)
    check_budget(problem, replace)
    with threads_for(problem.size):
        return run(prepare_rounding(problem, z), eta, replace)


def check_budget(problem, replace):
    """Distinct points must exist."""
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
    return Rounding(problem, Sigma, factor, share, (white_share + white_share.T) / 2, {})


def run(rounding, eta, replace, report=None):
    """``sparsify`` on prepared data; ``report(done, total)`` is called after each step."""
    problem, Sigma = rounding.problem, rounding.Sigma
    size, b = problem.size, problem.budget
    picked, white = np.zeros((size, size)), np.zeros((size, size))
    allowed = np.ones(problem.X.shape[0], dtype=bool)
    indices, gains = [], []
    for step in range(b):
        spectrum = _spectrum(rounding, indices, white)
        nu = _normalizer(eta * spectrum)
        W1 = _inverse(nu * Sigma + eta * (picked + rounding.share))
        half = blas.dtrmm(1.0, rounding.factor, W1.T, side=1, lower=1)  # W1 C
        W2 = from_lower(blas.dsyrk(1.0, half, lower=1))
        scores = _scores(problem, eta * W1, W2)
        best = scores[allowed].max()
        i = int(np.flatnonzero(allowed & (scores >= best * (1 - TIE)))[0])
        constant = np.sum(1 / (nu + eta * spectrum)) - np.vdot(W1, Sigma)
        gains.append(constant / eta + scores[i])
        indices.append(i)
        allowed[i] = replace
        picked += rounding.share + np.kron(
            curvature(problem.h[i : i + 1])[0], np.outer(problem.X[i], problem.X[i])
        )
        white += rounding.white_share + _white_information(rounding, i)
        if report is not None:
            report(step + 1, b)
    spectrum = _spectrum(rounding, indices, white)
    gains = np.array(gains)
    return Selection(
        indices=np.array(indices),
        eta=eta,
        lambda_min=float(max(spectrum[0], 0.0)),
        lower_bound=np.cumsum(gains) - 2 * np.sqrt(size) / eta,
        gains=gains,
        objective=_objective(problem, picked, spectrum),
    )


def _spectrum(rounding, indices, white):
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


def _white_information(rounding, i):
    """C^{-1} H(x_i) C^{-T} from a root of G: diag(s) (I - s s^T / (1 + sqrt(h_c))), s = sqrt(h)."""
    problem = rounding.problem
    s = np.sqrt(problem.h[i])
    root = np.diag(s) - np.outer(problem.h[i], s) / (1 + np.sqrt(problem.reference[i]))
    half = blas.dtrsm(1.0, rounding.factor, np.kron(root, problem.X[i][:, None]), lower=1)
    return half @ half.T


def _scores(problem, eta_W1, W2):
    """Score of every pool point, in blocks: one matrix product, then elimination."""
    X, h, reference = problem.X, problem.h, problem.reference
    (m, d), k = X.shape, h.shape[1]
    coefficients = np.vstack([_packed_coefficients(W, d, k) for W in (eta_W1, W2)])
    pairs = len(coefficients) // 2
    scores = np.empty(m)

    def fill(part):
        for inner in pool_blocks(part.stop - part.start, 8 * (d * d // 2 + 3 * pairs), BLOCK_BYTES):
            block = slice(part.start + inner.start, part.start + inner.stop)
            forms = coefficients @ _packed_products(X[block])
            scores[block] = _bordered_derivative(
                forms[:pairs], forms[pairs:], h[block].T, reference[block]
            )

    by_parts(m, problem.threads, fill)
    return scores


def _bordered_derivative(T, dT, h, reference):
    """d/ds log|det [[diag(1/h) + T + s dT, 1], [1^T, -reference]]| at s = 0, for many points.

    T and dT (k(k+1)/2, n) hold the pairs (0,0), (0,1), .., (1,1), .. of symmetric k x k matrices,
    h is (k, n), reference (n,); T and dT are overwritten. Pivot p with derivative dp adds dp / p;
    with column t, c = t / p and w = dt - c dp / 2 the rest changes by -c t^T and -(c w^T + w c^T).
    """
    k, n = h.shape
    starts = [r * k - r * (r - 1) // 2 for r in range(k)]
    T = [T[start : start + k - r] for r, start in enumerate(starts)]
    dT = [dT[start : start + k - r] for r, start in enumerate(starts)]
    border, dborder = np.ones((k, n)), np.zeros((k, n))
    corner, dcorner = -reference, np.zeros(n)
    total = np.zeros(n)
    for j in range(k):
        t, dt = T[j], dT[j]
        p = t[0] + 1 / np.maximum(h[j], 1e-290)  # a class of probability 0 drops out
        dp = dt[0]
        total += dp / p
        c = t[1:] / p
        w = dt[1:] - c * (dp / 2)
        c_border = border[j] / p
        w_border = dborder[j] - c_border * (dp / 2)
        for r in range(k - 1 - j):
            T[j + 1 + r] -= c[r] * t[r + 1 :]
            dT[j + 1 + r] -= c[r] * w[r:]
            dT[j + 1 + r] -= w[r] * c[r:]
        corner = corner - c_border * border[j]
        dcorner -= 2 * c_border * w_border
        border[j + 1 :] -= c * border[j]
        dborder[j + 1 :] -= c * w_border + w * c_border
    return total + dcorner / corner


def _objective(problem, picked, spectrum):
    """f of the picked points, or inf when their information is singular to rounding."""
    if spectrum[0] <= len(spectrum) * np.finfo(float).eps * spectrum[-1]:
        return np.inf
    factor, failed = lapack.dpotrf(picked.T, lower=1)
    if failed:
        return np.inf
    half = blas.dtrsm(1.0, factor, factor_of(problem.mean), lower=1)
    return float(np.vdot(half, half))


def _inverse(K):
    """Inverse of a positive definite matrix."""
    factor, failed = lapack.dpotrf(K.T, lower=1, overwrite_a=1)  # .T: the order LAPACK wants
    if failed:
        raise ValueError("Sigma(z) must be well conditioned, got K + eta D singular to rounding")
    return from_lower(lapack.dpotri(factor, lower=1, overwrite_c=1)[0])
