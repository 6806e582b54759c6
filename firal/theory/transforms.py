"""From p to q: dilations and translations, and the one with a wanted Fisher information ratio.

Both act on a sample, so a sample of p is turned into a sample of q with the same random numbers.
The Fisher information ratio becomes a smooth function of one number, found by a root search. The
chapter *Synthetic experiments* uses them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from firal.common import checks
from firal.information.fisher import fir, information

FARTHEST = 60.0  # translations are searched up to this many standard deviations of the points


def dilate(X: ArrayLike, nu: float, center: ArrayLike = 0.0) -> np.ndarray:
    """Turn a sample of p into one of q with ``nu`` times its covariance.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Sample of p.
    nu : float
        Factor of the covariance, positive.
    center : array_like of shape (d,) or float, default 0.0
        The point that stays where it is.

    Returns
    -------
    ndarray of shape (n, d)
        ``center + sqrt(nu) (x_i - center)``.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is not finite, or nu is not positive.

    Examples
    --------
    >>> from firal.theory.transforms import dilate
    >>> dilate([[1.0], [3.0]], 4.0, center=1.0)
    array([[1.],
           [5.]])
    """
    X = checks.points(X)
    nu = checks.number(nu, "nu", 0)
    center = _vector(center, X.shape[1], "center")
    return center + np.sqrt(nu) * (X - center)


def translate(X: ArrayLike, tau: float, direction: ArrayLike) -> np.ndarray:
    """Turn a sample of p into one of q that is shifted.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Sample of p.
    tau : float
        Length of the shift, in units of the direction.
    direction : array_like of shape (d,)
        Direction of the shift.

    Returns
    -------
    ndarray of shape (n, d)
        ``x_i + tau * direction``.

    Raises
    ------
    ValueError
        If the shapes disagree or a value is not finite.

    Examples
    --------
    >>> from firal.theory.transforms import translate
    >>> translate([[1.0, 1.0]], 2.0, [0.0, 1.0])
    array([[1., 3.]])
    """
    X = checks.points(X)
    tau = checks.number(tau, "tau")
    return X + tau * _vector(direction, X.shape[1], "direction")


def solve_dilation(X: ArrayLike, theta: ArrayLike, target: float, center: ArrayLike = 0.0) -> float:
    """Find the dilation of p that has a wanted Fisher information ratio.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Sample of p.
    theta : array_like of shape (c-1, d)
        Parameters.
    target : float
        The wanted ratio ``fir(H_q, H_p)``, positive; d~ = d(c-1) is the ratio of p itself.
    center : array_like of shape (d,) or float, default 0.0
        The point that stays where it is.

    Returns
    -------
    float
        nu with ``fir(H_q, H_p) = target``, where q is p dilated by nu. Accurate to 1e-10 relative,
        for the sample given.

    Raises
    ------
    ValueError
        If no dilation comes down to the target, or H_p is singular.

    Notes
    -----
    The ratio grows without bound as nu -> 0, decreases to a minimum (large points are informative
    across theta but saturated along it) and grows again. The answer is on the decreasing branch; a
    target of d~ gives nu = 1.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.theory.transforms import solve_dilation
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(solve_dilation(X, [[0.0, 0.0]], target=8.0), 9)  # at theta = 0 the ratio is d~ / nu
    0.25
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


def solve_translation(X: ArrayLike, theta: ArrayLike, direction: ArrayLike, target: float) -> float:
    """Find the translation of p that has a wanted Fisher information ratio.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Sample of p.
    theta : array_like of shape (c-1, d)
        Parameters.
    direction : array_like of shape (d,)
        Direction of the shift, not zero.
    target : float
        The wanted ratio ``fir(H_q, H_p)``, positive; d~ = d(c-1) is the ratio of p itself.

    Returns
    -------
    float
        tau >= 0 with ``fir(H_q, H_p) = target``, where q is p shifted by ``tau * direction``.
        Accurate to 1e-10 relative, for the sample given.

    Raises
    ------
    ValueError
        If no shift comes down to the target, or H_p is singular.

    Notes
    -----
    Far away all points are saturated and the ratio grows without bound. The answer is where the
    ratio first rises through the target; a target of d~ gives tau = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.theory.transforms import solve_translation
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> tau = solve_translation(X, [[1.0]], [1.0], target=3.0)
    >>> far = solve_translation(X, [[1.0]], [1.0], target=9.0)
    >>> bool(0 < tau < far)
    True
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


def _vector(value, d, name):
    """d finite numbers; one number stands for d equal ones."""
    value = checks.floats(value, name).astype(np.float64, copy=False)
    if value.shape not in ((), (d,)):
        raise ValueError(f"{name} must have shape ({d},), got shape {value.shape}")
    return np.broadcast_to(value, (d,))
