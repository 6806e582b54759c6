"""The score of every pool point, and the best of them.

A step of FIRAL's rounding and a forward step of BAIT ask the same question. With symmetric W1 and
W2 of size d~, G_i = diag(h_i) - h_i h_i^T and the k x k matrices Q1_i = [x_i^T W1_kl x_i] and
Q2_i = [x_i^T W2_kl x_i], which point has the largest ::

    s_i = trace[(I + G_i Q1_i)^{-1} G_i Q2_i] ?

The inverse of G is diag(1/h) + 1 1^T / h_c (h_c: probability of the reference class), so s_i is
the derivative at u = 0 of log|det| of the bordered matrix ::

    [ diag(1/h) + Q1 + u Q2     1  ]
    [          1^T            -h_c ]

taken along by symmetric elimination. All its pivots but the last are positive and the last is
negative, whatever h: nothing cancels, and neither eigenvectors nor factors of G are needed.

**Single precision screens, double precision decides.** Only the best point is wanted. So all scores
are computed in float32 first, at less than half the price, and again in float64 for the points
within ``SCREEN_MARGIN`` of the best. Every 32nd point is computed in float64 too, to verify float32
on this problem: if its error is not well below the margin, all scores are computed in float64.

**Memory is used again.** A run asks for the best point of one pool many times, and fresh memory
costs as much as the arithmetic in it. So a scorer owns its working memory. It also keeps the
products x_a x_b of the whole pool, if they take little space.
"""

from __future__ import annotations

import math

import numpy as np

from firal.engine import memory
from firal.model import packing
from firal.selection.problem import Problem

BLOCK_BYTES = 16 * 2**20  # working memory of one block of points
PRODUCT_BYTES = 64 * 2**20  # products x_a x_b are kept up to this size
TIE = 1e-9  # scores within this relative distance of the best are ties: the lowest index wins
SCREEN_MARGIN = 1e-3  # points whose float32 score is this far below the best are out
SCREEN_FROM = 5 * 10**6  # from this m d~^2 / 4 on, two passes are quicker than one in float64
VERIFY_EVERY = 32  # verify float32 on every 32nd point, or on 32 points of a small pool


