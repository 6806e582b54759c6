"""Fit the model to the labeled points, and let a strategy pick among the others.

The part of :func:`firal.next_batch` after labels are classes and columns are features. The loop of
rounds and the scikit-activeml strategies call it too, so the same data give the same picks
whichever door is used. A pool may be an array, or a
:class:`firal.engine.pool.FeaturePool` that is read block by block.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.own_theta import own_theta
from firal.engine.pool import FeaturePool
from firal.engine.regression import fit_by_blocks
from firal.given_probabilities import pick_by_probabilities
from firal.model.fitting import fit
from firal.model.newton_system import MEDIUM_SYSTEM
from firal.selection import penalized
from firal.selection.end_to_end import select
from firal.selection.ftrl import Selection
from firal.strategies import NEED_NO_MODEL, named
from firal.streaming import pick_streamed

DEFAULT = "firal-ridge"
RIDGE = 1e-3  # of the strategies of the paper; that of the default is in firal.selection.penalized
# 300,000 labels, 20 features, 10 classes: 2.3 CPU s and 110 MB above the data, by blocks 3.4 s and
# 15 MB. So blocks are for memory only, and start where that is worth a second.
MANY = 300_000

log = logging.getLogger("firal")


class Picks(NamedTuple):
    """Result of :func:`fit_and_pick`.

    Attributes
    ----------
    rows : np.ndarray of shape (budget,)
        Rows of the pool.
    strategy, theta, selection, note
        As in :class:`firal.Batch`.
    """

    rows: np.ndarray
    strategy: str
    theta: np.ndarray | None
    selection: Selection | None
    note: str | None


def fit_and_pick(
    pool: np.ndarray | FeaturePool,
    labeled: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    budget: int,
    strategy: str | Callable = DEFAULT,
    *,
    ridge: float | None = None,
    eta: float | str | None = None,
    rng: np.random.Generator | None = None,
    probabilities: tuple[np.ndarray, np.ndarray] | None = None,
    progress: bool | Callable | None = None,
) -> Picks:
    """Fit the model to the labeled points and let a strategy pick among the others.

    Parameters
    ----------
    pool : np.ndarray of shape (m, r), or FeaturePool
        Features of the points to choose from.
    labeled : np.ndarray of shape (n0, r)
        Features of the labeled points; may be empty. Further rows are points whose labels are to
        come: they take part in the design and not in the fit.
    codes : np.ndarray of shape (n0,)
        Labels of the labeled points, 0..n_classes-1.
    n_classes : int
        Number of classes of the model.
    budget, strategy, ridge, eta, rng, progress
        As in :func:`firal.next_batch`; Random and K-means need a generator.
    probabilities : tuple of np.ndarray, optional
        Class probabilities of the pool (m, c) and of the rows of ``labeled``, in place of a fit.

    Returns
    -------
    Picks
        Rows of the pool, and what is known about them.

    Raises
    ------
    ValueError
        What ``firal.fit`` and the strategy refuse.
    """
    name = named(strategy)[0]
    theta = note = None
    if probabilities is not None:
        options = dict(ridge=ridge, eta=eta, progress=progress)
        result = pick_by_probabilities(
            pool, labeled, probabilities, budget, strategy, rng, **options
        )
        rows, selection = _checked(result, len(pool), name, budget)
        return Picks(rows, name, None, selection, None)
    reason = why_no_model(codes)
    if ridge is None:
        ridge = penalized.RIDGE if strategy == DEFAULT else RIDGE
    if reason is None and strategy not in NEED_NO_MODEL:
        theta = _theta(labeled[: len(codes)], codes, n_classes, budget, strategy, ridge)
    elif strategy == DEFAULT:
        log.info(f"{reason}: the design assumes that all classes are equally probable everywhere")
    elif strategy not in NEED_NO_MODEL:
        note = f"{reason}, so there is no model: K-means picks instead of {name}"
        log.info(note)
        name = strategy = "kmeans"
    rows, selection = pick(
        pool, labeled, theta, budget, strategy, rng, ridge=ridge, eta=eta, progress=progress
    )
    return Picks(rows, name, theta, selection, note)


def _theta(labeled, codes, n_classes, budget, strategy, ridge):
    """Parameters of the model that a strategy wants."""
    penalty = "reference"
    if strategy == DEFAULT:
        ridge, penalty = penalized.fit_ridge(ridge, len(labeled), budget), "symmetric"
    many = len(labeled) >= MANY and labeled.shape[1] * (n_classes - 1) <= MEDIUM_SYSTEM
    solve = fit_by_blocks if many else fit
    return solve(labeled, codes, n_classes, ridge, penalty=penalty).theta


def pick(
    pool: np.ndarray | FeaturePool,
    labeled: np.ndarray,
    theta: np.ndarray | None,
    budget: int,
    strategy: str | Callable,
    rng: np.random.Generator | None,
    *,
    ridge: float = penalized.RIDGE,
    eta: float | str | None = None,
    progress: bool | Callable | None = None,
) -> tuple[np.ndarray, Selection | None]:
    """Let a strategy pick, and check what it returns.

    Parameters
    ----------
    pool, labeled, budget, strategy, rng, eta, progress
        As in :func:`fit_and_pick`.
    theta : np.ndarray of shape (c-1, r), or None
        Parameters of the model; None for a strategy that needs no model.
    ridge : float
        Of the design of "firal-ridge".

    Returns
    -------
    rows : np.ndarray of shape (budget,)
        Distinct rows of the pool.
    selection : Selection or None
        What the strategy returned, if that was more than rows.

    Raises
    ------
    ValueError
        If the strategy refuses its input, or does not return ``budget`` distinct rows.
    """
    name, function = named(strategy)
    if isinstance(pool, FeaturePool):
        return pick_streamed(
            pool,
            labeled,
            theta,
            budget,
            strategy,
            rng,
            ridge=ridge,
            eta=eta,
            progress=progress,
        )
    with own_theta():
        if strategy == "firal":  # with its options, and with all that it knows about its picks
            result = select(pool, labeled, theta, budget, eta=eta, progress=progress)
        elif strategy == DEFAULT:
            result = penalized.select_penalized(
                pool, labeled, theta, budget, rng, ridge=ridge, progress=progress
            )
        else:
            result = function(pool, labeled, theta, budget, rng)
    return _checked(result, len(pool), name, budget)


def _checked(result, m, name, budget):
    """Rows, and what the strategy returned if that was more than rows."""
    rows = checks.rows(getattr(result, "indices", result), m, f"rows of {name}", budget)
    return rows, result if hasattr(result, "indices") else None


def why_no_model(codes: ArrayLike) -> str | None:
    """Say why the labels are not enough for a model, or return None if they are.

    Parameters
    ----------
    codes : array_like of shape (n0,)
        Labels of the points that have one.

    Returns
    -------
    str or None
        The reason, as the beginning of a sentence.

    Examples
    --------
    >>> from firal.picking import why_no_model
    >>> why_no_model([]), why_no_model([2, 2]), why_no_model([2, 0])
    ('no labels yet', 'all labels are of one class', None)
    """
    if len(codes) == 0:
        return "no labels yet"
    return "all labels are of one class" if len(set(np.asarray(codes).tolist())) == 1 else None
