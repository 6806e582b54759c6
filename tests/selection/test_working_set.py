"""The working set: never a wrong certificate, whatever the first sample misses."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firal.selection import solver, working_set
from firal.selection.problem import prepare_problem
from firal.selection.relaxation import LARGE, relax
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
    problem, full, found = both(pool, theta, 5, tol=1e-4)
    check(problem, full, found, True, 1e-4)
    assert found.z[1234] == pytest.approx(full.z[1234], rel=0.05) and found.z[1234] > 0


def test_too_few_passes_are_said(monkeypatch):
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
    assert np.array_equal(found.z, solve(problem, True, "accelerated", 0.01, MAX_ITER).z)
    # without a ridge, a sample of zeros has no information
    pool, theta, rng = gaussian(3000)
    pool[np.linspace(0, 2999, TAKEN).astype(int)] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = prepare_problem(pool, None, theta, 20)
        found = solve_on_working_set(problem, True, 0.01, MAX_ITER)
    full = solve(problem, True, METHOD, 1e-4, MAX_ITER)
    assert found.objective * (1 - found.gap) <= full.objective <= found.objective * (1 + 1e-9)


def brute_force(problem, capped):
    """The optimum by a general-purpose solver on dense matrices, for a handful of points."""
    from scipy import optimize

    from firal.model.hessians import curvature

    G = curvature(problem.h)
    H = np.array([np.kron(g, np.outer(x, x)) for g, x in zip(G, problem.X, strict=True)])
    known, H_p = problem.labeled_information, problem.mean_information
    m, b = len(H), problem.budget

    def value(z):
        return problem.copies * np.trace(np.linalg.solve(known + np.tensordot(z, H, 1), H_p))

    def slope(z):
        inverse = np.linalg.inv(known + np.tensordot(z, H, 1))
        return -problem.copies * np.einsum("nij,ij->n", H, inverse @ H_p @ inverse)

    found = optimize.minimize(
        value,
        np.full(m, b / m),
        jac=slope,
        method="SLSQP",
        bounds=[(1e-12, 1.0 if capped else None)] * m,
        constraints={"type": "eq", "fun": lambda z: z.sum() - b, "jac": np.ones_like},
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return found.fun


@pytest.fixture
def tiny_sets(monkeypatch):
    """Working sets of a few points, so that tiny pools have passes."""
    monkeypatch.setattr(working_set, "FROM", 0)
    monkeypatch.setattr(working_set, "TAKEN", 2)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.0, 0.02]), st.booleans())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_never_a_wrong_certificate_against_brute_force(tiny_sets, seed, capped, ridge, twins):
    rng = np.random.default_rng(seed)
    d, c, m, b = 2, int(rng.integers(2, 4)), 36, int(rng.integers(1, 3))
    pool, theta = rng.normal(size=(m, d)), rng.normal(size=(c - 1, d))
    pool *= rng.choice([0.01, 1, 3], size=(m, 1))  # few points matter
    if twins:
        pool = np.repeat(pool[: m // 4], 4, axis=0)
    problem = prepare_problem(pool, rng.normal(size=(3, d)), theta, b, ridge=ridge)
    found = solve_on_working_set(problem, capped, 1e-3, MAX_ITER)
    assert len(found.history) == found.passes - 1  # it did not solve the whole pool at once
    assert found.converged and found.gap <= 1e-3
    best = brute_force(problem, capped)
    assert found.objective * (1 - found.gap) <= best * (1 + 1e-9)
    assert best <= found.objective * (1 + 1e-6) <= best * (1 + 2e-3)
    # every lower bound on the way was true as well
    assert np.all(found.history[:, 1] <= best * (1 + 1e-9))


@pytest.mark.parametrize("seed", [12, 18])
def test_the_best_bound_of_all_passes_is_kept(tiny_sets, seed):
    """In these instances a later gradient proves less than an earlier one."""
    rng = np.random.default_rng(seed)
    d, c, m, b = 2, int(rng.integers(2, 4)), 36, int(rng.integers(1, 3))
    pool, theta = rng.normal(size=(m, d)), rng.normal(size=(c - 1, d))
    pool *= rng.choice([0.01, 1, 3], size=(m, 1))
    problem = prepare_problem(pool, rng.normal(size=(3, d)), theta, b, ridge=0.02)
    lower = solve_on_working_set(problem, True, 1e-3, MAX_ITER).history[:, 1]
    assert np.all(np.diff(lower) >= 0)
    assert np.any(np.diff(lower) == 0)  # one that proved nothing new


def test_the_best_weights_of_all_passes_are_kept(tiny_sets, monkeypatch):
    """Also if a later working set makes f larger again."""
    pool, theta, _ = gaussian(200, d=2, c=2)
    problem, inside, solved = prepare_problem(pool, None, theta, 3, ridge=0.01), solve, []

    def spoiled(small, *rest):
        found = inside(small, *rest)
        solved.append(found)
        m = small.n_points
        return found if len(solved) == 1 else found._replace(z=np.full(m, 3 / m))

    monkeypatch.setattr(working_set, "solve", spoiled)
    monkeypatch.setattr(working_set, "MOST_PASSES", 4)
    with pytest.warns(RuntimeWarning, match="after 4 passes"):
        found = solve_on_working_set(problem, True, 1e-6, MAX_ITER)
    values = found.history[1:, 0]
    assert len(values) == 3 and np.all(values[1:] > 1.01 * values[0])
    assert found.objective == values[0]
    f, _ = problem.evaluator()(problem.total_information(found.z))
    assert f == pytest.approx(values[0], rel=1e-9)
    assert found.gap == pytest.approx(1 - found.history[-1, 1] / values[0], rel=1e-9)


def test_patience_ends_every_search(tiny_sets, monkeypatch):
    """With the largest values hidden from it, the working set grows to the whole pool."""
    monkeypatch.setattr(working_set, "PATIENCE", 2)
    pool, theta, _ = gaussian(200, d=2, c=2)
    problem = prepare_problem(pool, None, theta, 3, ridge=0.01)

    class Hidden:
        n_points, budget = problem.n_points, problem.budget
        labeled_information = problem.labeled_information
        mean_information = problem.mean_information
        evaluator, restricted = problem.evaluator, problem.restricted

        def contract(self, M):
            a = problem.contract(M)
            order = np.argsort(a)
            hidden = np.empty_like(a)
            hidden[order[::-1]] = a[order]  # the smallest come as the largest
            return hidden

    wanted, inside = [], working_set.solve
    monkeypatch.setattr(
        working_set, "solve", lambda *a: wanted.append((a[0].n_points, a[3])) or inside(*a)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = solve_on_working_set(Hidden(), True, 1e-3, MAX_ITER)
    # on the whole pool nothing follows that could make up for a rough solution
    assert wanted[-1] == (200, 5e-4) and all(tol >= 5e-4 for _, tol in wanted)
    assert found.passes <= 2 + 2 + np.ceil(np.log2(200 / 2)) + 1
    full = solve(problem, True, METHOD, 1e-4, MAX_ITER)
    assert found.objective == pytest.approx(full.objective, rel=2e-3)  # all points are in W now


def test_only_the_listed_names_are_used():
    """A pool may live anywhere: only seven names of a problem are used, and rows in order."""
    pool, theta, _ = gaussian(5000)
    problem = prepare_problem(pool, None, theta, 10, ridge=0.01)
    calls = []

    class Elsewhere:
        def __getattr__(self, name):
            calls.append(name)
            if name == "restricted":
                return self.rows
            assert name in {
                "n_points",
                "budget",
                "labeled_information",
                "mean_information",
                "evaluator",
                "contract",
            }
            return getattr(problem, name)

        def rows(self, rows):
            assert np.all(np.diff(rows) > 0)
            return problem.restricted(rows)

    found = solve_on_working_set(Elsewhere(), True, 0.01, MAX_ITER)
    same = solve_on_working_set(problem, True, 0.01, MAX_ITER)
    assert np.array_equal(found.z, same.z)
    assert found.passes == calls.count("contract") + 1


def test_a_working_set_that_does_not_span_grows(tiny_sets):
    """Zeros in the sample, and the points of the largest leverage all in one direction."""
    pool, theta = np.zeros((400, 2)), np.array([[0.1, 0.2]])
    pool[:, 1] = 1
    pool[7:400:8] = [1, 0]  # 50 points: their leverage is larger
    pool[np.linspace(0, 399, 4).astype(int)] = 0
    problem = prepare_problem(pool, None, theta, 1)
    found = solve_on_working_set(problem, True, 0.01, MAX_ITER)
    full = solve(problem, True, METHOD, 1e-4, MAX_ITER)
    # nothing but equal weights after the first working set, which is blind
    assert found.history[0, 0] == found.history[1, 0] > found.objective
    assert found.converged and found.passes <= 5
    assert found.objective * (1 - found.gap) <= full.objective * (1 + 1e-9)
    assert full.objective * (1 - full.gap) <= found.objective * (1 + 1e-9)


def test_rounding_errors_give_no_certificate():
    problem = prepare_problem(np.eye(2), None, np.zeros((1, 2)), 1, ridge=1.0)
    measure = problem.evaluator()
    z = np.full(2, 0.5)
    f, M = working_set._evaluate(measure, problem, z)
    assert M is not None and f > 0

    def wrong(Sigma):
        f, M = measure(Sigma)
        return f, M * (1 + 1e-5)

    assert working_set._evaluate(wrong, problem, z) == (np.inf, None)
    assert working_set._evaluate(measure, problem, None) == (np.inf, None)


def test_default_of_relax_is_by_the_number_of_points():
    pool, theta, _ = gaussian(LARGE, d=2, c=2)
    large, small = relax(pool, None, theta, 5), relax(pool[:-1], None, theta, 5)
    assert len(large.history) == large.passes - 1 < 10
    assert small.passes == 2 * small.iterations + 1
    assert np.array_equal(small.z, relax(pool[:-1], None, theta, 5, method=METHOD).z)
    assert np.array_equal(large.z, relax(pool, None, theta, 5, method="working-set").z)
    assert large.objective == pytest.approx(
        relax(pool, None, theta, 5, method=METHOD).objective, rel=0.01
    )
    with pytest.raises(ValueError, match="method must be one of"):
        relax(pool, None, theta, 5, method="other")


def test_progress_counts_all_gradients():
    pool, theta, _ = gaussian(5000)
    problem, done = prepare_problem(pool, None, theta, 10, ridge=0.01), []
    found = solve_on_working_set(problem, True, 0.01, MAX_ITER, lambda k, _: done.append(k))
    assert done == list(range(1, found.iterations + 1))


@pytest.mark.parametrize(("m", "samples"), [(120, 0), (121, 1)])
def test_a_pool_of_four_working_sets_is_solved_as_a_whole(m, samples, monkeypatch, tiny_sets):
    monkeypatch.setattr(working_set, "TAKEN", 30)
    seen, sample = [], working_set._sample
    monkeypatch.setattr(working_set, "_sample", lambda *a: seen.append(a) or sample(*a))
    pool, theta, _ = gaussian(m)
    problem = prepare_problem(pool, None, theta, 5, ridge=0.01)
    solve_on_working_set(problem, True, 0.01, MAX_ITER)
    assert seen == [(m, 30)][:samples]


def test_the_sample_is_spread_over_the_pool():
    assert working_set._sample(10, 4).tolist() == [0, 3, 6, 9]
    assert working_set._sample(3, 7).tolist() == [0, 1, 2]


def test_weights_of_all_points():
    rows, inner = np.array([1, 4]), SimpleNamespace(z=np.array([0.5, 1.5]))
    assert working_set._weights(5, 2, rows, inner).tolist() == [0, 0.5, 0, 0, 1.5]
    assert working_set._weights(5, 2, rows, None).tolist() == [0.4] * 5


def test_idle_points_leave_the_largest_gradients_come_and_weights_are_kept():
    rows, a = np.array([1, 3, 5, 7]), np.arange(10.0)
    least = working_set.IDLE * 4 / 4  # of b / len(rows)
    inner = SimpleNamespace(z=np.array([2.0, 0.99 * least, 1.01 * least, 2.0]))
    found, start = working_set._renewed(rows, inner, a, 2, 4)
    assert found.tolist() == [1, 5, 7, 8, 9]  # 3 was idle
    equal, kept = 0.2 * 4 / 5, 0.8
    expected = [equal + kept * 2, equal + kept * 1.01 * least, equal + kept * 2, equal, equal]
    np.testing.assert_allclose(start, expected, rtol=1e-14)
    found, start = working_set._renewed(rows, None, a, 2, 4)
    assert found.tolist() == [1, 3, 5, 7, 8, 9] and start is None


def test_the_first_bound_is_that_of_equal_weights():
    pool, theta, rng = gaussian()
    problem = prepare_problem(pool, rng.normal(size=(5, 4)), theta, 6, ridge=0.01)
    for capped in (True, False):
        found = solve_on_working_set(problem, capped, 0.01, MAX_ITER)
        Sigma = 6 * problem.mean_information + problem.labeled_information
        f = np.trace(np.linalg.solve(Sigma, problem.mean_information))
        M = np.linalg.solve(Sigma, np.linalg.solve(Sigma, problem.mean_information).T)
        a = problem.contract(M)
        best = np.sort(a)[-6:].sum() if capped else 6 * a.max()
        lower = f * f / (best + np.vdot(problem.labeled_information, M))
        assert found.history[0] == pytest.approx((f, lower), rel=1e-10)
        assert found.gap == pytest.approx(1 - found.history[-1, 1] / found.objective, rel=1e-9)
        assert found.passes == len(found.history) + 1


def test_weights_that_rounding_spoils_have_no_certificate():
    problem = prepare_problem(*gaussian(50)[:1], None, gaussian(50)[1], 6, ridge=0.01)
    z = np.full(50, 6 / 50)
    measure = problem.evaluator()
    f, M = working_set._evaluate(measure, problem, z)
    assert np.isfinite(f) and M is not None
    for factor, valid in ((0.9, True), (1.1, False)):
        off = 1 + factor * working_set.SOUND
        found = working_set._evaluate(lambda S, off=off: (f * off, M), problem, z)
        assert (found[1] is not None) == valid and (found[0] < np.inf) == valid
    assert working_set._evaluate(measure, problem, None) == (np.inf, None)


def test_working_sets_are_solved_by_the_quick_method_to_the_documented_gap(monkeypatch):
    pool, theta, _ = gaussian()
    problem = prepare_problem(pool, None, theta, 6, ridge=0.01)
    calls = []

    def spy(small, capped, method, tol, max_iter, report, start):
        calls.append((method, tol, max_iter))
        return solve(small, capped, method, tol, max_iter, report, start)

    monkeypatch.setattr(working_set, "solve", spy)
    reported = []
    found = solve_on_working_set(problem, True, 1e-3, 500, lambda *a: reported.append(a))
    methods, tols, most = zip(*calls, strict=True)
    assert (
        set(methods) == {"accelerated"}
        and set(most) == {500}
        and len(calls) == len(found.history) - 1
    )
    best = np.minimum.accumulate(found.history[:-1, 0])
    gaps = 1 - found.history[:-1, 1] / best
    assert tols == pytest.approx(np.maximum(5e-4, 0.1 * gaps), rel=1e-9)
    assert reported == [(done, 500) for done in range(1, found.iterations + 1)]


def test_points_that_are_candidates_beside_those_with_weight(monkeypatch):
    """The largest gradients: a fixed number, or four per pick."""
    rng = np.random.default_rng(0)
    a, z = rng.permutation(100.0 * np.arange(100)), np.zeros(100)
    z[[3, 50]] = 1.0
    for least, budget, count in ((10, 2, 10), (10, 3, 12), (7, 1, 7), (500, 1, 100)):
        monkeypatch.setattr(solver, "NEAR", least)
        expected = sorted({3, 50, *np.argsort(-a)[:count].tolist()})
        assert solver.nearest_to_weight(z, a, budget).tolist() == expected


def test_a_start_at_the_optimum_needs_one_gradient():
    rng = np.random.default_rng(0)
    problem = prepare_problem(rng.normal(size=(80, 3)), None, rng.normal(size=(2, 3)), 6)
    cold = solve(problem, True, "multiplicative", 1e-3, 1000)
    warm = solve(problem, True, "multiplicative", 2e-3, 1000, None, cold.z)
    assert cold.iterations > 5 and warm.iterations == 1
    assert warm.objective == pytest.approx(cold.objective, rel=1e-9)
