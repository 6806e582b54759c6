"""The bounds of the chapters on the objective and the relaxation, on random dense instances.

An instance is a stack H (m, D, D) of positive semidefinite matrices, a share (D, D) of the labeled
points, and H_p, the mean of H. Everything is dense and literal; the module is not used.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SEEDS = st.integers(0, 2**32 - 1)
ROUND = 1e-9


def draw(seed, labeled=True):
    """H, H_p and the share: Kronecker products like the information of logistic points."""
    rng = np.random.default_rng(seed)
    m, d, k = int(rng.integers(4, 9)), int(rng.integers(1, 4)), int(rng.integers(1, 4))

    def information(n):
        x = rng.normal(size=(n, d)) * np.exp(0.5 * rng.normal(size=(n, 1)))
        h = rng.dirichlet(np.ones(k + 1), size=n)[:, :k]
        G = [np.diag(p) - np.outer(p, p) for p in h]
        return np.array([np.kron(g, np.outer(a, a)) for g, a in zip(G, x, strict=True)])

    H = information(m)
    share = information(3 * d).sum(axis=0) / 5 if labeled else np.zeros(H.shape[1:])
    return rng, H, H.mean(axis=0), share


def value(kappa, H, Hp, share):
    """F and the sensitivities."""
    inverse = np.linalg.inv(np.tensordot(kappa, H + share, axes=1))
    return np.vdot(inverse, Hp), np.tensordot(H + share, inverse @ Hp @ inverse, axes=2)


def best(H, Hp, share):
    """The uncapped optimum from below: square-root steps, and the certificate."""
    kappa, bound = np.full(len(H), 1 / len(H)), 0.0
    for _ in range(300):
        F, a = value(kappa, H, Hp, share)
        bound = max(bound, F**2 / a.max())
        inverse = np.linalg.inv(np.tensordot(kappa, H + share, axes=1))
        kappa = kappa * np.sqrt(np.tensordot(H, inverse @ Hp @ inverse, axes=2))
        kappa /= kappa.sum()
    return bound


def largest_ratio(H, share):
    root = np.linalg.inv(np.linalg.cholesky(share))
    return max(np.linalg.eigvalsh(root @ A @ root.T)[-1] for A in H)


@settings(max_examples=150)
@given(SEEDS)
def test_two_sided_bound_from_one_solution(seed):
    """our-weighted-mean: f(z)^2/<M, S> <= f(S) <= f(z)/lambda_min."""
    rng, H, Hp, share = draw(seed)
    kappa, other = rng.dirichlet(np.ones(len(H)), size=2)
    Sigma, S = (np.tensordot(w, H + share, axes=1) for w in (kappa, other))
    (f, a), (f_S, _) = value(kappa, H, Hp, share), value(other, H, Hp, share)
    root = np.linalg.inv(np.linalg.cholesky(Sigma))
    smallest = np.linalg.eigvalsh(root @ S @ root.T)[0]
    assert f**2 / (a @ other) <= f_S * (1 + ROUND)
    assert f_S <= f / smallest * (1 + 1e-6)


@settings(max_examples=150)
@given(SEEDS)
def test_lipschitz_constant(seed):
    """our-lipschitz: the range of the gradient is at most Lambda F, and F <= tr(D^{-1} H_p)."""
    rng, H, Hp, share = draw(seed)
    Lambda, ceiling = largest_ratio(H, share), np.trace(np.linalg.solve(share, Hp))
    for kappa in rng.dirichlet(np.full(len(H), 0.2), size=5):
        F, a = value(kappa, H, Hp, share)
        assert np.ptp(a) <= Lambda * F * (1 + ROUND) and ceiling * (1 + ROUND) >= F


def test_the_lipschitz_constant_is_attained():
    """One informative point and one without information, everything proportional: equality."""
    G = np.array([[2.0, -1.0], [-1.0, 2.0]]) / 9
    H, share = np.array([G, 0 * G]), 0.3 * G
    F, a = value(np.array([0.0, 1.0]), H, G / 2, share)
    constant = largest_ratio(H, share) * np.trace(np.linalg.solve(share, G / 2)) / 2
    assert np.ptp(a) / 2 == pytest.approx(constant, rel=1e-12)


def relative_run(H, Hp, share, steps, R):
    """Smallest F of the steps of our-relative-rate, and the largest range of a/F."""
    kappa, smallest, widest = np.full(len(H), 1 / len(H)), np.inf, 0.0
    for _ in range(steps):
        F, a = value(kappa, H, Hp, share)
        smallest, widest = min(smallest, F), max(widest, np.ptp(a) / F)
        kappa = kappa * np.exp(np.sqrt(8 * np.log(len(H)) / steps) / R * (a - a.max()) / F)
        kappa /= kappa.sum()
    return smallest, widest


@settings(max_examples=100)
@given(SEEDS, st.sampled_from([1, 2, 5, 20]))
def test_relative_rate(seed, steps):
    """our-relative-rate with R = Lambda, and with the range at the start where it is confirmed."""
    _, H, Hp, share = draw(seed)
    m, optimum = len(H), best(H, Hp, share)
    F, a = value(np.full(m, 1 / m), H, Hp, share)
    for R in (largest_ratio(H, share), np.ptp(a) / F):
        smallest, widest = relative_run(H, Hp, share, steps, R)
        if widest <= R * (1 + ROUND):
            assert smallest <= (1 + R * np.sqrt(np.log(m) / (2 * steps))) * optimum * (1 + 0.02)


def test_relative_rate_is_almost_attained():
    """One informative point among four, one step: 0.90 of the bound."""
    H = np.array([1.0, 0.0, 0.0, 0.0])[:, None, None]
    Hp, share = H.mean(axis=0), np.array([[0.1]])
    F, a = value(np.full(4, 0.25), H, Hp, share)
    error = F / value(np.eye(4)[0], H, Hp, share)[0] - 1
    bound = np.ptp(a) / F * np.sqrt(np.log(4) / 2)
    assert 0.9 * bound < error < bound


@settings(max_examples=60)
@given(SEEDS, st.floats(0.05, 0.9), st.sampled_from([1, 5, 30]))
def test_mixing_needs_no_labeled_points(seed, gamma, steps):
    """our-mixing: D = 0, the points share gamma H_p with the pool."""
    _, H, Hp, _ = draw(seed, labeled=False)
    m = len(H)
    if np.linalg.eigvalsh(Hp)[0] < 1e-6 * np.linalg.eigvalsh(Hp)[-1]:
        return
    rho = largest_ratio(H, Hp)
    R = (1 - gamma) * rho / gamma
    smallest, widest = relative_run((1 - gamma) * H, Hp, gamma * Hp, steps, R)
    bound = (1 + R * np.sqrt(np.log(m) / (2 * steps))) / (1 - gamma)
    assert rho <= m * (1 + 1e-6) and widest <= R * (1 + 1e-6)
    assert smallest <= bound * best(H, Hp, np.zeros_like(Hp)) * (1 + 0.05)


@settings(max_examples=300)
@given(SEEDS)
def test_one_step_of_mirror_descent(seed):
    """our-one-step, and that the constant 8 is the best one."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 8))
    x, u = rng.dirichlet(np.full(m, 2.0), size=2)
    g, eta = rng.normal(size=m), np.exp(rng.normal())
    y = x * np.exp(-eta * (g - g.min()))
    y /= y.sum()
    gain = np.sum(u * np.log(y / x))  # KL(u | x) - KL(u | y)
    assert eta * g @ (x - u) <= gain + (eta * np.ptp(g)) ** 2 / 8 + ROUND


