"""Symmetric matrices by BLAS and LAPACK, without needless copies.

LAPACK works on one triangle of a matrix in Fortran order. A symmetric matrix in C order, once
transposed, is the same matrix in Fortran order: so ``A.T`` is passed where no copy is wanted.
Nothing is checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from firal.common import halves, nogil
from firal.common.blocks import pool_blocks

PANEL = 256  # columns that are solved together
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


def invert_in_place(A: np.ndarray, name: str, threads: int = 1) -> np.ndarray:
    """Overwrite a positive definite matrix with its inverse.

    Parameters
    ----------
    A : np.ndarray of shape (size, size)
        Positive definite, in C order. Overwritten.
    name : str
        What the error calls the matrix.
    threads : int
        As in ``firal.common.halves.inverse_below``.

    Returns
    -------
    np.ndarray of shape (size, size)
        The inverse, in the memory of A.

    Raises
    ------
    ValueError
        If A is not positive definite to rounding.
    """
    if not halves.inverse_below(A.T, threads):
        raise ValueError(f"{name} must be well conditioned, got a matrix singular to rounding")
    return from_lower(A.T)


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
    C, half = A.T.copy(order="F"), F.copy(order="F")
    if not halves.cholesky(C):
        return np.inf
    halves.solve(C, half)
    return float(np.vdot(half.T, half.T))


def trace_and_derivative(
    A: np.ndarray, F: np.ndarray, threads: int = 1
) -> tuple[float, np.ndarray | None]:
    """Compute ``f = trace(A^{-1} F F^T)`` and ``M = A^{-1} F F^T A^{-1}``.

    Parameters
    ----------
    A, F : np.ndarray of shape (size, size)
        A symmetric; F from ``factor_of``.
    threads : int
        Number of threads that share the columns of F.

    Returns
    -------
    tuple of float and np.ndarray
        f and M, where -M is the derivative of f in A; (inf, None) if A is not positive definite.
        Cost: about 3/2 size^3 multiply-adds if F is lower triangular, 5/3 size^3 if not.
    """
    C, half = A.T.copy(order="F"), F.copy(order="F")
    if not halves.cholesky(C, threads):
        return np.inf, None

    def of_columns(part):
        columns = half[:, part]
        # C is lower triangular: C^{-1} F starts with the zeros of F
        first = 0 if half[: part.start, part].any() else part.start
        halves.solve(C[first:, first:], columns[first:])
        f = float(np.vdot(columns.T, columns.T))  # .T: in the order of memory
        halves.solve(C, columns, transposed=True)
        return f

    panels = list(pool_blocks(half.shape[1], 1, PANEL))
    f = sum(nogil.in_threads(of_columns, panels, threads))
    return f, gram(half, C, threads)


def product_and_gram(
    A: np.ndarray,
    C: np.ndarray,
    threads: int = 1,
    room: Sequence[np.ndarray] = (),
) -> np.ndarray:
    """Compute ``(A C) (A C)^T``.

    Parameters
    ----------
    A : np.ndarray of shape (size, size)
        Symmetric.
    C : np.ndarray of shape (size, size)
        Lower triangular, in Fortran order.
    threads : int
        Number of threads that share the rows and columns.
    room : sequence of np.ndarray of shape (size, size)
        None or two, in Fortran order. Overwritten; the second one holds the product then.

    Returns
    -------
    np.ndarray of shape (size, size)
        The product. Cost: size^3 multiply-adds.
    """
    half, out = room or (np.empty_like(C), np.empty_like(C))

    def multiply(part):
        half[part] = A.T[part]  # the same numbers, in the order of memory
        nogil.multiply_triangular(half[part], C)

    nogil.in_threads(multiply, nogil.parts(len(A), threads), threads)
    return gram(half, out, threads)


def gram(B: np.ndarray, out: np.ndarray, threads: int = 1) -> np.ndarray:
    """Compute ``B B^T``.

    Parameters
    ----------
    B : np.ndarray of shape (size, n)
        In Fortran order.
    out : np.ndarray of shape (size, size)
        In Fortran order. Overwritten.
    threads : int
        Number of threads; each computes columns of the lower triangle.

    Returns
    -------
    np.ndarray of shape (size, size)
        The product, in the memory of ``out``. Cost: size^2 n / 2 multiply-adds.
    """
    size = len(B)

    # columns of about the same area below the diagonal
    edges = np.rint(size * (1 - np.sqrt(1 - np.arange(threads + 1) / threads))).astype(int)

    def columns(edge):
        rows, below = slice(*edge), slice(edge[1], size)
        nogil.add_gram(B[rows], out[rows, rows], 1.0, keep=0.0)
        if edge[1] < size:
            nogil.add_product(B[below], B[rows].T, out[below, rows], 1.0, keep=0.0)

    parts = [edge for edge in pairwise(edges) if edge[0] < edge[1]]
    nogil.in_threads(columns, parts, threads)
    return from_lower(out)


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
