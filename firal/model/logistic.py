"""The model: multinomial logistic regression with the last class as reference, and its fit.

Shapes: X (n, d), theta (c-1, d), labels y (n,) in 0..c-1; class c-1 has logit 0. There is no
hidden intercept: append a column of ones to X if you want one. Vectors of parameters stack the
rows of theta (``theta.ravel()``), so the Hessian of the loss at one point is
``kron(diag(h) - h h^T, x x^T)``, where h holds the probabilities of the first c-1 classes.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy import linalg

from firal.common import checks
from firal.common.threads import threads_for
from firal.model.hessians import weighted_information
from firal.model.separation import is_separating, separating_direction

SMALL_SYSTEM = 32  # up to this d~ the Newton system is always factored
MEDIUM_SYSTEM = 2000  # up to this d~ it is factored when conjugate gradients are slow
MAX_CG = 100
PROGRAM_LIMIT = 500  # up to this d~ linear programs decide whether there is a minimizer


class Fit(NamedTuple):
    """Result of :func:`fit`; ``gradient_norm`` is the norm of the objective's gradient at theta."""

    theta: np.ndarray
    converged: bool
    iterations: int
    gradient_norm: float


def probabilities(X, theta):
    """``p[i, y]``, the probability of label y at point i; X (n, d), theta (c-1, d) -> (n, c).

    Every exponent is at most 0, so logits of any finite size neither overflow nor give NaN.
    """
    X = checks.points(X)
    return softmax(X, checks.parameters(theta, X.shape[1]))


def loss(X, y, theta):
    """Mean over the points of ``-log p(y_i | x_i, theta)``."""
    X, y, theta = _labeled(X, y, theta)
    return float(_loss_and_residual(X, y, theta)[0])


def gradient(X, y, theta):
    """Gradient of :func:`loss`: ``mean_i (h_i - e_{y_i}) x_i^T``, of shape (c-1, d)."""
    X, y, theta = _labeled(X, y, theta)
    residual = _loss_and_residual(X, y, theta)[2]
    return residual @ X / X.shape[0]


def hessian(x, theta):
    """Hessian of the loss at one point x (d,): (d~, d~). It does not depend on the label.

    For teaching and tests; a sum over points is :func:`firal.information`.
    """
    x = checks.floats(x, "x")
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"x must be one point of shape (d,), got shape {x.shape}")
    theta = checks.parameters(theta, x.size)
    h = softmax(x[None, :], theta)[0, :-1]
    return np.kron(np.diag(h) - np.outer(h, h), np.outer(x, x))


def fit(X, y, n_classes, ridge=0.0, *, tol=1e-8, max_iter=100):
    """Solve ``min_theta loss(X, y, theta) + ridge/2 |theta|^2``.

    X (n, d), y (n,) labels in 0..n_classes-1, ridge >= 0. Newton's method with backtracking, from
    theta = 0. The Newton system is solved by conjugate gradients on the structured Hessian, with a
    Kronecker preconditioner: 2 n d~ multiply-adds per iteration; or by Cholesky where that is
    quicker: n d~^2 / 4. ``converged`` means that the gradient, each column in units of sqrt(d)
    times the root mean square of that column of X, has norm at most ``tol``. Columns of one scale
    make this ``tol`` times the root mean square norm of a point. Otherwise there is a warning.

    Without a ridge there may be no minimizer: the labels are separable, and the loss only
    approaches its infimum as theta grows. That is a ValueError, never a large theta: convergence is
    reported only when the last Newton step shows that a minimizer exists (``model.separation`` says
    why it can). Without a ridge every class needs a label. When the columns of X are linearly
    dependent and ridge = 0, the minimizer of smallest norm is returned.
    """
    X = checks.points(X).astype(np.float64, copy=False)
    c = checks.integer(n_classes, "n_classes", 2)
    y = checks.labels(y, X.shape[0], c)
    ridge = checks.number(ridge, "ridge", low=0, strict=False)
    tol = checks.number(tol, "tol", low=0)
    max_iter = checks.integer(max_iter, "max_iter", 1)
    if ridge == 0:
        missing = np.setdiff1d(np.arange(c), y)
        if missing.size:
            raise ValueError(
                f"no label of class {', '.join(map(str, missing))} among the {y.size} given: "
                f"a fit of n_classes={c} classes needs ridge > 0 then"
            )
    with threads_for(X.shape[1] * (c - 1)):
        # coordinates of the row space: fewer unknowns, and the same minimizer of smallest norm
        scales, basis = _row_space(X)
        reduced = len(scales) < X.shape[1]
        Z = X @ basis.T if reduced else X
        result = _newton(Z, y, c, ridge, tol, max_iter, scales, None if reduced else basis)
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


