"""Slow, dense, literal versions of what ``firal`` computes: what the tests compare with.

Nothing here is clever, and nothing is shared with the package: one loop per sum of the formula.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


def probabilities(x, theta):
    """All c probabilities of one point, by the definition (logits must be moderate)."""
    scores = np.array([np.exp(row @ x) for row in theta] + [1.0])
    return scores / scores.sum()


def loss(X, y, theta):
    return float(np.mean([-np.log(probabilities(x, theta)[k]) for x, k in zip(X, y, strict=True)]))


def hessian(x, theta):
    """kron(diag(h) - h h^T, x x^T), written out entry by entry."""
    h = probabilities(x, theta)[:-1]
    k, d = theta.shape
    out = np.empty((k * d, k * d))
    for r in range(k):
        for a in range(d):
            for s in range(k):
                for b in range(d):
                    g = h[r] * ((r == s) - h[s])
                    out[r * d + a, s * d + b] = g * x[a] * x[b]
    return out


def information(X, theta, weights):
    return sum(w * hessian(x, theta) for w, x in zip(weights, X, strict=True))


def contract(X, theta, M):
    return np.array([np.trace(hessian(x, theta) @ M) for x in X])


def quadratic_forms(X, W, k):
    d = X.shape[1]
    out = np.empty((len(X), k, k))
    for i, x in enumerate(X):
        for r in range(k):
            for s in range(k):
                out[i, r, s] = x @ W[r * d : (r + 1) * d, s * d : (s + 1) * d] @ x
    return out


def numerical_gradient(f, theta, step=1e-5):
    """Central differences of a scalar function of an array."""
    out = np.empty_like(theta)
    for index in np.ndindex(theta.shape):
        shift = np.zeros_like(theta)
        shift[index] = step
        out[index] = (f(theta + shift) - f(theta - shift)) / (2 * step)
    return out


def is_separable(X, y, c):
    """One linear program with every margin of every point: max of their sum over a box."""
    n, d = X.shape
    rows = []
    for i in range(n):
        for k in range(c):
            if k != y[i]:
                row = np.zeros((c, d))
                row[y[i]] += X[i]
                row[k] -= X[i]
                rows.append(row[:-1].ravel())  # the last class has v = 0
    rows = np.array(rows)
    result = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
    assert result.status == 0
    return -result.fun > 1e-6
