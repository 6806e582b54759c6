"""Which points the default may pick, and when: typical points with few labels, all points later."""

from __future__ import annotations

import numpy as np

from firal.engine.clusters import nearest_center
from firal.engine.typical import typical_rows

# Size of a cluster's indicator, in units of the root mean square of a feature, and the share of the
# points of a cluster that may be picked: with few labels, and later.
EARLY = {"clusters": 1.0, "typical": 0.5}
LATER = {"clusters": 3.0, "typical": 1.0}
PER_CLASS = 8  # labels from which on it is later
TYPICAL_SAMPLE = 10_000  # of a larger pool, so many points that are spread evenly may be picked


def usual_options(n_labeled: int, n_classes: int | None) -> dict[str, float]:
    """Which points may be picked, and the size of the cluster effects, by default.

    Parameters
    ----------
    n_labeled : int
        Number of labeled points.
    n_classes : int or None
        Number of classes of the model; None if there is no model.

    Returns
    -------
    dict
        ``clusters`` and ``typical`` of ``select_penalized``.

    Examples
    --------
    >>> usual_options(0, None) == usual_options(15, 2) == EARLY
    True
    >>> usual_options(10, None) == usual_options(16, 2) == LATER  # labels of one class, and many
    True
    """
    few = PER_CLASS * n_classes if n_classes else 1
    return EARLY if n_labeled < few else LATER


def typical_candidates(
    pool: np.ndarray, centers: np.ndarray, budget: int, share: float
) -> np.ndarray | None:
    """Rows of the pool that may be picked: the typical points of every cluster.

    Parameters
    ----------
    pool : np.ndarray of shape (m, d)
        Points; of more than ``TYPICAL_SAMPLE`` some are taken, spread evenly.
    centers : np.ndarray of shape (k, d)
        Centers of the clusters.
    budget : int
        Number of points to pick.
    share : float
        Share of every cluster.

    Returns
    -------
    np.ndarray of int, or None
        Rows, ascending; None for all if there would be fewer than twice the budget.
    """
    some = spread_rows(len(pool), budget)
    points = pool if some.size == len(pool) else pool[some]
    rows = some[typical_rows(points, nearest_center(points, centers), share)]
    return rows if rows.size >= 2 * budget else None


def spread_rows(m: int, budget: int) -> np.ndarray:
    """Rows of a pool among which typical points are sought: all, or some that are spread evenly.

    Parameters
    ----------
    m : int
        Number of points.
    budget : int
        Number of points to pick.

    Returns
    -------
    np.ndarray of int
        Ascending; at most ``TYPICAL_SAMPLE``, or ten times the budget if that is more.
    """
    return np.linspace(0, m - 1, min(m, max(TYPICAL_SAMPLE, 10 * budget))).astype(np.intp)
