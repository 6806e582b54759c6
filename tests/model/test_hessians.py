"""Products with many Hessians against loops over dense ones."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from firal.common.blocks import BLOCK_BYTES
from firal.model import hessians, packing
from firal.model.logistic import softmax

seeds = st.integers(0, 2**32 - 1)


def problem(seed, n, d, k):
    """Points, theta, probabilities of all classes, weights of any sign, a symmetric matrix."""
    rng = np.random.default_rng(seed)
    X, theta = rng.normal(size=(n, d)), rng.normal(size=(k, d))
    M = rng.normal(size=(d * k, d * k))
    return X, theta, softmax(X, theta), rng.normal(size=n), M + M.T


# k <= 3 and k > 3 take different paths through the kernels
@given(seeds, st.integers(1, 9), st.integers(1, 4), st.integers(1, 6))
def test_kernels_equal_dense_sums(seed, n, d, k):
    X, theta, p, weights, M = problem(seed, n, d, k)
    h = p[:, :-1]
    pairs = [
        (hessians.weighted_information(X, h, weights), reference.information(X, theta, weights)),
        (hessians.contract_curvature(X, h, M), reference.contract(X, theta, M)),
        (hessians.quadratic_forms(X, M, k), reference.quadratic_forms(X, M, k)),
    ]
    for ours, dense in pairs:
        np.testing.assert_allclose(ours, dense, rtol=1e-10, atol=1e-12)


@given(seeds, st.integers(1, 5), st.integers(1, 6))
def test_contract_from_quadratic_forms(seed, d, k):
    X, _, p, _, M = problem(seed, 12, d, k)
    h, Q = p[:, :-1], hessians.quadratic_forms(X, M, k)
    by_formula = np.einsum("nk,nkk->n", h, Q) - np.einsum("nk,nkl,nl->n", h, Q, h)
    ours = hessians.contract_curvature(X, h, M)
    np.testing.assert_allclose(ours, by_formula, rtol=1e-9, atol=1e-11)
    assert np.array_equal(Q, Q.transpose(0, 2, 1))


@pytest.mark.parametrize("k", [2, 5])
def test_many_blocks_equal_one(k, monkeypatch):
    X, _, p, weights, M = problem(1, 101, 4, k)
    calls = (
        lambda: hessians.weighted_information(X, p[:, :-1], weights),
        lambda: hessians.contract_curvature(X, p[:, :-1], M),
        lambda: hessians.quadratic_forms(X, M, k),
    )
    whole = [call() for call in calls]
    monkeypatch.setattr(hessians, "_bytes_per_point", lambda X, k: BLOCK_BYTES // 10)
    assert len(list(hessians._blocks(X, k))) == 3
    for call, expected in zip(calls, whole, strict=True):
        np.testing.assert_allclose(call(), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("k", [1, 6])
def test_float32_stays_float32(k):
    X, _, p, weights, M = problem(3, 400, 5, k)
    kernels = (
        lambda X, h, w, M: hessians.weighted_information(X, h, w),
        lambda X, h, w, M: hessians.contract_curvature(X, h, M),
        lambda X, h, w, M: hessians.quadratic_forms(X, M, k),
    )
    for kernel in kernels:
        exact = kernel(X, p[:, :-1], weights, M)
        rounded = kernel(*(a.astype(np.float32) for a in (X, p[:, :-1], weights, M)))
        assert (exact.dtype, rounded.dtype) == (np.float64, np.float32)
        assert np.abs(rounded - exact).max() < 1e-5 * np.abs(exact).max()


def test_curvature_and_its_roots():
    X, theta, p, _, _ = problem(2, 6, 3, 4)
    roots = hessians.curvature_root(p[:, :-1], p[:, -1])
    for x, row, G, R in zip(X, p, hessians.curvature(p[:, :-1]), roots, strict=True):
        h = row[:-1]
        np.testing.assert_allclose(G, np.diag(h) - np.outer(h, h), atol=1e-16)
        np.testing.assert_allclose(R @ R.T, G, atol=1e-15)
        U = hessians.information_root(x, h, row[-1])
        np.testing.assert_allclose(U @ U.T, reference.hessian(x, theta), atol=1e-14)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_packed_symmetric_matrices(size):
    a = np.random.default_rng(size).normal(size=(3, size))
    packed = packing.packed_products(a)
    assert len(packed) == packing.triangle(size)
    full = packed[packing.symmetric_index(size)]  # (size, size, points)
    np.testing.assert_array_equal(full.transpose(2, 0, 1), a[:, :, None] * a[:, None, :])
    np.testing.assert_array_equal(packed[packing.is_diagonal(size)], (a * a).T)


def test_the_root_of_a_certain_point_is_zero():
    assert np.array_equal(
        hessians.curvature_root(np.zeros((1, 3)), np.ones(1)), np.zeros((1, 3, 3))
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_packed_results_keep_the_precision_of_the_points(dtype):
    A = np.arange(6.0, dtype=dtype).reshape(2, 3)
    products = packing.packed_products(A)
    assert products.dtype == dtype
    assert packing.packed_forms(products, A).dtype == dtype
