"""The score of every pool point, and the best of them.

A step of FIRAL's rounding and a forward step of BAIT ask the same question. With symmetric W1 and
W2 of size d~, G_i = diag(h_i) - h_i h_i^T and the k x k matrices Q1_i = [x_i^T W1_kl x_i] and
Q2_i = [x_i^T W2_kl x_i], which point has the largest

    s_i = trace[(I + G_i Q1_i)^{-1} G_i Q2_i] ?

The inverse of G is diag(1/h) + 1 1^T / h_c (h_c: probability of the reference class), so s is the
derivative at s = 0 of log|det| of the bordered matrix

    [ diag(1/h) + Q1 + s Q2     1  ]
    [          1^T            -h_c ]

taken along by symmetric elimination. All its pivots but the last are positive and the last is
negative, whatever h: nothing cancels, and neither eigenvectors nor roots per point are needed.

**Single precision looks, double precision decides.** Only the best point is wanted. So all scores
are computed in float32 first, at less than half the price, and again in float64 for the points
within ``MARGIN`` of the best. The same is done for a sample of the pool, to see how far off float32
is on this problem: if the error is not well below ``MARGIN``, all scores are computed in float64.
"""

from __future__ import annotations

import numpy as np

from firal import kernels
from firal.problem import by_parts

BLOCK_BYTES = 16 * 2**20  # working memory of one block of points
TIE = 1e-9  # scores within this relative distance of the best are ties: the lowest index wins
MARGIN = 1e-3  # float32 scores this far below the best are not looked at again
SAMPLE = 32  # every so manieth point, but at least so many points, tests the float32 scores
WORTH = 5 * 10**6  # from this m d~^2 / 4 on, two passes are quicker than one in float64


def best_point(problem, W1, W2, allowed):
    """Row with the largest score among ``allowed`` (m,) bool, and that score (float64).

    Rows within ``TIE`` of the largest are equal, and the lowest of them is returned.
    Cost: m d~^2 / 2 multiply-adds for the pool and m c^3 / 2 for the eliminations, in float32.
    """
    coefficients = _coefficients(problem, W1, W2)
    rows = None
    if len(problem.X) * problem.size**2 / 4 >= WORTH:
        rows, exact = _screen(problem, coefficients, allowed)
    if rows is None:
        rows = np.flatnonzero(allowed)
        exact = _scores(problem, coefficients)[rows]
    ties = np.flatnonzero(exact >= exact.max() * (1 - TIE))
    return int(rows[ties[0]]), float(exact[ties[0]])


def all_scores(problem, W1, W2):
    """Score of every pool point (m,), in float64."""
    return _scores(problem, _coefficients(problem, W1, W2))


def _screen(problem, coefficients, allowed):
    """Ascending rows that may be the best and their float64 scores; (None, None) if unsure."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        rough = _scores(problem, coefficients.astype(np.float32))
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
    exact = _scores(few, coefficients)
    if np.abs(exact - rough[checked]).max() > best * MARGIN / 8:
        return None, None
    kept = close[checked]
    return checked[kept], exact[kept]


def _coefficients(problem, W1, W2):
    d, k = problem.X.shape[1], problem.h.shape[1]
    return np.vstack([kernels.packed_coefficients(W, d, k) for W in (W1, W2)])


def _scores(problem, coefficients):
    """All scores, in the type of ``coefficients``: one matrix product, then elimination."""
    X, h, reference = problem.X, problem.h, problem.reference
    (m, d), pairs, dtype = X.shape, len(coefficients) // 2, coefficients.dtype
    scores = np.empty(m, dtype)
    bytes_per_point = dtype.itemsize * (d * d // 2 + 3 * pairs)

    def fill(part):
        for inner in kernels.pool_blocks(part.stop - part.start, bytes_per_point, BLOCK_BYTES):
            block = slice(part.start + inner.start, part.start + inner.stop)
            forms = coefficients @ kernels.packed_products(X[block].astype(dtype, copy=False))
            scores[block] = bordered_derivative(
                forms[:pairs],
                forms[pairs:],
                h[block].T.astype(dtype, copy=False),
                reference[block].astype(dtype, copy=False),
            )

    by_parts(m, problem.threads, fill)
    return scores


def bordered_derivative(T, dT, h, reference):
    """d/ds log|det [[diag(1/h) + T + s dT, 1], [1^T, -reference]]| at s = 0, for many points.

    T and dT (k(k+1)/2, n) hold the pairs (0,0), (0,1), .., (1,1), .. of symmetric k x k matrices,
    h is (k, n), reference (n,); T and dT are overwritten. Pivot p with derivative dp adds dp / p;
    with column t, c = t / p and w = dt - c dp / 2 the rest changes by -c t^T and -(c w^T + w c^T).
    """
    (k, n), dtype = h.shape, T.dtype
    smallest = 1e-290 if dtype == np.float64 else 1e-35  # a class of probability 0 drops out
    starts = [r * k - r * (r - 1) // 2 for r in range(k)]
    T = [T[start : start + k - r] for r, start in enumerate(starts)]
    dT = [dT[start : start + k - r] for r, start in enumerate(starts)]
    border, dborder = np.ones((k, n), dtype), np.zeros((k, n), dtype)
    corner, dcorner = -reference, np.zeros(n, dtype)
    total, product = np.zeros(n, dtype), np.empty((k, n), dtype)
    for j in range(k):
        t, dt = T[j], dT[j]
        p = t[0] + 1 / np.maximum(h[j], smallest)
        dp = dt[0]
        total += dp / p
        c = t[1:] / p
        w = dt[1:] - c * (dp / 2)
        c_border = border[j] / p
        w_border = dborder[j] - c_border * (dp / 2)
        for r in range(k - 1 - j):
            rest, buffer = j + 1 + r, product[: k - 1 - j - r]
            T[rest] -= np.multiply(c[r], t[r + 1 :], out=buffer)
            dT[rest] -= np.multiply(c[r], w[r:], out=buffer)
            dT[rest] -= np.multiply(w[r], c[r:], out=buffer)
        corner = corner - c_border * border[j]
        dcorner -= 2 * c_border * w_border
        border[j + 1 :] -= c * border[j]
        dborder[j + 1 :] -= c * w_border + w * c_border
    return total + dcorner / corner
