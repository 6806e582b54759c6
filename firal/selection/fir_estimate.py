"""The Fisher information ratio of the full problem, estimated without a matrix of order d~.

The ratio is ``f = trace(Sigma^+ H_p)``. Three ingredients make it cheap for any number of classes:

- **Probes.** With e_i independent of mean 0 and covariance diag(p_i) - p_i p_i^T, the vector
  w = m^{-1/2} sum_i e_i (x) x_i has covariance H_p, so E[w^T Sigma^+ w] = f (Hutchinson's
  estimator, with probes that have H_p built in). Gaussian e_i make w Gaussian, and the variance is
  twice the squared Frobenius norm of Sigma^{+1/2} H_p Sigma^{+1/2}: small relative to f^2 when many
  directions contribute.
- **Conjugate gradients** solve Sigma v = w for all probes at once, with the diagonal blocks of
  Sigma as a preconditioner. The chosen points are few, so an iteration does not read the pool.
- **A control.** The same probes estimate f_B = trace(B^{-1} H_p), the block-diagonal objective,
  which is known exactly. (c-1)/c times the error of that estimate is taken off. For two classes,
  and where all classes are equally probable, no error is left.

The spectrum of (Sigma, B) is found by Lanczos. It bounds f by f_B from both sides.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, stats

from firal.common import checks
from firal.common.blocks import pool_blocks
from firal.common.threads import allowed_threads, one_thread
from firal.selection.block_rows import contracted
from firal.selection.class_operator import (
    POINT_BYTES,
    ClassInformation,
    inverses,
    pool_and_chosen,
)

MOST_ITERATIONS = 1000
RESIDUAL = 1e-5  # relative; the error of w^T v is of the order of its square
CONTROL_WORK = 2e11  # multiply-adds that the exact f_B may take


class FirEstimate(NamedTuple):
    """An estimated ratio and how sure it is.

    Attributes
    ----------
    value : float
        Estimate of ``trace(Sigma^{-1} H_p)``; unbiased.
    error : float
        Its standard error.
    low, high : float
        Confidence interval, from Student's distribution.
    block_diagonal : float or None
        The block-diagonal objective of the same points, exactly; None if it takes too long.
    probes : int
        Number of probes.
    iterations : int
        Iterations of conjugate gradients.
    """

    value: float
    error: float
    low: float
    high: float
    block_diagonal: float | None
    probes: int
    iterations: int


def estimate_fir(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    rng: np.random.Generator,
    *,
    rows: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    probes: int = 32,
    confidence: float = 0.95,
) -> FirEstimate:
    """Estimate the Fisher information ratio of chosen points, for any number of parameters.

    The ratio is ``f = trace(Sigma^{-1} H_p)`` with Sigma the full information of the chosen and the
    labeled points and of the penalty: the ``objective`` of ``firal.select`` and ``firal.relax``
    with full matrices. Matrices of order d~ = d(c-1) are never formed.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    theta : array_like of shape (c-1, d)
        Parameters; the last class is the reference.
    rng : numpy.random.Generator
        Source of the probes.
    rows : array_like of int, optional
        The chosen points, as rows of the pool.
    weights : array_like of shape (m,), optional
        In place of rows: weights of all points, for example from ``firal.relax``.
    ridge : float, default 0.0
        Penalty of the fit, as in ``firal.select``; the number of labels is n0 plus that of the
        chosen points, or plus the sum of the weights.
    probabilities : tuple of array_like, optional
        Class probabilities of the pool (m, c) and of the labeled points (n0, c) from any
        classifier; theta must be None then.
    probes : int, default 32
        Number of random probes, at least 2.
    confidence : float, default 0.95
        Of the interval, between 0 and 1.

    Returns
    -------
    FirEstimate
        The estimate with its error bars.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, or the information of the points is singular.

    Notes
    -----
    Cost: 2 m c d per probe for the pool, (n c d + c d^2) per probe and iteration with n chosen and
    labeled points, and m c d^2 for the control, which is left out beyond 2e11. Memory c d^2. Ten to
    thirty iterations are usual. The chapter *Many classes* has the reasons.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> rng = np.random.default_rng(0)
    >>> pool, theta = rng.normal(size=(200, 3)), rng.normal(size=(4, 3))
    >>> chosen = firal.select(pool, None, theta, 10, ridge=0.01)
    >>> found = firal.estimate_fir(pool, None, theta, rng, rows=chosen.indices, ridge=0.01)
    >>> bool(abs(found.value - chosen.objective) < 4 * found.error)
    True
    """
    checks.generator(rng)
    probes = checks.integer(probes, "probes", 2)
    confidence = checks.number(confidence, "confidence", 0, 1)
    mean, Sigma = pool_and_chosen(
        pool, labeled, theta, rows=rows, weights=weights, ridge=ridge, probabilities=probabilities
    )
    threads, (m, d), c = allowed_threads(), mean.X.shape, mean.p.shape[1]
    with one_thread():
        # 1. Probes with covariance H_p: the only readings of the pool.
        w = _probes(mean, probes, rng)
        # 2. Sigma v = w, with the blocks as preconditioner.
        W = inverses(Sigma.diagonal_blocks(threads), threads)
        v, iterations = _solve(Sigma, W, w)
        found = np.einsum("dks,dks->s", w, v)
        # 3. The control: what the same probes say about a number that is known.
        exact = None
        if m * c * d**2 <= CONTROL_WORK:
            exact = float(contracted(mean.X, mean.p * (1 - mean.p), W, threads).mean())
            guess = np.einsum("dks,dks->s", w, _of_blocks(W, w))
            found = found - (1 - 1 / c) * (guess - exact)
    value, error = float(found.mean()), float(found.std(ddof=1) / np.sqrt(probes))
    half = float(stats.t.ppf((1 + confidence) / 2, probes - 1)) * error
    return FirEstimate(value, error, value - half, value + half, exact, probes, iterations)


class PairSpectrum(NamedTuple):
    """The ends of the spectrum of (Sigma, its diagonal blocks).

    Attributes
    ----------
    smallest, largest : float
        Eigenvalues of ``B^{-1} Sigma``, without the d zeros that belong to a common shift of all
        classes. The full objective is between f_B / largest and f_B / smallest.
    """

    smallest: float
    largest: float


def pair_spectrum(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    *,
    rows: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
) -> PairSpectrum:
    """How far block-diagonal information is from full information, by Lanczos.

    Parameters
    ----------
    pool, labeled, theta, rows, weights, ridge, probabilities
        As in :func:`estimate_fir`.

    Returns
    -------
    PairSpectrum
        Extreme eigenvalues, to four digits.

    Raises
    ------
    ValueError
        As in ``estimate_fir``.

    Notes
    -----
    With B_k = C_k C_k^T the operator is A = C^{-1} Sigma C^{-T}. Its null space is spanned by
    N = C^T (1 (x) I). For the smallest eigenvalue 2 N (N^T N)^{-1} N^T is added, which moves the
    zeros out of the way. Cost per iteration: 2 n c d + 4 c d^2.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> pool, even = rng.normal(size=(50, 3)), np.zeros((4, 3))  # five classes, equally probable
    >>> found = pair_spectrum(pool, None, even, rows=range(10), ridge=0.01)
    >>> round(found.smallest, 3), round(found.largest, 3)  # c / (c - 1)
    (1.25, 1.25)
    """
    _, Sigma = pool_and_chosen(
        pool, labeled, theta, rows=rows, weights=weights, ridge=ridge, probabilities=probabilities
    )
    d, c = Sigma.X.shape[1], Sigma.p.shape[1]
    with one_thread():
        B = Sigma.diagonal_blocks()
        T = np.linalg.inv(B.sum(axis=0))
        try:
            C = np.linalg.cholesky(B)
        except np.linalg.LinAlgError:
            raise ValueError(
                "chosen and labeled points must have information of full rank in every class, got "
                "a singular block: more points, or a ridge"
            ) from None
        R = np.linalg.inv(C)  # C^{-1}, applied many times

        def product(shift):
            def of(y):
                y = y.reshape(c, d, 1)
                v = np.swapaxes(R, 1, 2) @ y
                out = R @ Sigma.times(v.transpose(1, 0, 2)).transpose(1, 0, 2)
                if shift:
                    out += shift * (np.swapaxes(C, 1, 2) @ (T @ (C @ y).sum(axis=0)))
                return out.ravel()

            return sparse.linalg.LinearOperator((c * d, c * d), matvec=of, dtype=np.float64)

        start = np.random.default_rng(0).normal(size=c * d)
        ends = [
            sparse.linalg.eigsh(
                product(shift), 1, which=which, v0=start, tol=1e-5, return_eigenvectors=False
            )[0]
            for which, shift in (("SA", 2.0), ("LA", 0.0))
        ]
    return PairSpectrum(*map(float, ends))


def _probes(mean: ClassInformation, s, rng):
    """Gaussian vectors (d, c, s) with covariance H_p."""
    (m, d), c = mean.X.shape, mean.p.shape[1]
    w = np.zeros((d, c * s))
    for rows in pool_blocks(m, 24 * c * s, POINT_BYTES):
        root, x = np.sqrt(mean.p[rows]), mean.X[rows]
        e = rng.normal(size=(len(x), c, s))
        e -= root[:, :, None] * np.einsum("nk,nks->ns", root, e)[:, None]
        e *= root[:, :, None]
        w += x.T @ e.reshape(len(x), -1)
    return w.reshape(d, c, s) / np.sqrt(m)


def _of_blocks(W, v):
    """Products of blocks (c, d, d) with vectors (d, c, s)."""
    return (W @ v.transpose(1, 0, 2)).transpose(1, 0, 2)


def _solve(Sigma: ClassInformation, W, w):
    """Preconditioned conjugate gradients for all probes at once, and the number of iterations."""
    v, r = np.zeros_like(w), w.copy()
    q = _of_blocks(W, r)
    p, size = q.copy(), np.einsum("dks,dks->s", r, q)
    enough = RESIDUAL**2 * size
    for iteration in range(1, MOST_ITERATIONS + 1):
        Sp = Sigma.times(p)
        step = size / np.maximum(np.einsum("dks,dks->s", p, Sp), np.finfo(float).tiny)
        v += step * p
        r -= step * Sp
        q = _of_blocks(W, r)
        before, size = size, np.einsum("dks,dks->s", r, q)
        if np.all(size <= enough):
            return v, iteration
        p = q + size / np.maximum(before, np.finfo(float).tiny) * p
    warnings.warn(
        f"conjugate gradients stopped after {MOST_ITERATIONS} iterations: the estimate is too low; "
        "the chosen points may not determine all parameters, and a ridge helps",
        RuntimeWarning,
        stacklevel=3,
    )
    return v, MOST_ITERATIONS
