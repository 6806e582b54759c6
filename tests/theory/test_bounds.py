"""Bounds against values by hand."""

import numpy as np
import pytest

from firal.information import fisher
from firal.theory import bounds

# --- Theorem 3 and Theorem 40 ------------------------------------------------------------------


def test_alpha_and_sample_bounds_by_hand():
    # d = 4, c = 3: d~ = 8; log(e/delta) = 2 for delta = 1/e; sigma rho = 6
    spread = 6 * (8 + np.sqrt(8) * 2)
    assert bounds.alpha(50, 8, 2, 3, np.exp(-1), C3=5) == pytest.approx(5 * np.sqrt(spread / 50))
    both = bounds.sample_bounds(4, 3, 2, 3, np.exp(-1), C1=7, C2=11)
    assert both.hessian == pytest.approx(7 * 8 * (2 + np.log(4)))
    assert both.parameter == pytest.approx(11 * spread)


def test_alpha_is_one_when_n_is_the_second_bound():
    both = bounds.sample_bounds(6, 4, 1.5, 20, 0.05)
    assert bounds.alpha(both.parameter, 18, 1.5, 20, 0.05) == pytest.approx(1)


def test_bounded_domain_at_its_sample_size():
    """With n_min points the errors are 1/8 and 3/8 at most, and 5/8 (1+1/8)/(1-3/8)^2 = 9/5."""
    for sigma in (1.0, 2.5, 40.0):
        n_min = bounds.bounded_domain(1, 12, sigma, 0.1, 3.0, 0.7, 1.1).n_min
        errors = bounds.bounded_domain(n_min, 12, sigma, 0.1, 3.0, 0.7, 1.1)
        assert errors.eps_p <= 1 / 8 + 1e-12
        assert errors.eps_q <= 3 / 8 + 1e-12
    # both terms of the maximum equal: the two errors are attained (sigma = 1)
    L2 = np.sqrt((2 + 8 * np.log(10)) / np.log(2 * 12 / 0.1))
    n_min = bounds.bounded_domain(1, 12, 1.0, 0.1, 1.0, L2, 1.0).n_min
    errors = bounds.bounded_domain(n_min, 12, 1.0, 0.1, 1.0, L2, 1.0)
    assert (errors.eps_p, errors.eps_q) == pytest.approx((1 / 8, 3 / 8))
    assert 5 / 8 * (1 + errors.eps_p) / (1 - errors.eps_q) ** 2 == pytest.approx(9 / 5)


def test_bounded_domain_by_hand():
    # sigma = 3, delta = 1/e, n = 1000: 2 + 8 log(1/delta) = 10; L1 L3 = 10; log(2 d~/delta)
    errors = bounds.bounded_domain(1000, 12, 3.0, np.exp(-1), 2.0, 0.5, 5.0)
    shift, union = np.sqrt(10 / 1000), 1 + np.log(24)
    assert errors.eps_p == pytest.approx(2 * 3 * 10 * shift)
    assert errors.eps_q == pytest.approx(4 * 3 * 0.5 * np.sqrt(union / 1000) + 2 * 9 * 10 * shift)
    assert errors.n_min == pytest.approx(256 * 10 * 81 * 100)


def test_the_sample_size_is_the_larger_of_two_by_hand():
    # union bound first: sigma = 2, L2 = 3; then the confidence: sigma^2 L1 L3 = 40
    union = np.log(2 * 5 / 0.2)
    first = bounds.bounded_domain(1, 5, 2.0, 0.2, 0.01, 3.0, 0.01)
    assert first.n_min == pytest.approx(256 * union * 36, rel=1e-14)
    for printed, confidence in ((False, 2 + 8 * np.log(5)), (True, np.log(5))):
        second = bounds.bounded_domain(1, 5, 2.0, 0.2, 2.0, 0.01, 5.0, printed=printed)
        assert second.n_min == pytest.approx(256 * confidence * 1600, rel=1e-14)


def test_unnamed_constants_are_one():
    assert bounds.alpha(50, 8, 2, 3, 0.1) == bounds.alpha(50, 8, 2, 3, 0.1, C3=1.0)
    expected = bounds.sample_bounds(4, 3, 2, 3, 0.1, C1=1.0, C2=1.0)
    assert bounds.sample_bounds(4, 3, 2, 3, 0.1) == expected


