"""What is measured after a round of active learning: accuracy and the Fisher information ratio."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.information.fisher import fir_or_inf
from firal.model.fitting import fit
from firal.model.hessians import weighted_information
from firal.model.logistic import softmax
from firal.picking import RIDGE

LARGEST_RATIO = 2500  # parameters up to which the ratio of a round is computed


def all_labels_accuracy(pool: ArrayLike, labels: ArrayLike, *, ridge: float = RIDGE) -> float:
    """Accuracy over the pool of the fit on all its labels: what the rounds climb towards.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Features of all points.
    labels : array_like of shape (m,)
        Labels 0..c-1.
    ridge : float, default firal.picking.RIDGE
        Penalty of the fit.

    Returns
    -------
    float
        Share of the points that are classified correctly.

    Raises
    ------
    ValueError
        If the shapes disagree or a value is not finite.
    """
    pool = checks.points(pool, "pool")
    labels = checks.labels(labels, len(pool), name="labels")
    return accuracy(pool, labels, fit(pool, labels, labels.max() + 1, ridge).theta)


def accuracy(X: np.ndarray, y: np.ndarray, theta: np.ndarray) -> float:
    """Share of the points whose most probable class is their label.

    Parameters
    ----------
    X : np.ndarray of shape (n, d)
        Points.
    y : np.ndarray of shape (n,)
        Labels 0..c-1.
    theta : np.ndarray of shape (c-1, d)
        Parameters of the model.

    Returns
    -------
    float
        Between 0 and 1.
    """
    return float(np.mean(softmax(X, theta).argmax(axis=1) == y))


def ratio_of_round(pool: np.ndarray, known: np.ndarray, theta: np.ndarray) -> float:
    """Fisher information ratio of the labeled points: trace(H_q^{-1} H_p) at theta.

    Parameters
    ----------
    pool : np.ndarray of shape (m, d)
        All points.
    known : np.ndarray of int
        Rows with a label, at least one.
    theta : np.ndarray of shape (c-1, d)
        Parameters of the fit to them.

    Returns
    -------
    float
        inf when H_q is singular to rounding, NaN with more than ``LARGEST_RATIO`` parameters.
    """
    if known.size < theta.shape[1]:  # n labels give rank n (c-1) at most, and d (c-1) is needed
        return np.inf
    if theta.size > LARGEST_RATIO:
        return np.nan
    h = softmax(pool, theta)[:, :-1]
    Hp = weighted_information(pool, h, np.full(len(pool), 1 / len(pool)))
    Hq = weighted_information(pool[known], h[known], np.full(known.size, 1 / known.size))
    return fir_or_inf(Hq, Hp)
