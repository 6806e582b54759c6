"""Constants of the excess-risk bound for two classes and a Gaussian design, exactly.

The chapter *The constants behind the excess-risk bound* derives them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from firal.common import checks
from firal.theory.orlicz import quadrature, smallest_scale


class BinaryGaussian(NamedTuple):
    """Constants of Lemma 2 and Theorem 3 for two classes and a Gaussian design, at radius r = 0.

    Attributes
    ----------
    rho : float
        Smallest rho with ``I (x) V <= rho H``.
    K0 : float
        Sub-Gaussian norm of a whitened point in any direction, ``sqrt(8/3)``.
    K1 : float
        Largest sub-Gaussian norm of the whitened score.
    K2 : float
        Largest sub-exponential norm of the whitened Hessian, as a quadratic form.
    """

    rho: float
    K0: float
    K1: float
    K2: float


def kappa(t: ArrayLike) -> np.ndarray | float:
    """Compute ``E exp(-|t u|) u^2`` for a standard normal u.

    Parameters
    ----------
    t : array_like
        Nonnegative numbers.

    Returns
    -------
    float or ndarray
        One value per t, to rounding; near ``1.6 / t^3`` for large t.

    Raises
    ------
    ValueError
        If a number is negative or not finite.

    Examples
    --------
    >>> from firal.theory.gaussian_design import kappa
    >>> float(kappa(0.0))
    1.0
    """
    t = _nonnegative(t)
    near, far = np.minimum(t, 9.0), np.maximum(t, 9.0)
    direct = (1 + near**2) * special.erfcx(near / np.sqrt(2)) - near * np.sqrt(2 / np.pi)
    # for large t the difference cancels; there sum_j (-1)^j (2j+2)! / (2^j j!) t^-(2j+3)
    term = np.sqrt(2 / np.pi) * 2 / far**3
    series = term
    for j in range(35):
        term = -term * (2 * j + 3) * (2 * j + 4) / (2 * (j + 1)) / far**2
        series = series + term
    return np.where(t < 9, direct, series)[()]


def kappa_perp(t: ArrayLike) -> np.ndarray | float:
    """Compute ``E exp(-|t u|)`` for a standard normal u.

    Parameters
    ----------
    t : array_like
        Nonnegative numbers.

    Returns
    -------
    float or ndarray
        One value per t, to rounding; near ``0.8 / t`` for large t.

    Raises
    ------
    ValueError
        If a number is negative or not finite.

    Examples
    --------
    >>> from firal.theory.gaussian_design import kappa_perp
    >>> float(kappa_perp(0.0))
    1.0
    """
    return special.erfcx(_nonnegative(t) / np.sqrt(2))


def binary_gaussian(t: float) -> BinaryGaussian:
    """Compute rho, K0, K1 and K2(0) for two classes and Gaussian points.

    Parameters
    ----------
    t : float
        Length of theta_* in the norm of V, for points x ~ N(0, V) with d >= 2. Nonnegative.

    Returns
    -------
    BinaryGaussian
        ``rho``, ``K0``, ``K1``, ``K2``.

    Raises
    ------
    ValueError
        If t is negative or not finite.

    Notes
    -----
    In whitened coordinates z the parameter is t e_1 and the Hessian is diagonal: E[w u^2] along e_1
    and E[w] across, with u = z_1 and the logistic weight w = p(1-p), p = 1/(1 + exp(-t u)). K1 and
    K2 are suprema over unit vectors, which by symmetry lie in the plane of e_1 and one more
    axis. The normal variable of that axis is integrated in closed form, u by quadrature.

    Examples
    --------
    >>> from firal.theory.gaussian_design import binary_gaussian
    >>> constants = binary_gaussian(0.0)  # H = V / 4
    >>> round(constants.rho, 9), round(constants.K2, 9)
    (4.0, 2.666666667)
    """
    t = checks.number(t, "t", low=0, strict=False)
    u, weights = quadrature(0.0, np.inf)
    log_weights = np.log(weights) - u * u / 2 + np.log(2 / np.sqrt(2 * np.pi))  # both signs of u
    log_p, log_q = special.log_expit(t * u), special.log_expit(-t * u)
    log_w = log_p + log_q
    along = np.exp(special.logsumexp(log_w + 2 * np.log(u) + log_weights))
    across = np.exp(special.logsumexp(log_w + log_weights))

    def supremum(cases, order):
        def norm(angle):
            a2, b2 = np.cos(angle) ** 2 / along, np.sin(angle) ** 2 / across
            return _plane_norm(a2, b2, cases, order, u, log_weights)

        angles = np.linspace(0, np.pi / 2, 13)
        values = [norm(angle) for angle in angles]
        best = int(np.argmax(values))
        around = angles[max(best - 1, 0)], angles[min(best + 1, angles.size - 1)]
        refined = optimize.minimize_scalar(lambda x: -norm(x), bounds=around, method="bounded")
        return float(max(values[best], -refined.fun))

    # K1: psi_2 norm of (residual) u^T H^{-1/2} z; the residual is 1-p with probability p, else -p
    K1 = supremum([(log_p, np.exp(2 * log_q)), (log_q, np.exp(2 * log_p))], 2)
    # K2: psi_1 norm of w (u^T H^{-1/2} z)^2
    K2 = supremum([(np.zeros_like(u), np.exp(log_w))], 1)
    return BinaryGaussian(float(1 / min(along, across)), float(np.sqrt(8 / 3)), K1, K2)


def _plane_norm(a2, b2, cases, order, u, log_weights):
    """Orlicz norm of a variable Y with ``|Y|^order = s (a u + b v)^2``; a2 = a^2, b2 = b^2.

    v is standard normal and integrated in closed form; u has the given quadrature. cases lists
    pairs (log probability, value of s), both functions of u.
    """

    def log_mean(tau):
        terms = []
        for log_probability, size in cases:
            g = size / tau**order
            left = 1 - 2 * g * b2
            if left.min() <= 0:
                return np.inf
            # log E exp(g (a u + b v)^2) over v
            exponent = g * a2 * u * u / left - np.log(left) / 2
            terms.append(exponent + log_probability + log_weights)
        return special.logsumexp(np.logaddexp.reduce(terms))

    return smallest_scale(log_mean)


def _nonnegative(t):
    t = checks.floats(t, "t").astype(np.float64, copy=False)
    if t.size and t.min() < 0:
        raise ValueError(f"t must be nonnegative, got {t.min():g}")
    return t
