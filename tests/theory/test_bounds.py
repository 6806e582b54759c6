"""Bounds against values by hand."""

import numpy as np
import pytest

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


def test_printed_bounded_domain_differs():
    arguments = (1000, 12, 3.0, 0.1, 1.0, 1e-9, 1.0)
    proved, printed = (bounds.bounded_domain(*arguments, printed=p) for p in (False, True))
    assert printed.eps_p == pytest.approx(3 * proved.eps_p)  # sigma^2 for sigma
    assert printed.eps_q == proved.eps_q
    assert proved.n_min / printed.n_min == pytest.approx((2 + 8 * np.log(10)) / np.log(10))


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
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
