"""Candidates on the support, and exchanges with a bound on their number (our-support, our-swap).

Both are sections of the chapter on the guarantee. Instances and rules are in ``whitened``.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from whitened import (
    ROUND,
    barrier,
    capped_weights,
    etas,
    ftrl,
    instances,
    normalizer,
    smallest,
    traces_after,
)

import firal

seeds = st.integers(0, 2**32 - 1)
levels = st.floats(-1.0, 2.5).map(lambda e: 10.0**e)


# ------------------------------------------------------------------ candidates


@st.composite
def with_candidates(draw_from, capped=False):
    """F and z of the candidates, the labeled share, b, and zeta: what the candidates miss."""
    F, z, share, b = draw_from(instances(capped=capped))
    rng = np.random.default_rng(draw_from(seeds))
    kept = rng.permutation(len(F)) < draw_from(st.integers(b if capped else 1, len(F)))
    zeta = max(0.0, 1 - smallest(np.tensordot(z[kept], F[kept], axes=1)))
    assume(zeta < 0.999)
    return F[kept], z[kept], share, b, zeta


def line(b, zeta):
    """One dimension, b equal candidates: every selection of b points has lambda_min = 1 - zeta."""
    return np.full((b, 1, 1), (1 - zeta) / b)


@settings(max_examples=1500)
@given(with_candidates(), etas, seeds)
def test_some_candidate_gains_enough(instance, eta, seed):
    F, _, _, b, zeta = instance
    S = np.tensordot(np.random.default_rng(seed).integers(0, 3, size=len(F)), F, axes=1)
    M = normalizer(S, eta) * np.eye(len(S)) + eta * S
    root = np.trace(np.linalg.inv(M))
    gains = (root - traces_after(M, eta * F)) / eta
    assert gains.max() >= (1 - zeta) / (b + eta * root) * (1 - ROUND)


def ftrl_bound(size, b, eta, zeta):
    return (1 - zeta) * b / (b + eta * np.sqrt(size)) - (2 * np.sqrt(size) - 2) / eta


@settings(max_examples=600)
@given(with_candidates(), etas)
def test_ftrl_on_candidates(instance, eta):
    F, _, _, b, zeta = instance
    size = F.shape[1]
    S = ftrl(F, b, eta)[3]
    assert smallest(S) >= ftrl_bound(size, b, eta, zeta) - ROUND * (1 + np.sqrt(size) / eta)


@pytest.mark.parametrize("zeta", [0.05, 0.3])
def test_the_numerator_is_sharp(zeta):
    """With 1 - zeta/2 in its place the bounds of FTRL and of the adaptive rule fail."""
    b, eta = 20, 0.1
    assert ftrl_bound(1, b, eta, zeta) <= 1 - zeta < ftrl_bound(1, b, eta, zeta / 2)
    axes = (1 - zeta) * 5 / b * np.array([np.diag(row) for row in np.eye(5)])
    gain = (np.sqrt(5) - traces_after(np.sqrt(5) * np.eye(5), eta * axes)[0]) / eta
    bound = 1 / (b + eta * np.sqrt(5))
    assert (1 - zeta) * bound <= gain < (1 - zeta / 2) * bound


@settings(max_examples=500)
@given(with_candidates(), levels)
def test_adaptive_rule_on_candidates(instance, level):
    """Every step lifts the barrier by (1 - zeta)/(b + level) if the score is taken there."""
    F, _, _, b, zeta = instance
    size, lift = F.shape[1], (1 - zeta) / (b + level)
    S = np.zeros((size, size))
    for _ in range(b):
        before = barrier(S, level)
        S = S + F[np.argmin(traces_after(S - (before + lift) * np.eye(size), F))]
        assert barrier(S, level) >= before + lift * (1 - ROUND) - ROUND * size / level
    bound = (1 - zeta) * b / (b + level) - (size - 1) / level
    assert smallest(S) >= bound - ROUND * (1 + size / level)


@settings(max_examples=200)
@given(st.integers(2, 60), st.integers(1, 2000), st.floats(0, 0.9))
def test_the_best_rate_with_fewer_candidates(size, b, zeta):
    """(sqrt(1 - zeta) - sqrt(k/b))^2 is the largest value of (1 - zeta) b/(b + e) - k/e."""
    k = 2 * size - 2 * np.sqrt(size)
    assume((1 - zeta) * b > 1.01 * k)
    ratio = np.sqrt(k / (1 - zeta) / b)
    e = b * ratio / (1 - ratio) * np.array([1, 0.9, 1.1])
    values = (1 - zeta) * b / (b + e) - k / e
    closed = (np.sqrt(1 - zeta) - np.sqrt(k / b)) ** 2
    assert values[0] == pytest.approx(closed, rel=1e-6, abs=1e-9)
    assert values[0] >= values[1:].max()
    assert closed <= (1 - zeta) * (1 - np.sqrt(k / b)) ** 2 + 1e-12  # rescaled weights do better


@settings(max_examples=500)
@given(with_candidates(capped=True), etas)
def test_distinct_candidates(instance, eta):
    F, _, _, b, zeta = instance
    root = np.sqrt(F.shape[1])
    S = ftrl(F, b, eta, replace=False)[3]
    left = (1 - 1 / (b + eta * root)) ** b
    bound = (1 - zeta) * (1 - left) - (2 * root - 2) / eta
    assert smallest(S) >= bound - ROUND * (1 + root / eta)


def test_distinct_candidates_need_their_zeta():
    b, zeta, eta = 20, 0.5, 0.3
    measured = smallest(ftrl(line(b, zeta), b, eta, replace=False)[3])
    left = (1 - 1 / (b + eta)) ** b
    assert (1 - zeta) * (1 - left) <= measured < 1 - left


def greedy(own, S, Q, b):
    """f after every step, distinct points."""
    f, free = [], np.ones(len(own), dtype=bool)
    for _ in range(b):
        after = np.trace(np.linalg.solve(S + own, Q[None]), axis1=1, axis2=2)
        i = np.argmin(np.where(free, after, np.inf))
        S, free[i] = S + own[i], False
        f.append(after[i])
    return np.array(f)


def greedy_bound(own, z, C, Q, b, zeta):
    half = np.linalg.inv(np.linalg.cholesky(C))
    N = b + z @ np.linalg.eigvalsh(half @ own @ half.T)[:, -1]
    left = (1 - 1 / N) ** np.arange(1, b + 1)
    return (1 - zeta) * (1 - left) + np.trace(Q) / np.trace(np.linalg.solve(C, Q)) * left


@settings(max_examples=500)
@given(with_candidates(capped=True), seeds)
def test_greedy_on_candidates(instance, seed):
    """our-small-budget with zeta, and with the norms of the candidates alone in N."""
    F, z, share, b, _ = instance
    C, own = b * share, F - share
    assume(smallest(C) > 1e-6)
    zeta = max(0.0, 1 - smallest(C + np.tensordot(z, own, axes=1)))  # the weaker condition
    factor = np.random.default_rng(seed).normal(size=C.shape)
    Q = factor @ factor.T
    ratio = np.trace(Q) / greedy(own, C, Q, b)
    assert np.all(ratio >= greedy_bound(own, z, C, Q, b, zeta) - ROUND)


def test_greedy_on_candidates_needs_its_zeta():
    b, zeta, C, Q = 40, 0.5, np.full((1, 1), 0.2), np.eye(1)
    own = np.full((b, 1, 1), (1 - zeta - 0.2) / b)
    ratio = np.trace(Q) / greedy(own, C, Q, b)
    assert np.all(ratio >= greedy_bound(own, np.ones(b), C, Q, b, zeta) - 1e-12)
    assert ratio[-1] < greedy_bound(own, np.ones(b), C, Q, b, zeta / 2)[-1]


@settings(max_examples=300)
@given(with_candidates(), seeds)
def test_rescaled_weights(instance, seed):
    F, z, _, b, zeta = instance
    factor = np.random.default_rng(seed).normal(size=F.shape[1:])
    Q = factor @ factor.T
    total = np.tensordot(z * b / z.sum(), F, axes=1)
    f = np.trace(np.linalg.solve(total, Q))
    assert f <= z.sum() / b * np.trace(Q) / (1 - zeta) * (1 + ROUND)


@pytest.mark.parametrize("replace", [True, False])
def test_the_module_on_the_support(replace):
    """Rows with weight as the pool: the picks are those of the dense rule on the support."""
    rng = np.random.default_rng(5)
    pool, theta, b = rng.normal(size=(60, 3)), rng.normal(size=(2, 3)), 12
    w = rng.exponential(size=60) * (rng.permutation(60) < 25)
    z = capped_weights(w, b)
    kept = np.flatnonzero(z)
    H = np.array([firal.hessian(x, theta) for x in pool])
    values, vectors = np.linalg.eigh(np.tensordot(z, H, axes=1))
    white = vectors / np.sqrt(values) @ vectors.T
    F = white @ H @ white
    found = firal.sparsify(pool[kept], None, theta, z[kept], b, 8.0, replace=replace)
    picks, _, _, S = ftrl(F[kept], b, 8.0, replace=replace)
    assert list(found.indices) == picks
    assert found.lambda_min == pytest.approx(smallest(S), abs=1e-9)
    whole = firal.sparsify(pool, None, theta, z, b, 8.0, replace=replace)
    assert not set(whole.indices) <= set(kept)  # on the whole pool it takes other points


# ------------------------------------------------------------------ one exchange


def changes(W, F, factor=2):
    """a_i/(1 + 2 c_i) and a_i/(1 - 2 c_i) of all points; infinite where 2 c_i >= 1."""
    a, c = np.tensordot(F, W @ W, axes=2), np.tensordot(F, W, axes=2)
    room = np.where(factor * c < 1, 1 - factor * c, np.nan)
    return a / (1 + factor * c), np.nan_to_num(a / room, nan=np.inf)


def random_exchange(seed):
    """K and two positive semidefinite matrices; the second may leave."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 5))
    K = np.diag(np.exp(rng.normal(size=size) * rng.choice([0.0, 1.0, 2.0])))
    enter, leave = (rng.normal(size=(size, rng.integers(1, size + 1))) for _ in range(2))
    F = np.array([enter @ enter.T * 10 ** rng.uniform(-2, 2), leave @ leave.T])
    F[1] *= rng.uniform(0.02, 0.98) / 2 / np.vdot(np.linalg.inv(K), F[1])
    return K, F


