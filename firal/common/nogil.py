"""BLAS and LAPACK routines that leave Python free while they run.

SciPy's wrappers hold Python's lock during a call, so two threads take turns. These call the same
compiled routines without the lock: threads with one BLAS thread each then use all cores, and none
of them waits for another inside a routine. Matrices are float64 or float32, both of a pair of the
same type, in Fortran order, or columns of such a matrix, and lower triangles are used. Nothing is
checked here.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack


def _routine(module, name, arguments):
    """The compiled routine of both types: ctypes releases the lock during a call."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

    def compiled(prefix):
        capsule = module.__pyx_capi__[prefix + name]
        address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
        return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)

    return {np.dtype(np.float64): compiled("d"), np.dtype(np.float32): compiled("s")}


_potrf = _routine(cython_lapack, "potrf", 5)
_potri = _routine(cython_lapack, "potri", 5)
_syevd = _routine(cython_lapack, "syevd", 11)
_trsm = _routine(cython_blas, "trsm", 11)
_trmm = _routine(cython_blas, "trmm", 11)
_syrk = _routine(cython_blas, "syrk", 10)
_gemm = _routine(cython_blas, "gemm", 13)
_trtri = _routine(cython_lapack, "trtri", 6)
_lauum = _routine(cython_lapack, "lauum", 5)


def _integer(value):
    return ctypes.byref(ctypes.c_int(value))


def _real(value, A):
    """A number of the type of a matrix."""
    return ctypes.byref((ctypes.c_double if A.itemsize == 8 else ctypes.c_float)(value))


def _matrix(A, like=None):
    """Address and distance of columns; other memory would be read as if it were this matrix."""
    assert A.dtype in _potrf and (like is None or A.dtype == like.dtype)
    assert A.strides[0] == A.itemsize or len(A) == 1
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
    _potrf[A.dtype](b"L", _integer(len(A)), *_matrix(A), ctypes.byref(failed))
    return failed.value == 0


def inverse_of_factored(C: np.ndarray) -> None:
    """Overwrite the lower triangle of C with that of ``(C C^T)^{-1}``.

    Parameters
    ----------
    C : np.ndarray of shape (size, size)
        Lower triangular, in Fortran order.
    """
    _potri[C.dtype](b"L", _integer(len(C)), *_matrix(C), _integer(0))


def invert_triangular(C: np.ndarray) -> None:
    """Overwrite a lower triangular matrix with its inverse.

    Parameters
    ----------
    C : np.ndarray of shape (size, size)
        Lower triangular, in Fortran order; what is above the diagonal stays.
    """
    _trtri[C.dtype](b"L", b"N", _integer(len(C)), *_matrix(C), _integer(0))


def own_gram(C: np.ndarray) -> None:
    """Overwrite the lower triangle of a triangular matrix with that of ``C^T C``.

    Parameters
    ----------
    C : np.ndarray of shape (size, size)
        Lower triangular, in Fortran order; what is above the diagonal stays.
    """
    _lauum[C.dtype](b"L", _integer(len(C)), *_matrix(C), _integer(0))


def add_product(
    A: np.ndarray, B: np.ndarray, out: np.ndarray, factor: float, keep: float = 1.0
) -> None:
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
    keep : float, default 1.0
        What ``out`` is multiplied by first; 0 if it is not initialized.
    """

    def operand(M):
        plain = M.strides[0] == M.itemsize
        return (b"N" if plain else b"T"), _matrix(M if plain else M.T, out)

    (first, a), (second, b) = operand(A), operand(B)
    sizes = _integer(out.shape[0]), _integer(out.shape[1]), _integer(A.shape[1])
    _gemm[out.dtype](
        first, second, *sizes, _real(factor, out), *a, *b, _real(keep, out), *_matrix(out)
    )


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
    values, work = np.empty(n, A.dtype), np.empty(66 * n + 1, A.dtype)
    numbers = np.empty(1, dtype=np.intc)
    room = work.ctypes.data, _integer(len(work)), numbers.ctypes.data, _integer(1)
    failed = ctypes.c_int(0)
    _syevd[A.dtype](
        b"N", b"L", _integer(n), *_matrix(A), values.ctypes.data, *room, ctypes.byref(failed)
    )
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
    _trsm[B.dtype](b"R", b"L", b"T", b"N", *sizes, _real(1.0, B), *_matrix(C, B), *_matrix(B))


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
    _trsm[B.dtype](b"L", b"L", which, b"N", *sizes, _real(1.0, B), *_matrix(C, B), *_matrix(B))


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
    _trmm[B.dtype](b"R", b"L", b"N", b"N", *sizes, _real(1.0, B), *_matrix(C, B), *_matrix(B))


def multiply_transposed(C: np.ndarray, B: np.ndarray) -> None:
    """Overwrite B with ``C^T B``.

    Parameters
    ----------
    C : np.ndarray of shape (size, size)
        Lower triangular.
    B : np.ndarray of shape (size, n)
        Overwritten; may be some columns of a larger matrix.
    """
    sizes = _integer(len(B)), _integer(B.shape[1])
    _trmm[B.dtype](b"L", b"L", b"T", b"N", *sizes, _real(1.0, B), *_matrix(C, B), *_matrix(B))


def add_gram(B: np.ndarray, out: np.ndarray, factor: float, keep: float = 1.0) -> None:
    """Add ``factor B B^T`` to the lower triangle; B may be a transpose, as in ``add_product``.

    Parameters
    ----------
    B : np.ndarray of shape (size, n)
        May be some columns or rows of a larger matrix.
    out : np.ndarray of shape (size, size)
        In Fortran order. Overwritten below the diagonal.
    factor : float
        Of the product.
    keep : float, default 1.0
        As in ``add_product``.
    """
    plain = B.strides[0] == B.itemsize
    b = _matrix(B if plain else B.T, out)
    sizes = _integer(len(B)), _integer(B.shape[1])
    which = b"N" if plain else b"T"
    _syrk[out.dtype](b"L", which, *sizes, _real(factor, out), *b, _real(keep, out), *_matrix(out))


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
    threads = min(threads, len(items))
    if threads <= 1 or getattr(_here, "helps", False):
        return [work(item) for item in items]
    groups = [items[k::threads] for k in range(threads)]
    waiting = [_helpers().submit(_help, work, group) for group in groups[1:]]
    try:
        done = [[work(item) for item in groups[0]]]
    finally:
        wait(waiting)  # they write into matrices of the caller
    done += [future.result() for future in waiting]
    return [done[i % threads][i // threads] for i in range(len(items))]


_here = threading.local()  # a helper does not wait for helpers: they could all be waiting


def _help(work, items):
    _here.helps = True
    return [work(item) for item in items]


@cache
def _helpers():
    """Threads that stay: to start one takes as long as a product of small matrices."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="firal")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_helpers.cache_clear)


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
