"""The bounds that the chapters on sparsification and the guarantee prove, on random instances.

Instances and rules are in ``whitened``. Hypothesis draws sizes, ranks, scales, learning rates and
seeds; the sharper bounds alone (our-gain, our-sharper) run on 10,000 instances.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whitened import ROUND, barrier, draw, etas, ftrl, instances, normalizer, smallest, traces_after


def test_shifts_solve_their_equations():
    S = np.diag([0.3, 0.7, 2.0])
    for value in (0.1, 3.0, 200.0):
        nu, low = normalizer(S, value), barrier(S, value)
        assert np.sum((nu + value * np.diag(S)) ** -2.0) == pytest.approx(1, rel=1e-9)
        assert low < 0.3 and np.sum(1 / (np.diag(S) - low)) == pytest.approx(value, rel=1e-9)


# ------------------------------------------------------------------ the sharper selection bound


@settings(max_examples=6500)
@given(instances(), etas, st.integers(0, 2**32 - 1))
def test_some_point_always_gains_enough(instance, eta, seed):
    """our-gain: the best gain is >= 1/(b + eta tr A^{1/2}), at any state, not only FTRL's own."""
    F, z, _, b = instance
    size = F.shape[1]
    past = np.random.default_rng(seed).integers(0, 3, size=len(F))
    S = np.tensordot(past, F, axes=1)
    M = normalizer(S, eta) * np.eye(size) + eta * S
    root = np.trace(np.linalg.inv(M))
    gains = (root - traces_after(M, eta * F)) / eta
    bound = 1 / (b + eta * root)
    assert gains.max() >= bound * (1 - ROUND)
    assert bound >= 1 / (b + eta * np.sqrt(size)) * (1 - ROUND)  # since tr A^{1/2} <= sqrt(d~)
    assert gains.max() >= (1 - eta / (2 * b)) / (b + eta * np.sqrt(size))  # Proposition 9


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
@pytest.mark.parametrize(("b", "eta"), [(1, 0.1), (5, 3.0), (20, 40.0)])
def test_the_selection_bound_is_tight(size, b, eta):
    """our-gain: points along the axes attain it at I/d~: no larger constant is true for any d~."""
    F = np.array([np.diag(row) for row in np.eye(size)]) * size / b
    root = np.eye(size) / np.sqrt(size)
    gains = (np.trace(root) - traces_after(np.linalg.inv(root), eta * F)) / eta
    np.testing.assert_allclose(gains, 1 / (b + eta * np.sqrt(size)), rtol=1e-12)
    assert ftrl(F, 1, eta)[1][0] == pytest.approx(1 / (b + eta * np.sqrt(size)), rel=1e-12)


@pytest.mark.parametrize(("size", "seed"), [(1, 0), (2, 1), (3, 2), (4, 5)])
def test_thin_instances_reach_equality(size, seed):
    """As many points as dimensions, of rank one: orthogonal after the whitening, with any weights.

    With F_j = u_j u_j^T / z_j there is a state at which all gains are equal to the bound v: the
    eigenvalues A_j solve A_j = v (z_j + eta sqrt(A_j)), and v gives them the sum one.
    """
    b, eta = 7, 2.0
    F, z, _ = draw(seed, size, size, 1, b, 0.5, 0.0, False)
    assert np.linalg.matrix_rank(F, tol=1e-9).max() == 1  # thin: no ridge was added
    low, high = 0.0, 1.0
    for _ in range(100):
        v = (low + high) / 2
        roots = (eta * v + np.sqrt((eta * v) ** 2 + 4 * v * z)) / 2
        low, high = (v, high) if np.sum(roots**2) < 1 else (low, v)
    axes = np.linalg.eigh(F)[1][:, :, -1]
    M = axes.T / roots @ axes  # A^{-1/2}
    gains = (roots.sum() - traces_after(M, eta * F)) / eta
    np.testing.assert_allclose(gains, 1 / (b + eta * roots.sum()), rtol=1e-6)


@settings(max_examples=1500)
@given(st.integers(1, 5), st.integers(1, 10), etas, st.integers(0, 2**32 - 1))
def test_regret_bound_for_any_losses(size, steps, eta, seed):
    """our-regret: Proposition 8 with 2 sqrt(d~) - 2, whatever matrices an adversary shows."""
    rng = np.random.default_rng(seed)
    S, total = np.zeros((size, size)), 0.0
    for _ in range(steps):
        factor = rng.normal(size=(size, rng.integers(1, size + 1))) * np.exp(rng.normal())
        M = normalizer(S, eta) * np.eye(size) + eta * S
        F = factor @ factor.T
        total += (np.trace(np.linalg.inv(M)) - traces_after(M, eta * F[None])[0]) / eta
        S = S + F
        assert smallest(S) >= total - (2 * np.sqrt(size) - 2) / eta - ROUND * (1 + total)


