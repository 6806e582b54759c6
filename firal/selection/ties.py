"""Pools whose points cannot be told apart."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from firal.selection.problem import Problem


class AllPointsTie(RuntimeWarning):
    """All points of the pool score equally: the selection is arbitrary."""


def warn_if_all_tie(
    problem: Problem, pool: ArrayLike, labeled: ArrayLike | None, ridge: float
) -> None:
    """Warn the caller's caller if no point can be better than another.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    ridge : float
        Penalty of the fit.

    Notes
    -----
    Without a ridge linearly independent points are the unit vectors in some coordinates, so no
    point differs from another. With one this is so for equal points only.
    """
    n, d = len(problem.X) + (0 if labeled is None else len(labeled)), np.shape(pool)[1]
    if ridge:
        both = (problem.X, problem.h)
        tie = len(problem.X) > 1 and not any(np.ptp(part, axis=0).any() for part in both)
        why = "all points of the pool have the same features"
    else:
        tie = n <= problem.X.shape[1]
        why = (
            f"{n} points with {d} features are linearly independent. Reduce the features below "
            "the number of points"
        )
    if tie:
        what = "All points score equally; the selection is arbitrary and takes the lowest rows"
        warnings.warn(f"{what}: {why}", AllPointsTie, stacklevel=3)
