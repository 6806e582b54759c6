"""The best score: float32 looks, float64 decides; BAIT's weights follow the points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firal.model.hessians import curvature, information_root
from firal.selection import bait, scoring
from firal.selection.problem import prepare

SEEDS = st.integers(0, 10**6)
SPREADS = st.floats(-0.5, 1).map(lambda power: 10.0**power)  # from sharp to soft probabilities


@pytest.fixture(autouse=True)
def always_worth_it(monkeypatch):
    monkeypatch.setattr(scoring, "WORTH", 0)


def prepared(seed, m, d, c, spread=2.0):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(c, d))
    pool = means[rng.integers(c, size=m)] + rng.normal(size=(m, d))
    return prepare(pool, means, (means[:-1] - means[-1]) / spread, 4), rng


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
    W2 = W1 @ problem.mean @ W1
    W2 = (W2 + W2.T) / 2
    allowed = rng.random(300) < 0.8
    i, score = scoring.best_point(problem, W1, W2, allowed)
    slow = np.array([slow_score(problem, j, W1, W2) for j in range(300)])
    # W2 = W1 H_p W1 has entries far above the small scores if W1 is badly conditioned
    size = np.abs(W2).max() * (problem.X**2).sum(axis=1).max()
    assert scoring.all_scores(problem, W1, W2) == pytest.approx(slow, rel=1e-6, abs=1e-12 * size)
    if slow[allowed].max() > 1e-6 * size:
        assert allowed[i] and slow[i] >= slow[allowed].max() * (1 - 1e-5)
        assert score == pytest.approx(slow[i], rel=1e-5)
    # whatever float32 saw, the pick is that of float64
    wide = scoring.all_scores(problem, W1, W2)
    first = np.flatnonzero(allowed & (wide >= wide[allowed].max() * (1 - scoring.TIE)))[0]
    assert i == first and score == pytest.approx(wide[i], rel=1e-9)


@pytest.mark.parametrize("m, d, c", [(600, 12, 12), (400, 5, 50)])
def test_float32_is_used_and_decides_nothing(m, d, c):
    problem, _ = prepared(0, m, d, c)
    W1 = np.linalg.inv(problem.labeled + problem.mean)
    W2 = W1 @ problem.mean @ W1
    allowed = np.full(m, True)
    rows, exact = scoring._screen(problem, W1, W2, allowed, {})
    wide = scoring.all_scores(problem, W1, W2)
    assert rows is not None and len(rows) < m / 10
    assert exact == pytest.approx(wide[rows], rel=1e-12)
    assert set(np.flatnonzero(wide >= wide.max() * (1 - scoring.MARGIN / 2))) <= set(rows)
    narrow = scoring._scores(problem, W1, W2, np.float32, {})
    error = np.abs(narrow - wide).max() / wide.max()
    assert narrow.dtype == np.float32 and 0 < error < scoring.MARGIN / 50


def test_float32_looks_first_only_where_it_is_worth_it(monkeypatch):
    problem, _ = prepared(0, 200, 3, 3)
    W, looks = np.linalg.inv(problem.mean), []
    monkeypatch.setattr(scoring, "_screen", lambda *_: looks.append(1) or (None, None))
    for more in (0, 1):
        monkeypatch.setattr(scoring, "WORTH", 200 * problem.size**2 / 4 + more)
        scoring.best_point(problem, W, W, np.full(200, True))
    assert len(looks) == 1


@pytest.mark.parametrize("factor", [1e60, 1e-60, 1e-320])
def test_numbers_beyond_float32_fall_back(factor):
    problem, _ = prepared(1, 200, 4, 5)
    W1 = np.linalg.inv(problem.labeled + problem.mean)
    W2 = W1 @ problem.mean @ W1 * factor
    allowed = np.full(200, True)
    assert scoring._screen(problem, W1, W2, allowed, {})[0] is None
    wide = scoring.all_scores(problem, W1, W2)
    assert scoring.best_point(problem, W1, W2, allowed)[0] == int(np.argmax(wide))


def test_a_float32_error_above_the_margin_is_noticed(monkeypatch):
    problem, rng = prepared(2, 400, 4, 5)
    W1 = np.linalg.inv(problem.labeled + problem.mean)
    W2 = W1 @ problem.mean @ W1
    allowed, right = np.full(400, True), scoring._scores

    def blurred(problem, W1, W2, dtype, memory):
        found = right(problem, W1, W2, dtype, memory)
        if dtype == np.float32:
            found *= 1 + 0.01 * rng.normal(size=len(found)).astype(np.float32)
        return found

    monkeypatch.setattr(scoring, "_scores", blurred)
    assert scoring._screen(problem, W1, W2, allowed, {})[0] is None
    wide = right(problem, W1, W2, np.float64, {})
    assert scoring.best_point(problem, W1, W2, allowed)[0] == int(np.argmax(wide))


def test_copies_are_ties_and_the_lowest_allowed_row_wins():
    rng = np.random.default_rng(3)
    pool, theta = np.tile(rng.normal(size=(200, 4)), (3, 1)), rng.normal(size=(3, 4))
    problem = prepare(pool, None, theta, 4)
    W = np.linalg.inv(problem.mean)
    allowed = np.full(600, True)
    i, score = scoring.best_point(problem, W, W, allowed)
    assert i < 200
    allowed[i] = False
    assert scoring.best_point(problem, W, W, allowed) == (i + 200, pytest.approx(score, rel=1e-12))


@pytest.mark.parametrize("kept", [0, 2**30])
def test_blocks_parts_and_memory_used_again_change_nothing(monkeypatch, kept):
    problem, rng = prepared(7, 300, 3, 4)
    problem = problem._replace(threads=2)
    weights = [[symmetric(rng, problem.size, 2) for _ in range(2)] for _ in range(2)]
    expected = [scoring.all_scores(problem, *W) for W in weights]
    monkeypatch.setattr(scoring, "BLOCK_BYTES", 2**12)
    monkeypatch.setattr(scoring, "PRODUCT_BYTES", kept)
    monkeypatch.setattr("firal.selection.problem.PART", 100)  # two threads, several blocks in each
    memory = {}
    for W, wide in zip(weights, expected, strict=True):
        narrow = scoring._scores(problem, *W, np.float32, memory)
        assert narrow == pytest.approx(wide, rel=1e-4)
    products = [sum(isinstance(key, int | np.integer) for key in mine) for mine in memory.values()]
    assert len(products) == 2 and (min(products) > 1 if kept else max(products) == 0)


def test_root_of_the_information():
    rng = np.random.default_rng(4)
    for h in ([0.2, 0.3, 0.5], [0.0, 0.4, 0.6], [0.0, 1.0, 0.0], [1e-200, 1.0, 0.0]):
        x, h = rng.normal(size=3), np.array(h)
        U = information_root(x, h[:-1], h[-1])
        expected = np.kron(np.diag(h[:-1]) - np.outer(h[:-1], h[:-1]), np.outer(x, x))
        assert U @ U.T == pytest.approx(expected, abs=1e-15)


def root(problem, i):
    return information_root(problem.X[i], problem.h[i], problem.reference[i])


def literal_weights(M, mean):
    W1 = np.linalg.inv(M)
    return W1, W1 @ mean @ W1


@given(SEEDS, st.integers(1, 4), st.integers(2, 5), st.floats(-4, 2))
@settings(max_examples=50)
def test_weights_follow_points_that_come_and_go(seed, d, c, power):
    problem, rng = prepared(seed, 40, d, c)
    weights = bait.Weights(problem, 10.0**power * problem.mean)
    M, inside = 10.0**power * problem.mean, []
    for _ in range(30):
        outside = np.setdiff1d(np.arange(40), inside)
        add = len(inside) <= 2 * d or rng.random() < 0.6
        i = int(rng.choice(outside if add else inside))
        (inside.append if add else inside.remove)(i)
        weights.change(i, 1 if add else -1)
        M = 10.0**power * problem.mean
        for j in inside:
            U = root(problem, j)
            M = M + U @ U.T
        # in coordinates where H_p is the identity, relative to the largest entry
        L = np.linalg.cholesky(problem.mean)
        for found, expected in zip(
            (weights.W1, weights.W2), literal_weights(M, problem.mean), strict=True
        ):
            found, expected = L.T @ found @ L, L.T @ expected @ L
            assert np.abs(found - expected).max() <= 1e-8 * np.abs(expected).max()


def test_a_fresh_start_counts_what_came_and_went_once():
    problem, _ = prepared(8, 40, 3, 3)
    weights = bait.Weights(problem, problem.mean)
    for i, sign in ((0, 1), (1, 1), (0, -1), (2, 1)):
        weights.change(i, sign)
    M = problem.mean + sum(root(problem, i) @ root(problem, i).T for i in (1, 2))
    for _ in range(2):
        weights.compute()
        assert weights.W1 == pytest.approx(np.linalg.inv(M), rel=1e-9, abs=1e-12)


def test_without_fresh_starts_a_weak_prior_would_ruin_the_weights(monkeypatch):
    """Negative control: the guard against lost digits is needed."""
    problem, _ = prepared(5, 40, 3, 3)
    weights = bait.Weights(problem, 1e-8 * problem.mean)
    naive = bait.Weights(problem, 1e-8 * problem.mean)
    naive.compute = lambda: None
    M = 1e-8 * problem.mean
    for i in range(12):
        U = root(problem, i)
        M = M + U @ U.T
        weights.change(i, 1)
        with monkeypatch.context() as patch:
            patch.setattr(bait, "LARGEST_LOSS", 1e200)
            naive.change(i, 1)
    W1 = np.linalg.inv(M)
    errors = [np.abs(w.W1 - W1).max() / np.abs(W1).max() for w in (weights, naive)]
    assert errors[0] < 1e-13 and errors[1] > 1e-10


@pytest.mark.parametrize("prior", [1.0, 1e-3])
def test_few_fresh_starts_in_an_ordinary_run(monkeypatch, prior):
    count, compute = [0], bait.Weights.compute

    def counted(self):
        count[0] += 1
        compute(self)

    monkeypatch.setattr(bait.Weights, "compute", counted)
    problem, _ = prepared(6, 300, 8, 6)
    pool, theta = problem.X, np.random.default_rng(6).normal(size=(5, 8))
    bait.bait(pool, pool[:6], theta, 15, prior=prior)
    assert count[0] <= 6  # of 45 steps