def softmax(X, theta):
    """``probabilities`` without the checks, in the type of X."""
    p = scores(X, theta)
    p -= p.max(axis=0)
    np.exp(p, out=p)
    p /= p.sum(axis=0)
    return p.T


def scores(X, theta):
    """Logits by class, (c, n): points run fastest, which makes sums over classes quick."""
    out = np.zeros((theta.shape[0] + 1, X.shape[0]), dtype=X.dtype)
    np.matmul(theta.astype(X.dtype, copy=False), X.T, out=out[:-1])
    return out


def _labeled(X, y, theta):
    X = checks.points(X)
    theta = checks.parameters(theta, X.shape[1])
    return X, checks.labels(y, X.shape[0], len(theta) + 1), theta


def _loss_and_residual(X, y, theta):
    """Mean loss, probabilities h (c-1, n), residuals h - e_y (c-1, n), and the smallest margin.

    The margin of a point is its true logit minus the largest other one.
    """
    p = scores(X, theta)
    index = np.arange(y.size)
    own = p[y, index]
    p[y, index] = -np.inf
    margin = own - p.max(axis=0)
    p[y, index] = own
    top = np.maximum(own, own - margin)
    p -= top
    np.exp(p, out=p)
    total = p.sum(axis=0)
    value = np.mean(np.log(total) + (top - own))
    p /= total
    h = p[:-1].copy()
    p[y, index] -= 1
    return value, h, p[:-1], margin.min()


def _row_space(X):
    """Singular values of X (the positive ones) and an orthonormal basis of its rows (r, d)."""
    R = linalg.qr(X, mode="r", check_finite=False)[0][: X.shape[1]]
    lengths = np.linalg.norm(R, axis=0)
    lengths[lengths == 0] = 1.0
    # the rank is counted with columns of length 1: a small column is not a dependent one
    relative = linalg.svdvals(R / lengths)
    rank = int((relative > max(X.shape) * np.finfo(np.float64).eps * relative[0]).sum())
    rank = max(rank, 1)  # X = 0: keep one (zero) direction, theta = 0 is a minimizer
    _, s, basis = linalg.svd(R, full_matrices=False)
    return s[:rank], basis[:rank]


def _newton(X, y, c, ridge, tol, max_iter, scales, basis):
    """Damped Newton from theta = 0. Raises when the labels turn out to be separable."""
    n, d = X.shape
    size = np.sqrt(d * np.mean(X**2, axis=0))  # each column in its own units
    size[size == 0] = 1.0
    theta = np.zeros((c - 1, d))
    value, h, residual, margin = _loss_and_residual(X, y, theta)
    slope = residual @ X / n
    exists = ridge > 0  # is it known that there is a minimizer?
    for iteration in range(max_iter + 1):
        norm = float(np.linalg.norm(slope))
        relative = np.linalg.norm(slope / size)
        if ridge == 0 and margin > 0:
            raise _separable()  # theta itself has positive margins only
        if norm == 0 or (relative <= tol and ridge > 0):
            return Fit(theta, True, iteration, norm)
        if iteration == max_iter:
            break
        step = _newton_step(X, h, slope, ridge, scales, basis, relative)
        if relative <= tol:
            if _largest_range(X, step) < 0.5:  # below 1 proves that a minimizer exists
                return Fit(theta, True, iteration, norm)
            if not exists:
                # the steps of a diverging iteration tend to a separating direction
                if is_separating(X, y, step):
                    raise _separable()
                exists = theta.size <= PROGRAM_LIMIT and _not_separable(X, y, c)
        descent = np.sum(slope * step)
        rounding = 1e-14 * max(1.0, value)
        if exists and relative <= tol and -descent <= rounding:
            break  # the loss cannot get smaller, and the step still proves nothing
        length = 1.0
        while True:
            trial = theta + length * step
            new_value, h, residual, margin = _loss_and_residual(X, y, trial)
            new_value += ridge / 2 * np.sum(trial * trial)
            if new_value <= value + 1e-4 * length * descent + rounding or length < 1e-10:
                break
            length /= 2
        theta, value = trial, new_value
        slope = residual @ X / n + ridge * theta
    if not exists and theta.size <= PROGRAM_LIMIT:
        _not_separable(X, y, c)
    return Fit(theta, False, iteration, norm)


