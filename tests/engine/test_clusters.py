"""Clusters: centers, and which point is in which, against brute force."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from firal.data.datasets import load_pool
from firal.engine import clusters
from firal.engine.clusters import cluster_centers, nearest_center, nearest_distinct
from firal.strategies import kmeans


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(clusters, "BLOCK_BYTES", 200)  # a few rows per block


def brute(points, centers):
    """The first of the nearest centers, point by point, in exact arithmetic for whole numbers."""
    return [min(range(len(centers)), key=lambda k: sum((x - centers[k]) ** 2)) for x in points]


@given(st.integers(0, 10**6), st.integers(0, 30), st.integers(1, 9), st.integers(1, 4))
def test_nearest_center_against_brute_force(seed, n, k, d):
    rng = np.random.default_rng(seed)
    points, centers = rng.normal(size=(n, d)), 2 * rng.normal(size=(k, d))
    assert nearest_center(points, centers).tolist() == brute(points, centers)


@given(st.integers(0, 10**6), st.integers(2, 9))
def test_the_lowest_of_equals(seed, k):
    """Whole numbers: many ties, equal centers among them, and no rounding."""
    rng = np.random.default_rng(seed)
    points, centers = rng.integers(-3, 4, size=(40, 2)), rng.integers(-3, 4, size=(k, 2))
    centers[-1] = centers[0]
    found = nearest_center(points.astype(float), centers.astype(float))
    assert found.tolist() == brute(points, centers) and not (found == k - 1).any()


@given(st.integers(0, 10**6), st.integers(2, 20), st.sampled_from([1e-9, 1.0, 1e9]))
def test_equal_distances_do_not_depend_on_rounding(seed, d, size):
    """Points between two centers: the last digits of the products say one, or the other."""
    rng = np.random.default_rng(seed)
    centers = size * rng.normal(size=(6, d))
    points = np.concatenate([centers, (centers[[0, 2, 4]] + centers[[5, 3, 1]]) / 2])
    rough = [np.argmin(np.sum((x - centers) ** 2, axis=1)) for x in points]
    near = [np.sum((x - centers[k]) ** 2) for x, k in zip(points, rough, strict=True)]
    distance = np.sum((points[:, None] - centers) ** 2, axis=2)
    expected = np.argmax(distance <= np.array(near)[:, None] * (1 + 1e-10), axis=1)
    assert nearest_center(points, centers).tolist() == expected.tolist()
    for noise in (1e-16, 1e-15):
        near_by = points * (1 + noise * rng.normal(size=points.shape))
        assert nearest_center(near_by, centers).tolist() == expected.tolist()


def test_distances_that_differ_have_one_nearest_center():
    points = np.array([[0.5 + 1e-6], [0.5 + 1e-12], [0.5 - 1e-6]])
    assert nearest_center(points, np.array([[0.0], [1.0]])).tolist() == [1, 0, 0]
    single = points.astype(np.float32) + np.float32([[1e-3], [0], [0]])
    assert nearest_center(single, np.float32([[0], [1]])).tolist() == [1, 0, 0]


def test_no_points():
    found = nearest_center(np.empty((0, 3)), np.ones((2, 3)))
    assert found.shape == (0,) and found.dtype == np.intp
    assert nearest_center(np.ones((4, 2)), np.zeros((1, 2))).tolist() == [0] * 4


def test_points_far_from_the_origin():
    rng = np.random.default_rng(0)
    points, centers = rng.integers(9, size=(50, 2)), rng.integers(9, size=(4, 2))
    far = nearest_center(points + 1e9, centers + 1e9)
    assert far.tolist() == brute(points, centers)


def test_centers_are_the_means_of_their_points():
    rng = np.random.default_rng(1)
    pool = 50.0 * rng.normal(size=(5, 3))[np.arange(60) % 5] + rng.normal(size=(60, 3))
    for starts in (1, 3):
        centers = cluster_centers(pool, 5, np.random.default_rng(2), starts)
        own = nearest_center(pool, centers)
        for k in range(5):
            assert np.allclose(centers[k], pool[own == k].mean(axis=0))
        assert np.unique(own).size == 5


def test_what_is_drawn():
    pool = np.random.default_rng(0).normal(size=(80, 2))
    rng = np.random.default_rng(3)
    first = cluster_centers(pool, 6, rng)
    assert np.array_equal(first, cluster_centers(pool, 6, np.random.default_rng(3)))
    assert not np.array_equal(first, cluster_centers(pool, 6, rng))
    other = np.random.default_rng(3)
    other.integers(2**31, size=2)
    assert rng.random() == other.random()  # one integer each time
    with pytest.raises(ValueError, match="rng must be a numpy.random.Generator"):
        cluster_centers(pool, 6, 3)


def test_more_starts_are_never_worse_in_the_mean():
    pool = np.random.default_rng(0).normal(size=(120, 2))

    def cost(starts, seed):
        centers = cluster_centers(pool, 9, np.random.default_rng(seed), starts)
        return np.sum((pool - centers[nearest_center(pool, centers)]) ** 2)

    one, ten = (np.mean([cost(starts, s) for s in range(8)]) for starts in (1, 10))
    assert ten < one


def test_fewer_distinct_points_than_clusters():
    pool = np.repeat([[0.0, 0.0], [1.0, 2.0]], 4, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        centers = cluster_centers(pool, 5, np.random.default_rng(0))
    assert centers.shape == (5, 2)
    assert np.unique(centers, axis=0).tolist() == [[0.0, 0.0], [1.0, 2.0]]


def test_the_default_is_the_best_of_three_starts():
    pool = np.random.default_rng(5).normal(size=(150, 2))
    seed = int(np.random.default_rng(7).integers(2**31))  # every further start is better
    best = {
        starts: KMeans(n_clusters=12, n_init=starts, random_state=seed).fit(pool).cluster_centers_
        for starts in (2, 3, 4)
    }
    found = cluster_centers(pool, 12, np.random.default_rng(7))
    assert np.array_equal(found, best[3])
    assert not np.array_equal(found, best[2]) and not np.array_equal(found, best[4])


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_nearest_rows_are_taken_once(seed, b):
    """Whole numbers: many ties, of which the lower row is taken first."""
    rng = np.random.default_rng(seed)
    pool, centers = rng.integers(-2, 3, size=(12, 2)), rng.integers(-2, 3, size=(b, 2))
    left, expected = list(range(12)), []
    for center in centers:
        row = min(left, key=lambda i: (sum((pool[i] - center) ** 2), i))
        left.remove(row)
        expected.append(row)
    found = nearest_distinct(pool.astype(float), centers.astype(float))
    assert found.tolist() == expected


@pytest.mark.parametrize("noise", [0.0, 1e-14])
def test_points_that_differ_in_their_last_digits_are_equal(noise):
    """As twins of a spectral embedding do; also where a center is at both of them."""
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(40, 3))
    pool[20:] = pool[:20] * (1 + noise * rng.normal(size=(20, 3)))
    centers = np.concatenate([rng.normal(size=(8, 3)), (pool[5:9] + pool[25:29]) / 2])
    found = nearest_distinct(pool, centers)
    left, expected = list(range(40)), []
    for center in centers:
        distance = {row: np.sum((pool[row % 20] - center) ** 2) for row in left}
        nearest = min(distance.values())
        expected.append(min(row for row in left if distance[row] <= nearest + 1e-12))
        left.remove(expected[-1])
    assert found.tolist() == expected


def test_distances_that_differ_are_no_ties():
    pool = np.array([[1 + 1e-7], [1.0], [3.0]])
    assert nearest_distinct(pool, np.array([[0.0], [3.0 - 1e-7]])).tolist() == [1, 2]


def test_kmeans_of_digits_is_the_same_on_all_processors():
    """The embedding is rounded differently on each; two digits have the same neighbors."""
    X = load_pool("digits", dim=20).features
    gap = np.sum((X[:, None, :4] - X[None, :, :4]) ** 2, axis=2) + np.eye(len(X))
    assert (gap < 1e-20).sum() >= 2  # the twins
    for seed in range(5):
        noise = 1e-14 * np.random.default_rng(seed).normal(size=X.shape)
        rows = [kmeans(F, None, None, 20, np.random.default_rng(1)) for F in (X, X * (1 + noise))]
        assert rows[0].tolist() == rows[1].tolist()


def test_centers_are_those_of_scikit_learn_with_the_drawn_seed():
    pool = np.random.default_rng(0).normal(size=(80, 2))
    for starts in (1, 3):
        seed = int(np.random.default_rng(3).integers(2**31))
        expected = KMeans(n_clusters=6, n_init=starts, random_state=seed).fit(pool)
        found = cluster_centers(pool, 6, np.random.default_rng(3), starts)
        np.testing.assert_allclose(found, expected.cluster_centers_, rtol=1e-12)


def test_what_counts_as_a_tie():
    """A billionth of the distance, and the rounding of a center that is far away."""
    center = np.array([3e11, -4e11])
    assert clusters.tie_limit(4.0, 0 * center) == pytest.approx(4 + 4e-9, rel=1e-15)
    assert clusters.tie_limit(0.0, center) == pytest.approx(0.25, rel=1e-12)
