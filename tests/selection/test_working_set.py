"""The working set: never a wrong certificate, whatever the first sample misses."""

import warnings

import numpy as np
import pytest

from firal.selection.problem import prepare_problem
from firal.selection.solver import solve
from firal.selection.working_set import TAKEN, solve_on_working_set

METHOD, MAX_ITER = "multiplicative", 2000


def gaussian(m=3000, seed=0, d=4, c=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=(c - 1, d)), rng


def both(pool, theta, budget, *, ridge=0.01, capped=True, tol=0.01, labeled=None):
    problem = prepare_problem(pool, labeled, theta, budget, ridge=ridge)
    full = solve(problem, capped, METHOD, 1e-4, MAX_ITER)
    return problem, full, solve_on_working_set(problem, capped, tol, MAX_ITER)


def check(problem, full, found, capped, tol):
    b = problem.budget
    # feasible, and the objective is that of its weights over the whole pool
    assert found.z.shape == full.z.shape and found.z.min() >= 0
    assert found.z.sum() == pytest.approx(b) and (not capped or found.z.max() <= 1 + 1e-12)
    held = found.z > 0
    again = problem._replace(
        X=problem.X[held], h=problem.h[held], reference=problem.reference[held]
    )
    from firal.engine import memory

    Sigma = memory.information(again.X, again.h, found.z[held], 1) + problem.labeled_information
    value = problem.copies * np.trace(np.linalg.solve(Sigma, problem.mean_information))
    assert found.objective == pytest.approx(value, rel=1e-9)
    # the certificate is true: the optimum lies between the bounds of both solvers
    assert found.objective * (1 - found.gap) <= full.objective * (1 + 1e-12)
    assert full.objective * (1 - full.gap) <= found.objective * (1 + 1e-12)
    assert found.converged and found.gap <= tol
    assert found.passes < full.passes


@pytest.mark.parametrize("capped", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.01])
@pytest.mark.parametrize("budget", [3, 40])
def test_same_problem_same_optimum_fewer_passes(capped, ridge, budget):
    pool, theta, _ = gaussian()
    problem, full, found = both(pool, theta, budget, ridge=ridge, capped=capped)
    check(problem, full, found, capped, 0.01)
    assert found.passes <= 8


def test_all_weight_on_points_that_the_first_sample_misses():
    pool, theta, rng = gaussian()
    pool *= 0.01
    sampled = np.linspace(0, len(pool) - 1, TAKEN).astype(int)
    far = rng.choice(np.setdiff1d(np.arange(len(pool)), sampled), 30, replace=False)
    pool[far] = 3 * rng.normal(size=(30, 4))
    problem, full, found = both(pool, theta, 10)
    check(problem, full, found, True, 0.01)
    assert found.z[far].sum() > 9.9 and len(found.history) >= 2
    # the first pass alone has found that the sample is not enough
    assert found.history[0, 1] < 0.5 * found.history[0, 0]


def test_copies_of_one_point_and_one_other():
    pool = np.ones((2000, 2))
    pool[1234] = [1.0, -1.0]
    theta = np.array([[0.3, -0.2]])
    problem, full, found = both(pool, theta, 5)
    check(problem, full, found, True, 0.01)
    assert found.z[1234] == pytest.approx(full.z[1234], rel=0.2) and found.z[1234] > 0


def test_too_few_passes_are_said(monkeypatch):
    from firal.selection import working_set

    pool, theta, _ = gaussian()
    monkeypatch.setattr(working_set, "MOST_PASSES", 1)
    problem = prepare_problem(pool, None, theta, 10, ridge=0.01)
    with pytest.warns(RuntimeWarning, match="relax stopped after 1 passes"):
        found = solve_on_working_set(problem, True, 1e-4, MAX_ITER)
    assert not found.converged and found.gap > 1e-4


def test_ties_and_labeled_points():
    pool, theta, rng = gaussian(1500)
    pool = np.vstack([pool, pool])
    problem, full, found = both(pool, theta, 12, labeled=pool[:7])
    check(problem, full, found, True, 0.01)


def test_small_pools_are_solved_as_a_whole_and_singular_samples_fall_back():
    pool, theta, _ = gaussian(4 * TAKEN)
    problem, _, found = both(pool, theta, 5)
    assert np.array_equal(found.z, solve(problem, True, METHOD, 0.01, MAX_ITER).z)
    # without a ridge, a sample of zeros has no information
    pool, theta, rng = gaussian(3000)
    pool[np.linspace(0, 2999, TAKEN).astype(int)] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = prepare_problem(pool, None, theta, 20)
        found = solve_on_working_set(problem, True, 0.01, MAX_ITER)
    full = solve(problem, True, METHOD, 1e-4, MAX_ITER)
    assert found.objective * (1 - found.gap) <= full.objective <= found.objective * (1 + 1e-9)
