"""The constants of a Gaussian design against closed forms and plain quadrature."""

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from firal.information import fisher
from firal.theory import designs, gaussian_design, orlicz

normal = stats.norm.logpdf


@pytest.mark.parametrize("t", [0.0, 1e-6, 0.3, 2.0, 8.9999, 9.0, 9.0001, 30.0, 1e3])
def test_kappa_by_quadrature(t):
    def mean(power):  # substituting v = (1+t) u keeps the mass at v of order 1
        s = 1 + t

        def integrand(v):
            return (v / s) ** power * np.exp(-t * v / s - (v / s) ** 2 / 2) / s

        return np.sqrt(2 / np.pi) * integrate.quad(integrand, 0, np.inf, epsabs=0, epsrel=1e-12)[0]

    assert gaussian_design.kappa(t) == pytest.approx(mean(2), rel=1e-11)
    assert gaussian_design.kappa_perp(t) == pytest.approx(mean(0), rel=1e-11)


def test_kappas_of_arrays_and_the_bounds_of_the_proof():
    t = np.linspace(0, 50, 500)
    kappa, across = gaussian_design.kappa(t), gaussian_design.kappa_perp(t)
    assert kappa.shape == across.shape == t.shape
    assert (np.diff(kappa) < 0).all() and (np.diff(across) < 0).all()
    assert (kappa >= np.sqrt(2 / np.pi) / (t**2 + 2) ** 1.5).all()
    assert (across >= np.sqrt(2 / np.pi) / (t**2 + 2) ** 0.5).all()


def test_binary_gaussian_at_zero_is_exact():
    # residuals are +-1/2 and H = I/4, so the score is a standard normal vector
    constants = gaussian_design.binary_gaussian(0.0)
    assert constants == pytest.approx((4, np.sqrt(8 / 3), np.sqrt(8 / 3), 8 / 3), rel=1e-9)


@pytest.mark.parametrize("t", [0.5, 4.0])
def test_binary_gaussian_against_plain_quadrature(t):
    constants = gaussian_design.binary_gaussian(t)
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


def plane(half=30.0, panels=40):
    """Nodes (u, v) of a square and the logarithms of their weights under the normal law."""
    x, w = np.polynomial.legendre.leggauss(10)
    edges = np.linspace(-half, half, panels + 1)
    nodes = (edges[:-1, None] + (x + 1) * half / panels).ravel()
    mass = np.log(np.tile(w * half / panels, panels)) + normal(nodes)
    return nodes[:, None], nodes[None, :], mass[:, None] + mass[None, :]


def largest(mean):
    """The largest mean over all directions; it is 2 at the largest Orlicz norm."""
    angles = np.linspace(0, np.pi / 2, 7)
    best = angles[np.argmax([mean(angle) for angle in angles])]
    around = max(best - 0.3, 0), min(best + 0.3, np.pi / 2)
    refined = optimize.minimize_scalar(lambda angle: -mean(angle), bounds=around, method="bounded")
    return max(mean(best), -refined.fun)


def test_binary_gaussian_to_many_digits():
    """All constants at t = 0.7 by quadrature in the plane, which knows nothing of directions."""
    t = 0.7
    found = gaussian_design.binary_gaussian(t)
    u, v, mass = plane()
    p = special.expit(t * u)
    w = p * (1 - p)
    along, across = np.sum(np.exp(mass) * w * u * u), np.sum(np.exp(mass) * w)
    assert found.rho == pytest.approx(1 / min(along, across), rel=1e-10)
    assert found.K0 == pytest.approx(np.sqrt(8 / 3), rel=1e-15)

    def projected(angle):
        return np.cos(angle) * u / np.sqrt(along) + np.sin(angle) * v / np.sqrt(across)

    def mean_of_the_curvature(angle):
        return np.sum(np.exp(mass + w * projected(angle) ** 2 / found.K2))

    assert largest(mean_of_the_curvature) == pytest.approx(2, rel=1e-11)
    # beyond sqrt(2 rho) the mean for K1 is finite and far below 2, and before it is infinite
    assert found.K1 == pytest.approx(np.sqrt(2 * found.rho), rel=1e-9)


def test_norm_of_a_slanted_direction():
    """``|Y| = s (0.8 u + 0.6 v)^2`` with s = 1/(1+u^2), by quadrature in the plane."""
    u, weights = orlicz.quadrature(0.0, np.inf)
    log_weights = np.log(weights) + normal(u) + np.log(2)
    cases = [(np.zeros_like(u), 1 / (1 + u * u))]
    tau = gaussian_design._plane_norm(0.64, 0.36, cases, 1, u, log_weights)

    u, v, mass = plane(panels=75)
    mean = np.sum(np.exp(mass + (0.8 * u + 0.6 * v) ** 2 / (1 + u * u) / tau))
    assert mean == pytest.approx(2, rel=1e-10)


def test_binary_gaussian_sub_gaussian_norm_of_the_score():
    """K1 at large t is the point where the mean becomes infinite: sqrt(2 rho)."""
    constants = gaussian_design.binary_gaussian(10.0)
    assert constants.K1 == pytest.approx(np.sqrt(2 * constants.rho), rel=1e-6)
    assert constants.K1 < 2 * np.sqrt(constants.rho) * constants.K0  # Proposition 35
    assert constants.K2 < 2 * constants.rho * constants.K0**2
    assert constants.K2 == pytest.approx(12.736, abs=1e-3)


def test_second_moment_of_the_gaussian_constants():
    """rho of a large Gaussian sample is that of the quadrature."""
    X = designs.gaussian(200_000, np.zeros(2), np.eye(2), np.random.default_rng(6))
    rho = fisher.rho(X.T @ X / len(X), fisher.information(X, [[2.0, 0.0]]))
    assert rho == pytest.approx(gaussian_design.binary_gaussian(2.0).rho, rel=0.03)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian_design.kappa(-1.0), "t must be nonnegative, got -1"),
        (lambda: gaussian_design.kappa_perp([np.inf]), "t must be finite"),
        (lambda: gaussian_design.binary_gaussian(-1), "t must be a finite number >= 0, got -1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