def _not_separable(X, y, c):
    """True, or the error that there is no minimizer."""
    if separating_direction(X, y, c) is not None:
        raise _separable()
    return True


def _largest_range(X, step):
    """Largest change, over the points, of the difference of two logits (the reference has 0)."""
    change = step @ X.T
    return np.max(np.maximum(change.max(axis=0), 0) - np.minimum(change.min(axis=0), 0))


def _newton_step(X, h, slope, ridge, scales, basis, relative):
    """Solve ``(mean H(x_i) + ridge I) step = -slope`` by conjugate gradients, or by Cholesky when
    the system is small, or of medium size and hard for conjugate gradients."""
    (n, d), k = X.shape, h.shape[0]
    if k * d > SMALL_SYSTEM:
        step, solved = _conjugate_gradients(X, h, slope, ridge, scales, basis, relative)
        if solved or k * d > MEDIUM_SYSTEM:
            return step
    H = weighted_information(X, h.T, np.full(n, 1 / n))
    H[np.diag_indices_from(H)] += ridge
    try:
        factor = linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:  # singular to rounding: conjugate gradients descend all the same
        return _conjugate_gradients(X, h, slope, ridge, scales, basis, relative)[0]
    return -linalg.cho_solve(factor, slope.ravel(), check_finite=False).reshape(k, d)


def _conjugate_gradients(X, h, slope, ridge, scales, basis, relative):
    """Newton step by conjugate gradients, and whether it reached its tolerance.

    The preconditioner (mean curvature) (x) (X^T X / n) + ridge I is inverted in its eigenbasis; at
    theta = 0 it is the Hessian. The tolerance shrinks with the gradient, so that Newton's method
    stays faster than linear. One iteration costs 2 n d~ multiply-adds.
    """
    n = X.shape[0]
    A = np.diag(h.mean(axis=1)) - h @ h.T / n
    a, U = linalg.eigh(A)
    spectrum = np.maximum(a, 1e-12 * a[-1])[:, None] * (scales**2 / n) + ridge

    def precondition(R):
        if basis is None:  # X is already in the basis of its singular vectors
            return U @ ((U.T @ R) / spectrum)
        return U @ ((U.T @ R @ basis.T) / spectrum) @ basis

    def product(D):
        Z = h * (D @ X.T)
        Z -= h * Z.sum(axis=0)
        return Z @ X / n + ridge * D

    tolerance = min(0.25, np.sqrt(relative))
    step = np.zeros_like(slope)
    residual = -slope
    direction = z = precondition(residual)
    energy = start = np.sum(residual * z)
    for _ in range(MAX_CG):
        image = product(direction)
        bend = np.sum(direction * image)
        if bend <= 0:  # the Hessian vanishes to rounding along this direction
            return (step if step.any() else z), False
        length = energy / bend
        step = step + length * direction
        residual = residual - length * image
        z = precondition(residual)
        previous, energy = energy, np.sum(residual * z)
        if energy <= tolerance**2 * start:
            return step, True
        direction = z + (energy / previous) * direction
    return step, False


def _separable():
    return ValueError(
        "the labels are separable: some direction of theta never hurts and the loss has no "
        "minimizer (it decreases forever along that direction); use ridge > 0"
    )
