"""The best score: float32 screens, float64 decides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import prepared

from firal.engine import memory
from firal.model.hessians import curvature, information_root
from firal.selection import scoring
from firal.selection.problem import prepare_problem
from firal.selection.scoring import PoolScorer

SEEDS = st.integers(0, 10**6)
SPREADS = st.floats(-0.5, 1).map(lambda power: 10.0**power)  # from sharp to soft probabilities


@pytest.fixture(autouse=True)
def always_screen(monkeypatch):
    monkeypatch.setattr(scoring, "SCREEN_FROM", 0)
    monkeypatch.setattr(scoring, "SCREEN_SIZE", 0)
    monkeypatch.setattr(scoring, "PAUSE", 0)


def screened(scorer, W1, W2, allowed):
    return scorer._screen(W1, W2, scorer._coefficients(W1, W2), allowed)


def bounds(scorer, W1, W2):
    return scorer._upper_bounds(W1, W2, scorer._coefficients(W1, W2))


def symmetric(rng, size, decades):
    """A random positive definite matrix with condition number 10^decades."""
    Q = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return (Q * 10.0 ** rng.uniform(-decades, 0, size)) @ Q.T


def slow_score(problem, i, W1, W2):
    """trace[(I + U^T W1 U)^{-1} U^T W2 U] with a root U of the information, formed by eigh."""
    values, vectors = np.linalg.eigh(curvature(problem.h[i : i + 1])[0])
    U = np.kron(vectors * np.sqrt(np.maximum(values, 0)), problem.X[i][:, None])
    return np.trace(np.linalg.solve(np.eye(U.shape[1]) + U.T @ W1 @ U, U.T @ W2 @ U))


@given(SEEDS, st.integers(1, 5), st.integers(2, 7), st.floats(0, 14), st.floats(-3, 4), SPREADS)
@settings(max_examples=40)
def test_best_point_against_all_points_one_by_one(seed, d, c, decades, power, spread):
    problem, rng = prepared(seed, 300, d, c, spread)
    W1 = 10.0**power * symmetric(rng, problem.size, decades)
    W2 = W1 @ problem.mean_information @ W1
    W2 = (W2 + W2.T) / 2
    allowed = rng.random(300) < 0.8
    scorer = PoolScorer(problem)
    i, score = scorer.best(W1, W2, allowed)
    slow = np.array([slow_score(problem, j, W1, W2) for j in range(300)])
    # W2 = W1 H_p W1 has entries far above the small scores if W1 is badly conditioned
    size = np.abs(W2).max() * (problem.X**2).sum(axis=1).max()
    wide = scorer.all(W1, W2)
    assert wide == pytest.approx(slow, rel=1e-6, abs=1e-12 * size)
    if slow[allowed].max() > 1e-6 * size:
        assert allowed[i] and slow[i] >= slow[allowed].max() * (1 - 1e-5)
        assert score == pytest.approx(slow[i], rel=1e-5)
    # whatever float32 saw, the pick is that of float64
    first = np.flatnonzero(allowed & (wide >= wide[allowed].max() * (1 - scoring.TIE)))[0]
    assert i == first and score == pytest.approx(wide[i], rel=1e-9)


@pytest.mark.parametrize("m, d, c", [(600, 12, 12), (400, 5, 50)])
def test_float32_is_used_and_decides_nothing(m, d, c):
    problem, _ = prepared(0, m, d, c)
    W1 = np.linalg.inv(problem.labeled_information + problem.mean_information)
    W2 = W1 @ problem.mean_information @ W1
    allowed = np.full(m, True)
    scorer = PoolScorer(problem)
    rows, exact = screened(scorer, W1, W2, allowed)
    wide, upper = scorer.all(W1, W2), bounds(scorer, W1, W2)
    assert rows is not None and len(rows) < m / 10
    assert exact == pytest.approx(wide[rows], rel=1e-12)
    assert (upper > wide).all()
    assert upper[rows[0]] < 1.1 * wide.max()  # and not by much
    assert set(rows) == set(np.flatnonzero(upper >= wide.max() * (1 - scoring.TIE)))


@pytest.mark.parametrize("m", [9, 31, 32, 33, 34])
def test_a_screen_of_few_points(m):
    """As many points as are looked at first, and fewer."""
    problem, _ = prepared(2, m, 2, 3)
    W = np.linalg.inv(problem.labeled_information + problem.mean_information)
    scorer = PoolScorer(problem)
    allowed = np.arange(m) % 5 > 0
    exact = np.where(allowed, scorer.all(W, W), -np.inf)
    first = np.flatnonzero(exact >= exact.max() * (1 - scoring.TIE))[0]
    screened(scorer, W, W, allowed)
    assert scorer.best(W, W, allowed) == (first, pytest.approx(exact[first], rel=1e-12))


def test_a_point_of_which_float32_knows_nothing_is_scored_in_float64():
    problem, _ = prepared(0, 400, 5, 20)
    W1 = np.linalg.inv(problem.labeled_information + problem.mean_information)
    W2 = W1 @ problem.mean_information @ W1
    scorer, allowed = PoolScorer(problem), np.full(400, True)
    exact, single = scorer.all(W1, W2), scorer._single
    best = int(np.argmax(exact))
    scorer._single = lambda *data: np.where(np.arange(400) == best, np.nan, single(*data))
    assert bounds(scorer, W1, W2)[best] == np.inf
    rows, _ = screened(scorer, W1, W2, allowed)
    assert best in rows and len(rows) < 100
    assert scorer.best(W1, W2, allowed) == (best, pytest.approx(exact[best], rel=1e-9))


def test_float32_screens_only_large_problems(monkeypatch):
    problem, _ = prepared(0, 200, 3, 3)
    W, looks = np.linalg.inv(problem.mean_information), []
    monkeypatch.setattr(PoolScorer, "_screen", lambda *_: looks.append(1) or (None, None))
    for more in (0, 1):
        monkeypatch.setattr(scoring, "SCREEN_FROM", 200 * problem.size**2 / 4 + more)
        PoolScorer(problem).best(W, W, np.full(200, True))
    assert len(looks) == 1
    monkeypatch.setattr(scoring, "SCREEN_FROM", 0)
    for more in (0, 1):
        monkeypatch.setattr(scoring, "SCREEN_SIZE", problem.size + more)
        PoolScorer(problem).best(W, W, np.full(200, True))
    assert len(looks) == 2


def test_a_screen_that_leaves_too_many_points_is_not_tried_again_at_once(monkeypatch):
    problem, _ = prepared(0, 200, 3, 3)
    W, looks, scorer = np.linalg.inv(problem.mean_information), [], PoolScorer(problem)
    monkeypatch.setattr(PoolScorer, "_screen", lambda *_: looks.append(1) or (None, None))
    monkeypatch.setattr(scoring, "PAUSE", 3)
    for _ in range(8):
        scorer.best(W, W, np.full(200, True))
    assert len(looks) == 2


def test_a_screen_that_works_is_used_at_every_step(monkeypatch):
    problem, _ = prepared(0, 400, 5, 20)
    W1 = np.linalg.inv(problem.labeled_information + problem.mean_information)
    W2, looks, screen = W1 @ problem.mean_information @ W1, [], PoolScorer._screen
    monkeypatch.setattr(PoolScorer, "_screen", lambda *_: looks.append(1) or screen(*_))
    monkeypatch.setattr(scoring, "PAUSE", 3)
    scorer = PoolScorer(problem)
    for _ in range(3):
        scorer.best(W1, W2, np.full(400, True))
    assert len(looks) == 3


@pytest.mark.parametrize("less", [0, 1])
def test_products_are_kept_up_to_their_size(less, monkeypatch):
    problem, _ = prepared(0, 50, 6, 3)
    monkeypatch.setattr(scoring, "PRODUCT_BYTES", 8 * 50 * 6 * 6 // 2 - less)
    scorer = PoolScorer(problem)
    assert scorer._single.keep_products and scorer._double.keep_products == (not less)


@pytest.mark.parametrize("factor", [1e60, 1e-60, 1e-290])
def test_numbers_beyond_float32_are_scaled(factor):
    problem, _ = prepared(1, 200, 4, 5)
    W1 = np.linalg.inv(problem.labeled_information + problem.mean_information)
    W2 = W1 @ problem.mean_information @ W1 * factor
    allowed = np.full(200, True)
    scorer = PoolScorer(problem)
    assert len(screened(scorer, W1, W2, allowed)[0]) < 10
    assert scorer.best(W1, W2, allowed)[0] == int(np.argmax(scorer.all(W1, W2)))


def test_where_nothing_can_be_proved_float64_scores_all():
    problem, _ = prepared(1, 200, 4, 5)
    W = np.linalg.inv(problem.labeled_information + problem.mean_information)
    allowed, scorer = np.full(200, True), PoolScorer(problem)
    V = W @ problem.mean_information @ W
    for W1, W2 in ((1e16 * W, V), (1e6 * W, V), (W, 0 * V)):
        assert screened(scorer, W1, W2, allowed)[0] is None
        exact = scorer.all(W1, W2)
        first = np.flatnonzero(exact >= exact.max() * (1 - scoring.TIE))[0]
        assert scorer.best(W1, W2, allowed)[0] == first
    large = PoolScorer(problem._replace(X=1e8 * problem.X))
    assert bounds(large, 1e-16 * W, 1e-16 * W) is None


def test_copies_are_ties_and_the_lowest_allowed_row_wins():
    rng = np.random.default_rng(3)
    pool, theta = np.tile(rng.normal(size=(200, 4)), (3, 1)), rng.normal(size=(3, 4))
    problem = prepare_problem(pool, None, theta, 4)
    W = np.linalg.inv(problem.mean_information)
    scorer, allowed = PoolScorer(problem), np.full(600, True)
    i, score = scorer.best(W, W, allowed)
    assert i < 200
    allowed[i] = False
    assert scorer.best(W, W, allowed) == (i + 200, pytest.approx(score, rel=1e-12))


@pytest.mark.parametrize("kept", [0, 2**30])
def test_blocks_parts_and_memory_used_again_change_nothing(monkeypatch, kept):
    problem, rng = prepared(7, 300, 3, 4)
    problem = problem._replace(threads=2)
    weights = [[symmetric(rng, problem.size, 2) for _ in range(2)] for _ in range(2)]
    expected = [PoolScorer(problem).all(*W) for W in weights]
    monkeypatch.setattr(scoring, "BLOCK_BYTES", 2**12)
    monkeypatch.setattr(scoring, "PRODUCT_BYTES", kept)
    monkeypatch.setattr(memory, "POINTS_PER_THREAD", 100)  # two threads, several blocks in each
    scorer = PoolScorer(problem)
    for W, wide in zip(weights, expected, strict=True):
        narrow = scorer._coefficients(*W).astype(np.float32)
        assert scorer._single(narrow) == pytest.approx(wide, rel=1e-4)
        assert scorer.all(*W) == pytest.approx(wide, rel=1e-12)
    for workspaces in (scorer._single.workspaces, scorer._double.workspaces):
        products = [len(workspace.products) for workspace in workspaces.values()]
        assert len(products) == 2 and (min(products) > 1 if kept else max(products) == 0)


def test_root_of_the_information():
    rng = np.random.default_rng(4)
    for h in ([0.2, 0.3, 0.5], [0.0, 0.4, 0.6], [0.0, 1.0, 0.0], [1e-200, 1.0, 0.0]):
        x, h = rng.normal(size=3), np.array(h)
        U = information_root(x, h[:-1], h[-1])
        expected = np.kron(np.diag(h[:-1]) - np.outer(h[:-1], h[:-1]), np.outer(x, x))
        assert U @ U.T == pytest.approx(expected, abs=1e-15)
