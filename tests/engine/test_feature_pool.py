"""Points without a label, counted without a list of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firal.engine import passes
from firal.engine.homes import as_home
from firal.engine.pool import FeaturePool
from firal.engine.scaling import feature_map


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 60), rows=st.integers(1, 20), data=st.data())
def test_labeled_rows_are_left_out(n, rows, data):
    known = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), max_size=n - 1))), dtype=int)
    free = np.setdiff1d(np.arange(n), known)
    X = np.arange(2.0 * n).reshape(n, 2) ** 1.5
    map_ = feature_map(X)
    F = map_.apply(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "BLOCK_BYTES", 16 * rows)
        pool = FeaturePool(as_home(X), map_, known)
        assert len(pool) == len(free) and pool.n_features == 3
        assert np.array_equal(pool.table_rows(np.arange(len(free))), free)
        assert np.array_equal(pool.features(np.arange(len(free))), F[free])
        assert np.array_equal(pool.of_rows(known), F[known])

        def of_block(first, features):
            assert len(features)
            return [(first, features)]

        found = pool.reduce(of_block, lambda a, b: a + b)
        assert np.array_equal(np.vstack([features for _, features in found]), F[free])
        starts = np.cumsum([0] + [len(features) for _, features in found])
        assert [first for first, _ in found] == starts[:-1].tolist()
        assert np.array_equal(pool.values(lambda features: features[:, 0]), F[free, 0])


def test_sample():
    X = np.arange(100.0)[:, None]
    pool = FeaturePool(as_home(X), feature_map(X, standardize=False), np.array([3]))
    assert np.array_equal(pool.sample(99, None)[:, 0], np.delete(np.arange(100.0), 3))
    some = pool.sample(10, np.random.default_rng(0))[:, 0]
    assert len(set(some)) == 10 and 3 not in some and np.array_equal(some, np.sort(some))
    rows = np.random.default_rng(0).choice(99, size=10, replace=False)
    assert some.tolist() == sorted(row + (row >= 3) for row in rows.tolist())
