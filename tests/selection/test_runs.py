"""Which run is kept, what is said about the others, and who may be watched."""

from types import SimpleNamespace

import numpy as np
import pytest

import firal
from firal.selection import runs
from firal.selection.block_rounding import any_rounding
from firal.selection.ftrl import Selection, run_ftrl
from firal.selection.problem import prepare_problem
from firal.selection.relaxation import solve
from firal.selection.scoring import TIE

NONE = np.empty(0)


def run(rows, lambda_min=0.0, objective=1.0):
    return Selection(np.array(rows), None, lambda_min, NONE, NONE, objective)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ((0.1, 1.0), (0.2, 0.9), [2, 3]),
        ((0.1, 0.9), (0.2, 1.0), [0, 1]),  # not the larger lambda_min
        ((0.2, 1.0), (0.1, 1.0), [2, 3]),  # of equals the points left of twice as many
        ((0.2, 1.0), (0.1, 1.0 + 0.5 * TIE), [2, 3]),
        ((0.2, 1.0), (0.1, 1.0 + 2 * TIE), [0, 1]),
    ],
)
def test_greedy_steps_keep_the_set_of_the_smaller_objective(first, second, kept):
    known, calls = {(0, 1): first, (2, 3): second}, []

    def greedy_picks(watch, report):
        calls.append((watch, report))
        return np.array([0, 1]), np.array([2, 3])

    rounding = SimpleNamespace(quality=lambda rows: known[tuple(rows)])
    found = runs.run_greedy(rounding, SimpleNamespace(greedy_picks=greedy_picks), "report", "watch")
    assert found.indices.tolist() == kept and calls == [("watch", "report")]
    assert (found.lambda_min, found.objective) == known[tuple(kept)]
    assert found.eta is None and found.gains.size == 0


def test_the_best_run_by_the_objective_is_the_first_of_equals():
    found = [run([0], 0.1, 1.2), run([1], 0.1, 1.0 + 0.5 * TIE), run([2], 0.9, 1.0)]
    assert runs._best(None, found, True).indices.tolist() == [1]
    assert runs._best(None, found[::2], True).indices.tolist() == [2]
    worse = [run([0], 0.1, 1.0 + 2 * TIE), run([1], 0.1, 1.0)]
    assert runs._best(None, worse, True).indices.tolist() == [1]


def test_the_best_run_by_lambda_min_has_full_rank_if_one_has(monkeypatch):
    spectra = {0: [0.0, 2.0], 1: [0.0, 3.0], 2: [0.9, 1.0]}
    monkeypatch.setattr(runs, "spectrum_of", lambda _, rows: np.array(spectra[int(rows[0])]))
    singular = [run([0], 0.0, np.inf), run([1], 0.0, np.inf)]
    # trace (I + sum H~)^{-1}: 1 + 1/3 and 1 + 1/4
    assert runs._best(None, singular, False).indices.tolist() == [1]
    full = [*singular, run([2], -1.0, 5.0), run([3], -0.5, 9.0)]
    assert runs._best(None, full, False).indices.tolist() == [3]


@pytest.fixture
def prepared():
    rng = np.random.default_rng(3)
    problem = prepare_problem(
        rng.normal(size=(60, 3)), rng.normal(size=(4, 3)), rng.normal(size=(2, 3)), 5, ridge=0.01
    )
    return any_rounding(problem, solve(problem, True, "multiplicative", 1e-3, 1000).z)


def test_all_runs_are_reported_and_tried(prepared):
    calls, etas = [], [5.0, 20.0, 80.0]
    alone = [run_ftrl(prepared, eta, False) for eta in etas]
    greedy = runs.run_greedy(prepared, prepared)
    for by_objective in (True, False):
        calls.clear()
        best, tried = runs.rounded(
            prepared,
            etas,
            by_objective=by_objective,
            greedy=True,
            report=lambda *call: calls.append(call),
        )
        every = [*alone, greedy]
        assert tried == tuple((r.eta, r.lambda_min) for r in alone)
        key = (lambda r: r.objective) if by_objective else (lambda r: -r.lambda_min)
        assert best.indices.tolist() == min(every, key=key).indices.tolist()
        assert calls == [
            *[("sparsify", done, 15) for done in range(1, 16)],
            *[("greedy", done, 10) for done in range(1, 11)],
        ]


def test_only_the_first_points_are_picked(prepared):
    best, _ = runs.rounded(
        prepared, [20.0], by_objective=True, greedy=True, first=12, report=lambda *_: None
    )
    assert best.indices.max() < 12
    z = np.zeros(60)
    z[best.indices] = 1
    f, _ = prepared.problem.evaluator()(prepared.problem.total_information(z))
    assert best.objective == pytest.approx(f, rel=1e-9)


@pytest.mark.parametrize(
    ("etas", "greedy", "steps"),
    [([20.0], False, 5), ([20.0, 40.0], False, 0), ([20.0], True, 10), ([], True, 10)],
)
def test_greedy_steps_are_watched_or_one_run_of_ftrl(prepared, etas, greedy, steps):
    seen = []
    runs.rounded(
        prepared,
        etas,
        by_objective=True,
        greedy=greedy,
        report=lambda *_: None,
        watch=lambda i, scores: seen.append((i, len(scores))),
    )
    assert len(seen) == steps and all(count == 60 for _, count in seen)


def test_a_point_may_be_picked_again_if_that_is_asked_for():
    pool, theta = np.vstack([np.eye(2), 0.1 * np.eye(2)]), np.zeros((1, 2))
    found = firal.select(pool, None, theta, 4, replace=True, capped=False)
    assert sorted(found.indices.tolist()) == [0, 0, 1, 1]
    found = firal.select(pool, None, theta, 4)
    assert sorted(found.indices.tolist()) == [0, 1, 2, 3]
