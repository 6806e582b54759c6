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
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.progress import reporter
from firal.common.rounds import check_budget, optional_rows, round_generator
from firal.engine.inputs import encode_labels
from firal.engine.moments import streamed_feature_map
from firal.engine.passes import Home
from firal.engine.pool import FeaturePool
from firal.engine.scaling import feature_map
from firal.given_probabilities import table_probabilities
from firal.picking import DEFAULT, RIDGE, Picks, fit_and_pick, pick, why_no_model
from firal.placement import largest_held, placed, whole_table
from firal.selection.ftrl import Selection
from firal.selection.wide_sizes import is_wide
from firal.strategies import named

__all__ = [
    "DEFAULT",
    "RIDGE",
    "Batch",
    "Picks",
    "fit_and_pick",
    "next_batch",
    "pick",
    "why_no_model",
]

LARGEST_RIDGE = 1e30

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
    probabilities: ArrayLike | None = None,
    rng: np.random.Generator | int = 0,
    progress: bool | Callable | None = None,
) -> Batch:
    """Pick the points of a table to label next: what the command ``firal select`` does.

    Parameters
    ----------
    X : array_like, data frame, path or Dask array, of shape (n, d)
        One row per point, with or without a label. All columns must be numbers. A path is that of a
        ``.npy`` or ``.parquet`` file. A Dask array, and any table whose features would take more
        than 32 MiB, is read block by block and never copied as a whole. For wide features, given
        probabilities and a function as the strategy that begins at 1 GiB.
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
    probabilities : array_like of shape (n, c), optional
        Class probabilities of all points from any classifier. Then no model is fitted, and the
        labels only say which points are known. Not for Random, K-means and functions.
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
    Memory: a few copies of the features (n, r). If the table is read block by block: a few blocks,
    about 40 bytes per point, and some thousand candidates; the log says so, and
    :mod:`firal.streaming` how the strategies differ then. Its rows are the same wherever the table
    lives. The chapters *Use it on your own pool* and *Pools of any size* explain every step.

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
    table = whole_table(X)
    n, d = table.shape
    known, codes, classes = encode_labels(y, n)
    waiting = np.setdiff1d(optional_rows(pending, n, "pending"), known)
    barred = np.unique(np.concatenate([known, waiting, optional_rows(exclude, n, "exclude")]))
    check_budget(budget, n - barred.size)
    _check_options(strategy, ridge, eta)
    columns = d if pca is None else pca
    most = largest_held(columns, len(classes), budget, strategy, probabilities is not None)
    table = placed(table, X, most)
    streamed = isinstance(table, Home)
    size = f"{n} points, {d} features, {known.size} labels, {n - barred.size} to choose from"
    if streamed:
        log.info(f"{size}; read block by block from {table.kind}")
    else:
        log.debug(size)

    if probabilities is not None:
        P = table_probabilities(probabilities, n, len(classes), strategy, streamed)

    # 2. Columns to features.
    options = dict(
        standardize=standardize,
        robust=standardize if robust is None else robust,
        pca=pca,
        intercept=intercept,
    )
    if streamed:
        pool = FeaturePool(table, _streamed_map(table, options, progress), barred)
        labeled, rows_of = pool.of_rows(np.concatenate([known, waiting])), pool.table_rows
    else:
        kind = _kind(table, strategy, columns, budget)
        with _reporting(progress) as report:  # wide columns take a while
            report("scale", 0, 2)
            made = feature_map(table, **options)
            report("scale", 1, 2)
            features = made.apply(table, kind)
        free = np.setdiff1d(np.arange(n), barred)
        pool, labeled = features[free], features[np.concatenate([known, waiting])]
        rows_of = free.__getitem__
        del features  # as large as the pool
    given = None
    if probabilities is not None:
        given = P[free], P[np.concatenate([known, waiting])]

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
        probabilities=given,
        progress=progress,
    )
    return Batch(
        rows=rows_of(picks.rows),
        strategy=picks.strategy,
        classes=classes,
        counts=np.bincount(codes, minlength=len(classes)),
        theta=picks.theta,
        selection=picks.selection,
        note=picks.note,
    )


def _kind(table, strategy, d, budget):
    """Type of the features: wide ones in float32 stay so, if the strategy can do with them."""
    wide = strategy == DEFAULT and is_wide(d + budget, 2)
    return np.float32 if wide and table.dtype == np.float32 else np.float64


def _streamed_map(home, options, progress):
    with _reporting(progress) as report:
        return streamed_feature_map(home, **options, report=report)


@contextmanager
def _reporting(progress):
    """The function that takes progress; its bar, if there is one, is closed at the end."""
    report, bar = reporter(progress)
    try:
        yield report
    finally:
        if bar is not None:
            bar.close()


def _check_options(strategy, ridge, eta):
    name = named(strategy)[0]
    if ridge is not None:
        checks.number(ridge, "ridge", 0)
        if ridge > LARGEST_RIDGE:  # the design would be numbers that round to zero
            raise ValueError(f"ridge must be at most {LARGEST_RIDGE:g}, got {ridge:g}")
    if eta is not None and strategy != "firal":
        raise ValueError(f"eta is an option of the strategy firal, got {eta!r} for {name}")
