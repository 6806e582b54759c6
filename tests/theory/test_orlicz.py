"""Orlicz norms against closed forms and plain quadrature."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import integrate, stats

from firal.theory import orlicz

samples = hnp.arrays(float, st.integers(1, 30), elements=st.floats(-1e6, 1e6))


@pytest.mark.parametrize("order", [1, 2])
@given(sample=samples.filter(lambda x: np.abs(x).max() > 1e-9))
def test_psi_norm_solves_its_equation(order, sample):
    t = orlicz.psi_norm(sample, order)
    mean = np.mean(np.exp((np.abs(sample) / t) ** order))
    assert mean == pytest.approx(2, rel=1e-9)


@given(samples, st.floats(1e-3, 1e3))
def test_psi_norms_scale_and_are_linked(sample, factor):
    sub_gaussian = orlicz.psi_norm(sample, 2)
    assert orlicz.psi_norm(factor * sample, 2) == pytest.approx(factor * sub_gaussian, rel=1e-9)
    assert orlicz.psi_norm(sample**2, 1) == pytest.approx(sub_gaussian**2, rel=1e-9)


def test_psi_norm_of_extreme_samples():
    assert orlicz.psi_norm(np.zeros(3), 2) == 0
    assert orlicz.psi_norm([5.0], 2) == pytest.approx(5 / np.sqrt(np.log(2)))
    assert orlicz.psi_norm([-1.0, 1.0], 1) == pytest.approx(1 / np.log(2))
    with np.errstate(over="raise"):
        assert orlicz.psi_norm([1e300, 1e-300, 0.0], 1) == pytest.approx(1e300 / np.log(4))


def normal(u):
    return -u * u / 2 - np.log(2 * np.pi) / 2


def laplace(u):
    return -np.abs(u) - np.log(2)


@pytest.mark.parametrize(
    ("function", "log_density", "order", "support", "expected"),
    [
        (lambda u: 3 * u, normal, 2, (-np.inf, np.inf), 3 * np.sqrt(8 / 3)),
        (lambda u: u * u, normal, 1, (-np.inf, np.inf), 8 / 3),
        (lambda u: u, laplace, 1, (-np.inf, np.inf), 2.0),
        (lambda u: u, lambda u: -u, 1, (0, np.inf), 2.0),
        (lambda u: u, lambda u: u, 1, (-np.inf, 0), 2.0),
        (lambda u: 1 + 0 * u, normal, 2, (-np.inf, np.inf), 1 / np.sqrt(np.log(2))),
        (lambda u: u, laplace, 2, (-np.inf, np.inf), np.inf),
        (lambda u: u, stats.t(5).logpdf, 1, (-np.inf, np.inf), np.inf),
        (lambda u: 0 * u, normal, 2, (-np.inf, np.inf), 0.0),
    ],
)
def test_psi_norm_of_densities(function, log_density, order, support, expected):
    norm = orlicz.psi_norm_density(function, log_density, order, support)
    assert norm == pytest.approx(expected, rel=1e-10)


def test_psi_norm_of_a_uniform_variable():
    t = orlicz.psi_norm_density(lambda u: u, lambda u: np.full_like(u, -np.log(2)), 2, (-1, 1))
    assert integrate.quad(lambda u: np.exp((u / t) ** 2), 0, 1)[0] == pytest.approx(2, rel=1e-10)


def test_norms_are_told_from_zero_and_infinity():
    for factor in (1e-11, 1e11):
        norm = orlicz.psi_norm_density(lambda u, s=factor: s * u, normal, 2)
        assert norm == pytest.approx(factor * np.sqrt(8 / 3), rel=1e-10)
    assert orlicz.psi_norm_density(lambda u: 1e13 * u, normal, 2) == np.inf
    assert orlicz.psi_norm_density(lambda u: 1e-13 * u, normal, 2) == 0


def test_quadrature_integrates_on_every_kind_of_interval():
    for low, high, exact in (
        (-1.0, 2.0, np.arctan(2) + np.pi / 4),
        (3.0, np.inf, np.arctan(1 / 3)),
    ):
        u, weights = orlicz.quadrature(low, high)
        assert weights @ (1 / (1 + u * u)) == pytest.approx(exact, rel=1e-13)
        mirrored, weights = orlicz.quadrature(-high, -low)
        np.testing.assert_array_equal(np.sort(-mirrored), np.sort(u))
        assert weights @ (1 / (1 + mirrored**2)) == pytest.approx(exact, rel=1e-13)
    u, weights = orlicz.quadrature()
    assert weights @ (1 / (1 + u * u)) == pytest.approx(np.pi, rel=1e-13)


def test_sample_norm_tends_to_that_of_the_density():
    # the mean of exp(x^2/t^2) has no variance at t^2 = 8/3, so convergence is slow; order 1 is fine
    x = np.random.default_rng(0).normal(size=200_000)
    exact = orlicz.psi_norm_density(lambda u: u, normal, 1)
    assert orlicz.psi_norm(x, 1) == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: orlicz.psi_norm([[1.0]], 2), r"sample must have shape \(n,\)"),
        (lambda: orlicz.psi_norm([np.nan], 2), "sample must be finite"),
        (lambda: orlicz.psi_norm([1.0], 3), "order must be an integer in 1..2, got 3"),
        (lambda: orlicz.psi_norm_density(abs, abs, 2, (1, 1)), "support must be an interval"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
