"""A streamed problem is the problem of the array: same matrices, same certificate, same picks."""

import numpy as np
import pytest

import firal
from firal.engine import passes
from firal.engine.homes import as_home
from firal.engine.pool import FeaturePool
from firal.engine.scaling import feature_map
from firal.selection import candidates, streamed
from firal.selection.block_diagonal import prepare_blocks
from firal.selection.candidates import (
    bait_from_candidates,
    relaxed_candidates,
    select_from_candidates,
)
from firal.selection.design import Design
from firal.selection.penalized import _with_indicators
from firal.selection.problem import prepare_problem
from firal.selection.streamed import prepare_streamed

N, D, B = 700, 4, 6


def silent(stage, done, total):
    pass


@pytest.fixture
def data(monkeypatch):
    """A pool in blocks of 40 rows, the same as arrays, and theta of 4 classes."""
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * D * 40)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, D)) * [1, 2, 5, 0.1] + rng.integers(2, size=(N, 1))
    known = np.sort(rng.choice(N, 30, replace=False))
    map_ = feature_map(X)
    features = map_.apply(X)
    free = np.setdiff1d(np.arange(N), known)
    return (
        FeaturePool(as_home(X), map_, known),
        features[free],
        features[known],
        rng.normal(size=(3, D + 1)),
    )


def same_problem(streamed, problem, rng):
    """Compare f and <H, M>, which do not depend on the coordinates."""
    assert streamed.n_points == problem.n_points
    for weight in (1.0, 20.0):
        values = []
        for one in (streamed, problem):
            Sigma = one.labeled_information + weight * one.mean_information
            f, M = one.evaluator()(Sigma)
            values.append((f, one.contract(M), np.vdot(one.labeled_information, M)))
        for found, expected in zip(*values, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9)
    rows = np.sort(rng.choice(streamed.n_points, 50, replace=False))
    small = streamed.restricted(rows)
    _, M = streamed.evaluator()(streamed.labeled_information + streamed.mean_information)
    np.testing.assert_allclose(small.contract(M), streamed.contract(M)[rows], rtol=1e-12)


def test_room_is_asked_for_all_classes(data, monkeypatch):
    pool, _, labeled, theta = data
    asked = []
    monkeypatch.setattr(streamed, "choose", lambda *args: asked.append(args))
    prepare_streamed(pool, labeled, Design(theta), B, report=silent)
    assert asked == [("full", "select", N - 30, D + 1, 4, B)]


def test_no_matrix_but_one_is_sent_with_a_pass(data, monkeypatch):
    """The pool may be on other machines."""
    pool, _, labeled, theta = data
    streamed = prepare_streamed(pool, labeled, Design(theta), B, report=silent)
    sent = []
    monkeypatch.setattr(
        FeaturePool, "values", lambda self, work, _: sent.append(work) or np.zeros(self.n_points)
    )
    M = streamed.mean_information
    streamed.contract(M)
    assert sent[0].M is M
    assert sent[0].small.labeled_information is None and sent[0].small.mean_information is None


@pytest.mark.parametrize("ridge", [0.0, 0.01])
def test_it_is_the_problem_of_the_array(data, ridge):
    pool, F, labeled, theta = data
    streamed = prepare_streamed(pool, labeled, Design(theta), B, ridge=ridge, report=silent)
    same_problem(
        streamed, prepare_problem(F, labeled, theta, B, ridge=ridge), np.random.default_rng(0)
    )


@pytest.mark.parametrize("structure", ["full", "block-diagonal"])
@pytest.mark.parametrize("fitted", [True, False])
def test_with_cluster_effects(data, structure, fitted):
    pool, F, labeled, theta = data
    centers = F[:5]
    design = Design(theta if fitted else None, centers)
    streamed = prepare_streamed(
        pool, labeled, design, B, ridge=0.01, effects=3.0, structure=structure, report=silent
    )
    size = 3.0 * np.sqrt(np.mean(F**2))
    p, p0 = design.probabilities(F), design.probabilities(labeled)
    F, labeled = (_with_indicators(X, centers, size) for X in (F, labeled))
    prepare = prepare_problem if structure == "full" else prepare_blocks
    problem = prepare(F, labeled, None, B, ridge=0.01, probabilities=(p, p0))
    same_problem(streamed, problem, np.random.default_rng(0))


