"""Small budgets: the first batch at theta = 0, greedy picks with norms, the labels of Theorem 4.

The theorems are in the chapter on the guarantee. Everything is dense and literal.
"""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import firal

ROUND = 1e-7
seeds = st.integers(0, 2**32 - 1)


def psd(rng, size, rank):
    factor = rng.normal(size=(size, rank)) * np.exp(rng.normal())
    return factor @ factor.T


def objectives(H, b, Q):
    """tr(S^{-1} Q) of every multiset of b points; infinite where S is singular."""
    picks = np.array(list(combinations_with_replacement(range(len(H)), b)))
    S = H[picks].sum(axis=1)
    f = np.full(len(picks), np.inf)
    regular = np.linalg.cond(S) < 1e13
    f[regular] = np.trace(np.linalg.solve(S[regular], Q[None]), axis1=1, axis2=2)
    return f


# ------------------------------------------------------------------ the first batch


def curvature_range(c, a):
    """omega_- and omega_+ of the chapter."""
    u = np.exp(a)
    return c**2 * u / ((c - 1) * u + 1) ** 2, c * u / (2 * u + c - 2)


@settings(max_examples=400, deadline=None)
@given(seeds, st.integers(2, 8), st.floats(0.01, 6))
def test_how_far_the_curvature_moves(seed, c, a):
    """our-curvature-range, for logits inside the box and at its corners."""
    rng = np.random.default_rng(seed)
    low, high = curvature_range(c, a)
    for logits in (rng.uniform(0, a, c), a * rng.integers(0, 2, c)):
        p = np.exp(logits) / np.exp(logits).sum()
        values = c * np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))
        assert low * (1 - 1e-9) <= values[1] and values[-1] <= high * (1 + 1e-9)
    assert np.exp(-a) <= low * (1 + 1e-12) and high <= np.exp(a) * (1 + 1e-12)
    assert high / low <= np.exp(2 * a) * (1 + 1e-12)
    assert c > 3 or high / low <= np.exp(a) * (1 + 1e-12)


@pytest.mark.parametrize("c", [2, 3, 7])
def test_the_curvature_bounds_are_attained(c):
    a = 1.3
    low, high = curvature_range(c, a)
    for corner, place, wanted in (
        ([0] + [a] * (c - 1), 1, low),
        ([a, a] + [0] * (c - 2), -1, high),
    ):
        p = np.exp(corner) / np.sum(np.exp(corner))
        assert c * np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[place] == pytest.approx(wanted)
    if c == 2:
        assert high / low == pytest.approx(np.cosh(a / 2) ** 2)


def first_batch(rng, c, d, b, scale):
    """f at theta of the best multiset at 0, over its relaxed optimum; and the range of logits."""
    pool, theta = rng.normal(size=(6, d)), scale * rng.normal(size=(c - 1, d))
    values = {}
    for name, t in (("zero", 0 * theta), ("theta", theta)):
        H = np.array([firal.hessian(x, t) for x in pool])
        values[name] = objectives(H, b, H.mean(axis=0))
    relaxed = firal.relax(pool, None, theta, b, capped=False, tol=1e-6, max_iter=20_000)
    logits = np.column_stack([pool @ theta.T, np.zeros(len(pool))])
    chosen = values["theta"][np.argmin(values["zero"])]
    return chosen / (relaxed.objective * (1 - relaxed.gap)), np.ptp(logits, axis=1).max()


def test_the_first_batch():
    """our-first-batch, for d <= b < d~ too; without omega_- the bound is false."""
    rng, without = np.random.default_rng(3), 0
    for c, d, b, scale in product((2, 3, 4), (1, 2), (2, 3), (0.3, 3.0)):
        ratio, a = first_batch(rng, c, d, b, scale)
        low, high = curvature_range(c, a)
        tau = b / (b - d + 1)
        assert ratio <= (high / low) ** 2 * tau * (1 + 1e-6)
        without += ratio > high**2 * tau * (1 + 1e-6)
    assert without > 0


def border_pool(distance):
    """Three classes, features (1, s, t), three points near each border: almost rank one."""
    angle = 2 * np.pi * np.arange(3) / 3
    u = np.column_stack([np.cos(angle), np.sin(angle)])
    points = [
        np.r_[1, -length * u[k - 1] + offset * (u[k] - u[(k + 1) % 3]) / 3]
        for k in range(3)
        for length, offset in ((distance, 1), (distance, -1), (1.3 * distance, 0.5))
    ]
    return np.array(points), np.column_stack([np.zeros(2), u[:2] - u[2]])


