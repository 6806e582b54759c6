"""One trial of active learning on a pool whose labels are known, round by round.

Start with some labeled points S0, fit, let a strategy pick ``batch`` of the points without a label,
look up their labels, fit again, and so on. Every round leaves one :class:`Round`; a list of them is
a tidy table (``pandas.DataFrame(rounds)``). :mod:`firal.loop` compares strategies over many trials.

**The fit** has one ridge, the same for all rounds (``firal.pipeline.RIDGE`` by default). It is what
accuracy is measured on, and what the strategies of the paper see. "firal-ridge" fits with a penalty
of its own, as in ``firal.next_batch``, on the classes that have a label. A trial may start without
any label; the strategy must be one that can, and round 0 has no accuracy. A function as strategy
gets theta = None then.

**Accuracy** is over the whole pool U, labeled points included: the same points for all strategies
and rounds, so that no strategy gains by leaving easy points behind.

**FIR** is trace(H_q^{-1} H_p) at the fit of the round, H_q the mean over the labeled points and H_p
over U. It is infinite until the labeled points have information of full rank.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.measures import (  # noqa: F401  (names of a trial)
    accuracy,
    all_labels_accuracy,
    ratio_of_round,
)
from firal.model.fitting import fit
from firal.pipeline import DEFAULT, RIDGE, fit_and_pick, pick
from firal.strategies import NEED_NO_MODEL, named

START_EMPTY = (*NEED_NO_MODEL, DEFAULT)  # strategies that work before the first label


class Round(NamedTuple):
    """One round of one trial. Round 0 is the fit on S0: nothing is picked there.

    Attributes
    ----------
    strategy : str
        Name of the strategy.
    trial, round : int
        Number of the trial, and of the round in it.
    n_labels : int
        Number of labeled points after the round.
    accuracy : float
        Share of the whole pool that the fit of the round classifies correctly; NaN without labels.
    fir : float
        Fisher information ratio at the fit; inf while the labeled information is singular, NaN
        with so many parameters that it would take longer than all the rest (``firal.measures``).
    classes : int
        Number of classes with at least one label.
    new_classes : int
        Number of classes among the points picked in this round.
    seconds : float
        Time to pick them, without the fit.
    picked : np.ndarray of shape (batch,)
        Rows of the pool.
    eta : float or None
        What FIRAL's rounding used.
    z : np.ndarray of shape (m,), or None
        FIRAL's relaxed weights, 0 at points that were labeled before.
    """

    strategy: str
    trial: int
    round: int
    n_labels: int
    accuracy: float
    fir: float
    classes: int
    new_classes: int
    seconds: float
    picked: np.ndarray
    eta: float | None
    z: np.ndarray | None


def balanced_rows(labels: ArrayLike, per_class: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the same number of random rows from every class.

    Parameters
    ----------
    labels : array_like of shape (n,)
        Class of every point.
    per_class : int
        Rows per class: 1 gives a start S0, more give a balanced pool.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    np.ndarray
        Distinct rows, ascending.

    Raises
    ------
    ValueError
        If a class has fewer points.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.loop import balanced_rows
    >>> labels = np.array([0, 0, 0, 1, 1, 1])
    >>> labels[balanced_rows(labels, 2, np.random.default_rng(0))].tolist()
    [0, 0, 1, 1]
    """
    labels = np.asarray(labels)
    per_class = checks.integer(per_class, "per_class", 1)
    checks.generator(rng)
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < per_class:
        few = classes[counts.argmin()]
        raise ValueError(
            f"per_class must be at most {counts.min()}, the size of class {few}, got {per_class}"
        )
    rows = [rng.choice(np.flatnonzero(labels == k), per_class, replace=False) for k in classes]
    return np.sort(np.concatenate(rows))


