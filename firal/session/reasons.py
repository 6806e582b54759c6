"""Why these points: what the model thinks of them, what they tell it, and what they are near to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from firal.engine import memory
from firal.session.fitted_model import Model

LARGEST = 1500  # order of the matrices up to which the gain is computed
MOST_PROBABLE = 3


class Reason(NamedTuple):
    """What is known about one pending point.

    Attributes
    ----------
    row : int
        The point.
    probable : list of tuple
        The most probable classes with their probabilities; empty without a model.
    gain : float or None
        Share of the pool that would tell the model less; None if the model is too large.
    nearest : int or None
        The nearest labeled point; None if there is none.
    distance : float or None
        How far it is, in units of the median distance between labeled points and the pool.
    """

    row: int
    probable: list[tuple[str, float]]
    gain: float | None
    nearest: int | None
    distance: float | None


def reasons(
    features: np.ndarray,
    labels: Mapping[int, str],
    model: Model | None,
    rows: Sequence[int],
    ridge: float,
) -> list[Reason]:
    """Collect what speaks for points.

    Parameters
    ----------
    features : np.ndarray of shape (n, r)
        All points.
    labels : mapping
        From row to label, of the points that train.
    model : Model or None
        The fitted model.
    rows : sequence of int
        The points in question.
    ridge : float
        Penalty of the fit.

    Returns
    -------
    list of Reason
        One per point.
    """
    known = np.array(sorted(labels), dtype=int)
    gains = expected_gain(features, known, model, ridge)
    found = []
    for row in rows:
        probable, gain, nearest, distance = [], None, None, None
        if model is not None:
            p = model.probabilities(features[[row]])[0]
            order = np.argsort(-p, kind="stable")[:MOST_PROBABLE]
            probable = [(model.classes[k], float(p[k])) for k in order]
        if gains is not None:
            gain = float(np.mean(gains < gains[row]))
        if known.size:
            away = np.linalg.norm(features[known] - features[row], axis=1)
            nearest = int(known[away.argmin()])
            distance = float(away.min() / (np.median(away) or 1.0))
        found.append(Reason(int(row), probable, gain, nearest, distance))
    return found


def expected_gain(
    features: np.ndarray, known: np.ndarray, model: Model | None, ridge: float
) -> np.ndarray | None:
    """How much the label of each point would reduce the predicted error, to first order.

    Parameters
    ----------
    features : np.ndarray of shape (n, r)
        All points.
    known : np.ndarray of int
        Rows with a label.
    model : Model or None
        The fitted model; without one all classes are equally probable.
    ridge : float
        Penalty of the fit.

    Returns
    -------
    np.ndarray of shape (n,), or None
        ``trace(S^{-1} H_p S^{-1} H(x))`` with the information S of the labeled points and of the
        penalty, and H_p that of the mean point; None if the matrices are larger than ``LARGEST``.

    Notes
    -----
    This is the derivative of the penalized ratio ``trace(S^{-1} H_p)`` in the weight of the point.
    """
    design = _design(features, known, model, ridge)
    if design is None:
        return None
    h, H_p, S = design
    half = np.linalg.solve(S, H_p)
    M = np.linalg.solve(S, half.T)
    return memory.contract(features, h, (M + M.T) / 2, 1)


def predicted_errors(
    features: np.ndarray,
    known: Sequence[int],
    pending: Sequence[int],
    model: Model | None,
    ridge: float,
) -> tuple[float, float] | None:
    """Excess log loss that the model expects of itself: now, and with the pending labels.

    Parameters
    ----------
    features : np.ndarray of shape (n, r)
        All points.
    known, pending : sequence of int
        Rows with a label, and rows that wait for one.
    model : Model or None
        The fitted model.
    ridge : float
        Penalty of the fit.

    Returns
    -------
    tuple of float, or None
        Half the penalized ratio ``trace(S^{-1} H_p)`` at both sets of labels, for the penalty that
        the larger one has; None without a model or if the matrices are too large.
    """
    if model is None or not len(pending):
        return None
    both = np.concatenate([np.asarray(known, dtype=int), np.asarray(pending, dtype=int)])
    later = _design(features, both, model, ridge)
    if later is None:
        return None
    h, H_p, S = later
    rows = np.asarray(pending, dtype=int)
    now = S - memory.information(features[rows], h[rows], np.ones(len(rows)), 1)
    return tuple(float(np.trace(np.linalg.solve(A, H_p)) / 2) for A in (now, S))


def _design(features, known, model, ridge):
    """Probabilities, H_p and the information of the known points with the penalty."""
    n, r = features.shape
    c = 2 if model is None else len(model.classes)
    k = c - 1
    if r * k > LARGEST:
        return None
    h = np.full((n, 1), 0.5) if model is None else model.probabilities(features)[:, :-1]
    H_p = memory.information(features, h, np.full(n, 1 / n), 1)
    S = max(len(known), 1) * ridge * np.kron(np.eye(k) - 1 / c, np.eye(r))
    if len(known):
        S += memory.information(features[known], h[known], np.ones(len(known)), 1)
    return h, H_p, S