def test_no_factor_depends_on_the_sizes_only():
    """Between d and d~ points the best factor grows without bound with the logits."""
    best = []
    for distance in (1, 4, 8):
        pool, theta = border_pool(distance)
        H = np.array([firal.hessian(x, theta) for x in pool])
        f = objectives(H, 3, H.mean(axis=0)).min()
        best.append(f / firal.relax(pool, None, theta, 3, capped=False, tol=1e-3).objective)
    assert best[0] < 1.2 and best[1] > 3 and best[2] > 400


# ------------------------------------------------------------------ greedy, with norms


def greedy_lift(C, P, z, b, Q, slope=1.0):
    """Smallest f_relaxed / f_t minus its bound over the greedy picks; slope corrupts N - b."""
    root = np.linalg.inv(np.linalg.cholesky(C))
    N = b + slope * sum(
        z_i * np.linalg.norm(root @ P_i @ root.T, 2) for z_i, P_i in zip(z, P, strict=True)
    )
    S, left, f = C, list(range(len(P))), np.trace(np.linalg.solve(C, Q))
    gap, lift = 1 - np.trace(Q) / f, np.inf
    for t in range(1, b + 1):
        f, i = min((np.trace(np.linalg.solve(S + P[i], Q)), i) for i in left)
        left.remove(i)
        S = S + P[i]
        lift = min(lift, np.trace(Q) / f - (1 - gap * (1 - 1 / N) ** t))
    return lift


@settings(max_examples=400, deadline=None)
@given(seeds, st.integers(1, 4), st.integers(1, 4), st.floats(-3, 1))
def test_greedy_with_norms(seed, size, b, exponent):
    """our-small-budget with N = b + sum of the norms, capped weights, any rank."""
    rng = np.random.default_rng(seed)
    m = b + 3
    P = np.array([psd(rng, size, rng.integers(1, size + 1)) for _ in range(m)])
    z = rng.uniform(0.1, 1, m)
    z *= b / z.sum()
    z = np.minimum(z, 1)
    z[np.argmin(z)] += b - z.sum()
    if z.max() > 1:
        return
    C = 10.0**exponent * psd(rng, size, size) + 1e-3 * np.eye(size)
    values, vectors = np.linalg.eigh(C + np.tensordot(z, P, axes=1))
    W = vectors / np.sqrt(values) @ vectors.T
    assert greedy_lift(W @ C @ W, W @ P @ W, z, b, psd(rng, size, size)) >= -ROUND


def test_the_norms_are_needed():
    """Orthogonal blocks and a weak prior: true with the norms, false with half of them."""
    rank, blocks, b = 2, 4, 2
    size, z = rank * blocks, np.full(blocks, b / blocks)
    P = np.array([np.kron(np.diag(np.arange(blocks) == j), np.eye(rank)) for j in range(blocks)])
    C = 0.01 * np.eye(size)
    P = P * 0.99 * blocks / b
    assert np.allclose(C + np.tensordot(z, P, axes=1), np.eye(size))
    assert greedy_lift(C, P, z, b, np.eye(size)) >= 0
    assert greedy_lift(C, P, z, b, np.eye(size), slope=0.5) < 0


# ------------------------------------------------------------------ labels for the risk bound


def widest(X, theta):
    """R^2 of the chapter: max over points and pairs of classes of |(e_k - e_l) x|^2."""
    c = len(theta) + 1
    inverse = np.linalg.inv(firal.information(X, theta))
    corners = np.vstack([np.eye(c - 1), np.zeros(c - 1)])
    pairs = [corners[k] - corners[j] for k in range(c) for j in range(k)]
    return max(np.kron(e, x) @ inverse @ np.kron(e, x) for e in pairs for x in X)


@settings(max_examples=100, deadline=None)
@given(seeds, st.integers(2, 5), st.integers(1, 3))
def test_sample_size(seed, c, d):
    """our-sample-size: R^2 >= 2 c d~ / (c - 1), with equality for an orthogonal design at 0."""
    rng = np.random.default_rng(seed)
    bound = 2 * c * d
    X, theta = rng.normal(size=(d + 4, d)), rng.normal(size=(c - 1, d))
    assert widest(X, theta) >= bound * (1 - 1e-9)
    assert widest(np.eye(d), 0 * theta) == pytest.approx(bound)
