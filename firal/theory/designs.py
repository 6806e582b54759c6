"""Synthetic designs: where points come from, the true parameter, and q with a wanted ratio.

p is one of three families with a mean and a scale matrix; q is p dilated or translated. Both
operations act on a sample, so a sample of p is turned into a sample of q with the same random
numbers, and the Fisher information ratio becomes a smooth function of one number to solve for.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

from firal.common import checks
from firal.information.fisher import fir, information
from firal.model.logistic import softmax

FARTHEST = 60.0  # translations are searched up to this many standard deviations of the points


def gaussian(n, mean, scale, rng):
    """n points of N(mean, scale): (n, d). mean (d,), scale (d, d) positive semidefinite."""
    mean, root = _location_and_root(n, mean, scale, rng)
    return mean + rng.standard_normal((n, mean.size)) @ root.T


def laplace(n, mean, scale, rng):
    """n points of the symmetric multivariate Laplace law with covariance ``scale``: (n, d).

    A normal vector times the square root of an independent standard exponential variable; its
    one-dimensional marginals are Laplace. Sub-exponential, not sub-Gaussian.
    """
    mean, root = _location_and_root(n, mean, scale, rng)
    z = rng.standard_normal((n, mean.size)) @ root.T
    return mean + np.sqrt(rng.standard_exponential((n, 1))) * z


def student_t(n, mean, scale, rng, df):
    """n points of the multivariate t law with ``df`` degrees of freedom: (n, d).

    The scale matrix is not the covariance, which is ``df/(df-2) * scale`` and needs df > 2.
    """
    mean, root = _location_and_root(n, mean, scale, rng)
    df = checks.number(df, "df", 0)
    z = rng.standard_normal((n, mean.size)) @ root.T
    return mean + z * np.sqrt(df / rng.chisquare(df, (n, 1)))


def draw_labels(X, theta, rng):
    """One label per point from ``p(y | x, theta)``: (n,) integers."""
    X = checks.points(X)
    theta = checks.parameters(theta, X.shape[1])
    checks.generator(rng)
    cumulative = np.cumsum(softmax(X, theta), axis=1)
    y = (cumulative < rng.random((X.shape[0], 1))).sum(axis=1)
    return np.minimum(y, len(theta))  # the last sum may be below 1 by rounding


def simplex_theta(c, d):
    """theta (c-1, d) with rows of length 1 that treats all c classes alike; needs d >= c-1.

    The rows and the origin (the reference class) are the corners of a regular simplex with edge 1,
    in the first c-1 coordinates. Permuting classes is then a rotation or reflection of the points,
    so every class has probability exactly 1/c under any p that these leave unchanged, such as
    N(0, I).
    """
    c = checks.integer(c, "c", 2)
    d = checks.integer(d, "d", 1)
    if d < c - 1:
        raise ValueError(
            f"a regular simplex of c={c} classes needs d >= {c - 1} coordinates, got d={d}"
        )
    theta = np.zeros((c - 1, d))
    # unit vectors with inner products 1/2: all distances, also to the origin, are 1
    theta[:, : c - 1] = np.linalg.cholesky((np.eye(c - 1) + 1) / 2)
    return theta


def dilate(X, nu, center=0.0):
    """The sample of p turned into one of q with ``nu`` times its covariance, around ``center``."""
    X = checks.points(X)
    nu = checks.number(nu, "nu", 0)
    center = _vector(center, X.shape[1], "center")
    return center + np.sqrt(nu) * (X - center)


def translate(X, tau, direction):
    """The sample of p shifted by ``tau * direction``; direction (d,)."""
    X = checks.points(X)
    tau = checks.number(tau, "tau")
    return X + tau * _vector(direction, X.shape[1], "direction")


def solve_dilation(X, theta, target, center=0.0):
    """nu with ``fir(H_q, H_p) = target``, where q is p dilated by nu.

    X (n, d) is a sample of p. The ratio grows without bound as nu -> 0, decreases to a minimum
    (large points are informative across theta but saturated along it) and grows again. The answer
    is on the decreasing branch; a target of d~ is p itself, nu = 1. A target below the minimum
    is a ValueError. Accurate to 1e-10 relative, for the sample given.
    """
    X, Hp, target = _prepare(X, theta, target)
    if abs(target / len(Hp) - 1) < 1e-9:
        return 1.0

    def ratio(log_nu):
        return _ratio(dilate(X, np.exp(log_nu), center), theta, Hp)

    low = high = _walk_down(ratio, target, 0.5, "dilation")
    while ratio(low) <= target:
        low, high = low - 0.7, low
        if low < -100:
            raise ValueError(f"no dilation above exp(-100) has a ratio of {target:g}")
    root = optimize.brentq(lambda s: np.log(ratio(s) / target), low, high, xtol=1e-10)
    return float(np.exp(root))


def solve_translation(X, theta, direction, target):
    """tau >= 0 with ``fir(H_q, H_p) = target``, where q is p shifted by tau * direction.

    X (n, d) is a sample of p. Far away all points are saturated and the ratio grows without bound.
    The answer is where the ratio first rises through the target; a target of d~ is p itself,
    tau = 0. A target that no shift comes down to is a ValueError. Accurate to 1e-10 relative, for
    the sample given.
    """
    X, Hp, target = _prepare(X, theta, target)
    direction = _vector(direction, X.shape[1], "direction")
    if not direction.any():
        raise ValueError("direction must not be zero")
    if abs(target / len(Hp) - 1) < 1e-9:
        return 0.0
    unit = np.sqrt(np.mean((X @ direction) ** 2)) / (direction @ direction)
    step = 0.2

    def ratio(s):
        return _ratio(translate(X, s * unit, direction), theta, Hp)

    below, place, best = None, 0.0, (np.inf, 0.0)
    while True:
        value = ratio(place)
        best = min(best, (value, place))
        if value <= target:
            below = place
        elif below is not None:
            break
        elif value > 100 * len(Hp):  # far out: only a dip between two places can be low enough
            low = _lowest(ratio, max(best[1] - step, 0.0), best[1] + step, target, "translation")
            below, place = low, low + step
            break
        place += step
        if place > FARTHEST:
            raise ValueError(
                f"target must be a ratio that translations up to tau = {place * unit:.3g} rise to; "
                f"the ratio there is {value:.6g}, got {target:g}"
            )
    root = optimize.brentq(lambda s: np.log(ratio(s) / target), below, place, xtol=1e-10)
    return float(root * unit)


def _walk_down(ratio, target, step, name):
    """A place where the ratio is at most target: downhill from 0, then refined."""
    here, value = 0.0, ratio(0.0)
    if value <= target:
        return here
    if ratio(step) >= value:
        step = -step
    while True:
        ahead = ratio(here + step)
        if ahead <= target:
            return here + step
        if ahead >= value:
            return _lowest(ratio, *sorted((here - step, here + step)), target, name)
        here, value = here + step, ahead


def _lowest(ratio, low, high, target, name):
    """The place of the smallest ratio between low and high, if that is at most target."""
    best = optimize.minimize_scalar(
        ratio, bounds=(low, high), method="bounded", options={"xatol": 1e-9}
    )
    if best.fun > target:
        raise ValueError(
            f"target must be at least {best.fun:.6g}, the smallest Fisher information ratio found "
            f"for a {name} of this sample, got {target:g}"
        )
    return float(best.x)


def _prepare(X, theta, target):
    X = checks.points(X)
    Hp = information(X, theta)
    fir(Hp, Hp)  # the error for a singular matrix
    return X, Hp, checks.number(target, "target", 0)


def _ratio(Xq, theta, Hp):
    """Fisher information ratio; ``inf`` when q is saturated to the point of a singular matrix."""
    Hq = information(Xq, theta)
    try:
        return fir(Hq, Hp)
    except ValueError:
        return np.inf


def _location_and_root(n, mean, scale, rng):
    """Checked mean, and R with ``R R^T = scale``."""
    checks.integer(n, "n", 1)
    checks.generator(rng)
    mean = checks.floats(mean, "mean").astype(np.float64, copy=False)
    if mean.ndim != 1 or mean.size == 0:
        raise ValueError(f"mean must have shape (d,), got shape {mean.shape}")
    scale = checks.symmetric(scale, "scale", mean.size).astype(np.float64, copy=False)
    eigenvalues, vectors = np.linalg.eigh(scale)
    if eigenvalues[0] < -1e-12 * max(eigenvalues[-1], 0.0) or eigenvalues[-1] < 0:
        raise ValueError(
            f"scale must be positive semidefinite, got an eigenvalue of {eigenvalues[0]:.3g}"
        )
    return mean, vectors * np.sqrt(np.maximum(eigenvalues, 0))


def _vector(value, d, name):
    value = checks.floats(value, name).astype(np.float64, copy=False)
    if value.shape not in ((), (d,)):
        raise ValueError(f"{name} must have shape ({d},), got shape {value.shape}")
    return np.broadcast_to(value, (d,))
