"""Products with the Hessians of many points, without forming one Hessian.

The Hessian of point i is ``kron(G_i, x_i x_i^T)`` with ``G_i = diag(h_i) - h_i h_i^T``, where
``h_i`` holds the probabilities of the first k = c-1 classes. So a matrix M of size d~ = d k meets
a point only through its k*k small numbers ``x_i^T M_kl x_i``, and those are linear in the products
``x_ia x_ib``. Both factors are symmetric: d(d+1)/2 products with a <= b and k(k+1)/2 block pairs
with k <= l are enough. All points together make **one matrix product** of shape ::

    (points) x d(d+1)/2 x k(k+1)/2        about points * d~^2 / 4 multiply-adds;

the weighted sum of Hessians is the same product transposed. With very few classes the list of
products ``x_ia x_ib`` costs more than it saves; then one ordinary product per block pair is used,
with twice as many multiply-adds.

Functions here check nothing and take h, so that a solver computes h once. Points are handled in
blocks of bounded memory, whatever their number. The type of X (float64 or float32) is the type
of the work; sums over blocks are kept in float64.
"""

from __future__ import annotations

import numpy as np

from firal.common.blocks import BLOCK_BYTES, pool_blocks
from firal.model.packing import (
    is_diagonal,
    packed_coefficients,
    packed_curvature,
    packed_forms,
    packed_products,
    symmetric_index,
    triangle,
)

CACHED = 4 * 2**20  # bytes of a block; 2.5 to 8 MB differ little at d=20, c=10
ROWS = 1000  # points of a block, if they fit in LARGEST: the sum is added up once per block
LARGEST = 4 * BLOCK_BYTES
FEW_BLOCKS = 3  # up to this many classes besides the reference, one product per pair is faster


def curvature(h: np.ndarray) -> np.ndarray:
    """Compute the curvature of the loss with respect to the logits, at every point.

    Parameters
    ----------
    h : ndarray of shape (n, k)
        Probabilities of the first k = c-1 classes.

    Returns
    -------
    ndarray of shape (n, k, k)
        ``G[i] = diag(h_i) - h_i h_i^T``.

    Examples
    --------
    >>> import numpy as np
    >>> curvature(np.array([[0.5, 0.25]]))
    array([[[ 0.25  , -0.125 ],
            [-0.125 ,  0.1875]]])
    """
    G = -h[:, :, None] * h[:, None, :]
    diagonal = np.arange(h.shape[1])
    G[:, diagonal, diagonal] += h
    return G


