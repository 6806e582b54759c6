"""The strategies against slow versions; BAIT's two greedy phases by brute force."""

import itertools

import numpy as np
import pytest
import reference
import reference_bait as literal
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_select import tiny_problem

from firal import strategies
from firal.engine.clusters import nearest_distinct
from firal.selection.bait import _backward, _BaitRule, _forward, bait
from firal.selection.end_to_end import select
from firal.selection.penalized import select_penalized
from firal.selection.problem import prepare_problem
from firal.strategies import STRATEGIES


def problem(seed=0, m=40, d=3, c=3, n0=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=(n0, d)), rng.normal(size=(c - 1, d))


@pytest.mark.parametrize("name", STRATEGIES)
def test_one_signature_distinct_rows_and_repeatable(name):
    pool, labeled, theta = problem()
    pool_before = pool.copy()
    rows = [STRATEGIES[name](pool, labeled, theta, 5, np.random.default_rng(7)) for _ in range(2)]
    assert np.array_equal(*rows)
    assert rows[0].shape == (5,) and np.unique(rows[0]).size == 5
    assert 0 <= rows[0].min() and rows[0].max() < len(pool)
    assert np.array_equal(pool, pool_before)


@pytest.mark.parametrize("name", ["entropy", "var-ratios", "bait", "firal"])
def test_the_other_four_do_not_use_the_generator(name):
    pool, labeled, theta = problem(1)
    rows = [STRATEGIES[name](pool, labeled, theta, 4, np.random.default_rng(s)) for s in (0, 1)]
    assert np.array_equal(*rows)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("budget", [0, 41, 2.0])
def test_budget_is_checked(name, budget):
    with pytest.raises(ValueError, match="budget must be"):
        STRATEGIES[name](*problem(), budget, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["random", "kmeans", "firal-ridge"])
def test_a_generator_is_required(name):
    with pytest.raises(ValueError, match="rng must be a numpy.random.Generator"):
        STRATEGIES[name](*problem(), 3, 0)


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_whole_pool(name):
    pool, labeled, theta = problem(m=8)
    rows = STRATEGIES[name](pool, labeled, theta, 8, np.random.default_rng(0))
    assert sorted(rows) == list(range(8))


def test_random_is_uniform_over_pairs():
    pool, labeled, theta = problem(m=5)
    rng = np.random.default_rng(0)
    draws = 6000
    pairs = dict.fromkeys(itertools.combinations(range(5), 2), 0)
    for _ in range(draws):
        pairs[tuple(sorted(strategies.random(pool, labeled, theta, 2, rng).tolist()))] += 1
    counts = np.array(list(pairs.values()))
    chi2 = np.sum((counts - draws / 10) ** 2 / (draws / 10))
    assert chi2 < 27.9  # 0.999 quantile with 9 degrees of freedom


def slow_scores(pool, theta):
    """Entropy and largest probability, one point at a time."""
    p = [reference.probabilities(x, theta) for x in pool]
    return [-sum(q * np.log(q) for q in row) for row in p], [max(row) for row in p]


@given(st.integers(0, 10_000))
def test_entropy_and_var_ratios_against_loops(seed):
    pool, labeled, theta = problem(seed, m=15, c=4)
    entropies, largest = slow_scores(pool, theta)
    rows = strategies.entropy(pool, labeled, theta, 6, None)
    assert rows.tolist() == sorted(range(15), key=lambda i: -entropies[i])[:6]
    rows = strategies.var_ratios(pool, labeled, theta, 6, None)
    assert rows.tolist() == sorted(range(15), key=lambda i: largest[i])[:6]


def test_entropy_and_var_ratios_differ_and_break_ties_by_row():
    # logits (0, 0, -9) against (0, -1, -1): two even classes, or one ahead of two
    theta = np.array([[1.0, 0, 0], [0, 1.0, 0]])
    pool = np.array([[9.0, 9.0, 0], [1.0, 0, 0], [9.0, 9.0, 0], [30.0, 0, 0]])
    assert strategies.entropy(pool, None, theta, 1, None).tolist() == [1]
    assert strategies.var_ratios(pool, None, theta, 2, None).tolist() == [0, 2]


