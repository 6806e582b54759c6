"""The score of every pool point, and the best of them.

A step of FIRAL's rounding and a forward step of BAIT ask the same question. With symmetric W1 and
W2 of size d~, G_i = diag(h_i) - h_i h_i^T and the k x k matrices Q1_i = [x_i^T W1_kl x_i] and
Q2_i = [x_i^T W2_kl x_i], which point has the largest

    s_i = trace[(I + G_i Q1_i)^{-1} G_i Q2_i] ?

The inverse of G is diag(1/h) + 1 1^T / h_c (h_c: probability of the reference class), so s_i is
the derivative at u = 0 of log|det| of the bordered matrix

    [ diag(1/h) + Q1 + u Q2     1  ]
    [          1^T            -h_c ]

taken along by symmetric elimination. All its pivots but the last are positive and the last is
negative, whatever h: nothing cancels, and neither eigenvectors nor factors of G are needed.

**Single precision looks, double precision decides.** Only the best point is wanted. So all scores
are computed in float32 first, at less than half the price, and again in float64 for the points
within ``MARGIN`` of the best. The same is done for a sample of the pool, to see how far off float32
is on this problem: if the error is not well below ``MARGIN``, all scores are computed in float64.

**Memory is used again.** A run asks for the best point of one pool many times. Fresh memory costs
as much as the arithmetic in it, so the caller keeps a dictionary ``memory`` from call to call. It
also holds the products x_a x_b of the whole pool, when they take little space.
"""

from __future__ import annotations

import math

import numpy as np

from firal.model import hessians
from firal.selection.problem import by_parts

BLOCK_BYTES = 16 * 2**20  # working memory of one block of points
TIE = 1e-9  # scores within this relative distance of the best are ties: the lowest index wins
MARGIN = 1e-3  # float32 scores this far below the best are not looked at again
SAMPLE = 32  # every so manieth point, but at least so many points, tests the float32 scores
WORTH = 5 * 10**6  # from this m d~^2 / 4 on, two passes are quicker than one in float64
PRODUCT_BYTES = 64 * 2**20  # products x_a x_b are kept up to this size


def best_point(problem, W1, W2, allowed, memory=None):
    """Row with the largest score among ``allowed`` (m,) bool, and that score (float64).

    Rows within ``TIE`` of the largest are equal, and the lowest of them is returned. ``memory``
    is a dictionary, empty at first, to be handed over in all calls for one problem.
    Cost: m d~^2 / 2 multiply-adds for the pool and m c^3 / 2 for the eliminations, in float32.
    """
    memory = {} if memory is None else memory
    rows = None
    if len(problem.X) * problem.size**2 / 4 >= WORTH:
        rows, exact = _screen(problem, W1, W2, allowed, memory)
    if rows is None:
        rows = np.flatnonzero(allowed)
        exact = _scores(problem, W1, W2, np.float64, {})[rows]
    ties = np.flatnonzero(exact >= exact.max() * (1 - TIE))
    return int(rows[ties[0]]), float(exact[ties[0]])


def all_scores(problem, W1, W2):
    """Score of every pool point (m,), in float64."""
    return _scores(problem, W1, W2, np.float64, {})


def _screen(problem, W1, W2, allowed, memory):
    """Ascending rows that may be the best and their float64 scores; (None, None) if unsure."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        rough = _scores(problem, W1, W2, np.float32, memory)
    best = rough[allowed].max()
    if not (np.isfinite(rough).all() and best > 0):
        return None, None
    m = len(rough)
    close = allowed & (rough >= best * (1 - MARGIN))
    checked = close.copy()
    checked[:: max(1, min(SAMPLE, m // SAMPLE))] = True
    checked = np.flatnonzero(checked)
    if 4 * len(checked) > m:
        return None, None
    few = problem._replace(
        X=problem.X[checked], h=problem.h[checked], reference=problem.reference[checked]
    )
    exact = _scores(few, W1, W2, np.float64, {})
    if np.abs(exact - rough[checked]).max() > best * MARGIN / 8:
        return None, None
    kept = close[checked]
    return checked[kept], exact[kept]


def _scores(problem, W1, W2, dtype, memory):
    """All scores, in float32 or float64: one matrix product, then elimination."""
    X, h, reference = problem.X, problem.h, problem.reference
    (m, d), k, dtype = X.shape, h.shape[1], np.dtype(dtype)
    coefficients = np.vstack(
        [hessians.packed_coefficients(W.astype(dtype, copy=False), d, k) for W in (W1, W2)]
    )
    pairs, scores = len(coefficients) // 2, np.empty(m, dtype)
    bytes_per_point = dtype.itemsize * (d * d // 2 + 6 * pairs)
    keep_products = dtype.itemsize * m * d * d // 2 <= PRODUCT_BYTES

    def fill(part):
        mine = memory.setdefault(part.start, {})
        for inner in hessians.pool_blocks(part.stop - part.start, bytes_per_point, BLOCK_BYTES):
            block = slice(part.start + inner.start, part.start + inner.stop)
            products = mine.get(block.start)
            if products is None:
                products = hessians.packed_products(X[block].astype(dtype, copy=False))
                if keep_products:
                    mine[block.start] = products
            n = products.shape[1]
            forms = np.matmul(
                coefficients, products, out=_room(mine, "forms", (2 * pairs, n), dtype)
            )
            scores[block] = bordered_derivative(
                forms[:pairs],
                forms[pairs:],
                h[block].T.astype(dtype, copy=False),
                reference[block].astype(dtype, copy=False),
                _room(mine, "rows", (2, k, k + 1, n), dtype),
            )

    by_parts(m, problem.threads, fill)
    return scores


def _room(memory, name, shape, dtype):
    """Uninitialized memory of this shape, taken from what is there if it is enough."""
    size = math.prod(shape)
    if name not in memory or memory[name].size < size:
        memory[name] = np.empty(size, dtype)
    return memory[name][:size].reshape(shape)


def bordered_derivative(T, dT, h, reference, room=None):
    """d/ds log|det [[diag(1/h) + T + s dT, 1], [1^T, -reference]]| at s = 0, for many points.

    T and dT (k(k+1)/2, n) hold the pairs (0,0), (0,1), .., (1,1), .. of symmetric k x k matrices,
    h is (k, n), reference (n,); ``room``, if given, is (2, k, k+1, n) to be overwritten.
    Row j of the elimination starts as row j of the matrix, from the diagonal on, and loses

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
        t, dt = A[j, j:], B[j, j:]
        t[:-1], t[-1] = T[start : start + k - j], 1
        dt[:-1], dt[-1] = dT[start : start + k - j], 0
        t[0] += 1 / np.maximum(h[j], smallest)
        start += k - j
        if j:
            t -= np.einsum("pn,psn->sn", A[:j, j], A[:j, j:])
            dt -= np.einsum("pn,psn->sn", A[:j, j], B[:j, j:])
            dt -= np.einsum("pn,psn->sn", B[:j, j], A[:j, j:])
        ratio, scale = dt[0] / t[0], 1 / np.sqrt(t[0])
        total += ratio
        t *= scale
        dt *= scale
        dt -= t * (ratio / 2)
    a, b = A[:, k], B[:, k]
    corner = reference + np.einsum("pn,pn->n", a, a)
    return total + 2 * np.einsum("pn,pn->n", a, b) / corner
