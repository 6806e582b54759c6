"""Strategies that do not look at the Fisher information: Random, K-means, Entropy, Var Ratios.

They have the signature of all strategies, see :mod:`firal.strategies`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from firal.common import checks
from firal.common.own_theta import selection_parameters
from firal.common.ties import largest_first
from firal.engine.clusters import cluster_centers, nearest_distinct
from firal.model.logistic import softmax


def random(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw rows uniformly without replacement.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points; only their number matters.
    labeled, theta : object
        Not used.
    budget : int
        Number of rows to draw, ``1 <= budget <= m``.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    np.ndarray of shape (budget,)
        Distinct rows of the pool.

    Raises
    ------
    ValueError
        If the pool, the budget or the generator is not as said.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.strategies import random
    >>> sorted(random(np.zeros((3, 2)), None, None, 3, np.random.default_rng(0)).tolist())
    [0, 1, 2]
    """
    pool, budget = _pool(pool, budget)
    return checks.generator(rng).choice(len(pool), size=budget, replace=False)


def kmeans(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Pick the pool points nearest to the centers of ``budget`` clusters of the pool.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points, in columns of one scale.
    labeled, theta : object
        Not used.
    budget : int
        Number of clusters and of rows, ``1 <= budget <= m``.
    rng : numpy.random.Generator
        Source of randomness for the start of K-means.

    Returns
    -------
    np.ndarray of shape (budget,)
        Distinct rows of the pool, one per center.

    Raises
    ------
    ValueError
        If the pool, the budget or the generator is not as said.

    Notes
    -----
    A point already taken by an earlier center is passed over for the next nearest. Clusters:
    scikit-learn's KMeans, k-means++ start, best of 3; one thread, so that sums have one order.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.strategies import kmeans
    >>> pool = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> sorted(kmeans(pool, None, None, 2, np.random.default_rng(0)).tolist())
    [1, 4]
    """
    pool, budget = _pool(pool, budget)
    return nearest_distinct(pool, cluster_centers(pool, budget, rng))


def entropy(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike,
    budget: int,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Pick the points with the largest entropy of their class probabilities.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled, rng : object
        Not used.
    theta : array_like of shape (c-1, d)
        Parameters of the model.
    budget : int
        Number of rows, ``1 <= budget <= m``.

    Returns
    -------
    np.ndarray of shape (budget,)
        Distinct rows of the pool, largest entropy first; ties go to the lower row.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is not finite, or the budget is out of range.

    Notes
    -----
    The entropy of a point is ``-sum_y p(y|x) log p(y|x)``.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.strategies import entropy
    >>> entropy(np.array([[4.0], [0.1], [-2.0]]), None, np.array([[1.0]]), 2).tolist()
    [1, 2]
    """
    p, budget = _predictions(pool, theta, budget)
    return largest_first(entr(p).sum(axis=1), budget)


def var_ratios(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike,
    budget: int,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Pick the points whose most probable class is least probable.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled, rng : object
        Not used.
    theta : array_like of shape (c-1, d)
        Parameters of the model.
    budget : int
        Number of rows, ``1 <= budget <= m``.

    Returns
    -------
    np.ndarray of shape (budget,)
        Distinct rows of the pool, smallest ``max_y p(y|x)`` first; ties go to the lower row.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is not finite, or the budget is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.strategies import var_ratios
    >>> var_ratios(np.array([[4.0], [0.1], [-2.0]]), None, np.array([[1.0]]), 2).tolist()
    [1, 2]
    """
    p, budget = _predictions(pool, theta, budget)
    return largest_first(-p.max(axis=1), budget)


def _pool(pool, budget):
    pool = checks.points(pool, "pool")
    return pool, checks.integer(budget, "budget", 1, len(pool))


def _predictions(pool, theta, budget):
    pool, budget = _pool(pool, budget)
    return softmax(pool, selection_parameters(theta, pool.shape[1])), budget
