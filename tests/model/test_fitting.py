"""The fit against scikit-learn, a generic minimizer and its own optimality condition."""

import inspect
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from sklearn.linear_model import LogisticRegression

from firal.model import fitting, logistic, newton_system
from firal.model.separation import separating_direction
from firal.theory.designs import draw_labels

seeds = st.integers(0, 2**32 - 1)


def labeled(seed, n, d, c, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    theta = scale * rng.normal(size=(c - 1, d))
    return X, draw_labels(X, theta, rng), theta


@pytest.fixture(params=["factor", "conjugate gradients"])
def solver(request, monkeypatch):
    """Both ways to solve the Newton system, whatever the size."""
    small = 10**6 if request.param == "factor" else 0
    monkeypatch.setattr(newton_system, "SMALL_SYSTEM", small)
    if not small:
        monkeypatch.setattr(newton_system, "MEDIUM_SYSTEM", 0)


@pytest.mark.parametrize("c", [2, 3, 6])
def test_fit_agrees_with_scikit_learn(c, solver):
    X, y, _ = labeled(c, 400, 4, c)
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn 1.5 to 1.9 differ in what they deprecate
        coef = model.fit(X, y).coef_
    theirs = -coef if c == 2 else coef[:-1] - coef[-1]
    ours = fitting.fit(X, y, c)
    assert ours.converged
    np.testing.assert_allclose(ours.theta, theirs, atol=2e-6)


@pytest.mark.parametrize("ridge", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_fit_is_a_stationary_point(ridge, scale, solver):
    X, y, _ = labeled(8, 500, 5, 4, scale)
    fit = fitting.fit(X, y, 4, ridge)
    slope = logistic.gradient(X, y, fit.theta) + ridge * fit.theta
    norm = np.linalg.norm(slope)
    assert fit.converged and 1 <= fit.iterations < 20
    assert norm <= 1e-8 * np.sqrt(np.mean(np.sum(X**2, axis=1)))
    assert fit.gradient_norm == pytest.approx(norm, abs=1e-12)


def test_fit_agrees_with_a_generic_minimizer():
    X, y, _ = labeled(5, 60, 3, 3)

    def objective(v):
        return reference.loss(X, y, v.reshape(2, 3)) + 0.05 / 2 * np.sum(v**2)

    best = optimize.minimize(objective, np.zeros(6), tol=1e-12)
    np.testing.assert_allclose(fitting.fit(X, y, 3, 0.05).theta.ravel(), best.x, atol=1e-5)


def test_saturated_design_of_the_paper(solver):
    """V = 100 I and unit rows: most probabilities are 0 or 1 to many digits."""
    rng = np.random.default_rng(1)
    X = 10 * rng.normal(size=(800, 4))
    y = draw_labels(X, np.eye(3, 4), rng)
    fit = fitting.fit(X, y, 4)
    assert fit.converged
    assert np.linalg.norm(logistic.gradient(X, y, fit.theta)) < 1e-8 * 20


@given(seeds, st.permutations(range(4)))
def test_fit_does_not_depend_on_the_reference_class(seed, order):
    X, y, _ = labeled(seed % 1000, 200, 2, 4, 0.5)
    order = np.array(order)
    full = np.vstack([fitting.fit(X, y, 4).theta, np.zeros(2)])
    renamed = np.vstack([fitting.fit(X, order[y], 4).theta, np.zeros(2)])[order]
    np.testing.assert_allclose(full - full[-1], renamed - renamed[-1], atol=1e-6)


def test_columns_of_very_different_scale():
    X, y, _ = labeled(2, 300, 4, 3, 0.5)
    units = np.array([1e8, 1.0, 1e-7, 1e3])
    plain, scaled = fitting.fit(X, y, 3), fitting.fit(X * units, y, 3)
    assert scaled.converged
    np.testing.assert_allclose(scaled.theta * units, plain.theta, rtol=1e-6)


def test_a_small_column_is_fitted_beside_a_large_one():
    """The large column has no gradient at theta = 0, the small one has."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=100)
    y = (rng.random(100) < 1 / (1 + np.exp(0.2 * z))).astype(int)
    z, y = np.tile(z, 2), np.tile(y, 2)
    X = np.column_stack([np.repeat([1e6, -1e6], 100), 1e-5 * z])
    slope = logistic.gradient(X, y, np.zeros((1, 2)))[0]
    assert abs(slope[0]) < 1e-9 and abs(slope[1]) > 1e-7
    fit = fitting.fit(X, y, 2)
    plain = fitting.fit(z[:, None], y, 2)
    assert fit.theta[0, 1] == pytest.approx(plain.theta[0, 0] * 1e5, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_theta_stays_in_the_row_space(seed, solver):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 5))
    y = rng.integers(0, 3, 80)
    fit = fitting.fit(X, y, 3)
    null = np.linalg.svd(X)[2][3:]
    assert fit.converged
    assert np.abs(fit.theta @ null.T).max() < 1e-12


def test_dependent_columns_give_the_minimizer_of_smallest_norm():
    X, y, _ = labeled(3, 200, 3, 3)
    doubled = np.hstack([X, X[:, :1], np.zeros((200, 1))])
    fit, plain = fitting.fit(doubled, y, 3), fitting.fit(X, y, 3).theta
    assert fit.converged
    expected = np.column_stack([plain[:, 0] / 2, plain[:, 1:], plain[:, 0] / 2, np.zeros(2)])
    np.testing.assert_allclose(fit.theta, expected, atol=1e-7)


def test_more_columns_than_points_with_a_ridge():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 40)), rng.integers(0, 3, 12)
    fit = fitting.fit(X, y, 3, ridge=0.1)
    slope = logistic.gradient(X, y, fit.theta) + 0.1 * fit.theta
    assert fit.converged
    assert np.linalg.norm(slope) < 1e-6


def test_zero_points_have_a_minimizer():
    fit = fitting.fit(np.zeros((4, 2)), [0, 1, 0, 1], 2)
    assert fit.converged
    assert not fit.theta.any()


def test_missing_class_needs_a_ridge():
    X, y, _ = labeled(4, 100, 3, 3)
    fit = fitting.fit(X, y, 5, ridge=1e-3)
    assert fit.converged
    assert fit.theta.shape == (4, 3)
    with pytest.raises(ValueError, match="no label of class 3, 4 .* ridge > 0"):
        fitting.fit(X, y, 5)


def test_too_few_iterations_warn():
    X, y, _ = labeled(6, 200, 3, 3, 3.0)
    with pytest.warns(RuntimeWarning, match="did not converge in 2 iterations"):
        fit = fitting.fit(X, y, 3, max_iter=2)
    assert not fit.converged


def test_fit_of_float32_points_works_in_float64():
    X, y, _ = labeled(9, 200, 3, 3)
    single = X.astype(np.float32)
    fit = fitting.fit(single, y, 3)
    assert fit.theta.dtype == np.float64
    np.testing.assert_allclose(fit.theta, fitting.fit(single.astype(float), y, 3).theta)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_long_steps_are_shortened_until_the_loss_decreases(ridge):
    X, y, theta = labeled(7, 100, 3, 3)
    value = logistic.loss(X, y, theta) + ridge / 2 * np.sum(theta**2)
    slope = logistic.gradient(X, y, theta) + ridge * theta
    step = -1000 * slope
    descent = np.sum(slope * step)
    system = newton_system.NewtonSystem(X, ridge, *newton_system.row_space(X))
    found, new_value, *_ = fitting._backtrack(system, y, theta, step, value, descent, 0.0)
    length = np.linalg.norm(found - theta) / np.linalg.norm(step)
    assert 0 < length < 1 and new_value < value
    assert new_value == pytest.approx(
        logistic.loss(X, y, found) + ridge / 2 * np.sum(found**2), rel=1e-12
    )


def test_no_steps_in_the_noise_towards_a_minimizer_beyond_rounding():
    """It exists, but long before it the loss is minimal to rounding: not reached, and said so."""
    rng = np.random.default_rng(1225)
    rng.integers(2, 5), rng.integers(3, 6), rng.integers(15, 60)  # as when this seed was found
    X = 5 * rng.standard_normal((35, 3)) + 5 * rng.standard_normal(3)
    p = logistic.softmax(X, rng.standard_normal((3, 3)))
    y = (rng.random((35, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    assert separating_direction(X, y, 4) is None
    with pytest.warns(RuntimeWarning, match="larger ridge"):
        found = fitting.fit(X, y, 4)
    assert not found.converged and found.iterations < 45 and found.gradient_norm < 1e-12


X3, Y3 = np.ones((4, 3)), [0, 1, 2, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fitting.fit(X3, Y3, 1), "n_classes must be an integer >= 2, got 1"),
        (lambda: fitting.fit(X3, Y3, 2.0), "n_classes must be an integer >= 2, got 2.0"),
        (lambda: fitting.fit(X3, Y3, 2), "y must hold labels 0..1"),
        (lambda: fitting.fit(X3, Y3, 3, ridge=-1), "ridge must be a finite number >= 0, got -1"),
        (lambda: fitting.fit(X3, Y3, 3, ridge=np.nan), "ridge must be a finite number"),
        (lambda: fitting.fit(X3, Y3, 3, tol=0), "tol must be a finite number > 0, got 0"),
        (lambda: fitting.fit(X3, Y3, 3, max_iter=0), "max_iter must be an integer >= 1, got 0"),
        (lambda: fitting.fit(X3 * np.nan, Y3, 3), "X must be finite, got 12 NaN"),
        (lambda: fitting.fit(X3 * 1e60, Y3, 3, 1.0), "X must be at most 1e[+]50 in size"),
        (lambda: fitting.fit(np.ma.masked_equal(X3, 1), Y3, 3), "no masked entries, got 12"),
        (lambda: fitting.fit(X3, Y3, 3, ridge="1"), "ridge must be a finite number >= 0, got '1'"),
        (lambda: fitting.fit(X3, Y3, 3, ridge=True), "ridge must be a finite number >= 0, got T"),
        (lambda: fitting.fit(X3, Y3, 3, max_iter=True), "max_iter must be an integer >= 1, got T"),
        (lambda: fitting.fit(X3, Y3, "3"), "n_classes must be an integer >= 2, got '3'"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("c", [2, 3, 5])
def test_the_symmetric_penalty_is_that_of_centered_rows(c):
    """t^T S t is the squared distance of c rows, the last one zero, from their mean."""
    t = np.random.default_rng(c).normal(size=c - 1)
    rows = np.append(t, 0.0)
    S = fitting.symmetric_penalty(c)
    assert S.shape == (c - 1, c - 1)
    assert t @ S @ t == pytest.approx(np.sum((rows - rows.mean()) ** 2), rel=1e-13)


def test_a_column_of_zeros_changes_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    padded = np.insert(X, 1, 0.0, axis=1)
    for ridge in (0.0, 0.1):
        expected, found = fitting.fit(X, y, 3, ridge), fitting.fit(padded, y, 3, ridge)
        assert np.allclose(found.theta[:, [0, 2]], expected.theta, rtol=1e-10, atol=1e-12)
        assert not found.theta[:, 1].any() and found.iterations == expected.iterations


def test_the_number_of_iterations_is_kept():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    needed = fitting.fit(X, y, 3, 0.01).iterations
    assert needed >= 2 and fitting.fit(X, y, 3, 0.01, max_iter=needed).converged
    with pytest.warns(RuntimeWarning):
        stopped = fitting.fit(X, y, 3, 0.01, max_iter=needed - 1)
    assert not stopped.converged and stopped.iterations == needed - 1


@pytest.mark.parametrize("ridge", [1e-3, 0.2])
def test_a_fit_with_the_symmetric_penalty_is_stationary(ridge):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 4, 40)
    theta = fitting.fit(X, y, 4, ridge, penalty="symmetric").theta
    slope = logistic.gradient(X, y, theta) + ridge * fitting.symmetric_penalty(4) @ theta
    assert np.abs(slope).max() < 1e-8
    other = fitting.fit(X, y, 4, ridge).theta
    assert np.abs(logistic.gradient(X, y, other) + ridge * other).max() < 1e-8


def test_separable_labels_with_a_ridge_and_too_few_iterations_only_warn():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    with pytest.warns(RuntimeWarning):
        assert not fitting.fit(X, y, 2, 0.01, max_iter=1).converged


def test_documented_defaults():
    parameters = inspect.signature(fitting.fit).parameters
    assert parameters["tol"].default == 1e-8 and parameters["max_iter"].default == 100


def test_a_step_is_taken_whole_or_halved_as_often_as_needed():
    rng = np.random.default_rng(3)
    X, y, ridge = rng.normal(size=(40, 2)), rng.integers(0, 3, 40), 0.1
    theta = rng.normal(size=(2, 2))

    def penalized(at):
        return logistic.loss(X, y, at) + ridge / 2 * np.sum(at**2)

    slope = logistic.gradient(X, y, theta) + ridge * theta
    system = SimpleNamespace(X=X, ridge=ridge, penalize=lambda at: at)
    value, lengths = penalized(theta), []
    for factor in (1.0, 30.0, 300.0):
        step = -factor * slope
        descent = np.sum(slope * step)
        length = 1.0
        while penalized(theta + length * step) > value + 1e-4 * length * descent:
            length /= 2
        found = fitting._backtrack(system, y, theta, step, value, descent, 1e-14)
        np.testing.assert_allclose(found[0], theta + length * step, rtol=1e-14)
        assert found[1] == pytest.approx(penalized(found[0]), rel=1e-13)
        lengths.append(length)
    assert lengths[0] == 1 and lengths[1] < 1 and lengths[2] < lengths[1]
