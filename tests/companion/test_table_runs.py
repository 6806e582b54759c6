"""Runs on tables: the default is next_batch itself, counts agree, records are checked."""

import numpy as np
import pytest

import firal
from firal.companion import table_records, table_runs
from firal.companion.table_runs import ALL_VARIANTS, METHODS, Runs, draw_start, run_table

SETTINGS = {"seed": 1, "starts": 2}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [50, 40, 30])
    return rng.normal(size=(120, 4)) + 2 * np.eye(3, 4)[y], y


@pytest.fixture(scope="module")
def runs(table):
    return run_table(*table, starts=2, seed=1)


def test_a_start_is_a_share_of_the_table_with_one_label_per_class(table):
    one, again, other = (draw_start(*table, k) for k in (0, 0, 1))
    assert one.X.shape == (90, 4) and sorted(one.y[one.initial]) == [0, 1, 2]
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    assert not np.array_equal(one.X, other.X)
    assert len(draw_start(*table, 0, points=40).X) == 40


def test_classes_that_are_not_drawn_do_not_count_and_two_are_needed():
    y = np.zeros(200, dtype=int)
    y[:2] = 1
    X = np.arange(200.0)[:, None]
    for number in range(20):
        start = draw_start(X, y, number, points=15)
        assert set(start.y) == {0, 1} and len(start.initial) == 2


def test_the_default_is_next_batch_and_the_first_variant(table):
    start = draw_start(*table, 0)
    rows, rng, known = table_runs.run_default(start, 10), np.random.default_rng(start.seed), {}
    for _ in range(table_runs.COUNTS):
        batch = firal.next_batch(start.X, known, 10, rng=rng)
        known |= {int(row): int(start.y[row]) for row in batch.rows}
    assert rows.tolist() == list(known)
    assert np.array_equal(rows, table_runs.run_variant(start, 10))


@pytest.mark.parametrize("name", [name for name in ALL_VARIANTS if not name.startswith("ridge by")])
def test_every_variant_changes_something(table, name):
    X = table_runs.with_category(table[0] ** 3, 9)  # heavy tails, and a category
    start = draw_start(X, table[1], 0)
    rows = table_runs.run_variant(start, 10, **ALL_VARIANTS[name])
    assert len(set(rows.tolist())) == 40
    assert not np.array_equal(rows, table_runs.run_default(start, 10))


def test_label_counts_agree_and_s0_counts(table, runs):
    assert runs.methods == METHODS and runs.picks.shape == (6, 2, 40)
    assert runs.facts.tolist() == [120, 4, 3, 30] and not runs.softened.any()
    start = draw_start(*table, 1, seed=1)
    for name, picks in zip(runs.methods, runs.picks, strict=True):
        assert all(len(set(row.tolist())) == 40 for row in picks)
        if name in table_runs.FROM_S0:
            assert np.array_equal(picks[1, :3], start.initial)
    assert np.isfinite(runs.accuracy).all() and (runs.accuracy <= 1).all()


def test_theta_is_softened_where_a_strategy_refuses_it(table, monkeypatch):
    start, ridges = draw_start(*table, 0), []
    assert table_runs.run_from_s0(start, "bait", 10)[1] == 0
    pick = table_runs.fit_and_pick

    def refuse(*data, ridge, rng):
        ridges.append(ridge)
        if ridge < 0.05:
            raise ValueError("pool and labeled must have information of full rank")
        return pick(*data, ridge=ridge, rng=rng)

    monkeypatch.setattr(table_runs, "fit_and_pick", refuse)
    rows, softened = table_runs.run_from_s0(start, "bait", 10)
    assert len(set(rows.tolist())) == 40 and softened == 4
    assert np.allclose(ridges, 4 * [1e-3, 1e-2, 1e-1])


def test_firal_is_left_out_where_it_is_large(table, monkeypatch):
    monkeypatch.setattr(table_runs, "LARGEST_FIRAL", 9)  # 5 features, 3 classes: 10 parameters
    found = run_table(*table, starts=1, methods=("firal", "random"))
    assert np.isnan(found.accuracy[0]).all() and (found.picks[0] == -1).all()
    assert np.isfinite(found.accuracy[1]).all()


def test_scores_by_hand():
    F = np.column_stack([[-2.0, -1, 1, 2, 3, -3], np.ones(6)])
    y = np.array([0, 0, 1, 1, 1, 2])
    assert table_runs.score(F, y, [0, 3]) == (5 / 6, 2 / 3)  # class 2 is not found
    assert table_runs.score(F, y, [4]) == (0.5, 1 / 3)  # one class: it is the answer


def test_differences_and_intervals(runs):
    made_up = Runs(("a", "b"), np.zeros((2, 3, 4)), np.zeros((2, 3, 4)), *4 * [None])
    made_up.accuracy[0] = [[9, 0.01, 0.02, 0.03], [9, 0, 0, 0], [9, 0.04, 0.04, 0.04]]
    found = table_runs.difference(made_up, "a", "b")
    assert np.allclose(found, [2, 0, 4])
    first = table_runs.difference(made_up, "a", "b", counts=slice(0, 1))
    assert np.allclose(first, 900)
    assert np.allclose(table_runs.interval(found), (2, 2 - 4.9683, 2 + 4.9683), atol=1e-4)


def test_a_record_is_completed_and_read_back(table, runs, tmp_path):
    path, calls = tmp_path / "e18.npz", []

    def run(X, y):
        calls.append(len(X))
        return runs

    for _ in range(2):
        table_records.complete(path, ["one", "two"], lambda name: table, SETTINGS, run)
    assert calls == [120, 120]
    found = table_records.read(path, SETTINGS)
    assert list(found) == ["one", "two"] and found["two"].methods == METHODS
    assert np.allclose(found["two"].accuracy, runs.accuracy, atol=1e-6)
    assert np.array_equal(found["one"].picks, runs.picks)
    with np.load(path, allow_pickle=False) as file:
        assert {file[key].dtype.kind for key in file.files} <= set("iufU")
    with pytest.raises(ValueError, match="was recorded with .*expected"):
        table_records.read(path, SETTINGS | {"seed": 2})
    assert table_records.check(found["one"], *table, seed=1, start=1) == 24


def test_a_wrong_record_is_found(table, runs):
    wrong = [
        runs._replace(accuracy=runs.accuracy + 0.03),
        runs._replace(picks=(runs.picks + 1) % 90),
    ]
    for record in wrong:
        with pytest.raises(ValueError, match="the record does not fit the table"):
            table_records.check(record, *table, seed=1)
    with pytest.raises(ValueError, match="the record does not fit the table"):
        table_records.check(runs, *table, seed=2)
