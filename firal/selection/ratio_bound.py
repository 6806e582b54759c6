"""Upper bounds of the scores from the diagonal blocks of one matrix.

A point has the score s = trace[Z Q2], Z = (G^{-1} + Q1)^{-1}, as in ``firal.selection.scoring``.
Let W2 be at most ``ratio`` times W1, in the order of symmetric matrices. Then Q2 is at most
``ratio`` times Q1, and s at most ``ratio`` times trace[Z Q1]: the sum of mu / (1 + mu) over the
eigenvalues mu of G Q1. G is at most diag(h), so these are at most the eigenvalues of
N = diag(h)^{1/2} Q1 diag(h)^{1/2}. And t / (1 + t) is concave, so for N the sum over its
eigenvalues is at most that over its diagonal: ::

    s <= ratio * sum_k a_k / (1 + a_k),    a_k = h_k x^T W1_kk x.

Of the k^2 forms of W1 these are k, and none of W2. In FTRL's steps the directions about which
nothing is known yet decide the largest scores. There the ratio is nearly attained, so the bound
leaves few points.
"""

from __future__ import annotations

import numpy as np

from firal.engine import memory
from firal.selection.problem import Problem

FROM = 8  # classes besides the reference, from which on the bound costs little beside the scores
SPARE = 1.001  # for roundings of the matrices
BLOCK_BYTES = 2**20  # working memory of one block of points


def ratio_bounds(problem: Problem, W1: np.ndarray, ratio: float) -> np.ndarray:
    """Bound the scores of all points.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    W1 : np.ndarray of shape (d~, d~)
        Symmetric, positive semidefinite.
    ratio : float
        W2 is at most ``ratio * W1``.

    Returns
    -------
    np.ndarray of shape (m,)
        No score is above these. Cost: m d d~ multiply-adds.
    """
    (m, d), k = problem.X.shape, problem.h.shape[1]
    blocks = [np.ascontiguousarray(W1[j : j + d, j : j + d]) for j in range(0, d * k, d)]
    bounds = np.empty(m)

    def fill(_, rows):
        X, total = problem.X[rows], np.zeros(rows.stop - rows.start)
        for block, h in zip(blocks, problem.h[rows].T, strict=True):
            a = h * np.einsum("nd,nd->n", X @ block, X)
            total += a / (1 + a)
        bounds[rows] = total

    memory.by_blocks(m, problem.threads, 8 * 3 * d, BLOCK_BYTES, fill)
    return SPARE * ratio * bounds
