"""Tables that must agree, and parameters with a row too many: refused with what to pass."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import firal
from firal.common.own_theta import own_theta
from firal.common.rounds import optional_rows, round_generator, same_columns

X, Y = load_iris(return_X_y=True)


def test_frames_with_other_columns_are_refused():
    pandas = pytest.importorskip("pandas")
    pool = pandas.DataFrame(X[10:], columns=list("abcd"))
    labeled = pandas.DataFrame(X[:10], columns=list("abcd"))
    theta = np.random.default_rng(0).normal(size=(2, 4))
    want = firal.select(X[10:], X[:10], theta, 3).indices
    assert np.array_equal(firal.select(pool, labeled, theta, 3).indices, want)
    ones = firal.STRATEGIES["firal-ridge"]
    for other in (labeled[list("bacd")], labeled.rename(columns={"a": "x"})):
        message = r"labeled must have the columns of pool in their order, .*: pass labeled\[pool.c"
        for call in (
            lambda t: firal.select(pool, t, theta, 3),
            lambda t: firal.select(pool, t, theta, 3, ridge=0.1, structure="block-diagonal"),
            lambda t: firal.relax(pool, t, theta, 3),
            lambda t: firal.bait(pool, t, theta, 3),
            lambda t: ones(pool, t, theta, 3, np.random.default_rng(0)),
        ):
            with pytest.raises(ValueError, match=message):
                call(other)
    assert np.array_equal(firal.select(pool, labeled.to_numpy(), theta, 3).indices, want)
    same_columns(X, pool)


def test_candidates_of_scikit_activeml_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    skactiveml = pytest.importorskip("firal.skactiveml", exc_type=ImportError)
    from skactiveml.classifier import ParzenWindowClassifier

    frame = pandas.DataFrame(X, columns=list("abcd"))
    y = np.full(len(X), np.nan)
    with pytest.raises(ValueError, match="candidates must have the columns of X"):
        skactiveml.FIRAL().query(
            frame, y, ParzenWindowClassifier(classes=[0, 1, 2]), candidates=frame[list("dcba")]
        )


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "saga"])
def test_coefficients_of_scikit_learn_have_a_row_too_many(solver):
    """Read as c - 1 rows they would describe four classes."""
    model = LogisticRegression(solver=solver, fit_intercept=False, max_iter=5000).fit(X, Y)
    message = r"must have c-1 rows, .* got 3 rows, .*: pass theta\[:-1\] - theta\[-1\]"
    with pytest.raises(ValueError, match=message):
        firal.select(X, None, model.coef_, 5)
    for name in ("firal", "firal-ridge", "bait", "entropy"):
        with pytest.raises(ValueError, match=message):
            firal.STRATEGIES[name](X, None, model.coef_, 5, np.random.default_rng(0))
    theta = model.coef_[:-1] - model.coef_[-1]  # the remedy is right
    assert np.allclose(firal.probabilities(X, theta), model.predict_proba(X))


def test_the_weight_of_a_layer_is_refused_with_the_remedy():
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(4, 3)
    with pytest.raises(ValueError, match="is the weight of a layer"):
        firal.select(X, None, layer.weight, 5)


def test_other_parameters_pass():
    rng = np.random.default_rng(0)
    for theta in (np.zeros((3, 4)), rng.normal(size=(3, 4)), np.array([[1.0, 0], [-1, 0]])):
        assert firal.probabilities(X[:, : theta.shape[1]], theta).shape == (150, len(theta) + 1)


CENTER = np.array([[2.0, 0], [-1, np.sqrt(3)], [-1, -np.sqrt(3)]])  # theta of a class at 0


def test_a_class_in_the_center_of_the_others_is_a_model_like_any_other():
    points, y = X[:, :2] - X[:, :2].mean(axis=0), np.arange(150) % 4
    assert abs(CENTER.sum(axis=0)).max() < 1e-15
    assert firal.probabilities(points, CENTER).shape == (150, 4)
    assert firal.information(points, CENTER).shape == (6, 6)
    assert firal.loss(points, y, CENTER) > 0 and firal.hessian(points[0], CENTER).shape == (6, 6)
    p = firal.probabilities(points, CENTER)
    found = firal.select(points, None, None, 3, ridge=0.1, probabilities=(p, None))
    with own_theta():  # the remedy of the error is the same selection
        same = firal.select(points, None, CENTER, 3, ridge=0.1)
    assert found.indices.tolist() == same.indices.tolist()
    with pytest.raises(ValueError, match="pass the probabilities of the classes"):
        firal.select(points, None, CENTER, 3)


@pytest.mark.parametrize("strategy", ["firal-ridge", "firal", "bait", "entropy"])
def test_labels_whose_fit_has_a_class_in_the_center_are_no_mistake(strategy):
    """Three corners and their center: the fitted rows sum to zero, and next_batch picks."""
    points = np.vstack([CENTER, np.zeros((3, 2)), 0.9 * CENTER, 0.1 * CENTER, 0.5 * CENTER])
    labels = {0: "a", 1: "b", 2: "c", 3: "d", 4: "d", 5: "d"}
    options = dict(strategy=strategy, standardize=False, intercept=False, ridge=0.01)
    batch = firal.next_batch(points, labels, 2, **options)
    theta = batch.theta
    if strategy == "firal-ridge":
        assert np.abs(theta.sum(axis=0)).max() < 1e-6 * np.abs(theta).max()
    assert len(batch.rows) == 2 and min(batch.rows) >= 6


def test_rows_and_generators():
    assert optional_rows(None, 3, "x").size == optional_rows([], 3, "x").size == 0
    assert optional_rows([2, 0, 2], 3, "x").tolist() == [0, 2]
    for bad in ([3], [-1], [0.5], ["a"]):
        with pytest.raises(ValueError, match="x must be distinct rows in 0..2"):
            optional_rows(bad, 3, "x")
    draws = {round_generator(7, n).integers(10**9) for n in range(20)}
    assert len(draws) == 20
