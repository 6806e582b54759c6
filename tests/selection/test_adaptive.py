"""Adaptive rounding: against a dense literal version, and the guarantee it reports."""

import numpy as np
import pytest
import reference_select as literal
from hypothesis import given, settings
from hypothesis import strategies as st

from firal.model.logistic import probabilities
from firal.selection.adaptive import _AdaptiveRule, adaptive_sparsify, best_level
from firal.selection.relaxation import relax
from firal.selection.rounding import barrier_below, prepare_rounding
from firal.selection.structure import prepare_with_weights


def problem(seed, d=2, c=3, m=12, n0=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=(n0, d)), rng.normal(size=(c - 1, d))


def literal_run(H_tilde, budget, level, replace):
    """Picks, and the guarantee before every step and at the end; roots by bisection."""
    size = H_tilde.shape[1]
    S, picks, guarantee = np.zeros((size, size)), [], []
    for step in range(budget + 1):
        values = np.linalg.eigvalsh(S)
        low, high = values[0] - size / level, values[0] - 1 / level
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (low, middle) if np.sum(1 / (values - middle)) > level else (middle, high)
        guarantee.append(low + (budget - step) / (budget + level) + 1 / level)
        if step == budget:
            return np.array(picks), np.array(guarantee), values[0]
        M = S - (low + 1 / (budget + level)) * np.eye(size)
        traces = np.array([np.trace(np.linalg.inv(M + F)) for F in H_tilde])
        if not replace:
            traces[picks] = np.inf
        picks.append(int(np.argmin(traces)))
        S = S + H_tilde[picks[-1]]


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(1, 9),
    st.booleans(),
    st.sampled_from([None, 0.5, 40.0]),
    st.sampled_from([0, 4]),
)
def test_agrees_with_the_literal_version(seed, budget, replace, level, n0):
    pool, labeled, theta = problem(seed, n0=n0)
    z = relax(pool, labeled, theta, budget, capped=not replace, tol=0.05).z
    got = adaptive_sparsify(pool, labeled, theta, z, budget, level=level, replace=replace)
    H, H_p = literal.matrices(pool, labeled, theta, budget)
    H_tilde = literal.whiten(H, z)
    picks, guarantee, lambda_min = literal_run(H_tilde, budget, got.level, replace)
    np.testing.assert_array_equal(got.indices, picks)
    assert got.lambda_min == pytest.approx(max(lambda_min, 0), abs=1e-8)
    counts = np.bincount(picks, minlength=len(pool))
    if got.lambda_min > 1e-6:
        assert got.objective == pytest.approx(literal.objective(H, H_p, counts), rel=1e-6)
    if replace:
        np.testing.assert_allclose(got.guarantee, guarantee, atol=1e-8)
    else:
        assert got.guarantee is None
        assert len(set(got.indices)) == budget


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 30))
def test_the_guarantee_never_falls_and_is_kept(seed, budget):
    pool, labeled, theta = problem(seed)
    z = relax(pool, labeled, theta, budget, capped=False, tol=0.05).z
    got = adaptive_sparsify(pool, labeled, theta, z, budget, replace=True)
    assert np.all(np.diff(got.guarantee) >= -1e-9)
    assert got.lambda_min >= got.guarantee[-1] - 1e-9
    size, level = theta.size, got.level
    assert got.guarantee[0] == pytest.approx(budget / (budget + level) - (size - 1) / level)


def test_the_first_learning_rate_is_that_of_the_flat_spectrum():
    pool, labeled, theta = problem(0)
    z = relax(pool, labeled, theta, 8, capped=False).z
    got = adaptive_sparsify(pool, labeled, theta, z, 8, level=10.0, replace=True)
    assert got.etas[0] == pytest.approx(10 / np.sqrt(theta.size))
    assert np.all((got.etas >= 10 / np.sqrt(theta.size) * (1 - 1e-9)) & (got.etas <= 10))


