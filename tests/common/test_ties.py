"""The largest scores first, against a literal search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firal.common.ties import TIE, largest_first
from firal.strategies import entropy, var_ratios


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(0, 99), st.integers(1, 30)
)
def test_against_a_search_for_one_after_the_other(values, seed, count):
    """Scores that differ in their last digits are equal; whole numbers are not."""
    rng = np.random.default_rng(seed)
    scores = np.array(values) * (1 + 1e-12 * rng.normal(size=len(values)))
    count, left, expected = min(count, len(values)), list(range(len(values))), []
    for _ in range(count):
        largest = max(values[row] for row in left)
        expected.append(next(row for row in left if values[row] == largest))
        left.remove(expected[-1])
    assert largest_first(scores, count).tolist() == expected


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_equal(sign):
    scores = sign * np.array([1.0, 1 + 0.9 * TIE, 1 + 1.1 * TIE])
    assert largest_first(scores, 3).tolist() == ([1, 2, 0] if sign > 0 else [0, 1, 2])
    assert largest_first(np.array([1e-300, 2e-300, 0.0]), 3).tolist() == [1, 0, 2]
    assert largest_first(np.zeros(4), 2).tolist() == [0, 1]


@pytest.mark.parametrize("strategy", [entropy, var_ratios])
def test_points_that_differ_in_their_last_digits(strategy):
    rng = np.random.default_rng(0)
    X, theta = np.tile(rng.normal(size=(40, 3)), (3, 1)), rng.normal(size=(2, 3))
    expected = strategy(X, None, theta, 30).tolist()
    assert [row % 40 for row in expected[:6:3]] == [row % 40 for row in expected[2:6:3]]
    assert expected[:3] == sorted(expected[:3])
    for _ in range(3):
        noisy = X * (1 + 1e-14 * rng.normal(size=X.shape))
        assert strategy(noisy, None, theta, 30).tolist() == expected
