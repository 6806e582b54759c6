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
the score of FIRAL's rounding at eta = 1, and the same code finds the largest.

**No inverse per step.** H(x) = U U^T has rank k, so W1 and W2 change by matrices of rank k and 2k
when a point comes or goes. Each such change can lose digits; when many may be lost, W1 and W2 are
computed afresh.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from firal.common import checks
from firal.common.threads import threads_for
from firal.model.hessians import curvature_root, quadratic_forms, weighted_information
from firal.selection.ftrl import check_budget, inverse
from firal.selection.problem import factor_of, from_lower, prepare, warn_if_all_tie
from firal.selection.scoring import TIE, all_scores, best_point

LARGEST_LOSS = 1e5  # so many times the rounding error may grow before W1 and W2 are made afresh


def bait(pool, labeled, theta, budget, rng=None, *, prior=1.0, watch=None):
    """Pick ``budget`` distinct points of the pool by forward and backward greedy steps.

    pool (m, d), labeled (n0, d) or None, theta (c-1, d), prior > 0. Deterministic: ``rng`` is
    not used. Scores equal to rounding are ties: the lowest row is added first and removed last.
    ``watch(i, decrease)``, if given, is called at every forward step with the added row and the
    (m,) decreases of F that all points would bring.
    Returns (budget,) rows of the pool, in the order they were added.
    Cost per forward step: m d~^2 / 2 multiply-adds for the pool and m c^3 / 2 for the small
    systems, both in float32, and about 3 c d~^2 for W1 and W2; a backward step has the last, and
    b d~^2 for the picked points.
    """
    problem = prepare(pool, labeled, theta, budget)
    prior = checks.number(prior, "prior", 0)
    checks.function(watch, "watch")
    check_budget(problem, replace=False)
    warn_if_all_tie(problem, labeled, theta)
    with threads_for(problem.size):
        return greedy(problem, problem.labeled + prior * problem.mean, watch)


def greedy(problem, M, watch=None):
    """Forward and backward steps from any positive definite M in place of L + prior H_p."""
    weights = Weights(problem, M)
    return _backward(weights, _forward(weights, watch))


class Weights:
    """W1 = M^{-1} and W2 = M^{-1} H_p M^{-1}, kept current while points are added and removed."""

    def __init__(self, problem, M):
        self.problem, self.M, self.target = problem, M, factor_of(problem.mean)
        self.changes = []  # (row, sign) since M
        self.compute()

    def compute(self):
        """W1 and W2 from M, at 2 d~^3 multiply-adds."""
        X, h = self.problem.X, self.problem.h
        if self.changes:
            rows, signs = map(list, zip(*self.changes, strict=True))
            self.M = self.M + weighted_information(X[rows], h[rows], np.array(signs, float))
            self.changes = []
        self.W1 = inverse(self.M.copy())
        self.W2 = from_lower(blas.dsyrk(1.0, self.W1 @ self.target, lower=1))
        self.start = np.vdot(self.W2, self.problem.mean)
        self.growth = 1.0  # largest factor by which one change lowered or raised a direction of W1

    def change(self, i, sign):
        """M becomes M + sign H(x_i); sign 1 or -1. Cost: 3 k d~^2, or 2 d~^3 if afresh.

        H(x_i) = U U^T with U = R (x) x of k columns. With V = W1 U, I + sign U^T V = E diag(v) E^T
        and S = E diag(v)^{-1/2}, let A = V S and B = sign W2 U S - A (S^T U^T W2 U S) / 2. Then W1
        loses sign A A^T, and W2 loses A B^T + B A^T. The error relative to the scores is about
        that of one rounding, times the largest v or 1/v, times what the size trace(W2 H_p) of W2
        has lost since W2 was made.
        """
        x, h = self.problem.X[i], self.problem.h[i]
        k, d = len(h), len(x)
        R = curvature_root(h, self.problem.reference[i])
        self.changes.append((i, sign))
        V, V2 = ((W.reshape(-1, d) @ x).reshape(-1, k) @ R for W in (self.W1, self.W2))
        inner, inner2 = (R.T @ (x @ Z.reshape(k, d, k)) for Z in (V, V2))
        v, E = np.linalg.eigh(np.eye(k) + sign * inner)
        if v[0] * LARGEST_LOSS <= 1 or v[-1] >= LARGEST_LOSS:
            return self.compute()
        self.growth = max(self.growth, v[-1], 1 / v[0])
        S = E / np.sqrt(v)
        A = V @ S
        B = sign * (V2 @ S) - A @ (S.T @ inner2 @ S) / 2
        # .T: the order BLAS wants; only the lower half is computed
        self.W1 = from_lower(blas.dsyrk(-sign, A, 1.0, self.W1.T, lower=1, overwrite_c=1))
        self.W2 = from_lower(blas.dsyr2k(-1.0, A, B, 1.0, self.W2.T, lower=1, overwrite_c=1))
        size = min(self.start, np.vdot(self.W2, self.problem.mean))
        if not self.growth * self.start < LARGEST_LOSS * size:
            self.compute()


def _forward(weights, watch=None):
    """Rows of the first 2b picks (fewer if the pool is smaller); ``weights`` follow them."""
    problem, memory = weights.problem, {}
    allowed = np.ones(len(problem.X), dtype=bool)
    picked = []
    for _ in range(min(2 * problem.budget, len(allowed))):
        i, _ = best_point(problem, weights.W1, weights.W2, allowed, memory)
        if watch is not None:
            watch(i, all_scores(problem, weights.W1, weights.W2))
        picked.append(i)
        allowed[i] = False
        weights.change(i, 1)
    return picked


def _backward(weights, picked):
    """Remove points until ``budget`` are left."""
    weights.compute()  # what a removal costs is more sensitive to W1 than what an addition gains
    picked = list(picked)
    while len(picked) > weights.problem.budget:
        loss = _removal_loss(weights, picked)
        ties = np.flatnonzero(loss <= loss.min() * (1 + TIE))
        i = max(picked[t] for t in ties)
        picked.remove(i)
        weights.change(i, -1)
    return np.array(picked)


def _removal_loss(weights, rows):
    """``trace[(I - G Q1)^{-1} G Q2]`` for every row, by a root R of G: G = R R^T."""
    X, h = weights.problem.X[rows], weights.problem.h[rows]
    k, R = h.shape[1], curvature_root(h, weights.problem.reference[rows])
    Q1, Q2 = (np.swapaxes(R, 1, 2) @ quadratic_forms(X, W, k) @ R for W in (weights.W1, weights.W2))
    return np.trace(np.linalg.solve(np.eye(k) - Q1, Q2), axis1=1, axis2=2)
