"""Rounding on candidates: the same run on fewer points, rows of the pool, no worse points."""

import numpy as np
import pytest

import firal
from firal.common import threads
from firal.selection import end_to_end, relaxation, support
from firal.selection import structure as structure_module
from firal.selection.adaptive import adaptive_sparsify
from firal.selection.end_to_end import select
from firal.selection.problem import prepare_problem


def mixture(m=1500, d=4, c=3, seed=0):
    rng = np.random.default_rng(seed)
    means = 2 * rng.normal(size=(c, d))
    pool = means[rng.integers(c, size=m)] + rng.normal(size=(m, d))
    return pool, means, (means[:-1] - means[-1]) / 3


@pytest.fixture
def few(monkeypatch):
    """Few candidates beside those with weight."""
    from firal.selection import solver

    monkeypatch.setattr(solver, "NEAR", 40)


def test_sparsify_on_the_support_is_sparsify_on_these_points():
    pool, labeled, theta = mixture()
    z = firal.relax(pool, labeled, theta, 12, tol=1e-3).z
    z[z < 0.01] = 0
    z *= 12 / z.sum()
    rows = np.flatnonzero(z)
    assert 12 < len(rows) < 200
    found = firal.sparsify(pool, labeled, theta, z, 12, 20.0, candidates="support")
    # H_p does not matter for the picks: the same run on a pool of these points
    alone = firal.sparsify(pool[rows], labeled, theta, z[rows], 12, 20.0)
    assert found.indices.tolist() == rows[alone.indices].tolist()
    assert found.lambda_min == pytest.approx(alone.lambda_min, rel=1e-9)
    assert found.lower_bound == pytest.approx(alone.lower_bound, rel=1e-9)
    assert np.isin(found.indices, rows).all()
    # the objective is that of the whole pool
    H_p = firal.information(pool, theta)
    S = len(found.indices) * firal.information(pool[found.indices], theta)
    S = S + len(labeled) * firal.information(labeled, theta)
    assert found.objective == pytest.approx(firal.fir(S, H_p), rel=1e-9)
    adaptive = adaptive_sparsify(pool, labeled, theta, z, 12, candidates="support")
    assert np.isin(adaptive.indices, rows).all() and len(set(adaptive.indices.tolist())) == 12
    same = adaptive_sparsify(pool[rows], labeled, theta, z[rows], 12)
    assert adaptive.indices.tolist() == rows[same.indices].tolist()


def test_what_is_watched_is_about_the_pool():
    pool, labeled, theta = mixture()
    z = firal.relax(pool, labeled, theta, 6).z
    z[z < 0.01] = 0
    z *= 6 / z.sum()
    seen = []
    found = firal.sparsify(
        *(pool, labeled, theta, z, 6, 20.0),
        candidates="support",
        watch=lambda i, gains: seen.append((i, gains)),
    )
    assert [i for i, _ in seen] == found.indices.tolist()
    for k, (i, gains) in enumerate(seen):
        assert gains.shape == (len(pool),) and np.array_equal(np.isfinite(gains), z > 0)
        assert gains[i] == pytest.approx(found.gains[k], rel=1e-9)


def test_as_many_points_with_weight_as_are_picked_suffice():
    rng = np.random.default_rng(0)
    pool, theta = rng.normal(size=(20, 2)), rng.normal(size=(1, 2))
    z = np.zeros(20)
    z[[3, 8, 13]] = 1.0
    found = firal.sparsify(pool, pool[:4], theta, z, 3, 10.0, candidates="support")
    assert sorted(found.indices) == [3, 8, 13]


def test_too_few_points_with_weight():
    pool, labeled, theta = mixture(200)
    z = np.zeros(200)
    z[:10] = 2.0
    with pytest.raises(ValueError, match="at least 20 points, the budget, got 10"):
        firal.sparsify(pool, labeled, theta, z, 20, 20.0, candidates="support")
    picks = firal.sparsify(pool, labeled, theta, z, 20, 20.0, candidates="support", replace=True)
    assert set(picks.indices.tolist()) <= set(range(10))
    with pytest.raises(ValueError, match="candidates must be one of"):
        firal.sparsify(pool, labeled, theta, z, 20, 20.0, candidates="some")
    with pytest.raises(ValueError, match="candidates must be one of"):
        select(pool, labeled, theta, 5, candidates="some")


@pytest.mark.parametrize("ridge", [0.0, 0.01])
@pytest.mark.parametrize("budget", [6, 30])
def test_select_on_candidates_is_as_good(few, ridge, budget):
    values = []
    for seed in range(3):
        data = mixture(seed=seed)
        all_ = select(*data, budget, ridge=ridge, candidates="all")
        found = select(*data, budget, ridge=ridge, candidates="support")
        near = found.relaxation.candidates
        assert np.isin(found.indices, near).all() and len(set(found.indices.tolist())) == budget
        assert np.array_equal(all_.relaxation.z, found.relaxation.z)
        # the certificate is that of the picked points in the whole pool
        assert found.objective <= found.relaxation.objective / found.lambda_min * (1 + 1e-9)
        values.append(found.objective / all_.objective)
    assert np.mean(values) < 1.05


