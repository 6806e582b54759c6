"""Rounds of active learning, and the comparison of strategies over many trials.

One trial: start with some labeled points S0, fit, let a strategy pick ``batch`` of the points
without a label, get their labels, fit again, and so on. Every round leaves one :class:`Record`; a
list of them is a tidy table (``pandas.DataFrame(records)``).

**The fit.** With one label per class the labels are separable and logistic regression without a
penalty has no minimizer. Any ridge > 0 gives one, so there is no smallest; the default 1e-3 on
features of mean square 1 is small against the data and keeps the probabilities away from 0
and 1, where all information vanishes. It is the same for all strategies and rounds.

**Accuracy** is over the whole pool U, labeled points included: the same points for all strategies
and rounds, so that no strategy gains by leaving easy points behind.

**FIR** is trace(H_q^{-1} H_p) at the fit of the round, H_q the mean over the labeled points and H_p
over U. It is infinite until the labeled points have information of full rank.
"""

from __future__ import annotations

import os
import time
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.special import stdtrit
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from firal.common import checks
from firal.model.fitting import fit
from firal.model.hessians import weighted_information
from firal.model.logistic import softmax
from firal.selection.end_to_end import select
from firal.selection.problem import factor_of
from firal.selection.relaxation import trace_and_derivative
from firal.strategies import STRATEGIES

RIDGE = 1e-3


class Record(NamedTuple):
    """One round. Round 0 is the fit on S0: nothing is picked there."""

    strategy: str
    trial: int
    round: int
    n_labels: int
    accuracy: float  # over the whole pool
    fir: float  # inf while the labeled information is singular
    classes: int  # classes with at least one label
    new_classes: int  # classes among the points picked in this round
    seconds: float  # to pick them; the fit does not count
    picked: np.ndarray  # rows of the pool
    eta: float | None  # what FIRAL's rounding used
    z: np.ndarray | None  # (m,) FIRAL's relaxed weights, 0 at points already labeled


class Difference(NamedTuple):
    """Mean over the trials of accuracy(strategy) - accuracy(against), and its t interval."""

    strategy: str
    round: int
    n_labels: int
    mean: float
    low: float
    high: float
    trials: int


def balanced_rows(labels, per_class, rng):
    """``per_class`` random rows of every class, ascending: S0 (per_class=1), or a pool."""
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
    pool, labels, initial, strategy, *, rounds, batch, rng, ridge=RIDGE, n_classes=None, trial=0
):
    """Run one trial; returns ``rounds + 1`` :class:`Record`.

    pool (m, d); labels (m,) in 0..c-1, looked up only for picked points and to measure accuracy;
    initial: rows of S0; strategy: a name in ``STRATEGIES``, or a function with their signature
    that returns rows or a ``Selection``. ``n_classes`` is c if not the largest label + 1.
    """
    pool = checks.points(pool, "pool").astype(np.float64, copy=False)
    m = len(pool)
    if n_classes is None:
        n_classes = int(checks.labels(labels, m, name="labels").max()) + 1
    c = checks.integer(n_classes, "n_classes", 2)
    labels = checks.labels(labels, m, c, "labels")
    known = _rows(initial, m, "initial")
    rounds = checks.integer(rounds, "rounds", 0)
    batch = checks.integer(batch, "batch", 1)
    if known.size + rounds * batch > m:
        raise ValueError(
            f"rounds * batch must be at most the {m - known.size} points without a label, "
            f"got {rounds} * {batch}"
        )
    checks.number(ridge, "ridge", 0)
    name, pick = _strategy(strategy)

    nothing = np.empty(0, dtype=np.intp)
    theta, picked, eta, z, seconds = None, nothing, None, None, 0.0
    records = []
    for round_ in range(rounds + 1):
        if round_:
            free = np.setdiff1d(np.arange(m), known)
            begin = time.perf_counter()
            result = pick(pool[free], pool[known], theta, batch, rng)
            seconds = time.perf_counter() - begin
            rows = _rows(getattr(result, "indices", result), free.size, f"rows of {name}", batch)
            picked = free[rows]
            eta, z = _relaxed(result, free, m)
            known = np.concatenate([known, picked])
        theta = fit(pool[known], labels[known], c, ridge).theta
        records.append(
            Record(
                strategy=name,
                trial=trial,
                round=round_,
                n_labels=known.size,
                accuracy=accuracy(pool, labels, theta),
                fir=_ratio(pool, known, theta),
                classes=np.unique(labels[known]).size,
                new_classes=np.unique(labels[picked]).size,
                seconds=seconds,
                picked=picked,
                eta=eta,
                z=z,
            )
        )
    return records


