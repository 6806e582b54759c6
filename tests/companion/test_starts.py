"""Runs from nothing, with a softer theta and with several roundings."""

import numpy as np
import pytest

from firal import fit, loop, next_batch, select
from firal.companion import starts
from firal.companion.records import load_runs, save_runs
from firal.engine.scaling import model_features
from firal.selection.bait import bait

OPTIONS = dict(rounds=2, batch=3, seed=5)


@pytest.fixture(scope="module")
def pool():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return np.column_stack([rng.normal(size=(90, 3)) + 2 * np.eye(3)[y], np.ones(90)]), y


def test_from_nothing_has_a_batch_where_others_have_s0(pool):
    run = starts.from_nothing(*pool, 1, **OPTIONS)
    others = loop.compare(*pool, trials=[1], strategies=["random"], **OPTIONS)
    assert [r.n_labels for r in run] == [r.n_labels for r in others] == [3, 6, 9]
    assert [r.round for r in run] == [0, 1, 2] and {r.strategy for r in run} == {"firal-ridge-0"}
    assert all(len(r.picked) == 3 and np.isfinite(r.accuracy) for r in run)


def test_default_is_next_batch(pool):
    X, y = pool
    run = starts.default(X, y, "default-0", 1, **OPTIONS)
    assert [(r.round, r.n_labels) for r in run] == [(0, 3), (1, 6), (2, 9)]
    rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(1, 1)))
    known = []
    for r in run:
        answers = {int(row): int(y[row]) for row in known} or None
        rows = next_batch(X, answers, 3, rng=rng).rows
        assert r.picked.tolist() == rows.tolist()
        known.extend(rows)
    theta = fit(X[known], y[known], 3, 1e-3).theta
    assert run[-1].accuracy == loop.accuracy(X, y, theta)
    from_s0 = starts.default(X, y, "default-s0", 1, **OPTIONS)
    start = loop.compare(X, y, trials=[1], strategies=["random"], **OPTIONS)
    assert from_s0[0].accuracy == start[0].accuracy and from_s0[0].picked.size == 0
    known = loop.initial_rows(y, 5, 1)
    rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(1, 1)))
    rows = next_batch(X, {int(row): int(y[row]) for row in known}, 3, rng=rng).rows
    assert from_s0[1].picked.tolist() == rows.tolist()


def test_softer_is_the_strategy_with_another_theta(pool):
    X, y = pool
    run = starts.softer(X, y, "bait-soft", 0, **OPTIONS)
    known = loop.initial_rows(y, 5, 0)
    theta = fit(X[known], y[known], 3, 0.01, penalty="symmetric").theta
    free = np.setdiff1d(np.arange(90), known)
    assert np.array_equal(run[1].picked, free[bait(X[free], X[known], theta, 3)])
    same = starts.softer(X, y, "firal-soft", 0, **OPTIONS)
    assert same[0].accuracy == run[0].accuracy  # the same S0 and classifier
    assert same[0].accuracy == loop.compare(X, y, trials=[0], **OPTIONS)[0].accuracy


@pytest.mark.parametrize("name", starts.STRUCTURED)
def test_structured_is_select_on_prepared_features(pool, name):
    X, y = pool
    run = starts.run_trial(X, y, 0, [name], **OPTIONS)
    assert [(r.strategy, r.n_labels) for r in run] == [(name, 3), (name, 6), (name, 9)]
    known = loop.initial_rows(y, 5, 0)
    free, F = np.setdiff1d(np.arange(90), known), model_features(X, robust=True)
    theta = fit(F[known], y[known], 3, 0.02, penalty="symmetric").theta
    how = dict(ridge=0.01, rounding="greedy", structure=starts.STRUCTURED[name])
    found = select(F[free], F[known], theta, 3, **how)
    assert run[1].picked.tolist() == free[found.indices].tolist()
    assert run[1].fir == pytest.approx(found.objective)


def test_roundings_are_those_of_select(pool):
    X, y = pool
    runs = {name: starts.roundings(X, y, name, 0, **OPTIONS) for name in starts.ROUNDINGS}
    first = {name: run[1].fir for name, run in runs.items()}
    assert first["best"] == min(first.values())
    assert first["ftrl"] <= first["ftrl-lambda"]
    known = loop.initial_rows(y, 5, 0)
    theta = fit(X[known], y[known], 3, 0.02, penalty="symmetric").theta
    free = np.setdiff1d(np.arange(90), known)
    found = select(X[free], X[known], theta, 3, ridge=0.01, rounding="greedy")
    assert np.array_equal(runs["greedy"][1].picked, free[found.indices])
    assert first["greedy"] == found.objective


def test_records_of_such_runs_are_checked(pool, tmp_path):
    runs = loop.compare(*pool, trials=2, strategies=["random"], **OPTIONS)
    for trial in range(2):
        runs += starts.from_nothing(*pool, trial, **OPTIONS)
    save_runs(tmp_path / "e17.npz", {"digits": runs}, {})
    names = ("random", starts.FROM_NOTHING)
    found = load_runs(tmp_path / "e17.npz", "digits", {}, strategies=names, trials=2, rounds=2)
    assert starts.check_starts(found, *pool, seed=5, trial=1) == 2
    wrong = [
        r._replace(accuracy=r.accuracy + 0.1) if r.strategy == starts.FROM_NOTHING else r
        for r in found
    ]
    with pytest.raises(ValueError, match="picks of firal-ridge-0 in trial 0 .* does not fit"):
        starts.check_starts(wrong, *pool, seed=5)


def test_a_trial_runs_what_is_named_and_differences_are_within_it(pool):
    names = ("random", "firal-ridge-0", "firal-soft", "best")
    runs = [r for t in range(2) for r in starts.run_trial(*pool, t, names, **OPTIONS)]
    assert [r.strategy for r in runs[:12:3]] == list(names)
    own = starts.from_nothing(*pool, 1, **OPTIONS)
    kept = [r for r in runs if r.strategy == "firal-ridge-0" and r.trial == 1]
    assert all(np.array_equal(a.picked, b.picked) for a, b in zip(own, kept, strict=True))
    gap = starts.ahead(runs, "firal-ridge-0", "random", (6, 9))
    random = [r.accuracy for r in runs if r.strategy == "random" and r.trial == 1]
    assert gap.shape == (2,)
    by_hand = np.mean([own[1].accuracy - random[1], own[2].accuracy - random[2]])
    assert np.isclose(gap[1], 100 * by_hand)


def test_own_functions_stand_for_strategies(pool):
    X, y = pool

    def last_rows(pool, labeled, theta, budget, rng):
        return np.arange(len(pool) - budget, len(pool))

    runs = starts.run_trial(X, y, 0, ["random", "bait"], **OPTIONS, own={"bait": last_rows})
    assert [r.strategy for r in runs] == ["random"] * 3 + ["bait"] * 3
    free = np.setdiff1d(np.arange(90), loop.initial_rows(y, 5, 0))
    assert runs[4].picked.tolist() == free[-3:].tolist()
