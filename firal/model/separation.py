"""Does the loss have a minimizer? Separable labels, recognized by linear programs.

A direction V (c, d) has the margins ``m_ik = (v_{y_i} - v_k)^T x_i``, one for each point i and
class k. The labels are *separable* when some V has no negative and at least one positive margin.
Then, and only then, the loss has no minimizer: it keeps decreasing along V. (All margins positive
is complete separation; otherwise one speaks of quasi-complete separation.)

Separable labels also show in Newton's method, at every theta: the Newton step s, with H s = -g for
the gradient g and a positive definite Hessian H, changes the difference of two logits at some
point by 1 or more. Proof. Let E_i be the mean over the classes with the current probabilities
p_ik, and M the mean over i of ``sum_k p_ik m_ik``, which is positive. The gradient along V is -M,
so ``s^T H V = M``. On the other hand ``s^T H V`` is the mean over i of the covariance, under p_i,
of the logit changes ``s_k^T x_i`` and of ``-m_ik``. A covariance is at most half the range of its
first variable times the mean deviation of the second, which is at most ``2 sum_k p_ik m_ik``. So M
is at most M times the largest range. Hence a Newton step whose ranges are all below 1 proves that
a minimizer exists; ``firal.fit`` reports convergence only then.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from firal.common import checks

FEASIBLE = 1e-7  # tolerance of the linear programs: margins above -FEASIBLE count as nonnegative


def separating_direction(X, y, n_classes):
    """A direction V (c-1, d) with no negative and some positive margin, or None if there is none.

    X (n, d), y (n,) labels in 0..n_classes-1; the reference class has v = 0. Solves

        max  sum of all margins
        subject to  margins >= 0  and  |entries of V| <= 1

    for columns scaled to a largest entry of 1. The feasible directions form a cone cut by the box,
    so the maximizer touches the box, or is 0 and the labels are not separable. Margins enter the
    program only once they are violated: few matter.
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
        margins = _margins(X, y, V)
        violated = np.where(used, 0.0, margins) < -FEASIBLE
        if not violated.any():
            return V / scale if margins.max() > FEASIBLE else None
        points = np.flatnonzero(violated.any(axis=1))
        worst = np.where(violated, margins, 0.0)[points].argmin(axis=1)
        order = np.argsort(margins[points, worst])[: 4 * d * c]
        used[points[order], worst[order]] = True
        V = _maximizer(X, y, c, np.nonzero(used), objective)
    return None


def is_separating(X, y, V):
    """Whether V (c-1, d) has no negative and some positive margin, to a relative rounding of 1e-7.

    No checks of the input.
    """
    margins = _margins(X, y, V)
    return bool(margins.max() > 0 and margins.min() >= -FEASIBLE * margins.max())


def _margins(X, y, V):
    scores = np.zeros((X.shape[0], len(V) + 1))
    np.matmul(X, V.T, out=scores[:, :-1])
    return scores[np.arange(y.size), y, None] - scores


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
