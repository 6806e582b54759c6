"""Multinomial logistic regression with the last class as reference: probabilities and loss.

Shapes: X (n, d), theta (c-1, d), labels y (n,) in 0..c-1; class c-1 has logit 0. There is no
hidden intercept: append a column of ones to X if you want one. Vectors of parameters stack the
rows of theta (``theta.ravel()``), so the Hessian of the loss at one point is
``kron(diag(h) - h h^T, x x^T)``, where h holds the probabilities of the first c-1 classes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks


def probabilities(X: ArrayLike, theta: ArrayLike) -> np.ndarray:
    """Compute the probability of every class at every point.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Points.
    theta : array_like of shape (c-1, d)
        Parameters; the last class is the reference and has logit 0.

    Returns
    -------
    ndarray of shape (n, c)
        ``exp(theta_y . x_i) / sum_k exp(theta_k . x_i)`` with ``theta_c = 0``. Rows sum to 1. The
        type is float32 if X is float32, else float64.

    Raises
    ------
    ValueError
        If the shapes disagree or an entry is not finite.

    Notes
    -----
    Every exponent is at most 0, so logits of any finite size neither overflow nor give NaN. The
    chapter *Multinomial logistic regression and its Fisher information* introduces the model.

    Examples
    --------
    >>> import firal
    >>> firal.probabilities([[1.0], [0.0]], [[1000.0], [0.0]])
    array([[1.        , 0.        , 0.        ],
           [0.33333333, 0.33333333, 0.33333333]])
    """
    X = checks.points(X)
    return softmax(X, checks.parameters(theta, X.shape[1]))


def loss(X: ArrayLike, y: ArrayLike, theta: ArrayLike) -> float:
    """Compute the mean negative log-likelihood of labels.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Points.
    y : array_like of shape (n,)
        Labels, integers 0..c-1.
    theta : array_like of shape (c-1, d)
        Parameters.

    Returns
    -------
    float
        The mean over the points of ``-log p(y_i | x_i, theta)``.

    Raises
    ------
    ValueError
        If the shapes disagree, an entry is not finite, or a label is not in 0..c-1.

    Examples
    --------
    >>> import firal
    >>> firal.loss([[1.0]], [1], [[1000.0]])  # exact also where the probability underflows
    1000.0
    """
    X, y, theta = _labeled(X, y, theta)
    return float(loss_and_residual(X, y, theta)[0])


def gradient(X: ArrayLike, y: ArrayLike, theta: ArrayLike) -> np.ndarray:
    """Compute the gradient of :func:`loss` with respect to theta.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Points.
    y : array_like of shape (n,)
        Labels, integers 0..c-1.
    theta : array_like of shape (c-1, d)
        Parameters.

    Returns
    -------
    ndarray of shape (c-1, d)
        ``mean_i (h_i - e_{y_i}) x_i^T``, where h_i holds the probabilities of the first c-1
        classes at x_i and e_k is the k-th unit vector (0 for the last class).

    Raises
    ------
    ValueError
        If the shapes disagree, an entry is not finite, or a label is not in 0..c-1.

    Examples
    --------
    >>> import firal
    >>> firal.gradient([[2.0], [2.0]], [0, 2], [[0.0], [0.0]])
    array([[-0.33333333],
           [ 0.66666667]])
    """
    X, y, theta = _labeled(X, y, theta)
    residual = loss_and_residual(X, y, theta)[2]
    return residual @ X / X.shape[0]


def hessian(x: ArrayLike, theta: ArrayLike) -> np.ndarray:
    """Compute the Hessian of the loss at one point, for teaching and tests.

    Parameters
    ----------
    x : array_like of shape (d,)
        One point.
    theta : array_like of shape (c-1, d)
        Parameters.

    Returns
    -------
    ndarray of shape (d*(c-1), d*(c-1))
        ``kron(diag(h) - h h^T, x x^T)``, where h holds the probabilities of the first c-1 classes.

    Raises
    ------
    ValueError
        If x is not one point, the shapes disagree or an entry is not finite.

    Notes
    -----
    The Hessian does not depend on the label. It is the Fisher information of one label at x, as
    the chapter *Multinomial logistic regression and its Fisher information* proves. A weighted sum
    over many points is :func:`firal.information`, which never forms the single matrices.

    Examples
    --------
    >>> import firal
    >>> firal.hessian([2.0], [[0.0]])
    array([[1.]])
    """
    x = checks.floats(x, "x")
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"x must be one point of shape (d,), got shape {x.shape}")
    theta = checks.parameters(theta, x.size)
    h = softmax(x[None, :], theta)[0, :-1]
    return np.kron(np.diag(h) - np.outer(h, h), np.outer(x, x))


def softmax(X: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Compute :func:`probabilities` without the checks, in the type of X.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    theta : ndarray of shape (c-1, d)
        Parameters.

    Returns
    -------
    ndarray of shape (n, c)
        Probabilities; the result is a transposed view, points run fastest in memory.

    Examples
    --------
    >>> import numpy as np
    >>> softmax(np.ones((1, 1)), np.log([[3.0]]))
    array([[0.75, 0.25]])
    """
    p = logits(X, theta)
    p -= p.max(axis=0)
    np.exp(p, out=p)
    p /= p.sum(axis=0)
    return p.T


def logits(X: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Compute the logits ``theta_k . x_i`` of all classes, without checks, in the type of X.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    theta : ndarray of shape (c-1, d)
        Parameters.

    Returns
    -------
    ndarray of shape (c, n)
        One row per class; the last row is 0. Points run fastest in memory, which makes sums over
        classes quick.

    Examples
    --------
    >>> import numpy as np
    >>> logits(np.array([[1.0], [2.0]]), np.array([[3.0]]))
    array([[3., 6.],
           [0., 0.]])
    """
    out = np.zeros((theta.shape[0] + 1, X.shape[0]), dtype=X.dtype)
    np.matmul(theta.astype(X.dtype, copy=False), X.T, out=out[:-1])
    return out


def loss_and_residual(
    X: np.ndarray, y: np.ndarray, theta: np.ndarray
) -> tuple[np.floating, np.ndarray, np.ndarray, np.floating]:
    """Compute everything that one step of a fit needs to know about the loss, without checks.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Labels, integers 0..c-1.
    theta : ndarray of shape (c-1, d)
        Parameters.

    Returns
    -------
    value : float
        Mean loss.
    h : ndarray of shape (c-1, n)
        Probabilities of all classes but the last.
    residual : ndarray of shape (c-1, n)
        ``h - e_y``; the gradient of the mean loss is ``residual @ X / n``.
    margin : float
        The smallest margin of a point: its own logit minus the largest other one.

    Examples
    --------
    >>> import numpy as np
    >>> value, h, residual, margin = loss_and_residual(np.ones((1, 1)), np.array([0]), np.eye(1))
    >>> h - 1 == residual, float(margin)
    (array([[ True]]), 1.0)
    """
    p = logits(X, theta)
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


def _labeled(X, y, theta):
    X = checks.points(X)
    theta = checks.parameters(theta, X.shape[1])
    return X, checks.labels(y, X.shape[0], len(theta) + 1), theta