def test_entropy_of_certain_points_is_zero_not_nan():
    theta = np.array([[1.0]])
    pool = np.array([[1e4], [-1e4], [0.5]])
    assert strategies.entropy(pool, None, theta, 3, None).tolist() == [2, 0, 1]


@given(st.integers(0, 1000))
@settings(max_examples=25)
def test_kmeans_finds_the_middle_of_separated_blobs(seed):
    rng = np.random.default_rng(seed)
    centers = 100.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1], [3, 2]])
    blob = rng.integers(5, size=60)
    blob[:5] = range(5)
    pool = centers[blob] + rng.normal(size=(60, 2))
    expected = set()
    for k in range(5):
        rows = np.flatnonzero(blob == k)
        middle = pool[rows].mean(axis=0)
        expected.add(int(min(rows, key=lambda i: np.linalg.norm(pool[i] - middle))))
    found = strategies.kmeans(pool, None, np.ones((1, 2)), 5, np.random.default_rng(seed))
    assert set(found.tolist()) == expected


def test_kmeans_lowers_the_within_cluster_sum_of_an_independent_lloyd():
    pool, _, theta = problem(3, m=120)
    rows = strategies.kmeans(pool, None, theta, 6, np.random.default_rng(0))

    def cost(centers):
        return sum(min(np.sum((x - c) ** 2) for c in centers) for x in pool)

    # Lloyd started at the picked points must end about where scikit-learn ended
    centers = pool[rows]
    for _ in range(60):
        nearest = [int(np.argmin([np.sum((x - c) ** 2) for c in centers])) for x in pool]
        centers = np.array([pool[np.array(nearest) == k].mean(axis=0) for k in range(6)])
    again = {int(np.argmin(np.sum((pool - c) ** 2, axis=1))) for c in centers}
    assert len(again & set(rows.tolist())) >= 4
    luck = [cost(pool[np.random.default_rng(s).choice(120, 6, replace=False)]) for s in range(40)]
    assert cost(pool[rows]) < min(luck)


def test_kmeans_gives_distinct_rows_when_centers_share_a_neighbor():
    pool = np.array([[0.0], [1.0], [5.0]])
    assert nearest_distinct(pool, np.array([[0.1], [0.2], [0.0]])).tolist() == [0, 1, 2]
    copies = np.repeat(pool, 3, axis=0)  # 3 distinct points, 5 clusters
    rows = strategies.kmeans(copies, None, np.ones((1, 1)), 5, np.random.default_rng(0))
    assert np.unique(rows).size == 5


def test_the_strategies_of_the_paper_and_ours():
    assert (*strategies.PAPER, "firal-ridge") == tuple(STRATEGIES)


@pytest.mark.parametrize("name", ["random", "kmeans", "firal-ridge"])
def test_three_need_no_model(name):
    pool = problem()[0]
    rows = STRATEGIES[name](pool, None, None, 5, np.random.default_rng(0))
    assert np.unique(rows).size == 5


@pytest.mark.parametrize("name", ["entropy", "var-ratios", "bait", "firal"])
def test_the_others_refuse_to_go_without(name):
    with pytest.raises(ValueError, match="theta must be"):
        STRATEGIES[name](problem()[0], None, None, 5, np.random.default_rng(0))


def test_firal_ridge_is_select_penalized_with_its_defaults():
    pool, labeled, theta = problem(2)
    expected = select_penalized(pool, labeled, theta, 6, np.random.default_rng(3)).indices
    rows = strategies.firal_ridge(pool, labeled, theta, 6, np.random.default_rng(3))
    assert np.array_equal(rows, expected)


def test_relax_and_round_is_select():
    pool, labeled, theta = problem(2)
    expected = select(pool, labeled, theta, 6).indices
    assert np.array_equal(strategies.relax_and_round(pool, labeled, theta, 6, None), expected)


