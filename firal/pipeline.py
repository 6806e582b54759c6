"""Features and labels in, the next batch out: the one path of every door.

:func:`next_batch` does all of it: labels to classes, columns to features, a ridge regression on
the labeled points, a strategy on the others. The command calls it; the scikit-activeml strategies
and the loop of rounds call its parts, so the same data give the same picks whichever door is used.

The default, "firal-ridge" (:mod:`firal.selection.penalized`), needs no labels to begin with. The
strategies of the paper get a theta fitted with the ridge ``RIDGE``, which is small against features
of mean square 1 and keeps the probabilities away from 0 and 1. Without labels of two classes there
is nothing to fit: K-means picks in their place then, and ``Batch.note`` says so.
What is going on is logged to the logger "firal" at level INFO.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.rounds import check_budget, optional_rows, round_generator
from firal.engine.inputs import as_table, encode_labels
from firal.engine.scaling import model_features
from firal.model.fitting import fit
from firal.selection import penalized
from firal.selection.end_to_end import select
from firal.selection.ftrl import Selection
from firal.strategies import NEED_NO_MODEL, named

DEFAULT = "firal-ridge"
RIDGE = 1e-3  # of the strategies of the paper; that of the default is in firal.selection.penalized

log = logging.getLogger("firal")


class Batch(NamedTuple):
    """Result of :func:`next_batch`.

    Attributes
    ----------
    rows : np.ndarray of shape (budget,)
        Rows of the table to label next, in the order of the strategy.
    strategy : str
        The strategy that picked them.
    classes : tuple
        The labels that occur, sorted: as numbers if all are whole numbers, else as text. The last
        one is the reference class of the model.
    counts : np.ndarray of shape (c,)
        Number of labeled points of every class.
    theta : np.ndarray of shape (c-1, r), or None
        Parameters of the fitted model; None if there is none.
    selection : Selection or None
        What FIRAL knows about its picks: ``objective``, ``ratio``, ``lambda_min``, the relaxed
        problem. Its ``indices`` count the points without a label only. None for other strategies.
    note : str or None
        Why another strategy was used than the one asked for.
    """

    rows: np.ndarray
    strategy: str
    classes: tuple
    counts: np.ndarray
    theta: np.ndarray | None
    selection: Selection | None
    note: str | None


class Picks(NamedTuple):
    """Result of :func:`fit_and_pick`.

    Attributes
    ----------
    rows : np.ndarray of shape (budget,)
        Rows of the pool.
    strategy, theta, selection, note
        As in :class:`Batch`.
    """

    rows: np.ndarray
    strategy: str
    theta: np.ndarray | None
    selection: Selection | None
    note: str | None


def next_batch(
    X: Any,
    y: Sequence | Mapping[int, Any] | None,
    budget: int,
    *,
    strategy: str | Callable = DEFAULT,
    ridge: float | None = None,
    standardize: bool = True,
    robust: bool | None = None,
    pca: int | None = None,
    intercept: bool = True,
    eta: float | str | None = None,
    exclude: ArrayLike | None = None,
    pending: ArrayLike | None = None,
    rng: np.random.Generator | int = 0,
    progress: bool | Callable | None = None,
) -> Batch:
    """Pick the points of a table to label next: what the command ``firal select`` does.

    Parameters
    ----------
    X : array_like or data frame of shape (n, d)
        One row per point, with or without a label. All columns must be numbers. A memory-mapped
        array is read in blocks and never copied as a whole.
    y : sequence of n entries, dict, or None
        Labels: one entry per row with None, NaN, ``pandas.NA`` or "" where there is no label; or
        ``{row: label}``; or None if there is no label at all. Labels are words or whole numbers;
        3, 3.0 and "3" are the same class.
    budget : int
        Number of points to pick, at most the number of points without a label.
    strategy : str or function, default "firal-ridge"
        A key of ``firal.STRATEGIES``, or a function with their signature, which may return rows or
        a ``Selection``.
    ridge : float, optional
        Penalty of the fit, > 0. By default 0.01 for "firal-ridge", in whose design it takes part,
        and 0.001 for the others.
    standardize, robust, pca, intercept
        How columns become features, see :func:`firal.engine.scaling.model_features`. By default
        they are robust where they are standardized.
    eta : float, "theory" or None
        Of FIRAL, see :func:`firal.select`; None tries a grid.
    exclude : array_like of int, optional
        Rows that must not be picked, such as points that nobody can label.
    pending : array_like of int, optional
        Rows that were picked before and have no label yet. They are not picked again, and the
        design takes them for labeled.
    rng : numpy.random.Generator or int, default 0
        Of Random, and of the clusters of K-means and "firal-ridge". An integer is a seed, and the
        generator is ``round_generator`` of it: the answer repeats, and the next round differs.
    progress : True or function, optional
        Of FIRAL, see :func:`firal.select`.

    Returns
    -------
    Batch
        ``rows`` to label, and what is known about them.

    Raises
    ------
    ValueError
        If a column is not finite numbers, y does not fit X, too few points are without a label, or
        an option is out of range.

    Notes
    -----
    Memory: two copies of the features (n, r), and what the strategy takes. The chapter *Use it on
    your own pool* explains every step.

    Examples
    --------
    >>> import firal
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> start = firal.next_batch(X, None, budget=6)  # no label yet
    >>> len(set(y[start.rows]))  # but points of all classes
    3
    >>> answers = {int(row): f"wine {y[row]}" for row in start.rows}  # ask your annotators
    >>> batch = firal.next_batch(X, answers, budget=4)
    >>> batch.strategy, batch.classes, len(batch.rows)
    ('firal-ridge', ('wine 0', 'wine 1', 'wine 2'), 4)
    """
    # 1. Numbers and labels as the method wants them.
    table = as_table(X)
    n, d = table.shape
    known, codes, classes = encode_labels(y, n)
    waiting = np.setdiff1d(optional_rows(pending, n, "pending"), known)
    barred = np.concatenate([known, waiting, optional_rows(exclude, n, "exclude")])
    free = np.setdiff1d(np.arange(n), barred)
    check_budget(budget, free.size)
    _check_options(strategy, ridge, eta)

    # 2. Columns to features.
    features = model_features(
        table,
        standardize=standardize,
        robust=standardize if robust is None else robust,
        pca=pca,
        intercept=intercept,
    )
    log.debug(f"{n} points, {d} features, {known.size} labels, {free.size} to choose from")
    pool, labeled = features[free], features[np.concatenate([known, waiting])]
    del features  # as large as the pool

    # 3. Fit the model, and let the strategy pick.
    picks = fit_and_pick(
        pool,
        labeled,
        codes,
        len(classes),
        budget,
        strategy,
        ridge=ridge,
        eta=eta,
        rng=rng if hasattr(rng, "random") else round_generator(rng, known.size),
        progress=progress,
    )
    return Batch(
        rows=free[picks.rows],
        strategy=picks.strategy,
        classes=classes,
        counts=np.bincount(codes, minlength=len(classes)),
        theta=picks.theta,
        selection=picks.selection,
        note=picks.note,
    )


def fit_and_pick(
    pool: np.ndarray,
    labeled: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    budget: int,
    strategy: str | Callable = DEFAULT,
    *,
    ridge: float | None = None,
    eta: float | str | None = None,
    rng: np.random.Generator | None = None,
    progress: bool | Callable | None = None,
) -> Picks:
    """Fit the model to the labeled points and let a strategy pick among the others.

    Parameters
    ----------
    pool : np.ndarray of shape (m, r)
        Features of the points to choose from.
    labeled : np.ndarray of shape (n0, r)
        Features of the labeled points; may be empty. Further rows are points whose labels are to
        come: they take part in the design and not in the fit.
    codes : np.ndarray of shape (n0,)
        Labels of the labeled points, 0..n_classes-1.
    n_classes : int
        Number of classes of the model.
    budget, strategy, ridge, eta, rng, progress
        As in :func:`next_batch`; Random and K-means need a generator.

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
    if strategy != DEFAULT:
        return fit(labeled, codes, n_classes, ridge).theta
    ridge = penalized.fit_ridge(ridge, len(labeled), budget)
    return fit(labeled, codes, n_classes, ridge, penalty="symmetric").theta


def pick(
    pool: np.ndarray,
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
    if strategy == "firal":  # with its options, and with all that it knows about its picks
        result = select(pool, labeled, theta, budget, eta=eta, progress=progress)
    elif strategy == DEFAULT:
        result = penalized.select_penalized(
            pool, labeled, theta, budget, rng, ridge=ridge, progress=progress
        )
    else:
        result = function(pool, labeled, theta, budget, rng)
    rows = checks.rows(getattr(result, "indices", result), len(pool), f"rows of {name}", budget)
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
    >>> from firal.pipeline import why_no_model
    >>> why_no_model([]), why_no_model([2, 2]), why_no_model([2, 0])
    ('no labels yet', 'all labels are of one class', None)
    """
    if len(codes) == 0:
        return "no labels yet"
    return "all labels are of one class" if len(set(np.asarray(codes).tolist())) == 1 else None


def _check_options(strategy, ridge, eta):
    name = named(strategy)[0]
    if ridge is not None:
        checks.number(ridge, "ridge", 0)
    if eta is not None and strategy != "firal":
        raise ValueError(f"eta is an option of the strategy firal, got {eta!r} for {name}")