def exchange_slack(K, F, factor=2):
    W = np.linalg.inv(K)
    down, up = changes(W, F, factor)
    after = np.trace(np.linalg.inv(K + F[0] - F[1]))
    return (np.trace(W) - down[0] + up[1] - after) / (down[0] + up[1])


@settings(max_examples=1500)
@given(seeds)
def test_one_exchange(seed):
    K, F = random_exchange(seed)
    assert smallest(K + F[0] - F[1]) > 0
    assert exchange_slack(K, F) >= -ROUND


def test_one_exchange_needs_the_factor_two():
    """Without it the inequality would say that the trace of the inverse is supermodular."""
    assert min(exchange_slack(*random_exchange(seed), factor=1) for seed in range(2000)) < -0.02


# ------------------------------------------------------------------ the rule


def swap_level(b, size, lift):
    return 1 / (2 / np.sqrt(b * size) + lift)


def state(F, chosen, lift):
    """The barrier of a set, the inverse of K, and tr K^{-1} - level."""
    size = F.shape[1]
    level = swap_level(chosen.sum(), size, lift)
    S = F[chosen].sum(axis=0)
    low = barrier(S, level)
    W = np.linalg.inv(S - (low + lift) * np.eye(size))
    return low, W, np.trace(W) - level


def exchange_rule(F, chosen, lift):
    """our-swap-count: the last set and all barriers."""
    chosen, barriers = chosen.copy(), []
    while True:
        low, W, drop = state(F, chosen, lift)
        barriers.append(low)
        enter, leave = changes(W, F)
        i, j = (
            np.argmax(np.where(chosen, -np.inf, enter)),
            np.argmin(np.where(chosen, leave, np.inf)),
        )
        if low + lift >= 1 or chosen.all() or enter[i] - leave[j] < drop:
            return chosen, np.array(barriers)
        chosen[i], chosen[j] = True, False


