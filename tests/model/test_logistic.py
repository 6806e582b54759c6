"""The model against its definition and finite differences; the fit against scikit-learn."""

import warnings

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize
from sklearn.linear_model import LogisticRegression

from firal.model import logistic
from firal.model.separation import separating_direction
from firal.theory.designs import draw_labels

seeds = st.integers(0, 2**32 - 1)


def labeled(seed, n, d, c, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    theta = scale * rng.normal(size=(c - 1, d))
    return X, draw_labels(X, theta, rng), theta


# --- the model ---------------------------------------------------------------------------------


@given(seeds, st.integers(1, 4), st.integers(2, 6))
def test_probabilities_by_definition(seed, d, c):
    X, _, theta = labeled(seed, 5, d, c)
    expected = [reference.probabilities(x, theta) for x in X]
    np.testing.assert_allclose(logistic.probabilities(X, theta), expected, rtol=1e-12)


@given(hnp.arrays(float, (4, 3), elements=st.floats(-1000, 1000)))
def test_probabilities_with_huge_logits(theta):
    X = np.array([[1.0, 0, 0], [0, -1, 0], [1, 1, -1]])
    with np.errstate(all="raise", under="ignore"):
        p = logistic.probabilities(X, theta)
        values = [logistic.loss(X, [k] * 3, theta) for k in range(5)]
        slope = logistic.gradient(X, [0, 2, 4], theta)
    assert np.isfinite(p).all() and (p >= 0).all() and (p <= 1).all()
    assert np.abs(p.sum(axis=1) - 1).max() <= 1e-12
    assert np.isfinite(values).all() and min(values) >= 0
    assert np.isfinite(slope).all()


def test_loss_of_huge_logits_is_linear():
    X = np.array([[1.0]])
    assert logistic.loss(X, [1], [[1000.0]]) == 1000
    assert logistic.loss(X, [0], [[1000.0]]) == 0
    assert logistic.loss(X, [0], [[-1000.0]]) == 1000


@given(seeds, st.integers(1, 3), st.integers(2, 4))
def test_gradient_and_hessian_by_differences(seed, d, c):
    X, y, theta = labeled(seed, 6, d, c)
    assert logistic.loss(X, y, theta) == pytest.approx(reference.loss(X, y, theta), rel=1e-12)
    slope = reference.numerical_gradient(lambda t: reference.loss(X, y, t), theta)
    np.testing.assert_allclose(logistic.gradient(X, y, theta), slope, atol=1e-8)
    H = logistic.hessian(X[0], theta)
    for row, index in enumerate(np.ndindex(theta.shape)):
        column = reference.numerical_gradient(
            lambda t, index=index: logistic.gradient(X[:1], y[:1], t)[index], theta
        )
        np.testing.assert_allclose(H[row], column.ravel(), atol=1e-8)


@given(seeds, st.integers(1, 3), st.integers(2, 4))
def test_score_has_mean_zero_and_covariance_hessian(seed, d, c):
    X, _, theta = labeled(seed, 1, d, c)
    p = logistic.probabilities(X, theta)[0]
    scores = [logistic.gradient(X, [y], theta).ravel() for y in range(c)]
    np.testing.assert_allclose(p @ np.array(scores), 0, atol=1e-12)
    covariance = sum(p[y] * np.outer(scores[y], scores[y]) for y in range(c))
    np.testing.assert_allclose(logistic.hessian(X[0], theta), covariance, atol=1e-12)


def test_float32_probabilities_stay_float32():
    X, _, theta = labeled(0, 5, 3, 4)
    p = logistic.probabilities(X.astype(np.float32), theta)
    assert p.dtype == np.float32
    np.testing.assert_allclose(p, logistic.probabilities(X, theta), atol=1e-6)


# --- the fit -----------------------------------------------------------------------------------


@pytest.fixture(params=["factor", "conjugate gradients"])
def solver(request, monkeypatch):
    """Both ways to solve the Newton system, whatever the size."""
    small = 10**6 if request.param == "factor" else 0
    monkeypatch.setattr(logistic, "SMALL_SYSTEM", small)
    if not small:
        monkeypatch.setattr(logistic, "MEDIUM_SYSTEM", 0)


@pytest.mark.parametrize("c", [2, 3, 6])
def test_fit_agrees_with_scikit_learn(c, solver):
    X, y, _ = labeled(c, 400, 4, c)
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn 1.5 to 1.9 differ in what they deprecate
        coef = model.fit(X, y).coef_
    theirs = -coef if c == 2 else coef[:-1] - coef[-1]
    ours = logistic.fit(X, y, c)
    assert ours.converged
    np.testing.assert_allclose(ours.theta, theirs, atol=2e-6)


@pytest.mark.parametrize("ridge", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_fit_is_a_stationary_point(ridge, scale, solver):
    X, y, _ = labeled(8, 500, 5, 4, scale)
    fit = logistic.fit(X, y, 4, ridge)
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
    np.testing.assert_allclose(logistic.fit(X, y, 3, 0.05).theta.ravel(), best.x, atol=1e-5)


def test_saturated_design_of_the_paper(solver):
    """V = 100 I and unit rows: most probabilities are 0 or 1 to many digits."""
    rng = np.random.default_rng(1)
    X = 10 * rng.normal(size=(800, 4))
    y = draw_labels(X, np.eye(3, 4), rng)
    fit = logistic.fit(X, y, 4)
    assert fit.converged
    assert np.linalg.norm(logistic.gradient(X, y, fit.theta)) < 1e-8 * 20


@given(seeds, st.permutations(range(4)))
def test_fit_does_not_depend_on_the_reference_class(seed, order):
    X, y, _ = labeled(seed % 1000, 200, 2, 4, 0.5)
    order = np.array(order)
    full = np.vstack([logistic.fit(X, y, 4).theta, np.zeros(2)])
    renamed = np.vstack([logistic.fit(X, order[y], 4).theta, np.zeros(2)])[order]
    np.testing.assert_allclose(full - full[-1], renamed - renamed[-1], atol=1e-6)


def test_columns_of_very_different_scale():
    X, y, _ = labeled(2, 300, 4, 3, 0.5)
    units = np.array([1e8, 1.0, 1e-7, 1e3])
    plain, scaled = logistic.fit(X, y, 3), logistic.fit(X * units, y, 3)
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
    fit = logistic.fit(X, y, 2)
    plain = logistic.fit(z[:, None], y, 2)
    assert fit.theta[0, 1] == pytest.approx(plain.theta[0, 0] * 1e5, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_theta_stays_in_the_row_space(seed, solver):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 5))
    y = rng.integers(0, 3, 80)
    fit = logistic.fit(X, y, 3)
    null = np.linalg.svd(X)[2][3:]
    assert fit.converged
    assert np.abs(fit.theta @ null.T).max() < 1e-12


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_preconditioner_is_exact_at_zero(ridge, monkeypatch):
    """One iteration of conjugate gradients solves the Newton system at theta = 0."""
    monkeypatch.setattr(logistic, "MAX_CG", 1)
    X, y, theta = labeled(1, 100, 3, 4)
    value, h, residual, _ = logistic._loss_and_residual(X, y, 0 * theta)
    slope = residual @ X / 100
    step, solved = logistic._conjugate_gradients(
        X, h, slope, ridge, *logistic._row_space(X), relative=1e-16
    )
    H = sum(reference.hessian(x, 0 * theta) for x in X) / 100 + ridge * np.eye(9)
    assert solved
    np.testing.assert_allclose(H @ step.ravel(), -slope.ravel(), atol=1e-12)


def test_dependent_columns_give_the_minimizer_of_smallest_norm():
    X, y, _ = labeled(3, 200, 3, 3)
    doubled = np.hstack([X, X[:, :1], np.zeros((200, 1))])
    fit, plain = logistic.fit(doubled, y, 3), logistic.fit(X, y, 3).theta
    assert fit.converged
    expected = np.column_stack([plain[:, 0] / 2, plain[:, 1:], plain[:, 0] / 2, np.zeros(2)])
    np.testing.assert_allclose(fit.theta, expected, atol=1e-7)


def test_more_columns_than_points_with_a_ridge():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 40)), rng.integers(0, 3, 12)
    fit = logistic.fit(X, y, 3, ridge=0.1)
    slope = logistic.gradient(X, y, fit.theta) + 0.1 * fit.theta
    assert fit.converged
    assert np.linalg.norm(slope) < 1e-6


