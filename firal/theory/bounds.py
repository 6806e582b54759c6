"""Quantities in the paper's bounds: prefactors, alpha, sample sizes.

Constants that the paper leaves unnamed ("there exists a constant", "up to a constant") are
arguments here, with default 1. Where a printed formula differs from what its proof gives,
``printed=True`` returns the printed one. The chapters *The Fisher information ratio controls the
excess risk* and *The excess risk on a bounded domain* have the theorems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firal.common import checks
from firal.information.risk import prefactor

__all__ = [
    "BoundedDomain",
    "DomainConstants",
    "SampleBounds",
    "alpha",
    "bounded_domain",
    "domain_constants",
    "prefactor",
    "sample_bounds",
]


class SampleBounds(NamedTuple):
    """The two lower bounds on n in Theorem 3; n has to reach both.

    Attributes
    ----------
    hessian : float
        ``C1 d~ log(e d / delta)``: the empirical Hessian is close to its mean.
    parameter : float
        ``C2 sigma rho (d~ + sqrt(d~) log(e/delta))``: theta_n is close to theta_*.
    """

    hessian: float
    parameter: float


class BoundedDomain(NamedTuple):
    """Theorem 40: two relative errors, and the sample size from which the theorem holds.

    Attributes
    ----------
    eps_p : float
        Relative error of the Hessian of p.
    eps_q : float
        Relative error of the Hessian of q.
    n_min : float
        Sample size from which the theorem holds.
    """

    eps_p: float
    eps_q: float
    n_min: float


class DomainConstants(NamedTuple):
    """Constants of Assumption 38 that bounded points have, valid for every theta.

    Attributes
    ----------
    L1 : float
        Bound on the gradient of the loss at theta_*, in the norm of the inverse of H_p.
    L2 : float
        Bound on the Hessian of the loss at theta_*, relative to H_p.
    L3 : float
        Lipschitz constant of the Hessian, relative to H_p.
    """

    L1: float
    L2: float
    L3: float


def alpha(n: float, size: int, sigma: float, rho: float, delta: float, C3: float = 1.0) -> float:
    """Compute the quantity alpha of Theorem 3, which goes into its prefactors.

    Parameters
    ----------
    n : float
        Sample size.
    size : int
        Number of parameters, d~ = d(c-1).
    sigma : float
        Largest eigenvalue of ``Hq^{-1} Hp``.
    rho : float
        Smallest rho with ``I (x) Vp <= rho Hp``.
    delta : float
        Probability that the bound fails, between 0 and 1.
    C3 : float, default 1.0
        The unnamed constant; Theorem 32 has it proportional to ``K_{0,p} K_{1,q} K_{2,p}(r)``.

    Returns
    -------
    float
        ``C3 sqrt(sigma rho (d~ + sqrt(d~) log(e/delta)) / n)``.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from firal.theory.bounds import alpha
    >>> round(alpha(n=1000, size=8, sigma=2.0, rho=3.0, delta=0.1), 4)
    0.3226
    """
    n = checks.number(n, "n", 0)
    C3 = checks.number(C3, "C3", 0)
    return float(C3 * np.sqrt(_spread(size, sigma, rho, delta) / n))


def sample_bounds(
    d: int, c: int, sigma: float, rho: float, delta: float, C1: float = 1.0, C2: float = 1.0
) -> SampleBounds:
    """Compute the two sample sizes that Theorem 3 needs.

    Parameters
    ----------
    d, c : int
        Numbers of features and of classes.
    sigma : float
        Largest eigenvalue of ``Hq^{-1} Hp``.
    rho : float
        Smallest rho with ``I (x) Vp <= rho Hp``.
    delta : float
        Probability that the bound fails, between 0 and 1.
    C1, C2 : float, default 1.0
        The unnamed constants; Theorem 32 has C1 proportional to ``K_{2,q}(r)^2`` and C2 to
        ``nu (K_{0,q} K_{1,q} K_{2,q}(r))^2``.

    Returns
    -------
    SampleBounds
        ``hessian`` and ``parameter``; n has to reach both.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> from firal.theory.bounds import sample_bounds
    >>> [round(n) for n in sample_bounds(d=4, c=3, sigma=2.0, rho=3.0, delta=0.1)]
    [38, 104]
    """
    d = checks.integer(d, "d", 1)
    size = d * (checks.integer(c, "c", 2) - 1)
    C1 = checks.number(C1, "C1", 0)
    C2 = checks.number(C2, "C2", 0)
    spread = _spread(size, sigma, rho, delta)
    return SampleBounds(float(C1 * size * (1 + np.log(d / delta))), float(C2 * spread))


def domain_constants(whitened_length: float, c: int) -> DomainConstants:
    """Compute L1, L2 and L3 of Assumption 38 for bounded points.

    Parameters
    ----------
    whitened_length : float
        ``W``, the largest norm of ``(I (x) x^T) Hp^{-1/2}`` over the points.
    c : int
        Number of classes.

    Returns
    -------
    DomainConstants
        ``sqrt(2) W``, ``W^2 / 2`` and ``sqrt(6)/9 W^3``; ``W``, ``W^2 / 4`` and
        ``W^3 / (6 sqrt(3))`` for two classes.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    L1 bounds the length of ``h - e_y``, L2 the variance and L3 the third central moment of a
    direction under the class probabilities. No smaller factor serves all points. The chapter *The
    excess risk on a bounded domain* has the proof.

    Examples
    --------
    >>> from firal.theory.bounds import domain_constants
    >>> [round(L, 3) for L in domain_constants(2.0, 3)]
    [2.828, 2.0, 2.177]
    """
    W = checks.number(whitened_length, "whitened_length", 0)
    binary = checks.integer(c, "c", 2) == 2
    length = 1.0 if binary else np.sqrt(2)  # the values of a unit vector, and 0, differ by this
    third = (length * W) ** 3 / (6 * np.sqrt(3))  # third central moment on such an interval
    return DomainConstants(float(length * W), float((length * W) ** 2 / 4), float(third))


def bounded_domain(
    n: float,
    size: int,
    sigma: float,
    delta: float,
    L1: float,
    L2: float,
    L3: float,
    *,
    printed: bool = False,
) -> BoundedDomain:
    """Compute the relative errors and the sample size of Theorem 40 (bounded domain).

    Parameters
    ----------
    n : float
        Sample size.
    size : int
        Number of parameters, d~ = d(c-1).
    sigma : float
        Largest eigenvalue of ``Hq^{-1} Hp``.
    delta : float
        Probability that the bound fails, between 0 and 1.
    L1, L2, L3 : float
        Bounds on the gradient, the Hessian and its Lipschitz constant in the norm of H_p.
    printed : bool, default False
        Whether to use the formulas as printed in the paper instead of what its proof gives.

    Returns
    -------
    BoundedDomain
        ``eps_p``, ``eps_q`` and ``n_min``.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    The proof gives ``eps_p = 2 sigma L1 L3 sqrt((2 + 8 log(1/delta))/n)``; printed is sigma^2. The
    proof needs ``256 (2 + 8 log(1/delta)) sigma^4 L1^2 L3^2`` points; printed is log(1/delta) in
    place of the parenthesis. The chapter *The excess risk on a bounded domain* has the proof.

    Examples
    --------
    >>> from firal.theory.bounds import bounded_domain
    >>> n_min = bounded_domain(1, 12, sigma=1.0, delta=0.1, L1=1.0, L2=1.0, L3=1.0).n_min
    >>> bounded_domain(n_min, 12, sigma=1.0, delta=0.1, L1=1.0, L2=1.0, L3=1.0).eps_p <= 1 / 8
    True
    """
    n = checks.number(n, "n", 0)
    size = checks.integer(size, "size", 1)
    sigma = checks.number(sigma, "sigma", 0)
    delta = checks.number(delta, "delta", 0, 1)
    L1, L2, L3 = (checks.number(L, name, 0) for L, name in ((L1, "L1"), (L2, "L2"), (L3, "L3")))
    tail = 2 + 8 * np.log(1 / delta)
    union = np.log(2 * size / delta)
    shift = 2 * sigma * L1 * L3 * np.sqrt(tail / n)  # L3 |theta_n - theta_*| in the norm of H_p
    eps_p = sigma * shift if printed else shift
    eps_q = 4 * sigma * L2 * np.sqrt(union / n) + sigma * shift
    confidence = np.log(1 / delta) if printed else tail
    n_min = 256 * max(union * (L2 * sigma) ** 2, confidence * (sigma**2 * L1 * L3) ** 2)
    return BoundedDomain(float(eps_p), float(eps_q), float(n_min))


def _spread(size, sigma, rho, delta):
    """``sigma rho (d~ + sqrt(d~) log(e/delta))``."""
    size = checks.integer(size, "size", 1)
    sigma = checks.number(sigma, "sigma", 0)
    rho = checks.number(rho, "rho", 0)
    delta = checks.number(delta, "delta", 0, 1)
    return sigma * rho * (size + np.sqrt(size) * (1 + np.log(1 / delta)))
