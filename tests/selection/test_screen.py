"""Upper bounds in float32: no score of float64 is above them, on problems made to break them."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import prepared
from test_scoring import bounds, symmetric

from firal.engine import memory
from firal.model import packing
from firal.selection import scoring, screen
from firal.selection.bordered import bordered_derivative
from firal.selection.problem import Problem, prepare_problem
from firal.selection.scoring import PoolScorer

SEEDS = st.integers(0, 10**6)


@pytest.fixture(autouse=True)
def always_screen(monkeypatch):
    monkeypatch.setattr(scoring, "SCREEN_FROM", 0)
    monkeypatch.setattr(scoring, "SCREEN_SIZE", 0)


def as_problem(X, p):
    """Points in the coordinates they are given in, with the probabilities p (m, c)."""
    size = X.shape[1] * (p.shape[1] - 1)
    return Problem(X, p[:, :-1].copy(), p[:, -1].copy(), np.eye(size), np.eye(size), 5, 1)


def pick(scorer, W1, W2):
    """The pick of float64 alone."""
    exact = scorer.all(W1, W2)
    return int(np.flatnonzero(exact >= exact.max() * (1 - scoring.TIE))[0])


def check(problem, W1, W2):
    scorer, allowed = PoolScorer(problem), np.full(len(problem.X), True)
    upper = bounds(scorer, W1, W2)
    if upper is not None:
        assert (upper >= scorer.all(W1, W2)).all()
    assert scorer.best(W1, W2, allowed)[0] == pick(scorer, W1, W2)
    return upper


@given(SEEDS, st.integers(1, 12), st.integers(2, 9), st.floats(0, 12), st.floats(-6, 6))
@settings(max_examples=40)
def test_any_weights(seed, d, c, decades, power):
    problem, rng = prepared(seed, 100, d, c)
    W1, W2 = (10.0**power * symmetric(rng, problem.size, decades) for _ in range(2))
    check(problem, W1, W2)


@given(SEEDS, st.integers(2, 8), st.floats(0, 200))
@settings(max_examples=30)
def test_huge_and_tiny_probabilities(seed, c, spread):
    rng = np.random.default_rng(seed)
    logits = spread * rng.normal(size=(200, c))
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[:c] = np.eye(c)  # probabilities of 0 and 1
    p[c : 2 * c] = np.maximum(np.eye(c), 1e-300)
    p[2 * c : 3 * c] = np.maximum((1 - 2.0**-53) * np.eye(c), 2.0**-53 / c)
    X = rng.normal(size=(200, 4))
    W1, W2 = (symmetric(rng, 4 * (c - 1), 2) for _ in range(2))
    check(as_problem(X, p), 10 * W1, W2)


@given(SEEDS, st.booleans())
@settings(max_examples=20)
def test_badly_scaled_features(seed, whiten):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-12, 12, 5)
    X, theta = rng.normal(size=(300, 5)), rng.normal(size=(3, 5))
    if whiten:
        problem = prepare_problem(X * scale, None, theta / scale, 4)
        W = np.linalg.inv(problem.mean_information)
        check(problem, 10 * W, W @ problem.mean_information @ W)
        return
    p = np.exp(X @ np.vstack([theta, 0 * theta[:1]]).T)
    inverse = 1 / np.tile(scale, 3)
    W1, W2 = (symmetric(rng, 15, 1) * inverse * inverse[:, None] for _ in range(2))
    upper = check(as_problem(X * scale, p / p.sum(axis=1, keepdims=True)), W1, W2)
    # w of step 1 undoes the scaling: the bound stays useful
    assert upper is None or np.isfinite(upper).all()


@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-8, 1e-7, 1e-6])
def test_near_ties(distance):
    """Copies of the best point that are better by less than float32 can see."""
    problem, _ = prepared(3, 400, 6, 5)
    W1 = np.linalg.inv(problem.labeled_information + problem.mean_information)
    W2 = W1 @ problem.mean_information @ W1
    i = pick(PoolScorer(problem), W1, W2)
    X, h, reference = problem.X.copy(), problem.h.copy(), problem.reference.copy()
    for n, row in enumerate((399, 17, 200)):  # ever larger: 200 is the best
        X[row] = X[i] * (1 + (n + 1) * distance)
        h[row], reference[row] = h[i], reference[i]
    near = problem._replace(X=X, h=h, reference=reference)
    check(near, W1, W2)
    if distance >= 1e-8:
        assert PoolScorer(near).best(W1, W2, np.full(400, True))[0] == 200


def test_a_million_points():
    rng = np.random.default_rng(5)
    X, theta = rng.normal(size=(10**6, 2)), rng.normal(size=(2, 2))
    X[123456] = X[654321] * (1 + 1e-7)
    problem = prepare_problem(X, None, theta, 4)
    W = np.linalg.inv(problem.mean_information)
    upper = check(problem, W, W @ problem.mean_information @ W)
    assert np.isfinite(upper).all()


def test_a_bound_ten_thousand_times_narrower_is_noticed(monkeypatch):
    """Sums of one sign, of numbers that are all rounded down."""
    rng = np.random.default_rng(6)
    d, c = 24, 6
    problem = as_problem(1 + 0.1 * rng.random((500, d)), rng.dirichlet(np.ones(c), 500))
    W = np.kron(np.eye(c - 1), np.ones((d, d)) + 1e-3 * np.eye(d)) * (1 + 0.9 * 2.0**-24)
    check(problem, 1e-3 * W, W)
    monkeypatch.setattr(screen, "UNIT", screen.UNIT / 1e4)
    scorer = PoolScorer(problem)
    assert (bounds(scorer, 1e-3 * W, W) < scorer.all(1e-3 * W, W)).any()


@pytest.mark.parametrize("d, c", [(3, 4), (6, 2)])
def test_the_slack_of_a_form(d, c):
    """Step 1 against its formula, one block after the other."""
    rng = np.random.default_rng(7)
    k, mean = c - 1, rng.dirichlet(np.ones(c))[:-1]
    W1, W2 = symmetric(rng, d * k, 1), 5 * symmetric(rng, d * k, 1)
    slack = screen.slack_of(W1, W2, mean)
    scaled = W2 / 2.0 ** np.ceil(np.log2(W2.max()))
    for W, betas, weights in zip((W1, scaled), *slack, strict=True):
        w = sum(mean[r] * W[r * d : r * d + d, r * d : r * d + d].diagonal() for r in range(k))
        assert weights == pytest.approx(w, rel=1e-6)
        for r in range(k):
            for s in range(k):
                block = np.abs(W[r * d : r * d + d, s * d : s * d + d]) / np.sqrt(np.outer(w, w))
                beta = np.sqrt(block.sum(axis=0).max() * block.sum(axis=1).max())
                terms = d * (d + 1) / 2 + 8
                assert betas[r, s] == pytest.approx(1.02 * 1.01 * terms * 2**-24 * beta, rel=1e-6)


def test_what_the_elimination_may_lose():
    """Step 3 where all is known: one class, Q1 = 0 and Q2 = q."""
    h, q = np.float32(0.25), np.float32(3.0)
    slack = screen.Slack(np.zeros((2, 1, 1), np.float32), np.ones((2, 1), np.float32))
    forms, room = np.array([[0], [q]], np.float32), np.empty((2, 1, 2, 1), np.float32)
    one = np.ones((1, 1), np.float32)
    found = slack.upper_bounds(forms, one, h * one, (1 - h) * one[0], room)[0]
    g = 1.02 * 1.01 * 21 * 2**-24
    smaller = (1 - g) / h  # A after step 2
    score = q / (smaller + 1 / (1 - h))
    error = 5 * g / (1 - 2 * g) * (q / smaller) * (1 + 2)
    assert found == pytest.approx(score + error, rel=3e-7) and error / score > 1e-5


def test_every_term_of_the_bound():
    """All three steps with slacks so large that every term counts, in float64."""
    rng = np.random.default_rng(8)
    n, d, k = 6, 3, 2
    x, p = rng.normal(size=(n, d)), rng.dirichlet(np.ones(k + 1), n)
    betas = rng.uniform(0.01, 0.03, (2, k, k))
    betas += np.swapaxes(betas, 1, 2)
    weights = rng.uniform(0.5, 1, (2, d))
    Q1, Q2 = (np.array([symmetric(rng, k, 1) for _ in range(n)]) for _ in range(2))
    upper = np.triu_indices(k)
    forms = np.vstack([Q1[:, *upper].T, Q2[:, *upper].T]).astype(np.float32)
    products = packing.packed_products(x.astype(np.float32))
    slack = screen.Slack(betas.astype(np.float32), weights.astype(np.float32))
    single = p[:, :k].T.astype(np.float32), p[:, k].astype(np.float32)
    found = slack.upper_bounds(forms, products, *single, np.empty((2, k, k + 1, n), np.float32))
    g = 1.02 * 1.01 * (k + 20) * 2**-24
    for i in range(n):
        h, squares = p[i, :k], weights @ x[i] ** 2
        diagonal = Q1[i].diagonal()
        loss = np.sqrt(h) * (betas[0] @ np.sqrt(h)) * squares[0] + k * g * (h * diagonal + 1)
        gain = (betas[1] @ np.sqrt(h)) / np.sqrt(h) * squares[1] + 1e-16
        A, B = Q1[i] - np.diag(loss / h), Q2[i] + np.diag(gain)
        G = np.diag(h) - np.outer(h, h)
        score = np.trace(np.linalg.solve(np.eye(k) + G @ A, G @ B))
        room = np.empty((2, k, k + 1, 1))
        packed = (M[upper][:, None] for M in (A, B))
        assert bordered_derivative(*packed, h[:, None], p[i, k:], room)[0] == pytest.approx(score)
        S = sum(2 * np.abs(room[1][j, j] / room[0][j, j])[0] for j in range(k))
        tau = np.sqrt(k + np.abs(h * diagonal).sum())
        error = 5 * g * tau / (1 - 2 * loss.max()) * S * (k * tau + 2)
        assert found[i] == pytest.approx(score + error, rel=3e-6)
        assert error > 1e-5 * score


def test_no_warning_comes_from_a_second_thread(monkeypatch):
    """Where nothing is proved the bound is infinite, and numpy says nothing about it."""
    monkeypatch.setattr(memory, "POINTS_PER_THREAD", 50)
    problem, rng = prepared(0, 200, 4, 3)
    W1 = 1e14 * symmetric(rng, problem.size, 12)  # too large for float32 to prove anything
    problem = problem._replace(threads=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        upper = check(problem, W1, symmetric(rng, problem.size, 2))
    assert np.isinf(upper).any()
