"""Rows with columns of groups: every product against the same rows written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import firal
from firal.selection import block_rows, summed_blocks, wide_forms
from firal.selection.block_diagonal import prepare_blocks
from firal.selection.block_greedy import block_greedy
from firal.selection.block_rows import (
    FEWEST,
    GroupedRows,
    blocks,
    contracted,
    forms,
    grouped,
    product,
    quadratic,
)


def with_groups(seed, m, d, count, empty=0.2):
    """(m, d + count): numbers, then at most one number per row; some rows have none."""
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.normal(size=(m, d)), np.zeros((m, count))])
    has = rng.random(m) > empty
    X[has, d + rng.integers(count, size=has.sum())] = rng.normal(size=has.sum())
    return X


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 999), st.integers(1, 12), st.integers(1, 4), st.integers(FEWEST, 15))
def test_products_are_those_of_the_rows_written_out(seed, m, d, count):
    X, rng = with_groups(seed, m, d, count), np.random.default_rng(seed)
    rows = grouped(X)
    assert isinstance(rows, GroupedRows) and rows.shape == X.shape and len(rows) == m
    assert rows.count >= count
    V, weights = rng.normal(size=(3, X.shape[1])), rng.random((m, 2))
    M = rng.normal(size=(2, X.shape[1], X.shape[1]))
    M = M + M.transpose(0, 2, 1)
    np.testing.assert_allclose(product(rows, V), X @ V.T, atol=1e-12)
    np.testing.assert_allclose(
        blocks(rows, weights), np.einsum("ik,ia,ib->kab", weights, X, X), atol=1e-12
    )
    np.testing.assert_allclose(quadratic(rows, M), np.einsum("ia,kab,ib->ik", X, M, X), atol=1e-11)
    np.testing.assert_array_equal(rows[m - 1], X[m - 1])
    np.testing.assert_array_equal(np.stack([rows[[0, m - 1]][k] for k in (0, 1)]), X[[0, m - 1]])


@pytest.mark.parametrize("m", [5, 12, 1500])  # too few points for a factor, just enough, pieces
@pytest.mark.parametrize("kind", ["definite", "singular", "indefinite"])
def test_forms_by_a_triangular_factor_and_without(m, kind):
    rng, d = np.random.default_rng(m), 6
    X, A = rng.normal(size=(m, d)), rng.normal(size=(d, 3 if kind == "singular" else d))
    M = A + A.T if kind == "indefinite" else A @ A.T
    exact = np.einsum("ia,ab,ib->i", X, M, X)
    np.testing.assert_allclose(forms(X, M), exact, rtol=1e-11, atol=1e-11)
    M, g = np.stack([M, np.eye(d), 2 * M]), rng.random((m, 3))
    wanted = np.einsum("ik,ia,kab,ib->i", g, X, M, X)
    for threads in (1, 2):
        np.testing.assert_allclose(contracted(X, g, M, threads), wanted, rtol=1e-11, atol=1e-11)


def test_forms_of_float32_points_are_float32():
    """Also where there are enough points for a factor, which is float64."""
    rng = np.random.default_rng(0)
    X, A = rng.normal(size=(50, 4)), rng.normal(size=(4, 4))
    M, g = np.stack([A @ A.T, np.eye(4)]), rng.random((50, 2))
    exact = np.einsum("ia,kab,ib->ik", X, M, X)
    single = X.astype(np.float32)
    found = forms(single, M[0]), quadratic(single, M), contracted(single, g, M)
    for one, wanted in zip(found, (exact[:, 0], exact, (g * exact).sum(axis=1)), strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, wanted, rtol=1e-5)
    assert contracted(X, g, M).dtype == np.float64


def test_a_pass_over_large_blocks_is_reported_class_by_class(monkeypatch):
    rng, calls = np.random.default_rng(0), []
    m = 2 * block_rows.PIECE + 5
    X, M, g = rng.normal(size=(m, 2)), np.stack([np.eye(2)] * 3), rng.random((m, 3))
    monkeypatch.setattr(block_rows, "TASK", 1)
    contracted(X, g, M, 1, lambda *call: calls.append(call))
    assert calls == [(done, 9) for done in range(1, 10)]


@pytest.mark.parametrize("room, stored", [(0, True), (1, False)])
def test_blocks_are_stored_up_to_their_size(room, stored, monkeypatch):
    X, weights = np.ones((5, 4)), np.ones((5, 3))
    monkeypatch.setattr(summed_blocks, "STORED_BYTES", 8 * 3 * 4 * 4 - room)
    found = summed_blocks.SummedBlocks(X, weights, 0.5).stored_if_small()
    assert isinstance(found, np.ndarray) == stored
    np.testing.assert_array_equal(np.asarray(found), [np.full((4, 4), 5) + 0.5 * np.eye(4)] * 3)


def test_two_numbers_in_a_row_are_no_group():
    X = with_groups(1, 30, 2, 12, empty=0)
    X[3, -1] = X[3, -2] = 1.0
    assert isinstance(grouped(X), np.ndarray)
    assert grouped(np.ones((5, 4))) is not None and isinstance(
        grouped(np.ones((5, 20))), np.ndarray
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_picks_are_those_of_the_rows_written_out(seed):
    X = with_groups(seed, 60, 3, 12, empty=0)
    p = np.random.default_rng(seed).dirichlet(np.ones(4), size=60)
    problem = prepare_blocks(X, None, None, 5, ridge=0.02, probabilities=(p, None))
    assert isinstance(problem.X, GroupedRows)
    plain = problem._replace(X=X, mean_information=blocks(X, problem.g) / len(X))
    np.testing.assert_allclose(problem.mean_information, plain.mean_information, atol=1e-13)
    for one, other in zip(block_greedy(problem), block_greedy(plain), strict=True):
        assert one.tolist() == other.tolist()
    found = firal.select(
        X, None, None, 5, ridge=0.02, probabilities=(p, None), structure="block-diagonal"
    )
    assert sorted(found.indices) in [sorted(rows) for rows in block_greedy(plain)]


@pytest.mark.parametrize("m", [1, 6, 7, 8, 15, 21])
def test_pieces_are_all_rows_once(m):
    """Also a last piece of a single row."""
    for cut in (block_rows._some(m, 7), block_rows._some(m), wide_forms.pieces(m)):
        assert np.concatenate([np.arange(m)[rows] for rows in cut]).tolist() == list(range(m))
    assert max(len(range(m)[rows]) for rows in block_rows._some(m, 7)) <= 7
