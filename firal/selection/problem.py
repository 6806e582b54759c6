"""One selection problem, checked and brought to good coordinates once.

The data are a pool (m, d), the points already labeled (n0, d), a parameter theta (c-1, d) and a
budget b. Every quantity of the method is unchanged by an invertible linear map of the features
and by another choice of the reference class, because each only multiplies all information
matrices from both sides by one invertible matrix. ``prepare_problem`` uses that freedom:

- features are replaced by coordinates on the span of all points in which their second moment is
  the identity, so dependent or badly scaled columns do no harm;
- classes that have probability zero at every point carry no information and are dropped, and the
  class that is most probable over all points becomes the reference.

What remains is the exact problem on the range of the information, of effective size
d~ = rank(features) * (kept classes - 1). If the information is singular even there (saturated
probabilities), the method has no answer, and one ValueError says so.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.linalg import reciprocal_condition
from firal.common.threads import allowed_threads
from firal.engine import memory
from firal.model.hessians import weighted_information
from firal.model.logistic import softmax


class AllPointsTie(RuntimeWarning):
    """All points of the pool score equally: the selection is arbitrary."""


class Problem(NamedTuple):
    """The prepared data of one selection.

    Attributes
    ----------
    X : np.ndarray of shape (m, r)
        Pool, in coordinates with identity second moment; r is the rank of the features.
    h : np.ndarray of shape (m, k)
        Probabilities of all kept classes but the reference.
    reference : np.ndarray of shape (m,)
        Probability of the reference class.
    labeled_information : np.ndarray of shape (d~, d~)
        Sum of the information of the labeled points, with d~ = r k.
    mean_information : np.ndarray of shape (d~, d~)
        H_p: mean information over the pool.
    budget : int
        Number of points to pick.
    threads : int
        Number of threads allowed.
    """

    X: np.ndarray
    h: np.ndarray
    reference: np.ndarray
    labeled_information: np.ndarray
    mean_information: np.ndarray
    budget: int
    threads: int

    @property
    def size(self) -> int:
        """Number of parameters d~."""
        return self.mean_information.shape[0]


def prepare_problem(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike,
    budget: int,
    *,
    if_too_large: str | None = None,
) -> Problem:
    """Check the data of a selection, and bring them to good coordinates.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label; may have no rows.
    theta : array_like of shape (c-1, d)
        Parameters; the last class is the reference.
    budget : int
        Number of points to pick.
    if_too_large : str, optional
        What to do about a budget above the pool size; the error says so. By default there is no
        such limit.

    Returns
    -------
    Problem
        What all algorithms work on.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the budget is too large, or the points have no
        information of full rank on the span of their features.

    Notes
    -----
    Cost: m d^2 for the coordinates and m d~^2 / 4 for the mean information; memory m (d + c).
    """
    pool = checks.points(pool, "pool").astype(np.float64, copy=False)
    m, d = pool.shape
    theta = checks.parameters(theta, d).astype(np.float64, copy=False)
    budget = checks.integer(budget, "budget", 1)
    if if_too_large is not None and budget > m:
        raise ValueError(f"budget must be at most the pool size {m}, got {budget}: {if_too_large}")
    if labeled is None or np.size(labeled) == 0:
        labeled = np.empty((0, d))
    else:
        labeled = checks.points(labeled, "labeled", d).astype(np.float64, copy=False)
    map_ = _coordinates(pool, labeled)
    p, p0 = softmax(pool, theta), softmax(labeled, theta)
    classes, reference = _classes(p, p0)
    X = pool @ map_
    h = np.ascontiguousarray(p[:, classes])
    threads = allowed_threads()
    mean = memory.information(X, h, np.full(m, 1 / m), threads)
    if not mean.any():
        raise ValueError(
            "pool must carry information, got none: all its points are zero, or all have "
            "probabilities of 0 and 1"
        )
    known = weighted_information(labeled @ map_, p0[:, classes], np.ones(len(labeled)))
    _require_definite(mean + known / budget)
    return Problem(X, h, p[:, reference].copy(), known, mean, budget, threads)


def warn_if_all_tie(problem: Problem, labeled: ArrayLike | None, theta: ArrayLike) -> None:
    """Warn the caller's caller if no point can be better than another.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    theta : array_like of shape (c-1, d)
        Parameters.

    Notes
    -----
    Linearly independent points are the unit vectors in some coordinates, so no point differs from
    another.
    """
    n = len(problem.X) + (0 if labeled is None else len(labeled))
    if n > problem.X.shape[1]:
        return
    warnings.warn(
        "All points score equally; the selection is arbitrary and takes the lowest rows: "
        f"{n} points with {np.shape(theta)[1]} features are linearly independent. Reduce the "
        "features below the number of points",
        AllPointsTie,
        stacklevel=3,
    )


def _coordinates(pool, labeled):
    """(d, r) map to r = rank coordinates in which all points together have second moment I."""
    n, d = len(pool) + len(labeled), pool.shape[1]
    R = memory.triangular_factor(pool, labeled)
    scale = np.linalg.norm(R, axis=0)
    scale[scale == 0] = 1
    _, s, Vt = np.linalg.svd(R / scale, full_matrices=False)
    rank = int(np.sum(s > s[0] * max(n, d) * np.finfo(float).eps)) if s[0] > 0 else 0
    if rank == 0:
        raise ValueError("pool and labeled must hold a nonzero point, got only zeros")
    return (Vt[:rank] / s[:rank, None]).T * np.sqrt(n) / scale[:, None]


def _classes(p, p0):
    """Indices of the classes kept besides the reference, and the reference."""
    total = p.sum(axis=0) + p0.sum(axis=0)
    reference = int(np.argmax(total))
    kept = np.flatnonzero(total > 0)
    if kept.size < 2:
        raise ValueError(
            f"theta must leave some uncertainty, got probability 1 for class {reference} at every "
            "point: their information is zero"
        )
    return kept[kept != reference], reference


def _require_definite(total):
    """The information of all points must be positive definite, whatever its scaling."""
    rcond = reciprocal_condition(total)
    if not rcond > len(total) * np.finfo(float).eps:
        raise ValueError(
            "pool and labeled must have information of full rank on the span of their features, "
            f"got a reciprocal condition number of {rcond:.2g}: too few points, or probabilities "
            "that are 0 or 1 to rounding (a fit with a larger ridge gives softer ones)"
        )
