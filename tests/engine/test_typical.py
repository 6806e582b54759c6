"""Typical points against a literal search, and their properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firal.engine import typical
from firal.engine.typical import neighbor_distance, typical_rows


@pytest.mark.parametrize(("m", "d"), [(1, 2), (2, 1), (9, 3), (40, 20), (200, 4)])
def test_distances_are_those_of_a_literal_search(m, d):
    points = np.random.default_rng(m).normal(size=(m, d))
    found = neighbor_distance(points)
    for x, distance in zip(points, found, strict=True):
        nearest = np.sort([np.linalg.norm(x - other) for other in points])[1:11]
        assert distance == pytest.approx(nearest.mean() if m > 1 else 0, rel=1e-9)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("d", [3, 40])  # a tree, and all pairs
def test_searches_of_few_points_find_the_same(d, kind, monkeypatch):
    from sklearn.neighbors import NearestNeighbors

    points = np.random.default_rng(d).normal(size=(700, d)).astype(kind)
    points[250:280] = points[250]  # more equal points than neighbors
    wanted = NearestNeighbors(n_neighbors=10).fit(points).kneighbors()[0].mean(axis=1)
    found = neighbor_distance(points)
    assert np.allclose(found, wanted, rtol=1e-12 if kind is np.float64 else 1e-6, atol=1e-7)
    assert (found[250:280] == 0).all()
    monkeypatch.setattr(typical, "TASK", 1)  # 256 points at a time
    monkeypatch.setattr(typical, "BLOCK_BYTES", 8 * 10 * d * 7)
    assert np.array_equal(neighbor_distance(points), found)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=40),
    st.floats(0.01, 1),
    st.integers(0, 99),
)
def test_every_group_keeps_its_share(groups, share, seed):
    groups = np.array(groups)
    points = np.random.default_rng(seed).normal(size=(len(groups), 2))
    rows = typical_rows(points, groups, share)
    assert rows.tolist() == sorted(set(rows.tolist()))
    distance = neighbor_distance(points)
    for k in set(groups.tolist()):
        own, kept = np.flatnonzero(groups == k), rows[groups[rows] == k]
        assert max(share * len(own) - 1e-6, 1) <= len(kept) < share * len(own) + 1
        left = np.setdiff1d(own, kept)
        if left.size:
            assert distance[kept].max() <= distance[left].min()


def test_copies_are_kept_in_order():
    assert typical_rows(np.zeros((7, 2)), np.zeros(7), 0.5).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("d", [3, 40])  # a tree, and all pairs
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_ties_on_the_cut_do_not_depend_on_rounding(d, size):
    """Points in pairs of twins, every group twice: each cut is among equals."""
    rng = np.random.default_rng(d)
    points = size * np.tile(rng.normal(size=(60, d)), (4, 1))
    points[120:] += 100 * size
    groups = np.repeat([0, 1, 0, 1], 60)
    for share in (35 / 120, 55 / 120, 61 / 120):
        expected = typical_rows(points, groups, share)
        for noise in (1e-15, 1e-14):
            noisy = points * (1 + noise * rng.normal(size=points.shape))
            assert typical_rows(noisy, groups, share).tolist() == expected.tolist()


def test_ties_are_filled_up_in_the_order_of_rows():
    distance = np.array([3.0, 1.0, 2 + 1e-10, 2.0, 2 - 1e-10, 2 + 1e-7, 0.5, 2.0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typical, "neighbor_distance", lambda points: distance)
        for share, rows in ((0.5, [1, 2, 3, 6]), (0.75, [1, 2, 3, 4, 6, 7]), (0.25, [1, 6])):
            assert typical_rows(np.zeros((8, 1)), np.zeros(8), share).tolist() == rows
        # points of size 10^6 have the rounding of that size
        found = typical_rows(np.full((8, 1), 1e6), np.zeros(8), 0.75)
        assert found.tolist() == [1, 2, 3, 4, 5, 6]
        found = typical_rows(np.full((8, 1), 1e6), np.arange(8) % 2, 0.5)  # two groups
        assert found.tolist() == [1, 2, 3, 6]


@pytest.mark.parametrize(
    ("share", "size", "kept"),
    [(0.07, 100, 7), (0.0701, 100, 8), (0.5005, 10, 6), (0.3, 10, 3), (1e-9, 4, 1), (1.0, 4, 4)],
)
def test_shares_are_rounded_up_and_rounding_errors_are_not(share, size, kept):
    points = np.arange(float(size))[:, None]
    assert len(typical_rows(points, np.zeros(size), share)) == kept


def test_of_a_large_group_exactly_the_share_is_kept():
    line = np.random.default_rng(0).normal(size=(5000, 1))
    assert len(typical_rows(line, np.zeros(5000), 0.9)) == 4500
