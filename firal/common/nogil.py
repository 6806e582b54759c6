"""BLAS and LAPACK routines that leave Python free while they run.

SciPy's wrappers hold Python's lock during a call, so two threads take turns. These call the same
compiled routines without the lock: threads with one BLAS thread each then use all cores, and none
of them waits for another inside a routine. Matrices are float64 in Fortran order, or columns of
such a matrix, and lower triangles are used. Nothing is checked here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack


def _routine(module, name, arguments):
    """The compiled routine: ctypes releases the lock during a call."""
    capsule = module.__pyx_capi__[name]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


_potrf = _routine(cython_lapack, "dpotrf", 5)
_potri = _routine(cython_lapack, "dpotri", 5)
_syevd = _routine(cython_lapack, "dsyevd", 11)
_trsm = _routine(cython_blas, "dtrsm", 11)
_trmm = _routine(cython_blas, "dtrmm", 11)
_syrk = _routine(cython_blas, "dsyrk", 10)
_gemm = _routine(cython_blas, "dgemm", 13)
_trtri = _routine(cython_lapack, "dtrtri", 6)
_lauum = _routine(cython_lapack, "dlauum", 5)


def _integer(value):
    return ctypes.byref(ctypes.c_int(value))


def _real(value):
    return ctypes.byref(ctypes.c_double(value))


def _matrix(A):
    """Address and distance of columns; other memory would be read as if it were this matrix."""
    assert A.dtype == np.float64 and (A.strides[0] == A.itemsize or len(A) == 1)
    return A.ctypes.data, _integer(A.strides[1] // A.itemsize if A.shape[1] > 1 else len(A))


def cholesky(A: np.ndarray) -> bool:
    """Overwrite the lower triangle with that of C, where ``C C^T = A``.

    Parameters
    ----------
    A : np.ndarray of shape (size, size)
        In Fortran order.

    Returns
    -------
    bool
        Whether A is positive definite.
    """
    failed = ctypes.c_int(0)
    _potrf(b"L", _integer(len(A)), *_matrix(A), ctypes.byref(failed))
    return failed.value == 0


def inverse_of_factored(C: np.ndarray) -> None:
    """Overwrite the lower triangle of C with that of ``(C C^T)^{-1}``.

    Parameters
    ----------
    C : np.ndarray of shape (size, size)
        Lower triangular, in Fortran order.
    """
    _potri(b"L", _integer(len(C)), *_matrix(C), _integer(0))


def invert_triangular(C: np.ndarray) -> None:
    """Overwrite a lower triangular matrix with its inverse.

    Parameters
    ----------
    C : np.ndarray of shape (size, size)
        Lower triangular, in Fortran order; what is above the diagonal stays.
    """
    _trtri(b"L", b"N", _integer(len(C)), *_matrix(C), _integer(0))


def own_gram(C: np.ndarray) -> None:
    """Overwrite the lower triangle of a triangular matrix with that of ``C^T C``.

    Parameters
    ----------
    C : np.ndarray of shape (size, size)
        Lower triangular, in Fortran order; what is above the diagonal stays.
    """
    _lauum(b"L", _integer(len(C)), *_matrix(C), _integer(0))


def add_product(A: np.ndarray, B: np.ndarray, out: np.ndarray, factor: float) -> None:
    """Add ``factor A B`` to a matrix; A may be the transpose of a matrix in Fortran order, B too.

    Parameters
    ----------
    A : np.ndarray of shape (m, k)
        First factor.
    B : np.ndarray of shape (k, n)
        Second factor.
    out : np.ndarray of shape (m, n)
        In Fortran order. Overwritten.
    factor : float
        Of the product.
    """

    def operand(M):
        plain = M.strides[0] == M.itemsize
        return (b"N" if plain else b"T"), _matrix(M if plain else M.T)

    (first, a), (second, b) = operand(A), operand(B)
    sizes = _integer(out.shape[0]), _integer(out.shape[1]), _integer(A.shape[1])
    _gemm(first, second, *sizes, _real(factor), *a, *b, _real(1.0), *_matrix(out))


def eigenvalues(A: np.ndarray) -> np.ndarray:
    """Eigenvalues of a symmetric matrix; its lower triangle is overwritten.

    Parameters
    ----------
    A : np.ndarray of shape (size, size)
        In Fortran order.

    Returns
    -------
    np.ndarray of shape (size,)
        Ascending.
    """
    n = len(A)
    values, work, numbers = np.empty(n), np.empty(66 * n + 1), np.empty(1, dtype=np.intc)
    room = work.ctypes.data, _integer(len(work)), numbers.ctypes.data, _integer(1)
    failed = ctypes.c_int(0)
    _syevd(b"N", b"L", _integer(n), *_matrix(A), values.ctypes.data, *room, ctypes.byref(failed))
    if failed.value:
        raise np.linalg.LinAlgError("eigenvalues did not converge")
    return values


def solve_triangular_right(B: np.ndarray, C: np.ndarray) -> None:
    """Overwrite B with ``B C^{-T}``.

    Parameters
    ----------
    B : np.ndarray of shape (n, size)
        Overwritten; may be some rows of a larger matrix.
    C : np.ndarray of shape (size, size)
        Lower triangular.
    """
    sizes = _integer(len(B)), _integer(B.shape[1])
    _trsm(b"R", b"L", b"T", b"N", *sizes, _real(1.0), *_matrix(C), *_matrix(B))


def solve_triangular(C: np.ndarray, B: np.ndarray, transposed: bool = False) -> None:
    """Overwrite B with ``C^{-1} B``, or with ``C^{-T} B``.

    Parameters
    ----------
    C : np.ndarray of shape (size, size)
        Lower triangular.
    B : np.ndarray of shape (size, n)
        Overwritten.
    transposed : bool
        Whether C is transposed.
    """
    sizes = _integer(len(B)), _integer(B.shape[1])
    which = b"T" if transposed else b"N"
    _trsm(b"L", b"L", which, b"N", *sizes, _real(1.0), *_matrix(C), *_matrix(B))


def multiply_triangular(B: np.ndarray, C: np.ndarray) -> None:
    """Overwrite B with ``B C``.

    Parameters
    ----------
    B : np.ndarray of shape (n, size)
        Overwritten; may be some rows of a larger matrix.
    C : np.ndarray of shape (size, size)
        Lower triangular.
    """
    sizes = _integer(len(B)), _integer(B.shape[1])
    _trmm(b"R", b"L", b"N", b"N", *sizes, _real(1.0), *_matrix(C), *_matrix(B))


def gram(B: np.ndarray) -> np.ndarray:
    """Compute the lower triangle of ``B B^T``.

    Parameters
    ----------
    B : np.ndarray of shape (size, n)
        May be some columns of a larger matrix.

    Returns
    -------
    np.ndarray of shape (size, size)
        In Fortran order; what is above the diagonal is zero.
    """
    out = np.zeros((len(B), len(B)), order="F")
    sizes = _integer(len(B)), _integer(B.shape[1])
    _syrk(b"L", b"N", *sizes, _real(1.0), *_matrix(B), _real(0.0), *_matrix(out))
    return out


def in_threads(work: Callable[[Any], Any], items: Sequence, threads: int) -> list:
    """Call ``work`` for every item, some at the same time.

    Parameters
    ----------
    work : callable
        Of one item.
    items : sequence
        What to work on.
    threads : int
        Number of calls at the same time; BLAS should have one thread in each.

    Returns
    -------
    list
        The results, in the order of the items.
    """
    if threads <= 1 or len(items) <= 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        return list(pool.map(work, items))


def parts(n: int, threads: int) -> list[slice]:
    """Cut ``range(n)`` into as many parts as there are threads.

    Parameters
    ----------
    n : int
        Number of rows or columns.
    threads : int
        At least 1.

    Returns
    -------
    list of slice
        Consecutive and of about equal length.
    """
    edges = np.linspace(0, n, threads + 1).astype(int)
    return [slice(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)]