def compare(
    pool,
    labels,
    *,
    trials,
    rounds,
    batch,
    seed,
    strategies=tuple(STRATEGIES),
    ridge=RIDGE,
    jobs=1,
    store=None,
    progress=False,
):
    """``active_learning`` for every strategy and trial, with one S0 per trial shared by all.

    S0 has one random point per class. Every trial has its own seed made from ``seed``, so neither
    ``jobs`` (processes at a time) nor the list of strategies changes a result. ``trials`` is a
    number, or the numbers of the trials to run. ``store`` is a folder where every finished run is
    kept: one that is found there, for the same data and settings and at least as many rounds, is
    read instead of repeated, so long work can be interrupted. ``progress=True`` shows a bar.
    """
    if np.ndim(trials) == 0:
        trials = range(checks.integer(trials, "trials", 1))
    seeds = {t: np.random.SeedSequence(seed, spawn_key=(int(t),)) for t in trials}
    settings = (pool, labels, seed, batch, ridge)

    def one(strategy, trial):
        path = None if store is None else run_path(store, _strategy(strategy)[0], trial, *settings)
        if path is not None and (found := read_run(path, rounds)) is not None:
            return found
        first, rest = _pair(seeds[trial])
        initial = balanced_rows(labels, 1, np.random.default_rng(first))
        with threadpool_limits(1):
            run = active_learning(
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
        if path is not None:
            write_run(path, run)
        return run

    work = [(strategy, trial) for trial in seeds for strategy in strategies]
    runs = Parallel(n_jobs=jobs, return_as="generator")(delayed(one)(*item) for item in work)
    bar = tqdm(runs, total=len(work), unit="run", disable=not progress)
    return [record for run in bar for record in run]


def run_path(store, strategy, trial, pool, labels, seed, batch, ridge):
    """File of one run: its name holds a digest of the data and of the settings."""
    digest = blake2b(digest_size=8)
    for part in (np.ascontiguousarray(pool), np.ascontiguousarray(labels)):
        digest.update(f"{part.shape}{part.dtype}".encode() + part.tobytes())
    digest.update(f"{seed} {batch} {ridge!r}".encode())
    return Path(store) / f"{strategy}-{trial:03d}-{digest.hexdigest()}.npz"


def write_run(path, run):
    """Keep the records of one run: to a file beside it first, so that no half of one is left."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {}
    for r in run:
        for field, value in zip(r._fields, r, strict=True):
            if value is not None:
                arrays[f"{r.round}.{field}"] = np.asarray(value)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with open(part, "wb") as file:
        np.savez_compressed(file, **arrays)
    os.replace(part, path)


def read_run(path, rounds):
    """The first ``rounds + 1`` records of a kept run, or None if there are not so many."""
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as file:
        if f"{rounds}.round" not in file.files:
            return None
        return [
            Record(*(_value(file, f"{r}.{field}") for field in Record._fields))
            for r in range(rounds + 1)
        ]


def _value(file, key):
    if key not in file.files:
        return None
    array = file[key]
    return array if array.ndim else array.item()


def all_labels_accuracy(pool, labels, *, ridge=RIDGE):
    """Accuracy over the pool of the fit on all its labels: what the rounds climb towards."""
    pool = checks.points(pool, "pool")
    labels = checks.labels(labels, len(pool), name="labels")
    return accuracy(pool, labels, fit(pool, labels, labels.max() + 1, ridge).theta)


def accuracy(X, y, theta):
    """Share of the points whose most probable class is their label."""
    return float(np.mean(softmax(X, theta).argmax(axis=1) == y))


def paired_differences(records, against="firal", confidence=0.95):
    """For every other strategy and round, accuracy minus that of ``against`` in the same trial.

    The trials share S0, so differences within a trial vary less than the accuracies. The interval
    is Student's t over at least 2 trials. Returns a list of :class:`Difference`.
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


def _pair(seed):
    """Two independent children, without counting them as spawned: calling again gives the same."""
    return [np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, i)) for i in range(2)]


def _strategy(strategy):
    if isinstance(strategy, str) and strategy == "firal":
        # keeps eta and z, which STRATEGIES["firal"] drops
        return "firal", lambda *arguments: select(*arguments[:4])
    if callable(strategy):
        return getattr(strategy, "__name__", "custom"), strategy
    if strategy not in STRATEGIES:
        raise ValueError(
            f"strategy must be one of {', '.join(STRATEGIES)} or a function, got {strategy!r}"
        )
    return strategy, STRATEGIES[strategy]


def _rows(rows, m, name, count=None):
    """Distinct rows of 0..m-1."""
    rows = np.asarray(rows)
    wanted = "distinct rows" if count is None else f"{count} distinct rows"
    fits = rows.ndim == 1 and rows.size > 0 and rows.dtype.kind in "iu"
    fits = fits and (count is None or rows.size == count)
    if not fits or rows.min() < 0 or rows.max() >= m or np.unique(rows).size != rows.size:
        raise ValueError(f"{name} must be {wanted} in 0..{m - 1}, got {rows!r:.80}")
    return rows.astype(np.intp)


def _relaxed(result, free, m):
    """(eta, z over the whole pool) of a ``Selection`` that solved the relaxed problem."""
    relaxation = getattr(result, "relaxation", None)
    if relaxation is None:
        return getattr(result, "eta", None), None
    z = np.zeros(m)
    z[free] = relaxation.z
    return result.eta, z


def _ratio(pool, known, theta):
    """trace(H_q^{-1} H_p), or inf when H_q is singular to rounding."""
    if known.size < theta.shape[1]:  # n labels give rank n (c-1) at most, and d (c-1) is needed
        return np.inf
    h = softmax(pool, theta)[:, :-1]
    Hp = weighted_information(pool, h, np.full(len(pool), 1 / len(pool)))
    Hq = weighted_information(pool[known], h[known], np.full(known.size, 1 / known.size))
    values = np.linalg.eigvalsh(Hq)
    if values[0] <= len(values) * np.finfo(float).eps * values[-1]:
        return np.inf
    return trace_and_derivative(Hq, factor_of(Hp))[0]
