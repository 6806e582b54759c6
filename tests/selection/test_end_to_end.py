"""FIRAL end to end: brute force, guarantees, the choice of eta, progress, growth with the pool."""

import itertools
import re
import tracemalloc
import warnings

import numpy as np
import pytest
import reference_select as literal
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from firal.selection import end_to_end
from firal.selection.bait import bait
from firal.selection.end_to_end import eta_grid, eta_theory, select
from firal.selection.ftrl import sparsify
from firal.selection.relaxation import relax


def medium_problem(seed=0, m=60, d=3, c=3, n0=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=(n0, d)), rng.normal(size=(c - 1, d))


def subset_values(H, H_p, budget):
    """f of every subset; inf where the information is singular."""
    values = {}
    for subset in itertools.combinations(range(len(H)), budget):
        total = H[list(subset)].sum(axis=0)
        singular = np.linalg.cond(total) > 1e12
        values[subset] = np.inf if singular else np.trace(np.linalg.solve(total, H_p))
    return values


@pytest.mark.parametrize("seed", range(12))
def test_between_the_relaxation_and_the_bound_of_proposition_7(seed):
    rng = np.random.default_rng(seed)
    pool, labeled, theta = medium_problem(seed, m=int(rng.integers(8, 13)), d=2)
    budget = int(rng.integers(3, 6))
    H, H_p = literal.matrices(pool, labeled, theta, budget)
    values = subset_values(H, H_p, budget)
    best = min(values.values())
    result = select(pool, labeled, theta, budget)
    found = values[tuple(sorted(result.indices.tolist()))]
    assert result.objective == pytest.approx(found, rel=1e-7)
    relaxed = result.relaxation
    assert relaxed.objective * (1 - relaxed.gap) <= best * (1 + 1e-9)  # Proposition 6
    assert best <= found * (1 + 1e-9)
    assert found <= relaxed.objective / result.lambda_min * (1 + 1e-9)  # Proposition 7


def test_close_to_the_best_subset_and_better_than_chance():
    ratios, luck = [], []
    for seed in range(20):
        pool, labeled, theta = medium_problem(100 + seed, m=12, d=2)
        H, H_p = literal.matrices(pool, labeled, theta, 5)
        values = subset_values(H, H_p, 5)
        best = min(values.values())
        result = select(pool, labeled, theta, 5)
        ratios.append(result.objective / best)
        luck.append(np.median(list(values.values())) / best)
    assert np.median(ratios) <= 1.15 and max(ratios) <= 1.6
    assert np.median(luck) >= 1.5 * np.median(ratios)


@given(st.integers(0, 10**6), st.integers(3, 40))
@settings(max_examples=10)
def test_closed_form_eta_keeps_its_promise(seed, multiple):
    # with replacement and b > 2 d~: lambda_min >= (1 - sqrt(2 d~ / b))^2
    pool, labeled, theta, _ = literal.tiny_problem(seed)
    size = theta.size
    budget = min(multiple * size, 120)  # above 2 d~: d~ is at most 9 here
    result = select(
        pool, labeled, theta, budget, eta="theory", replace=True, capped=False, tol=5e-2
    )
    promise = (1 - np.sqrt(2 * size / budget)) ** 2
    assert result.eta == pytest.approx(eta_theory(size, budget))
    assert result.lambda_min >= promise - 1e-9
    assert result.objective <= result.relaxation.objective / promise * (1 + 1e-9)


def test_closed_form_is_where_the_bound_is_best():
    for size, budget in [(3, 7), (10, 80), (180, 1000)]:

        def bound(eta, size=size, budget=budget):
            return budget / (budget + eta * np.sqrt(size)) - 2 * np.sqrt(size) / eta

        best = eta_theory(size, budget)
        assert bound(best) == pytest.approx((1 - np.sqrt(2 * size / budget)) ** 2)
        assert bound(best) >= max(bound(0.99 * best), bound(1.01 * best))
    assert eta_theory(10, 80) == pytest.approx(8 * np.sqrt(10))


def test_select_is_relax_then_sparsify():
    data = medium_problem()
    result = select(*data, 10, eta=30.0)
    weights = relax(*data, 10)
    assert np.array_equal(result.relaxation.z, weights.z)
    rounded = sparsify(*data, weights.z, 10, 30.0)
    assert result.indices.tolist() == rounded.indices.tolist()
    assert result.lambda_min == pytest.approx(rounded.lambda_min, rel=1e-10)
    assert result.tried == ((30.0, result.lambda_min),)


