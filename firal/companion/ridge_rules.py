"""Rules that choose the ridge from the labels so far, to be compared with a fixed number.

All look at a grid of ridges r. For n0 labels and b to come, theta is the fit with the total penalty
tau = (n0 + b) r, as the default has it; H is the information of the labeled points there and P the
symmetric penalty, (I - 1 1^T / c) (x) I.

* "evidence": the largest Laplace approximation of the log marginal likelihood under the prior
  N(0, (tau P)^{-1}), ::

      -loss(theta) - (tau / 2) theta^T P theta + (1/2) logdet(tau P) - (1/2) logdet(H + tau P).

* "leave-one-out": the smallest log loss of each label under the fit without it. One Newton step
  stands for the fit. With S_i = (I (x) x_i)^T (H + tau P)^{-1} (I (x) x_i) and
  G_i = diag(p) - p p^T, the logits of point i without its label are
  ``eta_i + S_i (I - G_i S_i)^{-1} (p_i - e_y)``.
* "degrees": effective degrees of freedom ``trace[(H + tau P)^{-1} H]`` nearest to half of the
  labels.
"""

from __future__ import annotations

import numpy as np

from firal.information.fisher import information
from firal.model.fitting import fit
from firal.model.logistic import loss, softmax
from firal.selection.penalized import fit_ridge

GRID = (0.001, 0.003, 0.01, 0.03, 0.1)
RULES = ("evidence", "leave-one-out", "degrees")


def choose_ridge(X, y, n_classes: int, budget: int, rule: str) -> float:
    """The ridge of ``GRID`` that a rule takes for labeled points X (n0, d); the first of equals."""
    return GRID[int(np.argmin([cost(X, y, n_classes, budget, rule, r) for r in GRID]))]


def cost(X, y, n_classes: int, budget: int, rule: str, ridge: float) -> float:
    """What a rule minimizes, at one ridge."""
    theta, A, H, tau = _fit(X, y, n_classes, budget, ridge)
    if rule == "degrees":
        return abs(float(np.trace(np.linalg.solve(A, H))) - len(X) / 2)
    if rule == "evidence":
        size, P = theta.size, _penalty(n_classes, X.shape[1])
        misfit = len(X) * loss(X, y, theta) + tau / 2 * theta.ravel() @ P @ theta.ravel()
        prior = size * np.log(tau) - X.shape[1] * np.log(n_classes)  # logdet(tau P)
        return float(misfit - prior / 2 + np.linalg.slogdet(A)[1] / 2)
    return float(np.mean(left_out_losses(X, y, theta, A)))


def left_out_losses(X, y, theta, A) -> np.ndarray:
    """Log loss (n0,) of every label under the fit without it, by one Newton step.

    A   Hessian of the penalized loss at theta, (d~, d~)
    """
    k, d = theta.shape
    inverse = np.linalg.inv(A).reshape(k, d, k, d)
    S = np.einsum("ia,kalb,ib->ikl", X, inverse, X)
    p = softmax(X, theta)
    G = p[:, :k, None] * (np.eye(k) - p[:, None, :k])
    residual = p[:, :k] - (y[:, None] == np.arange(k))
    change = np.einsum(
        "ikl,il->ik", S, np.linalg.solve(np.eye(k) - G @ S, residual[..., None])[..., 0]
    )
    logits = np.column_stack([X @ theta.T + change, np.zeros(len(X))])
    return np.logaddexp.reduce(logits, axis=1) - logits[np.arange(len(X)), y]


def _fit(X, y, n_classes, budget, ridge):
    """theta, the Hessian A = H + tau P, H, and tau."""
    tau = (len(X) + budget) * ridge
    own = fit_ridge(ridge, len(X), budget)
    theta = fit(X, y, n_classes, own, penalty="symmetric").theta
    H = information(X, theta, weights=np.ones(len(X)))
    return theta, H + tau * _penalty(n_classes, X.shape[1]), H, tau


def _penalty(c, d):
    return np.kron(np.eye(c - 1) - 1 / c, np.eye(d))