def test_zero_points_have_a_minimizer():
    fit = logistic.fit(np.zeros((4, 2)), [0, 1, 0, 1], 2)
    assert fit.converged
    assert not fit.theta.any()


def test_missing_class_needs_a_ridge():
    X, y, _ = labeled(4, 100, 3, 3)
    fit = logistic.fit(X, y, 5, ridge=1e-3)
    assert fit.converged
    assert fit.theta.shape == (4, 3)
    with pytest.raises(ValueError, match="no label of class 3, 4 .* ridge > 0"):
        logistic.fit(X, y, 5)


def test_too_few_iterations_warn():
    X, y, _ = labeled(6, 200, 3, 3, 3.0)
    with pytest.warns(RuntimeWarning, match="did not converge in 2 iterations"):
        fit = logistic.fit(X, y, 3, max_iter=2)
    assert not fit.converged


def test_fit_of_float32_points_works_in_float64():
    X, y, _ = labeled(9, 200, 3, 3)
    single = X.astype(np.float32)
    fit = logistic.fit(single, y, 3)
    assert fit.theta.dtype == np.float64
    np.testing.assert_allclose(fit.theta, logistic.fit(single.astype(float), y, 3).theta)


def test_no_steps_in_the_noise_towards_a_minimizer_beyond_rounding():
    """It exists, but long before it the loss is minimal to rounding: not reached, and said so."""
    rng = np.random.default_rng(1225)
    rng.integers(2, 5), rng.integers(3, 6), rng.integers(15, 60)  # as when this seed was found
    X = 5 * rng.standard_normal((35, 3)) + 5 * rng.standard_normal(3)
    p = logistic.softmax(X, rng.standard_normal((3, 3)))
    y = (rng.random((35, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    assert separating_direction(X, y, 4) is None
    with pytest.warns(RuntimeWarning, match="larger ridge"):
        found = logistic.fit(X, y, 4)
    assert not found.converged and found.iterations < 45 and found.gradient_norm < 1e-12


X3, Y3, T23 = np.ones((4, 3)), [0, 1, 2, 0], np.ones((2, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: logistic.probabilities(np.ones(3), T23), r"X must have shape \(n, d\)"),
        (lambda: logistic.probabilities(np.ones((0, 3)), T23), r"n, d >= 1, got shape \(0, 3\)"),
        (lambda: logistic.probabilities(X3, np.ones((2, 2))), r"theta must have shape \(c-1, d\)"),
        (lambda: logistic.probabilities(X3, np.full((2, 3), np.inf)), "theta must be finite"),
        (lambda: logistic.loss(X3, [0, 1], T23), r"y must have shape \(4,\).*\(2,\)"),
        (lambda: logistic.loss(X3, [0, 1, 2, 3], T23), r"labels 0..2 .* from 0 to 3"),
        (lambda: logistic.gradient(X3, [-1, 1, 2, 0], T23), "from -1 to 2"),
        (lambda: logistic.gradient(X3, [0.5, 1, 2, 0], T23), "y must hold integers 0..2"),
        (lambda: logistic.gradient(X3, ["a"] * 4, T23), "y must hold integers"),
        (lambda: logistic.hessian(X3, T23), r"x must be one point of shape \(d,\)"),
        (lambda: logistic.fit(X3, Y3, 1), "n_classes must be an integer >= 2, got 1"),
        (lambda: logistic.fit(X3, Y3, 2.0), "n_classes must be an integer >= 2, got 2.0"),
        (lambda: logistic.fit(X3, Y3, 2), "y must hold labels 0..1"),
        (lambda: logistic.fit(X3, Y3, 3, ridge=-1), "ridge must be a finite number >= 0, got -1"),
        (lambda: logistic.fit(X3, Y3, 3, ridge=np.nan), "ridge must be a finite number"),
        (lambda: logistic.fit(X3, Y3, 3, tol=0), "tol must be a finite number > 0, got 0"),
        (lambda: logistic.fit(X3, Y3, 3, max_iter=0), "max_iter must be an integer >= 1, got 0"),
        (lambda: logistic.fit(X3 * np.nan, Y3, 3), "X must be finite, got 12 NaN"),
        (lambda: logistic.fit(X3 * 1e60, Y3, 3, 1.0), "X must be at most 1e[+]50 in size"),
        (lambda: logistic.fit(np.ma.masked_equal(X3, 1), Y3, 3), "no masked entries, got 12"),
        (lambda: logistic.fit(X3, Y3, 3, ridge="1"), "ridge must be a finite number >= 0, got '1'"),
        (lambda: logistic.fit(X3, Y3, 3, ridge=True), "ridge must be a finite number >= 0, got T"),
        (lambda: logistic.fit(X3, Y3, 3, max_iter=True), "max_iter must be an integer >= 1, got T"),
        (lambda: logistic.fit(X3, Y3, "3"), "n_classes must be an integer >= 2, got '3'"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
