"""Excess risk of a parameter, with the expectation over labels in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from firal.common import checks
from firal.information.fisher import probability_blocks
from firal.model.logistic import logits


def excess_risk(theta: ArrayLike, theta_star: ArrayLike, X: ArrayLike) -> float:
    """How much worse a parameter is than the true one: ``L_p(theta) - L_p(theta_star)``.

    Parameters
    ----------
    theta : array_like of shape (c-1, d)
        The parameter to judge.
    theta_star : array_like of shape (c-1, d)
        The parameter that labels are drawn from.
    X : array_like of shape (n, d)
        Points that stand for the distribution p.

    Returns
    -------
    float
        The difference of the expected losses; 0 if both parameters are equal.

    Raises
    ------
    ValueError
        If shapes disagree or a value is not finite.

    Notes
    -----
    The expectation over labels is taken in closed form: the result is the mean over X of the
    Kullback-Leibler divergence of ``p(.|x, theta)`` from ``p(.|x, theta_star)``. So there is no
    label noise, and the result has a small relative error however close the two parameters are.
    The chapter *The Fisher information ratio controls the excess risk* bounds it.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> X, theta_star = np.array([[1.0], [-1.0]]), np.array([[0.5]])
    >>> firal.excess_risk(theta_star, theta_star, X)
    0.0
    >>> firal.excess_risk([[0.7]], theta_star, X) < firal.excess_risk([[0.9]], theta_star, X)
    True
    """
    X = checks.points(X).astype(np.float64, copy=False)
    theta = checks.parameters(theta, X.shape[1]).astype(np.float64, copy=False)
    theta_star = checks.parameters(theta_star, X.shape[1], "theta_star")
    if theta.shape != theta_star.shape:
        raise ValueError(
            f"theta and theta_star must have one shape, got {theta.shape} and {theta_star.shape}"
        )
    total = 0.0
    for block in probability_blocks(X, theta):
        total += _divergences(X[block], theta - theta_star, theta_star).sum()
    return float(total / X.shape[0])


def _divergences(X, difference, theta_star):
    """KL divergence of each point, ``log E* exp(D)`` for the logit differences D with E* D = 0."""
    log_p = logits(X, theta_star)
    log_p -= special.logsumexp(log_p, axis=0)
    p = np.exp(log_p)
    D = logits(X, difference)
    D -= np.sum(p * D, axis=0)
    # E* exp(D) = 1 + E*(exp(D) - 1 - D): no cancellation when D is small, which is when it is used
    near = np.minimum(D, 1.0)
    small = np.log1p(np.sum(p * near**2 * prefactor(near), axis=0))
    large = special.logsumexp(log_p + D, axis=0)
    return np.where(D.max(axis=0) <= 1.0, small, large)


def prefactor(alpha: ArrayLike) -> np.ndarray | float:
    """Evaluate ``(e^alpha - alpha - 1) / alpha^2``, which is 1/2 at alpha = 0.

    Parameters
    ----------
    alpha : array_like
        A number or an array of numbers of either sign.

    Returns
    -------
    float or np.ndarray
        The values, accurate to rounding for every alpha.

    Raises
    ------
    ValueError
        If an entry is NaN.

    Notes
    -----
    Theorem 3 has this prefactor at alpha in its upper bound, and at -alpha in its lower bound,
    where it reads ``(e^-alpha + alpha - 1) / alpha^2``. The proof is in the chapter *The
    Fisher information ratio controls the excess risk*.

    Examples
    --------
    >>> from firal.information.risk import prefactor
    >>> float(prefactor(0.0))
    0.5
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