def test_the_constant_of_one_step_is_the_best_one():
    x, g, eta = np.array([0.5, 0.5]), np.array([1.0, -1.0]), 0.1
    y = x * np.exp(-eta * g) / np.sum(x * np.exp(-eta * g))
    left = eta * g @ (x - np.array([1.0, 0.0])) - np.log(y[0] / x[0])
    assert (2 * eta) ** 2 / 8.1 < left < (2 * eta) ** 2 / 8


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_the_threshold_is_reached_exactly_where_there_is_a_cover(seed):
    """our-np-hard: the reduction from exact cover by triples of 1..6, by enumeration."""
    rng, every = np.random.default_rng(seed), list(combinations(range(6), 3))
    triples = [every[i] for i in rng.choice(len(every), 5, replace=False)]
    counts = np.bincount(np.ravel(triples), minlength=6)
    if counts.min() == 0:
        return
    unit = np.eye(6)
    rows = [unit[list(t)].sum(axis=0) for t in triples]
    rows += [unit[i] - unit[j] for t in triples for i, j in combinations(t, 2)]
    rows += [unit[j] for j in range(6) for _ in range(3 * (counts.max() - counts[j]))]
    rows = np.array(rows)
    assert np.allclose(rows.T @ rows, 3 * counts.max() * unit)
    pairs = np.array(list(combinations(range(len(rows)), 2)))
    N = rows[pairs]  # (pairs, 2, 6)
    S = 2 * unit + np.einsum("nki,nkj->nij", N, N)
    smallest = np.sum(1 / np.linalg.eigvalsh(S), axis=1).min()
    cover = any(not set(s) & set(t) for s, t in combinations(triples, 2))
    assert (smallest <= 2 + 2 / 5 + ROUND) == cover
