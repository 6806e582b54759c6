"""Tables that must agree, and parameters with a row too many: refused with what to pass."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import firal
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
    skactiveml = pytest.importorskip("firal.skactiveml")
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
    with pytest.raises(ValueError, match=message):
        firal.probabilities(X, model.coef_)
    theta = model.coef_[:-1] - model.coef_[-1]  # the remedy is right
    assert np.allclose(firal.probabilities(X, theta), model.predict_proba(X))


def test_the_weight_of_a_layer_is_refused_with_the_remedy():
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(4, 3)
    with pytest.raises(ValueError, match="is the weight of a layer"):
        firal.probabilities(X, layer.weight)


def test_other_parameters_pass():
    rng = np.random.default_rng(0)
    for theta in (np.zeros((3, 4)), rng.normal(size=(3, 4)), np.array([[1.0, 0], [-1, 0]])):
        assert firal.probabilities(X[:, : theta.shape[1]], theta).shape == (150, len(theta) + 1)


def test_rows_and_generators():
    assert optional_rows(None, 3, "x").size == optional_rows([], 3, "x").size == 0
    assert optional_rows([2, 0, 2], 3, "x").tolist() == [0, 2]
    for bad in ([3], [-1], [0.5], ["a"]):
        with pytest.raises(ValueError, match="x must be distinct rows in 0..2"):
            optional_rows(bad, 3, "x")
    draws = {round_generator(7, n).integers(10**9) for n in range(20)}
    assert len(draws) == 20
