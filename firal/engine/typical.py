"""Typical points: those with near neighbors, in every cluster.

A label of an outlier says little about other points. So the points of a cluster are ordered by
their mean distance to their nearest neighbors in the pool, and those in front are kept. A cluster
keeps the same share wherever it lies: rare groups stay, and dense ones do not take all places.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from firal.common.blocks import pool_blocks
from firal.common.ties import TIE

NEIGHBORS = 10
TASK = 10**10  # multiply-adds of one search, for which an interruption waits
BLOCK_BYTES = 32 * 2**20
ROUNDING = 1e-12  # of points whose last digits are rounded, relative to their size
TILE = 256  # points of scikit-learn's products: searches of so many points have the same roundings


def typical_rows(points: np.ndarray, groups: np.ndarray, share: float) -> np.ndarray:
    """Keep the points of every group that have the nearest neighbors.

    Parameters
    ----------
    points : np.ndarray of shape (m, d)
        Points.
    groups : np.ndarray of shape (m,)
        Number of the group of every point.
    share : float
        Share of every group to keep, above 0 and at most 1; at least one point is kept.

    Returns
    -------
    np.ndarray of int
        Rows, ascending.

    Notes
    -----
    Neighbors are sought among all points, not only in the group. Distances that are equal to
    rounding with the last one that is kept are ties, of which the first rows are kept: processors
    round differently. Cost: m^2 d multiply-adds.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.r_[np.arange(12) / 10, 9.0, 20.0][:, None]  # twelve points together, two alone
    >>> typical_rows(line, np.zeros(14), 6 / 7).tolist() == list(range(12))
    True
    """
    distance = neighbor_distance(points)
    _, groups = np.unique(groups, return_inverse=True)
    sizes = np.bincount(groups)
    kept = np.ceil(share * sizes - 1e-9).astype(int)
    starts = np.cumsum(sizes) - sizes
    # 1. The last one that is kept of every group, and what is equal to it.
    last = np.lexsort((distance, groups))[starts + kept - 1]
    tie = TIE * distance[last] + ROUNDING * np.linalg.norm(points[last], axis=1)
    below = distance < (distance[last] - tie)[groups]
    above = distance > (distance[last] + tie)[groups]
    # 2. Group by group: the nearer ones, the ties and the others, each in the order of the rows.
    order = np.lexsort((above.astype(int) - below, groups))
    place = np.arange(len(order)) - np.repeat(starts, sizes)
    return np.sort(order[place < np.repeat(kept, sizes)])


def neighbor_distance(points: np.ndarray, neighbors: int = NEIGHBORS) -> np.ndarray:
    """Mean distance of every point to its nearest neighbors.

    Parameters
    ----------
    points : np.ndarray of shape (m, d)
        Points.
    neighbors : int, default 10
        How many; fewer if there are not so many points.

    Returns
    -------
    np.ndarray of shape (m,)
        Mean distances; 0 for a single point.

    Notes
    -----
    The search multiplies matrices, which leaves half the digits of small distances. So those of the
    neighbors that it finds are computed again, from differences.
    """
    from sklearn.neighbors import NearestNeighbors  # importing it takes long

    count, out = min(neighbors, len(points) - 1), np.zeros(len(points))
    if count < 1:
        return out
    with threadpool_limits(1):
        model = NearestNeighbors(n_neighbors=count + 1).fit(points)
        some = max(TASK // points.size // TILE, 1) * TILE
        for start in range(0, len(points), some):
            rows = slice(start, start + some)
            which = model.kneighbors(points[rows], return_distance=False)
            # a point is its own neighbor, or one of many equal points is
            own = which == np.arange(len(points))[rows, None]
            own[~own.any(axis=1), 0] = True
            out[rows] = _mean_distance(points, start, which[~own].reshape(-1, count))
    return out


def _mean_distance(points, start, which):
    """From the points ``start``, ``start + 1``, .. to the rows ``which`` (n, count) of each."""
    out = np.empty(len(which))
    for block in pool_blocks(len(which), 8 * which.shape[1] * points.shape[1], BLOCK_BYTES):
        own = points[start : start + len(which)][block, None].astype(np.float64, copy=False)
        out[block] = np.linalg.norm(points[which[block]] - own, axis=2).mean(axis=1)
    return out
