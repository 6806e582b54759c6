"""Samplers against scipy's distributions; symmetry of theta."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from firal.model.logistic import probabilities
from firal.theory import designs

MEAN = np.array([1.0, -2.0, 0.5])
SCALE = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, -0.5], [0.0, -0.5, 1.0]])


def sampler(name):
    if name == "student_t":
        return lambda n, rng: designs.student_t(n, MEAN, SCALE, rng, df=9)
    return lambda n, rng: getattr(designs, name)(n, MEAN, SCALE, rng)


COVARIANCE = {"gaussian": SCALE, "laplace": SCALE, "student_t": 9 / 7 * SCALE}


@pytest.mark.parametrize("name", COVARIANCE)
def test_mean_and_covariance(name):
    X = sampler(name)(200_000, np.random.default_rng(0))
    centered = X - MEAN
    products = centered[:, :, None] * centered[:, None, :]
    error = products.std(axis=0) / np.sqrt(len(X))
    assert (np.abs(products.mean(axis=0) - COVARIANCE[name]) < 5 * error).all()
    assert (np.abs(centered.mean(axis=0)) < 5 * X.std(axis=0) / np.sqrt(len(X))).all()


def test_marginals_in_any_direction():
    """Kolmogorov-Smirnov against the known one-dimensional laws; each law fails for the others."""
    direction = np.array([1.0, 2.0, -1.0])
    width = np.sqrt(direction @ SCALE @ direction)
    laws = {
        "gaussian": stats.norm(scale=width),
        "laplace": stats.laplace(scale=width / np.sqrt(2)),
        "student_t": stats.t(9, scale=width),
    }
    for name in laws:
        X = sampler(name)(20_000, np.random.default_rng(1))
        for other, law in laws.items():
            p = stats.kstest((X - MEAN) @ direction, law.cdf).pvalue
            assert p > 1e-3 if other == name else p < 1e-3


def test_one_factor_for_the_whole_point():
    """Coordinates of uncorrelated Laplace and t points are dependent; of Gaussian ones not."""
    for name, dependent in (("gaussian", False), ("laplace", True), ("student_t", True)):
        extra = {"df": 9} if name == "student_t" else {}
        draw = getattr(designs, name)
        X = draw(20_000, np.zeros(2), np.eye(2), np.random.default_rng(2), **extra)
        p = stats.spearmanr(np.abs(X[:, 0]), np.abs(X[:, 1])).pvalue
        assert (p < 1e-6) == dependent


@pytest.mark.parametrize("name", COVARIANCE)
def test_points_are_those_of_the_generator(name):
    """Inner products of the whitened points, which no choice of the matrix root can change."""
    rng = np.random.default_rng(7)
    Z = rng.standard_normal((6, 3))
    if name == "laplace":
        Z = Z * np.sqrt(rng.standard_exponential((6, 1)))
    if name == "student_t":
        Z = Z * np.sqrt(9 / rng.chisquare(9, (6, 1)))
    X = sampler(name)(6, np.random.default_rng(7))
    whitened = (X - MEAN) @ np.linalg.solve(SCALE, (X - MEAN).T)
    np.testing.assert_allclose(whitened, Z @ Z.T, rtol=1e-11, atol=1e-13)


def test_same_generator_same_points():
    for name in COVARIANCE:
        first, second = (sampler(name)(5, np.random.default_rng(3)) for _ in range(2))
        assert np.array_equal(first, second)
    singular = designs.gaussian(10, np.zeros(2), np.diag([1.0, 0.0]), np.random.default_rng(0))
    assert not singular[:, 1].any()


def test_labels_have_their_probabilities():
    rng = np.random.default_rng(4)
    theta = np.array([[1.0, 0.0], [-0.5, 0.7]])
    x = np.array([0.4, -1.0])
    y = designs.draw_labels(np.tile(x, (50_000, 1)), theta, rng)
    expected = probabilities(x[None], theta)[0] * y.size
    assert stats.chisquare(np.bincount(y, minlength=3), expected).pvalue > 1e-3
    assert stats.chisquare(np.bincount(y, minlength=3), np.roll(expected, 1)).pvalue < 1e-3


def test_labels_are_those_of_the_generator():
    """The class in whose part of [0, 1] the random number lies."""
    rng = np.random.default_rng(5)
    X, theta = rng.normal(size=(40, 3)), rng.normal(size=(3, 3))
    y = designs.draw_labels(X, theta, np.random.default_rng(8))
    u = np.random.default_rng(8).random((40, 1))[:, 0]
    P = probabilities(X, theta)
    assert y.tolist() == [int(np.searchsorted(np.cumsum(p), v)) for p, v in zip(P, u, strict=True)]
    assert set(y) == {0, 1, 2, 3}


class Largest(np.random.Generator):
    """Every uniform number is the largest below 1."""

    def random(self, size):
        return np.full(size, 1 - 2.0**-53)


def test_the_last_class_where_rounding_leaves_a_gap():
    X = np.random.default_rng(0).normal(size=(2000, 1))
    theta = np.random.default_rng(1).normal(size=(29, 1))
    assert np.cumsum(probabilities(X, theta), axis=1)[:, -1].min() < 1 - 2.0**-53
    assert designs.draw_labels(X, theta, Largest(np.random.PCG64(0))).max() == 29


def test_a_scale_matrix_may_be_singular_but_not_indefinite():
    rng = np.random.default_rng(0)
    nearly = np.diag([1.0, -1e-13])
    assert not designs.gaussian(5, np.zeros(2), nearly, rng)[:, 1].any()
    assert not designs.gaussian(5, np.zeros(2), np.zeros((2, 2)), rng).any()
    for scale in (np.diag([1.0, -1e-11]), np.diag([1e3, -2e-9]), np.diag([1e-6, -1e-13])):
        with pytest.raises(ValueError, match="scale must be positive semidefinite, got an eigen"):
            designs.gaussian(5, np.zeros(2), scale, rng)


# --- theta on a simplex ------------------------------------------------------------------------


@given(st.integers(2, 12), st.integers(0, 3))
def test_simplex_rows_and_distances(c, extra):
    theta = designs.simplex_theta(c, c - 1 + extra)
    corners = np.vstack([theta, np.zeros(theta.shape[1])])
    for a, b in itertools.combinations(corners, 2):
        assert np.linalg.norm(a - b) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("c", [2, 3, 4])
def test_classes_are_exactly_equal(c):
    """Over the images of one point under all symmetries, every class has mean probability 1/c."""
    theta = designs.simplex_theta(c, c - 1)
    corners = np.vstack([theta, np.zeros(c - 1)])
    corners -= corners.mean(axis=0)
    x = np.random.default_rng(c).normal(size=c - 1)
    images = []
    for order in itertools.permutations(range(c)):
        R = np.linalg.lstsq(corners, corners[list(order)], rcond=None)[0]
        np.testing.assert_allclose(R @ R.T, np.eye(c - 1), atol=1e-12)
        images.append(x @ R)
    mean = probabilities(3 * np.array(images), theta).mean(axis=0)
    np.testing.assert_allclose(mean, 1 / c, atol=1e-12)


RNG = np.random.default_rng(0)
X2 = np.random.default_rng(1).normal(size=(30, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: designs.gaussian(0, MEAN, SCALE, RNG), "n must be an integer >= 1, got 0"),
        (lambda: designs.gaussian(5, MEAN, SCALE, 0), "rng must be a numpy.random.Generator"),
        (lambda: designs.laplace(5, [[0.0]], SCALE, RNG), r"mean must have shape \(d,\)"),
        (lambda: designs.laplace(5, MEAN, np.eye(2), RNG), r"scale must have shape \(3, 3\)"),
        (lambda: designs.gaussian(5, [0.0], [[-1.0]], RNG), "scale must be positive semidefinite"),
        (lambda: designs.student_t(5, MEAN, SCALE, RNG, df=0), "df must be a finite number > 0"),
        (lambda: designs.draw_labels(X2, np.eye(2), None), "rng must be"),
        (lambda: designs.simplex_theta(1, 3), "c must be an integer >= 2, got 1"),
        (lambda: designs.simplex_theta(5, 3), "c=5 classes needs d >= 4 coordinates, got d=3"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
