"""Facts that the chapters on the setting and on the excess risk prove, on random instances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firal.information import fisher
from firal.model import logistic
from firal.model.separation import separating_direction

seeds = st.integers(0, 2**32 - 1)


def random_instance(seed):
    """Points, parameter and sizes: n in 3..12, d in 1..3, c in 2..4, scales over two decades."""
    rng = np.random.default_rng(seed)
    n, d, c = rng.integers(3, 13), rng.integers(1, 4), rng.integers(2, 5)
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-1, 1)
    theta = rng.standard_normal((c - 1, d)) * 10 ** rng.uniform(-1, 1)
    return rng, X, theta


@settings(max_examples=300, deadline=None)
@given(seeds)
def test_a_newton_step_on_separable_labels_moves_a_logit_difference_by_one(seed):
    # our-newton-certificate; labels made separable as in the proof of our-separable
    rng, X, theta = random_instance(seed)
    c, v = len(theta) + 1, rng.standard_normal(X.shape[1])
    y = np.where(X @ v > 0, 0, c - 1)
    assert separating_direction(X, y, c) is not None
    theta = 0.3 * theta / np.abs(X @ theta.T).max()  # moderate logits: the Hessian is not singular
    H = fisher.information(X, theta)
    if np.linalg.cond(H) > 1e10:
        return
    step = np.linalg.solve(H, -logistic.gradient(X, y, theta).ravel()).reshape(theta.shape)
    moved = np.column_stack([X @ step.T, np.zeros(len(X))])
    assert np.ptp(moved, axis=1).max() >= 1 - 1e-6


@settings(max_examples=300, deadline=None)
@given(seeds)
def test_the_information_is_at_most_half_the_second_moment(seed):
    # our-automatic-pd: H(theta) <= (1/2) I (x) V, and definite if V is (moderate logits only)
    _, X, theta = random_instance(seed)
    V = np.kron(np.eye(len(theta)), X.T @ X / len(X))
    H = fisher.information(X, theta)
    assert np.linalg.eigvalsh(V / 2 - H).min() >= -1e-9 * np.trace(V)
    theta = theta / np.abs(X @ theta.T).max()
    eigenvalues = np.linalg.eigvalsh(V)
    if eigenvalues[0] > 1e-6 * eigenvalues[-1]:
        assert np.linalg.eigvalsh(fisher.information(X, theta))[0] > 0


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_the_spread_is_at_most_half_sigma_rho_nu(seed):
    # s = sigma d~ / FIR lies between 1 and d~, and below sigma rho nu / 2
    rng, _, _ = random_instance(seed)
    d, k = rng.integers(1, 4), rng.integers(1, 4)
    Xp, Xq = rng.standard_normal((2, 40, d)) * rng.uniform(0.2, 3, (2, 1, d))
    theta = rng.standard_normal((k, d))
    Vp, Vq = Xp.T @ Xp / 40, Xq.T @ Xq / 40
    Hp, Hq = fisher.information(Xp, theta), fisher.information(Xq, theta)
    sigma, rho, nu = fisher.sigma(Hq, Hp), fisher.rho(Vp, Hp), fisher.sigma(Vp, Vq)
    s = sigma * d * k / fisher.fir(Hq, Hp)
    assert 1 - 1e-9 <= s <= d * k * (1 + 1e-9)
    assert s <= sigma * rho * nu / 2 * (1 + 1e-9)
    assert fisher.rho(Vq, Hq) <= sigma * rho * nu * (1 + 1e-9)


@settings(max_examples=300, deadline=None)
@given(seeds)
def test_the_hessian_changes_by_at_most_twice_the_largest_logit_change(seed):
    # step 2 in two directions: |d/dt a^T G(eta + t b) a| <= 2 |b|_inf a^T G a
    rng = np.random.default_rng(seed)
    c = rng.integers(2, 7)
    eta, a, b = rng.standard_normal((3, c - 1)) * 10 ** rng.uniform(-1, 1, (3, 1))

    def quadratic(t):
        h = logistic.softmax(np.ones((1, 1)), (eta + t * b)[:, None])[0, :-1]
        return a * a @ h - (a @ h) ** 2

    step = 1e-5 / (1 + np.abs(b).max())
    slope = (quadratic(step) - quadratic(-step)) / (2 * step)
    assert abs(slope) <= 2 * np.abs(b).max() * quadratic(0) * (1 + 1e-4) + 1e-9 * a @ a


def test_a_sandwich_needs_matrices_that_commute():
    # our-noncommuting: eigenvalues of M in [1, 3], and yet neither inequality holds
    M, Psi = np.array([[2.0, 1.0], [1.0, 2.0]]), np.diag([1.0, 0.01])
    v, w = np.array([0.0, 1.0]), np.array([1.0, -2.0])
    assert v @ M @ Psi @ M @ v > 16 * (v @ Psi @ v)
    assert w @ M @ Psi @ M @ w < (w @ Psi @ w) / 9


@pytest.mark.parametrize("epsilon", [1 / 8, 0.01])
def test_the_numbers_in_the_mended_theorem(epsilon):
    # upper factor at most 3/2, lower factor at least 1/2, with epsilon sqrt(s) = 1/8
    delta, drift = 1 / 260, 1 / (8 * (1 - epsilon))
    fourth = 3 * (1 + epsilon) ** 2 + (1 + epsilon)
    upper = (1 + epsilon) * (1 + drift) ** 2
    lower = np.sqrt(1 - epsilon - np.sqrt(fourth * delta)) - np.sqrt(1 + epsilon) * drift
    assert upper <= 3 / 2 and lower > 0 and lower**2 >= 1 / 2
    assert (1 + epsilon / 4) * np.exp(epsilon / 2) <= 1 + epsilon
    assert 128 / (1 - epsilon) ** 2 < 168 and 2 * np.sqrt(2) / (1 - epsilon) < 3.3
