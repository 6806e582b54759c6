"""The bounds that the chapters on sparsification and the guarantee prove, on random instances.

An instance is a stack F (m, D, D) of positive semidefinite matrices and weights z (m,) with
sum(z) = b and sum_i z_i F_i = I. That is all the proofs use, so nothing here knows of logistic
regression. Hypothesis draws sizes, ranks, scales, learning rates and seeds; the sharper
bounds alone (our-gain, our-sharper) run on 10,000 instances. Everything is dense and literal.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROUND = 1e-7  # slack for rounding, relative to quantities of order one


def draw(seed, size, m, rank, budget, spread, share, capped):
    """F, z and the part of every F_i that all points share (the labeled points' part)."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(m, size, min(rank, size)))
    own = factors @ factors.transpose(0, 2, 1) * np.exp(spread * rng.normal(size=(m, 1, 1)))
    own += 1e-3 * np.eye(size) * np.trace(own.mean(axis=0))  # keeps the whitening well posed
    common = np.cov(rng.normal(size=(size, size + 2))).reshape(size, size) * share
    w = rng.exponential(size=m) ** 2 + 1e-3
    z = capped_weights(w, budget) if capped else w * budget / w.sum()
    values, vectors = np.linalg.eigh(np.tensordot(z, own + common, axes=1))
    white = vectors / np.sqrt(values) @ vectors.T
    return white @ (own + common) @ white, z, white @ common @ white


def capped_weights(w, budget):
    """min(1, s w) with sum ``budget``, by bisection on log s."""
    low, high = -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        too_much = np.minimum(1, np.exp(middle) * w).sum() > budget
        low, high = (low, middle) if too_much else (middle, high)
    return np.minimum(1, np.exp(low) * w)


def instances(capped=False, most=12):
    """Strategy for (F, z, share, budget); capped ones have more points than the budget."""

    @st.composite
    def build(draw_from):
        size = draw_from(st.integers(1, 4))
        budget = draw_from(st.integers(1, most))
        m = draw_from(st.integers(budget + 1, budget + 8) if capped else st.integers(1, 8))
        F, z, share = draw(
            seed=draw_from(st.integers(0, 2**32 - 1)),
            size=size,
            m=m,
            rank=draw_from(st.integers(1, 4)),
            budget=budget,
            spread=draw_from(st.sampled_from([0.0, 1.0, 3.0])),
            share=draw_from(st.sampled_from([0.0, 0.1, 10.0])),
            capped=capped,
        )
        return F, z, share, budget

    return build()


etas = st.floats(-1.5, 2.5).map(lambda exponent: 10.0**exponent)


def traces_after(M, F):
    """tr (M + F_i)^{-1} for every i."""
    return np.trace(np.linalg.inv(M + F), axis1=1, axis2=2)


def shift(gaps, power, target):
    """u with sum_j (u + gaps_j)^{-power} = target^power; the smallest gap is zero.

    Newton's method on the concave increasing (sum_j (u + gaps_j)^{-power})^{-1/power}.
    """
    u = 1 / target
    for _ in range(60):
        total = np.sum((u + gaps) ** -power)
        slope = np.sum((u + gaps) ** (-power - 1)) / total ** (1 + 1 / power)
        step = (1 / target - total ** (-1 / power)) / slope
        u += step
        if step <= 1e-15 * u:
            break
    return u


def normalizer(S, eta):
    """nu with tr (nu I + eta S)^{-2} = 1."""
    values = eta * np.linalg.eigvalsh(S)
    return shift(values - values[0], 2.0, 1.0) - values[0]


def barrier(S, level):
    """l below the spectrum with tr (S - l I)^{-1} = level."""
    values = np.linalg.eigvalsh(S)
    return values[0] - shift(values - values[0], 1.0, level)


def test_shifts_solve_their_equations():
    S = np.diag([0.3, 0.7, 2.0])
    for value in (0.1, 3.0, 200.0):
        nu, low = normalizer(S, value), barrier(S, value)
        assert np.sum((nu + value * np.diag(S)) ** -2.0) == pytest.approx(1, rel=1e-9)
        assert low < 0.3 and np.sum(1 / (np.diag(S) - low)) == pytest.approx(value, rel=1e-9)


def smallest(S):
    return np.linalg.eigvalsh(S)[0]


def ftrl(F, budget, eta, replace=True):
    """Picks, their gains, tr A_t^{1/2} before every step, and the final sum."""
    S, picks, gains, roots = np.zeros(F.shape[1:]), [], [], []
    for _ in range(budget):
        M = normalizer(S, eta) * np.eye(len(S)) + eta * S
        roots.append(np.trace(np.linalg.inv(M)))
        gain = (roots[-1] - traces_after(M, eta * F)) / eta
        if not replace:
            gain[picks] = -np.inf
        picks.append(int(np.argmax(gain)))
        gains.append(gain[picks[-1]])
        S = S + F[picks[-1]]
    return picks, np.array(gains), np.array(roots), S


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


def test_the_selection_bound_is_tight():
    """One point in one dimension attains it, so no larger constant is true."""
    for b, eta in [(1, 0.1), (5, 3.0), (20, 40.0)]:
        F = np.full((1, 1, 1), 1 / b)
        _, gains, _, _ = ftrl(F, 1, eta)
        assert gains[0] == pytest.approx(1 / (b + eta), rel=1e-12)


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


def test_the_regret_bound_needs_its_constant():
    """One loss that leaves a direction alone uses more than half of the allowance."""
    eta, size, huge = 2.0, 9, 1e9
    M = normalizer(np.zeros((size, size)), eta) * np.eye(size)
    F = np.diag([0.0] + [huge] * (size - 1))
    gain = (np.trace(np.linalg.inv(M)) - traces_after(M, eta * F[None])[0]) / eta
    # lambda_min = 0 and gain = (sqrt(d~) - 1/sqrt(d~))/eta: below the allowance, above half of it
    allowance = (2 * np.sqrt(size) - 2) / eta
    assert 0.5 * allowance < gain < allowance


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


def test_swap_guarantee_in_closed_form():
    """our-swap: at level sqrt(b d~)/2 the general bound collapses to (1 - 6r)/(1 - 2r)."""
    for size, b in [(1, 40), (3, 200), (7, 3000)]:
        r, level = np.sqrt(size / b), np.sqrt(b * size) / 2
        general = size / level + 2 * (size + 2 * level) * (1 + size / level) / (
            b - 2 * size - 2 * level
        )
        assert general == pytest.approx(4 * r / (1 - 2 * r), rel=1e-12)
        assert 1 - general == pytest.approx((1 - 6 * r) / (1 - 2 * r), rel=1e-9)


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