@pytest.mark.parametrize("size", [2, 4, 16])
def test_the_regret_bound_needs_its_constant(size):
    """our-regret: a patient adversary that starves one direction uses all of the allowance.

    lambda_min stays zero, and the gains add up to nearly (2 sqrt(d~) - 2)/eta. In one step they are
    (sqrt(d~) - 1/sqrt(d~))/eta at most.
    """
    eta, J = 2.0, np.diag([0.0] + [1.0] * (size - 1))

    def share(sums):
        total = 0.0
        for before, after in zip(sums[:-1], sums[1:], strict=True):
            M = normalizer(before * J, eta) * np.eye(size) + eta * before * J
            step = eta * (after - before) * J
            total += (np.trace(np.linalg.inv(M)) - traces_after(M, step[None])[0]) / eta
        return total * eta / (2 * np.sqrt(size) - 2)

    assert 0.995 < share(np.concatenate([[0.0], np.geomspace(1e-2, 1e5, 800)])) < 1
    assert 0.5 < share([0.0, 1e5]) < 0.9


@settings(max_examples=3500)
@given(instances(), etas)
def test_sharper_theorem(instance, eta):
    """our-sharper: b/(b + eta sqrt(d~)) - (2 sqrt(d~) - 2)/eta, and its anytime form."""
    F, _, _, b = instance
    root = np.sqrt(F.shape[1])
    _, gains, roots, S = ftrl(F, b, eta)
    apriori = b / (b + eta * root) - (2 * root - 2) / eta
    anytime = np.sum(1 / (b + eta * roots)) - (2 * root - 2) / eta
    aposteriori = gains.sum() - (2 * root - 2) / eta
    assert apriori <= anytime + ROUND and anytime <= aposteriori + ROUND
    assert smallest(S) >= aposteriori - ROUND * (1 + gains.sum())


@settings(max_examples=300)
@given(st.integers(1, 400), st.integers(1, 200_000))
def test_the_closed_form_eta_is_the_best_one(size, budget):
    """The largest a priori bound is (1 - sqrt(k/b))^2 with k = 2 d~ - 2 sqrt(d~)."""
    k = 2 * size - 2 * np.sqrt(size)
    if not 0 < k < budget:
        return
    r = np.sqrt(k / budget)

    def bound(eta):
        return budget / (budget + eta * np.sqrt(size)) - (2 * np.sqrt(size) - 2) / eta

    eta = budget * r / (1 - r) / np.sqrt(size)
    assert bound(eta) == pytest.approx((1 - r) ** 2, rel=1e-6, abs=1e-9)
    assert max(bound(eta * 1.05), bound(eta / 1.05)) < bound(eta)


# ------------------------------------------------------------------ beyond the paper's algorithm


@settings(max_examples=1500)
@given(instances(), st.floats(-1.0, 2.5).map(lambda e: 10.0**e))
def test_barrier_theorem(instance, level):
    """our-barrier: every step lifts the barrier by 1/(b + level); the end is b/(b+e) - (d~-1)/e."""
    F, _, _, b = instance
    size = F.shape[1]
    S = np.zeros((size, size))
    for _ in range(b):
        before = barrier(S, level)
        M = S - (before + 1 / (b + level)) * np.eye(size)
        S = S + F[np.argmin(traces_after(M, F))]
        assert barrier(S, level) >= before + (1 - ROUND) / (b + level) - ROUND * size / level
    bound = b / (b + level) - (size - 1) / level
    assert smallest(S) >= bound - ROUND * (1 + size / level)


@settings(max_examples=1000)
@given(instances(capped=True), etas)
def test_distinct_points(instance, eta):
    """our-distinct: FTRL without replacement on capped weights loses 1 - 1/e at most."""
    F, _, _, b = instance
    root = np.sqrt(F.shape[1])
    _, _, _, S = ftrl(F, b, eta, replace=False)
    bound = 1 - (1 - 1 / (b + eta * root)) ** b - (2 * root - 2) / eta
    assert smallest(S) >= bound - ROUND * (1 + root / eta)


def test_distinct_points_need_the_cap():
    """Negative control: with uncapped weights the same bound fails."""
    b, eta = 20, 30.0
    # weight 1 on each of ten points along the first axis, 10 on one along the second: sum z F = I
    F = np.array([np.diag([0.1, 0.0])] * 10 + [np.diag([0.0, 0.1])])
    padded = np.concatenate([F, np.zeros((10, 2, 2))])  # zero weight: they fill the pool
    _, _, _, S = ftrl(padded, b, eta, replace=False)
    root = np.sqrt(2)
    bound = 1 - (1 - 1 / (b + eta * root)) ** b - (2 * root - 2) / eta
    assert smallest(S) < bound


