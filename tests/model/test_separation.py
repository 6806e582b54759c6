"""Separable labels: no minimizer, and fit must say so, always and only then."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from firal.model import logistic, newton_system, separation
from firal.model.fitting import fit
from firal.theory.designs import draw_labels

NO_MINIMIZER = "Labels are separable: the unpenalized loss has no minimizer; use ridge > 0"


@st.composite
def small_problems(draw):
    """Few points on a small grid: separable, quasi-separable and overlapping labels all occur."""
    n, d, c = draw(st.integers(4, 14)), draw(st.integers(1, 3)), draw(st.integers(2, 3))
    grid = st.integers(-2, 2)
    X = np.array(draw(st.lists(grid, min_size=n * d, max_size=n * d)), dtype=float).reshape(n, d)
    y = draw(st.lists(st.integers(0, c - 1), min_size=n, max_size=n))
    y[:c] = range(c)  # every class occurs
    return X, np.array(y), c


@given(small_problems())
def test_fit_raises_exactly_when_separable(problem):
    X, y, c = problem
    if reference.is_separable(X, y, c):
        with pytest.raises(ValueError, match=NO_MINIMIZER):
            fit(X, y, c)
        assert fit(X, y, c, ridge=1e-3).converged
    else:
        found = fit(X, y, c)
        assert found.converged
        assert np.abs(logistic.gradient(X, y, found.theta)).max() < 1e-7


@given(small_problems())
def test_direction_exactly_when_separable(problem):
    X, y, c = problem
    V = separation.separating_direction(X, y, c)
    assert (V is not None) == reference.is_separable(X, y, c)
    if V is not None:
        scores = np.column_stack([X @ V.T, np.zeros(len(X))])
        margins = scores[np.arange(len(X)), y, None] - scores
        assert margins.min() > -1e-6
        assert margins.max() > 1e-6


@given(small_problems(), st.integers(0, 2**32 - 1))
def test_newton_step_of_separable_labels_is_long(problem, seed):
    """The fact that fit relies on: some logit difference changes by 1 or more."""
    X, y, c = problem
    theta = np.random.default_rng(seed).normal(size=(c - 1, X.shape[1]))
    H = sum(reference.hessian(x, theta) for x in X) / len(X)
    if not reference.is_separable(X, y, c) or np.linalg.cond(H) > 1e8:
        return
    step = -np.linalg.solve(H, logistic.gradient(X, y, theta).ravel()).reshape(theta.shape)
    change = np.column_stack([X @ step.T, np.zeros(len(X))])
    assert np.ptp(change, axis=1).max() >= 1 - 1e-6


def overlapping(seed, n, d, c):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, d)), np.ones(n)])
    return X, draw_labels(X, 0.5 * rng.normal(size=(c - 1, d + 1)), rng)


@pytest.mark.parametrize("small", [0, 10**6])
def test_one_class_apart_from_the_rest(small, monkeypatch):
    """Quasi-complete: class 0 is alone beyond a plane, the others overlap. Loss stays positive."""
    monkeypatch.setattr(newton_system, "SMALL_SYSTEM", small)
    X, y = overlapping(0, 400, 4, 4)
    apart = np.where(X[:, 0] > 1.2, 0, np.where(y == 0, 1, y))
    with pytest.raises(ValueError, match=NO_MINIMIZER):
        fit(X, apart, 4)
    assert fit(X, y, 4).converged


def test_too_large_for_linear_programs(monkeypatch):
    """The Newton step itself is recognized as a separating direction."""
    monkeypatch.setattr(separation, "PROGRAM_LIMIT", 0)
    monkeypatch.setattr(separation, "separating_direction", None)
    X, y = overlapping(1, 600, 6, 5)
    apart = np.where(X[:, 0] > 1.2, 0, np.where(y == 0, 1, y))
    with pytest.raises(ValueError, match=NO_MINIMIZER):
        fit(X, apart, 5)
    assert fit(X, y, 5).converged


def test_linear_programs_decide_when_the_step_does_not(monkeypatch):
    monkeypatch.setattr(separation, "is_separating", lambda *_: False)
    X, y = overlapping(3, 200, 3, 3)
    apart = np.where(X[:, 0] > 1.2, 0, np.where(y == 0, 1, y))
    for max_iter in (2, 100):  # after too few iterations, and when the gradient is small
        with pytest.raises(ValueError, match=NO_MINIMIZER):
            fit(X, apart, 3, max_iter=max_iter)
    calls = []
    monkeypatch.setattr(separation, "separating_direction", lambda *_: calls.append(1))
    with pytest.warns(RuntimeWarning, match="did not converge"):
        fit(X, apart, 3, max_iter=40)  # a program that errs does not make it converge
    assert len(calls) == 1


def test_completely_separated_labels_need_no_program(monkeypatch):
    """An iterate with positive margins is a separating direction itself."""
    monkeypatch.setattr(separation, "separating_direction", None)
    monkeypatch.setattr(separation, "is_separating", None)
    X = np.array([[1.0, 0.2], [2.0, -0.3], [-1.0, 0.1], [-2.0, 0.0]])
    with pytest.raises(ValueError, match=NO_MINIMIZER):
        fit(X, [0, 0, 1, 1], 2)


def test_one_label_per_class():
    X = np.random.default_rng(0).normal(size=(5, 8))
    with pytest.raises(ValueError, match=NO_MINIMIZER):
        fit(X, np.arange(5), 5)


def test_almost_separable_labels_have_a_large_minimizer():
    x = np.array([1.0, 2, 1e-3, -1, 2e-3, -2])
    X = np.column_stack([x, np.ones(6)])
    y = [0, 0, 0, 1, 1, 1]
    assert not reference.is_separable(X, np.array(y), 2)
    found = fit(X, y, 2)
    assert found.converged
    assert np.abs(logistic.gradient(X, y, found.theta)).max() < 1e-8


def test_direction_of_larger_problems():
    X, y = overlapping(2, 500, 5, 4)
    assert separation.separating_direction(X, y, 4) is None
    apart = np.where(X[:, 1] > 1, 2, np.where(y == 2, 1, y))
    V = separation.separating_direction(X, apart, 4)
    assert separation.is_separating(X, apart, V)
    assert not separation.is_separating(X, y, V)
    assert not separation.is_separating(X, y, 0 * V)
    # margins 1 and -0.5
    assert not separation.is_separating(np.array([[1.0], [0.5]]), np.array([0, 1]), np.eye(1))


def test_bad_input():
    with pytest.raises(ValueError, match="y must hold labels 0..1"):
        separation.separating_direction(np.ones((2, 2)), [0, 2], 2)


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e3])
def test_margins_below_zero_by_the_tolerance_of_the_programs(size):
    """Margins of size 1 and -t: rounding of a linear program, or labels that overlap."""
    for t, expected in ((0.99e-7, True), (1.01e-7, False)):
        X, y = np.array([[1.0], [t]]), np.array([0, 1])
        assert separation.is_separating(X, y, size * np.eye(1)) == expected


@pytest.mark.parametrize(
    ("step", "short"),
    [
        ([[0.499]], True),
        ([[-0.499]], True),
        ([[0.501]], False),
        ([[-0.501]], False),
        ([[0.3], [-0.19]], True),  # the range of both, and of the reference class
        ([[0.3], [-0.21]], False),
        ([[0.49], [0.3]], True),
        ([[0.51], [0.4]], False),
    ],
)
def test_a_step_is_short_below_one_half_of_a_logit(step, short):
    X = np.array([[1.0], [-0.3], [0.0]])
    assert separation.proves_minimizer(X, np.array(step)) == short


def test_a_problem_that_is_too_large_for_a_program_is_left_open(monkeypatch):
    X, y = overlapping(4, 60, 2, 3)  # 3 features with the constant one, 6 parameters
    for limit, known in ((6, True), (5, False)):
        monkeypatch.setattr(separation, "PROGRAM_LIMIT", limit)
        assert separation.require_minimizer(X, y, 3) is known