@pytest.mark.parametrize("replace", [False, True])
def test_grid_keeps_the_largest_smallest_eigenvalue(replace, monkeypatch):
    data = medium_problem(3)
    solved = []
    solve = end_to_end.solve_relaxed
    monkeypatch.setattr(end_to_end, "solve_relaxed", lambda *args: solved.append(1) or solve(*args))
    result = select(*data, 15, replace=replace)
    assert len(solved) == 1  # the relaxed problem does not depend on eta
    grid = eta_grid(6, 15)
    assert [eta for eta, _ in result.tried] == grid and eta_theory(6, 15) in grid
    for eta, value in result.tried:
        alone = sparsify(*data, result.relaxation.z, 15, eta, replace=replace)
        assert value == pytest.approx(alone.lambda_min, rel=1e-9)
    assert result.lambda_min == max(value for _, value in result.tried)
    assert (result.eta, result.lambda_min) in result.tried


FTRL, GREEDY, BEST = (True, False), (False, True), (True, True)  # etas are tried, greedy steps made


@pytest.mark.parametrize(
    ("options", "made"),
    [
        ({}, FTRL),
        ({"rounding": "ftrl"}, FTRL),
        ({"structure": "block-diagonal"}, FTRL),
        ({"ridge": 0.01}, BEST),
        ({"ridge": 0.01, "replace": True}, FTRL),
        ({"ridge": 0.01, "rounding": "ftrl"}, FTRL),
        ({"ridge": 0.01, "rounding": "greedy"}, GREEDY),
        ({"ridge": 0.01, "structure": "block-diagonal"}, GREEDY),
        ({"ridge": 0.01, "structure": "block-diagonal", "rounding": "best"}, BEST),
        ({"ridge": 0.01, "structure": "block-diagonal", "eta": 20.0}, BEST),
    ],
)
def test_which_roundings_are_made_and_how_often_they_read_the_pool(options, made):
    data, stages = medium_problem(2), []
    options = {"structure": "full"} | options
    found = select(*data, 7, **options, progress=lambda stage, *_: stages.append(stage))
    assert ("sparsify" in stages, "greedy" in stages) == made
    etas = sum(eta is not None for eta, _ in found.tried)
    assert etas == (0 if made == GREEDY else 1 if "eta" in options else 7)
    steps = 14 if made[1] else 0  # forward ones
    assert found.passes == found.relaxation.passes + 7 * etas + steps
    assert found.structure == found.relaxation.structure == options["structure"]


def test_the_structure_that_was_chosen_and_why(monkeypatch):
    monkeypatch.setattr("firal.selection.structure.MOST_WORK", 1)
    with pytest.warns(UserWarning) as said:
        found = select(*medium_problem(2), 4, ridge=0.01)
    assert found.structure == found.relaxation.structure == "block-diagonal"
    assert found.why and found.why == found.relaxation.why and found.why in str(said[0].message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounding": "nobody"}, "rounding must be one of .*, got 'nobody'"),
        ({"rounding": "greedy"}, 'must be "ftrl" with ridge=0, got .greedy'),
        ({"rounding": "best", "ridge": 0.1, "replace": True}, 'must be "ftrl" with replace=True'),
    ],
)
def test_roundings_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        select(*medium_problem(2), 4, **options)


def test_grid_is_centered_on_the_theory():
    grid = np.array(eta_grid(25, 10))
    assert grid[3] == pytest.approx(40) and grid.size == 7
    assert np.diff(np.log2(grid)) == pytest.approx(np.ones(6))


def test_without_full_rank_the_least_deficient_run_is_kept():
    pool, _, theta = medium_problem(4, d=6)
    result = select(pool, None, theta, 3)
    assert result.objective == np.inf and np.unique(result.indices).size == 3
    kept = {}
    for eta, _ in result.tried:
        alone = sparsify(pool, None, theta, result.relaxation.z, 3, eta)
        H, _ = literal.matrices(pool, np.empty((0, 6)), theta, 3)
        S = literal.whiten(H, result.relaxation.z)[alone.indices].sum(axis=0)
        kept[eta] = np.trace(np.linalg.inv(np.eye(len(S)) + S))
    assert kept[result.eta] == pytest.approx(min(kept.values()), rel=1e-8)


def test_deterministic_and_threads_restored():
    data = medium_problem(5)
    before = [pool["num_threads"] for pool in threadpool_info()]
    first, second = select(*data, 8), select(*data, 8)
    assert [pool["num_threads"] for pool in threadpool_info()] == before
    assert first.indices.tolist() == second.indices.tolist()
    assert np.array_equal(first.gains, second.gains)


def test_threads_change_nothing_but_rounding():
    data = medium_problem(5, m=5000)
    with threadpool_limits(1):
        one = select(*data, 6, eta=30.0)
    with threadpool_limits(3):
        three = select(*data, 6, eta=30.0)
    assert three.indices.tolist() == one.indices.tolist()
    assert three.gains == pytest.approx(one.gains, rel=1e-9)
    assert three.relaxation.z == pytest.approx(one.relaxation.z, abs=1e-9)