def end_slack(F, z, chosen, lift, price=1.0):
    """Right minus left side of the averaged inequality where the rule stops, in units of q."""
    low, W, drop = state(F, chosen, lift)
    c, q = np.tensordot(F, W, axes=2), np.trace(W @ W)
    alpha = changes(W, F)[1][chosen].min()
    if low + lift >= 1 or alpha == np.inf:
        return np.inf
    out = z * ~chosen
    right = 2 * alpha * (out @ c + (1 - z[chosen]) @ c[chosen]) + price * drop * (out @ (1 + 2 * c))
    return (right - (1 - low - lift) * q + np.trace(W)) / q


lifts = st.floats(-3.5, 0.0).map(lambda e: 10.0**e)


def first(m, b):
    return np.arange(m) < b


@settings(max_examples=500)
@given(instances(capped=True), lifts)
def test_number_of_exchanges(instance, lift):
    """Every exchange lifts the barrier by the lift, for any budget, so their number is bounded."""
    F, _, _, b = instance
    size = F.shape[1]
    _, barriers = exchange_rule(F, first(len(F), b), lift)
    assert barriers[0] >= -size / swap_level(b, size, lift) - ROUND
    assert np.all(np.diff(barriers) >= lift * (1 - 1e-6) - 1e-12)
    assert len(barriers) - 1 < (1 + 2 * np.sqrt(size / b)) / lift + size


