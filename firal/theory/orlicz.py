"""Orlicz norms: how heavy the tail of a random number is.

``inf {t > 0 : E exp((|x|/t)^order) <= 2}`` is the sub-Gaussian (psi_2) norm for order 2 and the
sub-exponential (psi_1) norm for order 1. The chapter *Probability tools* shows their use.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from firal.common import checks


def psi_norm(sample: ArrayLike, order: int) -> float:
    """Compute the Orlicz norm of a sample, whose mean stands for the expectation.

    Parameters
    ----------
    sample : array_like of shape (n,)
        Real numbers.
    order : int
        1 for the sub-exponential norm, 2 for the sub-Gaussian norm.

    Returns
    -------
    float
        The smallest t with ``mean(exp((|x|/t)^order)) <= 2``; 0 if all numbers are 0.

    Raises
    ------
    ValueError
        If the sample is empty or not finite, or the order is neither 1 nor 2.

    Notes
    -----
    The root is found in log t between two bounds that always enclose it, and on the logarithm of
    the mean, so nothing overflows.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.theory.orlicz import psi_norm
    >>> float(round(psi_norm([-1.0, 1.0], order=1) * np.log(2), 9))
    1.0
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


def psi_norm_density(
    function: Callable[[np.ndarray], np.ndarray],
    log_density: Callable[[np.ndarray], np.ndarray],
    order: int,
    support: tuple[float, float] = (-np.inf, np.inf),
) -> float:
    """Compute the Orlicz norm of a function of a random number with a density.

    Parameters
    ----------
    function : callable
        Takes an array of numbers u and returns an array.
    log_density : callable
        The logarithm of the density of u, also for arrays. It must be finite far out in the tails:
        the logarithm of a density that underflows to 0 cuts them off.
    order : int
        1 for the sub-exponential norm, 2 for the sub-Gaussian norm.
    support : tuple of two floats, default (-inf, inf)
        The interval of u, with 0 or infinity as ends where it is not bounded.

    Returns
    -------
    float
        The norm, by quadrature. It is ``inf`` when no t up to 1e12 has a finite mean: for order 2
        tails heavier than Gaussian, for order 1 tails heavier than exponential.

    Raises
    ------
    ValueError
        If the order is neither 1 nor 2, or the support is not an interval.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.theory.orlicz import psi_norm_density
    >>> def exponential(u):
    ...     return -u
    >>> round(psi_norm_density(np.abs, exponential, order=1, support=(0, np.inf)), 9)
    2.0
    >>> psi_norm_density(np.abs, exponential, order=2, support=(0, np.inf))
    inf
    """
    order = checks.integer(order, "order", 1, 2)
    u, weights = quadrature(*support)
    size = np.abs(function(u))
    log_weights = np.log(weights) + log_density(u)
    return smallest_scale(lambda t: special.logsumexp((size / t) ** order + log_weights))


def quadrature(low: float = -np.inf, high: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
    """Make nodes and weights for an integral over an interval, possibly unbounded.

    Parameters
    ----------
    low, high : float
        Ends of the interval.

    Returns
    -------
    nodes, weights : ndarray of shape (q,)
        ``weights @ f(nodes)`` approximates the integral of f.

    Raises
    ------
    ValueError
        If low is not below high.

    Notes
    -----
    There are 24 Gauss points on each of many panels. On a bounded interval the panels are equal.
    Otherwise they double in length from 2^-30 to 2^100, away from the finite end (or from 0 on both
    sides): fine where a density has its mass, and so far out that the sum for a divergent integral
    is enormous.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.theory.orlicz import quadrature
    >>> u, w = quadrature()
    >>> round(float(w @ np.exp(-u * u / 2)), 9)  # sqrt(2 pi)
    2.506628275
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


def smallest_scale(log_mean: Callable[[float], float]) -> float:
    """Find the smallest scale at which a log-mean drops to log 2.

    Parameters
    ----------
    log_mean : callable
        A decreasing function of t > 0 that may be infinite: ``log E exp((|x|/t)^order)``.

    Returns
    -------
    float
        The smallest t with ``log_mean(t) <= log 2``; ``inf`` if it is above 1e12, 0 if it is below
        1e-12.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.theory.orlicz import smallest_scale
    >>> round(smallest_scale(lambda t: np.log(2) * 3 / t), 9)
    3.0
    """

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
