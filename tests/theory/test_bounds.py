"""Bounds and norms against closed forms, high-precision arithmetic and plain quadrature."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import integrate, special, stats

from firal.information import fisher
from firal.theory import bounds, orlicz

# --- Orlicz norms ------------------------------------------------------------------------------

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


def test_sample_norm_tends_to_that_of_the_density():
    # the mean of exp(x^2/t^2) has no variance at t^2 = 8/3, so convergence is slow; order 1 is fine
    x = np.random.default_rng(0).normal(size=200_000)
    exact = orlicz.psi_norm_density(lambda u: u, normal, 1)
    assert orlicz.psi_norm(x, 1) == pytest.approx(exact, rel=0.01)


# --- prefactors --------------------------------------------------------------------------------


@given(st.floats(-700, 700).filter(lambda a: abs(a) > 1e-300))
def test_prefactor_to_rounding(a):
    with localcontext() as context:
        context.prec = 700  # near 0 two terms cancel to a^2 / 2
        x = Decimal(a)
        exact = float((x.exp() - x - 1) / (x * x)) if abs(a) > 1e-150 else 0.5
    assert bounds.prefactor(a) == pytest.approx(exact, rel=3e-15)


def test_prefactor_at_its_limits():
    assert bounds.prefactor(0) == 0.5
    assert bounds.prefactor(-1e200) == pytest.approx(1e-200)
    assert bounds.prefactor(1e4) == np.inf
    values = bounds.prefactor(np.linspace(-40, 40, 801))
    assert (np.diff(values) > 0).all()
    naive = (np.exp(1e-9) - 1e-9 - 1) / 1e-18
    assert abs(naive - 0.5) > 0.1  # why the formula is not used near 0


# --- Theorem 3 and Theorem 40 ------------------------------------------------------------------


def test_alpha_and_sample_bounds_by_hand():
    # d = 4, c = 3: d~ = 8; log(e/delta) = 2 for delta = 1/e; sigma rho = 6
    spread = 6 * (8 + np.sqrt(8) * 2)
    assert bounds.alpha(50, 8, 2, 3, np.exp(-1), C3=5) == pytest.approx(5 * np.sqrt(spread / 50))
    both = bounds.sample_bounds(4, 3, 2, 3, np.exp(-1), C1=7, C2=11)
    assert both.hessian == pytest.approx(7 * 8 * (2 + np.log(4)))
    assert both.parameter == pytest.approx(11 * spread)


def test_alpha_is_one_when_n_is_the_second_bound():
    both = bounds.sample_bounds(6, 4, 1.5, 20, 0.05)
    assert bounds.alpha(both.parameter, 18, 1.5, 20, 0.05) == pytest.approx(1)


def test_bounded_domain_at_its_sample_size():
    """With n_min points the errors are 1/8 and 3/8 at most, and 5/8 (1+1/8)/(1-3/8)^2 = 9/5."""
    for sigma in (1.0, 2.5, 40.0):
        n_min = bounds.bounded_domain(1, 12, sigma, 0.1, 3.0, 0.7, 1.1).n_min
        errors = bounds.bounded_domain(n_min, 12, sigma, 0.1, 3.0, 0.7, 1.1)
        assert errors.eps_p <= 1 / 8 + 1e-12
        assert errors.eps_q <= 3 / 8 + 1e-12
    # both terms of the maximum equal: the two errors are attained (sigma = 1)
    L2 = np.sqrt((2 + 8 * np.log(10)) / np.log(2 * 12 / 0.1))
    n_min = bounds.bounded_domain(1, 12, 1.0, 0.1, 1.0, L2, 1.0).n_min
    errors = bounds.bounded_domain(n_min, 12, 1.0, 0.1, 1.0, L2, 1.0)
    assert (errors.eps_p, errors.eps_q) == pytest.approx((1 / 8, 3 / 8))
    assert 5 / 8 * (1 + errors.eps_p) / (1 - errors.eps_q) ** 2 == pytest.approx(9 / 5)


def test_bounded_domain_by_hand():
    # sigma = 3, delta = 1/e, n = 1000: 2 + 8 log(1/delta) = 10; L1 L3 = 10; log(2 d~/delta)
    errors = bounds.bounded_domain(1000, 12, 3.0, np.exp(-1), 2.0, 0.5, 5.0)
    shift, union = np.sqrt(10 / 1000), 1 + np.log(24)
    assert errors.eps_p == pytest.approx(2 * 3 * 10 * shift)
    assert errors.eps_q == pytest.approx(4 * 3 * 0.5 * np.sqrt(union / 1000) + 2 * 9 * 10 * shift)
    assert errors.n_min == pytest.approx(256 * 10 * 81 * 100)


def test_printed_bounded_domain_differs():
    arguments = (1000, 12, 3.0, 0.1, 1.0, 1e-9, 1.0)
    proved, printed = (bounds.bounded_domain(*arguments, printed=p) for p in (False, True))
    assert printed.eps_p == pytest.approx(3 * proved.eps_p)  # sigma^2 for sigma
    assert printed.eps_q == proved.eps_q
    assert proved.n_min / printed.n_min == pytest.approx((2 + 8 * np.log(10)) / np.log(10))


# --- Gaussian design ---------------------------------------------------------------------------


@pytest.mark.parametrize("t", [0.0, 1e-6, 0.3, 2.0, 8.9999, 9.0, 9.0001, 30.0, 1e3])
def test_kappa_by_quadrature(t):
    def mean(power):  # substituting v = (1+t) u keeps the mass at v of order 1
        s = 1 + t

        def integrand(v):
            return (v / s) ** power * np.exp(-t * v / s - (v / s) ** 2 / 2) / s

        return np.sqrt(2 / np.pi) * integrate.quad(integrand, 0, np.inf, epsabs=0, epsrel=1e-12)[0]

    assert bounds.kappa(t) == pytest.approx(mean(2), rel=1e-11)
    assert bounds.kappa_perp(t) == pytest.approx(mean(0), rel=1e-11)


def test_kappas_of_arrays_and_the_bounds_of_the_proof():
    t = np.linspace(0, 50, 500)
    kappa, across = bounds.kappa(t), bounds.kappa_perp(t)
    assert kappa.shape == across.shape == t.shape
    assert (np.diff(kappa) < 0).all() and (np.diff(across) < 0).all()
    assert (kappa >= np.sqrt(2 / np.pi) / (t**2 + 2) ** 1.5).all()
    assert (across >= np.sqrt(2 / np.pi) / (t**2 + 2) ** 0.5).all()


def test_binary_gaussian_at_zero_is_exact():
    # residuals are +-1/2 and H = I/4, so the score is a standard normal vector
    constants = bounds.binary_gaussian(0.0)
    assert constants == pytest.approx((4, np.sqrt(8 / 3), np.sqrt(8 / 3), 8 / 3), rel=1e-9)


@pytest.mark.parametrize("t", [0.5, 4.0])
def test_binary_gaussian_against_plain_quadrature(t):
    constants = bounds.binary_gaussian(t)
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    grid = np.array([(u, v) for u in nodes for v in nodes[60:140]])
    mass = np.array([a * b for a in weights for b in weights[60:140]])
    H = fisher.information(grid, [[t, 0.0]], mass)
    assert constants.rho == pytest.approx(fisher.rho(np.eye(2), H), rel=1e-4)
    along, across = H[0, 0], H[1, 1]

    def weight(u):
        return special.expit(t * u) * special.expit(-t * u)

    # psi_1 norm along theta is one dimensional; the supremum is at least that
    along_norm = orlicz.psi_norm_density(lambda u: weight(u) * u * u / along, normal, 1)
    assert constants.K2 >= along_norm * (1 - 1e-4)
    # and no direction of a grid exceeds it, by two-dimensional quadrature at the same tau
    for angle in np.linspace(0, np.pi / 2, 5):
        projected = (
            np.cos(angle) * grid[:, 0] / along**0.5 + np.sin(angle) * grid[:, 1] / across**0.5
        )
        mean = mass @ np.exp(weight(grid[:, 0]) * projected**2 / constants.K2)
        assert mean <= 2 * (1 + 1e-3)


def test_norm_of_a_slanted_direction():
    """``|Y| = s (0.6 u + 0.9 v)^2`` with s = 1/(1+u^2), by quadrature in the plane."""
    u, weights = orlicz.quadrature(0.0, np.inf)
    log_weights = np.log(weights) + normal(u) + np.log(2)
    cases = [(np.zeros_like(u), 1 / (1 + u * u))]
    tau = bounds._plane_norm(0.36, 0.81, cases, 1, u, log_weights)

    def integrand(v, u):
        y = (0.6 * u + 0.9 * v) ** 2 / (1 + u * u)
        return np.exp(y / tau + normal(u) + normal(v))

    mean = integrate.dblquad(integrand, -12, 12, -12, 12, epsabs=1e-6)[0]
    assert mean == pytest.approx(2, rel=1e-5)


def test_binary_gaussian_sub_gaussian_norm_of_the_score():
    """K1 at large t is the point where the mean becomes infinite: sqrt(2 rho)."""
    constants = bounds.binary_gaussian(10.0)
    assert constants.K1 == pytest.approx(np.sqrt(2 * constants.rho), rel=1e-6)
    assert constants.K1 < 2 * np.sqrt(constants.rho) * constants.K0  # Proposition 35
    assert constants.K2 < 2 * constants.rho * constants.K0**2
    assert constants.K2 == pytest.approx(12.736, abs=1e-3)


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.psi_norm([[1.0]], 2), r"sample must have shape \(n,\)"),
        (lambda: bounds.psi_norm([np.nan], 2), "sample must be finite"),
        (lambda: bounds.psi_norm([1.0], 3), "order must be an integer in 1..2, got 3"),
        (lambda: bounds.psi_norm_density(abs, abs, 2, (1, 1)), "support must be an interval"),
        (lambda: bounds.prefactor(np.nan), "got NaN"),
        (lambda: bounds.alpha(0, 8, 1, 1, 0.1), "n must be a finite number > 0, got 0"),
        (lambda: bounds.alpha(9, 0, 1, 1, 0.1), "size must be an integer >= 1, got 0"),
        (lambda: bounds.alpha(9, 8, 1, 1, 1.5), "delta must be a finite number > 0 and < 1"),
        (lambda: bounds.sample_bounds(3, 1, 1, 1, 0.1), "c must be an integer >= 2, got 1"),
        (lambda: bounds.sample_bounds(3, 2, -1, 1, 0.1), "sigma must be a finite number > 0"),
        (lambda: bounds.kappa(-1.0), "t must be nonnegative, got -1"),
        (lambda: bounds.kappa_perp([np.inf]), "t must be finite"),
        (lambda: bounds.binary_gaussian(-1), "t must be a finite number >= 0, got -1"),
        (lambda: bounds.bounded_domain(9, 8, 1, 0.1, 0, 1, 1), "L1 must be a finite number > 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