@pytest.mark.parametrize("b", [25, 100, 400])
def test_the_number_of_exchanges_is_nearly_attained(b):
    """One dimension: b points without information leave, b points with 1/b enter."""
    F = np.repeat([0.0, 1 / b], b)[:, None, None]
    lift = (1 - 1e-9) / (b + np.sqrt(b) / 2)
    chosen, barriers = exchange_rule(F, first(2 * b, b), lift)
    assert not chosen[:b].any() and len(barriers) - 1 == b
    assert 0.6 < b / ((1 + 2 / np.sqrt(b)) / lift + 1) < 1
    _, barriers = exchange_rule(F, first(2 * b, b), lift * 1.001)
    assert len(barriers) == 1  # a larger lift, and nothing moves


@settings(max_examples=300)
@given(instances(capped=True), lifts)
def test_inequality_at_the_end(instance, lift):
    F, z, _, b = instance
    chosen, _ = exchange_rule(F, first(len(F), b), lift)
    assert end_slack(F, z, chosen, lift) >= -ROUND


@settings(max_examples=25)
@given(instances(capped=True, most=4), lifts)
def test_every_set_that_the_rule_leaves_alone(instance, lift):
    """Brute force: the inequality holds at all sets without an exchange, reached or not."""
    F, z, _, b = instance
    for members in combinations(range(len(F)), b):
        chosen = np.isin(np.arange(len(F)), members)
        _, barriers = exchange_rule(F, chosen, lift)
        if len(barriers) == 1:
            assert end_slack(F, z, chosen, lift) >= -ROUND


def test_the_price_of_the_lift_is_needed():
    rng = np.random.default_rng(0)
    F = rng.exponential(size=30)[:, None, None]
    z = np.full(30, 10 / 30)
    F /= np.tensordot(z, F, axes=1)
    chosen, _ = exchange_rule(F, np.argsort(np.argsort(F[:, 0, 0])) < 10, 0.3)
    assert end_slack(F, z, chosen, 0.3) >= 0 > end_slack(F, z, chosen, 0.3, price=0.0)


# ------------------------------------------------------------------ budgets above 36 d~


def large(seed, size, b, thin):
    """F and capped weights with b > 36 d~; points of rank one, or of any rank."""
    rng = np.random.default_rng(seed)
    m = b + int(rng.integers(5, b))
    factors = rng.normal(size=(m, size, 1 if thin else size)) * np.exp(rng.normal(size=(m, 1, 1)))
    H = factors @ factors.transpose(0, 2, 1)
    z = capped_weights(rng.exponential(size=m) ** 2 + 1e-3, b)
    values, vectors = np.linalg.eigh(np.tensordot(z, H, axes=1))
    white = vectors / np.sqrt(values) @ vectors.T
    return white @ H @ white, z


def swap_bound(size, b, lift):
    r = np.sqrt(size / b)
    return (1 - 6 * r) / (1 - 2 * r) + 2 / np.sqrt(b * size) - 1.25 * b * lift


