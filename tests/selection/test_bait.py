"""BAIT's matrices follow the points that come and go, without an inverse per step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import prepared

from firal.model.hessians import information_root
from firal.selection import bait
from firal.selection.problem import prepare_problem


def root(problem, i):
    return information_root(problem.X[i], problem.h[i], problem.reference[i])


def literal_weights(M, mean):
    W1 = np.linalg.inv(M)
    return W1, W1 @ mean @ W1


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 5), st.floats(-4, 2))
@settings(max_examples=50)
def test_matrices_follow_points_that_come_and_go(seed, d, c, power):
    problem, rng = prepared(seed, 40, d, c)
    rule = bait._BaitRule(problem, 10.0**power * problem.mean_information)
    M, inside = 10.0**power * problem.mean_information, []
    for _ in range(30):
        outside = np.setdiff1d(np.arange(40), inside)
        add = len(inside) <= 2 * d or rng.random() < 0.6
        i = int(rng.choice(outside if add else inside))
        (inside.append if add else inside.remove)(i)
        rule.change(i, 1 if add else -1)
        M = 10.0**power * problem.mean_information
        for j in inside:
            U = root(problem, j)
            M = M + U @ U.T
        # in coordinates where H_p is the identity, relative to the largest entry
        L = np.linalg.cholesky(problem.mean_information)
        for found, expected in zip(
            rule.weights(), literal_weights(M, problem.mean_information), strict=True
        ):
            found, expected = L.T @ found @ L, L.T @ expected @ L
            assert np.abs(found - expected).max() <= 1e-8 * np.abs(expected).max()


def test_a_fresh_start_counts_what_came_and_went_once():
    problem, _ = prepared(8, 40, 3, 3)
    rule = bait._BaitRule(problem, problem.mean_information)
    for i, sign in ((0, 1), (1, 1), (0, -1), (2, 1)):
        rule.change(i, sign)
    M = problem.mean_information + sum(root(problem, i) @ root(problem, i).T for i in (1, 2))
    for _ in range(2):
        rule.compute()
        assert rule.W1 == pytest.approx(np.linalg.inv(M), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("power", [-2, 0, 2])
def test_sizes_are_compared_whatever_they_are(power):
    """A change that loses few digits needs no fresh start."""
    problem, _ = prepared(8, 40, 3, 3)
    rule = bait._BaitRule(problem, 10.0**power * problem.mean_information)
    rule.change(0, 1)
    assert rule.changes == [(0, 1)]


def test_without_fresh_starts_a_weak_prior_would_ruin_the_matrices(monkeypatch):
    """Negative control: the guard against lost digits is needed."""
    problem, _ = prepared(5, 40, 3, 3)
    rule = bait._BaitRule(problem, 1e-8 * problem.mean_information)
    naive = bait._BaitRule(problem, 1e-8 * problem.mean_information)
    naive.compute = lambda: None
    M = 1e-8 * problem.mean_information
    for i in range(12):
        U = root(problem, i)
        M = M + U @ U.T
        rule.change(i, 1)
        with monkeypatch.context() as patch:
            patch.setattr(bait, "LARGEST_LOSS", 1e200)
            naive.change(i, 1)
    W1 = np.linalg.inv(M)
    errors = [np.abs(w.W1 - W1).max() / np.abs(W1).max() for w in (rule, naive)]
    assert errors[0] < 1e-13 and errors[1] > 1e-10


@pytest.mark.parametrize("prior", [1.0, 1e-3])
def test_few_fresh_starts_in_an_ordinary_run(monkeypatch, prior):
    count, compute = [0], bait._BaitRule.compute

    def counted(self):
        count[0] += 1
        compute(self)

    monkeypatch.setattr(bait._BaitRule, "compute", counted)
    problem, _ = prepared(6, 300, 8, 6)
    pool, theta = problem.X, np.random.default_rng(6).normal(size=(5, 8))
    bait.bait(pool, pool[:6], theta, 15, prior=prior)
    assert count[0] <= 6  # of 45 steps


@pytest.mark.parametrize(("ridge", "prior"), [(0.0, None), (0.0, 0.3), (0.02, None), (0.02, 0.3)])
def test_the_decreases_are_those_of_the_formula_with_the_documented_prior(ridge, prior):
    rng = np.random.default_rng(7)
    pool, labeled, theta = (
        rng.normal(size=(25, 3)),
        rng.normal(size=(4, 3)),
        rng.normal(size=(2, 3)),
    )
    seen = []
    bait.bait(
        pool,
        labeled,
        theta,
        3,
        ridge=ridge,
        prior=prior,
        structure="full",
        watch=lambda i, decrease: seen.append((i, decrease)),
    )
    problem = prepare_problem(pool, labeled, theta, 3, ridge=ridge)
    if prior is None:
        prior = 0 if ridge else 1
    M = problem.labeled_information + prior * problem.mean_information
    assert len(seen) == 6
    for i, decrease in seen:
        before = np.trace(np.linalg.solve(M, problem.mean_information))
        roots = [root(problem, j) for j in range(25)]
        after = [np.trace(np.linalg.solve(M + U @ U.T, problem.mean_information)) for U in roots]
        np.testing.assert_allclose(decrease, before - np.array(after), rtol=1e-9)
        M = M + roots[i] @ roots[i].T


def test_a_budget_above_the_pool_is_refused():
    problem, _ = prepared(5, 40, 3, 3)
    with pytest.raises(ValueError, match="BAIT picks distinct points"):
        bait.bait(problem.X, None, np.zeros((2, 3)), 41)


def test_lost_digits_are_those_of_the_largest_change(monkeypatch):
    """A removal that takes nearly all of a direction counts like the addition of as much."""
    monkeypatch.setattr(bait, "LARGEST_LOSS", 1e12)
    problem, _ = prepared(5, 40, 3, 3)
    M = 1e-2 * problem.mean_information
    sizes = []
    rule = bait._BaitRule(problem, M + root(problem, 0) @ root(problem, 0).T)
    for i, sign in ((1, 1), (0, -1), (2, 1)):
        U = root(problem, i)
        v = np.linalg.eigvalsh(np.eye(U.shape[1]) + sign * U.T @ rule.W1 @ U)
        sizes += [v[-1], 1 / v[0]]
        rule.change(i, sign)
        assert rule.growth == pytest.approx(max(sizes), rel=1e-6)
    assert sizes[3] > 4 * max(sizes[:3])  # the removal


def test_equal_losses_the_highest_row_goes_first():
    pool = np.repeat(np.eye(2), 2, axis=0)
    found = bait.bait(pool, None, np.zeros((1, 2)), 2, ridge=0.1, structure="full")
    assert found.tolist() == [0, 2]
