"""Orlicz norms: how heavy the tail of a random number is.

``inf {t > 0 : E exp((|x|/t)^order) <= 2}`` is the sub-Gaussian (psi_2) norm for order 2 and the
sub-exponential (psi_1) norm for order 1.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize, special

from firal.common import checks


def psi_norm(sample, order):
    """Orlicz norm of a sample (n,), whose mean stands for the expectation; order 1 or 2.

    The root is found in log t between two bounds that always enclose it, and on the logarithm of
    the mean, so nothing overflows.
    """
    x = np.abs(checks.floats(sample, "sample").astype(np.float64, copy=False))
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"sample must have shape (n,) with n >= 1, got shape {x.shape}")
    order = checks.integer(order, "order", 1, 2)
    largest = x.max()
    if largest == 0:
        return 0.0
    x = x / largest

    def excess(log_t):
        return special.logsumexp((x * np.exp(-log_t)) ** order) - np.log(2 * x.size)

    # the largest entry alone gives the lower end; all entries equal to it the upper end
    low = -np.log(np.log(2 * x.size)) / order - 1e-9
    high = -np.log(np.log(2)) / order + 1e-9
    return float(largest * np.exp(optimize.brentq(excess, low, high, xtol=1e-14)))


def psi_norm_density(function, log_density, order, support=(-np.inf, np.inf)):
    """Orlicz norm of ``function(u)`` where u has a log density, both functions of an array.

    By quadrature over the support, an interval with 0 or infinity as ends where it is not bounded.
    The answer is ``inf`` when no t up to 1e12 has a finite mean: for order 2 tails heavier than
    Gaussian, for order 1 tails heavier than exponential.
    """
    order = checks.integer(order, "order", 1, 2)
    u, weights = quadrature(*support)
    size = np.abs(function(u))
    log_weights = np.log(weights) + log_density(u)
    return smallest_scale(lambda t: special.logsumexp((size / t) ** order + log_weights))


def quadrature(low=-np.inf, high=np.inf):
    """Nodes and weights for ``int_low^high``: 24 Gauss points on each of many panels.

    On a bounded interval the panels are equal. Otherwise they double in length from 2^-30 to 2^100,
    away from the finite end (or from 0 on both sides): fine where a density has its mass, and so
    far out that the sum for a divergent integral is enormous.
    """
    if not low < high:
        raise ValueError(f"support must be an interval low < high, got ({low}, {high})")
    x, w = np.polynomial.legendre.leggauss(24)
    if np.isfinite(low) and np.isfinite(high):
        edges = np.linspace(low, high, 65)
    else:
        ray = np.concatenate([[0.0], 2.0 ** np.arange(-30, 101)])
        if np.isfinite(low):
            edges = low + ray
        elif np.isfinite(high):
            edges = high - ray[::-1]
        else:
            edges = np.concatenate([-ray[:0:-1], ray])
    half = np.diff(edges)[:, None] / 2
    middle = (edges[:-1, None] + edges[1:, None]) / 2
    return (middle + half * x).ravel(), (half * w).ravel()


def smallest_scale(log_mean):
    """Smallest t with ``log_mean(t) <= log 2``; the function decreases, and may be infinite."""

    def excess(log_t):
        return min(log_mean(np.exp(log_t)) - np.log(2), 1e3)

    low = high = 0.0
    while excess(high) > 0:
        low, high = high, high + 1
        if high > np.log(1e12):
            return np.inf
    while excess(low) <= 0:
        low, high = low - 1, low
        if low < np.log(1e-12):
            return 0.0
    return float(np.exp(optimize.brentq(excess, low, high, xtol=1e-13)))
