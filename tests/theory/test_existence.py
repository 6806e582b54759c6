"""How good the best choice of b points is: the theorem on existence, by enumeration.

An instance is a prior C, matrices P_i of any rank and weights z with sum b and C + sum z_i P_i = I.
All multisets of b points are listed, and all sets of rows of a matrix: dense and literal.
"""

from itertools import combinations, combinations_with_replacement, product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROUND = 1e-7
seeds = st.integers(0, 2**32 - 1)


def white(total):
    values, vectors = np.linalg.eigh(total)
    return vectors / np.sqrt(values) @ vectors.T


def psd(rng, size, rank):
    factor = rng.normal(size=(size, rank)) * np.exp(rng.normal())
    return factor @ factor.T


@st.composite
def tiny(draw, most_points=4, most_picks=5):
    """(C, P, z, b, Q): ranks from one to full, priors from none to dominant, any weights."""
    rng = np.random.default_rng(draw(seeds))
    size, m, b = (
        draw(st.integers(1, 4)),
        draw(st.integers(1, most_points)),
        draw(st.integers(1, most_picks)),
    )
    P = np.array([psd(rng, size, draw(st.integers(1, size))) for _ in range(m)])
    z = rng.exponential(size=m) ** 2 + 0.01
    z *= b / z.sum()
    known = draw(st.integers(0, size))
    C = draw(st.sampled_from([0.01, 0.3, 10.0])) * psd(rng, size, known) * (known > 0)
    total = C + np.tensordot(z, P, axes=1)
    values = np.linalg.eigvalsh(total)
    if values[0] < 1e-5 * values[-1]:  # the points and the prior do not span the space
        C = C + 0.1 * values[-1] * np.eye(size)
        total = C + np.tensordot(z, P, axes=1)
    W = white(total)
    return W @ C @ W, W @ P @ W, z, b, psd(rng, size, draw(st.integers(1, size)))


def allowed(C, b, Q):
    """The first bound of the theorem on existence; infinite where the second one is."""
    values, vectors = np.linalg.eigh(C)
    mu = np.where(values < 1e-10, 0.0, np.minimum(values, 1))
    d = np.sum(1 - mu) - (1 - mu)
    kept = mu + (1 - mu) * np.maximum(0, 1 - d / b)
    if kept.min() < 1e-9:
        return np.inf
    bound = np.sum(np.diag(vectors.T @ Q @ vectors) / kept)
    assert bound <= np.trace(Q) / kept.min() * (1 + ROUND)  # the second bound
    return bound


def best_of_all(C, P, b, Q):
    """Smallest tr(S^{-1} Q) over all multisets of b points."""
    picks = np.array(list(combinations_with_replacement(range(len(P)), b)))
    S = C + P[picks].sum(axis=1)
    S = S[np.linalg.eigvalsh(S)[:, 0] > 1e-10]
    return np.trace(np.linalg.solve(S, Q[None]), axis1=1, axis2=2).min() if len(S) else np.inf


# ------------------------------------------------------------------ existence


@settings(max_examples=1500, deadline=None)
@given(tiny())
def test_some_multiset_is_within_the_factor(instance):
    """our-existence, by enumeration."""
    C, P, _, b, Q = instance
    bound = allowed(C, b, Q)
    if np.isfinite(bound):
        assert best_of_all(C, P, b, Q) <= bound * (1 + ROUND)


@pytest.mark.parametrize(("size", "b"), [(2, 2), (2, 5), (3, 3), (4, 6)])
@pytest.mark.parametrize("prior", [0.0, 0.5, 20.0])
def test_the_bound_is_attained_in_the_limit(size, b, prior):
    """A huge scale in all directions but one, and a prior in that one."""
    scale = np.array([1e10] * (size - 1) + [1.0])
    last = np.diag(np.arange(size) == size - 1)
    z = (b + prior) / np.sqrt(scale) / np.sum(1 / np.sqrt(scale))  # the relaxed optimum for Q = I
    z[-1] -= prior
    P = np.array([np.diag(scale * (np.arange(size) == j)) for j in range(size)])
    W = white(np.tensordot(z, P, axes=1) + prior * last)
    best = best_of_all(prior * W @ last @ W, W @ P @ W, b, W @ W)
    bound = allowed(prior * W @ last @ W, b, W @ W)
    assert bound / np.trace(W @ W) == pytest.approx((b + prior) / (b + prior - size + 1), rel=1e-3)
    assert 0.999 * bound < best <= bound * (1 + ROUND)


def rows_of(*matrices):
    """Rows of V with V^T V = the sum of the matrices, and the block that each row belongs to."""
    rows, blocks = [], []
    for t, matrix in enumerate(matrices):
        values, vectors = np.linalg.eigh(matrix)
        kept = values > 1e-12 * max(values[-1], 1e-300)
        rows.append((vectors * np.sqrt(np.maximum(values, 0))).T[kept])
        blocks += [t] * int(kept.sum())
    return np.concatenate(rows), np.array(blocks)


def truncated(C, picked, Q=None, keep=lambda counts: max(counts, default=0) <= 1):
    """Psi(C; picked), or its derivative in the direction Q, by Cauchy-Binet.

    keep decides, from the number of rows of every pick, whether a set of rows counts.
    """
    size = len(C)
    V, block = rows_of(C, *picked) if Q is None else rows_of(C, *picked, Q)
    total = 0.0
    for T in combinations(range(len(V)), size):
        counts = np.bincount(block[list(T)], minlength=len(picked) + 2)
        if (Q is None or counts[-1] == 1) and keep(counts[1 : len(picked) + 1]):
            total += np.linalg.det(V[list(T)]) ** 2
    return total


