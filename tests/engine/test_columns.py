"""Columns: what counts as constant, as rank, as too large, exactly at the limits."""

import numpy as np
import pytest

from firal.engine.columns import as_numbers, check_numbers, inverse_deviation, principal_factor

EPS = np.finfo(float).eps


def test_a_column_is_constant_up_to_the_rounding_of_its_mean():
    mean, n = np.array([3e6, -3e6, 0.0, 0.0]), 49
    limit = EPS * 3e6 * 7
    for factor, moving in ((0.999, False), (1.001, True)):
        spread = np.array([factor * limit, factor * limit, 1e-300, 0.0])
        with np.errstate(under="ignore"):
            found = inverse_deviation(mean, spread**2, n)
        assert (found[:2] > 0).all() == moving and found[3] == 0
        if moving:
            np.testing.assert_allclose(found[:2], 1 / spread[:2], rtol=1e-14)
    assert inverse_deviation(np.zeros(1), np.array([4.0]), 9).tolist() == [0.5]


@pytest.mark.parametrize("standardize", [False, True])
def test_principal_components_by_hand(standardize):
    factor = np.array([2.0, 1.0, 0.5])
    covariance = np.diag([9.0, 16.0, 4.0])  # scaled: 36, 16, 1
    found = principal_factor(factor, covariance, 2, standardize)
    expected = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(np.abs(found), expected / ([6.0, 4.0] if standardize else 1.0))


def test_a_component_below_rounding_is_none():
    for share, enough in ((1.01, True), (0.99, False)):
        covariance = np.diag([5.0, 5.0 * 3 * EPS * share, 0.0])
        if enough:
            assert principal_factor(np.ones(3), covariance, 2, True).shape == (3, 2)
        else:
            with pytest.raises(ValueError, match="pca must be at most 1, the rank .* got 2"):
                principal_factor(np.ones(3), covariance, 2, True)
    covariance = np.diag([5.0, 2.0, 5.0 * 3 * EPS * 1.01, 0.0])
    with pytest.raises(ValueError, match="pca must be at most 2, the rank .* got 4"):
        principal_factor(np.ones(4), covariance, 4, False)


def test_the_largest_number():
    for sign in (1, -1):
        check_numbers(np.array([[0.0, sign * 1e50]]))
        with pytest.raises(ValueError, match=r"at most 1e\+50 in size, got .*1.01e\+50 in row 7, "):
            check_numbers(np.array([[0.0, 0.0], [0.0, sign * 1.01e50]]), 6)
    with pytest.raises(ValueError, match="be finite numbers, got -inf in row 0, column 1"):
        check_numbers(np.array([[0.0, -np.inf]]))


def test_arrays_of_numbers_are_not_copied_and_others_refused():
    for kind in (bool, np.uint8, np.int64, np.float32):
        X = np.ones((2, 3), kind)
        assert as_numbers(X) is X
    for X in (np.ones((2, 0)), np.ones((0, 2)), np.ones((1, 1, 1)), np.ones((2, 2), complex)):
        with pytest.raises(ValueError, match="features must be a table of numbers"):
            as_numbers(X)
