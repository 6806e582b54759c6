"""Utilities of the query strategies for scikit-activeml: what every candidate was worth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from firal.engine.clusters import cluster_centers, nearest_distinct


def watched(
    run: Callable[[Callable | None], np.ndarray], with_worth: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Picks of greedy steps, and what every point was worth when they were added.

    Parameters
    ----------
    run : callable
        ``run(watch)`` returns the picks and calls ``watch(row, decrease)`` at every step.
    with_worth : bool
        Whether the second is wanted.

    Returns
    -------
    picks : np.ndarray of shape (b,)
        Rows.
    worth : np.ndarray of shape (b, m) or None
        Decreases of the objective; 0 for points that may not be picked.
    """
    if not with_worth:
        return run(None), None
    added, steps = [], []

    def watch(row, decrease):
        decrease[added] = 0.0  # adding a point of the set again leaves the set as it is
        added.append(row)
        steps.append(np.nan_to_num(decrease, nan=0.0))  # worth nothing: it may not be picked

    picks = run(watch)
    return picks, np.array([steps[added.index(row)] for row in picks])


def cold_start(
    Z: np.ndarray, batch_size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The points nearest to cluster centers, and minus the distance of every point to each.

    Parameters
    ----------
    Z : np.ndarray of shape (m, d)
        Points.
    batch_size : int
        Number of clusters.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    picks : np.ndarray of shape (batch_size,)
        Rows.
    worth : np.ndarray of shape (batch_size, m)
        Minus the distances.
    """
    centers = cluster_centers(Z, batch_size, rng)
    worth = np.array([-np.linalg.norm(Z - center, axis=1) for center in centers])
    return nearest_distinct(Z, centers), worth


def largest_at_pick(worth: np.ndarray, picks: np.ndarray) -> np.ndarray:
    """NaN at what earlier rows picked; among equals to rounding, the pick becomes the largest.

    Parameters
    ----------
    worth : np.ndarray of shape (b, m)
        What every point was worth at every pick.
    picks : np.ndarray of shape (b,)
        The picks.

    Returns
    -------
    np.ndarray of shape (b, m)
        Utilities as scikit-activeml wants them.
    """
    worth = np.array(worth, dtype=np.float64)
    for step, row in enumerate(picks):
        worth[step, picks[:step]] = np.nan
        if np.nanargmax(worth[step]) != row:
            worth[step, row] = np.nextafter(np.nanmax(worth[step]), np.inf)
    return worth
