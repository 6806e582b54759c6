"""The strategies that choose which pool points to label next: one function each.

All have the signature ``(pool, labeled, theta, budget, rng) -> rows``: pool (m, d) are the
unlabeled points, labeled (n0, d) those with a label, theta (c-1, d) the current parameters, and
the result (budget,) holds distinct rows of the pool. ``rng`` is a numpy.random.Generator; only
``random``, ``kmeans`` and ``firal_ridge`` (for its clusters) use it, so the others give the same
rows for the same data. ``random``, ``kmeans`` and ``firal_ridge`` also work with theta = None,
before there is a model. The chapter *Real data* compares the six strategies of the paper, *The
estimator that is really fitted* adds "firal-ridge".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from firal.common import checks
from firal.common.own_theta import selection_parameters
from firal.engine.clusters import cluster_centers, nearest_distinct
from firal.model.logistic import softmax
from firal.selection.bait import bait
from firal.selection.end_to_end import select
from firal.selection.penalized import select_penalized


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
    return np.argsort(-entr(p).sum(axis=1), kind="stable")[:budget]


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
    return np.argsort(p.max(axis=1), kind="stable")[:budget]


def relax_and_round(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike,
    budget: int,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Pick points by FIRAL, Algorithm 1: solve the relaxed problem, then round it.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    theta : array_like of shape (c-1, d)
        Parameters of the model.
    budget : int
        Number of rows, ``1 <= budget <= m``.
    rng : object
        Not used.

    Returns
    -------
    np.ndarray of shape (budget,)
        Distinct rows of the pool, in the order of the rounding.

    Raises
    ------
    ValueError
        As :func:`firal.select`, which also returns the certificates.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.strategies import relax_and_round
    >>> pool = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.1, 0.1]])
    >>> sorted(relax_and_round(pool, None, np.array([[0.5, -0.5]]), 2).tolist())
    [0, 2]
    """
    return select(pool, labeled, theta, budget).indices


def firal_ridge(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Pick points by the penalized design: FIRAL for the estimator that is really fitted.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points, in columns of one scale.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    theta : array_like of shape (c-1, d) or None
        Parameters of the model; None while there are no labels of two classes.
    budget : int
        Number of rows, ``1 <= budget <= m``.
    rng : numpy.random.Generator
        Source of randomness for the clusters.

    Returns
    -------
    np.ndarray of shape (budget,)
        Distinct rows of the pool, in the order they were picked.

    Raises
    ------
    ValueError
        As :func:`firal.selection.penalized.select_penalized`, which also returns the certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.strategies import firal_ridge
    >>> pool = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
    >>> rows = firal_ridge(pool, None, None, 2, np.random.default_rng(0))
    >>> sorted((rows // 2).tolist())
    [0, 1]
    """
    return select_penalized(pool, labeled, theta, budget, rng).indices


#: The strategies by name; each is a function ``(pool, labeled, theta, budget, rng) -> rows``.
STRATEGIES = {
    "random": random,
    "kmeans": kmeans,
    "entropy": entropy,
    "var-ratios": var_ratios,
    "bait": bait,
    "firal": relax_and_round,
    "firal-ridge": firal_ridge,
}
#: The strategies that the paper compares.
PAPER = ("random", "kmeans", "entropy", "var-ratios", "bait", "firal")
NEED_NO_MODEL = ("random", "kmeans")


def named(strategy: str | Callable) -> tuple[str, Callable]:
    """Name and function of a strategy.

    Parameters
    ----------
    strategy : str or function
        A key of ``STRATEGIES``, or a function with the signature of the strategies.

    Returns
    -------
    name : str
        The key, or the name of the function.
    function : function
        What to call.

    Raises
    ------
    ValueError
        If there is no such strategy.
    """
    if callable(strategy):
        return getattr(strategy, "__name__", "custom"), strategy
    if not isinstance(strategy, str) or strategy not in STRATEGIES:
        raise ValueError(
            f"strategy must be one of {', '.join(STRATEGIES)} or a function, got {strategy!r}"
        )
    return strategy, STRATEGIES[strategy]


def _pool(pool, budget):
    pool = checks.points(pool, "pool")
    return pool, checks.integer(budget, "budget", 1, len(pool))


def _predictions(pool, theta, budget):
    pool, budget = _pool(pool, budget)
    return softmax(pool, selection_parameters(theta, pool.shape[1])), budget
