"""Fit multinomial logistic regression by Newton's method, or say that there is no minimizer."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.threads import threads_for
from firal.model.logistic import loss_and_residual
from firal.model.newton_system import NewtonSystem, row_space
from firal.model.separation import NO_MINIMIZER, proves_minimizer, require_minimizer

PENALTIES = ("reference", "symmetric")


class Fit(NamedTuple):
    """Result of :func:`fit`.

    Attributes
    ----------
    theta : ndarray of shape (c-1, d)
        Parameters; the last class is the reference.
    converged : bool
        Whether ``theta`` is a minimizer to the tolerance.
    iterations : int
        Number of Newton steps.
    gradient_norm : float
        Euclidean norm of the gradient of the penalized loss at ``theta``.
    """

    theta: np.ndarray
    converged: bool
    iterations: int
    gradient_norm: float


def fit(
    X: ArrayLike,
    y: ArrayLike,
    n_classes: int,
    ridge: float = 0.0,
    *,
    penalty: str = "reference",
    tol: float = 1e-8,
    max_iter: int = 100,
) -> Fit:
    """Fit multinomial logistic regression to labeled points.

    Minimizes ``loss(X, y, theta) + ridge/2 * |theta|^2``, or the same with a penalty that treats
    all classes alike.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Points. There is no hidden intercept: append a column of ones if you want one.
    y : array_like of shape (n,)
        Labels, integers 0..n_classes-1. Without a ridge every class needs a label.
    n_classes : int
        Number of classes, at least 2.
    ridge : float, default 0.0
        Weight of the penalty, nonnegative. It applies to every column.
    penalty : {"reference", "symmetric"}
        "reference" is ``|theta|^2``: the parameters of the reference class are 0, so it depends on
        which class comes last. "symmetric" is scikit-learn's: the sum of squares over all c
        classes, the reference's parameters being 0, after their mean is subtracted. Renaming the
        classes changes no probability then.
    tol : float, default 1e-8
        Largest norm of the gradient that counts as zero. Each column of the gradient is measured
        in units of ``sqrt(d)`` times the root mean square of that column of X. If all columns have
        one scale, this is ``tol`` times the root mean square norm of a point.
    max_iter : int, default 100
        Largest number of Newton steps.

    Returns
    -------
    Fit
        ``theta`` of shape (n_classes-1, d), ``converged``, ``iterations``, ``gradient_norm``. If
        ``converged`` is False, there is also a RuntimeWarning.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is not finite, or a label is not in 0..n_classes-1. If
        ``ridge`` is 0 and a class has no label, or the labels are separable.

    Notes
    -----
    Newton's method with backtracking, from theta = 0. The Newton system is solved by conjugate
    gradients on the structured Hessian, with a Kronecker preconditioner: ``2 n d~`` multiply-adds
    per iteration, where d~ = d(c-1). Where that is quicker, it is solved by a Cholesky
    factorization: ``n d~^2 / 4``.

    Without a ridge there may be no minimizer: the labels are separable, and the loss only
    approaches its infimum as theta grows. This is an error, never a large theta: convergence is
    reported only when the last Newton step proves that a minimizer exists. The chapter *The
    problem: which points are worth a label?* has the proof, and :mod:`firal.model.separation` the
    code. If the columns of X are linearly dependent and ``ridge`` is 0, the minimizer of smallest
    norm is returned.

    Examples
    --------
    >>> import firal
    >>> firal.fit([[1.0], [1.0], [1.0], [1.0]], [0, 0, 0, 1], n_classes=2).theta.round(4)  # log 3
    array([[1.0986]])
    >>> firal.fit([[1.0], [-1.0]], [0, 1], n_classes=2)
    Traceback (most recent call last):
    ValueError: Labels are separable: the unpenalized loss has no minimizer; use ridge > 0
    """
    X = checks.points(X).astype(np.float64, copy=False)
    c = checks.integer(n_classes, "n_classes", 2)
    y = checks.labels(y, X.shape[0], c)
    ridge = checks.number(ridge, "ridge", low=0, strict=False)
    if penalty not in PENALTIES:
        raise ValueError(f"penalty must be one of {PENALTIES}, got {penalty!r}")
    tol = checks.number(tol, "tol", low=0)
    max_iter = checks.integer(max_iter, "max_iter", 1)
    if ridge == 0:
        _require_all_classes(y, c)
    with threads_for(X.shape[1] * (c - 1)):
        # coordinates of the row space: fewer unknowns, and the same minimizer of smallest norm
        scales, basis = row_space(X)
        reduced = len(scales) < X.shape[1]
        Z = X @ basis.T if reduced else X
        A = symmetric_penalty(c) if penalty == "symmetric" else None
        system = NewtonSystem(Z, ridge, scales, None if reduced else basis, A)
        result = _newton(system, y, c, tol, max_iter)
        if reduced:
            result = result._replace(theta=result.theta @ basis)
    if not result.converged:
        warnings.warn(
            f"fit did not converge in {result.iterations} iterations: gradient norm "
            f"{result.gradient_norm:.2e}; raise max_iter, or use a larger ridge",
            RuntimeWarning,
            stacklevel=2,
        )
    return result


def symmetric_penalty(n_classes: int) -> np.ndarray:
    """Class part of the symmetric penalty: ``A = I - 1 1^T / c``.

    Parameters
    ----------
    n_classes : int
        Number of classes c.

    Returns
    -------
    np.ndarray of shape (c-1, c-1)
        ``trace(theta^T A theta)`` is the sum of squares of the parameters of all c classes, the
        reference's being 0, after their mean is subtracted.

    Examples
    --------
    >>> symmetric_penalty(2)
    array([[0.5]])
    """
    k = n_classes - 1
    return np.eye(k) - np.full((k, k), 1 / n_classes)


def _require_all_classes(y, c):
    """Raise if some class has no label: its parameters would have no minimizer."""
    missing = np.setdiff1d(np.arange(c), y)
    if missing.size:
        raise ValueError(
            f"no label of class {', '.join(map(str, missing))} among the {y.size} labels: "
            f"a fit of n_classes={c} classes needs ridge > 0"
        )


def _newton(system, y, c, tol, max_iter):
    """Damped Newton's method from theta = 0. Raises if the labels turn out to be separable."""
    X, ridge = system.X, system.ridge
    n, d = X.shape
    units = np.sqrt(d * np.mean(X**2, axis=0))
    units[units == 0] = 1.0
    theta = np.zeros((c - 1, d))
    value, h, residual, margin = loss_and_residual(X, y, theta)
    exists = ridge > 0  # is it known that there is a minimizer?
    for iteration in range(max_iter + 1):
        # 1. The gradient; its norm, also with each column in its own units.
        slope = residual @ X / n + ridge * system.penalize(theta)
        norm = float(np.linalg.norm(slope))
        relative = np.linalg.norm(slope / units)

        # 2. Stop at a minimizer, at a theta that separates the labels, or after max_iter steps.
        if ridge == 0 and margin > 0:
            raise ValueError(NO_MINIMIZER)
        if norm == 0 or (ridge > 0 and relative <= tol):
            return Fit(theta, True, iteration, norm)
        if iteration == max_iter:
            break

        # 3. The Newton step, more accurate as the gradient shrinks: faster than linear.
        step = system.solve(h, slope, tolerance=min(0.25, np.sqrt(relative)))
        descent = np.sum(slope * step)
        rounding = 1e-14 * max(1.0, value)

        # 4. Without a ridge a small gradient proves nothing, but a short step does.
        if relative <= tol:
            if proves_minimizer(X, step):
                return Fit(theta, True, iteration, norm)
            exists = exists or require_minimizer(X, y, c, step)
            if exists and -descent <= rounding:
                break  # the minimizer is farther away than the loss can resolve

        # 5. Shorten the step until the penalized loss decreases enough.
        theta, value, h, residual, margin = _backtrack(
            system, y, theta, step, value, descent, rounding
        )
    if not exists:  # separable labels are an error also when the iterations were too few
        require_minimizer(X, y, c)
    return Fit(theta, False, iteration, norm)


def _backtrack(system, y, theta, step, value, descent, rounding):
    """Halve the step until the penalized loss is below ``value`` by a share of the descent.

    Returns the new theta, its penalized loss, and what else ``loss_and_residual`` says about it.
    """
    length = 1.0
    while True:
        trial = theta + length * step
        new_value, h, residual, margin = loss_and_residual(system.X, y, trial)
        new_value += system.ridge / 2 * np.sum(trial * system.penalize(trial))
        if new_value <= value + 1e-4 * length * descent + rounding or length < 1e-10:
            return trial, new_value, h, residual, margin
        length /= 2
