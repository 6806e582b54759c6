"""The streamed map from columns to features is that of the array, and every home has its bits."""

import numpy as np
import pytest
from homes_of import all_homes
from hypothesis import given, settings
from hypothesis import strategies as st

from firal.engine import passes
from firal.engine.homes import as_home
from firal.engine.moments import Moments, streamed_feature_map
from firal.engine.scaling import feature_map

OPTIONS = [
    {},
    {"robust": True},
    {"pca": 2},
    {"robust": True, "pca": 2, "intercept": False},
    {"standardize": False},
    {"standardize": False, "pca": 2},
]


def table(n=500, seed=0):
    """Columns of all scales, heavy tails, and two constant ones."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(n, 3)) * [1e-6, 1.0, 1e6] + [0, 1e3, 1e6]
    return np.column_stack([X, np.full(n, 0.1), np.zeros(n)])


@pytest.mark.parametrize("options", OPTIONS)
def test_features_are_those_of_an_array(options, monkeypatch):
    X = table()
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 5 * 37)
    found, expected = (
        make(X, **options).apply(X)
        for make in (lambda X, **o: streamed_feature_map(as_home(X), **o), feature_map)
    )
    if "pca" in options:  # of an eigenvector, the sign is free
        found, expected = abs(found), abs(expected)
    scale = np.abs(expected).max(axis=0)
    np.testing.assert_allclose(found / (scale + 1), expected / (scale + 1), atol=1e-9)


@pytest.mark.parametrize("options", OPTIONS)
def test_every_home_gives_the_same_map(options, monkeypatch, tmp_path):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 5 * 23)
    X = table(200)
    expected = streamed_feature_map(as_home(X), **options)
    for name, home in all_homes(X, tmp_path).items():
        found = streamed_feature_map(home, **options)
        assert np.array_equal(found.apply(X), expected.apply(X)), name


@settings(max_examples=50, deadline=None)
@given(first=st.integers(1, 20), second=st.integers(1, 20), shift=st.sampled_from([0.0, 1e8]))
def test_merged_moments_are_those_of_all_rows(first, second, shift):
    X = np.random.default_rng(first).normal(size=(first + second, 2)) + shift

    def moments(X):
        mean = X.mean(axis=0)
        return Moments(len(X), mean, (X - mean).T @ (X - mean))

    both, whole = moments(X[:first]).merged(moments(X[first:])), moments(X)
    assert both.count == whole.count
    np.testing.assert_allclose(both.mean, whole.mean, rtol=1e-14, atol=1e-14)
    atol = 1e-12 if shift == 0 else 1e-5  # the squares themselves would lose all digits
    np.testing.assert_allclose(both.squares, whole.squares, rtol=1e-10, atol=atol)


def test_passes_are_reported():
    calls = []
    streamed_feature_map(as_home(table()), robust=True, report=lambda *call: calls.append(call))
    assert calls == [("scale", 1, 2), ("scale", 2, 2)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pca": 9}, "pca must be an integer in 1..5, got 9"),
        ({"pca": 4}, "pca must be at most 3, the rank of the features"),
        ({"robust": True, "standardize": False}, "robust must be False without standardize"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        streamed_feature_map(as_home(table()), **options)


def test_the_first_bad_number_is_named(monkeypatch):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 5 * 10)
    X = table(95)
    X[93, 1] = np.inf
    with pytest.raises(ValueError, match="finite numbers, got inf in row 93, column 1"):
        streamed_feature_map(as_home(X))


def test_every_part_of_both_passes_is_reported(monkeypatch):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 5 * 20)  # 25 blocks: parts of 16 and 9
    calls = []
    streamed_feature_map(as_home(table()), robust=True, report=lambda *call: calls.append(call))
    assert calls == [("scale", done, 50) for done in (16, 25, 41, 50)]
    calls.clear()
    streamed_feature_map(as_home(table()), report=lambda *call: calls.append(call))
    assert calls == [("scale", 16, 25), ("scale", 25, 25)]


def test_maps_agree_to_rounding(monkeypatch):
    """Means and factors themselves, of columns of one scale."""
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 3 * 7)
    X = np.random.default_rng(1).standard_t(5, size=(200, 3)) + 2
    for options in ({}, {"robust": True}):
        found, expected = streamed_feature_map(as_home(X), **options), feature_map(X, **options)
        np.testing.assert_allclose(found.shift, expected.shift, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.factor, expected.factor, rtol=1e-12)
    np.testing.assert_allclose(found.tails, expected.tails, rtol=1e-12)
    np.testing.assert_allclose(found.tails, (X.mean(axis=0), 1 / X.std(axis=0)), rtol=1e-12)
