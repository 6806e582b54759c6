"""Does the loss have a minimizer? Separable labels, recognized by linear programs.

A direction V (c, d) has the margins ``m_ik = (v_{y_i} - v_k)^T x_i``, one for each point i and
class k. The labels are *separable* when some V has no negative and at least one positive margin.
Then, and only then, the loss has no minimizer: it keeps decreasing along V. (All margins positive
is complete separation; otherwise one speaks of quasi-complete separation.)

Separable labels also show in Newton's method, at every theta: the Newton step s, with H s = -g for
the gradient g and a positive definite Hessian H, changes the difference of two logits at some point
by 1 or more. Proof. Let p_ik be the current probabilities, and M the mean over i of
``sum_k p_ik m_ik``, which is positive. The gradient along V is -M, so ``s^T H V = M``. On the other
hand ``s^T H V`` is the mean over i of the covariance, under p_i, of the logit changes ``s_k^T x_i``
and of ``-m_ik``. A covariance is at most half the range of its first variable times the mean
deviation of the second, which is at most ``2 sum_k p_ik m_ik``. So M is at most M times the largest
range. Hence a Newton step whose ranges are all below 1 proves that a minimizer exists;
:func:`firal.fit` reports convergence only then. The chapter *The problem: which points are worth a
label?* has both facts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linprog

from firal.common import checks

FEASIBLE = 1e-7  # tolerance of the linear programs: margins above -FEASIBLE count as nonnegative
PROGRAM_LIMIT = 500  # up to this d~ linear programs decide whether there is a minimizer
SHORT_STEP = 0.5  # below 1 is a proof; half of it leaves room for rounding
NO_MINIMIZER = "Labels are separable: the unpenalized loss has no minimizer; use ridge > 0"


def separating_direction(X: ArrayLike, y: ArrayLike, n_classes: int) -> np.ndarray | None:
    """Find a direction of theta along which the loss never increases and somewhere decreases.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Points.
    y : array_like of shape (n,)
        Labels, integers 0..n_classes-1.
    n_classes : int
        Number of classes c, at least 2.

    Returns
    -------
    ndarray of shape (c-1, d) or None
        A direction V with no negative and some positive margin (the reference class has v = 0).
        None if there is none: then the loss without a ridge has a minimizer.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is not finite, or a label is not in 0..n_classes-1.
    RuntimeError
        If the linear program solver fails.

    Notes
    -----
    Solves, for columns scaled to a largest entry of 1::

        maximize    the sum of all margins
        subject to  margins >= 0  and  |entries of V| <= 1.

    The feasible directions form a cone cut by the box. So the maximizer touches the box, or is 0
    and the labels are not separable. Margins enter the program only once they are violated: few
    matter.

    Examples
    --------
    >>> from firal.model.separation import separating_direction
    >>> separating_direction([[1.0], [-3.0]], [0, 1], n_classes=2)
    array([[0.33333333]])
    >>> separating_direction([[1.0], [2.0]], [0, 1], n_classes=2) is None
    True
    """
    X = checks.points(X).astype(np.float64, copy=False)
    c = checks.integer(n_classes, "n_classes", 2)
    y = checks.labels(y, X.shape[0], c)
    n, d = X.shape
    scale = np.abs(X).max(axis=0)
    scale[scale == 0] = 1.0
    X = X / scale
    sign = np.full((c, n), -1.0)
    sign[y, np.arange(n)] = c - 1.0
    objective = (sign[:-1] @ X).ravel() / n
    used = np.zeros((n, c), dtype=bool)
    V = np.sign(objective).reshape(c - 1, d)  # the maximizer of the box alone
    while np.abs(V).max() > 0.5:
        # 1. Margins of the current direction that the program does not yet know to be negative.
        margins = _margins(X, y, V)
        violated = np.where(used, 0.0, margins) < -FEASIBLE
        if not violated.any():
            return V / scale if margins.max() > FEASIBLE else None

        # 2. The worst margin of each of the worst points enters the program.
        points = np.flatnonzero(violated.any(axis=1))
        worst = np.where(violated, margins, 0.0)[points].argmin(axis=1)
        order = np.argsort(margins[points, worst])[: 4 * d * c]
        used[points[order], worst[order]] = True

        # 3. Solve it again.
        V = _maximizer(X, y, c, np.nonzero(used), objective)
    return None


def is_separating(X: np.ndarray, y: np.ndarray, V: np.ndarray) -> bool:
    """Tell whether a direction has no negative and some positive margin, without checks.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Labels, integers 0..c-1.
    V : ndarray of shape (c-1, d)
        Direction of theta.

    Returns
    -------
    bool
        True if all margins are nonnegative, to a rounding of 1e-7 relative to the largest one.

    Examples
    --------
    >>> import numpy as np
    >>> is_separating(np.array([[1.0], [-3.0]]), np.array([0, 1]), np.array([[2.0]]))
    True
    """
    margins = _margins(X, y, V)
    return bool(margins.max() > 0 and margins.min() >= -FEASIBLE * margins.max())


def proves_minimizer(X: np.ndarray, step: np.ndarray) -> bool:
    """Tell whether a Newton step is so short that a minimizer must exist.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    step : ndarray of shape (c-1, d)
        Newton step of the loss without a ridge, at any theta.

    Returns
    -------
    bool
        True if the step changes no difference of two logits, at any point, by ``SHORT_STEP`` or
        more. False proves nothing.

    Examples
    --------
    >>> import numpy as np
    >>> proves_minimizer(np.array([[1.0], [-3.0]]), np.array([[0.1]]))
    True
    """
    change = step @ X.T  # the reference class has 0
    ranges = np.maximum(change.max(axis=0), 0) - np.minimum(change.min(axis=0), 0)
    return bool(np.max(ranges) < SHORT_STEP)


def require_minimizer(
    X: np.ndarray, y: np.ndarray, n_classes: int, step: np.ndarray | None = None
) -> bool:
    """Raise if the labels are found to be separable; tell whether they are known not to be.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Labels, integers 0..n_classes-1.
    n_classes : int
        Number of classes c.
    step : ndarray of shape (c-1, d), optional
        A Newton step near the end of an iteration: if the labels are separable, the steps tend to
        a separating direction.

    Returns
    -------
    bool
        True if a linear program shows that a minimizer exists. False if d~ = d(c-1) is above
        ``PROGRAM_LIMIT``: then it is not known.

    Raises
    ------
    ValueError
        If the labels are separable.

    Examples
    --------
    >>> import numpy as np
    >>> require_minimizer(np.array([[1.0], [2.0]]), np.array([0, 1]), n_classes=2)
    True
    """
    # 1. The step itself may separate the labels.
    if step is not None and is_separating(X, y, step):
        raise ValueError(NO_MINIMIZER)

    # 2. A linear program decides, unless it is too large.
    if X.shape[1] * (n_classes - 1) > PROGRAM_LIMIT:
        return False
    if separating_direction(X, y, n_classes) is not None:
        raise ValueError(NO_MINIMIZER)
    return True


def _margins(X, y, V):
    logits = np.zeros((X.shape[0], len(V) + 1))
    np.matmul(X, V.T, out=logits[:, :-1])
    return logits[np.arange(y.size), y, None] - logits


def _maximizer(X, y, c, pairs, objective):
    """Maximize the objective with the margins of the given (point, class) pairs nonnegative."""
    points, classes = pairs
    m, d = points.size, X.shape[1]
    entries = np.concatenate([X[points], -X[points]])  # (v_k - v_y)^T x <= 0
    labels = np.concatenate([classes, y[points]])
    columns = labels[:, None] * d + np.arange(d)
    rows = np.repeat(np.tile(np.arange(m), 2), d)
    matrix = sparse.csr_array((entries.ravel(), (rows, columns.ravel())), shape=(m, c * d))
    result = linprog(
        -objective,
        A_ub=matrix[:, : (c - 1) * d],  # the reference class has v = 0
        b_ub=np.zeros(m),
        bounds=(-1, 1),
        method="highs",
    )
    if result.status != 0:
        raise RuntimeError(f"the linear program for separation failed: {result.message}")
    return result.x.reshape(c - 1, d)
