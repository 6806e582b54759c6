"""Exchanges of points: the rule against a dense search over pairs, its count, its guarantee."""

import numpy as np
import pytest

import firal
from firal.selection import swap as module
from firal.selection.adaptive import adaptive_sparsify
from firal.selection.rounding import barrier_below
from firal.selection.swap import swap


def instance(seed, m=120, d=2, c=3, n0=4, budget=30):
    rng = np.random.default_rng(seed)
    pool = rng.normal(size=(m, d)) * np.exp(0.5 * rng.normal(size=(m, 1)))
    labeled, theta = rng.normal(size=(n0, d)), rng.normal(size=(c - 1, d))
    return pool, labeled, theta, firal.relax(pool, labeled, theta, budget).z, budget


def whitened(pool, labeled, theta, z, budget):
    size = theta.size
    share = sum((firal.hessian(x, theta) for x in labeled), np.zeros((size, size))) / budget
    H = np.array([firal.hessian(x, theta) for x in pool]) + share
    values, vectors = np.linalg.eigh(np.tensordot(z, H, axes=1))
    white = vectors / np.sqrt(values) @ vectors.T
    return white @ H @ white


def barrier(S, level):
    """By bisection."""
    values = np.linalg.eigvalsh(S)
    low, high = values[0] - len(values) / level, values[0]
    for _ in range(200):
        middle = (low + high) / 2
        below = np.sum(1 / (values - middle)) < level
        low, high = (middle, high) if below else (low, middle)
    return low


def dense_rule(F, chosen, lift):
    """The theorem's rule, pair by pair: exchange the pair with the smallest bound on the trace."""
    (b, size), chosen = (len(chosen), F.shape[1]), set(chosen)
    level, barriers = 1 / (2 / np.sqrt(b * size) + lift), []
    while True:
        S = F[sorted(chosen)].sum(axis=0)
        barriers.append(barrier(S, level))
        if barriers[-1] + lift >= 1:
            return chosen, barriers
        W = np.linalg.inv(S - (barriers[-1] + lift) * np.eye(size))
        bounds = {}
        for j in chosen:
            for i in set(range(len(F))) - chosen:
                c_i, c_j = np.vdot(W, F[i]), np.vdot(W, F[j])
                if 2 * c_j < 1:
                    lower = np.vdot(W @ W, F[i]) / (1 + 2 * c_i)
                    bounds[j, i] = np.trace(W) - lower + np.vdot(W @ W, F[j]) / (1 - 2 * c_j)
        pair = min(bounds, key=bounds.get, default=None)
        if pair is None or bounds[pair] > level:
            return chosen, barriers
        chosen = (chosen - {pair[0]}) | {pair[1]}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("c", "budget"), [(2, 8), (3, 25), (4, 12)])
def test_agrees_with_a_search_over_all_pairs(seed, c, budget):
    pool, labeled, theta, z, _ = instance(seed, m=40, c=c, budget=budget)
    if seed % 3 == 0:  # far from optimal weights: other sets are better, and the barrier reaches 1
        z = np.full(40, budget / 40)
    start, lift = np.random.default_rng(seed).permutation(40)[:budget], 10.0 ** -(2 + seed % 4)
    found = swap(pool, labeled, theta, z, budget, start=start, lift=lift)
    F = whitened(pool, labeled, theta, z, budget)
    chosen, barriers = dense_rule(F, start, lift)
    assert set(found.indices) == chosen
    assert found.exchanges == len(barriers) - 1
    np.testing.assert_allclose(found.barriers, barriers, atol=1e-9)


def test_ends_when_the_barrier_reaches_one():
    """Far points have weight zero here: without the second ending the search would take them."""
    pool = np.concatenate([np.linspace(1, 2, 50), np.linspace(8, 9, 50)])[:, None]
    z = np.repeat([1.0, 0.0], 50)
    found = swap(pool, None, np.array([[0.01]]), z, 50)
    assert found.exchanges == 1 and found.barriers[0] < 0.9 and found.barriers[1] > 1


