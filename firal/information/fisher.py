"""Fisher information of a pool, and the ratios that compare two of them.

``information`` is the weighted sum of the Hessians H(x_i, theta); ``contract`` gives the inner
product of every H(x_i, theta) with one matrix. Neither ever forms a d~ x d~ matrix for a point,
with d~ = d(c-1): the work is one matrix product per block of points. A solver that needs them many
times computes the class probabilities once and uses ``firal.model.hessians``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from firal.common import checks
from firal.common.blocks import pool_blocks
from firal.common.linalg import factor_of, is_singular, trace_of_ratio
from firal.common.threads import threads_for
from firal.model.hessians import contract_curvature, weighted_information
from firal.model.logistic import softmax

PROBABILITY_BYTES = 64 * 2**20  # class probabilities are held for at most this many bytes of points


def information(X: ArrayLike, theta: ArrayLike, weights: ArrayLike | None = None) -> np.ndarray:
    """Fisher information of weighted points: ``sum_i w_i H(x_i, theta)``.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Points.
    theta : array_like of shape (c-1, d)
        Parameters; the last class is the reference.
    weights : array_like of shape (n,), optional
        Nonnegative. The default 1/n gives the mean over the points.

    Returns
    -------
    np.ndarray of shape (d~, d~)
        The sum, with d~ = d(c-1), in the type of X.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, or a weight is negative.

    Notes
    -----
    ``H(x, theta) = kron(diag(h) - h h^T, x x^T)`` with h the probabilities of all classes but the
    last. Cost: n d~^2 / 4 multiply-adds. The chapter *Multinomial logistic regression and its
    Fisher information* derives it.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> X, theta = np.array([[1.0, 0.0], [0.0, 2.0]]), np.zeros((1, 2))
    >>> firal.information(X, theta)
    array([[0.125, 0.   ],
           [0.   , 0.5  ]])
    """
    X = checks.points(X)
    n, d = X.shape
    theta = checks.parameters(theta, d)
    if weights is None:
        weights = np.full(n, 1 / n, dtype=X.dtype)
    weights = checks.weights(weights, n).astype(X.dtype, copy=False)
    total = np.zeros((theta.size, theta.size))
    with threads_for(theta.size):
        for block in probability_blocks(X, theta):
            h = softmax(X[block], theta)[:, :-1]
            total += weighted_information(X[block], h, weights[block])
    return total.astype(X.dtype, copy=False)


def contract(X: ArrayLike, theta: ArrayLike, M: ArrayLike) -> np.ndarray:
    """Inner product of the information of every point with one matrix: ``<H(x_i, theta), M>``.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Points.
    theta : array_like of shape (c-1, d)
        Parameters; the last class is the reference.
    M : array_like of shape (d~, d~)
        Symmetric, with d~ = d(c-1).

    Returns
    -------
    np.ndarray of shape (n,)
        One number per point, in the type of X.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, or M is not symmetric.

    Notes
    -----
    With M the identity this is the trace of the information. Cost: n d~^2 / 4 multiply-adds. The
    chapter *Multinomial logistic regression and its Fisher information* shows why no d~ x d~
    matrix is formed.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.information import fisher
    >>> fisher.contract([[1.0, 0.0], [0.0, 2.0]], np.zeros((1, 2)), np.eye(2))
    array([0.25, 1.  ])
    """
    X = checks.points(X)
    theta = checks.parameters(theta, X.shape[1])
    M = checks.symmetric(M, "M", theta.size)
    out = np.empty(X.shape[0], dtype=X.dtype)
    with threads_for(theta.size):
        for block in probability_blocks(X, theta):
            out[block] = contract_curvature(X[block], softmax(X[block], theta)[:, :-1], M)
    return out


def fir(Hq: ArrayLike, Hp: ArrayLike) -> float:
    """Fisher information ratio ``trace(Hq^{-1} Hp)``.

    Parameters
    ----------
    Hq : array_like of shape (d~, d~)
        Information of the labeled points; positive definite.
    Hp : array_like of shape (d~, d~)
        Information of the points where the classifier will be used; symmetric.

    Returns
    -------
    float
        The ratio; d~ if both are equal.

    Raises
    ------
    ValueError
        If shapes disagree, a matrix is not symmetric, or Hq is singular to rounding.

    Notes
    -----
    n labeled points have an excess risk of about ``fir / (2 n)``. The chapter *The Fisher
    information ratio controls the excess risk* has the proof.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> round(firal.fir(np.diag([1.0, 2.0]), np.diag([3.0, 4.0])), 10)
    5.0
    """
    Hq, Hp = _pair(Hq, "Hq", Hp, "Hp")
    factor = _cholesky(Hq, "Hq")
    return float(np.trace(linalg.cho_solve(factor, Hp)))


def fir_or_inf(Hq: np.ndarray, Hp: np.ndarray) -> float:
    """Fisher information ratio, or inf if the labeled points do not determine all parameters.

    Parameters
    ----------
    Hq : np.ndarray of shape (d~, d~)
        Information of the labeled points; positive semidefinite.
    Hp : np.ndarray of shape (d~, d~)
        Information of the points where the classifier will be used; positive semidefinite.

    Returns
    -------
    float
        ``trace(Hq^{-1} Hp)``; inf if Hq is singular to rounding.

    Notes
    -----
    For loops over rounds, whose first labels may give a singular Hq. Nothing is checked.
    ``fir`` checks its input and raises an error instead.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.information import fisher
    >>> fisher.fir_or_inf(np.diag([1.0, 0.0]), np.eye(2))
    inf
    """
    if is_singular(np.linalg.eigvalsh(Hq)):
        return np.inf
    return trace_of_ratio(Hq, factor_of(Hp))


def sigma(Hq: ArrayLike, Hp: ArrayLike) -> float:
    """Smallest sigma with ``Hp <= sigma Hq``: the largest eigenvalue of ``Hq^{-1} Hp``.

    Parameters
    ----------
    Hq : array_like of shape (d~, d~)
        Information of the labeled points; positive definite.
    Hp : array_like of shape (d~, d~)
        Information of the points where the classifier will be used; symmetric.

    Returns
    -------
    float
        The largest eigenvalue.

    Raises
    ------
    ValueError
        If shapes disagree, a matrix is not symmetric, or Hq is singular to rounding.

    Notes
    -----
    It says how much Hq lacks in its weakest direction. The sample size in the chapter *The Fisher
    information ratio controls the excess risk* depends on it.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> round(firal.sigma(np.diag([1.0, 2.0]), np.diag([3.0, 4.0])), 10)
    3.0
    """
    return _largest_ratio(Hp, "Hp", Hq, "Hq")


def rho(Vp: ArrayLike, Hp: ArrayLike) -> float:
    """Smallest rho with ``I (x) Vp <= rho Hp``.

    Parameters
    ----------
    Vp : array_like of shape (d, d)
        Second moment E[x x^T] of the points.
    Hp : array_like of shape (d~, d~)
        Their information; positive definite, with d~ = d(c-1).

    Returns
    -------
    float
        The largest eigenvalue of ``Hp^{-1} (I (x) Vp)``; at least 4 for two classes.

    Raises
    ------
    ValueError
        If shapes disagree, a matrix is not symmetric, or Hp is singular to rounding.

    Notes
    -----
    It is large where the classifier is almost certain. The sample size in the chapter *The Fisher
    information ratio controls the excess risk* depends on it.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> X = np.eye(2)
    >>> round(firal.rho(X.T @ X / 2, firal.information(X, np.zeros((1, 2)))), 10)
    4.0
    """
    Vp = checks.symmetric(Vp, "Vp")
    Hp = checks.symmetric(Hp, "Hp")
    d, size = Vp.shape[0], Hp.shape[0]
    if size % d:
        raise ValueError(
            f"Hp must have d(c-1) rows for the d = {d} rows of Vp, got shape {Hp.shape}"
        )
    return _largest_ratio(np.kron(np.eye(size // d), Vp), "I (x) Vp", Hp, "Hp")


def probability_blocks(X: np.ndarray, theta: np.ndarray) -> Iterator[slice]:
    """Blocks of points whose class probabilities take bounded memory.

    Parameters
    ----------
    X : np.ndarray of shape (n, d)
        Points.
    theta : np.ndarray of shape (c-1, d)
        Parameters.

    Returns
    -------
    iterator of slice
        Consecutive slices that cover every point once.
    """
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
            "use more points than parameters, or add a ridge"
        )
    return factor


def _largest_ratio(A, name_a, B, name_b):
    """Largest eigenvalue of ``B^{-1} A`` for symmetric A and positive definite B."""
    A, B = _pair(A, name_a, B, name_b)
    _cholesky(B, name_b)
    # all eigenvalues: LAPACK's search for the last one alone can fail when many are equal
    return float(linalg.eigh(A, B, eigvals_only=True)[-1])
