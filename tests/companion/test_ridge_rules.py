"""Rules for the ridge: against exact refits, a numerical integral and dense formulas."""

import numpy as np
import pytest
from scipy import integrate

from firal import fit, loss, probabilities
from firal.companion import ridge_rules, table_runs
from firal.selection.penalized import fit_ridge


def labeled(seed=0, n=30, d=3, c=3):
    rng = np.random.default_rng(seed)
    X, theta = rng.normal(size=(n, d)), rng.normal(size=(c - 1, d))
    p = probabilities(X, theta)
    y = np.array([rng.choice(c, p=row) for row in p])
    y[:c] = np.arange(c)
    return X, y


@pytest.mark.parametrize("ridge", [0.01, 0.1])
def test_leaving_out_is_close_to_fitting_again(ridge):
    X, y = labeled()
    n, c, budget = len(X), 3, 10
    tau = (n + budget) * ridge
    exact = []
    for i in range(n):
        rest = np.arange(n) != i
        theta = fit(X[rest], y[rest], c, tau / (n - 1), penalty="symmetric").theta
        exact.append(loss(X[[i]], y[[i]], theta))
    theta, A, _, _ = ridge_rules._fit(X, y, c, budget, ridge)
    found = ridge_rules.left_out_losses(X, y, theta, A)
    own = np.array([loss(X[[i]], y[[i]], theta) for i in range(n)])
    assert np.abs(found - exact).mean() < 0.1 * np.abs(own - exact).mean()  # not the fit itself
    assert ridge_rules.cost(X, y, c, budget, "leave-one-out", ridge) == pytest.approx(
        np.mean(exact), rel=0.02
    )


@pytest.mark.parametrize("ridge", [0.05, 0.5])
def test_evidence_is_the_integral_of_the_likelihood(ridge):
    """One parameter, two classes: the prior is normal with variance 2 / tau."""
    X, y = labeled(1, n=25, d=1, c=2)
    tau = (25 + 5) * ridge

    def integrand(t):
        return np.exp(-25 * loss(X, y, np.array([[t]])) - tau / 4 * t * t)

    value = integrate.quad(integrand, -30, 30, points=[-2, 0, 2], limit=200)[0]
    value *= np.sqrt(tau / 2 / (2 * np.pi))
    assert -ridge_rules.cost(X, y, 2, 5, "evidence", ridge) == pytest.approx(
        np.log(value), abs=0.03
    )


def test_degrees_of_freedom_of_a_dense_formula():
    X, y = labeled(2)
    ridge, budget = 0.03, 6
    theta = fit(X, y, 3, fit_ridge(ridge, 30, budget), penalty="symmetric").theta
    p = probabilities(X, theta)[:, :2]
    H = sum(np.kron(np.diag(q) - np.outer(q, q), np.outer(x, x)) for x, q in zip(X, p, strict=True))
    P = np.kron(np.eye(2) - np.full((2, 2), 1 / 3), np.eye(3))
    wanted = abs(np.trace(np.linalg.solve(H + 36 * ridge * P, H)) - 15)
    assert ridge_rules.cost(X, y, 3, budget, "degrees", ridge) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("rule", ridge_rules.RULES)
def test_the_least_cost_of_the_grid_is_taken(rule):
    X, y = labeled(3)
    costs = [ridge_rules.cost(X, y, 3, 5, rule, r) for r in ridge_rules.GRID]
    chosen = ridge_rules.choose_ridge(X, y, 3, 5, rule)
    assert costs[ridge_rules.GRID.index(chosen)] == min(costs)
    assert len(set(np.round(costs, 9))) > 1


def test_noise_asks_for_more_penalty_than_signal():
    """All rules but degrees, which ignores how well the labels fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    clear, noise = (X[:, 0] > 0).astype(int), rng.integers(2, size=60)
    for rule in ("evidence", "leave-one-out"):
        small = ridge_rules.choose_ridge(X, clear, 2, 5, rule)
        assert small < ridge_rules.choose_ridge(X, noise, 2, 5, rule)


def test_a_run_with_a_rule():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 3)) + 2 * np.eye(3)[y]
    start = table_runs.draw_start(X, y, 0)
    for options in table_runs.RULED.values():
        known = table_runs.run_variant(start, 10, 3, **options)
        assert len(set(known.tolist())) == 30
