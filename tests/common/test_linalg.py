"""Symmetric matrices by LAPACK against dense formulas, sizes around a tile included."""

import numpy as np
import pytest

from firal.common import linalg

SIZES = [1, 3, linalg.TILE, linalg.TILE + 5]


def definite(size, seed=0):
    A = np.random.default_rng(seed).normal(size=(size, size + 3))
    return A @ A.T / size


def semidefinite(size, rank, seed=0):
    A = np.random.default_rng(seed).normal(size=(size, rank))
    return A @ A.T


@pytest.mark.parametrize("size", SIZES)
def test_lower_triangle_is_completed_in_place(size):
    A = definite(size)
    lower = np.asfortranarray(np.where(np.tri(size, dtype=bool), A, np.nan))
    found = linalg.from_lower(lower)
    assert np.array_equal(found, found.T) and np.array_equal(np.tril(found), np.tril(A))
    assert found.flags.c_contiguous and np.shares_memory(found, lower)


@pytest.mark.parametrize("size", SIZES)
def test_the_inverse_takes_the_place_of_its_argument(size):
    A = definite(size)
    expected, room = np.linalg.inv(A), A.copy()
    found = linalg.invert_in_place(room, "A")
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9 * np.abs(expected).max())
    assert np.shares_memory(found, room) and np.array_equal(room, found)


def test_a_singular_matrix_is_named():
    with pytest.raises(ValueError, match="Sigma must be well conditioned, got a matrix singular"):
        linalg.invert_in_place(-np.eye(2), "Sigma")


@pytest.mark.parametrize("A", [definite(5), semidefinite(5, 2), np.zeros((3, 3))])
def test_factor(A):
    F = linalg.factor_of(A)
    assert F @ F.T == pytest.approx(A, abs=1e-12)


def test_traces_and_derivative():
    A, B = definite(6, 1), definite(6, 2)
    F, inverse = linalg.factor_of(B), np.linalg.inv(A)
    f, M = linalg.trace_and_derivative(A, F)
    assert f == linalg.trace_of_ratio(A, F) == pytest.approx(np.trace(inverse @ B), rel=1e-12)
    assert M == pytest.approx(inverse @ B @ inverse, rel=1e-9)
    step = 1e-6 * definite(6, 3)
    change = linalg.trace_of_ratio(A + step, F) - linalg.trace_of_ratio(A - step, F)
    assert change == pytest.approx(-2 * np.vdot(M, step), rel=1e-5)
    assert linalg.trace_of_ratio(-A, F) == np.inf
    assert linalg.trace_and_derivative(-A, F) == (np.inf, None)


@pytest.mark.parametrize("threads", [1, 2])
def test_zeros_of_the_factor_are_used_only_where_they_are(threads):
    """Zeros above the diagonal of a triangular factor save work; other factors may have few."""
    size = linalg.PANEL + 150
    A, lower = definite(size, 1), linalg.factor_of(definite(size, 2))
    for shape in ("lower", "upper", "one entry above"):
        F = {"lower": lower, "upper": lower.T, "one entry above": lower.copy()}[shape]
        if shape == "one entry above":
            F[linalg.PANEL - 1, linalg.PANEL + 7] = 3.0
        f, M = linalg.trace_and_derivative(A, np.asfortranarray(F), threads)
        half = np.linalg.solve(A, F)
        assert f == pytest.approx(np.vdot(F, half), rel=1e-11), shape
        assert np.abs(M - half @ half.T).max() <= 1e-10 * np.abs(M).max(), shape


def test_rows_of_zeros_are_not_solved_for(monkeypatch):
    solved, solve = [], linalg.halves.solve
    monkeypatch.setattr(linalg, "PANEL", 4)
    monkeypatch.setattr(
        linalg.halves, "solve", lambda C, B, **o: solved.append((len(C), o)) or solve(C, B, **o)
    )
    linalg.trace_and_derivative(definite(10, 1), linalg.factor_of(definite(10, 2)))
    assert [size for size, options in solved if not options] == [10, 6, 2]
    assert [size for size, options in solved if options] == [10, 10, 10]


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 40])
def test_gram_by_columns_of_the_lower_triangle(size, threads):
    B = np.asfortranarray(np.random.default_rng(size).normal(size=(size, 6)))
    out = np.full((size, size), np.nan, order="F")
    found = linalg.gram(B, out, threads)
    assert found == pytest.approx(B @ B.T, abs=1e-13) and np.shares_memory(found, out)


def test_singular_to_rounding():
    assert not linalg.is_singular(np.array([1e-12, 1.0]))
    assert linalg.is_singular(np.array([1e-16, 1.0]))
    assert linalg.is_singular(np.array([0.0, 0.0]))


def test_reciprocal_condition_does_not_depend_on_units():
    A = definite(5)
    scale = 10.0 ** np.arange(-10, 10, 4)
    scaled = A * np.outer(scale, scale)
    rcond = linalg.reciprocal_condition(A)
    assert 0 < rcond <= 1
    assert linalg.reciprocal_condition(scaled) == pytest.approx(rcond, rel=1e-6)
    assert linalg.reciprocal_condition(np.eye(4) * 1e-30) == pytest.approx(1)
    assert linalg.reciprocal_condition(-np.eye(2)) == 0
    assert linalg.reciprocal_condition(np.diag([1.0, 0.0])) == 0
    assert linalg.reciprocal_condition(semidefinite(5, 2)) < 1e-14


def test_the_slow_decomposition_stands_in_where_the_fast_one_fails(monkeypatch):
    A = np.random.default_rng(0).normal(size=(6, 4))
    want = linalg.svd(A)

    def fails(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", fails)
    U, s, Vt = linalg.svd(A)
    assert np.allclose(s, want[1]) and np.allclose((U * s) @ Vt, A)
