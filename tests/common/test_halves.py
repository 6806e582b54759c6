"""Factors and inverses by halves against NumPy, in both types, with one thread and with two."""

import numpy as np
import pytest

from firal.common import halves, linalg

CASES = [(np.float64, 1e-10), (np.float32, 2e-3)]


@pytest.fixture(params=[4, 512])
def small(request, monkeypatch):
    """With tiny halves as well, so that every quarter is cut again and again."""
    if request.param == 4:
        monkeypatch.setattr(halves, "SMALL", 4)
        monkeypatch.setattr(halves, "LEAF", 3)
    return request.param


def definite(size, dtype):
    A = np.random.default_rng(size).normal(size=(size, 2 * size + 3))
    return (A @ A.T / size + np.eye(size) / 10).astype(dtype)


def differ(found, expected):
    return np.abs(found - expected).max()


def sizes(small):
    return [1, 5, 8, 41] if small == 4 else [513]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("dtype", "accuracy"), CASES)
def test_factor(small, dtype, accuracy, threads):
    for size in sizes(small):
        A = definite(size, dtype)
        room = np.array(A, order="F")
        room[np.triu_indices(size, 1)] = np.nan  # ignored
        assert halves.cholesky(room, threads) and room.dtype == dtype
        expected = np.linalg.cholesky(A.astype(float))
        assert differ(np.tril(room), expected) <= accuracy


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("dtype", "accuracy"), CASES)
def test_triangular_solutions(small, dtype, accuracy, transposed, threads):
    for size in sizes(small):
        C = np.asfortranarray(np.linalg.cholesky(definite(size, dtype)))
        B = np.random.default_rng(0).normal(size=(size, size + 7)).astype(dtype)
        found = np.array(B, order="F")
        halves.solve(C, found[:, 2:-1], transposed, threads)
        expected = B.astype(float)
        full = C.astype(float)
        expected[:, 2:-1] = np.linalg.solve(full.T if transposed else full, expected[:, 2:-1])
        assert differ(found, expected) <= 20 * accuracy * np.abs(expected).max()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("dtype", "accuracy"), CASES)
def test_inverse(small, dtype, accuracy, threads):
    for size in sizes(small):
        A = definite(size, dtype)
        room = np.array(A, order="F")
        assert halves.inverse_below(room, threads)
        expected = np.linalg.inv(A.astype(float))
        assert differ(linalg.from_lower(room), expected) <= 20 * accuracy


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_not_definite_is_found_in_every_half(small, threads):
    for size in sizes(small):
        for place in {0, size // 3, 2 * size // 3, size - 1}:
            A = definite(size, float)
            A[place, place] = -1.0
            assert not halves.cholesky(np.array(A, order="F"), threads)
            assert not halves.inverse_below(np.array(A, order="F"), threads)


def test_an_ill_conditioned_matrix_is_solved_as_by_lapack():
    """Residuals stay at rounding: no product with an inverse takes the place of a solve."""
    size = 600
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(size, size)))[0]
    A = (Q * np.logspace(0, -11, size)) @ Q.T
    A = (A + A.T) / 2
    room = np.array(A, order="F")
    assert halves.cholesky(room)
    C = np.tril(room)
    assert np.abs(C @ C.T - A).max() <= 1e-15
