"""The estimator: scikit-learn's own checks, and the same picks as next_batch."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import firal
from firal.engine.scaling import model_features

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["red", "white", "rose"])[Y]


@parametrize_with_checks([firal.ActiveLearner()])
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


def test_the_model_is_scikit_learn_s_regression_on_scaled_columns():
    learner = firal.ActiveLearner().fit(X[::3], NAMES[::3])
    Z = model_features(X[::3], robust=True)
    C = 1 / (len(Z) * 0.01)
    model = LogisticRegression(C=C, fit_intercept=False, max_iter=10_000, tol=1e-10)
    model.fit(Z, NAMES[::3])
    assert learner.classes_.tolist() == ["red", "rose", "white"]
    np.testing.assert_allclose(
        learner.predict_proba(X[::3]), model.predict_proba(Z), rtol=1e-4, atol=1e-6
    )
    assert np.array_equal(learner.predict(X[::3]), model.predict(Z))


def test_queries_are_those_of_next_batch():
    learner, rest = firal.ActiveLearner(pca=5, random_state=3), np.arange(178)
    known = np.empty(0, dtype=int)
    for _ in range(3):
        rows = learner.query(X[rest], 6)
        table = np.concatenate([known, rest])
        want = firal.next_batch(X[table], dict(enumerate(NAMES[known])), 6, pca=5, rng=3)
        assert table[want.rows].tolist() == rest[rows].tolist()
        assert learner.batch_.selection.ratio >= 1
        learner.teach(X[rest[rows]], NAMES[rest[rows]])
        known, rest = np.concatenate([known, rest[rows]]), np.delete(rest, rows)
    assert learner.score(X[rest], NAMES[rest]) > 0.85
    one = learner.query(X[rest], 5)
    two = learner.query(X[rest], 5, pending=one)
    assert not set(one) & set(two)


def test_in_pipelines_and_searches():
    steps = make_pipeline(StandardScaler(), PolynomialFeatures(2), firal.ActiveLearner(pca=8))
    assert steps.fit(X[::2], NAMES[::2]).score(X[1::2], NAMES[1::2]) > 0.85
    search = GridSearchCV(firal.ActiveLearner(), {"ridge": [1e-3, 1e-1]}, cv=3)
    assert search.fit(X, NAMES).best_score_ > 0.9
    assert clone(search.best_estimator_).get_params()["ridge"] in (1e-3, 1e-1)


def test_frames_and_what_is_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"f{k}" for k in range(13)])
    learner = firal.ActiveLearner()
    with pytest.raises(NotFittedError):
        learner.predict(X)
    rows = learner.query(frame, 9)
    learner.teach(frame.iloc[rows], NAMES[rows])
    assert learner.feature_names_in_.tolist() == list(frame)
    with pytest.raises(ValueError, match="feature names"):
        learner.query(frame[frame.columns[::-1]], 2)
    with pytest.raises(ValueError, match="budget must be at most 178"):
        learner.query(frame, 179)
    with pytest.raises(ValueError, match="13 features"):
        learner.teach(X[:, :3], NAMES)


@pytest.mark.parametrize("names", [("nan", "red", "white"), ("", "a", "b"), ("1", "1.0", "01")])
def test_any_text_may_name_a_class(names):
    """next_batch would take these for no label, or for one class: the picks are as for a, b, c."""
    learner = firal.ActiveLearner().fit(X[::10], np.array(names)[Y[::10]])
    rows = learner.query(X[5:], 6)
    assert learner.batch_.classes == tuple(sorted(names)) == tuple(learner.classes_)
    order = np.argsort(np.argsort(names))
    plain = firal.ActiveLearner().fit(X[::10], np.array(["a", "b", "c"])[order][Y[::10]])
    assert rows.tolist() == plain.query(X[5:], 6).tolist() and rows.min() >= 0


def test_pending_are_rows_of_the_pool():
    learner = firal.ActiveLearner().fit(X[::10], NAMES[::10])
    for wrong in ([-1], [178], np.arange(178) < 3, [0.5]):
        with pytest.raises(ValueError, match="pending must be distinct rows in 0..177"):
            learner.query(X, 3, pending=wrong)


def test_one_class_is_no_error():
    learner = firal.ActiveLearner().fit(X[:5], ["red"] * 5)
    assert learner.predict(X[:3]).tolist() == ["red"] * 3
    assert learner.predict_proba(X[:3]).tolist() == [[1.0]] * 3
    assert len(learner.query(X[5:], 4)) == 4
