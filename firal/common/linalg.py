"""Symmetric matrices by BLAS and LAPACK, without needless copies.

LAPACK works on one triangle of a matrix in Fortran order. A symmetric matrix in C order, once
transposed, is the same matrix in Fortran order: so ``A.T`` is passed where no copy is wanted.
Nothing is checked here.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import linalg
from scipy.linalg import blas, lapack

from firal.common.blocks import pool_blocks

TILE = 256  # rows and columns of a square that stays in cache while it is transposed


def factor_of(A: np.ndarray) -> np.ndarray:
    """Factor a positive semidefinite matrix.

    Parameters
    ----------
    A : np.ndarray of shape (size, size)
        Positive semidefinite.

    Returns
    -------
    np.ndarray of shape (size, size)
        F with ``F F^T = A``; lower triangular if A is positive definite.
    """
    factor, failed = lapack.dpotrf(A, lower=1, clean=1)
    if not failed:
        return factor
    values, vectors = linalg.eigh(A)
    return np.asfortranarray(vectors * np.sqrt(np.maximum(values, 0)))


def svd(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Thin singular value decomposition that does not fail on matrices of deficient rank.

    Parameters
    ----------
    A : np.ndarray of shape (n, d)
        Finite numbers.

    Returns
    -------
    tuple of np.ndarray
        U, s and Vt, as ``numpy.linalg.svd``.

    Notes
    -----
    LAPACK's fast algorithm (divide and conquer) may not converge on many equal singular values,
    such as those of one-hot columns. The slower one (QR) does.
    """
    try:
        return np.linalg.svd(A, full_matrices=False)
    except np.linalg.LinAlgError:
        return linalg.svd(A, full_matrices=False, lapack_driver="gesvd", check_finite=False)


def from_lower(A: np.ndarray) -> np.ndarray:
    """Complete the lower triangle that BLAS or LAPACK left; A is overwritten.

    Parameters
    ----------
    A : np.ndarray of shape (size, size)
        In Fortran order; what is above the diagonal is ignored.

    Returns
    -------
    np.ndarray of shape (size, size)
        The symmetric matrix: the transpose of A, in C order, without a copy.
    """
    for block in pool_blocks(len(A), 1, TILE):
        square = A[block, block]
        np.copyto(square, square.T.copy(), where=_above_diagonal(len(square)))
        for rows in pool_blocks(block.start, 1, TILE):
            A[rows, block] = A[block, rows].T
    return A.T


@lru_cache(maxsize=16)
def _above_diagonal(size):
    return np.triu(np.ones((size, size), dtype=bool), 1)


def invert_in_place(A: np.ndarray, name: str) -> np.ndarray:
    """Overwrite a positive definite matrix with its inverse.

    Parameters
    ----------
    A : np.ndarray of shape (size, size)
        Positive definite, in C order. Overwritten.
    name : str
        What the error calls the matrix.

    Returns
    -------
    np.ndarray of shape (size, size)
        The inverse, in the memory of A.

    Raises
    ------
    ValueError
        If A is not positive definite to rounding.
    """
    factor, failed = lapack.dpotrf(A.T, lower=1, overwrite_a=1)
    if failed:
        raise ValueError(f"{name} must be well conditioned, got a matrix singular to rounding")
    return from_lower(lapack.dpotri(factor, lower=1, overwrite_c=1)[0])


def trace_of_ratio(A: np.ndarray, F: np.ndarray) -> float:
    """Compute ``trace(A^{-1} F F^T)``.

    Parameters
    ----------
    A, F : np.ndarray of shape (size, size)
        A symmetric; F from ``factor_of``.

    Returns
    -------
    float
        The trace; inf if A is not positive definite. Cost: about size^3 multiply-adds.
    """
    half = _halves(A, F)[1]
    return np.inf if half is None else float(np.vdot(half, half))


def trace_and_derivative(A: np.ndarray, F: np.ndarray) -> tuple[float, np.ndarray | None]:
    """Compute ``f = trace(A^{-1} F F^T)`` and ``M = A^{-1} F F^T A^{-1}``.

    Parameters
    ----------
    A, F : np.ndarray of shape (size, size)
        A symmetric; F from ``factor_of``.

    Returns
    -------
    tuple of float and np.ndarray
        f and M, where -M is the derivative of f in A; (inf, None) if A is not positive definite.
        Cost: about 2 size^3 multiply-adds.
    """
    factor, half = _halves(A, F)
    if half is None:
        return np.inf, None
    f = float(np.vdot(half, half))
    root = blas.dtrsm(1.0, factor, half, lower=1, trans_a=1, overwrite_b=1)
    return f, from_lower(blas.dsyrk(1.0, root, lower=1))


def _halves(A, F):
    """C, lower triangular with ``C C^T = A``, and ``C^{-1} F``; None if A is not definite."""
    factor, failed = lapack.dpotrf(A.T, lower=1)
    return factor, None if failed else blas.dtrsm(1.0, factor, F, lower=1)


def is_singular(spectrum: np.ndarray) -> bool:
    """Whether a matrix is singular to rounding, by its eigenvalues.

    Parameters
    ----------
    spectrum : np.ndarray of shape (size,)
        Eigenvalues of a positive semidefinite matrix, ascending.

    Returns
    -------
    bool
        True if the smallest is at most size * eps times the largest.
    """
    return bool(spectrum[0] <= len(spectrum) * np.finfo(float).eps * spectrum[-1])


def reciprocal_condition(A: np.ndarray) -> float:
    """Reciprocal condition number of a matrix that is scaled to a unit diagonal first.

    Parameters
    ----------
    A : np.ndarray of shape (size, size)
        Symmetric.

    Returns
    -------
    float
        LAPACK's estimate in the 1-norm; 0 if A is not positive definite.
    """
    scale = np.sqrt(np.maximum(np.diag(A), 0))
    if scale.min() == 0:
        return 0.0
    scaled = A / scale / scale[:, None]
    factor, failed = lapack.dpotrf(scaled, lower=1)
    if failed:
        return 0.0
    norm = np.abs(scaled).sum(axis=0).max()
    return lapack.dpocon(factor, norm, uplo="L")[0]
