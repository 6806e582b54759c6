"""Runs of the penalized design beside the paper's protocol: with S0, and from no label at all.

Runs with S0 are those of ``firal.loop.compare``. Five kinds are added here, as ``Round`` lists
that ``firal.companion.records`` keeps:

* ``default``: ``firal.next_batch`` as a user calls it, from S0 ("default-s0") or from no label
  ("default-0"). It makes features of its own from the given ones; accuracy is measured by the same
  classifier on the given features as everywhere.
* ``from_nothing``: "firal-ridge" buys its first batch too. That batch stands in the place of S0, so
  its round 0 has a batch of labels, and the numbers of labels agree with those of the others if a
  batch has as many points as there are classes. S0 plays no part: what differs between trials is
  the seed of the clusters.
* ``softer``: BAIT and FIRAL as in the paper, with theta from a fit with a larger, symmetric ridge.
* ``structured``: the design of the default without cluster effects, with full or block-diagonal
  information; nothing else differs between the two.
* ``roundings``: the design of ``firal.select`` with a ridge, rounded in several ways; ``fir`` of
  these rounds is the penalized ratio f_r of the batch.
"""

from __future__ import annotations

import time

import numpy as np

from firal.companion.records import TOLERANCE, check_runs
from firal.engine.scaling import model_features
from firal.loop import compare, initial_rows
from firal.model.fitting import fit
from firal.pipeline import RIDGE, next_batch, pick
from firal.selection.end_to_end import select
from firal.selection.penalized import GAP, fit_ridge
from firal.selection.penalized import RIDGE as DESIGN_RIDGE
from firal.trial import Round, accuracy, active_learning

FROM_NOTHING = "firal-ridge-0"
DEFAULT = ("default-s0", "default-0")
NO_S0 = (FROM_NOTHING, "default-0")
SOFTER = ("bait-soft", "firal-soft")
ROUNDINGS = ("ftrl-lambda", "ftrl", "greedy", "best")
STRUCTURED = {"full": "full", "blocks": "block-diagonal"}


def from_nothing(pool, labels, trial, *, rounds, batch, seed, ridge=RIDGE) -> list[Round]:
    """One trial of "firal-ridge" from no label; the round of its first batch has number 0."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial, 1)))
    run = active_learning(
        pool,
        labels,
        [],
        "firal-ridge",
        rounds=rounds + 1,
        batch=batch,
        rng=rng,
        ridge=ridge,
        trial=trial,
    )
    return [r._replace(strategy=FROM_NOTHING, round=r.round - 1, z=None) for r in run[1:]]


def default(pool, labels, name, trial, *, rounds, batch, seed, ridge=RIDGE) -> list[Round]:
    """One trial of ``firal.next_batch``; "default-0" buys its first batch too, as round 0."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial, 1)))
    known = initial_rows(labels, seed, trial) if name == "default-s0" else []

    def choose(free, known, budget):
        answers = {int(row): int(labels[row]) for row in known}
        found = next_batch(pool, answers or None, budget, rng=rng).rows
        return np.searchsorted(free, found), np.nan

    return _rounds(pool, labels, name, trial, rounds, batch, known, ridge, choose)


def structured(pool, labels, name, trial, *, rounds, batch, seed, ridge=RIDGE) -> list[Round]:
    """One trial of the penalized design without clusters from S0; ``fir`` is its objective."""
    features = model_features(pool, robust=True)  # as ``next_batch`` makes them

    def choose(free, known, budget):
        own, c = fit_ridge(DESIGN_RIDGE, len(known), budget), int(np.max(labels)) + 1
        theta = fit(features[known], labels[known], c, own, penalty="symmetric").theta
        how = dict(ridge=DESIGN_RIDGE, rounding="greedy", structure=STRUCTURED[name], tol=GAP)
        found = select(features[free], features[known], theta, budget, candidates="all", **how)
        return found.indices, found.objective

    known = initial_rows(labels, seed, trial)
    return _rounds(pool, labels, name, trial, rounds, batch, known, ridge, choose)


def softer(
    pool, labels, strategy, trial, *, rounds, batch, seed, ridge=RIDGE, theta_ridge=DESIGN_RIDGE
) -> list[Round]:
    """One trial of "bait-soft" or "firal-soft" from S0; accuracy is measured as everywhere."""
    name = strategy.removesuffix("-soft")

    def choose(free, known, budget):
        c = int(np.max(labels)) + 1
        theta = fit(pool[known], labels[known], c, theta_ridge, penalty="symmetric").theta
        return pick(pool[free], pool[known], theta, budget, name, None)[0], np.nan

    known = initial_rows(labels, seed, trial)
    return _rounds(pool, labels, strategy, trial, rounds, batch, known, ridge, choose)


