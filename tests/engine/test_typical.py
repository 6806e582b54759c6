"""Typical points against a literal search, and their properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firal.engine.typical import neighbor_distance, typical_rows


@pytest.mark.parametrize(("m", "d"), [(1, 2), (2, 1), (9, 3), (40, 20), (200, 4)])
def test_distances_are_those_of_a_literal_search(m, d):
    points = np.random.default_rng(m).normal(size=(m, d))
    found = neighbor_distance(points)
    for x, distance in zip(points, found, strict=True):
        nearest = np.sort([np.linalg.norm(x - other) for other in points])[1:11]
        assert distance == pytest.approx(nearest.mean() if m > 1 else 0, rel=1e-9)


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