@given(st.integers(0, 100_000))
def test_bait_against_the_literal_version(seed):
    pool, labeled, theta, budget = tiny_problem(seed)
    try:
        found = bait(pool, labeled, theta, budget)
    except ValueError as error:  # theta so sharp that the pool has no information
        assert "full rank" in str(error)
        return
    H, H_p, start = literal.setting(pool, labeled, theta, 1.0)
    forward = literal.forward(H, H_p, start, min(2 * budget, len(pool)))
    expected = literal.backward(H, H_p, start, forward, budget)
    if found.tolist() != expected:  # only equal scores may be decided differently
        values = [literal.value(H, H_p, start, rows) for rows in (found, expected)]
        assert values[0] == pytest.approx(values[1], rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_forward_step_is_the_best_single_addition(seed):
    pool, labeled, theta = problem(seed, m=12, d=2)
    H, H_p, start = literal.setting(pool, labeled, theta, 0.5)
    prepared = prepare_problem(pool, labeled, theta, 3)
    start_matrix = prepared.labeled_information + 0.5 * prepared.mean_information
    picked = _forward(_BaitRule(prepared, start_matrix))
    assert len(picked) == 6
    for step, i in enumerate(picked):
        values = {
            j: literal.value(H, H_p, start, [*picked[:step], j])
            for j in range(12)
            if j not in picked[:step]
        }
        assert i == min(values, key=values.get)


@pytest.mark.parametrize("seed", range(20))
def test_backward_step_is_the_best_single_removal(seed):
    """From any set of picked points, not only from the one that the forward steps leave."""
    pool, labeled, theta = problem(seed, m=12, d=2)
    rng = np.random.default_rng(seed)
    picked = rng.choice(12, 8, replace=False).tolist()
    H, H_p, start = literal.setting(pool, labeled, theta, 1.0)
    for keep in range(7, 0, -1):
        prepared = prepare_problem(pool, labeled, theta, keep)
        rule = _BaitRule(prepared, prepared.labeled_information + prepared.mean_information)
        for i in picked:
            rule.change(i, 1)
        left = _backward(rule, picked).tolist()
        values = {
            subset: literal.value(H, H_p, start, subset)
            for subset in itertools.combinations(picked, keep)
        }
        best = min(values, key=values.get)
        if keep == 7:  # one removal: brute force over all subsets must give the same set
            assert set(left) == set(best)
        assert left == literal.backward(H, H_p, start, picked, keep)
        assert values[tuple(left)] >= values[best] * (1 - 1e-12)  # greedy is not always best


def test_bait_does_not_depend_on_the_coordinates():
    pool, labeled, theta = problem(5, d=3)
    A = np.array([[2.0, 1, 0], [0, 1e-3, 1], [5, 0, 3]])
    mapped = bait(pool @ A, labeled @ A, theta @ np.linalg.inv(A).T, 5)
    assert np.array_equal(mapped, bait(pool, labeled, theta, 5))


def test_bait_without_labels_and_with_copies():
    pool, _, theta = problem(6, m=6)
    copies = np.concatenate([pool, pool, pool, pool])
    rows = bait(copies, None, theta, 6)
    assert np.unique(rows).size == 6
    assert np.array_equal(rows, bait(copies, np.empty((0, 3)), theta, 6))


def test_bait_keeps_the_lowest_of_equal_points():
    assert bait(np.ones((6, 1)), None, np.array([[0.3]]), 2).tolist() == [0, 1]


@pytest.mark.parametrize("name", STRATEGIES)
def test_features_too_large_for_their_squares_are_refused(name):
    pool, labeled, theta = problem()
    with pytest.raises(ValueError, match="pool must be at most 1e[+]50 in size for float64, got"):
        STRATEGIES[name](1e60 * pool, labeled, theta, 3, np.random.default_rng(0))


def test_bait_prior_is_checked_and_matters():
    pool, labeled, theta = problem(8, m=60, d=4, c=4, n0=0)
    with pytest.raises(ValueError, match="watch must be None or a function, got 3"):
        bait(pool, None, theta, 3, watch=3)
    with pytest.raises(ValueError, match="prior must be a finite number > 0, got 0"):
        bait(pool, labeled[:0], theta, 3, prior=0)
    H, H_p, start = literal.setting(pool, labeled[:0], theta, 30.0)
    forward = literal.forward(H, H_p, start, 6)
    expected = literal.backward(H, H_p, start, forward, 3)
    assert bait(pool, None, theta, 3, prior=30.0).tolist() == expected
