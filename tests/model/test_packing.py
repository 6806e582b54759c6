"""Packed matrices keep the precision of what they are made from."""

import numpy as np
import pytest

from firal.model.packing import packed_curvature


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_curvature_has_the_type_of_the_probabilities(kind):
    h = np.array([[0.2, 0.3], [0.1, 0.6]], dtype=kind)
    found = packed_curvature(h)
    assert found.dtype == kind and found.shape == (3, 2)
