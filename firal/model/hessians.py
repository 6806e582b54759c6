"""Products with the Hessians of many points, without forming one Hessian.

The Hessian of point i is ``kron(G_i, x_i x_i^T)`` with ``G_i = diag(h_i) - h_i h_i^T``, where
``h_i`` holds the probabilities of the first k = c-1 classes. So a matrix M of size d~ = d k meets
a point only through its k*k small numbers ``x_i^T M_kl x_i``, and those are linear in the products
``x_ia x_ib``. Both factors are symmetric: d(d+1)/2 products with a <= b and k(k+1)/2 block pairs
with k <= l are enough. All points together make **one matrix product** of shape

    (points) x d(d+1)/2 x k(k+1)/2        about points * d~^2 / 4 multiply-adds;

the weighted sum of Hessians is the same product transposed. With very few classes the list of
products ``x_ia x_ib`` costs more than it saves; then one ordinary product per block pair is used,
with twice as many multiply-adds.

Functions here check nothing and take h, so that a solver computes h once. Points are handled in
blocks of bounded memory, whatever their number. The type of X (float64 or float32) is the type
of the work; sums over blocks are kept in float64.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

BLOCK_BYTES = 8 * 2**20  # working memory of one block; about the size that stays in cache
FEW_BLOCKS = 3  # up to this many classes besides the reference, one product per pair is faster


def pool_blocks(n, bytes_per_point, budget=BLOCK_BYTES):
    """Slices that cover range(n), each of at most ``budget`` bytes (but at least one point)."""
    if n == 0:
        return
    largest = max(1, int(budget // max(1, bytes_per_point)))
    size = math.ceil(n / math.ceil(n / largest))  # about equal lengths, none much too short
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def curvature(h):
    """``G[i] = diag(h_i) - h_i h_i^T`` for every row of h (n, k); returns (n, k, k)."""
    G = -h[:, :, None] * h[:, None, :]
    diagonal = np.arange(h.shape[1])
    G[:, diagonal, diagonal] += h
    return G


def curvature_root(h, reference):
    """R (..., k, k) with R R^T = diag(h) - h h^T; h (..., k), reference (...) = 1 - sum h.

    R = diag(s) - h s^T / (1 + sqrt(reference)) with s = sqrt(h): no cancellation.
    """
    s = np.sqrt(h)
    tail = s / (1 + np.sqrt(reference))[..., None]
    R = -h[..., :, None] * tail[..., None, :]
    diagonal = np.arange(h.shape[-1])
    R[..., diagonal, diagonal] += s
    return R


def information_root(x, h, reference):
    """U (d~, k) with U U^T = kron(diag(h) - h h^T, x x^T); x (d,), h (k,), reference 1 - sum h."""
    return np.kron(curvature_root(h, reference), x[:, None])


def weighted_information(X, h, weights):
    """``sum_i w_i kron(G_i, x_i x_i^T)``; X (n, d), h (n, k), weights (n,) of any sign.

    Returns (d~, d~) in the type of X. Cost: n d~^2 / 4 multiply-adds, in blocks of points.
    """
    (n, d), k = X.shape, h.shape[1]
    by_pairs = k <= FEW_BLOCKS
    packed = np.zeros((_triangle(k), d, d) if by_pairs else (_triangle(k), _triangle(d)))
    for block in pool_blocks(n, _bytes_per_point(X, k)):
        points = X[block]
        G = _packed_curvature(h[block], weights[block])
        if by_pairs:
            for pair, g in enumerate(G):
                packed[pair] += points.T @ (g[:, None] * points)
        else:
            packed += G @ packed_products(points).T
    blocks = packed if by_pairs else packed[:, _symmetric_index(d)]  # (k(k+1)/2, d, d)
    full = blocks[_symmetric_index(k)]  # (k, k, d, d)
    return full.transpose(0, 2, 1, 3).reshape(d * k, d * k).astype(X.dtype, copy=False)


def contract_curvature(X, h, M):
    """``<kron(G_i, x_i x_i^T), M>`` for every point; M symmetric (d~, d~). Returns (n,).

    Cost: n d~^2 / 4 multiply-adds, in blocks of points.
    """
    (n, d), k = X.shape, h.shape[1]
    out = np.empty(n, dtype=X.dtype)
    if k <= FEW_BLOCKS:
        for block in pool_blocks(n, _bytes_per_point(X, k)):
            out[block] = np.einsum(
                "nkl,nkl->n", curvature(h[block]), _forms_by_pairs(X[block], M, k)
            )
        return out
    coefficients = packed_coefficients(M, d, k).astype(X.dtype, copy=False)
    # a pair (k, l) with k < l stands for (l, k) too
    coefficients *= np.where(_is_diagonal(k), 1, 2).astype(X.dtype)[:, None]
    for block in pool_blocks(n, _bytes_per_point(X, k)):
        forms = coefficients @ packed_products(X[block])
        out[block] = np.einsum("pn,pn->n", _packed_curvature(h[block]), forms)
    return out


def quadratic_forms(X, W, n_blocks):
    """``Q[i, k, l] = x_i^T W_kl x_i`` for every point and every d x d block of a symmetric W.

    X (n, d), W (d~, d~) with d~ = d * n_blocks; returns (n, n_blocks, n_blocks), symmetric in its
    last two axes. The result itself takes n * n_blocks^2 numbers: call it inside ``pool_blocks``
    when that is too much. Cost: n d~^2 / 4 multiply-adds.
    """
    (n, d), k = X.shape, n_blocks
    W = W.astype(X.dtype, copy=False)
    out = np.empty((n, k, k), dtype=X.dtype)
    if k <= FEW_BLOCKS:
        for block in pool_blocks(n, _bytes_per_point(X, k)):
            out[block] = _forms_by_pairs(X[block], W, k)
        return out
    coefficients = packed_coefficients(W, d, k)
    unpack = _symmetric_index(k).ravel()
    for block in pool_blocks(n, _bytes_per_point(X, k)):
        forms = packed_products(X[block]).T @ coefficients.T
        np.take(forms, unpack, axis=1, out=out[block].reshape(-1, k * k), mode="clip")
    return out


def _triangle(size):
    return size * (size + 1) // 2


def _bytes_per_point(X, k):
    """Working memory of one point: products x_a x_b, curvature pairs and quadratic forms."""
    return X.itemsize * (_triangle(X.shape[1]) + 2 * k * k + 2 * X.shape[1])


def packed_products(A):
    """All products ``a_ir a_is`` with r <= s of the rows of A (n, size): (size(size+1)/2, n).

    Pairs are ordered (0,0), (0,1), .., (0,size-1), (1,1), ..; points run fastest in memory.
    """
    size = A.shape[1]
    columns = np.ascontiguousarray(A.T)
    out = np.empty((_triangle(size), A.shape[0]), dtype=A.dtype)
    start = 0
    for r in range(size):
        np.multiply(columns[r], columns[r:], out=out[start : start + size - r])
        start += size - r
    return out


def _packed_curvature(h, weights=1.0):
    """The pairs (k <= l) of ``w_i (diag(h_i) - h_i h_i^T)``, in the same order: (k(k+1)/2, n)."""
    k = h.shape[1]
    columns = np.ascontiguousarray(h.T)
    weighted = columns * weights
    out = np.empty((_triangle(k), h.shape[0]), dtype=weighted.dtype)
    start = 0
    for r in range(k):
        np.multiply(-weighted[r], columns[r:], out=out[start : start + k - r])
        out[start] += weighted[r]
        start += k - r
    return out


def packed_coefficients(W, d, k):
    """Row (k, l) holds c_ab with ``x^T W_kl x = sum_{a<=b} c_ab x_a x_b``; k <= l."""
    blocks = W.reshape(k, d, k, d).transpose(0, 2, 1, 3)[_pairs(k)]  # (k(k+1)/2, d, d)
    a, b = _pairs(d)
    both = (blocks + blocks.transpose(0, 2, 1)).reshape(-1, d * d)
    out = np.take(both, a * d + b, axis=1)
    out[:, _is_diagonal(d)] /= 2
    return out


@lru_cache(maxsize=16)
def _pairs(size):
    """Rows and columns of the pairs r <= s, in the packed order."""
    return np.triu_indices(size)


def _is_diagonal(size):
    rows, columns = _pairs(size)
    return rows == columns


@lru_cache(maxsize=16)
def _symmetric_index(size):
    """index[r, s] = position of the pair (min, max) in the packed order."""
    index = np.empty((size, size), dtype=np.intp)
    rows, columns = _pairs(size)
    index[rows, columns] = index[columns, rows] = np.arange(rows.size)
    return index


def _forms_by_pairs(X, W, k):
    (n, d) = X.shape
    out = np.empty((n, k, k), dtype=X.dtype)
    W = W.astype(X.dtype, copy=False).reshape(k, d, k, d)
    for r in range(k):
        for s in range(r, k):
            out[:, r, s] = out[:, s, r] = np.einsum("nd,nd->n", X @ W[r, :, s, :], X)
    return out