def roundings(
    pool, labels, rounding, trial, *, rounds, batch, seed, ridge=RIDGE, design_ridge=DESIGN_RIDGE
) -> list[Round]:
    """One trial of the penalized design without cluster effects, with one of ``ROUNDINGS``.

    "ftrl-lambda" keeps the eta with the largest lambda_min, "ftrl" that with the smallest f_r.
    """

    def choose(free, known, budget):
        own, c = fit_ridge(design_ridge, len(known), budget), int(np.max(labels)) + 1
        theta = fit(pool[known], labels[known], c, own, penalty="symmetric").theta
        how = "ftrl" if rounding == "ftrl-lambda" else rounding
        options = dict(ridge=design_ridge, rounding=how)
        found = select(pool[free], pool[known], theta, budget, **options)
        if rounding == "ftrl-lambda":
            eta = max(found.tried, key=lambda pair: pair[1])[0]
            found = select(pool[free], pool[known], theta, budget, eta=eta, **options)
        return found.indices, found.objective

    known = initial_rows(labels, seed, trial)
    return _rounds(pool, labels, rounding, trial, rounds, batch, known, ridge, choose)


def _rounds(pool, labels, name, trial, rounds, batch, known, ridge, choose):
    """Rounds from the rows ``known``; ``choose(free, known, budget)`` gives rows, and ``fir``.

    Without any known row, round 0 picks too.
    """
    c = int(np.max(labels)) + 1
    known = np.asarray(known, dtype=np.intp)
    picked, value, seconds, out = np.empty(0, dtype=np.intp), np.nan, 0.0, []
    for round_ in range(rounds + 1):
        if round_ or not known.size:
            free = np.setdiff1d(np.arange(len(pool)), known)
            begin = time.perf_counter()
            rows, value = choose(free, known, batch)
            seconds, picked = time.perf_counter() - begin, free[rows]
            known = np.concatenate([known, picked])
        theta = fit(pool[known], labels[known], c, ridge).theta
        out.append(
            Round(
                strategy=name,
                trial=trial,
                round=round_,
                n_labels=known.size,
                accuracy=accuracy(pool, labels, theta),
                fir=float(value),
                classes=np.unique(labels[known]).size,
                new_classes=np.unique(labels[picked]).size,
                seconds=seconds,
                picked=picked,
                eta=None,
                z=None,
            )
        )
    return out


def check_starts(rounds, pool, labels, *, seed, ridge=RIDGE, trial=0) -> int:
    """``check_runs``, which knows that runs from nothing have no S0. Returns the number of fits."""
    others = [r for r in rounds if r.strategy not in NO_S0]
    fits = check_runs(others, pool, labels, seed=seed, ridge=ridge, trial=trial) if others else 0
    for name in NO_S0:
        own = [r for r in rounds if r.strategy == name and r.trial == trial]
        if not own:
            continue
        known = np.concatenate([r.picked for r in own])
        theta = fit(pool[known], labels[known], int(np.max(labels)) + 1, ridge).theta
        now, recorded = accuracy(pool, labels, theta), own[-1].accuracy
        if not abs(now - recorded) <= TOLERANCE:
            raise ValueError(
                f"the picks of {name} in trial {trial} give accuracy {now:.4f} after round "
                f"{own[-1].round}, but {recorded:.4f} is recorded: the record does not fit the data"
            )
        fits += 1
    return fits


def run_trial(pool, labels, trial, names, *, rounds, batch, seed, own=None) -> list[Round]:
    """One trial of the named runs: strategies from S0, or the kinds of this module.

    ``own`` has functions ``(pool, labeled, theta, budget, rng) -> rows`` that stand in the place of
    the strategies of their names, such as BAIT with one block per class.
    """
    options, out = dict(rounds=rounds, batch=batch, seed=seed), []
    for name in names:
        if name == FROM_NOTHING:
            out += from_nothing(pool, labels, trial, **options)
        elif name in DEFAULT:
            out += default(pool, labels, name, trial, **options)
        elif name in STRUCTURED:
            out += structured(pool, labels, name, trial, **options)
        elif name in SOFTER:
            out += softer(pool, labels, name, trial, **options)
        elif name in ROUNDINGS:
            out += roundings(pool, labels, name, trial, **options)
        else:
            strategy = (own or {}).get(name, name)
            run = compare(pool, labels, trials=[trial], strategies=[strategy], **options)
            out += [r._replace(strategy=name) for r in run]
    return out


def ahead(rounds, one, other, counts=None) -> np.ndarray:
    """Points by which one run is ahead of another, per trial: the mean over numbers of labels."""
    table = {(r.strategy, r.trial, r.n_labels): 100 * r.accuracy for r in rounds}
    trials = sorted({r.trial for r in rounds if r.strategy == one})
    counts = sorted({r.n_labels for r in rounds if r.strategy == one}) if counts is None else counts
    gaps = [[table[one, t, n] - table[other, t, n] for n in counts] for t in trials]
    return np.mean(gaps, axis=1)
