"""The comparison of strategies over many trials of active learning.

A trial draws a start S0 of one random point per class, shared by all strategies, and runs every
strategy from there (:mod:`firal.trial`). Differences within a trial vary less than the accuracies,
so strategies are compared in pairs. The chapter *Real data* uses this protocol.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import joblib
import numpy as np
from joblib import Memory, Parallel, delayed
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from firal.common import checks
from firal.pipeline import RIDGE
from firal.strategies import PAPER, named
from firal.trial import (  # noqa: F401  (all names of a trial are names of the loop too)
    Round,
    accuracy,
    active_learning,
    all_labels_accuracy,
    balanced_rows,
)


class Difference(NamedTuple):
    """How far a strategy is ahead of another after some round, in the mean over the trials.

    Attributes
    ----------
    strategy : str
        The strategy that is compared.
    round, n_labels : int
        The round, and the number of labeled points after it.
    mean : float
        Mean over the trials of accuracy(strategy) - accuracy(against).
    low, high : float
        Ends of Student's t interval for the mean.
    trials : int
        Number of trials.
    """

    strategy: str
    round: int
    n_labels: int
    mean: float
    low: float
    high: float
    trials: int


def compare(
    pool: ArrayLike,
    labels: ArrayLike,
    *,
    trials: int | Iterable[int],
    rounds: int,
    batch: int,
    seed: int,
    strategies: Sequence[str | Callable] = PAPER,
    ridge: float = RIDGE,
    jobs: int = 1,
    store: str | os.PathLike | None = None,
    progress: bool = False,
) -> list[Round]:
    """Run ``active_learning`` for every strategy and trial, with one S0 per trial shared by all.

    Parameters
    ----------
    pool, labels, rounds, batch, ridge
        As in :func:`firal.active_learning`.
    trials : int or iterable of int
        Number of trials, or the numbers of the trials to run.
    seed : int
        Every trial has its own seed made from this one. So neither ``jobs`` nor the list of
        strategies changes a result.
    strategies : sequence of str or function
        What to compare.
    jobs : int, default 1
        Processes at a time.
    store : str or path, optional
        Folder where every finished run is kept (by ``joblib.Memory``). A run with the same data,
        strategy, trial and settings is read from there, so an interrupted comparison resumes. A
        function is recognized by its name and its source text; values that it takes from outside
        are not seen: use another folder when they change.
    progress : bool, default False
        Show a bar.

    Returns
    -------
    list of Round
        Trial by trial, in the order of the strategies.

    Raises
    ------
    ValueError
        As in :func:`firal.active_learning`, or if a class has no point.

    Notes
    -----
    S0 has one random point per class.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.loop import compare
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(60) % 3
    >>> pool = np.column_stack([rng.normal(size=(60, 2)) + 3 * np.eye(3, 2)[labels], np.ones(60)])
    >>> options = dict(trials=2, rounds=1, batch=3, seed=0, strategies=("random", "firal"))
    >>> [(r.trial, r.strategy, r.n_labels) for r in compare(pool, labels, **options)][:4]
    [(0, 'random', 3), (0, 'random', 6), (0, 'firal', 3), (0, 'firal', 6)]
    """
    pool, labels = np.ascontiguousarray(pool), np.ascontiguousarray(labels)
    if np.ndim(trials) == 0:
        trials = range(checks.integer(trials, "trials", 1))
    run, data = _run, None
    if store is not None:
        # Arrays are hashed once, and here: in another process they may be memory-mapped.
        run = Memory(store, verbose=0).cache(_run, ignore=["pool", "labels", "strategy"])
        data = joblib.hash((pool, labels))
    settings = dict(rounds=rounds, batch=batch, seed=seed, ridge=ridge, data=data)
    work = [
        delayed(run)(pool, labels, strategy, _identity(strategy), int(trial), **settings)
        for trial in trials
        for strategy in strategies
    ]
    runs = Parallel(n_jobs=jobs, return_as="generator")(work)
    bar = tqdm(runs, total=len(work), unit="run", disable=not progress)
    return [round_ for run in bar for round_ in run]


def initial_rows(labels: ArrayLike, seed: int, trial: int) -> np.ndarray:
    """Draw the start S0 of one trial of :func:`compare`: one random row of every class.

    Parameters
    ----------
    labels : array_like of shape (n,)
        Class of every point.
    seed : int
        Seed of the comparison.
    trial : int
        Number of the trial.

    Returns
    -------
    np.ndarray of shape (c,)
        Distinct rows, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.loop import initial_rows
    >>> labels = np.array([0, 0, 0, 1, 1, 1])
    >>> labels[initial_rows(labels, seed=0, trial=3)].tolist()
    [0, 1]
    """
    own_seed = np.random.SeedSequence(seed, spawn_key=(trial, 0))
    return balanced_rows(labels, 1, np.random.default_rng(own_seed))


def _run(pool, labels, strategy, identity, trial, *, rounds, batch, seed, ridge, data):
    """One trial of one strategy; ``identity`` and ``data`` stand for what a store does not hash."""
    initial = initial_rows(labels, seed, trial)
    rest = np.random.SeedSequence(seed, spawn_key=(trial, 1))
    with threadpool_limits(1):
        return active_learning(
            pool,
            labels,
            initial,
            strategy,
            rounds=rounds,
            batch=batch,
            rng=np.random.default_rng(rest),
            ridge=ridge,
            trial=trial,
        )


def _identity(strategy):
    """What makes a strategy the same one in another session: its name, and the text of its code."""
    name, function = named(strategy)
    if isinstance(strategy, str):
        return name
    try:
        return name, inspect.getsource(function)
    except (OSError, TypeError):  # no text to be found: the same in this session only
        return name, repr(function)


def paired_differences(
    records: Sequence[Round], against: str = "firal", confidence: float = 0.95
) -> list[Difference]:
    """For every other strategy and round, accuracy minus that of ``against`` in the same trial.

    Parameters
    ----------
    records : sequence of Round
        Result of :func:`compare` for at least 2 trials.
    against : str, default "firal"
        The strategy to compare with.
    confidence : float, default 0.95
        Level of the interval, between 0 and 1.

    Returns
    -------
    list of Difference
        Strategy by strategy, round by round.

    Raises
    ------
    ValueError
        If there are fewer than 2 trials, or no run of ``against``.

    Notes
    -----
    The trials share S0, so differences within a trial vary less than the accuracies. The interval
    is Student's t.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.loop import compare, paired_differences
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(60) % 3
    >>> pool = np.column_stack([rng.normal(size=(60, 2)) + 3 * np.eye(3, 2)[labels], np.ones(60)])
    >>> options = dict(trials=3, rounds=1, batch=3, seed=0, strategies=("bait", "firal"))
    >>> runs = compare(pool, labels, **options)
    >>> [(d.strategy, d.round, d.trials) for d in paired_differences(runs)]
    [('bait', 0, 3), ('bait', 1, 3)]
    """
    checks.number(confidence, "confidence", 0, 1)
    table = {(r.strategy, r.round, r.trial): r for r in records}
    names = list(dict.fromkeys(r.strategy for r in records))
    if against not in names:
        raise ValueError(f"against must be one of {', '.join(names)}, got {against!r}")
    rounds, trials = (sorted({getattr(r, key) for r in records}) for key in ("round", "trial"))
    if len(trials) < 2:
        raise ValueError(f"records must hold at least 2 trials, got {len(trials)}")
    width = stdtrit(len(trials) - 1, (1 + confidence) / 2) / np.sqrt(len(trials))
    out = []
    for name in names:
        if name == against:
            continue
        for round_ in rounds:
            mine = [table[name, round_, t] for t in trials]
            theirs = [table[against, round_, t].accuracy for t in trials]
            gap = np.array([r.accuracy for r in mine]) - theirs
            mean, half = gap.mean(), width * gap.std(ddof=1)
            out.append(
                Difference(
                    name, round_, mine[0].n_labels, mean, mean - half, mean + half, len(trials)
                )
            )
    return out
