"""theta from scikit-learn: the same probabilities, and clear refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import firal
from firal.model.from_sklearn import theta_from_sklearn


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


@pytest.mark.parametrize(
    "model", [LogisticRegression(), GridSearchCV(LogisticRegression(), {"C": [1.0]})]
)
def test_a_model_that_is_not_fitted_is_refused(model):
    with pytest.raises(ValueError, match="without (coef_|classes_): it is not fitted"):
        theta_from_sklearn(model)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            make_pipeline(StandardScaler(), LogisticRegression()),
            "got Pipeline without coef_: pass its last step",
        ),
        (
            GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}),
            "got GridSearchCV without coef_: pass its best_estimator_",
        ),
        (
            OneVsRestClassifier(LogisticRegression()),
            "got OneVsRestClassifier without coef_: fit a sklearn.linear_model.LogisticRegression",
        ),
        (
            RidgeClassifier(),
            "got RidgeClassifier without predict_proba: fit a sklearn.linear_model.LogisticR",
        ),
    ],
)
def test_refusals_say_what_to_pass(model, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        theta_from_sklearn(model.fit(X[:, :2] / 5, y))


def test_something_that_is_no_model_is_refused():
    with pytest.raises(ValueError, match="got ndarray without coef_: fit a sklearn.linear_model.L"):
        theta_from_sklearn(np.ones((2, 3)))


def test_the_best_estimator_of_a_search_is_accepted():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}).fit(X[:, :2] / 5, y)
    theta = theta_from_sklearn(search.best_estimator_)
    got = firal.probabilities(with_ones(X[:, :2] / 5, theta), theta)
    assert np.allclose(got, search.predict_proba(X[:, :2] / 5))


class OneVsRest:
    """Independent probabilities of the classes, divided by their sum."""

    def __init__(self, weights, intercept):
        self.coef_, self.intercept_ = np.array(weights, float), np.array(intercept, float)
        self.classes_ = np.arange(len(self.coef_))

    def predict_proba(self, X):
        p = expit(X @ self.coef_.T + self.intercept_)
        return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("weights", "intercept"),
    [
        ([[1, 2], [0, -1], [3, 1]], [0, 1, 2]),
        ([[1], [0], [0]], [-100, -30, -30.5]),  # differs in small probabilities only
        ([[1], [-1], [0]], [-40, -40, -35]),  # no point has three moderate scores
        (np.eye(3), [-500, -500, -500]),  # few points have two moderate scores
        (np.zeros((3, 2)), [0, 1, 2]),
    ],
)
def test_one_vs_rest_probabilities_are_refused(weights, intercept):
    with pytest.raises(ValueError, match="predict_proba differs: one-vs-rest"):
        theta_from_sklearn(OneVsRest(weights, intercept))


def wines():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("rows", [[0, 1, 70, 71, 140, 150], range(178)])
@pytest.mark.parametrize("columns", [1, 13])
def test_one_vs_rest_with_large_intercepts_is_refused(seed, rows, columns):
    X, y = wines()
    X, y = X[list(rows), :columns], y[list(rows)].astype(str)
    model = SGDClassifier(loss="log_loss", alpha=1e-4, random_state=seed).fit(X, y)
    with pytest.raises(ValueError, match="got SGDClassifier whose predict_proba differs"):
        theta_from_sklearn(model)


@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("columns", [1, 13])
def test_softmax_with_large_intercepts_is_accepted(shift, columns):
    X, y = wines()
    X = X[:, :columns] + shift
    rows = [0, 1, 70, 71, 140, 150]
    model = LogisticRegression(C=1e6, max_iter=1000).fit(X[rows], y[rows])
    theta = theta_from_sklearn(model)
    got = firal.probabilities(with_ones(X, theta), theta)
    assert np.allclose(got, model.predict_proba(X), atol=1e-9)
    model.intercept_ = np.array([1e4, -1e4, 3.0])
    assert np.array_equal(theta_from_sklearn(model)[:, :-1], theta[:, :-1])
    model.coef_ = np.zeros_like(model.coef_)
    assert not theta_from_sklearn(model)[:, :-1].any()


class Bare:
    """The least that is asked for: nothing says whether there is an intercept."""

    coef_, intercept_ = np.array([[1.0, -2.0], [0.5, 0.0], [0.0, 1.0]]), np.array([0.3, -0.1, 0.0])
    classes_ = np.arange(3)

    def predict_proba(self, X):
        scores = np.exp(X @ self.coef_.T + self.intercept_)
        return scores / scores.sum(axis=1, keepdims=True)


def test_an_intercept_is_expected_unless_the_model_denies_it():
    theta = theta_from_sklearn(Bare())
    assert theta.tolist() == [[1.0, -3.0, 0.3], [0.5, -1.0, -0.1]]
    without = Bare()
    without.fit_intercept, without.intercept_ = False, np.zeros(3)
    assert theta_from_sklearn(without).tolist() == [[1.0, -3.0], [0.5, -1.0]]


@pytest.mark.parametrize(("factor", "same"), [(1 + 5e-7, True), (1 + 2e-6, False)])
def test_how_close_probabilities_must_be(factor, same):
    class Other(Bare):
        def predict_proba(self, X):
            return super().predict_proba(X) * [factor, 1, 1]

    if same:
        theta_from_sklearn(Other())
    else:
        with pytest.raises(ValueError, match="Other whose predict_proba differs: one-vs-rest"):
            theta_from_sklearn(Other())
