"""Blocks of points: complete, disjoint, bounded."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firal.common.blocks import pool_blocks


@given(st.integers(0, 500), st.integers(0, 10_000), st.integers(1, 100_000))
def test_blocks_cover_every_point_once(n, bytes_per_point, budget):
    blocks = list(pool_blocks(n, bytes_per_point, budget))
    covered = np.concatenate([np.arange(n)[block] for block in blocks] or [np.arange(0)])
    assert np.array_equal(covered, np.arange(n))
    longest = max((block.stop - block.start for block in blocks), default=1)
    assert longest == 1 or longest * bytes_per_point <= budget
