"""The six strategies that choose which pool points to label next: one function each.

All have the signature ``(pool, labeled, theta, budget, rng) -> rows``: pool (m, d) are the
unlabeled points, labeled (n0, d) those with a label, theta (c-1, d) the current parameters, and
the result (budget,) holds distinct rows of the pool. ``rng`` is a numpy.random.Generator; only
``random`` and ``kmeans`` use it, so the other four give the same rows for the same data.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import entr
from threadpoolctl import threadpool_limits

from firal.common import checks
from firal.model.logistic import softmax
from firal.selection.bait import bait
from firal.selection.end_to_end import select


def random(pool, labeled, theta, budget, rng):
    """Rows drawn uniformly without replacement."""
    pool, budget = _pool(pool, budget)
    return checks.generator(rng).choice(len(pool), size=budget, replace=False)


def kmeans(pool, labeled, theta, budget, rng):
    """The pool points nearest to the centers of ``budget`` clusters of the pool.

    A point already taken by an earlier center is passed over for the next nearest. Clusters:
    scikit-learn's KMeans, k-means++ start, best of 3; one thread, so that sums have one order.
    """
    pool, budget = _pool(pool, budget)
    return nearest_distinct(pool, cluster_centers(pool, budget, rng))


def cluster_centers(pool, budget, rng):
    """(budget, d) centers of ``kmeans``."""
    from sklearn.cluster import KMeans  # importing it takes longer than the rest of the module
    from sklearn.exceptions import ConvergenceWarning

    seed = int(checks.generator(rng).integers(2**31))
    model = KMeans(n_clusters=budget, n_init=3, random_state=seed)
    with warnings.catch_warnings(), threadpool_limits(1):
        # fewer distinct points than clusters: the centers repeat, the picked rows do not
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(pool).cluster_centers_


def entropy(pool, labeled, theta, budget, rng):
    """The points with the largest entropy -sum_y p(y|x) log p(y|x); ties go to the lower row."""
    p, budget = _predictions(pool, theta, budget)
    return np.argsort(-entr(p).sum(axis=1), kind="stable")[:budget]


def var_ratios(pool, labeled, theta, budget, rng):
    """The points with the smallest max_y p(y|x); ties go to the lower row."""
    p, budget = _predictions(pool, theta, budget)
    return np.argsort(p.max(axis=1), kind="stable")[:budget]


def firal(pool, labeled, theta, budget, rng):
    """Algorithm 1 with its defaults; :func:`firal.select` also returns what it knows."""
    return select(pool, labeled, theta, budget).indices


STRATEGIES = {
    "random": random,
    "kmeans": kmeans,
    "entropy": entropy,
    "var-ratios": var_ratios,
    "bait": bait,
    "firal": firal,
}


def _pool(pool, budget):
    pool = checks.points(pool, "pool")
    return pool, checks.integer(budget, "budget", 1, len(pool))


def _predictions(pool, theta, budget):
    pool, budget = _pool(pool, budget)
    return softmax(pool, checks.parameters(theta, pool.shape[1])), budget


def nearest_distinct(pool, centers):
    """For each center in turn, the nearest pool row not taken yet (the lower row of equals)."""
    taken = np.zeros(len(pool), dtype=bool)
    rows = []
    for center in centers:
        distance = np.sum((pool - center) ** 2, axis=1)
        distance[taken] = np.inf
        rows.append(int(np.argmin(distance)))
        taken[rows[-1]] = True
    return np.array(rows)