def curvature_root(h: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Compute square factors R with ``R R^T = diag(h) - h h^T``.

    Parameters
    ----------
    h : ndarray of shape (..., k)
        Probabilities of the first k = c-1 classes.
    reference : ndarray of shape (...)
        Probability of the last class, ``1 - sum h``.

    Returns
    -------
    ndarray of shape (..., k, k)
        ``R = diag(s) - h s^T / (1 + sqrt(reference))`` with ``s = sqrt(h)``: no cancellation.

    Examples
    --------
    >>> import numpy as np
    >>> R = curvature_root(np.array([0.5, 0.25]), np.array(0.25))
    >>> (R @ R.T).round(12)
    array([[ 0.25  , -0.125 ],
           [-0.125 ,  0.1875]])
    """
    s = np.sqrt(h)
    tail = s / (1 + np.sqrt(reference))[..., None]
    R = -h[..., :, None] * tail[..., None, :]
    diagonal = np.arange(h.shape[-1])
    R[..., diagonal, diagonal] += s
    return R


def information_root(x: np.ndarray, h: np.ndarray, reference: np.floating) -> np.ndarray:
    """Compute a thin factor U of the Hessian of one point, ``U U^T = H(x)``.

    Parameters
    ----------
    x : ndarray of shape (d,)
        One point.
    h : ndarray of shape (k,)
        Probabilities of the first k = c-1 classes.
    reference : float
        Probability of the last class, ``1 - sum h``.

    Returns
    -------
    ndarray of shape (d*k, k)
        U with ``U U^T = kron(diag(h) - h h^T, x x^T)``.

    Examples
    --------
    >>> import numpy as np
    >>> U = information_root(np.array([2.0]), np.array([0.5]), np.array(0.5))
    >>> (U @ U.T).round(12)
    array([[1.]])
    """
    return np.kron(curvature_root(h, reference), x[:, None])


def weighted_information(X: np.ndarray, h: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum the Hessians of many points with weights.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    h : ndarray of shape (n, k)
        Probabilities of the first k = c-1 classes.
    weights : ndarray of shape (n,)
        Weights w_i of any sign.

    Returns
    -------
    ndarray of shape (d*k, d*k)
        ``sum_i w_i kron(G_i, x_i x_i^T)`` in the type of X.

    Notes
    -----
    Costs ``n d~^2 / 4`` multiply-adds, in blocks of points.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_information(np.array([[1.0], [2.0]]), np.full((2, 1), 0.5), np.ones(2))
    array([[1.25]])
    """
    d, k = X.shape[1], h.shape[1]
    by_pairs = k <= FEW_BLOCKS
    packed = np.zeros((triangle(k), d, d) if by_pairs else (triangle(k), triangle(d)))
    room, more = _Room(), _Room()
    for block in _blocks(X, k):
        points = X[block]
        if by_pairs:
            for pair, g in enumerate(packed_curvature(h[block], weights[block])):
                packed[pair] += points.T @ (g[:, None] * points)
            continue
        dtype = np.result_type(h, weights)
        G = packed_curvature(h[block], weights[block], room.take(triangle(k), points, dtype))
        P = packed_products(points, more.take(triangle(d), points, points.dtype))
        packed += G @ P.T
    blocks = packed if by_pairs else packed[:, symmetric_index(d)]  # (k(k+1)/2, d, d)
    full, start = np.empty((k, d, k, d), dtype=X.dtype), 0
    for r in range(k):
        row = blocks[start : start + k - r]  # the pairs (r, r), (r, r+1), ..
        full[r:, :, r] = row
        full[r, :, r:] = row.transpose(1, 0, 2)
        start += k - r
    return full.reshape(d * k, d * k)


def contract_curvature(X: np.ndarray, h: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Compute the inner product of one symmetric matrix with the Hessian of every point.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    h : ndarray of shape (n, k)
        Probabilities of the first k = c-1 classes.
    M : ndarray of shape (d*k, d*k)
        Symmetric matrix.

    Returns
    -------
    ndarray of shape (n,)
        ``<kron(G_i, x_i x_i^T), M>``, the trace of the product.

    Notes
    -----
    Costs ``n d~^2 / 4`` multiply-adds, in blocks of points.

    Examples
    --------
    >>> import numpy as np
    >>> contract_curvature(np.array([[1.0], [2.0]]), np.full((2, 1), 0.5), 4 * np.eye(1))
    array([1., 4.])
    """
    (n, d), k = X.shape, h.shape[1]
    out = np.empty(n, dtype=X.dtype)
    if k <= FEW_BLOCKS:
        for block in _blocks(X, k):
            out[block] = np.einsum(
                "nkl,nkl->n", curvature(h[block]), _forms_by_pairs(X[block], M, k)
            )
        return out
    coefficients = packed_coefficients(M, d, k).astype(X.dtype, copy=False)
    # a pair (k, l) with k < l stands for (l, k) too
    coefficients *= np.where(is_diagonal(k), 1, 2).astype(X.dtype)[:, None]
    room, more = _Room(), _Room()
    for block in _blocks(X, k):
        points = X[block]
        G = packed_curvature(h[block], out=room.take(triangle(k), points, h.dtype))
        # first all class pairs: what is left is one quadratic form in x per point
        forms = more.take(triangle(d), points, np.result_type(X, h))
        out[block] = packed_forms(np.matmul(coefficients.T, G, out=forms), points)
    return out


def quadratic_forms(X: np.ndarray, W: np.ndarray, n_blocks: int) -> np.ndarray:
    """Evaluate the quadratic forms of all d x d blocks of a symmetric matrix at every point.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    W : ndarray of shape (d*n_blocks, d*n_blocks)
        Symmetric matrix with blocks W_kl of shape (d, d).
    n_blocks : int
        Number of blocks per side, c-1.

    Returns
    -------
    ndarray of shape (n, n_blocks, n_blocks)
        ``Q[i, k, l] = x_i^T W_kl x_i``, symmetric in k and l.

    Notes
    -----
    Costs ``n d~^2 / 4`` multiply-adds. The result itself takes ``n * n_blocks^2`` numbers: where
    that is too much, call it for one block of points after the other.

    Examples
    --------
    >>> import numpy as np
    >>> quadratic_forms(np.array([[3.0]]), np.array([[1.0, 2.0], [2.0, 5.0]]), n_blocks=2)
    array([[[ 9., 18.],
            [18., 45.]]])
    """
    (n, d), k = X.shape, n_blocks
    W = W.astype(X.dtype, copy=False)
    out = np.empty((n, k, k), dtype=X.dtype)
    if k <= FEW_BLOCKS:
        for block in _blocks(X, k):
            out[block] = _forms_by_pairs(X[block], W, k)
        return out
    coefficients = packed_coefficients(W, d, k)
    unpack = symmetric_index(k).ravel()
    for block in _blocks(X, k):
        forms = packed_products(X[block]).T @ coefficients.T
        np.take(forms, unpack, axis=1, out=out[block].reshape(-1, k * k), mode="clip")
    return out


def _bytes_per_point(X, k):
    """Working memory of one point: products x_a x_b or their coefficients, and curvature pairs."""
    d = X.shape[1]
    return X.itemsize * (triangle(d) + triangle(k) + 2 * (d + k))


def _blocks(X, k):
    """Blocks of points; so large, if they may, that a product does not wait for its result."""
    each = _bytes_per_point(X, k)
    return pool_blocks(len(X), each, max(CACHED, min(ROWS * each, LARGEST)))


class _Room:
    """Memory of one operand of every block: fresh memory costs as much as the arithmetic in it."""

    def __init__(self):
        self.flat = np.empty(0)

    def take(self, rows, points, dtype):
        size = rows * len(points)
        if self.flat.size < size or self.flat.dtype != dtype:
            self.flat = np.empty(size, dtype)
        return self.flat[:size].reshape(rows, len(points))


def _forms_by_pairs(X, W, k):
    (n, d) = X.shape
    out = np.empty((n, k, k), dtype=X.dtype)
    W = W.astype(X.dtype, copy=False).reshape(k, d, k, d)
    for r in range(k):
        for s in range(r, k):
            out[:, r, s] = out[:, s, r] = np.einsum("nd,nd->n", X @ W[r, :, s, :], X)
    return out