def test_candidates_hold_all_weights_and_the_largest_gradients(few):
    pool, labeled, theta = mixture()
    found = firal.relax(pool, labeled, theta, 6, method="working-set", tol=1e-3)
    problem = prepare_problem(pool, labeled, theta, 6)
    _, M = problem.evaluator()(problem.total_information(found.z))
    a = problem.contract(M)
    assert np.isin(np.flatnonzero(found.z), found.candidates).all()
    missing = np.setdiff1d(np.argsort(a)[-40:], found.candidates)
    assert len(missing) == 0 and np.all(np.diff(found.candidates) > 0)
    assert len(found.candidates) <= np.count_nonzero(found.z) + 40


def test_the_default_is_by_the_number_of_points(few, monkeypatch):
    data = mixture(700)
    for module in (relaxation, support):
        monkeypatch.setattr(module, "LARGE", 700)
    small = select(*(data[0][:-1], *data[1:]), 5, eta=20.0)
    large = select(*data, 5, eta=20.0)
    assert small.indices.tolist() == (
        select(*(data[0][:-1], *data[1:]), 5, eta=20.0, candidates="all").indices.tolist()
    )
    kept = []
    rounding = end_to_end.any_rounding
    monkeypatch.setattr(
        end_to_end, "any_rounding", lambda p, z: kept.append(len(z)) or rounding(p, z)
    )
    again = select(*data, 5, eta=20.0)
    assert again.indices.tolist() == large.indices.tolist()
    assert kept == [len(large.relaxation.candidates)] and kept[0] < 700


@pytest.mark.parametrize("structure", ["full", "block-diagonal"])
def test_greedy_on_candidates_watches_the_pool(few, structure):
    data, seen = mixture(), []
    found = select(
        *data,
        5,
        ridge=0.01,
        rounding="greedy",
        structure=structure,
        candidates="support",
        watch=lambda i, scores: seen.append((i, scores)),
    )
    near = found.relaxation.candidates
    assert np.isin(found.indices, near).all() and len(seen) == 10
    assert set(found.indices.tolist()) <= {i for i, _ in seen}
    for i, scores in seen:
        assert np.array_equal(np.flatnonzero(np.isfinite(scores)), near) and scores[i] > 0
    all_ = select(*data, 5, ridge=0.01, rounding="greedy", structure=structure, candidates="all")
    assert found.objective <= 1.1 * all_.objective


def test_learning_rates_in_threads_pick_the_same_points(monkeypatch):
    data = mixture(400)
    done = []
    alone = select(*data, 8, progress=lambda stage, k, n: done.append((stage, k, n)))
    monkeypatch.setattr(threads, "LARGEST_FOR_ONE_THREAD", 0)
    prepare = structure_module.problem_of
    monkeypatch.setattr(
        structure_module, "problem_of", lambda *a, **k: prepare(*a, **k)._replace(threads=3)
    )
    told = []
    found = select(*data, 8, progress=lambda stage, k, n: told.append((stage, k, n)))
    assert found.indices.tolist() == alone.indices.tolist()
    assert np.array(found.tried) == pytest.approx(np.array(alone.tried), rel=1e-9)
    steps = [row for row in told if row[0] == "sparsify"]
    assert steps == [row for row in done if row[0] == "sparsify"]


@pytest.mark.parametrize("structure", ["full", "block-diagonal"])
def test_rows_that_may_be_picked(structure):
    """Greedy steps among some rows; weights and certificate are those of the whole pool."""
    rng = np.random.default_rng(4)
    pool, theta = rng.normal(size=(60, 3)), rng.normal(size=(2, 3))
    options = dict(ridge=0.02, rounding="greedy", structure=structure)
    rows = rng.permutation(60)[:25]
    seen = []
    found = firal.select(
        pool, pool[:4], theta, 5, candidates=rows, watch=lambda i, s: seen.append((i, s)), **options
    )
    every = firal.select(pool, pool[:4], theta, 5, **options)
    assert set(found.indices) <= set(rows) and not set(every.indices) <= set(rows)
    assert found.relaxation.objective == every.relaxation.objective
    assert found.objective >= every.relaxation.objective * (1 - every.relaxation.gap)
    # the objective and lambda_min are those of these points in the whole problem
    again = firal.select(pool[rows], pool[:4], theta, 5, **options)
    assert found.objective != pytest.approx(again.objective, rel=1e-6)  # another H_p
    assert found.lambda_min <= found.relaxation.objective / found.objective * (1 + 1e-9)
    for i, scores in seen:
        assert i in rows and np.isfinite(scores[np.sort(rows)]).all()
        assert np.isnan(np.delete(scores, rows)).all()


def test_rows_that_cannot_be_candidates():
    rng = np.random.default_rng(4)
    data = rng.normal(size=(30, 3)), None, np.zeros((1, 3)), 4
    for rows, match in (
        ([1, 2, 3], "at least 4 rows"),
        ([1, 1, 2, 3, 4], "distinct rows"),
        ([1, 2, 3, 30], "distinct rows in 0..29"),
        ("most", "must be one of"),
    ):
        with pytest.raises(ValueError, match=match):
            firal.select(*data, ridge=0.1, rounding="greedy", candidates=rows)
    with pytest.raises(ValueError, match='unless rounding="greedy"'):
        firal.select(*data, ridge=0.1, candidates=[1, 2, 3, 4, 5])
