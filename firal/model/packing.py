"""Symmetric matrices as packed rows: the entries (r, s) with r <= s, row by row.

The Hessian of a point is a Kronecker product of two symmetric matrices, so half of each is enough.
Pairs are ordered (0, 0), (0, 1), .., (0, size-1), (1, 1), ..; points run fastest in memory.
Functions here check nothing.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np


def triangle(size: int) -> int:
    """Count the pairs r <= s of ``size`` indices.

    Parameters
    ----------
    size : int
        Number of indices.

    Returns
    -------
    int
        ``size (size + 1) / 2``.

    Examples
    --------
    >>> triangle(3)
    6
    """
    return size * (size + 1) // 2


@lru_cache(maxsize=16)
def _pairs(size):
    """Rows and columns of the pairs r <= s, in the packed order."""
    return np.triu_indices(size)


def is_diagonal(size: int) -> np.ndarray:
    """Mark the pairs (r, r) in the packed order.

    Parameters
    ----------
    size : int
        Number of indices.

    Returns
    -------
    ndarray of shape (size*(size+1)/2,)
        True for the pairs of an index with itself.

    Examples
    --------
    >>> is_diagonal(2)
    array([ True, False,  True])
    """
    rows, columns = _pairs(size)
    return rows == columns


@lru_cache(maxsize=16)
def symmetric_index(size: int) -> np.ndarray:
    """Find the packed position of every entry of a symmetric matrix.

    Parameters
    ----------
    size : int
        Number of indices.

    Returns
    -------
    ndarray of shape (size, size)
        ``index[r, s]`` is the position of the pair (min(r, s), max(r, s)), so that
        ``packed[index]`` is the full matrix.

    Examples
    --------
    >>> symmetric_index(2)
    array([[0, 1],
           [1, 2]])
    """
    index = np.empty((size, size), dtype=np.intp)
    rows, columns = _pairs(size)
    index[rows, columns] = index[columns, rows] = np.arange(rows.size)
    return index


def packed_products(A: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Multiply all pairs of entries of every row: the upper half of ``a_i a_i^T``.

    Parameters
    ----------
    A : ndarray of shape (n, size)
        Points.
    out : ndarray of shape (size*(size+1)/2, n), optional
        Memory to overwrite.

    Returns
    -------
    ndarray of shape (size*(size+1)/2, n)
        The products ``a_ir a_is`` with r <= s.

    Examples
    --------
    >>> import numpy as np
    >>> packed_products(np.array([[2.0, 3.0]])).ravel()
    array([4., 6., 9.])
    """
    size = A.shape[1]
    columns = np.ascontiguousarray(A.T)
    if out is None:
        out = np.empty((triangle(size), A.shape[0]), dtype=A.dtype)
    start = 0
    for r in range(size):
        np.multiply(columns[r], columns[r:], out=out[start : start + size - r])
        start += size - r
    return out


def packed_forms(N: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Evaluate one quadratic form at every row: the sum of ``N_rs a_ir a_is`` over r <= s.

    Parameters
    ----------
    N : ndarray of shape (size*(size+1)/2, n)
        Packed coefficients of every row's own form.
    A : ndarray of shape (n, size)
        Points.

    Returns
    -------
    ndarray of shape (n,)
        One number per point. No product of two entries is written to memory.

    Examples
    --------
    >>> import numpy as np
    >>> packed_forms(np.ones((3, 1)), np.array([[2.0, 3.0]]))  # 4 + 6 + 9
    array([19.])
    """
    n, size = A.shape
    columns = np.ascontiguousarray(A.T)
    out, start = np.zeros(n, dtype=N.dtype), 0
    for r in range(size):
        out += columns[r] * np.einsum("sn,sn->n", N[start : start + size - r], columns[r:])
        start += size - r
    return out


def packed_curvature(
    h: np.ndarray, weights: np.ndarray | float = 1.0, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the upper half of ``w_i (diag(h_i) - h_i h_i^T)`` for every point.

    Parameters
    ----------
    h : ndarray of shape (n, k)
        Probabilities of the first k = c-1 classes.
    weights : ndarray of shape (n,) or float, default 1.0
        Weights w_i of any sign.
    out : ndarray of shape (k*(k+1)/2, n), optional
        Memory to overwrite.

    Returns
    -------
    ndarray of shape (k*(k+1)/2, n)
        The entries (r, s) with r <= s.

    Examples
    --------
    >>> import numpy as np
    >>> packed_curvature(np.array([[0.5, 0.25]])).ravel()
    array([ 0.25  , -0.125 ,  0.1875])
    """
    k = h.shape[1]
    columns = np.ascontiguousarray(h.T)
    weighted = columns * weights
    if out is None:
        out = np.empty((triangle(k), h.shape[0]), dtype=weighted.dtype)
    start = 0
    for r in range(k):
        np.multiply(-weighted[r], columns[r:], out=out[start : start + k - r])
        out[start] += weighted[r]
        start += k - r
    return out


def packed_coefficients(W: np.ndarray, d: int, k: int) -> np.ndarray:
    """Write the quadratic forms of all blocks of W as linear functions of packed products.

    Parameters
    ----------
    W : ndarray of shape (d*k, d*k)
        Symmetric matrix with k*k blocks W_rs of shape (d, d).
    d, k : int
        Numbers of features and of blocks per side.

    Returns
    -------
    ndarray of shape (k*(k+1)/2, d*(d+1)/2)
        Row (r, s), r <= s, holds c_ab with ``x^T W_rs x = sum_{a<=b} c_ab x_a x_b``.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.array([[1.0, 2.0], [2.0, 5.0]])
    >>> packed_coefficients(W, d=2, k=1)
    array([[1., 4., 5.]])
    """
    blocks = W.reshape(k, d, k, d).transpose(0, 2, 1, 3)[_pairs(k)]  # (k(k+1)/2, d, d)
    a, b = _pairs(d)
    both = (blocks + blocks.transpose(0, 2, 1)).reshape(-1, d * d)
    out = np.take(both, a * d + b, axis=1)
    out[:, is_diagonal(d)] /= 2
    return out
