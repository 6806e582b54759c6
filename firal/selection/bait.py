"""BAIT: the Fisher information ratio, minimized by greedy steps (Ash et al., 2021).

With H(x) the information of a point at theta, H_p its mean over the pool and L the sum over the
labeled points, a set S of pool points has the value ::

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
when a point comes or goes. Each such change can lose digits. When many may be lost, W1 and W2 are
computed from M again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas

from firal.common import checks
from firal.common.linalg import factor_of, from_lower, invert_in_place
from firal.common.threads import one_thread
from firal.model.hessians import curvature_root, quadratic_forms, weighted_information
from firal.selection.block_diagonal import BlockProblem
from firal.selection.block_greedy import block_greedy
from firal.selection.greedy import greedy
from firal.selection.problem import Problem
from firal.selection.scoring import TIE, PoolScorer
from firal.selection.structure import prepare
from firal.selection.ties import warn_if_all_tie

LARGEST_LOSS = 1e5  # the rounding error may grow by this factor before W1 and W2 are recomputed


def bait(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    rng: np.random.Generator | None = None,
    *,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    structure: str = "auto",
    prior: float | None = None,
    watch: Callable[[int, np.ndarray], None] | None = None,
) -> np.ndarray:
    """Pick points that make the Fisher information ratio small, by greedy steps.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    theta : array_like of shape (c-1, d)
        Parameters; the last class is the reference.
    budget : int
        Number of points to pick, at most m.
    rng : numpy.random.Generator, optional
        Not used: BAIT is deterministic. All strategies have this argument.
    ridge : float, default 0.0
        Penalty of the fit that the labels are for: the information of n0 + budget labels has
        ``(n0 + budget) * ridge`` times the penalty added, in the given coordinates. 0 is the paper.
    probabilities : tuple of array_like, optional
        Class probabilities of the pool (m, c) and of the labeled points (n0, c) from any
        classifier; theta must be None then.
    structure : {"full", "block-diagonal", "auto"}
        "block-diagonal" keeps one block of size d per class of all information
        (:mod:`firal.selection.block_diagonal`): quick for many classes. "auto" is full where that
        is feasible, and says so in a warning where it is not (:mod:`firal.selection.structure`).
    prior : float, optional
        How many average pool points count as known. By default 1 without a ridge, and 0 with one.
        0 needs a ridge.
    watch : callable, optional
        Called at every forward step as ``watch(i, decrease)`` with the added row and the decreases
        (m,) of the ratio that all points would bring.

    Returns
    -------
    np.ndarray of shape (budget,)
        Distinct rows of the pool, in the order they were added.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, or the budget exceeds the pool.

    Notes
    -----
    Scores equal to rounding are ties: the lowest row is added first and removed last. Cost per
    forward step: m d~^2 / 2 multiply-adds for the pool and m c^3 / 2 for the small systems, both in
    float32, and about 3 c d~^2 for W1 and W2. A backward step has the last, and b d~^2 for the
    picked points. With blocks a step costs 2 m c d and 2 c d^2. The chapter *Real data* compares
    it with FIRAL.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> rng = np.random.default_rng(0)
    >>> pool, theta = rng.normal(size=(100, 3)), rng.normal(size=(2, 3))
    >>> len(set(firal.bait(pool, None, theta, budget=5)))
    5
    """
    ridge = checks.number(ridge, "ridge", 0, strict=False)
    if prior is None:
        prior = 0.0 if ridge else 1.0
    prior = checks.number(prior, "prior", 0, strict=not ridge)
    checks.function(watch, "watch")
    problem, _ = prepare(
        pool,
        labeled,
        theta,
        budget,
        structure=structure,
        task="bait",
        ridge=ridge,
        probabilities=probabilities,
        if_too_large="BAIT picks distinct points",
    )
    with one_thread():
        start = problem.labeled_information + prior * problem.mean_information
        if isinstance(problem, BlockProblem):
            return block_greedy(problem, start, watch)[1]
        warn_if_all_tie(problem, pool, labeled, ridge)
        return forward_backward(problem, start, watch)


def forward_backward(
    problem: Problem, M: np.ndarray, watch: Callable[[int, np.ndarray], None] | None = None
) -> np.ndarray:
    """Run BAIT's greedy steps from any positive definite matrix in place of L + prior H_p.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    M : np.ndarray of shape (d~, d~)
        What counts as known before the first step.
    watch : callable, optional
        As in ``bait``.

    Returns
    -------
    np.ndarray of shape (budget,)
        Distinct rows of the pool, in the order they were added.
    """
    return greedy_picks(problem, M, watch)[1]


def greedy_picks(
    problem: Problem,
    M: np.ndarray,
    watch: Callable[[int, np.ndarray], None] | None = None,
    scorer: PoolScorer | None = None,
    report: Callable[[int, int], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Picks of the forward steps alone, and of forward and backward steps.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    M : np.ndarray of shape (d~, d~)
        What counts as known before the first step.
    watch : callable, optional
        As in ``bait``.
    scorer : PoolScorer, optional
        Of this problem, if there is one already.
    report : callable, optional
        Called after every forward step as ``report(done, total)``.

    Returns
    -------
    tuple of np.ndarray
        The first ``budget`` points that were added, and those of all that no step removed.
    """
    rule = _BaitRule(problem, M)
    added = _forward(rule, watch, scorer, report)
    return np.array(added[: problem.budget]), _backward(rule, added)