def default_lift(size, b):
    return 8 / (5 * b * np.sqrt(b * size))


@settings(max_examples=40)
@given(seeds, st.integers(1, 3), st.integers(37, 120), st.booleans(), st.floats(-1.0, 1.5))
def test_guarantee_of_the_rule(seed, size, multiple, thin, exponent):
    """From the worst start: the points with the least information."""
    b = multiple * size
    F, z = large(seed, size, b, thin)
    start = np.argsort(np.argsort(np.trace(F, axis1=1, axis2=2))) < b
    lift = default_lift(size, b) * 10**exponent
    chosen, barriers = exchange_rule(F, start, lift)
    assert smallest(F[chosen].sum(axis=0)) >= swap_bound(size, b, lift)
    assert len(barriers) - 1 < (1 + 2 * np.sqrt(size / b)) / lift + size
    if exponent <= 0:
        assert len(barriers) - 1 < b * np.sqrt(b * size) * 10**-exponent


@pytest.mark.parametrize(("size", "b"), [(1, 40), (2, 80), (3, 120)])
def test_swapping_until_no_exchange_helps(size, b):
    """our-swap where it speaks, b > 36 d~: all pairs are tried at every step."""
    F, z = large(7, size, b, thin=True)
    chosen, level, r = first(len(F), b), np.sqrt(b * size) / 2, np.sqrt(size / b)
    while True:
        S = F[chosen].sum(axis=0)
        low = barrier(S, level)
        inside, outside = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        K = S - low * np.eye(size) - F[inside][:, None] + F[outside][None]
        values = np.linalg.eigvalsh(K)
        after = np.where(values[..., 0] > 0, np.sum(1 / values, axis=-1), np.inf)
        j, i = np.unravel_index(np.argmin(after), after.shape)
        if after[j, i] >= level * (1 - 1e-10):
            break
        chosen[inside[j]], chosen[outside[i]] = False, True
    assert low >= 1 - 4 * r / (1 - 2 * r)
    assert smallest(S) >= (1 - 6 * r) / (1 - 2 * r) + 2 / np.sqrt(b * size)


def test_swaps_need_the_caps():
    """Weight b/2 on one point: no set of distinct points can replace it."""
    b, size = 200, 2
    F = np.concatenate(
        [[np.diag([2 / b, 0.0])] * (b // 2), [np.diag([0.0, 2 / b])], np.zeros((b, 2, 2))]
    )
    chosen, _ = exchange_rule(F, first(len(F), b), default_lift(size, b))
    assert smallest(F[chosen].sum(axis=0)) < swap_bound(size, b, default_lift(size, b)) - 0.4


def test_swaps_on_candidates():
    """The bound falls by zeta, and by no less than that."""
    b, zeta = 400, 0.3
    F = np.concatenate([np.zeros((b, 1, 1)), line(b, zeta)])
    chosen, _ = exchange_rule(F, first(2 * b, b), default_lift(1, b))
    bound = swap_bound(1, b, default_lift(1, b))
    assert bound - zeta <= smallest(F[chosen].sum(axis=0)) < bound


def test_the_numbers_of_the_proof():
    """At the end 1 - l' is at most 4r/(1 - 2r) + (5/4) b lift, for r up to 1/6."""
    for size, b in [(1, 37), (3, 200), (7, 3000)]:
        r = np.sqrt(size / b)
        for lift in (0.0, default_lift(size, b), 0.1 / b):
            level, trace = swap_level(b, size, lift), np.sqrt(b * size) / 2
            general = size / level + 2 * (size + 2 * trace) * (1 + size / level) / (
                b - 2 * size - 2 * trace
            )
            general += lift * (b + 2 * trace)
            last = 1 + r + r**2 + 2 * r**3 / (1 - 2 * r)
            assert general == pytest.approx(4 * r / (1 - 2 * r) + lift * b * last, rel=1e-12)
            assert last < 1.25
        closed = swap_bound(size, b, default_lift(size, b))
        assert closed == pytest.approx((1 - 6 * r) / (1 - 2 * r), rel=1e-9)
        count = (1 + 2 * r) / default_lift(size, b) + size
        assert count < b * np.sqrt(b * size)
