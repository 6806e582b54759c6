"""theta from scikit-learn: the same probabilities, and clear refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import firal
from firal.interop import theta_from_sklearn


def with_ones(X, theta):
    return np.column_stack([X, np.ones((len(X), theta.shape[1] - X.shape[1]))])


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    c=st.integers(2, 5),
    d=st.integers(1, 4),
    intercept=st.booleans(),
    strings=st.booleans(),
)
def test_probabilities_are_those_of_the_model(seed, c, d, intercept, strings):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, d))
    y = np.concatenate([np.arange(c), rng.integers(c, size=40 - c)])
    y = np.array(list("zebra"))[y] if strings else y - 1
    model = LogisticRegression(fit_intercept=intercept, C=10.0).fit(X, y)
    theta = theta_from_sklearn(model)
    assert theta.shape == (c - 1, d + intercept)
    got = firal.probabilities(with_ones(X, theta), theta)
    assert np.allclose(got, model.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_fit_is_ours(intercept):
    """With C = 1 / (n ridge) both solve one problem, but for how the last class is penalized."""
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (y == 2).astype(int)
    ridge, n = 1e-2, len(X)
    model = LogisticRegression(C=1 / (n * ridge), fit_intercept=intercept, tol=1e-10).fit(X, y)
    theta = theta_from_sklearn(model)
    if intercept:  # firal penalizes every column: compare the gradient of the penalized problem
        slope = firal.gradient(with_ones(X, theta), y, theta)
        slope[:, :-1] += ridge * theta[:, :-1]
        assert np.abs(slope).max() < 1e-5
    else:
        assert np.allclose(theta, firal.fit(X, y, 2, ridge).theta, atol=1e-5)


def test_refusals():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="without coef_: is it fitted"):
        theta_from_sklearn(LogisticRegression())
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="got Pipeline .*pass its last step"):
        theta_from_sklearn(pipeline)
    with pytest.raises(ValueError, match="RidgeClassifier without predict_proba"):
        theta_from_sklearn(RidgeClassifier().fit(X, y))
    with pytest.raises(ValueError, match="OneVsRestClassifier without coef_"):
        theta_from_sklearn(OneVsRestClassifier(LogisticRegression()).fit(X, y))


def test_one_vs_rest_probabilities_are_refused():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)

    class OneVsRest:
        coef_, intercept_, classes_ = model.coef_, model.intercept_, model.classes_

        def predict_proba(self, X):
            p = 1 / (1 + np.exp(-(X @ model.coef_.T + model.intercept_)))
            return p / p.sum(axis=1, keepdims=True)

    with pytest.raises(ValueError, match="predict_proba differs: one-vs-rest"):
        theta_from_sklearn(OneVsRest())
