"""Information matrices and ratios, against loops over dense Hessians."""

import tracemalloc

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg

from firal.information import fisher

seeds = st.integers(0, 2**32 - 1)


def problem(seed, n, d, k, scale=1.0):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(n, d))
    theta = rng.normal(size=(k, d))
    weights = rng.random(n)
    M = rng.normal(size=(d * k, d * k))
    return X, theta, weights, M + M.T


def positive(rng, size):
    A = rng.normal(size=(size, size + 2))
    return A @ A.T / size


# k <= 3 and k > 3 take different paths through the kernels
@given(seeds, st.integers(1, 9), st.integers(1, 4), st.integers(1, 6))
def test_information_and_contract_equal_dense_sums(seed, n, d, k):
    X, theta, weights, M = problem(seed, n, d, k)
    close = {"rtol": 1e-10, "atol": 1e-12}
    np.testing.assert_allclose(
        fisher.information(X, theta, weights), reference.information(X, theta, weights), **close
    )
    np.testing.assert_allclose(
        fisher.contract(X, theta, M), reference.contract(X, theta, M), **close
    )


@given(seeds, st.integers(1, 30), st.integers(1, 5), st.integers(1, 6))
def test_information_is_the_adjoint_of_contract(seed, n, d, k):
    X, theta, weights, M = problem(seed, n, d, k)
    total = np.sum(fisher.information(X, theta, weights) * M)
    parts = weights @ fisher.contract(X, theta, M)
    assert total == pytest.approx(parts, rel=1e-10, abs=1e-10)


def test_default_weights_are_the_mean():
    X, theta, _, _ = problem(0, 11, 3, 2)
    mean = reference.information(X, theta, np.full(11, 1 / 11))
    np.testing.assert_allclose(fisher.information(X, theta), mean, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 6])
def test_float32_stays_float32(k):
    X, theta, weights, M = problem(3, 400, 5, k)
    single = X.astype(np.float32)
    for name, args in (("information", (weights,)), ("contract", (M,))):
        exact = getattr(fisher, name)(X, theta, *args)
        rounded = getattr(fisher, name)(single, theta, *args)
        assert rounded.dtype == np.float32
        assert exact.dtype == np.float64
        assert np.abs(rounded - exact).max() < 1e-5 * np.abs(exact).max()


def test_memory_is_bounded_for_a_large_pool():
    rng = np.random.default_rng(0)
    X, theta = rng.normal(size=(200_000, 20)), rng.normal(size=(9, 20))
    M = np.eye(180)
    tracemalloc.start()
    fisher.information(X, theta)
    fisher.contract(X, theta, M)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**30 / 4  # the goal is 1 GiB above the data; the points of a block decide


@given(seeds, st.integers(1, 6))
def test_fir_and_sigma_are_trace_and_largest_eigenvalue(seed, size):
    rng = np.random.default_rng(seed)
    Hq, Hp = positive(rng, size), positive(rng, size)
    eigenvalues = linalg.eigvals(np.linalg.inv(Hq) @ Hp).real
    assert fisher.fir(Hq, Hp) == pytest.approx(eigenvalues.sum(), rel=1e-6)
    assert fisher.sigma(Hq, Hp) == pytest.approx(eigenvalues.max(), rel=1e-6)


def test_ratios_of_equal_matrices_and_change_of_coordinates():
    rng = np.random.default_rng(5)
    Hq, Hp, A = positive(rng, 5), positive(rng, 5), rng.normal(size=(5, 5))
    assert fisher.fir(Hp, Hp) == pytest.approx(5)
    assert fisher.sigma(Hp, Hp) == pytest.approx(1)
    for ratio in (fisher.fir, fisher.sigma):
        moved = ratio(A @ Hq @ A.T, A @ Hp @ A.T)
        assert moved == pytest.approx(ratio(Hq, Hp), rel=1e-8)


def test_rho_is_the_smallest():
    X, theta, _, _ = problem(7, 60, 3, 3)
    Vp, Hp = X.T @ X / 60, fisher.information(X, theta)
    rho = fisher.rho(Vp, Hp)
    gap = np.linalg.eigvalsh(rho * Hp - np.kron(np.eye(3), Vp))
    assert abs(gap[0]) < 1e-9 * gap[-1]  # positive semidefinite, and only just


@pytest.mark.parametrize("c", [2, 3, 7])
def test_rho_at_theta_zero_is_c_squared(c):
    X = np.random.default_rng(c).normal(size=(50, 4))
    rho = fisher.rho(X.T @ X / 50, fisher.information(X, np.zeros((c - 1, 4))))
    assert rho == pytest.approx(c**2, rel=1e-9)


