"""Features for the model, against scikit-learn's scaler and principal components."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from firal.engine import scaling
from firal.engine.scaling import feature_map, model_features


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


def heavy(seed=0, n=60):
    """Columns with heavy tails, in several units."""
    X = np.random.default_rng(seed).standard_cauchy(size=(n, 4))
    return X * [1.0, 1e-6, 1e4, 3.0] + [0.0, 5.0, -1e4, 100.0]


def literally_robust(X):
    """arsinh of the standardized numbers, standardized again: column by column."""
    out = np.empty_like(X)
    for j, column in enumerate(X.T):
        drawn_in = np.arcsinh((column - np.mean(column)) / np.std(column))
        out[:, j] = (drawn_in - np.mean(drawn_in)) / np.std(drawn_in)
    return out


def test_robust():
    X = heavy()
    got = model_features(X, robust=True)
    assert np.all(got[:, -1] == 1)
    np.testing.assert_allclose(got[:, :-1], literally_robust(X), atol=1e-9)
    np.testing.assert_allclose(got[:, :-1].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(got[:, :-1].std(axis=0), 1)
    plain = model_features(X)
    assert np.array_equal(plain, model_features(X, robust=False))
    assert np.abs(got).max() < 0.9 * np.abs(plain).max()
    assert np.array_equal(got[:, :-1].argsort(axis=0), plain[:, :-1].argsort(axis=0))  # monotone


def test_an_outlier_is_drawn_in():
    rng = np.random.default_rng(1)
    x = rng.normal(size=50_000)
    for _ in range(50):  # until it is 100 deviations from the mean, itself included
        x[0] = x.mean() + 100 * x.std()
    map_ = feature_map(x[:, None], robust=True)
    mean, inverse = map_.tails
    assert mean[0] == pytest.approx(x.mean()) and inverse[0] == pytest.approx(1 / x.std())
    before = map_.apply(x[:, None])[:, 0] / map_.factor[0] + map_.shift[0]  # second scaling undone
    assert before[0] == pytest.approx(np.arcsinh(100)) == pytest.approx(5.3, abs=0.01)
    near = np.abs(x - x.mean()) < 0.1 * x.std()
    np.testing.assert_allclose(before[near], (x[near] - x.mean()) / x.std(), rtol=2e-3)


def test_robust_changes_nothing_in_a_column_of_two_values():
    X = (np.random.default_rng(0).random(size=(200, 3)) < [0.01, 0.3, 0.9]) * [1.0, 7.0, -2.0]
    assert X.any(axis=0).all()
    np.testing.assert_allclose(model_features(X, robust=True), model_features(X), atol=1e-9)


def test_robust_constant_columns_become_zero():
    n = 1001
    X = np.column_stack([np.arange(n), np.full(n, 0.1), np.full(n, 1e9 / 3), np.zeros(n)])
    got = model_features(X, robust=True)
    assert np.array_equal(got[:, 1:4], np.zeros((n, 3))) and got[:, 0].any()


@pytest.mark.parametrize("pca", [None, 2])
def test_robust_of_a_memory_mapped_file(tmp_path, pca):
    X = heavy(n=100).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    want = model_features(X, robust=True, pca=pca)
    assert np.array_equal(model_features(mapped, robust=True, pca=pca), want)
    assert np.array_equal(model_features(np.asfortranarray(X), robust=True, pca=pca), want)


def test_robust_principal_components():
    X = heavy(n=80)
    got = model_features(X, robust=True, pca=3, intercept=False)
    want = PCA(3, svd_solver="full").fit_transform(literally_robust(X))
    want /= want.std(axis=0)
    assert np.allclose(got, want * np.sign(np.sum(got * want, axis=0)))


def test_robust_of_points_the_map_was_not_made_from():
    X, others = heavy(0), heavy(1, n=9)
    for pca in (None, 2):
        map_ = feature_map(X, robust=True, pca=pca)
        both = map_.apply(np.concatenate([X, others]))
        np.testing.assert_allclose(both[60:], map_.apply(others), rtol=1e-12)
        np.testing.assert_allclose(both[:60], model_features(X, robust=True, pca=pca), rtol=1e-12)
    drawn_in = np.arcsinh((others - X.mean(axis=0)) / X.std(axis=0))
    first = np.arcsinh((X - X.mean(axis=0)) / X.std(axis=0))
    want = (drawn_in - first.mean(axis=0)) / first.std(axis=0)
    np.testing.assert_allclose(feature_map(X, robust=True).apply(others)[:, :-1], want, rtol=1e-9)


def test_robust_needs_a_scale():
    X = heavy()
    message = "robust must be False without standardize, got True: it scales columns"
    for pca in (None, 2):
        with pytest.raises(ValueError, match=message):
            model_features(X, robust=True, standardize=False, pca=pca)
    with pytest.raises(ValueError, match="robust must be True or False, got None"):
        model_features(X, robust=None)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="got nan in row 3, column 1"):
        model_features(X, robust=True)


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


@pytest.mark.parametrize("n", [200, 1000, 5000])
@pytest.mark.parametrize("robust", [False, True])
def test_constant_columns_become_zero_however_long(n, robust):
    X = np.column_stack([np.full(n, 0.1), np.full(n, 1e9 / 3), np.full(n, 0.3), np.arange(n)])
    assert np.array_equal(model_features(X, robust=robust)[:, :3], np.zeros((n, 3)))


def test_constant_columns_become_zero_whatever_their_sum_rounds_to(monkeypatch):
    """A row at a time: ten thousand tenths miss a thousand by more than a column may vary."""
    monkeypatch.setattr(scaling, "BLOCK_BYTES", 1)
    X = np.column_stack([np.full(10_000, 0.1), np.arange(10_000.0)])
    assert abs(np.cumsum(X[:, 0])[-1] / 1000 - 1) > 1e-13
    found = model_features(X)
    assert not found[:, 0].any() and found[:, 1].std() == pytest.approx(1)
