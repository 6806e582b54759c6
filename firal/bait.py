"""BAIT: the Fisher information ratio, minimized by greedy steps (Ash et al., 2021).

With H(x) the information of a point at theta, H_p its mean over the pool and L the sum over the
labeled points, a set S of pool points has the value

    F(S) = trace(M(S)^{-1} H_p),    M(S) = L + prior H_p + sum_{i in S} H(x_i).

*Forward*: 2b times, add the point that makes F smallest. *Backward*: b times, remove the point
whose loss hurts least. The objective is FIRAL's, but for the term ``prior H_p``: greedy steps
need an invertible matrix before there are enough points for one. Ash et al. use a multiple of the
identity there, which depends on the scale of the features; ``prior`` average pool points do not.

**No matrix per point.** H(x) = G (x) x x^T with G = diag(h) - h h^T of size k = c-1. With
W1 = M^{-1} and W2 = M^{-1} H_p M^{-1}, a point enters through Q1 = [x^T W1_kl x] and
Q2 = [x^T W2_kl x] only: by Woodbury's formula, adding it lowers F by
trace[(I + G Q1)^{-1} G Q2], and removing it raises F by trace[(I - G Q1)^{-1} G Q2]. The first is
the score of FIRAL's rounding at eta = 1, and the same code computes it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from firal import checks
from firal.kernels import curvature, quadratic_forms
from firal.problem import factor_of, prepare
from firal.sparsify import TIE, _inverse, _scores, _symmetric, check_budget
from firal.threads import threads_for


def bait(pool, labeled, theta, budget, rng=None, *, prior=1.0):
    """Pick ``budget`` distinct points of the pool by forward and backward greedy steps.

    pool (m, d), labeled (n0, d) or None, theta (c-1, d), prior > 0. Deterministic: ``rng`` is
    not used. Scores equal to rounding are ties: the lowest row is added first and removed last.
    Returns (budget,) rows of the pool, in the order they were added.
    Cost per forward step: m d~^2 / 2 multiply-adds for the pool, m c^3 / 2 for the small systems
    and about 3 d~^3 for W1 and W2; a backward step only has the last.
    """
    problem = prepare(pool, labeled, theta, budget)
    prior = checks.number(prior, "prior", 0)
    check_budget(problem, replace=False)
    with threads_for(problem.size):
        picked, M = _forward(problem, prior)
        return _backward(problem, M, picked)


def _forward(problem, prior):
    """Rows of the first 2b picks (fewer if the pool is smaller), and M of them."""
    M = problem.labeled + prior * problem.mean
    target = factor_of(problem.mean)
    allowed = np.ones(len(problem.X), dtype=bool)
    picked = []
    for _ in range(min(2 * problem.budget, len(allowed))):
        scores = _scores(problem, *_weights(M, target))
        best = scores[allowed].max()
        i = int(np.flatnonzero(allowed & (scores >= best * (1 - TIE)))[0])
        picked.append(i)
        allowed[i] = False
        M = M + _information(problem, i)
    return picked, M


def _backward(problem, M, picked):
    """Remove points until ``budget`` are left."""
    target = factor_of(problem.mean)
    picked = list(picked)
    while len(picked) > problem.budget:
        loss = _removal_loss(problem, picked, *_weights(M, target))
        ties = np.flatnonzero(loss <= loss.min() * (1 + TIE))
        i = max(picked[t] for t in ties)
        picked.remove(i)
        M = M - _information(problem, i)
    return np.array(picked)


def _removal_loss(problem, rows, W1, W2):
    """``trace[(I - G Q1)^{-1} G Q2]`` for every row, by a root R of G: G = R R^T."""
    X, h = problem.X[rows], problem.h[rows]
    s = np.sqrt(h)
    tail = s / (1 + np.sqrt(problem.reference[rows]))[:, None]
    R = -h[:, :, None] * tail[:, None, :]
    diagonal = np.arange(h.shape[1])
    R[:, diagonal, diagonal] += s
    Q1, Q2 = (np.swapaxes(R, 1, 2) @ quadratic_forms(X, W, h.shape[1]) @ R for W in (W1, W2))
    return np.trace(np.linalg.solve(np.eye(h.shape[1]) - Q1, Q2), axis1=1, axis2=2)


def _weights(M, target):
    """W1 = M^{-1} and W2 = M^{-1} F F^T M^{-1} with F = target."""
    W1 = _inverse(M.copy())  # it may overwrite its argument
    half = W1 @ target
    return W1, _symmetric(blas.dsyrk(1.0, half, lower=1))


def _information(problem, i):
    return np.kron(curvature(problem.h[i : i + 1])[0], np.outer(problem.X[i], problem.X[i]))