def test_best_level():
    size, budget = 6, 50
    bounds = {
        level: budget / (budget + level) - (size - 1) / level
        for level in np.geomspace(0.5, 2, 201) * best_level(size, budget)
    }
    assert max(bounds, key=bounds.get) == pytest.approx(best_level(size, budget))
    assert max(bounds.values()) == pytest.approx((1 - np.sqrt((size - 1) / budget)) ** 2)
    assert best_level(1, 4) == 4 and best_level(1, 1) == 2
    assert best_level(3, 8) == 8.0 and best_level(2, 4) == 4.0
    assert best_level(2, 3) == pytest.approx(np.sqrt(3) / (1 - np.sqrt(1 / 3)), rel=1e-14)
    with pytest.raises(ValueError, match="budget must exceed size - 1 = 5"):
        best_level(6, 5)


def test_bad_input_is_named():
    pool, labeled, theta = problem(0)
    z = np.full(12, 4 / 12)
    with pytest.raises(ValueError, match="z must have sum 5"):
        adaptive_sparsify(pool, labeled, theta, z, 5)
    with pytest.raises(ValueError, match="level must be"):
        adaptive_sparsify(pool, labeled, theta, z, 4, level=-1.0)
    with pytest.raises(ValueError, match="at most the pool size 12"):
        adaptive_sparsify(pool, labeled, theta, np.full(12, 2.0), 24)
    with pytest.raises(ValueError, match="shape"):
        adaptive_sparsify(pool, labeled, theta, z[:3], 4)


def test_the_default_level_is_the_documented_one():
    rng = np.random.default_rng(0)
    pool, theta = rng.normal(size=(30, 2)), rng.normal(size=(2, 2))
    z = relax(pool, pool[:6], theta, 5).z
    found = adaptive_sparsify(pool, pool[:6], theta, z, 5)
    assert found.level == pytest.approx(2 * np.sqrt(4 * 5), rel=1e-12)


@pytest.mark.parametrize("level", [0.5, 30.0])
def test_every_step_lowers_the_trace_as_the_formula_says(level):
    pool, labeled, theta = problem(3)
    z = relax(pool, labeled, theta, 4).z
    prepared, z, _ = prepare_with_weights(pool, labeled, theta, z, 4, False)
    rule = _AdaptiveRule(prepare_rounding(prepared, z), level)
    H, _ = literal.matrices(pool, labeled, theta, 4)
    H_tilde = literal.whiten(H, z)
    S = np.zeros_like(H_tilde[0])
    for row in (5, 2, 5):
        scores = rule.rounding.scorer.all(*rule.weights())
        barrier = barrier_below(np.linalg.eigvalsh(S), level)
        M = S - (barrier + 1 / (4 + level)) * np.eye(len(S))
        traces = np.array([np.trace(np.linalg.inv(M + F)) for F in H_tilde])
        # the labeled part of F_i is the same for all points
        np.testing.assert_allclose(scores - scores[0], traces[0] - traces, rtol=1e-7)
        rule.add(row, 0.0)
        S = S + H_tilde[row]


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=20), st.floats(-3, 3))
def test_the_barrier_solves_its_equation(values, power):
    values, level = np.sort(values), 10.0**power
    barrier = barrier_below(values, level)
    # compare u = smallest - barrier, which is all that is left to rounding
    low, high = 1 / level, len(values) / level
    for _ in range(200):
        u = (low + high) / 2
        low, high = (u, high) if np.sum(1 / (u + values - values[0])) > level else (low, u)
    assert values[0] - barrier == pytest.approx(u, rel=1e-13, abs=1e-15 * (1 + values[0]))


def test_probabilities_in_place_of_theta():
    pool, labeled, theta = problem(5)
    z = np.full(12, 4 / 12)
    given_p = (probabilities(pool, theta), probabilities(labeled, theta))
    expected = adaptive_sparsify(pool, labeled, theta, z, 4)
    found = adaptive_sparsify(pool, labeled, None, z, 4, probabilities=given_p)
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)
