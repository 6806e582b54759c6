"""Clusters of a pool: their centers, the points nearest to these, and which point is in which.

Clusters are scikit-learn's K-means with k-means++ starts, in one thread: sums have one order.
"""

from __future__ import annotations

import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from firal.common import checks
from firal.common.blocks import pool_blocks
from firal.common.ties import TIE

BLOCK_BYTES = 32 * 2**20
ROUNDING = 1e-24  # of features whose last digits are rounded: relative, and squared
PRODUCTS = 64  # rounding of squared distances by matrix products, in units of the last digit


def cluster_centers(
    pool: np.ndarray, n_clusters: int, rng: np.random.Generator, starts: int = 3
) -> np.ndarray:
    """Find the centers of clusters.

    Parameters
    ----------
    pool : np.ndarray of shape (m, d)
        Points.
    n_clusters : int
        Number of centers.
    rng : numpy.random.Generator
        Source of randomness; one integer is drawn from it.
    starts : int, default 3
        Number of starts, of which the best is kept.

    Returns
    -------
    np.ndarray of shape (n_clusters, d)
        Centers. They repeat if the pool has fewer distinct points.
    """
    from sklearn.cluster import KMeans  # importing it takes longer than the rest of the module
    from sklearn.exceptions import ConvergenceWarning

    seed = int(checks.generator(rng).integers(2**31))
    model = KMeans(n_clusters=n_clusters, n_init=starts, random_state=seed)
    with warnings.catch_warnings(), threadpool_limits(1):
        # fewer distinct points than clusters: the centers repeat, the picked rows do not
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(pool).cluster_centers_


def nearest_distinct(pool: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """For each center in turn, the nearest pool row not taken yet, the lowest of equals.

    Parameters
    ----------
    pool : np.ndarray of shape (m, d)
        Points.
    centers : np.ndarray of shape (b, d)
        Centers, at most m.

    Returns
    -------
    np.ndarray of shape (b,)
        Distinct rows of the pool.

    Notes
    -----
    Points of a spectral embedding that have the same neighbors are equal but for the last digits,
    which differ between processors. So distances that are equal to rounding are ties.
    """
    taken = np.zeros(len(pool), dtype=bool)
    rows = []
    for center in centers:
        distance = np.sum((pool - center) ** 2, axis=1)
        distance[taken] = np.inf
        rows.append(int(np.argmax(distance <= tie_limit(distance.min(), center))))
        taken[rows[-1]] = True
    return np.array(rows)


def tie_limit(distance: float, center: np.ndarray) -> float:
    """The largest squared distance from a center that counts as equal to another one.

    Parameters
    ----------
    distance : float
        The squared distance.
    center : np.ndarray of shape (d,)
        The center.

    Returns
    -------
    float
        A little more than ``distance``.
    """
    return distance * (1 + TIE) + ROUNDING * float(np.sum(center**2))


def nearest_center(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """The cluster of every point.

    Parameters
    ----------
    points : np.ndarray of shape (n, d)
        Points; may be empty.
    centers : np.ndarray of shape (k, d)
        Centers of the clusters.

    Returns
    -------
    np.ndarray of shape (n,)
        Number of the nearest center, the lowest of equals.

    Notes
    -----
    Whole numbers are often as far from one center as from another. So squared distances that are
    equal to rounding are ties. Cost: n k d multiply-adds.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_center(np.array([[0.0], [3.0], [9.0]]), np.array([[1.0], [8.0]])).tolist()
    [0, 0, 1]
    """
    out = np.empty(len(points), dtype=np.intp)
    origin = centers[0]  # any point near them: squares of large numbers would not tell them apart
    centers = centers - origin
    half = np.sum(centers**2, axis=1) / 2
    for block in pool_blocks(len(points), 8 * sum(centers.shape), BLOCK_BYTES):
        X = points[block] - origin
        # half the squared distance, up to half the square of the point
        rough, own = half - X @ centers.T, np.einsum("ij,ij->i", X, X) / 2
        nearest = rough.min(axis=1)
        unsure = PRODUCTS * np.finfo(rough.dtype).eps * (own + half.max())
        limit = nearest + TIE * np.maximum(nearest + own, 0) + unsure
        out[block] = np.argmax(rough <= limit[:, None], axis=1)
    return out
