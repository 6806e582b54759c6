"""Simulated sessions: they are real sessions, and the record holds what was run."""

import numpy as np
import pytest

from firal.companion import stopping_runs
from firal.companion.stopping_runs import Point, Setting, by_run, complete, read, run, stop
from firal.session.evaluation import advice, learning_curve
from firal.session.session import Session

SETTING = Setting(6, 5, 2, 178, {})


def test_a_run_is_a_session(tmp_path, monkeypatch):
    """The same rows held out, picked and fitted as by ``firal next`` and ``firal status``."""
    X, y = stopping_runs.load("wine")
    points = run(X, y, SETTING, 1, "wine")
    rng = np.random.default_rng([1, 21])
    rows = rng.permutation(178)
    held_out = rng.choice(178, size=50, replace=False)
    np.save(tmp_path / "x.npy", X[rows])
    session = Session.create(tmp_path / "s", tmp_path / "x.npy", seed=1)
    session._add_round(0, held_out, "held out", 0)
    truth = [str(k) for k in y[rows]]
    for _ in range(5):
        for row in session.next(6).rows:
            session.label(int(row), truth[row])
    session.decide({int(row): truth[row] for row in held_out})
    curve = learning_curve(session)
    assert [(p.labels, p.right) for p in points] == [(p.labels, p.right) for p in curve]
    kappas = [p.kappa for p in points[1:]]
    np.testing.assert_allclose(kappas, [p.kappa for p in curve[1:]], atol=1e-5)
    stopped = stop(points).labels is not None and stop(points).labels == points[-1].labels
    assert not stopped or "you may stop" in advice(curve)


def points_of(kappas):
    return [
        Point("p", 0, k, 10 * k, 0.5 + k / 100, 30, 50, kappa, min(k, 3), 3)
        for k, kappa in enumerate([float("nan"), *kappas], 1)
    ]


def test_the_rule():
    found = stop(points_of([0.5, 0.98, 0.96, 0.97, 0.99, 0.5]))
    assert (found.labels, found.of, found.missing) == (60, 70, 0)
    assert found.lost == pytest.approx(1.0)
    assert stop(points_of([0.98, 0.97])).labels == 30
    assert stop(points_of([0.98])).labels is None and stop(points_of([0.9] * 9)).labels is None
    assert stop(points_of([0.9] * 9), stable=0.9, window=3).labels == 40


def test_a_record_is_completed_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(stopping_runs, "SETTINGS", {"wine": SETTING._replace(rounds=2)})
    path = tmp_path / "record.csv"
    assert complete(path, ["wine"], report=lambda line: None) == 2
    first = path.read_text()
    lines = first.splitlines()
    path.write_text("\n".join(lines[:3]) + "\n")  # the second run is lost
    assert complete(path, ["wine"], report=lambda line: None) == 1
    assert path.read_text() == first
    assert [len(points) for points in by_run(read(path)).values()] == [2, 2]
    path.write_text("pool,start\n")
    with pytest.raises(ValueError, match="record.csv must have the columns pool, start, round"):
        read(path)
