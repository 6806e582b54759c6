"""Up to which size a table is held in memory."""

import numpy as np

from firal import placement
from firal.placement import largest_held
from firal.selection import wide_sizes


def test_wide_features_are_those_with_an_effect_for_all_clusters(monkeypatch):
    """There are at most twice as many clusters as points in a batch."""
    for most, size in ((22, placement.STREAM_FROM), (21, placement.HELD_FROM)):
        monkeypatch.setattr(wide_sizes, "LARGEST_ORDER", most)
        assert largest_held(12, 3, 5, "firal-ridge", False) == size
        assert largest_held(12, 3, 5, "entropy", False) == placement.STREAM_FROM


def test_what_blocks_cannot_do_is_held():
    assert largest_held(4, 2, 5, "firal", True) == placement.HELD_FROM
    assert largest_held(4, 2, 5, np.argmax, False) == placement.HELD_FROM
    assert largest_held(4, 2, 5, "firal", False) == placement.STREAM_FROM
