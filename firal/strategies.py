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

from firal.selection.bait import bait
from firal.selection.end_to_end import select
from firal.selection.penalized import select_penalized
from firal.simple_strategies import entropy, kmeans, random, var_ratios


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
