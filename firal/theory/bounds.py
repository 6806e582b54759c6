"""Quantities in the paper's bounds: prefactors, alpha, sample sizes, Gaussian-design integrals.

Constants that the paper leaves unnamed ("there exists a constant", "up to a constant") are
arguments here, with default 1. Where a printed formula differs from what its proof gives,
``printed=True`` returns the printed one. The Orlicz norms are in ``firal.theory.orlicz``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from firal.common import checks
from firal.theory.orlicz import psi_norm, psi_norm_density, quadrature, smallest_scale

__all__ = [
    "BinaryGaussian",
    "BoundedDomain",
    "SampleBounds",
    "alpha",
    "binary_gaussian",
    "bounded_domain",
    "kappa",
    "kappa_perp",
    "prefactor",
    "psi_norm",
    "psi_norm_density",
    "sample_bounds",
]


class SampleBounds(NamedTuple):
    """The two lower bounds on n in Theorem 3; n has to reach both."""

    hessian: float  # C1 d~ log(e d / delta): the empirical Hessian is close to its mean
    parameter: float  # C2 sigma rho (d~ + sqrt(d~) log(e/delta)): theta_n is close to theta_*


class BoundedDomain(NamedTuple):
    """Theorem 40: two relative errors, and the n from which the theorem holds."""

    eps_p: float
    eps_q: float
    n_min: float


class BinaryGaussian(NamedTuple):
    """Constants of Lemma 2 and Theorem 3 for two classes and a Gaussian design, at radius r = 0."""

    rho: float
    K0: float
    K1: float
    K2: float


def prefactor(alpha):
    """``(e^alpha - alpha - 1) / alpha^2`` for numbers of either sign; 1/2 at alpha = 0.

    Theorem 3 has this prefactor at alpha in its upper bound, and at -alpha in its lower bound,
    where it reads ``(e^-alpha + alpha - 1) / alpha^2``. Accurate to rounding for every alpha.
    """
    x = np.asarray(alpha, dtype=np.float64)
    if np.isnan(x).any():
        raise ValueError("alpha must be a number or an array of numbers, got NaN")
    near = np.clip(x, -1, 1)
    series = np.zeros_like(x)
    for k in range(20, 1, -1):  # sum over k >= 2 of x^(k-2) / k!, by Horner's rule
        series = (series * near + 1) / k
    far = np.where(np.abs(x) < 1, 1.0, x)
    with np.errstate(over="ignore"):  # the value itself is then beyond the largest float
        direct = (np.exp(far / 2) / far) ** 2 - (1 + 1 / far) / far
    return np.where(np.abs(x) < 1, series, direct)[()]


def alpha(n, size, sigma, rho, delta, C3=1.0):
    """``C3 sqrt(sigma rho (d~ + sqrt(d~) log(e/delta)) / n)`` of Theorem 3, with size = d~.

    Theorem 32 has C3 proportional to K_{0,p} K_{1,q} K_{2,p}(r).
    """
    n = checks.number(n, "n", 0)
    C3 = checks.number(C3, "C3", 0)
    return float(C3 * np.sqrt(_spread(size, sigma, rho, delta) / n))


def sample_bounds(d, c, sigma, rho, delta, C1=1.0, C2=1.0):
    """The two sample sizes of Theorem 3, for d features and c classes.

    Theorem 32 has C1 proportional to K_{2,q}(r)^2 and C2 to nu (K_{0,q} K_{1,q} K_{2,q}(r))^2.
    """
    d = checks.integer(d, "d", 1)
    size = d * (checks.integer(c, "c", 2) - 1)
    C1 = checks.number(C1, "C1", 0)
    C2 = checks.number(C2, "C2", 0)
    spread = _spread(size, sigma, rho, delta)
    return SampleBounds(float(C1 * size * (1 + np.log(d / delta))), float(C2 * spread))


def kappa(t):
    """``E exp(-|t u|) u^2`` for a standard normal u; t >= 0, number or array. Near 1.6/t^3."""
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


def kappa_perp(t):
    """``E exp(-|t u|)`` for a standard normal u; t >= 0, number or array. Near 0.8/t."""
    return special.erfcx(_nonnegative(t) / np.sqrt(2))


def binary_gaussian(t):
    """Exact rho, K0, K1 and K2(0) for two classes, x ~ N(0, V), |theta_*|_V = t and d >= 2.

    In whitened coordinates z the parameter is t e_1 and the Hessian is diagonal: E[w u^2] along e_1
    and E[w] across, with u = z_1 and the logistic weight w = p(1-p), p = 1/(1 + exp(-t u)). K1 and
    K2 are suprema over unit vectors, which by symmetry lie in the plane of e_1 and one more
    axis. The normal variable of that axis is integrated in closed form, u by quadrature.
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


def bounded_domain(n, size, sigma, delta, L1, L2, L3, *, printed=False):
    """``eps_p``, ``eps_q`` and the sample size of Theorem 40 (bounded domain), with size = d~.

    L1, L2, L3 bound the gradient, the Hessian and its Lipschitz constant in the norm of H_p. The
    proof gives ``eps_p = 2 sigma L1 L3 sqrt((2 + 8 log(1/delta))/n)``; printed is sigma^2. The
    proof needs ``256 (2 + 8 log(1/delta)) sigma^4 L1^2 L3^2`` points; printed is log(1/delta) in
    place of the parenthesis.
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


def _nonnegative(t):
    t = checks.floats(t, "t").astype(np.float64, copy=False)
    if t.size and t.min() < 0:
        raise ValueError(f"t must be nonnegative, got {t.min():g}")
    return t