def test_picks_follow_a_permutation_of_the_pool():
    pool, labeled, theta = medium_problem(6)
    order = np.random.default_rng(0).permutation(len(pool))
    first = select(pool, labeled, theta, 8)
    moved = select(pool[order], labeled, theta, 8)
    assert order[moved.indices].tolist() == first.indices.tolist()


def test_progress(capsys):
    data = medium_problem(7)
    calls = []
    select(*data, 5, eta=20.0, progress=lambda *call: calls.append(call))
    stages = [stage for stage, *_ in calls]
    assert stages == sorted(stages) and set(stages) == {"relax", "sparsify"}
    assert calls[-1] == ("sparsify", 5, 5)
    calls.clear()
    select(*data, 5, progress=lambda *call: calls.append(call))
    grid = len(eta_grid(6, 5))
    assert [done for stage, done, _ in calls if stage == "sparsify"] == list(range(1, 5 * grid + 1))
    select(*data, 5, eta=20.0, progress=True)
    assert "sparsify" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, message",
    [
        ({"eta": "tuned"}, 'eta must be None, "theory" or a positive number'),
        ({"eta": -1.0}, "eta must be a finite number > 0"),
        ({"eta": True}, "eta must be a finite number > 0 and < 1e[+]12, got True"),
        ({"eta": "5"}, "eta must be .* positive number, got '5'"),
        ({"replace": "no"}, "replace must be True or False, got 'no'"),
        ({"capped": "no"}, "capped must be True or False, got 'no'"),
        ({"eta": "theory"}, "needs a budget above 2 d~ = 12, got 5.*eta=None"),
        ({"budget": 61}, "pool size 60, got 61: set capped=False and replace=True to allow"),
        ({"budget": 61, "replace": True}, "pool size 60, got 61: set capped=False to allow"),
        ({"budget": 61, "capped": False}, "pool size 60, got 61: set replace=True to allow"),
        ({"progress": 3}, "progress must be None, True or a function"),
        ({"tol": 2.0}, "tol must be"),
        ({"tol": 1.0}, "tol must be"),
    ],
)
def test_bad_input_gets_one_clear_error(options, message):
    options = {"budget": 5} | options
    with pytest.raises(ValueError, match=message):
        select(*medium_problem(8), options.pop("budget"), **options)


@pytest.mark.parametrize("pick", [select, bait])
@pytest.mark.parametrize("known", [0, 3])
def test_with_as_many_features_as_points_all_points_tie(pick, known):
    rng = np.random.default_rng(0)
    X, theta = rng.normal(size=(12, 12)), rng.normal(size=(2, 12))
    labeled = X[:known] if known else None
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        rows = pick(X[known:], labeled, theta, 4)
    assert getattr(rows, "indices", rows).tolist() == [0, 1, 2, 3]
    (warning,) = seen
    assert issubclass(warning.category, RuntimeWarning) and warning.filename == __file__
    message = "All points score equally; .* lowest rows: 12 points with 12 features .* Reduce the"
    assert re.match(message, str(warning.message))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pick(X[known:, :11], labeled if labeled is None else labeled[:, :11], theta[:, :11], 4)


def test_more_picks_than_points_with_replacement():
    pool, labeled, theta = medium_problem(9, m=10)
    result = select(pool, labeled, theta, 25, eta=20.0, replace=True, capped=False)
    assert result.indices.size == 25


def test_memory_grows_with_the_data_only(monkeypatch):
    monkeypatch.setattr(
        "firal.selection.scoring.PRODUCT_BYTES", 2**20
    )  # kept up to a fixed size only

    def peak(m):
        pool, labeled, theta = medium_problem(10, m=m, d=10, c=6)
        tracemalloc.start()
        with threadpool_limits(1):  # every thread has working memory of its own
            select(pool, labeled, theta, 2, eta=30.0, tol=0.5)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    # per point: 10 features and 6 probabilities, and copies of them, stay. The 2 * 15 quadratic
    # forms and the 55 products of features of a point must not: they would go beyond the limit
    numbers = (peak(160_000) - peak(80_000)) / (8 * 80_000)
    assert numbers <= 40


def test_the_closed_form_joins_the_grid_above_two_points_per_parameter():
    """At exactly two points per parameter it has no value, and the grid is no error."""
    plain = [8 * np.sqrt(3) * 2.0**k for k in range(-3, 4)]
    assert eta_grid(3, 6) == pytest.approx(plain, rel=1e-14)
    closed = np.sqrt(2) * 7 / (np.sqrt(7) - np.sqrt(6))
    assert eta_grid(3, 7) == pytest.approx(sorted([*plain, closed]), rel=1e-14)