@settings(max_examples=1000)
@given(instances(capped=True), st.integers(0, 2**32 - 1))
def test_small_budgets(instance, seed):
    """our-small-budget: greedy on f, distinct points, any b, once the labeled part is definite."""
    F, z, share, b = instance
    size = F.shape[1]
    own, S = F - share, b * share
    if smallest(S) < 1e-8:  # no labeled points: outside the theorem
        return
    factor = np.random.default_rng(seed).normal(size=(size, size))
    Hp = factor @ factor.T
    best = np.trace(Hp)  # f at the relaxed weights, where the sum is I
    N = b + np.trace(np.linalg.inv(S)) - size
    start = np.trace(np.linalg.solve(S, Hp))
    picks = []
    for t in range(1, b + 1):
        after = np.trace(np.linalg.solve(S + own, Hp[None]), axis1=1, axis2=2)
        after[picks] = np.inf
        picks.append(int(np.argmin(after)))
        S = S + own[picks[-1]]
        bound = 1 - (1 - best / start) * (1 - 1 / N) ** t
        assert best / after[picks[-1]] >= bound - ROUND


@settings(max_examples=150)
@given(instances(capped=True, most=8), st.floats(-0.5, 1.5).map(lambda e: 10.0**e))
def test_swap_optimum(instance, level):
    """our-swap: the inequality that a selection satisfies when no swap helps."""
    F, z, _, b = instance
    size, m = F.shape[1], len(F)
    chosen = list(range(b))
    while True:  # first improvement; the barrier rises with every swap, so this ends
        S = F[chosen].sum(axis=0)
        M = S - barrier(S, level) * np.eye(size)
        others = [i for i in range(m) if i not in chosen]
        after = {
            (j, i): np.trace(np.linalg.inv(M - F[j] + F[i]))
            for j in chosen
            for i in others
            if smallest(M - F[j] + F[i]) > 0
        }
        pair = min(after, key=after.get, default=None)
        if pair is None or after[pair] >= level * (1 - 1e-9):
            break
        chosen = [i for i in chosen if i != pair[0]] + [pair[1]]
    W = np.linalg.inv(M)
    a, c = np.tensordot(F, W @ W, axes=2), np.tensordot(F, W, axes=2)
    removable = [a[j] / (1 - 2 * c[j]) for j in chosen if 2 * c[j] < 1 - 1e-9]
    if not removable:
        return
    x = sum(z[i] * c[i] for i in others)
    y = sum((1 - z[j]) * c[j] for j in chosen)
    left = np.vdot(W @ W, np.eye(size) - S)
    assert left <= 2 * min(removable) * (x + y) * (1 + ROUND) + ROUND * np.trace(W @ W)


@st.composite
def few_points(draw_from):
    """A tiny instance whose selections with replacement can all be listed: own, share, z, b, Q."""
    rng = np.random.default_rng(draw_from(st.integers(0, 2**32 - 1)))
    size, m, b = (draw_from(st.integers(low, 4)) for low in (1, 2, 1))
    factors = rng.normal(size=(m, size, 1)) * np.exp(rng.normal(size=(m, 1, 1)))
    own = factors @ factors.transpose(0, 2, 1)
    common = np.diag(rng.exponential(size=size)) * draw_from(st.sampled_from([0.0, 0.1, 1.0]))
    z = rng.exponential(size=m) + 0.05
    z *= b / z.sum()
    values, vectors = np.linalg.eigh(np.tensordot(z, own, axes=1) + common)
    if values[0] < 1e-6 * values[-1]:
        common = common + 0.1 * np.eye(size)  # too few points to span the space
        values, vectors = np.linalg.eigh(np.tensordot(z, own, axes=1) + common)
    white = vectors / np.sqrt(values) @ vectors.T
    q = rng.normal(size=(size, size))
    return white @ own @ white, white @ common @ white, z, b, q @ q.T


def listed(own, common, z, b):
    """Information and probability of every sequence of b draws."""
    sequences = np.array(list(product(range(len(own)), repeat=b)))
    return common + own[sequences].sum(axis=1), np.prod(z[sequences] / b, axis=1)


