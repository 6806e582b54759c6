"""The data of a selection, checked once: points, probabilities, budget and ridge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.rounds import same_columns
from firal.selection.probabilities import class_probabilities


class Inputs(NamedTuple):
    """What a selection is made of, checked and in float64.

    Attributes
    ----------
    pool : np.ndarray of shape (m, d)
        Unlabeled points.
    labeled : np.ndarray of shape (n0, d)
        Labeled points; may be empty.
    p, p0 : np.ndarray of shape (m, c) and (n0, c)
        Class probabilities of both.
    budget : int
        Number of points to pick.
    ridge : float
        Penalty of the fit; 0 for none.
    """

    pool: np.ndarray
    labeled: np.ndarray
    p: np.ndarray
    p0: np.ndarray
    budget: int
    ridge: float

    @property
    def strength(self) -> float:
        """Number of labels after the batch, times the ridge."""
        return (len(self.labeled) + self.budget) * self.ridge


def checked_inputs(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    *,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    if_too_large: str | None = None,
) -> Inputs:
    """Check the data of a selection.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label; may have no rows.
    theta : array_like of shape (c-1, d) or None
        Parameters; None if ``probabilities`` are given.
    budget : int
        Number of points to pick.
    ridge : float, default 0.0
        Penalty of the fit.
    probabilities : tuple of array_like, optional
        Class probabilities (m, c) and (n0, c) in place of theta.
    if_too_large : str, optional
        What to do about a budget above the pool size; the error says so. By default there is no
        such limit.

    Returns
    -------
    Inputs
        The checked data.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, or the budget is too large.
    """
    same_columns(pool, labeled)
    pool = checks.points(pool, "pool").astype(np.float64, copy=False)
    m, d = pool.shape
    if labeled is None or np.size(labeled) == 0:
        labeled = np.empty((0, d))
    else:
        labeled = checks.points(labeled, "labeled", d).astype(np.float64, copy=False)
    p, p0 = class_probabilities(pool, labeled, theta, probabilities)
    budget = checks.integer(budget, "budget", 1)
    if if_too_large is not None and budget > m:
        raise ValueError(f"budget must be at most the pool size {m}, got {budget}: {if_too_large}")
    ridge = checks.number(ridge, "ridge", 0, strict=False)
    return Inputs(pool, labeled, p, p0, budget, ridge)
