"""Factors and inverses of large symmetric matrices by halves.

LAPACK's factorizations and triangular solves reach half the speed of a product. So a large matrix
is cut in halves, the halves are cut again, and all that is left for LAPACK are small matrices: the
rest are products, which threads share without waiting for each other. Every solve stays a solve, so
the results are as accurate as LAPACK's. Matrices of up to ``SMALL`` rows are left to LAPACK
altogether. Types and orders are those of :mod:`firal.common.nogil`. Nothing is checked here.
"""

from __future__ import annotations

import numpy as np

from firal.common import nogil

SMALL = 512  # rows up to which halves bring nothing
LEAF = 128  # rows of the halves that are not cut again
SHARED = 400  # rows and columns from which on two threads are quicker than one


def cholesky(A: np.ndarray, threads: int = 1) -> bool:
    """Overwrite the lower triangle with that of C, where ``C C^T = A``.

    Parameters
    ----------
    A : np.ndarray of shape (size, size)
        In Fortran order; what is above the diagonal is ignored and may be overwritten.
    threads : int
        Number of threads that share the work, one or two.

    Returns
    -------
    bool
        Whether A is positive definite. Cost: size^3 / 6 multiply-adds.
    """
    return nogil.cholesky(A) if len(A) <= SMALL else _cholesky(A, threads)


def solve(C: np.ndarray, B: np.ndarray, transposed: bool = False, threads: int = 1) -> None:
    """Overwrite B with ``C^{-1} B``, or with ``C^{-T} B``.

    Parameters
    ----------
    C : np.ndarray of shape (size, size)
        Lower triangular.
    B : np.ndarray of shape (size, n)
        Overwritten.
    transposed : bool
        Whether C is transposed.
    threads : int
        Number of threads that share the columns of B.
    """
    if len(C) <= SMALL:
        nogil.solve_triangular(C, B, transposed)
    else:
        _by_columns(lambda part: _solve(C, part, transposed), B, threads)


def inverse_below(A: np.ndarray, threads: int = 1) -> bool:
    """Overwrite the lower triangle of a positive definite matrix with that of its inverse.

    Parameters
    ----------
    A : np.ndarray of shape (size, size)
        Symmetric, in Fortran order. Overwritten; what is above the diagonal loses its meaning.
    threads : int
        Number of threads that share the work, one or two.

    Returns
    -------
    bool
        Whether A is positive definite. Cost: size^3 / 2 multiply-adds.

    Notes
    -----
    With A = C C^T and X = C^{-1}, A^{-1} = X^T X.
    """
    if not cholesky(A, threads):
        return False
    if len(A) <= SMALL:
        nogil.inverse_of_factored(A)
    else:
        _invert(A, threads)
        _own_gram(A, threads)
    return True


def _quarters(A):
    p = len(A) // 2
    return A[:p, :p], A[p:, :p], A[p:, p:]


def _cholesky(A, threads):
    if len(A) <= LEAF:
        return nogil.cholesky(A)
    A11, A21, A22 = _quarters(A)
    if not _cholesky(A11, threads):
        return False
    _by_columns(lambda part: _solve_right(part.T, A11), A21.T, threads)
    _add_gram(A21, A22, -1.0, threads)
    return _cholesky(A22, threads)


def _solve(C, B, transposed):
    if len(C) <= LEAF:
        nogil.solve_triangular(C, B, transposed)
        return
    C11, C21, C22 = _quarters(C)
    top, bottom = B[: len(C11)], B[len(C11) :]
    if transposed:
        _solve(C22, bottom, True)
        nogil.add_product(C21.T, bottom, top, -1.0)
        _solve(C11, top, True)
    else:
        _solve(C11, top, False)
        nogil.add_product(C21, top, bottom, -1.0)
        _solve(C22, bottom, False)


def _solve_right(B, C):
    """B C^{-T}."""
    if len(C) <= LEAF:
        nogil.solve_triangular_right(B, C)
        return
    C11, C21, C22 = _quarters(C)
    left, right = B[:, : len(C11)], B[:, len(C11) :]
    _solve_right(left, C11)
    nogil.add_product(left, C21.T, right, -1.0)
    _solve_right(right, C22)


def _invert(C, threads):
    """The inverse has -C22^{-1} C21 C11^{-1} in its lower left quarter."""
    if len(C) <= LEAF:
        nogil.invert_triangular(C)
        return
    C11, C21, C22 = _quarters(C)
    _by_columns(lambda part: _solve(C22, part, False), C21, threads)
    nogil.in_threads(lambda half: _invert(half, 1), [C11, C22], threads)
    _by_columns(lambda part: nogil.multiply_triangular(part.T, C11), C21.T, threads)
    np.negative(C21, out=C21)


def _own_gram(X, threads):
    """X^T X."""
    if len(X) <= LEAF:
        nogil.own_gram(X)
        return
    X11, X21, X22 = _quarters(X)
    _own_gram(X11, threads)
    _add_gram(X21.T, X11, 1.0, threads)
    _by_columns(lambda part: nogil.multiply_transposed(X22, part), X21, threads)
    _own_gram(X22, threads)


def _add_gram(B, out, factor, threads):
    """Add factor B B^T below the diagonal; the lower left quarter costs as much as the others."""
    if threads <= 1 or min(B.shape) < SHARED:
        nogil.add_gram(B, out, factor)
        return
    out11, out21, out22 = _quarters(out)
    top, bottom = B[: len(out11)], B[len(out11) :]

    def on_diagonal():
        nogil.add_gram(top, out11, factor)
        nogil.add_gram(bottom, out22, factor)

    tasks = [on_diagonal, lambda: nogil.add_product(bottom, top.T, out21, factor)]
    nogil.in_threads(lambda task: task(), tasks, threads)


def _by_columns(work, B, threads):
    """Call ``work`` for parts of the columns, at the same time."""
    if threads <= 1 or min(B.shape) < SHARED:
        work(B)
    else:
        cut = nogil.parts(B.shape[1], threads)
        nogil.in_threads(lambda part: work(B[:, part]), cut, threads)