def truncated_by_interpolation(C, picked):
    """The same from values of det(C + sum y_t P_t) on a grid: coefficients of y^0 and y^1."""
    size, nodes = len(C), np.arange(len(C) + 1.0)
    functional = np.linalg.solve(
        np.vander(nodes, increasing=True).T, np.r_[1.0, 1, [0] * (size - 1)]
    )
    return sum(
        prod(functional[j] for j in index)
        * np.linalg.det(C + sum(nodes[j] * P for j, P in zip(index, picked, strict=True)))
        for index in product(range(size + 1), repeat=len(picked))
    )


@settings(max_examples=150, deadline=None)
@given(tiny(most_picks=3), seeds)
def test_the_truncated_determinant(instance, seed):
    """our-truncated: two ways to compute it, its range, and the inequality for the derivative."""
    C, P, _, b, Q = instance
    picked = P[np.random.default_rng(seed).integers(len(P), size=b)]
    S = C + picked.sum(axis=0)
    psi, volume = truncated(C, picked), np.linalg.det(S)
    tiny_part = 1e-9 * max(1.0, np.trace(S)) ** len(S)  # of the terms that cancel
    assert psi == pytest.approx(truncated_by_interpolation(C, picked), rel=1e-5, abs=tiny_part)
    assert -tiny_part <= psi <= volume + tiny_part
    if all(np.linalg.matrix_rank(M, tol=1e-9) == 1 for M in picked):
        assert psi == pytest.approx(volume, rel=1e-6, abs=tiny_part)
    if np.linalg.eigvalsh(S)[0] > 1e-4:
        slope = truncated(C, picked, Q)
        assert psi * np.trace(np.linalg.solve(S, Q)) <= slope * (1 + 1e-6) + tiny_part


def test_the_inequality_needs_a_decreasing_event():
    """Negative control: counting the sets with a row of every pick reverses it."""
    rng, broken = np.random.default_rng(0), 0
    for _ in range(20):
        C, picked, Q = psd(rng, 3, 1), [psd(rng, 3, 2), psd(rng, 3, 2)], psd(rng, 3, 1)
        S = C + sum(picked)
        parts = {}
        for name, keep in (("at most one", None), ("at least one", lambda n: min(n) >= 1)):
            rule = {} if keep is None else {"keep": keep}
            parts[name] = (
                truncated(C, picked, **rule) * np.trace(np.linalg.solve(S, Q)),
                truncated(C, picked, Q, **rule),
            )
        assert parts["at most one"][0] <= parts["at most one"][1] * (1 + ROUND)
        broken += parts["at least one"][0] > parts["at least one"][1] * (1 + ROUND)
    assert broken > 15


@settings(max_examples=60, deadline=None)
@given(tiny(most_points=3, most_picks=3))
def test_the_tilted_mean(instance):
    """The proof: E Psi = E phi(J), and the mean of f with the weights Psi is within the factor."""
    C, P, z, b, Q = instance
    bound = allowed(C, b, Q)
    if not np.isfinite(bound):
        return
    mean, weighted = 0.0, 0.0
    for picks in product(range(len(P)), repeat=b):
        S = C + P[list(picks)].sum(axis=0)
        weight = np.prod(z[list(picks)] / b) * truncated(C, P[list(picks)])
        mean += weight
        if np.linalg.eigvalsh(S)[0] > 1e-9:
            weighted += weight * np.trace(np.linalg.solve(S, Q))
    law = np.array([1.0])  # of J, a sum of independent zeros and ones
    for mu in np.clip(np.linalg.eigvalsh(C), 0, 1):
        law = np.convolve(law, [mu, 1 - mu])
    phi = np.array([np.prod([(b - j) / b for j in range(k)]) for k in range(len(law))])
    assert mean == pytest.approx(law @ phi, rel=1e-6, abs=1e-10)
    assert weighted <= bound * mean * (1 + 1e-6)


def test_the_determinant_itself_has_another_mean():
    """Negative control: for rank two E det S exceeds E phi(J), so the tilt must drop squares."""
    rng = np.random.default_rng(1)
    P = np.array([psd(rng, 3, 2) for _ in range(3)])
    z = np.full(3, 1.0)
    W = white(np.tensordot(z, P, axes=1))
    P, b = W @ P @ W, 3
    draws = list(product(range(3), repeat=b))
    volume = np.mean([np.linalg.det(P[list(d)].sum(axis=0)) for d in draws])
    psi = np.mean([truncated(np.zeros((3, 3)), P[list(d)]) for d in draws])
    assert psi == pytest.approx(6 / 27) and volume > 2 * psi


@settings(max_examples=200, deadline=None)
@given(seeds, st.integers(1, 3), st.integers(2, 6), st.booleans())
def test_forcing_one_vector_in_keeps_others_out(seed, r, count, degenerate):
    """our-forcing: for a random increasing event, P(A | k in T) <= P(A | k not in T)."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(max(count, r + 1), r))
    if degenerate:
        w = np.round(w)  # parallel and zero vectors
    sets = list(combinations(range(len(w)), r))
    weight = np.array([np.linalg.det(w[list(T)]) ** 2 for T in sets])
    inside = np.array([0 in T for T in sets])
    if weight[inside].sum() < 1e-9 or weight[~inside].sum() < 1e-9:
        return
    generators = [set(rng.choice(np.arange(1, len(w)), rng.integers(1, r + 1))) for _ in range(2)]
    event = np.array([any(g <= set(T) - {0} for g in generators) for T in sets])
    given_in = weight[inside & event].sum() / weight[inside].sum()
    given_out = weight[~inside & event].sum() / weight[~inside].sum()
    assert given_in <= given_out + 1e-9
