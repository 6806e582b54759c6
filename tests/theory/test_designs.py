"""Samplers against scipy's distributions; symmetry of theta; q with a wanted ratio."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from firal.information import fisher
from firal.model.logistic import probabilities
from firal.theory import bounds, designs
from firal.theory.orlicz import quadrature

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


# --- dilation and translation ------------------------------------------------------------------


def test_dilation_and_translation_of_a_sample():
    X = sampler("gaussian")(50, np.random.default_rng(5))
    wider = designs.dilate(X, 4.0, MEAN)
    np.testing.assert_allclose(np.cov(wider.T), 4 * np.cov(X.T))
    np.testing.assert_allclose(wider - MEAN, 2 * (X - MEAN))
    moved = designs.translate(X, 3.0, [0, 1, 0])
    np.testing.assert_allclose(moved - X, [[0, 3, 0]] * 50, atol=1e-12)


def ratio(Xq, X, theta):
    return fisher.fir(fisher.information(Xq, theta), fisher.information(X, theta))


@pytest.mark.parametrize(("c", "scale"), [(2, 1.0), (3, 5.0), (4, 0.2)])
@pytest.mark.parametrize("multiple", [1.0, 1.5, 10.0])
def test_solvers_reach_the_wanted_ratio(c, scale, multiple):
    rng = np.random.default_rng(c)
    X = designs.gaussian(2000, np.zeros(4), scale**2 * np.eye(4), rng)
    theta, a = designs.simplex_theta(c, 4), np.array([1.0, 1, 0, 0]) / np.sqrt(2)
    target = multiple * theta.size
    nu = designs.solve_dilation(X, theta, target)
    assert ratio(designs.dilate(X, nu), X, theta) == pytest.approx(target, rel=1e-8)
    assert ratio(designs.dilate(X, 0.99 * nu), X, theta) > target  # the decreasing branch
    tau = designs.solve_translation(X, theta, a, target)
    assert tau >= 0
    assert ratio(designs.translate(X, tau, a), X, theta) == pytest.approx(target, rel=1e-8)
    if multiple > 1:
        assert ratio(designs.translate(X, 1.01 * tau, a), X, theta) > target  # the increasing one


@pytest.mark.parametrize("seed", range(5))
def test_the_ratio_of_p_itself_gives_p(seed):
    X = np.random.default_rng(seed).normal(size=(200, 3))
    theta = designs.simplex_theta(3, 3)
    assert designs.solve_dilation(X, theta, 6) == 1.0
    assert designs.solve_translation(X, theta, [1, 0, 0], 6) == 0.0


def test_translation_of_a_design_that_is_not_centered():
    """Away from the origin the second moment grows at once; towards it, only beyond it."""
    a = np.array([1.0, 0.0])
    X = designs.gaussian(3000, 0.7 * a, np.eye(2), np.random.default_rng(0))
    theta = 0.3 * np.eye(1, 2)
    away, back = (designs.solve_translation(X, theta, v, 1.6) for v in (a, -a))
    for tau, v in ((away, a), (back, -a)):
        assert tau > 0
        assert ratio(designs.translate(X, tau, v), X, theta) == pytest.approx(1.6, rel=1e-8)
        assert ratio(designs.translate(X, 1.01 * tau, v), X, theta) > 1.6
    assert back == pytest.approx(away + 1.4, rel=0.05)  # mirror images about the origin


def test_translation_along_the_boundary_never_saturates():
    X = designs.gaussian(300, np.zeros(2), np.eye(2), np.random.default_rng(0))
    with pytest.raises(ValueError, match="target must be a ratio that translations up to"):
        designs.solve_translation(X, [[1.0, 0.0]], [0, 1], 50)


def test_a_shallow_dip_between_two_places_is_found():
    X = designs.gaussian(500, np.zeros(3), 4 * np.eye(3), np.random.default_rng(3))
    theta = designs.simplex_theta(3, 3)
    with pytest.raises(ValueError, match="translation") as error:
        designs.solve_translation(X, theta, [1, 0, 0], 5)
    lowest = float(str(error.value).split()[5].rstrip(","))
    assert lowest < 6
    target = (lowest + 6) / 2
    tau = designs.solve_translation(X, theta, [1, 0, 0], target)
    moved = designs.translate(X, tau, [1, 0, 0])
    assert ratio(moved, X, theta) == pytest.approx(target, rel=1e-9)


def exact_dilation_ratio(s, t, d):
    """FIR of N(0, s^2 I) for N(0, t^2 I), two classes and a unit theta, by quadrature."""
    u, w = quadrature()
    w = w * np.exp(-u * u / 2) / np.sqrt(2 * np.pi)

    def information(r):
        h = 1 / (1 + np.exp(-np.abs(r * u)))
        return r * r * (w @ (h * (1 - h) * u * u)), r * r * (w @ (h * (1 - h)))

    (along_q, across_q), (along_p, across_p) = information(s), information(t)
    return along_p / along_q + (d - 1) * across_p / across_q


def test_dilation_agrees_with_the_population():
    """d = 8, c = 2, V_p = 100 I of the paper: a sample gives nu within a few percent."""
    X = designs.gaussian(100_000, np.zeros(8), 100 * np.eye(8), np.random.default_rng(0))
    theta = designs.simplex_theta(2, 8)
    for multiple in (0.8, 3.0):
        nu = designs.solve_dilation(X, theta, 8 * multiple)

        def excess(v, target=8 * multiple):
            return exact_dilation_ratio(10 * v**0.5, 10, 8) - target

        exact = optimize.brentq(excess, 1e-3, 6.5)
        assert nu == pytest.approx(exact, rel=0.05)


def test_ratio_out_of_reach():
    """No dilation brings the ratio of this setting to 0.2 d~: the minimum is near 2 sqrt(d-1)."""
    X = designs.gaussian(20_000, np.zeros(8), 100 * np.eye(8), np.random.default_rng(0))
    theta = designs.simplex_theta(2, 8)
    exact = optimize.minimize_scalar(
        lambda s: exact_dilation_ratio(s, 10, 8), bounds=(5, 80), method="bounded"
    ).fun
    assert exact == pytest.approx(2 * np.sqrt(7), rel=0.05)  # asymptotic in |theta_*|_V
    with pytest.raises(
        ValueError, match="target must be at least 5.* dilation of this sample, got 1.6"
    ):
        designs.solve_dilation(X, theta, 0.2 * 8)
    with pytest.raises(
        ValueError, match="target must be at least .* translation of this sample, got 4"
    ):
        designs.solve_translation(X, theta, np.ones(8), 4)


def test_second_moment_of_the_gaussian_constants():
    """rho of a large Gaussian sample is that of the quadrature."""
    X = designs.gaussian(200_000, np.zeros(2), np.eye(2), np.random.default_rng(6))
    rho = fisher.rho(X.T @ X / len(X), fisher.information(X, [[2.0, 0.0]]))
    assert rho == pytest.approx(bounds.binary_gaussian(2.0).rho, rel=0.03)


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
        (lambda: designs.dilate(X2, 0.0), "nu must be a finite number > 0, got 0.0"),
        (lambda: designs.dilate(X2, 1.0, [1, 2, 3]), r"center must have shape \(2,\)"),
        (lambda: designs.translate(X2, np.nan, [1, 0]), "tau must be a finite number"),
        (lambda: designs.solve_dilation(X2, np.eye(1, 2), -1), "target must be a finite number >"),
        (lambda: designs.solve_dilation(np.ones((9, 2)), np.eye(1, 2), 1), "positive definite"),
        (lambda: designs.solve_translation(X2, np.eye(1, 2), [0, 0], 3), "must not be zero"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
