"""The model against its definition and finite differences."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from firal.model import logistic

seeds = st.integers(0, 2**32 - 1)


def instance(seed, n, d, c):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(c, size=n), rng.normal(size=(c - 1, d))


@given(seeds, st.integers(1, 4), st.integers(2, 6))
def test_probabilities_by_definition(seed, d, c):
    X, _, theta = instance(seed, 5, d, c)
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
    X, y, theta = instance(seed, 6, d, c)
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
    X, _, theta = instance(seed, 1, d, c)
    p = logistic.probabilities(X, theta)[0]
    scores = [logistic.gradient(X, [y], theta).ravel() for y in range(c)]
    np.testing.assert_allclose(p @ np.array(scores), 0, atol=1e-12)
    covariance = sum(p[y] * np.outer(scores[y], scores[y]) for y in range(c))
    np.testing.assert_allclose(logistic.hessian(X[0], theta), covariance, atol=1e-12)


def test_float32_probabilities_stay_float32():
    X, _, theta = instance(0, 5, 3, 4)
    p = logistic.probabilities(X.astype(np.float32), theta)
    assert p.dtype == np.float32
    np.testing.assert_allclose(p, logistic.probabilities(X, theta), atol=1e-6)


X3, T23 = np.ones((4, 3)), np.ones((2, 3))


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
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
