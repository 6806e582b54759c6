"""Features for the model, against scikit-learn's scaler and principal components."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from firal.engine import scaling
from firal.engine.scaling import model_features


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(scaling, "BLOCK_BYTES", 200)  # a few rows per block


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(2, 40), d=st.integers(1, 5))
def test_standardized(seed, n, d):
    X = np.random.default_rng(seed).normal(3, 2, size=(n, d)) * 10.0 ** np.arange(d)
    got = model_features(X)
    assert np.allclose(got[:, :-1], StandardScaler().fit_transform(X))
    assert np.all(got[:, -1] == 1)
    assert np.array_equal(got[:, :-1], model_features(X, intercept=False))


def test_nothing_asked_for_nothing_changed():
    X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    got = model_features(X, standardize=False, intercept=False)
    assert got.dtype == np.float64 and np.array_equal(got, X)


@pytest.mark.parametrize("standardize", [False, True])
def test_principal_components(standardize):
    X = np.random.default_rng(1).normal(size=(50, 4)) @ np.random.default_rng(2).normal(size=(4, 6))
    got = model_features(X, standardize=standardize, pca=3, intercept=False)
    source = StandardScaler().fit_transform(X) if standardize else X
    want = PCA(3, svd_solver="full").fit_transform(source)
    if standardize:
        want /= want.std(axis=0)
    signs = np.sign(np.sum(got * want, axis=0))
    assert np.allclose(got, want * signs)


def test_constant_columns_become_zero():
    n = 1001  # the mean of so many is not exact, and the spread is not quite zero
    X = np.column_stack([np.arange(n), np.full(n, 0.1), np.full(n, 1e9 / 3)])
    assert np.array_equal(model_features(X)[:, 1:3], np.zeros((n, 2)))


def test_a_memory_mapped_file_gives_the_same(tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.array_equal(model_features(mapped, pca=2), model_features(X, pca=2))


@pytest.mark.parametrize("standardize", [False, True])
def test_refusals(standardize):
    X = np.arange(80.0).reshape(20, 4) ** 2
    X[13, 2] = np.nan
    with pytest.raises(ValueError, match="got nan in row 13, column 2"):
        model_features(X, standardize=standardize)
    X[13, 2] = -1e60
    with pytest.raises(ValueError, match=r"at most 1e[+]50 in size, got -1e[+]60 in row 13, col"):
        model_features(X, standardize=standardize)
    with pytest.raises(ValueError, match="intercept must be True or False, got 'no'"):
        model_features(X, intercept="no")
    with pytest.raises(ValueError, match="pca must be an integer in 1..4, got 5"):
        model_features(X, pca=5)
    line = np.outer(np.arange(20.0), np.ones(4))
    with pytest.raises(ValueError, match="pca must be at most 1, the rank"):
        model_features(line, pca=2, standardize=standardize)
    with pytest.raises(ValueError, match=r"shape \(20,\)"):
        model_features(X[:, 0])
    with pytest.raises(ValueError, match="type <U1"):
        model_features(np.full((2, 2), "a"))