class PoolScorer:
    """Scores all points of one problem, as often as asked, in working memory of its own.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        data = problem.X, problem.h, problem.reference, problem.threads
        self._single, self._double = _Pass(*data, np.float32), _Pass(*data, np.float64)

    def best(self, W1: np.ndarray, W2: np.ndarray, allowed: np.ndarray) -> tuple[int, float]:
        """Find the allowed point with the largest score.

        Parameters
        ----------
        W1, W2 : np.ndarray of shape (d~, d~)
            Symmetric.
        allowed : np.ndarray of shape (m,)
            True where a point may be picked.

        Returns
        -------
        tuple of int and float
            Its row and its score in float64. Rows within ``TIE`` of the largest score are equal,
            and the lowest of them is returned.

        Notes
        -----
        Cost: m d~^2 / 2 multiply-adds for the pool and m c^3 / 2 for the eliminations, in float32.
        """
        rows = None
        if len(self.problem.X) * self.problem.size**2 / 4 >= SCREEN_FROM:
            rows, exact = self._screen(W1, W2, allowed)
        if rows is None:
            rows = np.flatnonzero(allowed)
            exact = self.all(W1, W2)[rows]
        ties = np.flatnonzero(exact >= exact.max() * (1 - TIE))
        return int(rows[ties[0]]), float(exact[ties[0]])

    def all(self, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
        """Score every point.

        Parameters
        ----------
        W1, W2 : np.ndarray of shape (d~, d~)
            Symmetric.

        Returns
        -------
        np.ndarray of shape (m,)
            Scores in float64.
        """
        return self._double(W1, W2)

    def _screen(self, W1, W2, allowed):
        """Ascending rows that may be the best and their float64 scores; (None, None) if unsure."""
        # 1. All scores in float32.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            rough = self._single(W1, W2)
        best = rough[allowed].max()
        if not (np.isfinite(rough).all() and best > 0):
            return None, None
        # 2. In float64: those close to the best, and a sample of all.
        m = len(rough)
        close = allowed & (rough >= best * (1 - SCREEN_MARGIN))
        verified = close.copy()
        verified[:: max(1, min(VERIFY_EVERY, m // VERIFY_EVERY))] = True
        verified = np.flatnonzero(verified)
        if 4 * len(verified) > m:
            return None, None
        p = self.problem
        few = p.X[verified], p.h[verified], p.reference[verified], p.threads
        exact = _Pass(*few, np.float64)(W1, W2)
        # 3. The float32 scores must be much better than the margin.
        if np.abs(exact - rough[verified]).max() > best * SCREEN_MARGIN / 8:
            return None, None
        kept = close[verified]
        return verified[kept], exact[kept]


class _Pass:
    """All scores of some points in one precision: one matrix product, then elimination."""

    def __init__(self, X, h, reference, threads, dtype):
        self.X, self.h, self.reference, self.threads = X, h, reference, threads
        self.dtype = np.dtype(dtype)
        m, d = X.shape
        self.keep_products = self.dtype.itemsize * m * d * d // 2 <= PRODUCT_BYTES
        self.workspaces = {}  # worker -> _Workspace

    def __call__(self, W1, W2):
        X, h, reference, dtype = self.X, self.h, self.reference, self.dtype
        (m, d), k = X.shape, h.shape[1]
        coefficients = np.vstack(
            [packing.packed_coefficients(W.astype(dtype, copy=False), d, k) for W in (W1, W2)]
        )
        pairs, scores = len(coefficients) // 2, np.empty(m, dtype)

        def fill(worker, block):
            workspace = self.workspaces.setdefault(worker, _Workspace(dtype))
            products = self._products(workspace, block)
            n = products.shape[1]
            forms = np.matmul(coefficients, products, out=workspace.forms.take(2 * pairs, n))
            scores[block] = bordered_derivative(
                forms[:pairs],
                forms[pairs:],
                h[block].T.astype(dtype, copy=False),
                reference[block].astype(dtype, copy=False),
                workspace.rows.take(2, k, k + 1, n),
            )

        bytes_per_point = dtype.itemsize * (d * d // 2 + 6 * pairs)
        memory.by_blocks(m, self.threads, bytes_per_point, BLOCK_BYTES, fill)
        return scores

    def _products(self, workspace, block):
        """The products x_a x_b of the points of a block, from the last pass if they were kept."""
        products = workspace.products.get(block.start)
        if products is None:
            products = packing.packed_products(self.X[block].astype(self.dtype, copy=False))
            if self.keep_products:
                workspace.products[block.start] = products
        return products


class _Workspace:
    """Memory of one worker: products by the start of their block, and two arrays to overwrite."""

    def __init__(self, dtype):
        self.products = {}
        self.forms, self.rows = _Buffer(dtype), _Buffer(dtype)


class _Buffer:
    """Uninitialized memory that grows to the largest array asked for."""

    def __init__(self, dtype):
        self.flat = np.empty(0, dtype)

    def take(self, *shape):
        size = math.prod(shape)
        if self.flat.size < size:
            self.flat = np.empty(size, self.flat.dtype)
        return self.flat[:size].reshape(shape)


def bordered_derivative(
    T: np.ndarray,
    dT: np.ndarray,
    h: np.ndarray,
    reference: np.ndarray,
    room: np.ndarray | None = None,
) -> np.ndarray:
    """Derivative of the logarithm of a bordered determinant, for many points at once.

    It is d/ds log|det [[diag(1/h) + T + s dT, 1], [1^T, -reference]]| at s = 0.

    Parameters
    ----------
    T, dT : np.ndarray of shape (k(k+1)/2, n)
        Pairs (0,0), (0,1), .., (1,1), .. of symmetric k x k matrices.
    h : np.ndarray of shape (k, n)
        Probabilities of all classes but the reference.
    reference : np.ndarray of shape (n,)
        Probability of the reference class.
    room : np.ndarray of shape (2, k, k+1, n), optional
        Memory to overwrite.

    Returns
    -------
    np.ndarray of shape (n,)
        One derivative per point.

    Notes
    -----
    Row j of the elimination starts as row j of the matrix, from the diagonal on, and loses ::

        sum_{p<j} a_p[j] a_p    and, its derivative,
        sum_{p<j} (a_p[j] b_p + b_p[j] a_p)

    where a_p = t / sqrt(t_0) and b_p = (dt - t dt_0 / (2 t_0)) / sqrt(t_0) if row p ended as t with
    derivative dt. The pivot t_0 adds dt_0 / t_0 to the result. The border is the last column.
    """
    (k, n), dtype = h.shape, T.dtype
    smallest = 1e-290 if dtype == np.float64 else 1e-35  # a class of probability 0 drops out
    A, B = np.empty((2, k, k + 1, n), dtype) if room is None else room
    total, start = np.zeros(n, dtype), 0
    for j in range(k):
        # 1. Row j of the matrix and its derivative.
        t, dt = A[j, j:], B[j, j:]
        t[:-1], t[-1] = T[start : start + k - j], 1
        dt[:-1], dt[-1] = dT[start : start + k - j], 0
        t[0] += 1 / np.maximum(h[j], smallest)
        start += k - j
        # 2. Eliminate the rows above.
        if j:
            t -= np.einsum("pn,psn->sn", A[:j, j], A[:j, j:])
            dt -= np.einsum("pn,psn->sn", A[:j, j], B[:j, j:])
            dt -= np.einsum("pn,psn->sn", B[:j, j], A[:j, j:])
        # 3. Add the pivot's part, and scale the row by its root.
        ratio, scale = dt[0] / t[0], 1 / np.sqrt(t[0])
        total += ratio
        t *= scale
        dt *= scale
        dt -= t * (ratio / 2)
    a, b = A[:, k], B[:, k]
    corner = reference + np.einsum("pn,pn->n", a, a)
    return total + 2 * np.einsum("pn,pn->n", a, b) / corner
