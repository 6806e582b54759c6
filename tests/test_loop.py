"""The loop of rounds, the shared initial sets, and the paired comparison."""

import numpy as np
import pytest
import reference
from scipy import stats

import firal
from firal import loop
from firal.loop import (
    Round,
    active_learning,
    all_labels_accuracy,
    balanced_rows,
    compare,
    paired_differences,
)
from firal.model.fitting import fit
from firal.selection.end_to_end import select
from firal.selection.penalized import select_penalized
from firal.strategies import PAPER, STRATEGIES, random


def blobs(m=60, c=3, seed=0, spread=1.0):
    """c overlapping blobs in the plane, with a column of ones."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % c
    angle = 2 * np.pi * y / c
    X = 1.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + spread * rng.normal(size=(m, 2))
    return np.column_stack([X, np.ones(m)]), y


def run(strategy="random", rounds=3, batch=4, seed=0, **options):
    X, y = blobs()
    rng = np.random.default_rng(seed)
    initial = balanced_rows(y, 1, rng)
    return (
        X,
        y,
        initial,
        active_learning(X, y, initial, strategy, rounds=rounds, batch=batch, rng=rng, **options),
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_record_against_a_literal_replay(strategy):
    X, y, initial, records = run(strategy)
    assert [r.round for r in records] == [0, 1, 2, 3]
    known = list(initial)
    for r in records:
        assert not set(r.picked) & set(known)  # labels are bought once
        known += r.picked.tolist()
        assert r.n_labels == len(known) == 3 + 4 * r.round
        theta = fit(X[known], y[known], 3, 1e-3).theta
        p = np.array([reference.probabilities(x, theta) for x in X])
        assert r.accuracy == np.mean([row.argmax() == k for row, k in zip(p, y, strict=True)])
        assert r.classes == len(set(y[known])) and r.new_classes == len(set(y[r.picked]))
        Hq = reference.information(X[known], theta, np.full(len(known), 1 / len(known)))
        Hp = reference.information(X, theta, np.full(60, 1 / 60))
        assert r.fir == pytest.approx(np.trace(np.linalg.solve(Hq, Hp)), rel=1e-6)
        assert r.strategy == strategy and r.seconds >= 0


def test_picks_are_those_of_the_strategy_on_what_is_left():
    X, y, initial, records = run("firal", rounds=2)
    known = initial
    for r in records[1:]:
        free = np.array([i for i in range(60) if i not in known])
        theta = fit(X[known], y[known], 3, 1e-3).theta
        expected = select(X[free], X[known], theta, 4)
        assert np.array_equal(r.picked, free[expected.indices])
        assert r.eta == expected.eta
        assert np.array_equal(r.z[free], expected.relaxation.z)
        assert not r.z[known].any() and r.z.sum() == pytest.approx(4)
        known = np.concatenate([known, r.picked])
    assert records[0].z is None and records[0].eta is None


def test_labels_of_points_not_picked_are_not_looked_at():
    """Other labels at points that were never picked must not change what is picked."""
    X, y, initial, records = run("bait")
    known = np.concatenate([initial, *(r.picked for r in records)])
    other = (y + 1) % 3
    other[known] = y[known]
    again = active_learning(
        X, other, initial, "bait", rounds=3, batch=4, rng=np.random.default_rng(0)
    )
    assert all(np.array_equal(a.picked, b.picked) for a, b in zip(records, again, strict=True))


def test_fir_is_infinite_until_there_are_enough_points():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), np.arange(40) % 2
    records = active_learning(X, y, [0, 1], "random", rounds=3, batch=2, rng=rng)
    assert [np.isfinite(r.fir) for r in records] == [False, False, True, True]
    copies = np.repeat(X[:2], 20, axis=0)  # enough rows, but only two different points
    records = active_learning(
        copies, np.arange(40) // 20, [0, 20], "random", rounds=3, batch=3, rng=rng
    )
    assert records[-1].n_labels == 11 and np.isinf([r.fir for r in records]).all()


def test_a_function_is_a_strategy_and_its_rows_are_checked():
    X, y = blobs()
    rng = np.random.default_rng(0)
    options = {"rounds": 1, "batch": 3, "rng": rng}

    def first(pool, labeled, theta, budget, rng):
        return np.arange(budget)

    record = active_learning(X, y, [0, 1, 2], first, **options)[1]
    assert record.strategy == "first" and record.picked.tolist() == [3, 4, 5]
    for rows in ([0, 0, 1], [0, 1], [0, 1, 57], [0.0, 1.0, 2.0], [-1, 0, 1]):
        with pytest.raises(ValueError, match="rows of <lambda> must be 3 distinct rows in 0..56"):
            active_learning(X, y, [0, 1, 2], lambda *_, rows=rows: rows, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strategy": "best"}, "strategy must be one of random, kmeans, .* got 'best'"),
        ({"initial": [0, 0]}, "initial must be distinct rows"),
        ({"initial": None}, "initial must be distinct rows"),
        ({"batch": 30}, r"at most the 57 points without a label, got 3 \* 30"),
        ({"ridge": 0}, "ridge must be a finite number > 0, got 0"),
        ({"n_classes": 2}, "labels must hold labels 0..1 for 2 classes, got labels from 0 to 2"),
        ({"labels": ["a"] * 60}, "labels must hold integers 0..c-1, got type <U1"),
        ({"labels": [np.nan] * 60}, "labels must hold integers 0..c-1, got type float64 with nan"),
        ({"labels": [0, 1]}, r"labels must have shape \(60,\), one label per point"),
        ({"ridge": "1"}, "ridge must be a finite number > 0, got '1'"),
        ({"rounds": -1}, "rounds must be"),
    ],
)
def test_arguments_are_checked(change, message):
    X, y = blobs()
    given = {"initial": [0, 1, 2], "strategy": "random", "rounds": 3, "batch": 4} | change
    initial, strategy = given.pop("initial"), given.pop("strategy")
    y = given.pop("labels", y)
    with pytest.raises(ValueError, match=message):
        active_learning(X, y, initial, strategy, rng=np.random.default_rng(0), **given)


@pytest.mark.parametrize("strategy", ["entropy", "var-ratios", "bait", "firal"])
@pytest.mark.parametrize("nothing", [[], np.empty(0, dtype=int)])
def test_an_empty_start_is_refused_where_a_model_is_needed(strategy, nothing):
    X, y = blobs()
    options = dict(batch=4, rng=np.random.default_rng(0))
    message = (
        f"initial must have at least one row for {strategy}, which needs a model, got none: label "
        "points of two classes first, or begin with random, kmeans, firal-ridge"
    )
    with pytest.raises(ValueError) as caught:
        active_learning(X, y, nothing, strategy, rounds=1, **options)
    assert str(caught.value) == message
    (start,) = active_learning(X, y, nothing, strategy, rounds=0, **options)  # nothing to pick
    assert start.n_labels == 0 and np.isnan(start.accuracy)


@pytest.mark.parametrize("strategy", ["random", "kmeans", "firal-ridge"])
def test_a_trial_from_no_label_at_all(strategy):
    X, y = blobs()
    seed = np.random.default_rng
    records = active_learning(X, y, [], strategy, rounds=3, batch=5, rng=seed(4))
    assert [r.n_labels for r in records] == [0, 5, 10, 15]
    first = records[0]
    assert np.isnan(first.accuracy) and first.fir == np.inf and first.classes == 0
    assert first.picked.size == 0 and first.new_classes == 0
    assert records[1].picked.tolist() == STRATEGIES[strategy](X, None, None, 5, seed(4)).tolist()
    picked = np.concatenate([r.picked for r in records])
    assert np.unique(picked).size == 15
    for r in records[1:]:  # the fit that is measured has the ridge of the trial
        known = picked[: r.n_labels]
        theta = fit(X[known], y[known], 3, 1e-3).theta
        assert r.accuracy == np.mean(firal.probabilities(X, theta).argmax(axis=1) == y)


def test_the_penalized_design_of_a_trial_has_the_ridge_of_next_batch():
    """The ridge of the trial is that of the measured fit only; classes are those that occur."""
    X, y = blobs(c=4)
    known = np.flatnonzero(y < 2)[:6]  # no label of the other two classes
    rounds = [
        active_learning(
            X, y, known, "firal-ridge", rounds=1, batch=5, rng=np.random.default_rng(1), ridge=ridge
        )[1]
        for ridge in (1e-3, 1.0)
    ]
    assert np.array_equal(rounds[0].picked, rounds[1].picked)
    assert rounds[0].accuracy != rounds[1].accuracy
    free = np.setdiff1d(np.arange(60), known)
    theta = fit(X[known], y[known], 2, 0.01 * 11 / 6, penalty="symmetric").theta
    want = select_penalized(X[free], X[known], theta, 5, np.random.default_rng(1))
    assert np.array_equal(rounds[0].picked, free[want.indices])
    assert np.array_equal(rounds[0].z[free], want.relaxation.z) and rounds[0].eta is None


def test_a_function_may_begin_without_labels():
    X, y = blobs()

    def lowest(pool, labeled, theta, budget, rng):
        assert (theta is None) == (len(labeled) == 0) and labeled.shape[1] == 3
        return np.arange(budget)

    records = active_learning(X, y, [], lowest, rounds=2, batch=4, rng=None)
    assert records[-1].n_labels == 8


def test_compare_takes_the_strategies_of_the_paper_unless_told():
    X, y = blobs()
    options = dict(trials=1, rounds=1, batch=3, seed=5)
    assert [r.strategy for r in compare(X, y, **options) if r.round] == list(PAPER)
    (_, last) = compare(X, y, strategies=("firal-ridge",), **options)
    assert last.strategy == "firal-ridge" and last.n_labels == 6


def test_balanced_rows():
    y = np.array([2, 0, 1, 0, 2, 2, 1])
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        rows = balanced_rows(y, 2, rng)
        assert np.bincount(y[rows]).tolist() == [2, 2, 2] and np.unique(rows).size == 6
        seen.add(tuple(rows))
    assert len(seen) == 3  # two of the three points of class 2; nothing else is free
    with pytest.raises(ValueError, match="per_class must be at most 2, the size of class 0, got 3"):
        balanced_rows(y, 3, rng)


def same(a, b):
    """Equal records, but for the time they took."""
    a, b = a._asdict(), b._asdict()
    return all(np.array_equal(a[key], b[key]) for key in a if key != "seconds")


def test_compare_shares_the_start_and_ignores_jobs_and_the_list_of_strategies():
    X, y = blobs()
    options = {"trials": 3, "rounds": 2, "batch": 3, "seed": 5}
    records = compare(X, y, strategies=("random", "kmeans", "entropy"), **options)
    assert len(records) == 3 * 3 * 3
    start = {(r.trial, r.accuracy) for r in records if r.round == 0}
    assert len({t for t, _ in start}) == len(start) == 3  # one fit per trial, shared by all
    alone = compare(X, y, strategies=("kmeans",), jobs=2, **options)
    of_kmeans = [r for r in records if r.strategy == "kmeans"]
    assert all(same(a, b) for a, b in zip(alone, of_kmeans, strict=True))
    first = [r.picked.tolist() for r in records if r.strategy == "random" and r.round == 1]
    assert len(set(map(tuple, first))) == 3  # trials differ


def test_a_trial_can_be_repeated_by_hand():
    X, y = blobs()
    records = compare(X, y, trials=[2], rounds=1, batch=4, seed=5, strategies=("random",))
    start, picks = (
        np.random.default_rng(np.random.SeedSequence(5, spawn_key=(2, k))) for k in range(2)
    )
    initial = balanced_rows(y, 1, start)
    again = active_learning(X, y, initial, "random", rounds=1, batch=4, rng=picks, trial=2)
    assert all(same(a, b) for a, b in zip(records, again, strict=True))


def test_labels_may_be_a_series():
    pandas = pytest.importorskip("pandas")
    X, y = blobs()
    runs = [
        active_learning(X, labels, [0, 1, 2], "entropy", rounds=1, batch=4, rng=None)
        for labels in (y, pandas.Series(y, index=range(100, 160)))
    ]
    assert np.array_equal(runs[0][1].picked, runs[1][1].picked)
    assert runs[0][1].accuracy == runs[1][1].accuracy


def test_all_labels_accuracy():
    X, y = blobs()
    theta = fit(X, y, 3, 0.1).theta
    p = np.array([reference.probabilities(x, theta) for x in X])
    assert all_labels_accuracy(X, y, ridge=0.1) == np.mean(p.argmax(axis=1) == y)


def record(strategy, trial, round_, accuracy):
    return Round(strategy, trial, round_, 10, accuracy, 1.0, 3, 1, 0.0, np.array([0]), None, None)


def test_paired_differences_against_scipy():
    rng = np.random.default_rng(0)
    base, other = rng.uniform(size=(2, 8, 2))
    records = [
        record(name, t, r, values[t, r])
        for name, values in (("random", other), ("firal", base))
        for t in rng.permutation(8)
        for r in range(2)
    ]
    for r, found in enumerate(paired_differences(records, confidence=0.9)):
        expected = stats.ttest_rel(other[:, r], base[:, r]).confidence_interval(0.9)
        assert (found.strategy, found.round, found.trials) == ("random", r, 8)
        assert found.mean == pytest.approx(np.mean(other[:, r] - base[:, r]))
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    with pytest.raises(ValueError, match="against must be one of random, firal, got 'bait'"):
        paired_differences(records, against="bait")
    with pytest.raises(ValueError, match="at least 2 trials, got 1"):
        paired_differences([r for r in records if r.trial == 3])


def test_more_labels_help_and_the_ridge_has_an_effect():
    X, y = blobs(m=300, spread=0.8, seed=3)
    options = {"trials": 5, "rounds": 4, "batch": 6, "seed": 1, "strategies": ("random",)}
    means = {}
    for ridge in (1e-3, 1e2):
        records = compare(X, y, ridge=ridge, **options)
        means[ridge] = [np.mean([r.accuracy for r in records if r.round == k]) for k in (0, 4)]
    assert means[1e-3][1] > means[1e-3][0]
    assert means[1e-3] != means[1e2]


def test_random_as_function_equals_random_by_name():
    X, y = blobs()
    runs = [
        active_learning(X, y, [0, 1, 2], strategy, rounds=2, batch=3, rng=np.random.default_rng(4))
        for strategy in ("random", random)
    ]
    assert all(same(a, b) for a, b in zip(*runs, strict=True))


CALLS = []  # (pool's first number, batch) of every call of ``counted``


def counted(pool, labeled, theta, budget, rng):
    """A strategy that leaves a trace."""
    CALLS.append((pool[0, 0], budget))
    return rng.choice(len(pool), budget, replace=False)


@pytest.fixture
def calls():
    CALLS.clear()
    return CALLS


OPTIONS = dict(trials=2, rounds=2, batch=4, seed=3, strategies=("random", "firal", counted))


def test_a_finished_run_is_read_not_repeated(tmp_path, monkeypatch):
    X, y = blobs()
    first = compare(X, y, store=tmp_path, **OPTIONS)
    fresh = compare(X, y, **OPTIONS)
    assert all(same(a, b) for a, b in zip(first, fresh, strict=True))
    monkeypatch.setattr(loop, "active_learning", None)  # would fail if it were called
    again = compare(X, y, store=tmp_path, **OPTIONS)
    for a, b in zip(again, first, strict=True):
        assert type(a) is Round and same(a, b) and a.seconds == b.seconds
    assert compare(X.tolist(), y, store=tmp_path, **OPTIONS) is not None  # a list of lists


@pytest.mark.parametrize(
    "change",
    [
        *({"rounds": 3}, {"batch": 3}, {"seed": 4}, {"ridge": 1e-2}, {"trials": [5]}),
        *({"pool": 1e-9}, {"labels": 1}),
    ],
)
def test_a_kept_run_serves_only_the_same_data_and_settings(tmp_path, calls, change):
    X, y = blobs()
    options = {**OPTIONS, "strategies": (counted,)}
    compare(X, y, store=tmp_path, **options)
    done = len(calls)
    change = dict(change)
    X, y = X + change.pop("pool", 0), (y + change.pop("labels", 0)) % 3
    options |= change
    kept = compare(X, y, store=tmp_path, **options)
    assert len(calls) > done
    fresh = compare(X, y, **options)
    assert all(same(a, b) for a, b in zip(kept, fresh, strict=True))


def test_another_function_of_the_same_name_is_another_strategy(tmp_path):
    X, y = blobs()

    def lowest(pool, labeled, theta, budget, rng):
        return np.arange(budget)

    options = dict(trials=1, rounds=1, batch=4, seed=3, store=tmp_path)
    first = compare(X, y, strategies=(lowest,), **options)

    def lowest(pool, labeled, theta, budget, rng):
        return np.arange(budget) + 1

    second = compare(X, y, strategies=(lowest,), **options)
    assert second[1].picked.tolist() != first[1].picked.tolist()


def test_an_interrupted_comparison_keeps_what_was_finished(tmp_path, calls, monkeypatch):
    X, y = blobs()
    options = {**OPTIONS, "strategies": (counted,), "trials": 4, "rounds": 1}
    run = loop.active_learning

    def interrupted(*arguments, **settings):
        if settings["trial"] == 2:
            raise KeyboardInterrupt
        return run(*arguments, **settings)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "active_learning", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compare(X, y, store=tmp_path, **options)
    assert len(calls) == 2
    resumed = compare(X, y, store=tmp_path, **options)
    assert len(calls) == 4
    fresh = compare(X, y, **options)
    assert all(same(a, b) for a, b in zip(resumed, fresh, strict=True))


@pytest.mark.parametrize("damage", [b"", b"half", None])
def test_a_damaged_run_is_repeated(tmp_path, calls, caplog, damage):
    X, y = blobs()
    options = {**OPTIONS, "strategies": (counted,)}
    first = compare(X, y, store=tmp_path, **options)
    for file in tmp_path.rglob("output.pkl"):
        file.write_bytes(file.read_bytes()[:-99] if damage is None else damage)
    done = len(calls)
    again = compare(X, y, store=tmp_path, **options)
    assert len(calls) == 2 * done and "Exception while loading results" in caplog.text
    assert all(same(a, b) for a, b in zip(again, first, strict=True))
    compare(X, y, store=tmp_path, **options)
    assert len(calls) == 2 * done  # and is kept again


def test_processes_share_the_store(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(5000) % 2
    X = rng.normal(size=(5000, 30)) + y[:, None]  # 1.2 MB: memory-mapped in other processes
    options = dict(trials=2, rounds=1, batch=2, seed=0, strategies=("random", "entropy"))
    first = compare(X, y, jobs=2, store=tmp_path, **options)
    monkeypatch.setattr(loop, "active_learning", None)
    again = compare(X, y, jobs=1, store=tmp_path, **options)
    assert all(same(a, b) for a, b in zip(first, again, strict=True))


def test_trials_may_be_listed():
    X, y = blobs()
    options = dict(rounds=1, batch=4, seed=3, strategies=("random",))
    every = compare(X, y, trials=4, **options)
    some = compare(X, y, trials=[1, 3], **options)
    assert [r.trial for r in some] == [1, 1, 3, 3]
    for r in some:
        (same,) = [e for e in every if (e.trial, e.round) == (r.trial, r.round)]
        assert np.array_equal(r.picked, same.picked) and r.accuracy == same.accuracy
