"""Fewer and cheaper gradients: the same optimum, a certificate in float64, a way back."""

import numpy as np
import pytest
import reference_select as literal
from hypothesis import given, settings
from hypothesis import strategies as st

from firal.selection import accelerated
from firal.selection.problem import Problem, prepare_problem
from firal.selection.relaxation import relax


@pytest.fixture
def large(monkeypatch):
    """All matrices count as large."""
    monkeypatch.setattr(accelerated, "LARGE_MATRICES", 1)


def mixture(m=600, d=6, c=8, budget=10):
    rng = np.random.default_rng(0)
    means = rng.normal(size=(c, d))
    pool = means[rng.integers(c, size=m)] + rng.normal(size=(m, d))
    return pool, means, (means[:-1] - means[-1]) / 3, budget


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([2.0, 40.0]))
@settings(max_examples=12, deadline=None)
def test_the_same_optimum_and_a_valid_certificate(seed, capped, power):
    data = literal.tiny_problem(seed)
    plain = relax(*data, capped=capped, tol=1e-4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accelerated, "LARGE_MATRICES", 1)
        patch.setattr(accelerated, "POWER", power)  # 40: f grows, and the monotone step follows
        found = relax(*data, capped=capped)
    H, H_p = literal.matrices(*data)
    assert found.converged and found.z.sum() == pytest.approx(data[3])
    assert not capped or found.z.max() <= 1 + 1e-12
    assert found.objective == pytest.approx(literal.objective(H, H_p, found.z), rel=1e-9)
    assert found.objective * (1 - found.gap) <= plain.objective * (1 + 1e-12)
    assert found.objective >= plain.objective * (1 - plain.gap) * (1 - 1e-12)


def test_fewer_gradients_and_few_of_them_in_float64(large, monkeypatch):
    data = mixture()
    found = relax(*data)
    assert found.history.shape == (found.iterations, 2)
    in_double = np.count_nonzero(found.history[:, 1])
    assert 1 <= in_double <= 2 and found.history[-1, 1] > 0
    monkeypatch.undo()
    assert found.iterations <= 0.7 * relax(*data).iterations


def test_a_small_gap_is_left_to_float64(large):
    found = relax(*mixture(), tol=1e-5)
    assert found.converged and found.gap <= 1e-5
    assert np.count_nonzero(found.history[:, 1] == 0) <= accelerated.MOST_SINGLE


def test_one_gradient_is_one_in_float64(large):
    with pytest.warns(RuntimeWarning, match="certified gap"):
        found = relax(*mixture(), max_iter=1)
    assert found.iterations == 1 and 0 < found.history[0, 1] < found.objective
    with pytest.warns(RuntimeWarning, match="certified gap"):
        found = relax(*mixture(), max_iter=3, tol=1e-9)
    assert found.iterations == 3 and found.history[2, 1] > 0


def test_where_float32_fails_float64_goes_on(large, monkeypatch):
    single = Problem.single

    def not_definite(problem):
        known = np.float32(-1e9) * np.eye(problem.size, dtype=np.float32)
        return single(problem)._replace(labeled_information=known)

    monkeypatch.setattr(Problem, "single", not_definite)
    found = relax(*mixture())
    assert found.converged and found.history[0].tolist() == [np.inf, 0.0]
    assert np.all(found.history[1:, 1] > 0)


def test_the_problem_in_float32():
    problem = prepare_problem(*mixture())
    single, z = problem.single(), np.full(600, 10 / 600)
    f, M = problem.evaluator()(problem.total_information(z))
    Sigma = single.total_information(z)
    f_single, M_single = single.evaluator()(Sigma)
    a = single.contract(M_single)
    assert Sigma.dtype == M_single.dtype == a.dtype == np.float32
    assert f_single == pytest.approx(f, rel=1e-4)
    assert a == pytest.approx(problem.contract(M), rel=1e-3)
