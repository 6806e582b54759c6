"""Class probabilities of pool and labeled points, from theta or from any classifier."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.own_theta import selection_parameters
from firal.model.logistic import softmax


def class_probabilities(
    pool: np.ndarray,
    labeled: np.ndarray,
    theta: ArrayLike | None,
    given: tuple[ArrayLike, ArrayLike | None] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of all classes at pool and labeled points, from theta or as given.

    Parameters
    ----------
    pool : np.ndarray of shape (m, d)
        Unlabeled points.
    labeled : np.ndarray of shape (n0, d)
        Labeled points; may be empty.
    theta : array_like of shape (c-1, d) or None
        Parameters.
    given : tuple of array_like or None
        The probabilities, if theta is None.

    Returns
    -------
    tuple of np.ndarray
        (m, c) and (n0, c).

    Raises
    ------
    ValueError
        If both or neither are given, or what is given are not probabilities of these points.
    """
    if given is None:
        if theta is None:
            raise ValueError("theta must be given, or probabilities in its place, got neither")
        theta = selection_parameters(theta, pool.shape[1]).astype(np.float64, copy=False)
        return softmax(pool, theta), softmax(labeled, theta)
    if theta is not None:
        raise ValueError("theta must be None where probabilities are given, got both")
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ValueError(
            "probabilities must be a pair, (m, c) of the pool and (n0, c) of the labeled points, "
            f"got {type(given).__name__}"
        )
    p = checked_probabilities(given[0], len(pool), "probabilities[0]")
    if not len(labeled):
        return p, np.empty((0, p.shape[1]))
    return p, checked_probabilities(given[1], len(labeled), "probabilities[1]", p.shape[1])


def checked_probabilities(
    P: ArrayLike, n: int, name: str, n_classes: int | None = None
) -> np.ndarray:
    """Check class probabilities of n points.

    Parameters
    ----------
    P : array_like of shape (n, c)
        One row per point, one column per class.
    n : int
        Number of points.
    name : str
        What the error calls it.
    n_classes : int, optional
        The number of columns that there must be; by default at least 2.

    Returns
    -------
    np.ndarray of shape (n, c)
        float64, every row divided by its sum.

    Raises
    ------
    ValueError
        If the shape is another one, an entry is negative, or a sum differs from 1 by more than
        0.001; the first such row is named.
    """
    P = checks.floats(P, name).astype(np.float64, copy=False)
    if P.ndim != 2 or len(P) != n or P.shape[1] < 2 or P.shape[1] != (n_classes or P.shape[1]):
        raise ValueError(
            f"{name} must have shape ({n}, {n_classes or 'c >= 2'}), one row per point and one "
            f"column per class, got shape {P.shape}"
        )
    total = P.sum(axis=1)
    wrong = np.flatnonzero((P.min(axis=1) < 0) | (np.abs(total - 1) > 1e-3))
    if wrong.size:
        remedy = "these are perhaps scores: apply a softmax" if P.min() < 0 else "divide by the sum"
        raise ValueError(
            f"{name} must have rows of nonnegative numbers with sum 1, got entries from "
            f"{P.min():g} on and sums from {total.min():g} to {total.max():g}, first in row "
            f"{wrong[0]}: {remedy}"
        )
    return P / total[:, None]