@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_coordinates_make_the_moments_of_all_points_one(data, ridge):
    """With columns of clusters, and counting the labeled points."""
    pool, F, labeled, theta = data
    design = Design(theta, F[:5])
    effects = 3.0 if ridge else 0.0  # a column for every cluster depends on the others
    found = prepare_streamed(
        pool, labeled, design, B, ridge=ridge, effects=effects, report=silent
    ).data
    assert found.design.size == pytest.approx(effects * np.sqrt(np.mean(F**2)), rel=1e-12)
    map_, both = found.map_, np.vstack([found.design.columns(X) for X in (F, labeled)])
    penalty = ridge * map_.T @ map_
    np.testing.assert_allclose(penalty, np.diag(penalty.diagonal()), atol=1e-12)
    moments = (both @ map_).T @ (both @ map_) / len(both) + penalty
    np.testing.assert_allclose(moments, np.eye(map_.shape[1]), atol=1e-10)


def test_labeled_points_count_in_the_choice_of_the_reference(data):
    pool, F, labeled, theta = data
    design, labeled = Design(theta), np.repeat(labeled, 200, axis=0)
    p, p0 = (design.probabilities(X).sum(axis=0) for X in (F, labeled))
    found = prepare_streamed(pool, labeled, design, B, report=silent).data
    assert found.reference == np.argmax(p + p0) != np.argmax(p)
    assert found.classes.tolist() == [k for k in range(4) if k != found.reference]


def test_two_passes_prepare_it(data):
    pool, _, labeled, theta = data
    stages = []
    prepare_streamed(pool, labeled, Design(theta), B, report=lambda stage, *_: stages.append(stage))
    assert sorted(set(stages)) == ["coordinates", "information"]


def test_candidates_and_certificate(data, monkeypatch):
    pool, F, labeled, theta = data
    large = np.vstack([F] * 12) + np.random.default_rng(0).normal(size=(12 * len(F), D + 1)) / 10
    map_ = feature_map(large, standardize=False, intercept=False)
    pool = FeaturePool(as_home(large), map_, np.empty(0, dtype=int))
    monkeypatch.setattr(candidates, "SPREAD", 100)
    problem = prepare_streamed(pool, labeled, Design(theta), B, report=silent)
    relaxation, rows = relaxed_candidates(problem, 1e-2, silent)
    expected = firal.relax(large, labeled, theta, B)
    assert relaxation.converged and relaxation.passes < 10
    assert relaxation.objective * (1 - relaxation.gap) <= expected.objective
    assert expected.objective * (1 - expected.gap) <= relaxation.objective
    assert np.isin(np.flatnonzero(relaxation.z), rows).all()
    assert np.isin(problem.best, rows).all() and len(rows) < len(large) / 3
    # the certificate of the picks is true on the whole pool
    selection = select_from_candidates(problem, eta=20.0, report=silent)
    Sigma = firal.information(large[selection.indices], theta, np.ones(B))
    Sigma += firal.information(labeled, theta, np.ones(len(labeled)))
    f = firal.fir(Sigma, firal.information(large, theta))
    np.testing.assert_allclose(selection.objective, f, rtol=1e-8)
    assert f <= relaxation.objective / selection.lambda_min * (1 + 1e-9)
    assert selection.ratio >= 1 - 1e-9


@pytest.mark.parametrize("most", [5, 10_000])
def test_weights_of_the_candidates_have_the_budget_as_their_sum(data, most, monkeypatch):
    """Also if some points with weight are left out."""
    pool, _, labeled, theta = data
    monkeypatch.setattr(candidates, "MOST", most)
    monkeypatch.setattr(candidates, "SPREAD", 0)
    monkeypatch.setattr(streamed, "BEST", 1)
    problem = prepare_streamed(pool, labeled, Design(theta), B, ridge=0.01, report=silent)
    given, rounding = [], candidates.any_rounding
    monkeypatch.setattr(
        candidates, "any_rounding", lambda small, z: given.append(z) or rounding(small, z)
    )
    for options in ({"eta": 20.0}, {"rounding": "greedy"}):
        found = select_from_candidates(problem, **options, report=silent)
        assert given[-1].sum() == pytest.approx(B, rel=1e-12)
        left_out = np.count_nonzero(found.relaxation.z) - np.count_nonzero(given[-1])
        assert (left_out > 0) == (most == 5)


