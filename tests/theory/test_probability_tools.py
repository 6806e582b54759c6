"""The constants of the chapter *Probability tools*, by brute force.

Every bound is tested from both sides: nothing exceeds it, and some law comes close to it, so that a
constant that is wrong in either direction fails.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import linalg, optimize, special, stats

from firal.theory import orlicz

OMEGA = 1 + np.e * np.sqrt(np.pi) / 2 * special.erfc(1)
ROOT = optimize.brentq(lambda s: np.exp(s) - 2 * (1 - s), 0, 0.9)
FACTORS = {  # Lemma 12: property i with c_i implies property j with factor * c_i
    (1, 2): OMEGA,
    (2, 3): 2 * np.exp(0.25),
    (3, 1): 1.0,
    (1, 3): ROOT**-0.5,
    (3, 2): np.sqrt(np.log(2)),
}
FACTORS_14 = {(1, 2): 2.0, (2, 3): 2 * np.sqrt(np.e), (3, 1): 1.0, (1, 3): 1 / ROOT}
P = np.linspace(1, 150, 2981)
samples = hnp.arrays(float, st.integers(1, 30), elements=st.floats(0, 1e3)).filter(
    lambda x: x.max() > 1e-3
)


def comparison_norms(p):
    """L^p norms of sqrt(W), W = 1 + a standard exponential variable."""
    q = p / 2 + 1
    return np.exp((1 + np.log(special.gammaincc(q, 1)) + special.gammaln(q)) / p)


def smallest_constants(sample, order):
    """c_1, c_2, c_3 of a sample whose entries have equal probability."""
    x = np.sort(sample)[::-1]
    log_tail = np.log(np.arange(1, x.size + 1) / x.size)
    c1 = np.max(x / (1 - log_tail) ** (1 / order))
    with np.errstate(divide="ignore"):
        norms = np.exp((special.logsumexp(P[:, None] * np.log(x), axis=1) - np.log(x.size)) / P)
    return {1: c1, 2: np.max(norms / P ** (1 / order)), 3: orlicz.psi_norm(x, order)}


def test_moments_of_the_comparison_law_are_largest_at_order_one():
    ratio = comparison_norms(P) / np.sqrt(P)
    assert ratio[0] == pytest.approx(OMEGA, rel=1e-12) == pytest.approx(1.379, abs=5e-4)
    assert np.all(ratio <= OMEGA * (1 + 1e-12))
    p = P[P <= 2]
    moment, bound = comparison_norms(p) ** p, OMEGA ** (2 - p) * 2 ** (p - 1)
    assert np.all(moment <= bound * (1 + 1e-12))
    assert moment[[0, -1]] == pytest.approx(bound[[0, -1]])
    assert np.all(bound <= OMEGA**p * p ** (p / 2) * (1 + 1e-12))


@given(samples)
def test_implications_of_lemmas_12_and_14(sample):
    for order, factors in ((2, FACTORS), (1, FACTORS_14)):
        c = smallest_constants(sample, order)
        for (start, end), factor in factors.items():
            assert c[end] <= factor * c[start] * (1 + 1e-6), (order, start, end)


def test_every_factor_is_nearly_attained():
    log_mass = -np.log(np.expm1(36.0))  # a spike of height 6, squared 36, with psi norm 1
    spike = {1: 6 / np.sqrt(1 - log_mass), 2: np.max(6 * np.exp(log_mass / P) / np.sqrt(P)), 3: 1}
    comparison = {1: 1.0, 2: np.max(comparison_norms(P) / np.sqrt(P)), 3: ROOT**-0.5}
    constant = {1: 1.0, 2: 1.0, 3: np.log(2) ** -0.5}
    squared_spike = {1: 36 / (1 - log_mass), 2: np.max(36 * np.exp(log_mass / P) / P), 3: 1}
    squared = {1: 1.0, 2: np.max(comparison_norms(2 * P) ** 2 / P), 3: 1 / ROOT}

    def best(laws, factors):
        return [max(c[j] / (f * c[i]) for c in laws) for (i, j), f in factors.items()]

    assert best((spike, comparison, constant), FACTORS) == pytest.approx(
        [1, 0.908, 0.986, 1, 1], abs=1e-3
    )
    assert best((squared_spike, squared), FACTORS_14) == pytest.approx(
        [1, 0.824, 0.973, 1], abs=1e-3
    )


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_golden_thompson(seed, d):
    rng = np.random.default_rng(seed)
    Y, Z, M = rng.normal(size=(3, d, d)) + 1j * rng.normal(size=(3, d, d))
    Y, Z = Y + Y.conj().T, Z + Z.conj().T
    left, right = np.trace(linalg.expm(Y + Z)).real, np.trace(linalg.expm(Y) @ linalg.expm(Z)).real
    assert left <= right * (1 + 1e-9)
    if d > 1:
        assert left < right * (1 - 1e-9)  # equality only for matrices that commute
    for k in (1, 2, 4):
        power = np.linalg.matrix_power
        assert abs(np.trace(power(M, 2 * k))) <= np.trace(power(M.conj().T @ M, k)).real * (
            1 + 1e-9
        )


def whitened_norm(points):
    """psi_2 norm of equally likely points in the plane, whitened by their second moment."""
    value, vector = np.linalg.eigh(points.T @ points / len(points))
    keep = value > 1e-12 * value[-1]
    white = points @ (vector[:, keep] / np.sqrt(value[keep])) @ vector[:, keep].T
    angle = np.arange(60) * np.pi / 60
    return max(orlicz.psi_norm(white @ [np.cos(a), np.sin(a)], 2) for a in angle)


@pytest.mark.parametrize("singular", [False, True])
def test_affine_images_keep_the_whitened_norm(singular):
    rng = np.random.default_rng(5)
    for _ in range(6):
        points = rng.normal(size=(7, 2)) ** 3
        points -= points.mean(axis=0)
        A, b = rng.normal(size=(2, 2)), rng.normal(size=2)
        if singular:
            A[1], b = 0, 0 * b
        K = whitened_norm(points)
        assert whitened_norm(points @ A.T + b) <= np.sqrt(K**2 + 1 / np.log(2)) * (1 + 1e-2)


def test_affine_bound_is_nearly_attained_and_needs_centering():
    spike = np.zeros((4000, 2))
    spike[0, 0] = 4000.0
    spike[:, 0] -= 1
    K = whitened_norm(spike)
    assert 0.97 < whitened_norm(spike + [0.1, 0]) / np.sqrt(K**2 + 1 / np.log(2)) <= 1
    assert K > 5 * whitened_norm(spike + [1e6, 0])  # whitened with a mean, the spike is hidden


def worst_quotient(values, bound):
    """Largest value over the bound at delta = P(value or more), all outcomes equally likely."""
    values = np.sort(values)[::-1]
    return np.max(values / bound(np.arange(1, values.size + 1) / values.size))


@pytest.mark.parametrize(("d", "mean"), [(1, 0.0), (6, 0.0), (12, 0.0), (12, 0.7)])
def test_length_and_quadratic_forms_of_sign_vectors(d, mean):
    # proxy: E e^{lambda x} <= C e^{sigma^2 lambda^2 / 2}, with C = 1, sigma = 1 for centered signs
    x = mean + np.array(list(itertools.product((-1.0, 1.0), repeat=d)))
    direction = np.ones(d) / np.sqrt(d)
    # the worst of a few directions is a lower bound on the norm; it makes the test harder
    K2 = max(orlicz.psi_norm(x @ u, 2) for u in (direction, np.eye(d)[0])) ** 2
    square = (x**2).sum(axis=1)
    form = (x @ direction) ** 2 * d / 2 + square / 2
    J = (np.eye(d) + np.ones((d, d))) / 2
    size = np.linalg.norm(J, 2)

    def uncentered(delta):
        t = np.log(2 / delta)
        return K2 * (np.trace(J) / 2 + np.sqrt(np.trace(J @ J) * t) + size * t)

    assert 0.1 < worst_quotient(square, lambda z: K2 * (d * np.log(2) + 2 * np.log(2 / z))) <= 1
    assert 0.1 < worst_quotient(form, uncentered) <= 1
    if mean == 0:
        centered = lambda z: 2 * d * np.log(2) + 4 * np.log(1 / z)  # noqa: E731
        assert 0.5 < worst_quotient(square, centered) <= 1


def test_uncentered_bound_is_nearly_attained_in_dimension_and_probability():
    def bound(K2, d, t):
        return K2 * (d / 2 + np.sqrt(d * t) + t)  # J = I

    delta = np.exp(-np.linspace(0.1, 30, 200))
    normal = stats.chi2.isf(delta, 500) / bound(8 / 3, 500, np.log(2 / delta))
    assert 0.7 < np.max(normal) <= 1
    height = np.array([3.0, 10.0, 30.0])  # spikes with norm 1: P(x = height) = 1/(e^{height^2} - 1)
    spike = height**2 / bound(1, 1, np.log(2) + height**2)
    assert np.all(spike <= 1) and spike[-1] > 0.96


def test_vector_bernstein_with_its_best_constant():
    def quotient(constant):
        found = []
        for n, d in itertools.product(range(1, 5), (1, 2, 3)):
            steps = np.concatenate([np.eye(d), -np.eye(d)])
            sums = np.array([sum(s) for s in itertools.product(steps, repeat=n)])
            length = np.linalg.norm(sums, axis=1) / n
            for value in np.unique(length[length > 0].round(12)):
                eps = min(value, 1 - 1e-9)
                found.append(np.mean(length > value - 1e-9) / np.exp(0.25 - n * eps**2 / constant))
        return max(found)

    assert quotient(8) < quotient(4) <= 1 < quotient(3.9)
