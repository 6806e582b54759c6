"""Picks from the class probabilities of any classifier, in place of a model of our own.

The information of a point about a logistic regression depends on its features and on the
probabilities of its classes. Where these come from does not matter: a network, a forest, or an
ensemble may give them. Then nothing is fitted here. Labels only say which points are known.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from firal.common.ties import largest_first
from firal.selection.bait import bait
from firal.selection.end_to_end import select
from firal.selection.penalized import RIDGE, select_penalized
from firal.selection.probabilities import checked_probabilities
from firal.strategies import named
from firal.streaming import PROBABILITY_SCORES

#: Strategies that use class probabilities.
USED_BY = ("firal-ridge", "firal", "bait", *PROBABILITY_SCORES)


def table_probabilities(
    P: ArrayLike, n: int, n_classes: int, strategy: str | Callable, streamed: bool
) -> np.ndarray:
    """Check the probabilities of all points of a table.

    Parameters
    ----------
    P : array_like of shape (n, c)
        One row per point, one column per class; rows sum to 1.
    n : int
        Number of points.
    n_classes : int
        Number of classes among the labels.
    strategy : str or function
        Who is to use them.
    streamed : bool
        Whether the table is read block by block.

    Returns
    -------
    np.ndarray of shape (n, c)
        Every row divided by its sum.

    Raises
    ------
    ValueError
        If they are no probabilities of these points, have fewer classes than the labels, or have
        no meaning for the strategy.
    """
    if strategy not in USED_BY:
        raise ValueError(
            f"probabilities are for the strategies {', '.join(USED_BY)}, got {named(strategy)[0]}, "
            "which does not use them"
        )
    if streamed:
        raise ValueError(
            "probabilities need a table in memory, got one that is read block by block: draw fewer "
            "points from it, or leave the probabilities out"
        )
    P = checked_probabilities(P, n, "probabilities")
    if P.shape[1] < n_classes:
        raise ValueError(
            f"probabilities must have a column for every class, got {P.shape[1]} columns and "
            f"{n_classes} classes among the labels"
        )
    return P


def pick_by_probabilities(
    pool: np.ndarray,
    labeled: np.ndarray,
    probabilities: tuple[np.ndarray, np.ndarray],
    budget: int,
    strategy: str,
    rng: np.random.Generator | None,
    *,
    ridge: float | None = None,
    eta: float | str | None = None,
    progress: bool | Callable | None = None,
) -> object:
    """Let a strategy pick by given class probabilities.

    Parameters
    ----------
    pool : np.ndarray of shape (m, r)
        Features of the points to choose from.
    labeled : np.ndarray of shape (n0, r)
        Features of the labeled points; may be empty.
    probabilities : tuple of np.ndarray
        Of the pool (m, c) and of the labeled points (n0, c).
    budget : int
        Number of points to pick.
    strategy : str
        One of ``USED_BY``.
    rng : numpy.random.Generator
        Source of randomness for the clusters of "firal-ridge".
    ridge : float, optional
        Of the design of "firal-ridge"; by default 0.01.
    eta, progress
        As in :func:`firal.next_batch`.

    Returns
    -------
    np.ndarray or Selection
        Rows of the pool, or what the strategy knows about them.
    """
    if strategy in PROBABILITY_SCORES:
        score = PROBABILITY_SCORES[strategy](probabilities[0])
        return largest_first(score, budget)
    if strategy == "bait":
        return bait(pool, labeled, None, budget, probabilities=probabilities)
    options = dict(probabilities=probabilities, progress=progress)
    if strategy == "firal":
        return select(pool, labeled, None, budget, eta=eta, **options)
    ridge = RIDGE if ridge is None else ridge
    return select_penalized(pool, labeled, None, budget, rng, ridge=ridge, **options)
