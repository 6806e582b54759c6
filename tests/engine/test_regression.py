"""The fit by blocks is the fit, and probabilities by blocks are the probabilities."""

import inspect

import numpy as np
import pytest
from homes_of import all_homes
from sklearn.linear_model import LogisticRegression

import firal
from firal.engine import passes, regression
from firal.engine.homes import as_home
from firal.engine.regression import fit_by_blocks, probability_blocks


def data(n=600, d=4, c=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1, 10, 0.1, 1]
    X[:, 3] = 1
    return X, rng.integers(c, size=n)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 4 * 17)


@pytest.mark.parametrize("penalty", ["reference", "symmetric"])
@pytest.mark.parametrize("ridge", [1e-4, 0.1])
def test_it_is_the_fit(penalty, ridge):
    X, y = data()
    found = fit_by_blocks(X, y, 3, ridge, penalty=penalty)
    expected = firal.fit(X, y, 3, ridge, penalty=penalty)
    assert found.converged
    np.testing.assert_allclose(found.theta, expected.theta, rtol=1e-6, atol=1e-8)


def test_it_is_scikit_learns():
    X, y = data()
    found = fit_by_blocks(X, y, 3, 0.05, penalty="symmetric").theta
    model = LogisticRegression(C=1 / (0.05 * len(X)), fit_intercept=False, tol=1e-10).fit(X, y)
    full = np.vstack([found, np.zeros(4)])
    np.testing.assert_allclose(full - full.mean(axis=0), model.coef_, atol=1e-5)


def test_steps_that_are_too_long_are_shortened(monkeypatch):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 2**20)  # one block: a call is a pass
    rng, calls, true = np.random.default_rng(26), [], regression._of_block

    def counted(*data):
        calls.append(1)
        return true(*data)

    monkeypatch.setattr(regression, "_of_block", counted)
    X, y = rng.standard_cauchy(size=(30, 4)) ** 3, rng.integers(3, size=30)
    found = fit_by_blocks(X, y, 3, 1e-6)
    assert found.converged and len(calls) > found.iterations + 1  # some steps took two passes
    np.testing.assert_allclose(found.theta, firal.fit(X, y, 3, 1e-6).theta, atol=1e-8)


def test_every_home_gives_the_same_theta(tmp_path):
    X, y = data(200)
    X = X.astype(np.float32)
    expected = fit_by_blocks(X, y, 3, 0.01).theta
    for name, home in all_homes(X, tmp_path).items():
        assert np.array_equal(fit_by_blocks(home, y, 3, 0.01).theta, expected), name


def test_too_few_steps_are_said():
    X, y = data()
    with pytest.warns(RuntimeWarning, match="fit did not converge in 1 iterations"):
        assert not fit_by_blocks(X, y, 3, 0.01, max_iter=1).converged


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ridge": 0.0}, "ridge must be a finite number > 0"),
        ({"n_classes": 2}, "labels from 0 to 2"),
        ({"n_classes": 600}, "at most 2000 parameters, got 2396"),
        ({"penalty": "none"}, "penalty must be one of"),
        ({"y": np.zeros(3, dtype=int)}, "one label per point"),
    ],
)
def test_bad_input(change, message):
    X, y = data()
    options = {"X": X, "y": y, "n_classes": 3, "ridge": 0.1} | change
    with pytest.raises(ValueError, match=message):
        fit_by_blocks(**options)


def test_bad_numbers_are_named():
    X, y = data()
    X[123, 1] = np.nan
    for run in (lambda: fit_by_blocks(X, y, 3, 0.1), lambda: [*probability_blocks(X, np.eye(4))]):
        with pytest.raises(ValueError, match="got nan in row 123, column 1"):
            run()


def test_progress():
    X, y = data(30)
    calls = []
    fit_by_blocks(X, y, 3, 0.1, report=lambda *call: calls.append(call))
    assert calls[0] == ("fit", 2, 2)