def _forward(rule, watch=None, scorer=None, report=None):
    """Rows of the first 2b picks (fewer if the pool is smaller); ``rule`` follows them."""
    problem = rule.problem
    steps = min(2 * problem.budget, len(problem.X))
    return greedy(rule, scorer or PoolScorer(problem), steps, watch=watch, report=report)


def _backward(rule, picked):
    """Remove points until ``budget`` are left."""
    rule.compute()  # what a removal costs is more sensitive to W1 than what an addition gains
    picked = list(picked)
    while len(picked) > rule.problem.budget:
        # 1. What F would lose with every picked point.
        loss = np.maximum(_removal_loss(rule, picked), 0)  # rounding may leave it below
        # 2. Remove the point with the smallest loss, the highest row of equals.
        ties = np.flatnonzero(loss <= loss.min() * (1 + TIE))
        i = max(picked[t] for t in ties)
        picked.remove(i)
        rule.change(i, -1)
    return np.array(picked)


def _removal_loss(rule, rows):
    """``trace[(I - G Q1)^{-1} G Q2]`` for every row, by a root R of G: G = R R^T."""
    X, h = rule.problem.X[rows], rule.problem.h[rows]
    k, R = h.shape[1], curvature_root(h, rule.problem.reference[rows])
    Q1, Q2 = (np.swapaxes(R, 1, 2) @ quadratic_forms(X, W, k) @ R for W in rule.weights())
    return np.trace(np.linalg.solve(np.eye(k) - Q1, Q2), axis1=1, axis2=2)


class _BaitRule:
    """W1 = M^{-1} and W2 = M^{-1} H_p M^{-1}, kept current while points are added and removed."""

    ratio = np.inf

    def __init__(self, problem, M):
        self.problem, self.M, self.target = problem, M, factor_of(problem.mean_information)
        self.changes = []  # (row, sign) since M
        self.compute()

    def weights(self):
        return self.W1, self.W2

    def add(self, i, score):
        self.change(i, 1)

    def compute(self):
        """W1 and W2 from M, at 2 d~^3 multiply-adds."""
        X, h = self.problem.X, self.problem.h
        if self.changes:
            rows, signs = map(list, zip(*self.changes, strict=True))
            self.M = self.M + weighted_information(X[rows], h[rows], np.array(signs, float))
            self.changes = []
        self.W1 = invert_in_place(self.M.copy(), "the information of known and picked points")
        self.W2 = from_lower(blas.dsyrk(1.0, self.W1 @ self.target, lower=1))
        self.start = np.vdot(self.W2, self.problem.mean_information)
        self.growth = 1.0  # largest factor by which one change lowered or raised a direction of W1

    def change(self, i, sign):
        """M becomes M + sign H(x_i); sign 1 or -1. Cost: 3 k d~^2, or 2 d~^3 if recomputed.

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
        size = min(self.start, np.vdot(self.W2, self.problem.mean_information))
        if not self.growth * self.start < LARGEST_LOSS * size:
            self.compute()
