"""Bounds from the diagonal blocks of W1: no score is above them, and FTRL picks what it picked."""

import numpy as np
import pytest
import reference_select as literal
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import prepared
from scipy import linalg
from test_scoring import symmetric

from firal.selection import ftrl, ratio_bound, scoring
from firal.selection.ftrl import run_ftrl
from firal.selection.problem import Problem
from firal.selection.ratio_bound import ratio_bounds
from firal.selection.relaxation import relax
from firal.selection.rounding import prepare_rounding
from firal.selection.scoring import PoolScorer
from firal.selection.structure import prepare_with_weights

SEEDS = st.integers(0, 10**6)


@given(
    SEEDS,
    st.integers(1, 5),
    st.integers(2, 9),
    st.floats(0, 6),
    st.floats(-3, 5),
    st.floats(0.3, 9),
)
@settings(max_examples=60, deadline=None)
def test_no_score_is_above_its_bound(seed, d, c, decades, power, sharp):
    problem, rng = prepared(seed, 100, d, c, sharp)
    W1 = 10.0**power * symmetric(rng, problem.size, decades)
    W2 = symmetric(rng, problem.size, decades)
    ratio = linalg.eigh(W2, W1, eigvals_only=True)[-1]
    scores = PoolScorer(problem).all(W1, W2)
    assert (ratio_bounds(problem, W1, ratio) >= scores).all()


def one_class(h, x, threads=1):
    """Points with two classes in one dimension."""
    x, h = np.array(x, float)[:, None], np.array(h, float)[:, None]
    return Problem(x, h, 1 - h[:, 0], np.eye(1), np.eye(1), 1, threads)


def test_the_bound_by_hand_and_where_it_is_attained():
    problem = one_class([0.25, 1e-6], [2.0, 3.0])
    found = ratio_bounds(problem, np.array([[5.0]]), 7.0) / ratio_bound.SPARE
    assert found == pytest.approx([7 * 5 / (1 + 5), 7 * 45e-6 / (1 + 45e-6)], rel=1e-12)
    # a rare class: G is nearly diag(h), and W2 = ratio W1
    score = PoolScorer(problem).all(np.array([[5.0]]), np.array([[35.0]]))
    assert score[1] == pytest.approx(found[1], rel=2e-6)
    assert score[0] < 0.96 * found[0]


def test_threads_and_blocks_change_nothing(monkeypatch):
    problem, rng = prepared(5, 300, 4, 6)
    W1 = symmetric(rng, problem.size, 2)
    whole = ratio_bounds(problem, W1, 2.0)
    monkeypatch.setattr(ratio_bound, "BLOCK_BYTES", 2**11)
    monkeypatch.setattr(ratio_bound.memory, "POINTS_PER_THREAD", 50)
    assert ratio_bounds(problem._replace(threads=3), W1, 2.0) == pytest.approx(whole, rel=1e-13)


def roundings(seed, size=None):
    data = literal.tiny_problem(seed) if size is None else size
    problem, z, _ = prepare_with_weights(*data[:3], relax(*data).z, data[3], False)
    return prepare_rounding(problem, z)


@given(SEEDS, st.floats(-1, 3))
@settings(max_examples=25, deadline=None)
def test_the_ratio_of_a_step(seed, power):
    """W2 is at most ratio W1, at every step, also when nu is below 1."""
    rounding = roundings(seed)
    rule = ftrl._FtrlRule(rounding, 10.0**power)
    for row in range(rounding.problem.budget):
        W1, W2 = rule.weights()
        assert linalg.eigh(W2, W1, eigvals_only=True)[-1] <= rule.ratio * (1 + 1e-6)
        rule.add(row, 0.0)


def test_the_ratio_is_attained_where_nothing_is_known():
    rounding = roundings(0, literal.tiny_problem(3, n_labeled=0))
    rule = ftrl._FtrlRule(rounding, 7.0)
    W1, W2 = rule.weights()
    assert rule.ratio * W1 == pytest.approx(W2, rel=1e-9)


def large():
    rng = np.random.default_rng(2)
    means = rng.normal(size=(10, 15))
    pool = means[rng.integers(10, size=900)] + rng.normal(size=(900, 15))
    return pool, means, means[:-1] - means[-1], 8


@pytest.mark.parametrize("eta", [20.0, 60.0, 500.0])
def test_picks_are_those_of_all_scores(monkeypatch, eta):
    monkeypatch.setattr(scoring, "SCREEN_FROM", 0)
    rounding, screens = roundings(0, large()), []
    monkeypatch.setattr(PoolScorer, "_screen", lambda *_: screens.append(1) or (None, None))
    monkeypatch.setattr(scoring, "PAUSE", 0)
    found = run_ftrl(rounding, eta, False)
    assert len(screens) <= 1  # steps are decided by these bounds
    monkeypatch.setattr(ratio_bound, "FROM", 100)
    expected = run_ftrl(rounding, eta, False)
    assert len(screens) >= 8
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.gains == pytest.approx(expected.gains, rel=1e-9)


def test_few_classes_and_unknown_ratios_are_screened_as_before(monkeypatch):
    monkeypatch.setattr(scoring, "SCREEN_FROM", 0)
    monkeypatch.setattr(scoring, "SCREEN_SIZE", 0)
    calls = []
    monkeypatch.setattr(
        ratio_bound, "ratio_bounds", lambda p, *_: calls.append(1) or np.full(len(p.X), np.inf)
    )
    for c, ratio, count in ((8, 1.0, 0), (9, np.inf, 0), (9, 1.0, 1)):
        problem, _ = prepared(1, 200, 3, c)
        W = np.linalg.inv(problem.mean_information)
        scorer, allowed = PoolScorer(problem), np.full(200, True)
        exact = scorer.all(W, W)
        assert scorer.best(W, W, allowed, ratio)[0] == int(np.argmax(exact))
        assert len(calls) == count


def test_a_bound_that_leaves_too_many_points_is_not_tried_again_at_once(monkeypatch):
    calls = []
    monkeypatch.setattr(
        ratio_bound, "ratio_bounds", lambda p, *_: calls.append(1) or np.full(len(p.X), np.inf)
    )
    for name, value in {"SCREEN_FROM": 0, "SCREEN_SIZE": 0, "PAUSE": 3}.items():
        monkeypatch.setattr(scoring, name, value)
    problem, _ = prepared(1, 200, 3, 9)
    W, scorer = np.linalg.inv(problem.mean_information), PoolScorer(problem)
    for _ in range(8):
        scorer.best(W, W, np.full(200, True), 1.0)
    assert len(calls) == 2
