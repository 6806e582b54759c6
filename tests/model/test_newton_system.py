"""Newton steps against dense solves, by conjugate gradients and by factorization."""

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
import reference

from firal.model import fitting, newton_system
from firal.model.fitting import fit
from firal.model.logistic import loss_and_residual
from firal.model.newton_system import NewtonSystem, row_space


def system(seed, ridge, scale):
    """The system at a random theta, the dense matrix, and the gradient there."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(100, 3)), rng.integers(4, size=100)
    theta = scale * rng.normal(size=(3, 3))
    _, h, residual, _ = loss_and_residual(X, y, theta)
    H = sum(reference.hessian(x, theta) for x in X) / 100 + ridge * np.eye(9)
    return NewtonSystem(X, ridge, *row_space(X)), H, h, residual @ X / 100


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_preconditioner_is_exact_at_zero(ridge, monkeypatch):
    """One iteration of conjugate gradients solves the Newton system at theta = 0."""
    monkeypatch.setattr(newton_system, "MAX_CG", 1)
    newton, H, h, slope = system(1, ridge, scale=0.0)
    step, solved = newton._conjugate_gradients(h, slope, tolerance=1e-8)
    assert solved
    np.testing.assert_allclose(H @ step.ravel(), -slope.ravel(), atol=1e-12)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("small", [0, 10**6])  # conjugate gradients, factorization
def test_steps_solve_the_system(ridge, small, monkeypatch):
    monkeypatch.setattr(newton_system, "SMALL_SYSTEM", small)
    newton, H, h, slope = system(2, ridge, scale=1.0)
    step = newton.solve(h, slope, tolerance=1e-10)
    np.testing.assert_allclose(step.ravel(), -np.linalg.solve(H, slope.ravel()), rtol=1e-8)


def test_hard_systems_of_medium_size_are_factored(monkeypatch):
    monkeypatch.setattr(newton_system, "SMALL_SYSTEM", 0)
    monkeypatch.setattr(newton_system, "MAX_CG", 1)
    newton, H, h, slope = system(3, 0.0, scale=1.0)
    exact = -np.linalg.solve(H, slope.ravel())
    step = newton.solve(h, slope, tolerance=1e-10)
    np.testing.assert_allclose(step.ravel(), exact, rtol=1e-8)
    monkeypatch.setattr(newton_system, "MEDIUM_SYSTEM", 0)
    step = newton.solve(h, slope, tolerance=1e-10)
    assert not np.allclose(step.ravel(), exact, rtol=1e-3)  # one iteration only
    assert np.sum(step * slope) < 0


def test_a_singular_system_still_gives_a_descent_direction():
    X = np.array([[1.0, 0.0], [1.0, 1e-170]])
    h = np.full((1, 2), 0.5)
    slope = np.array([[1.0, 1e-170]])
    step = NewtonSystem(X, 0.0, *row_space(X)).solve(h, slope, tolerance=0.1)
    assert np.isfinite(step).all()
    assert np.sum(step * slope) < 0


def test_a_direction_without_curvature_is_followed_downhill():
    """A class of probability 0 everywhere: no curvature along its row, but a gradient."""
    X = np.array([[1.0], [2.0]])
    h, slope = np.array([[0.5, 0.5], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    step, solved = NewtonSystem(X, 0.0, *row_space(X))._conjugate_gradients(h, slope, 0.1)
    assert not solved
    assert np.sum(step * slope) < 0


def test_row_space_has_the_rank_of_columns_in_their_own_units():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) * [1e8, 1.0, 1e-9]
    scales, basis = row_space(X)
    np.testing.assert_allclose(scales, np.linalg.svd(X)[1], rtol=1e-10)
    np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-12)
    doubled, _ = row_space(np.hstack([X, X]))
    assert len(doubled) == 3
    assert len(row_space(np.zeros((4, 2)))[0]) == 1


def test_the_rank_is_that_of_rounding_in_the_longer_direction():
    """Columns (1, 0, ...) and (1, t, 0, ...): the smaller singular value is t/2 of the larger."""
    eps = np.finfo(float).eps
    for shape in ((30, 2), (2, 30)):
        X = np.zeros(shape)
        X[0, :2] = 1
        for t, rank in ((50 * eps, 1), (70 * eps, 2)):
            X[1, 1] = t
            assert len(row_space(X)[0]) == rank


@pytest.mark.parametrize("small", [0, 10**6])  # conjugate gradients, factorization
def test_steps_with_a_penalty_between_classes(small, monkeypatch):
    monkeypatch.setattr(newton_system, "SMALL_SYSTEM", small)
    if small:  # not even where a wrong matrix cannot be factored
        monkeypatch.setattr(NewtonSystem, "_conjugate_gradients", None)
    plain, _, h, slope = system(4, 0.0, scale=1.0)
    A = np.eye(3) - 1 / 4
    penalized = NewtonSystem(plain.X, 0.3, plain.scales, plain.basis, A)
    theta = np.random.default_rng(4)
    theta.normal(size=(100, 3)), theta.integers(4, size=100)
    theta = theta.normal(size=(3, 3))
    H = sum(reference.hessian(x, theta) for x in plain.X) / 100 + 0.3 * np.kron(A, np.eye(3))
    step = penalized.solve(h, slope, tolerance=1e-10)
    np.testing.assert_allclose(step.ravel(), -np.linalg.solve(H, slope.ravel()), rtol=1e-8)
    np.testing.assert_allclose(penalized.penalize(theta), A @ theta, rtol=1e-15)
    image = penalized._product(h, step)
    np.testing.assert_allclose(image.ravel(), H @ step.ravel(), rtol=1e-10, atol=1e-14)


def test_a_fit_asks_for_more_accurate_steps_as_its_gradient_shrinks(monkeypatch):
    asked, solve = [], NewtonSystem.solve
    monkeypatch.setattr(
        NewtonSystem,
        "solve",
        lambda self, *args, tolerance: asked.append(tolerance) or solve(self, *args, tolerance),
    )
    X = np.random.default_rng(0).normal(size=(60, 2))
    fit(X, (X[:, 0] > 0).astype(int), 2, ridge=0.01)
    assert len(asked) > 2 and asked[0] == 0.25 and asked[-1] < 0.01
    assert all(one >= other for one, other in pairwise(asked))


def test_a_fit_has_the_threads_for_its_unknowns(monkeypatch):
    sizes = []
    monkeypatch.setattr(fitting, "threads_for", lambda size: sizes.append(size) or nullcontext())
    X = np.random.default_rng(0).normal(size=(12, 3))
    for classes in (2, 4):
        fit(X, np.arange(12) % classes, classes, ridge=0.1)
    assert sizes == [3, 9]
