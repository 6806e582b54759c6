"""Fisher information of a pool, and the ratios that compare two of them.

``information`` is the weighted sum of the Hessians H(x_i, theta); ``contract`` gives the inner
product of every H(x_i, theta) with one matrix. Neither ever forms a d~ x d~ matrix for a point,
with d~ = d(c-1): the work is one matrix product per block of points (see ``firal.model.hessians``).

A solver that calls them many times computes the class probabilities once and uses the unchecked
kernels, which are importable from here too:

    h = softmax(X, theta)[:, :-1]            # (n, k), k = c-1
    weighted_information(X, h, weights)      # sum_i w_i H_i
    contract_curvature(X, h, M)              # <H_i, M> for all i
    quadratic_forms(X, W, n_blocks=k)        # x_i^T W_kl x_i
    curvature(h)                             # G_i = diag(h_i) - h_i h_i^T
    pool_blocks(n, bytes_per_point)          # slices of bounded memory
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, special

from firal.common import checks
from firal.common.threads import threads_for
from firal.model.hessians import (
    contract_curvature,
    curvature,
    pool_blocks,
    quadratic_forms,
    weighted_information,
)
from firal.model.logistic import logits, softmax
from firal.theory.bounds import prefactor

__all__ = [
    "contract",
    "contract_curvature",
    "curvature",
    "excess_risk",
    "fir",
    "information",
    "pool_blocks",
    "quadratic_forms",
    "rho",
    "sigma",
    "softmax",
    "weighted_information",
]

PROBABILITY_BYTES = 64 * 2**20  # class probabilities are held for at most this many bytes of points


def information(X, theta, weights=None):
    """``sum_i w_i H(x_i, theta)`` as a (d~, d~) matrix; the default w_i = 1/n gives the mean.

    X (n, d), theta (c-1, d), weights (n,) nonnegative. Cost: n d~^2 / 4 multiply-adds.
    """
    X = checks.points(X)
    n, d = X.shape
    theta = checks.parameters(theta, d)
    if weights is None:
        weights = np.full(n, 1 / n, dtype=X.dtype)
    weights = checks.weights(weights, n).astype(X.dtype, copy=False)
    total = np.zeros((theta.size, theta.size))
    with threads_for(theta.size):
        for block in _probability_blocks(X, theta):
            h = softmax(X[block], theta)[:, :-1]
            total += weighted_information(X[block], h, weights[block])
    return total.astype(X.dtype, copy=False)


def contract(X, theta, M):
    """``<H(x_i, theta), M>`` for every point; M symmetric (d~, d~). Returns (n,).

    Cost: n d~^2 / 4 multiply-adds.
    """
    X = checks.points(X)
    theta = checks.parameters(theta, X.shape[1])
    M = checks.symmetric(M, "M", theta.size)
    out = np.empty(X.shape[0], dtype=X.dtype)
    with threads_for(theta.size):
        for block in _probability_blocks(X, theta):
            out[block] = contract_curvature(X[block], softmax(X[block], theta)[:, :-1], M)
    return out


def fir(Hq, Hp):
    """Fisher information ratio ``trace(Hq^{-1} Hp)``; Hq positive definite, both (d~, d~)."""
    Hq, Hp = _pair(Hq, "Hq", Hp, "Hp")
    factor = _cholesky(Hq, "Hq")
    return float(np.trace(linalg.cho_solve(factor, Hp)))


def sigma(Hq, Hp):
    """Smallest sigma with ``Hp <= sigma Hq``: the largest eigenvalue of ``Hq^{-1} Hp``."""
    return _largest_ratio(Hp, "Hp", Hq, "Hq")


def rho(Vp, Hp):
    """Smallest rho with ``I (x) Vp <= rho Hp``.

    Vp (d, d) is the second moment E[x x^T], Hp (d~, d~) positive definite with d~ = d(c-1).
    """
    Vp = checks.symmetric(Vp, "Vp")
    Hp = checks.symmetric(Hp, "Hp")
    d, size = Vp.shape[0], Hp.shape[0]
    if size % d:
        raise ValueError(
            f"Hp must have d(c-1) rows for the d = {d} rows of Vp, got shape {Hp.shape}"
        )
    return _largest_ratio(np.kron(np.eye(size // d), Vp), "I (x) Vp", Hp, "Hp")


def excess_risk(theta, theta_star, X):
    """``L_p(theta) - L_p(theta_star)`` with p the points X and labels drawn from theta_star.

    The expectation over the labels is taken in closed form: the mean over X of the
    Kullback-Leibler divergence of ``p(.|x, theta)`` from ``p(.|x, theta_star)``. So there is no
    label noise, and the result is accurate (relatively) however close the two parameters are.
    """
    X = checks.points(X).astype(np.float64, copy=False)
    theta = checks.parameters(theta, X.shape[1]).astype(np.float64, copy=False)
    theta_star = checks.parameters(theta_star, X.shape[1], "theta_star")
    if theta.shape != theta_star.shape:
        raise ValueError(
            f"theta and theta_star must have one shape, got {theta.shape} and {theta_star.shape}"
        )
    total = 0.0
    for block in _probability_blocks(X, theta):
        total += _divergences(X[block], theta - theta_star, theta_star).sum()
    return float(total / X.shape[0])


def _divergences(X, difference, theta_star):
    """KL divergence of each point, ``log E* exp(D)`` for the logit differences D with E* D = 0."""
    log_p = logits(X, theta_star)
    log_p -= special.logsumexp(log_p, axis=0)
    p = np.exp(log_p)
    D = logits(X, difference)
    D -= np.sum(p * D, axis=0)
    # E* exp(D) = 1 + E*(exp(D) - 1 - D): no cancellation when D is small, which is when it is used
    near = np.minimum(D, 1.0)
    small = np.log1p(np.sum(p * near**2 * prefactor(near), axis=0))
    large = special.logsumexp(log_p + D, axis=0)
    return np.where(D.max(axis=0) <= 1.0, small, large)


def _probability_blocks(X, theta):
    return pool_blocks(X.shape[0], 4 * X.itemsize * (len(theta) + 1), PROBABILITY_BYTES)


def _pair(A, name_a, B, name_b):
    A = checks.symmetric(A, name_a).astype(np.float64, copy=False)
    B = checks.symmetric(B, name_b).astype(np.float64, copy=False)
    if A.shape != B.shape:
        raise ValueError(f"{name_a} and {name_b} must have one shape, got {A.shape} and {B.shape}")
    return A, B


def _cholesky(A, name):
    """Cholesky factor; an error also when A is singular to rounding."""
    try:
        factor = linalg.cho_factor(A, lower=True)
        # what is left of each diagonal entry after elimination; does not depend on units
        left = np.diag(factor[0]) ** 2 / np.diag(A)
        definite = left.min() > 4 * len(A) * np.finfo(np.float64).eps
    except linalg.LinAlgError:
        definite = False
    if not definite:
        raise ValueError(
            f"{name} must be positive definite, got eigenvalues from "
            f"{linalg.eigvalsh(A)[0]:.3g} to {linalg.eigvalsh(A)[-1]:.3g}: "
            "more points than parameters, or a ridge, make it so"
        )
    return factor


def _largest_ratio(A, name_a, B, name_b):
    """Largest eigenvalue of ``B^{-1} A`` for symmetric A and positive definite B."""
    A, B = _pair(A, name_a, B, name_b)
    _cholesky(B, name_b)
    # all eigenvalues: LAPACK's search for the last one alone can fail when many are equal
    return float(linalg.eigh(A, B, eigvals_only=True)[-1])
