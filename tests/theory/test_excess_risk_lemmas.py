"""Lemmas of the chapters on the bounded domain, the constants and the excess risk, by brute force.

Each test also runs a corrupted form of the lemma, which must fail.
"""

import itertools
from math import gamma

import numpy as np
import pytest
from scipy.optimize import brentq

from firal.information import fisher
from firal.model import logistic

# --- our-fourth-moment: E |sum v_i|^4 <= 3 m^2 + b^2 m -------------------------------------------


def fourth_moment(laws):
    """E |sum|^4, m and b of independent vectors; a law is (values (k, d), probabilities (k,))."""
    total = 0.0
    for outcome in itertools.product(*(range(len(p)) for _, p in laws)):
        weight = np.prod([p[k] for (_, p), k in zip(laws, outcome, strict=True)])
        vector = sum(values[k] for (values, _), k in zip(laws, outcome, strict=True))
        total += weight * (vector @ vector) ** 2
    m = sum(p @ (values**2).sum(axis=1) for values, p in laws)
    b = max(np.linalg.norm(values, axis=1).max() for values, _ in laws)
    return total, m, b


def centered_law(rng, size, d):
    p = rng.dirichlet(np.full(size, 0.4))
    values = rng.normal(size=(size, d))
    return values - p @ values, p


@pytest.mark.parametrize(("n", "d"), [(1, 2), (3, 1), (4, 3)])
def test_fourth_moment_of_random_laws(n, d):
    rng = np.random.default_rng(n)
    for _ in range(40):
        total, m, b = fourth_moment([centered_law(rng, 4, d) for _ in range(n)])
        assert total <= (3 * m**2 + b**2 * m) * (1 + 1e-12)


def test_fourth_moment_needs_both_terms():
    signs = (np.array([[1.0], [-1.0]]), np.array([0.5, 0.5]))
    total, m, b = fourth_moment([signs] * 8)
    assert total == pytest.approx(3 * 8**2 - 2 * 8)  # the exact value for signs
    assert total > 2 * m**2 + b**2 * m  # 2 in place of 3
    rare = (np.array([[10.0], [-10.0], [0.0]]), np.array([0.005, 0.005, 0.99]))
    total, m, _ = fourth_moment([rare] * 2)
    assert total > 3 * m**2  # without the second term


# --- our-third-derivative: |d/dt u^T Hq u| <= 2 K2 |Delta| u^T Hq u ------------------------------


def psi1(Z, weights):
    """The t with sum_i w_i exp(Z_i / t) = 2, for Z >= 0."""
    scale = Z.max()
    return scale / brentq(lambda s: weights @ np.exp(s * Z / scale) - 2, 1e-9, 700)


def derivative_over_bound(X, weights, theta, delta, u):
    """Quotient of both sides, with the norm of this direction for K2; and the norm itself."""
    p = logistic.probabilities(X, theta)
    moved, along = (np.column_stack([X @ M.T, np.zeros(len(X))]) for M in (u, delta))
    moved -= (p * moved).sum(axis=1, keepdims=True)
    along -= (p * along).sum(axis=1, keepdims=True)
    Z = (p * moved**2).sum(axis=1)
    slope = abs(weights @ (p * moved**2 * along).sum(axis=1))
    size = np.sqrt(weights @ ((X @ delta.T) ** 2).sum(axis=1))
    K2 = psi1(Z, weights) / (weights @ Z)
    return slope / (2 * K2 * size * (weights @ Z)), K2


@pytest.mark.parametrize("c", [2, 3, 5])
def test_self_concordance_of_the_risk(c):
    rng = np.random.default_rng(c)
    without_K2 = 0.0
    for _ in range(300):
        X = rng.normal(size=(12, 2)) * np.exp(1.5 * rng.normal(size=(12, 1)))
        weights = rng.dirichlet(np.full(12, 0.3))
        theta, u = rng.normal(size=(2, c - 1, 2))
        for delta in (rng.normal(size=(c - 1, 2)), u):
            quotient, K2 = derivative_over_bound(X, weights, theta, delta, u)
            assert quotient <= 1
            without_K2 = max(without_K2, quotient * K2)
    # a rare point far out, near the boundary of two classes: K2 cannot be left out
    X, weights = np.array([[1.0], [100.0]]), np.array([0.999, 0.001])
    theta = np.zeros((c - 1, 1))
    theta[0] = 0.01
    direction = np.eye(c - 1, 1)
    quotient, K2 = derivative_over_bound(X, weights, theta, direction, direction)
    assert quotient <= 1 < max(without_K2, quotient * K2)


# --- our-interior-class: rho >= mu_i 2^{k/2} Gamma(k/2 + 1) / Gamma(k + 2) (g t)^{k + 2} --------


def rho_in_the_plane(rows, t):
    """rho for x ~ N(0, I_2) and theta = t rows, by quadrature in polar coordinates."""
    node, w = np.polynomial.legendre.leggauss(20)
    angle = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    edges = np.concatenate([[0], np.geomspace(0.3 / t, 6, 10)])
    H = 0.0
    for low, high in itertools.pairwise(edges):
        radius = low + (high - low) * (node + 1) / 2
        weight = (high - low) / 2 * w * radius * np.exp(-(radius**2) / 2) / len(angle)
        r, a = np.meshgrid(radius, angle, indexing="ij")
        X = np.stack([r * np.cos(a), r * np.sin(a)], axis=-1).reshape(-1, 2)
        H = H + fisher.information(X, t * rows, np.repeat(weight, len(angle)))
    return fisher.rho(np.eye(2), H)


def test_a_class_inside_the_hull_and_the_reference_class():
    corners = np.array([[1.0, 0.0], [0.5, np.sqrt(3) / 2], [0.0, 0.0]])
    inside, inradius = corners.mean(axis=0), 1 / (2 * np.sqrt(3))
    signals = np.array([30.0, 120.0])
    bound = 2 * gamma(2) / gamma(4) * (inradius * signals) ** 4
    last = {
        "corner": np.vstack([corners[:2], inside]),  # a corner is the reference class
        "inside": corners - inside,  # the class inside is
        "none": corners[:2],  # three corners, no class inside
    }
    rho = {
        name: np.array([rho_in_the_plane(rows, t) for t in signals]) for name, rows in last.items()
    }
    assert np.all(rho["corner"] >= bound)
    assert np.all(rho["inside"] >= 3 * bound)
    assert rho["inside"][1] > 2 * rho["corner"][1]  # the factor c - 1 is seen
    growth = {name: np.log(r[1] / r[0]) / np.log(4) for name, r in rho.items()}
    assert growth["inside"] > 3.9 and growth["corner"] > 3.5  # on the way to 4
    assert growth["none"] < 3.1