@given(seeds, st.integers(1, 6))
def test_fir_or_inf_is_fir_for_definite_matrices(seed, size):
    rng = np.random.default_rng(seed)
    Hq, Hp = positive(rng, size), positive(rng, size)
    assert fisher.fir_or_inf(Hq, Hp) == pytest.approx(fisher.fir(Hq, Hp), rel=1e-8)
    singular = rng.normal(size=(size, size - 1))
    assert fisher.fir_or_inf(Hq, singular @ singular.T) == pytest.approx(
        np.trace(np.linalg.solve(Hq, singular @ singular.T)), rel=1e-8, abs=1e-12
    )


@pytest.mark.parametrize("size", [2, 5, 20])
def test_fir_or_inf_of_a_matrix_that_is_singular_to_rounding(size):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(size, size - 1))
        assert fisher.fir_or_inf(A @ A.T, positive(rng, size)) == np.inf


X3, T23 = np.ones((4, 3)), np.ones((2, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fisher.information(np.ones(3), T23), r"X must have shape \(n, d\).*\(3,\)"),
        (lambda: fisher.information(np.full((2, 3), np.nan), T23), "X must be finite, got 6"),
        (lambda: fisher.information([["a"]], T23), "X must hold real numbers, got the text"),
        (lambda: fisher.information(X3, np.ones((2, 4))), r"theta must .* d = 3 .*\(2, 4\)"),
        (lambda: fisher.information(X3, np.ones((0, 3))), r"c >= 2 classes.*\(0, 3\)"),
        (lambda: fisher.information(X3, T23, np.ones(5)), r"weights must have shape \(4,\)"),
        (lambda: fisher.information(X3, T23, -np.ones(4)), "weights must be nonnegative, got .*-1"),
        (lambda: fisher.contract(X3, T23, np.eye(5)), r"M must have shape \(6, 6\), got \(5, 5\)"),
        (lambda: fisher.contract(X3, T23, np.arange(36.0).reshape(6, 6)), "M must be symmetric"),
        (lambda: fisher.fir(np.zeros((2, 2)), np.eye(2)), "Hq must be positive definite"),
        (lambda: fisher.fir(np.eye(2), np.eye(3)), r"one shape, got \(2, 2\) and \(3, 3\)"),
        (lambda: fisher.sigma(-np.eye(2), np.eye(2)), "Hq must be positive definite.*-1"),
        (lambda: fisher.rho(np.eye(2), np.eye(3)), r"Hp must have d\(c-1\) rows.*\(3, 3\)"),
        (lambda: fisher.rho(np.ones((2, 3)), np.eye(3)), "Vp must be a square matrix"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sigma_of_equal_matrices_is_one():
    """Many equal eigenvalues: LAPACK's search for one of them used to fail at these sizes."""
    rng = np.random.default_rng(0)
    for size in (64, 128):
        A = rng.normal(size=(size, 2 * size))
        assert fisher.sigma(A @ A.T, A @ A.T) == pytest.approx(1, rel=1e-10)


def test_many_blocks_equal_one(monkeypatch):
    X, theta, weights, M = problem(8, 50, 3, 2)
    whole = fisher.information(X, theta, weights), fisher.contract(X, theta, M)
    monkeypatch.setattr(fisher, "PROBABILITY_BYTES", 700)
    assert [(b.start, b.stop) for b in fisher.probability_blocks(X, theta)] == [
        (k, min(k + 7, 50)) for k in range(0, 50, 7)
    ]
    np.testing.assert_allclose(fisher.information(X, theta, weights), whole[0], rtol=1e-12)
    np.testing.assert_allclose(fisher.contract(X, theta, M), whole[1], rtol=1e-12)


def test_a_matrix_is_singular_at_rounding_and_not_before():
    """What elimination leaves of a diagonal entry: at most 4 * size * eps of it counts as none."""
    eps = np.finfo(float).eps
    for factor, definite in ((1.1, True), (0.9, False)):
        left = 4 * 2 * eps * factor
        Hq = np.array([[1.0, 1.0], [1.0, 1.0 + left]])
        if definite:
            assert fisher.fir(Hq, Hq) == pytest.approx(2, rel=1e-2)
        else:
            with pytest.raises(ValueError, match="Hq must be positive definite, got eigenvalues"):
                fisher.fir(Hq, Hq)
    # units do not count
    assert fisher.fir(np.diag([1e-40, 1e40]), np.eye(2)) == pytest.approx(1e40, rel=1e-12)


def test_ratios_by_hand_to_rounding():
    Hq, Hp = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[5.0, -1.0], [-1.0, 4.0]])
    # the inverse of Hq is [[3, -1], [-1, 2]] / 5
    assert fisher.fir(Hq, Hp) == pytest.approx((15 + 1 + 1 + 8) / 5, rel=1e-14)
    assert fisher.fir_or_inf(Hq, Hp) == pytest.approx(5.0, rel=1e-14)
    # trace 5 and determinant 19/5 of Hq^{-1} Hp
    assert fisher.sigma(Hq, Hp) == pytest.approx((5 + np.sqrt(25 - 4 * 3.8)) / 2, rel=1e-14)
    assert fisher.fir(Hq.astype(np.float32), Hp) == pytest.approx(5.0, rel=1e-14)