def active_learning(
    pool: ArrayLike,
    labels: ArrayLike,
    initial: ArrayLike,
    strategy: str | Callable,
    *,
    rounds: int,
    batch: int,
    rng: np.random.Generator,
    ridge: float = RIDGE,
    n_classes: int | None = None,
    trial: int = 0,
) -> list[Round]:
    """Run one trial of active learning on a pool whose labels are known.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Features of all points.
    labels : array_like of shape (m,)
        Labels 0..c-1, looked up only for picked points and to measure accuracy.
    initial : array_like of int
        Rows of S0, the points that are labeled at the start. It may be empty for "random",
        "kmeans", "firal-ridge" and functions that work with theta = None.
    strategy : str or function
        A key of ``firal.STRATEGIES``, or a function with their signature that returns rows or a
        ``Selection``.
    rounds, batch : int
        Number of rounds after the first fit, and of points to pick in each.
    rng : numpy.random.Generator
        Of Random, and of the clusters of K-means and "firal-ridge".
    ridge : float, default firal.pipeline.RIDGE
        Penalty of the fit, > 0.
    n_classes : int, optional
        c, if that is not the largest label + 1.
    trial : int, default 0
        Number to record.

    Returns
    -------
    list of Round
        ``rounds + 1`` of them.

    Raises
    ------
    ValueError
        If the shapes disagree, there are not enough points, the start is empty and the strategy
        needs a model, or a strategy returns anything but ``batch`` distinct rows.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(60) % 3
    >>> pool = np.column_stack([rng.normal(size=(60, 2)) + 3 * np.eye(3, 2)[labels], np.ones(60)])
    >>> run = firal.active_learning(pool, labels, [0, 1, 2], "firal", rounds=2, batch=4, rng=rng)
    >>> [r.n_labels for r in run]
    [3, 7, 11]
    """
    pool = checks.points(pool, "pool").astype(np.float64, copy=False)
    m = len(pool)
    if n_classes is None:
        n_classes = int(checks.labels(labels, m, name="labels").max()) + 1
    c = checks.integer(n_classes, "n_classes", 2)
    labels = checks.labels(labels, m, c, "labels")
    known = checks.rows(initial, m, "initial") if np.size(initial) else np.empty(0, dtype=np.intp)
    rounds = checks.integer(rounds, "rounds", 0)
    batch = checks.integer(batch, "batch", 1)
    if known.size + rounds * batch > m:
        raise ValueError(
            f"rounds * batch must be at most the {m - known.size} points without a label, "
            f"got {rounds} * {batch}"
        )
    checks.number(ridge, "ridge", 0)
    name = named(strategy)[0]
    if rounds and not known.size and name == strategy and name not in START_EMPTY:
        raise ValueError(
            f"initial must have at least one row for {name}, which needs a model, got none: label "
            f"points of two classes first, or begin with {', '.join(START_EMPTY)}"
        )

    theta, picked, selection, seconds = None, np.empty(0, dtype=np.intp), None, 0.0
    free = np.setdiff1d(np.arange(m), known)
    out = []
    for round_ in range(rounds + 1):
        # 1. Pick among the points without a label; not before the first fit.
        if round_:
            free = np.setdiff1d(np.arange(m), known)
            begin = time.perf_counter()
            rows, selection = _pick(pool, labels, free, known, theta, batch, strategy, rng)
            seconds = time.perf_counter() - begin
            picked = free[rows]
            known = np.concatenate([known, picked])
        # 2. Fit to all labels bought so far.
        theta = fit(pool[known], labels[known], c, ridge).theta if known.size else None
        # 3. Measure.
        eta, z = _relaxed(selection, free, m)
        out.append(
            Round(
                strategy=name,
                trial=trial,
                round=round_,
                n_labels=known.size,
                accuracy=accuracy(pool, labels, theta) if known.size else np.nan,
                fir=ratio_of_round(pool, known, theta) if known.size else np.inf,
                classes=np.unique(labels[known]).size,
                new_classes=np.unique(labels[picked]).size,
                seconds=seconds,
                picked=picked,
                eta=eta,
                z=z,
            )
        )
    return out


def _pick(pool, labels, free, known, theta, batch, strategy, rng):
    """Rows of ``pool[free]``, and what the strategy knows about them."""
    if strategy != DEFAULT:
        return pick(pool[free], pool[known], theta, batch, strategy, rng)
    classes, codes = np.unique(labels[known], return_inverse=True)
    picks = fit_and_pick(pool[free], pool[known], codes, len(classes), batch, strategy, rng=rng)
    return picks.rows, picks.selection


def _relaxed(selection, free, m):
    """(eta, z over the whole pool) of a ``Selection`` that solved the relaxed problem."""
    relaxation = getattr(selection, "relaxation", None)
    if relaxation is None:
        return getattr(selection, "eta", None), None
    z = np.zeros(m)
    z[free] = relaxation.z
    return selection.eta, z
