"""The third derivative of the loss: its mixed form, its best bounds, by brute force."""

import itertools

import numpy as np
import pytest

import firal

TWO_CLASSES, MORE_CLASSES = 1 / (6 * 3**0.5), 6**0.5 / 9  # our-third-moment


def curvature(eta):
    return firal.hessian(np.ones(1), eta[:, None])  # one feature 1: the parameter is the logits


def third_derivative(eta, step=1e-4):
    """The (c-1, c-1, c-1) array of third derivatives, by differences of ``firal.hessian``."""
    shifts = step * np.eye(len(eta))
    return np.array([curvature(eta + e) - curvature(eta - e) for e in shifts]) / (2 * step)


def moment_form(eta, u, v, w):
    """The mean of the product of three centered class values."""
    p = np.append(np.exp(eta), 1.0)
    p /= p.sum()
    values = np.column_stack([np.vstack([u, v, w]), np.zeros(3)])
    return p @ np.prod(values - (values @ p)[:, None], axis=0)


def largest_value(form, rng, starts=20, rounds=60):
    """Maximum of |form[u, v, w]| over unit vectors, by alternating maximization."""
    best = 0.0
    for _ in range(starts):
        u, v, w = rng.normal(size=(3, len(form)))
        for _ in range(rounds):
            u = np.einsum("ijk,j,k->i", form, v, w)
            u, v, w = v, w, u / max(np.linalg.norm(u), 1e-300)
        best = max(best, abs(np.einsum("ijk,i,j,k", form, u, v, w)) / np.linalg.norm(u))
    return best


@pytest.mark.parametrize("c", [2, 3, 5])
def test_the_mixed_third_derivative_is_a_moment(c):
    rng = np.random.default_rng(c)
    for _ in range(5):
        eta, u, v, w = rng.normal(size=(4, c - 1))
        measured = np.einsum("ijk,i,j,k", third_derivative(eta), u, v, w)
        assert measured == pytest.approx(moment_form(eta, u, v, w), abs=1e-6)
        polarized = sum(
            e * f * moment_form(eta, *3 * [u + e * v + f * w]) for e in (1, -1) for f in (1, -1)
        )
        assert polarized / 24 == pytest.approx(moment_form(eta, u, v, w), abs=1e-12)


def test_third_central_moments_on_an_interval():
    # every law on {0, x, 1} with probabilities that are multiples of 1/40
    parts = np.array([(a, b) for a in range(41) for b in range(41 - a)]) / 40
    p = np.column_stack([parts, 1 - parts.sum(axis=1)])
    largest = 0.0
    for x in np.linspace(0, 1, 41):
        values = np.array([0.0, x, 1.0])
        centered = values - (p @ values)[:, None]
        largest = max(largest, np.abs((p * centered**3).sum(axis=1)).max())
    assert 0.99 * TWO_CLASSES < largest <= TWO_CLASSES
    share = (1 - 3**-0.5) / 2  # the extremal law
    assert share * (1 - share) * (1 - 2 * share) == pytest.approx(TWO_CLASSES, rel=1e-12)


@pytest.mark.parametrize(("c", "bound"), [(2, TWO_CLASSES), (3, MORE_CLASSES), (5, MORE_CLASSES)])
def test_the_size_of_the_third_derivative(c, bound):
    rng = np.random.default_rng(c)
    for _ in range(20):
        form = third_derivative(3 * rng.normal(size=c - 1))
        assert largest_value(form, rng) <= bound + 1e-6
    share = (1 - 3**-0.5) / 2
    p = np.full(c, 1e-6)  # two classes share nearly everything, as in the extremal law
    p[0], p[1] = share, 1 - share - p[2:].sum()
    form = third_derivative(np.log(p[:-1] / p[-1]))
    assert 0.999 * bound < largest_value(form, rng) <= bound + 1e-6


def test_equal_directions_are_the_worst():
    rng = np.random.default_rng(0)
    angle = np.linspace(0, np.pi, 2001)
    unit = np.stack([np.cos(angle), np.sin(angle)])
    for _ in range(20):
        cube = rng.normal(size=(2, 2, 2))
        form = sum(cube.transpose(axes) for axes in itertools.permutations(range(3)))
        equal = np.abs(np.einsum("ijk,in,jn,kn->n", form, unit, unit, unit)).max()
        assert largest_value(form, rng) == pytest.approx(equal, rel=1e-4)


@pytest.mark.parametrize("c", [2, 3, 6])
def test_the_range_is_the_constant_of_self_concordance(c):
    rng = np.random.default_rng(c)
    for _ in range(200):
        eta, u, v, w = rng.normal(size=(4, c - 1)) * 10 ** rng.uniform(-1, 1, size=(4, 1))
        reach = np.ptp(np.append(u, 0.0))
        H = curvature(eta)
        bound = reach * np.sqrt((v @ H @ v) * (w @ H @ w))
        assert abs(moment_form(eta, u, v, w)) <= bound * (1 + 1e-9) + 1e-15
