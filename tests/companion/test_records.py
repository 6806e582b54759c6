"""Committed records of long runs: read back exactly, refused where they do not belong."""

import numpy as np
import pytest

from firal import loop
from firal.companion.records import (
    TOLERANCE,
    check_runs,
    complete_runs,
    load_runs,
    save_runs,
)

STRATEGIES = ("random", "kmeans", "firal")
SETTINGS = {"seed": 3, "batch": 4, "ridge": loop.RIDGE, "data": "ab12", "eta": 8 * np.sqrt(7)}
WANTED = dict(strategies=STRATEGIES, trials=2, rounds=2)


@pytest.fixture(scope="module")
def pool():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = np.column_stack([rng.normal(size=(90, 3)) + 2 * np.eye(3)[y], np.ones(90)])
    return X, y


@pytest.fixture(scope="module")
def rounds(pool):
    return loop.compare(*pool, trials=2, rounds=2, batch=4, seed=3, strategies=STRATEGIES)


@pytest.fixture
def path(rounds, tmp_path):
    path = tmp_path / "data" / "e14.npz"
    save_runs(path, {"selfsup": rounds, "supervised": []}, SETTINGS, weights_of=(0,))
    return path


def same(a, b):
    return all(np.array_equal(x, y) and type(x) is type(y) for x, y in zip(a, b, strict=True))


def test_runs_are_read_back_exactly(path, rounds):
    found = load_runs(path, "selfsup", SETTINGS, **WANTED)
    kept = [r if r.trial == 0 else r._replace(z=None) for r in rounds]
    assert any(r.z is not None for r in kept)
    assert len(found) == len(kept) and all(map(same, found, kept))
    assert [p.name for p in path.parent.iterdir()] == ["e14.npz"]


def test_the_file_holds_plain_arrays(path):
    with np.load(path, allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    assert all(array.dtype.kind in "iufU" for array in arrays.values())
    assert "version" in arrays and not any(key.startswith("supervised") for key in arrays)


def test_fewer_trials_and_rounds_are_a_part_of_the_record(path, rounds):
    found = load_runs(path, "selfsup", SETTINGS, strategies=("firal",), trials=1, rounds=1)
    assert [(r.strategy, r.trial, r.round) for r in found] == [("firal", 0, 0), ("firal", 0, 1)]


@pytest.mark.parametrize("key", ["seed", "data", "eta"])
def test_other_settings_are_refused(path, key):
    other = SETTINGS | {key: "other"}
    with pytest.raises(ValueError, match=f"e14.npz was recorded with {key} = .*, expected 'other'"):
        load_runs(path, "selfsup", other, **WANTED)
    without = {k: v for k, v in SETTINGS.items() if k != key}
    with pytest.raises(ValueError, match=f"recorded with {key} = .*, expected None"):
        load_runs(path, "selfsup", without, **WANTED)


@pytest.mark.parametrize(
    ("change", "lacks"),
    [
        ({"trials": 3}, "lacks 9 of 27 .* random in trial 2, round 0"),
        ({"rounds": 3}, "lacks 6 of 24 .* random in trial 0, round 3"),
        ({"strategies": ("bait",)}, "lacks 6 of 6 .* bait in trial 0"),
    ],
)
def test_what_is_not_recorded_is_refused(path, change, lacks):
    with pytest.raises(ValueError, match=lacks):
        load_runs(path, "selfsup", SETTINGS, **(WANTED | change))


def test_an_absent_kind_or_file_is_refused(path):
    with pytest.raises(ValueError, match="lacks 18 of 18 rounds of the supervised runs"):
        load_runs(path, "supervised", SETTINGS, **WANTED)
    with pytest.raises(FileNotFoundError, match="no record absent.npz: compute the runs"):
        load_runs(path.with_name("absent.npz"), "selfsup", SETTINGS, **WANTED)


@pytest.mark.parametrize("trial", [0, 1])
def test_the_picks_give_the_recorded_accuracies(path, pool, trial):
    found = load_runs(path, "selfsup", SETTINGS, **WANTED)
    assert check_runs(found, *pool, seed=3, ridge=loop.RIDGE, trial=trial) == len(STRATEGIES)


def test_wrong_records_are_found(path, pool):
    found = load_runs(path, "selfsup", SETTINGS, **WANTED)
    X, y = pool

    def check(rounds, X=X, y=y, seed=3, ridge=loop.RIDGE):
        with pytest.raises(ValueError, match="but .* is recorded: the record does not fit"):
            check_runs(rounds, X, y, seed=seed, ridge=ridge)

    check([r._replace(accuracy=r.accuracy + 2 * TOLERANCE) for r in found])
    check([r._replace(accuracy=np.nan) for r in found])
    check([r._replace(picked=(r.picked + 1) % len(y)) for r in found])
    check(found, X=X[::-1])
    check(found, seed=4)
    check(found, ridge=10.0)


def test_only_what_is_missing_is_computed_and_nothing_is_lost(path, pool, rounds):
    calls = []

    def compute(trial, strategies):
        calls.append((trial, tuple(strategies)))
        if len(calls) == 3:
            raise KeyboardInterrupt
        options = dict(rounds=2, batch=4, seed=3, strategies=strategies)
        return loop.compare(*pool, trials=[trial], **options)

    options = dict(strategies=STRATEGIES, trials=2, rounds=2, weights_of=(0,))
    firal = [r for r in rounds if r.strategy == "firal" and r.trial == 0]
    save_runs(path, {"selfsup": firal, "supervised": rounds}, SETTINGS, weights_of=(0,))
    assert complete_runs(path, "selfsup", SETTINGS, compute, **options) == 2
    assert calls == [(0, ("random", "kmeans")), (1, STRATEGIES)]
    found = load_runs(path, "selfsup", SETTINGS, **WANTED)
    kept = [r if r.trial == 0 else r._replace(z=None) for r in rounds]
    strip = [r._replace(seconds=0.0) for r in found]
    assert all(map(same, strip, [r._replace(seconds=0.0) for r in kept]))
    assert load_runs(path, "supervised", SETTINGS, **WANTED)  # other kinds stay
    with pytest.raises(KeyboardInterrupt):
        complete_runs(path, "selfsup", SETTINGS, compute, **(options | {"trials": 3}))
    assert load_runs(path, "selfsup", SETTINGS, **WANTED)
    with pytest.raises(ValueError, match="was recorded with seed"):
        complete_runs(path, "selfsup", SETTINGS | {"seed": 9}, compute, **options)