def test_printed_bounded_domain_differs():
    arguments = (1000, 12, 3.0, 0.1, 1.0, 1e-9, 1.0)
    proved, printed = (bounds.bounded_domain(*arguments, printed=p) for p in (False, True))
    assert printed.eps_p == pytest.approx(3 * proved.eps_p)  # sigma^2 for sigma
    assert printed.eps_q == proved.eps_q
    assert proved.n_min / printed.n_min == pytest.approx((2 + 8 * np.log(10)) / np.log(10))


# --- constants of a bounded domain, against brute force ------------------------------------------


def attained(c, W, n_laws, rng):
    """Largest |beta|, variance and third central moment found, for directions of length W."""
    h = rng.dirichlet(np.full(c, 0.4), size=n_laws)
    p = np.linspace(0.001, 0.5, 500)  # two classes share all the probability
    pairs = np.zeros((p.size, c))
    pairs[:, 0], pairs[:, 1] = p, 1 - p
    h = np.vstack([h, pairs])
    v = rng.normal(size=(len(h), c - 1))
    v[-p.size :] = np.eye(1, c - 1) - np.eye(1, c - 1, 1)  # e_1 - e_2, or e_1 for two classes
    v *= W / np.linalg.norm(v, axis=1, keepdims=True)
    v = np.column_stack([v, np.zeros(len(h))])
    centered = v - (h * v).sum(axis=1, keepdims=True)
    beta = h[:, None, :-1] - np.eye(c)[None, :, :-1]
    moments = [np.abs((h * centered**k).sum(axis=1)).max() for k in (2, 3)]
    return np.array([W * np.linalg.norm(beta, axis=2).max(), *moments])


@pytest.mark.parametrize("c", [2, 3, 4, 7])
def test_domain_constants_are_bounds_and_attained(c):
    rng = np.random.default_rng(0)
    for W in (0.3, 2.0):
        constants = np.array(bounds.domain_constants(W, c))
        found = attained(c, W, 20_000, rng) / constants
        assert found.max() <= 1 + 1e-12
        assert found.min() > 0.998


def test_domain_constants_by_hand():
    assert bounds.domain_constants(2.0, 3) == pytest.approx((2 * np.sqrt(2), 2, 8 * np.sqrt(6) / 9))
    assert bounds.domain_constants(2.0, 2) == pytest.approx((2, 1, 8 / (6 * np.sqrt(3))))


# --- the lower bound on rho ----------------------------------------------------------------------


@pytest.mark.parametrize("c", [2, 3, 6])
def test_rho_is_at_least_four_times_the_classes_less_one(c):
    """The bound 4(c-1) holds for random laws, and a point mass with h_c = 1/2 attains it."""
    rng, smallest = np.random.default_rng(0), np.inf
    for _ in range(300):
        X = rng.normal(size=(rng.integers(3, 12), 2))
        weights = rng.dirichlet(np.ones(len(X)))
        H = fisher.information(X, rng.normal(size=(c - 1, 2)), weights)
        smallest = min(smallest, fisher.rho(X.T @ (weights[:, None] * X), H))
    assert smallest >= 4 * (c - 1)
    even = np.full((c - 1, 1), -np.log(c - 1))
    assert fisher.rho(np.eye(1), fisher.information(np.ones((1, 1)), even)) == pytest.approx(
        4 * (c - 1)
    )


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.alpha(0, 8, 1, 1, 0.1), "n must be a finite number > 0, got 0"),
        (lambda: bounds.alpha(9, 0, 1, 1, 0.1), "size must be an integer >= 1, got 0"),
        (lambda: bounds.alpha(9, 8, 1, 1, 1.5), "delta must be a finite number > 0 and < 1"),
        (lambda: bounds.sample_bounds(3, 1, 1, 1, 0.1), "c must be an integer >= 2, got 1"),
        (lambda: bounds.sample_bounds(3, 2, -1, 1, 0.1), "sigma must be a finite number > 0"),
        (lambda: bounds.bounded_domain(9, 8, 1, 0.1, 0, 1, 1), "L1 must be a finite number > 0"),
        (lambda: bounds.domain_constants(0, 3), "whitened_length must be a finite number > 0"),
        (lambda: bounds.domain_constants(1, 1), "c must be an integer >= 2, got 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