def test_probabilities(tmp_path):
    X, _ = data(300)
    theta = np.random.default_rng(1).normal(size=(2, 4))
    expected = firal.probabilities(X, theta)
    for name, home in all_homes(X, tmp_path).items():
        blocks = list(probability_blocks(home, theta))
        assert all(len(p) <= 17 for p in blocks) and len(blocks) == 18, name
        np.testing.assert_allclose(np.vstack(blocks), expected, rtol=1e-13, err_msg=name)
    with pytest.raises(ValueError, match="theta must have shape"):
        next(probability_blocks(as_home(X), np.ones((2, 3))))


@pytest.mark.parametrize("penalty", ["reference", "symmetric"])
def test_the_minimizer_is_stationary_to_rounding(penalty):
    """The gradient by the model's own formula, and the norm that is returned with the fit."""
    X, y = data()
    A = np.eye(2) if penalty == "reference" else np.eye(2) - 1 / 3
    found = fit_by_blocks(X, y, 3, 0.03, penalty=penalty)
    slope = firal.gradient(X, y, found.theta) + 0.03 * A @ found.theta
    assert np.abs(slope).max() < 1e-9 and found.iterations < 8
    with pytest.warns(RuntimeWarning, match="in 2 iterations: gradient norm"):
        early = fit_by_blocks(X, y, 3, 0.03, penalty=penalty, max_iter=2)
    slope = firal.gradient(X, y, early.theta) + 0.03 * A @ early.theta
    assert early.iterations == 2
    assert early.gradient_norm == pytest.approx(np.linalg.norm(slope), rel=1e-9)
    assert early.gradient_norm > 1e-9


def newton(X, y, c, ridge, steps):
    """Full Newton steps with Hessians that are added up point by point."""
    theta = np.zeros((c - 1, X.shape[1]))
    for _ in range(steps):
        slope = firal.gradient(X, y, theta) + ridge * theta
        H = sum(firal.hessian(x, theta) for x in X) / len(X) + ridge * np.eye(theta.size)
        theta = theta - np.linalg.solve(H, slope.ravel()).reshape(theta.shape)
    return theta


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("ridge", [0.02, 5.0])  # the loss decides how long a step is, or the ridge
def test_every_step_is_that_of_newton(steps, ridge):
    X, y = data(120)
    with pytest.warns(RuntimeWarning, match="fit did not converge"):
        found = fit_by_blocks(X, y, 3, ridge, max_iter=steps, tol=1e-15)
    expected = newton(X, y, 3, ridge, steps)
    np.testing.assert_allclose(found.theta, expected, rtol=1e-10, atol=1e-12)


def test_it_stops_at_the_tolerance_in_the_units_of_the_features():
    """The slope of every column is divided by sqrt(d) times the root of its mean square."""
    X, y = data(120)
    units = np.sqrt(4 * np.mean(X**2, axis=0))
    relative = [
        np.linalg.norm((firal.gradient(X, y, theta) + 0.02 * theta) / units)
        for theta in (newton(X, y, 3, 0.02, steps) for steps in range(4))
    ]
    for steps in (1, 2, 3):
        for tol, iterations in (
            (1.001 * relative[steps], steps),
            (0.999 * relative[steps], steps + 1),
        ):
            assert fit_by_blocks(X, y, 3, 0.02, tol=tol).iterations == iterations
    defaults = inspect.signature(fit_by_blocks).parameters
    assert (defaults["tol"].default, defaults["max_iter"].default) == (1e-8, 100)


def test_the_largest_number_of_parameters(monkeypatch):
    X, y = data(30)
    monkeypatch.setattr(regression, "MEDIUM_SYSTEM", 8)
    assert fit_by_blocks(X, y, 3, 0.1).converged
    monkeypatch.setattr(regression, "MEDIUM_SYSTEM", 7)
    with pytest.raises(ValueError, match="at most 7 parameters, got 8"):
        fit_by_blocks(X, y, 3, 0.1)