@settings(max_examples=400)
@given(few_points())
def test_two_classes(instance):
    """our-volume: the expected determinant, the tilted mean of f, and so the best selection."""
    own, common, z, b, Q = instance
    S, chance = listed(own, common, z, b)
    size, mu = len(Q), np.linalg.eigvalsh(common)
    if b < size and mu[0] < 1e-3:
        return
    weight = chance * np.linalg.det(S)
    polynomial = np.poly1d([1.0])
    for value in mu:
        polynomial *= np.poly1d([1 - value, value])  # value + x (1 - value)
    falling = [np.prod([(b - j) / b for j in range(k)]) for k in range(size + 1)]
    expected = sum(c * falling[k] for k, c in enumerate(polynomial.c[::-1]))
    assert weight.sum() == pytest.approx(expected, rel=1e-6, abs=1e-12)
    regular = weight > 1e-9 * weight.sum()
    f = np.trace(np.linalg.solve(S[regular], Q[None]), axis1=1, axis2=2)
    allowed = np.max(1 / (mu + (1 - mu) * max(0, 1 - (size - 1) / b))) * np.trace(Q)
    assert np.sum(weight[regular] * f) / weight.sum() <= allowed * (1 + 1e-6)
    assert f.min() <= allowed * (1 + 1e-6)


def test_the_two_class_factor_is_false_for_three_classes():
    """d = 2, c = 3, b = 2 points: even the best selection misses the factor b/(b-d+1) = 2."""
    rng = np.random.default_rng(7)
    worst = 0.0
    for _ in range(200):
        X, theta = rng.normal(size=(4, 2)), 3 * rng.normal(size=(2, 2))
        odds = np.exp(np.column_stack([X @ theta.T, np.zeros(4)]))
        h = (odds / odds.sum(axis=1, keepdims=True))[:, :2]
        own = np.array(
            [
                np.kron(np.diag(p) - np.outer(p, p), np.outer(x, x))
                for p, x in zip(h, X, strict=True)
            ]
        )
        z = np.full(4, 0.5)
        values, vectors = np.linalg.eigh(np.tensordot(z, own, axes=1))
        white = vectors / np.sqrt(values) @ vectors.T
        S, _ = listed(white @ own @ white, np.zeros((4, 4)), z, 2)
        regular = np.linalg.eigvalsh(S)[:, 0] > 1e-9
        if regular.any():
            best = np.trace(np.linalg.inv(S[regular]), axis1=1, axis2=2).min() / 4
            worst = max(worst, best)
    assert worst > 4


# ------------------------------------------------------------------ the printed proof, step 3


def step_three(A, D, b, eta):
    """E and M of step 3 of the printed proof of Proposition 9, without inverting D."""
    values, vectors = np.linalg.eigh(A)
    half = vectors * np.sqrt(values) @ vectors.T
    B_half = np.linalg.inv(np.linalg.inv(half) + eta * D)
    E = D - eta * D @ B_half @ D
    M = half @ (np.eye(len(A)) - b * D) @ A
    return E, M + M.T


COUNTEREXAMPLE = dict(A=np.diag([0.96**2, 0.28**2]), D=np.array([[0.5, -0.45], [-0.45, 0.5]]), b=1)


def test_counterexample_to_the_printed_step():
    """M is indefinite, and a matrix below D~ has the larger inner product with it."""
    A, D, b = COUNTEREXAMPLE.values()
    assert np.trace(A) == pytest.approx(1)
    assert smallest(D) > 0 and smallest(np.eye(2) - b * D) > 0  # D~ is admissible
    _, M = step_three(A, D, b, eta=1.0)
    values, vectors = np.linalg.eigh(M)
    assert values[0] < -3e-3
    v = vectors[:, 0]
    E = D - np.outer(v, v) / (v @ np.linalg.solve(D, v))
    assert smallest(E) > -1e-12 and smallest(D - E) > -1e-12  # 0 <= E <= D~
    assert np.vdot(E, M) > np.vdot(D, M) + 1e-4  # although E <= D~


@settings(max_examples=1000)
@given(instances(), etas, st.integers(0, 2**32 - 1))
def test_the_printed_step_can_be_repaired(instance, eta, seed):
    """our-repair: for the E of the proof the inequality is true, by an identity in Y and Z."""
    F, _, share, b = instance
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=share.shape)
    A = factor @ factor.T + 1e-3 * np.eye(len(factor))
    A /= np.trace(A)
    E, M = step_three(A, share, b, eta)
    values, vectors = np.linalg.eigh(A)
    S = vectors * np.sqrt(values) @ vectors.T
    S_half = vectors * values**0.25 @ vectors.T
    Y = b * S_half @ share @ S_half
    Z = S - Y
    phi = Y @ np.linalg.solve(np.eye(len(S)) + eta / b * Y, Y)
    identity = 2 * eta / b**2 * (np.trace(phi @ Z @ Y) + np.trace(phi @ Z @ Z))
    assert np.vdot(share - E, M) == pytest.approx(identity, rel=1e-5, abs=1e-9)
    assert identity >= -1e-12
