"""Excess risk and prefactor against sums over labels and high-precision arithmetic."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from firal.information import fisher
from firal.information.fisher import information
from firal.information.risk import _divergences, excess_risk, prefactor
from firal.model.logistic import loss
from firal.theory.designs import draw_labels, gaussian

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 4), st.integers(1, 5))
def test_excess_risk_is_the_expected_difference_of_losses(seed, d, k):
    rng = np.random.default_rng(seed)
    X, theta, star = rng.normal(size=(7, d)), rng.normal(size=(k, d)), rng.normal(size=(k, d))
    expected = 0.0
    for x in X:
        p, q = reference.probabilities(x, star), reference.probabilities(x, theta)
        expected += sum(p[y] * (np.log(p[y]) - np.log(q[y])) for y in range(k + 1)) / len(X)
    assert excess_risk(theta, star, X) == pytest.approx(expected, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-10])
def test_excess_risk_of_close_parameters_is_half_the_quadratic_form(size):
    rng = np.random.default_rng(11)
    X, star = rng.normal(size=(40, 3)), rng.normal(size=(3, 3))
    shift = size * rng.normal(size=star.shape)
    shift = (star + shift) - star  # what is left of it after rounding
    quadratic = shift.ravel() @ information(X, star) @ shift.ravel() / 2
    risk = excess_risk(star + shift, star, X)
    assert risk == pytest.approx(quadratic, rel=10 * size + 1e-9)


def test_excess_risk_with_huge_logits():
    X = np.array([[1.0]])
    with np.errstate(all="raise", under="ignore"):
        # theta says class 1 with certainty, the truth is class 0 with certainty
        assert excess_risk([[-1000.0]], [[1000.0]], X) == pytest.approx(1000, rel=1e-12)
        assert excess_risk([[900.0]], [[1000.0]], X) == 0
    assert excess_risk([[2.0]], [[2.0]], X) == 0


def test_sampled_labels_agree_and_are_noisy():
    """The paper draws 100 labels per point; the closed form has no such noise."""
    rng = np.random.default_rng(4)
    star = np.eye(2, 3)
    theta = star + 0.1 * rng.normal(size=star.shape)
    estimates, exact = [], []
    for _ in range(200):
        X = gaussian(50, np.zeros(3), np.eye(3), rng)
        repeated = np.repeat(X, 100, axis=0)
        y = draw_labels(repeated, star, rng)
        estimates.append(loss(repeated, y, theta) - loss(repeated, y, star))
        exact.append(excess_risk(theta, star, X))
    difference = np.subtract(estimates, exact)
    error = difference.std(ddof=1) / np.sqrt(difference.size)
    assert abs(difference.mean()) < 4 * error
    # the variance over samples of points alone is a small part of the variance with labels
    assert np.var(estimates) > 3 * np.var(exact)


def test_many_blocks_equal_one(monkeypatch):
    rng = np.random.default_rng(3)
    X, theta, star = rng.normal(size=(60, 3)), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    whole = excess_risk(theta, star, X)
    monkeypatch.setattr(fisher, "PROBABILITY_BYTES", 1000)
    assert len(list(fisher.probability_blocks(X, theta))) > 3
    assert excess_risk(theta, star, X) == pytest.approx(whole, rel=1e-12)


def test_bad_input():
    with pytest.raises(ValueError, match="one shape"):
        excess_risk(np.ones((2, 3)), np.ones((1, 3)), np.ones((4, 3)))


@given(st.floats(-700, 700).filter(lambda a: abs(a) > 1e-300))
def test_prefactor_to_rounding(a):
    with localcontext() as context:
        context.prec = 700  # near 0 two terms cancel to a^2 / 2
        x = Decimal(a)
        exact = float((x.exp() - x - 1) / (x * x)) if abs(a) > 1e-150 else 0.5
    assert prefactor(a) == pytest.approx(exact, rel=3e-15, abs=0)


@pytest.mark.parametrize("a", [1.0, 0.999999, -0.999999, -1.0, 0.9, -0.9, 0.3, 1.000001])
def test_prefactor_where_series_and_formula_meet(a):
    with localcontext() as context:
        context.prec = 60
        x = Decimal(a)
        assert prefactor(a) == pytest.approx(float((x.exp() - x - 1) / (x * x)), rel=1e-15, abs=0)


def test_prefactor_at_its_limits():
    assert prefactor(0) == 0.5
    assert prefactor(-1e200) == pytest.approx(1e-200)
    assert prefactor(1e4) == np.inf
    values = prefactor(np.linspace(-40, 40, 801))
    assert (np.diff(values) > 0).all()
    naive = (np.exp(1e-9) - 1e-9 - 1) / 1e-18
    assert abs(naive - 0.5) > 0.1  # why the formula is not used near 0


def test_prefactor_of_nan_is_refused():
    with pytest.raises(ValueError, match="got NaN"):
        prefactor(np.nan)


def test_the_prefactor_of_whole_numbers_is_that_of_floats():
    whole = np.arange(-3, 4)
    np.testing.assert_array_equal(prefactor(whole), prefactor(whole.astype(float)))
    assert prefactor(0) == 0.5 and prefactor(1) == pytest.approx(np.e - 2, rel=1e-14, abs=0)


def test_a_far_point_does_not_spoil_the_digits_of_a_near_one():
    near, far = np.array([[1e-7, 0.0]]), np.array([[0.0, 50.0]])
    theta, star = np.array([[1.0, 1.0]]), np.array([[0.5, -1.0]])
    one, other = excess_risk(theta, star, near), excess_risk(theta, star, far)
    assert 0 < one < 1e-14  # lost beside numbers of size 1
    parts = _divergences(np.vstack([near, far]), theta - star, star)
    np.testing.assert_allclose(parts, [one, other], rtol=1e-9)
