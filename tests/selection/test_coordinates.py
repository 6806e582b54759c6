"""Coordinates of the span: whitened or penalized, the rank to rounding, the weakest ridge."""

import numpy as np
import pytest

from firal.selection import coordinates

EPS = np.finfo(float).eps


def points(seed=0, n=40, d=4, rank=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
    return X * 10.0 ** np.arange(0, 2 * d, 2), X[:7] * 10.0 ** np.arange(0, 2 * d, 2)


def test_whitened_points_have_unit_second_moments():
    pool, labeled = points()
    map_ = coordinates.whitened(pool, labeled)
    both = np.vstack([pool, labeled])
    white = both @ map_
    assert map_.shape == (4, 3)
    np.testing.assert_allclose(white.T @ white / len(both), np.eye(3), atol=1e-10)
    # nothing of the span is lost: distances to all points follow from the new coordinates
    np.testing.assert_allclose(white @ np.linalg.lstsq(white, both)[0], both, rtol=1e-8, atol=1e-8)


def test_the_penalized_map_scales_orthonormal_directions():
    """In the new coordinates a vector of the span has penalty ``sum_j penalty_j u_j^2``."""
    rng = np.random.default_rng(1)
    pool, labeled = rng.normal(size=(50, 4)) * [1, 2, 3, 0], np.zeros((3, 4))
    map_, penalty = coordinates.penalized(pool, labeled, 0.3)
    assert map_.shape == (4, 3)
    np.testing.assert_allclose(map_.T @ map_, np.diag(penalty), atol=1e-13)
    white = np.vstack([pool, labeled]) @ map_
    moments = white.T @ white / 53 + 0.3 * np.diag(penalty)
    np.testing.assert_allclose(moments, np.eye(3), atol=1e-12)


def test_the_rank_is_that_of_rounding():
    for factor, rank in ((1.01, 2), (0.99, 1)):
        for n, d in ((100, 2), (1, 2)):
            R = np.diag([3.0, 3.0 * max(n, d) * EPS * factor])
            assert coordinates.penalized_by(R, n, 0.1)[0].shape[1] == rank
    # columns in their own units have full rank
    assert coordinates.whitened_by(np.diag([3.0, 1e-30]), 100).shape == (2, 2)
    for zero in (
        lambda R: coordinates.whitened_by(R, 5),
        lambda R: coordinates.penalized_by(R, 5, 1),
    ):
        with pytest.raises(ValueError, match="must hold a nonzero point, got only zeros"):
            zero(np.zeros((2, 2)))


def test_the_weakest_ridge():
    pool = np.full((5, 2), 2.0)  # mean squared norm 8
    coordinates.require_strong_ridge(pool, 8e-10)
    message = "got a total penalty of 7.99e-10 for points of mean squared norm 8"
    with pytest.raises(ValueError, match=message):
        coordinates.require_strong_ridge(pool, 7.99e-10)


def test_a_column_of_zeros_is_left_out():
    for map_ in (
        coordinates.whitened_by(np.diag([3.0, 0.0]), 9),
        coordinates.penalized_by(np.diag([3.0, 0.0]), 9, 1.0)[0],
    ):
        assert map_.shape == (2, 1) and map_[1, 0] == 0
    assert np.abs(coordinates.whitened_by(np.diag([3.0, 0.0]), 9)[0, 0]) == pytest.approx(1.0)
