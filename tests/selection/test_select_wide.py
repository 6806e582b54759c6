"""``select_penalized`` where no block is written: it treats its input as it does with blocks."""

import warnings

import numpy as np
import pytest

from firal.selection import penalized, wide_sizes
from firal.selection.penalized import select_penalized
from firal.selection.reduced import FeaturesReduced


@pytest.fixture
def without_blocks(monkeypatch):
    monkeypatch.setattr(penalized, "LARGEST_FULL", 0)
    monkeypatch.setattr(penalized, "LARGEST_FIRST", 0)
    monkeypatch.setattr(wide_sizes, "LARGEST_ORDER", 10)


def groups(seed=0, m=120, d=12, c=3, n0=4):
    """Pool in twelve groups, one after the other, labeled points, a soft theta."""
    rng = np.random.default_rng(seed)
    pool = np.repeat(3 * rng.normal(size=(12, d)), m // 12, axis=0) + rng.normal(size=(m, d))
    return pool, rng.normal(size=(n0, d)), rng.normal(size=(c - 1, d)) / 8


def generator():
    return np.random.default_rng(0)


def test_columns_of_zeros_are_no_features(without_blocks):
    """A cluster effect has the size of a feature that varies."""
    pool, labeled, theta = groups()
    some = select_penalized(pool, labeled, theta, 6, generator())
    padded = (np.pad(A, [(0, 0), (0, 30)]) for A in (pool, labeled, theta))
    more = select_penalized(*padded, 6, generator())
    assert more.indices.tolist() == some.indices.tolist()
    assert more.objective == pytest.approx(some.objective, rel=1e-9)


def test_a_ridge_that_is_lost_to_rounding_is_refused(without_blocks):
    pool, labeled, theta = groups()
    with pytest.raises(ValueError, match="ridge must not be negligible against the features"):
        select_penalized(1e6 * pool, 1e6 * labeled, theta / 1e6, 6, generator())


def test_clusters_are_those_of_points_that_are_spread(without_blocks, monkeypatch):
    """The first points of a sorted pool would know a few groups only."""
    seen, find = [], penalized.cluster_centers
    monkeypatch.setattr(penalized, "CLUSTER_SAMPLE", 40)
    monkeypatch.setattr(
        penalized, "cluster_centers", lambda X, *a, **o: seen.append(X) or find(X, *a, **o)
    )
    pool, labeled, theta = groups()
    select_penalized(pool, labeled, theta, 6, generator())
    assert np.array_equal(seen[0], pool[np.linspace(0, 119, 40).astype(int)])


@pytest.mark.parametrize(("m", "points"), [(120, 4 + 12), (9, 4 + 9)])
def test_vectors_of_all_steps_must_fit(m, points, without_blocks, monkeypatch):
    """A vector per class for the labeled points and all forward steps, 2 budget or the pool."""
    pool, labeled, theta = groups()
    clusters = min(4 + 6, 12, m)
    needed = wide_sizes.vector_bytes(3, points, 12 + clusters)
    for most, reduced in ((needed, False), (needed - 1, True)):
        monkeypatch.setattr(wide_sizes, "MOST_BYTES", most)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = select_penalized(pool[:m], labeled, theta, 6, generator())
        assert bool(found.why) == reduced
        assert any(w.category is FeaturesReduced for w in caught) == reduced


def test_small_full_matrices_are_written_however_many_columns(monkeypatch):
    """The limit of the blocks is none of a full matrix."""
    pool, labeled, theta = groups()
    usual = select_penalized(pool, labeled, theta, 6, generator())
    monkeypatch.setattr(wide_sizes, "LARGEST_ORDER", 10)
    found = select_penalized(pool, labeled, theta, 6, generator())
    assert found.indices.tolist() == usual.indices.tolist()
    assert found.objective == usual.objective and not np.isnan(found.lambda_min)