@pytest.mark.parametrize("structure", ["full", "block-diagonal"])
def test_no_other_point_is_picked_however_good_it_is(data, structure):
    """Points that may not be picked keep their weights, so the certificate is that of all."""
    pool, _, labeled, theta = data
    design = Design(theta)
    problem = prepare_streamed(
        pool, labeled, design, B, ridge=0.01, structure=structure, report=silent
    )
    free = select_from_candidates(problem, rounding="greedy", report=silent)
    only = np.setdiff1d(np.arange(100, 400), free.indices)
    found = select_from_candidates(problem, rounding="greedy", only=only, report=silent)
    assert np.isin(found.indices, only).all() and found.objective > free.objective
    assert not np.isin(np.flatnonzero(found.relaxation.z), only).all()
    assert found.structure == found.relaxation.structure == structure


def test_bait_on_candidates_is_bait_if_all_points_are(data):
    pool, F, labeled, theta = data
    calls = []
    problem = prepare_streamed(pool, labeled, Design(theta), B, report=silent)
    rows = bait_from_candidates(problem, lambda *call: calls.append(call))
    assert rows.tolist() == firal.bait(F, labeled, theta, B).tolist()
    assert ("greedy", 2 * B, 2 * B) in calls and any(stage == "relax" for stage, *_ in calls)


def test_a_pool_without_information_is_refused():
    X = np.zeros((20, 2))
    map_ = feature_map(X, standardize=False, intercept=False)
    pool = FeaturePool(as_home(X), map_, np.empty(0, dtype=int))
    with pytest.raises(ValueError, match="only zeros"):
        prepare_streamed(pool, np.empty((0, 2)), Design(np.ones((1, 2))), 2, report=silent)


def test_the_factor_of_pieces_is_that_of_all_rows(monkeypatch):
    X, theta = (
        np.random.default_rng(0).normal(size=(53, 3)),
        np.random.default_rng(1).normal(size=(2, 3)),
    )
    design = Design(theta, X[:2], 0.7)
    columns = design.columns(X)
    for piece in (5, 10, 53, 60):
        monkeypatch.setattr(streamed, "PIECE", piece)
        R, total = streamed._Overview(design)(0, X)
        np.testing.assert_allclose(R.T @ R, columns.T @ columns, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(total, firal.probabilities(X, theta).sum(axis=0), rtol=1e-13)
        merged = streamed._Overview.merged((R, total), (2 * R, total))
        np.testing.assert_allclose(merged[0].T @ merged[0], 5 * columns.T @ columns, atol=1e-11)
        np.testing.assert_allclose(merged[1], 2 * total, rtol=1e-15)


def test_the_best_points_of_a_pass_and_how_passes_are_named(data, monkeypatch):
    pool, _, labeled, theta = data
    monkeypatch.setattr(streamed, "BEST", 20)
    stages = []
    problem = prepare_streamed(
        pool, labeled, Design(theta), B, report=lambda *call: stages.append(call)
    )
    for number in (1, 2):
        a = problem.contract(np.eye(problem.mean_information.shape[0]))
        assert problem.best.tolist() == sorted(np.argsort(-a)[:20].tolist())
        assert stages[-1][0] == f"pass {number}" and stages[-1][1] == stages[-1][2]


def test_candidates_are_spread_over_the_pool_four_per_pick(data, monkeypatch):
    pool, _, labeled, theta = data
    monkeypatch.setattr(candidates, "SPREAD", 0)
    monkeypatch.setattr(candidates, "MOST", 5)  # of those with weight
    monkeypatch.setattr(streamed, "BEST", 1)
    problem = prepare_streamed(pool, labeled, Design(theta), B, report=silent)
    relaxation, rows = relaxed_candidates(problem, 0.1, silent)
    even = np.linspace(0, pool.n_points - 1, 4 * B).astype(int)
    support = np.flatnonzero(relaxation.z)
    some = support[np.linspace(0, support.size - 1, 5).astype(int)]
    assert support.size > 5 and rows.tolist() == sorted({*even, *problem.best, *some})


def test_with_rows_that_may_be_picked_the_others_with_weight_are_spread_too(data, monkeypatch):
    pool, _, labeled, theta = data
    monkeypatch.setattr(candidates, "MOST", 5)
    problem = prepare_streamed(pool, labeled, Design(theta), B, report=silent)
    taken, restricted = [], problem.restricted
    monkeypatch.setattr(
        type(problem), "restricted", lambda self, rows: taken.append(rows) or restricted(rows)
    )
    only = np.arange(0, pool.n_points, 3)
    found = select_from_candidates(problem, rounding="greedy", only=only, report=silent)
    rest = np.setdiff1d(np.flatnonzero(found.relaxation.z), only)
    some = rest[np.linspace(0, rest.size - 1, 5).astype(int)]
    assert rest.size > 5 and taken[-1].tolist() == [*only, *some]
    assert np.isin(found.indices, only).all()