@pytest.mark.parametrize("lift", [None, 1e-4, 3e-3])
def test_every_exchange_lifts_the_barrier(lift):
    data = instance(3, budget=40)
    found = swap(*data, start=np.argsort(data[3])[:40], lift=lift)
    delta = lift or 8 / (5 * 40 * np.sqrt(40 * 4))
    assert found.exchanges > 0 and np.diff(found.barriers).min() >= delta * (1 - 1e-6)
    assert found.exchanges <= found.limit < (1 + 2 * np.sqrt(4 / 40)) / delta + 4


def test_guarantee_where_it_speaks():
    data = instance(4, m=400, c=2, budget=150)  # 150 > 36 * 2
    for start in (None, np.argsort(data[3])[:150], np.arange(150)):
        found = swap(*data, start=start)
        assert found.lambda_min >= found.guarantee > 0.2
        assert found.exchanges < 150 * np.sqrt(150 * 2)
    F = whitened(*data)
    S = F[found.indices].sum(axis=0)
    assert found.lambda_min == pytest.approx(np.linalg.eigvalsh(S)[0], abs=1e-10)
    assert np.linalg.eigvalsh(F[np.argsort(data[3])[:150]].sum(axis=0))[0] < found.guarantee


def test_no_guarantee_outside_the_theorem():
    assert swap(*instance(5, budget=30)).guarantee is None  # 30 < 36 * 4
    pool, labeled, theta, _, _ = data = instance(6, m=400, c=2, budget=150)
    z = firal.relax(pool, labeled, theta, 150, capped=False).z
    assert z.max() > 1 and swap(pool, labeled, theta, z, 150).guarantee is None
    assert swap(*data).guarantee is not None
    z = data[3] * (1 - 1e-3)
    z[np.argmax(z)] += 150 - z.sum()  # one weight just above 1
    assert 1 < z.max() < 1.5 and swap(pool, labeled, theta, z, 150).guarantee is None


def test_the_guarantee_in_closed_form():
    b, size, r = 200, 2, 0.1
    default = 8 / (5 * b * np.sqrt(b * size))
    assert module._guarantee(b, size, default) == pytest.approx((1 - 6 * r) / (1 - 2 * r))
    assert module._guarantee(72, size, default) is None
    assert module._guarantee(73, size, default) is not None


def test_all_points_and_one_point():
    data = instance(7, m=30, budget=30)
    assert swap(*data).exchanges == 0
    assert swap(*instance(7, m=30, budget=1)).exchanges <= 1


def test_starts_from_another_selection():
    data = instance(8, budget=40)
    first = adaptive_sparsify(*data)
    found = swap(*data, start=first.indices)
    level = 1 / (2 / np.sqrt(40 * 4) + 8 / (5 * 40 * np.sqrt(40 * 4)))
    S = whitened(*data)[first.indices].sum(axis=0)
    assert found.barriers[0] == pytest.approx(barrier_below(np.linalg.eigvalsh(S), level), abs=1e-9)
    assert found.barriers[-1] >= found.barriers[0]


@pytest.mark.parametrize("start", [[0, 1], [0] * 30, list(range(91, 121)), np.linspace(0, 1, 30)])
def test_wrong_start(start):
    with pytest.raises(ValueError, match="start must be 30 distinct rows between 0 and 119"):
        swap(*instance(9), start=start)


def test_wrong_lift():
    with pytest.raises(ValueError, match="lift"):
        swap(*instance(9), lift=0)


def test_repr_is_short():
    assert repr(swap(*instance(9))).startswith("SwapSelection(indices=[")


def test_the_limit_by_hand():
    # b = 30, size 4, lift 0.01: (1 + 8 / sqrt(120)) / 0.01 + 4 = 177.03, so fewer than 178
    assert swap(*instance(9), lift=0.01).limit == 177
