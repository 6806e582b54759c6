"""The penalized design with block-diagonal information: many classes at the price of few.

With one parameter vector per class (no reference class) the information of a point is
(diag(p) - p p^T) (x) x x^T. Its diagonal blocks are g_k x x^T with g_k = p_k (1 - p_k), one of size
d x d per class, and so all information is kept as an array (c, d, d) instead of a matrix of order
d (c-1). The blocks of the symmetric penalty are n ridge (1 - 1/c) I. The problem is ::

    f(S) = sum_k trace[(L_k + sum_{i in S} g_ik x_i x_i^T + n ridge (1 - 1/c) I)^{-1} H_pk].

The authors of FIRAL use the same blocks in the rounding of their follow-up (Approx-FIRAL, 2024).

**Greedy steps are cheap.** A point changes every block by a matrix of rank one. With
W_k = M_k^{-1}, B_k = W_k H_pk W_k, q1_ik = x_i^T W_k x_i and q2_ik = x_i^T B_k x_i, adding point i
lowers f by sum_k g_ik q2_ik / (1 + g_ik q1_ik). When point j comes (sign 1) or goes (sign -1), let
v = W_k x_j, u = B_k x_j and s = sign g_jk / (1 + sign g_jk x_j^T v). Then W_k loses s v v^T, B_k
loses s (v u^T + u v^T) - s^2 (x_j^T u) v v^T, and ::

    q1_i -= s (x_i^T v)^2,    q2_i -= 2 s (x_i^T v)(x_i^T u) - s^2 (x_j^T u) (x_i^T v)^2,

so a step costs 2 m c d multiply-adds for the pool, one product of X with 2 c vectors. Columns that
are indicators of groups, as those of clusters, cost next to nothing (``block_rows``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from firal.common import checks
from firal.common.rounds import same_columns
from firal.selection.block_rows import GroupedRows, blocks, grouped, product, quadratic
from firal.selection.coordinates import require_strong_ridge
from firal.selection.ftrl import Selection
from firal.selection.probabilities import class_probabilities
from firal.selection.scoring import TIE

MOST_BYTES = 8 * 2**30  # of the blocks; more is refused


class BlockProblem(NamedTuple):
    """The prepared data of one selection with block-diagonal information.

    Attributes
    ----------
    X : np.ndarray or GroupedRows of shape (m, d)
        Pool.
    g : np.ndarray of shape (m, c)
        p (1 - p) of every point and class.
    labeled_information : np.ndarray of shape (c, d, d)
        Blocks of the labeled points and of the penalty.
    mean_information : np.ndarray of shape (c, d, d)
        Blocks of H_p.
    budget : int
        Number of points to pick.
    """

    X: np.ndarray | GroupedRows
    g: np.ndarray
    labeled_information: np.ndarray
    mean_information: np.ndarray
    budget: int

    @property
    def n_points(self) -> int:
        """Number of points m of the pool."""
        return len(self.X)

    def restricted(self, rows: np.ndarray) -> BlockProblem:
        """The same problem with fewer candidates; H_p stays that of the pool.

        Parameters
        ----------
        rows : np.ndarray of int
            Rows of the pool.

        Returns
        -------
        BlockProblem
            Of these rows.
        """
        return self._replace(X=self.X[rows], g=self.g[rows])

    def total_information(self, z: np.ndarray) -> np.ndarray:
        """Sigma(z): labeled points, penalty, and the pool with weights z.

        Parameters
        ----------
        z : np.ndarray of shape (m,)
            Weights.

        Returns
        -------
        np.ndarray of shape (c, d, d)
            Blocks. Cost: c d^2 multiply-adds per point with weight.
        """
        held = z > 0
        return self.labeled_information + blocks(self.X[held], self.g[held] * z[held, None])

    def evaluator(self) -> Callable[[np.ndarray], tuple[float, np.ndarray | None]]:
        """Function from Sigma to f and M = Sigma^{-1} H_p Sigma^{-1}.

        Returns
        -------
        callable
            Cost of a call: about 3 c d^3 multiply-adds.
        """

        def evaluate(Sigma):
            inverse = np.linalg.inv(Sigma)
            half = inverse @ self.mean_information
            return float(np.trace(half, axis1=1, axis2=2).sum()), half @ inverse

        return evaluate

    def contract(self, M: np.ndarray) -> np.ndarray:
        """<H(x_i), M> of every point.

        Parameters
        ----------
        M : np.ndarray of shape (c, d, d)
            Blocks.

        Returns
        -------
        np.ndarray of shape (m,)
            Cost: m c d^2 multiply-adds.
        """
        return np.einsum("ik,ik->i", self.g, quadratic(self.X, M))


def prepare_blocks(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    *,
    ridge: float,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
) -> BlockProblem:
    """Check the data of a selection, and compute its blocks.

    Parameters
    ----------
    pool, labeled, theta, budget, ridge, probabilities
        As in :func:`firal.selection.problem.prepare_problem`; the ridge must be positive.

    Returns
    -------
    BlockProblem
        The prepared data.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the budget is too large, or the blocks would take
        too much memory.

    Notes
    -----
    Cost: m c d^2 multiply-adds; memory m (d + c) + 4 c d^2.
    """
    ridge = checks.number(ridge, "ridge", 0)
    same_columns(pool, labeled)
    pool = checks.points(pool, "pool").astype(np.float64, copy=False)
    m, d = pool.shape
    budget = checks.integer(budget, "budget", 1, m)
    if labeled is None or np.size(labeled) == 0:
        labeled = np.empty((0, d))
    else:
        labeled = checks.points(labeled, "labeled", d).astype(np.float64, copy=False)
    p, p0 = class_probabilities(pool, labeled, theta, probabilities)
    require_strong_ridge(pool, (len(labeled) + budget) * ridge)
    g, known = p * (1 - p), known_blocks(labeled, p0, (len(labeled) + budget) * ridge)
    X = grouped(pool)
    return BlockProblem(X, g, known, blocks(X, g) / m, budget)


def known_blocks(labeled: np.ndarray, p0: np.ndarray, strength: float) -> np.ndarray:
    """Blocks of the labeled points and of the penalty.

    Parameters
    ----------
    labeled : np.ndarray of shape (n0, d)
        Labeled points; may be empty.
    p0 : np.ndarray of shape (n0, c)
        Their class probabilities.
    strength : float
        Number of labels times the ridge.

    Returns
    -------
    np.ndarray of shape (c, d, d)
        The blocks.

    Raises
    ------
    ValueError
        If they would take too much memory.
    """
    d, c = labeled.shape[1], p0.shape[1]
    needed = 4 * 8 * c * d * d
    if needed > MOST_BYTES:
        raise ValueError(
            f"{c} blocks of {d} x {d} must fit in {MOST_BYTES / 2**30:.0f} GiB, got "
            f"{needed / 2**30:.0f} GiB: reduce the features"
        )
    known = blocks(labeled, p0 * (1 - p0))
    known[:, np.arange(d), np.arange(d)] += strength * (1 - 1 / c)
    return known


def block_greedy(
    problem: BlockProblem,
    watch: Callable[[int, np.ndarray], None] | None = None,
    report: Callable[[int, int], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Picks of the forward steps alone, and of forward and backward steps.

    Parameters
    ----------
    problem : BlockProblem
        The prepared data.
    watch : callable, optional
        Called at every forward step as ``watch(i, decrease)``, as in ``bait``.
    report : callable, optional
        Called after every forward step as ``report(done, total)``.

    Returns
    -------
    tuple of np.ndarray
        The first ``budget`` points that were added, and those left of ``2 budget`` when the others
        were removed again, each time the one whose loss hurts least. Of equals, the lowest row is
        added first, and the one added last is removed first.

    Notes
    -----
    Cost of step t: 2 m c d multiply-adds for the pool, at most 2 c d^2 for the blocks, and 5 t c d.
    Memory: 2 c d (d + 2 budget).
    """
    m, b = len(problem.X), problem.budget
    steps, added = min(2 * b, m), []
    state = _Greedy(problem, steps)
    allowed = np.ones(m, dtype=bool)
    # 1. Forward: add the point that lowers f most.
    for step in range(steps):
        decrease = state.change_of_f(1)
        scores = np.where(allowed, decrease, -np.inf)
        i = int(np.flatnonzero(scores >= scores.max() * (1 - TIE))[0])
        if watch is not None:
            watch(i, decrease)
        added.append(i)
        allowed[i] = False
        state.move(i, 1)
        if report is not None:
            report(step + 1, steps)
    # 2. Backward, on the added points: remove the one that raises f least, the latest of equals.
    chosen = np.zeros(m)
    chosen[added] = 1
    known = problem.total_information(chosen)
    state = _Greedy(problem.restricted(added)._replace(labeled_information=known), steps - b)
    left = list(range(steps))
    while len(left) > b:
        loss = np.maximum(state.change_of_f(-1)[left], 0)  # rounding may leave it below
        t = left[np.flatnonzero(loss <= loss.min() * (1 + TIE))[-1]]
        left.remove(t)
        state.move(t, -1)
    return np.array(added[:b]), np.array(added)[left]


def picked(problem: BlockProblem, rows: np.ndarray, Sigma: np.ndarray) -> Selection:
    """What is known about some picked points.

    Parameters
    ----------
    problem : BlockProblem
        The prepared data.
    rows : np.ndarray of int
        The picked rows.
    Sigma : np.ndarray of shape (c, d, d)
        Information of the relaxed weights.

    Returns
    -------
    Selection
        With ``objective`` and ``lambda_min`` of the block-diagonal problem; ``eta`` is None.
    """
    weights = np.zeros(len(problem.X))
    weights[rows] = 1
    S = problem.total_information(weights)
    smallest = min(
        linalg.eigh(a, b, eigvals_only=True, subset_by_index=[0, 0])[0]
        for a, b in zip(S, Sigma, strict=True)
    )
    f, nothing = problem.evaluator()(S)[0], np.empty(0)
    return Selection(rows, None, float(max(smallest, 0.0)), nothing, nothing, f)


class _Greedy:
    """The quadratic forms of all points, kept current while points come and go.

    W_k and B_k = W_k H_pk W_k of the start stay as they are. What the moves so far changed is kept
    as their vectors v and u, so that a move reads the blocks only in the columns that its point
    has, and writes none.
    """

    def __init__(self, problem, moves):
        W = np.linalg.inv(problem.labeled_information)
        B = W @ problem.mean_information @ W
        c, d = W.shape[:2]
        self.problem, self.W, self.B, self.moves = problem, W, B, 0
        self.q1, self.q2 = quadratic(problem.X, W), quadratic(problem.X, B)
        self.v, self.u = np.empty((c, moves, d)), np.empty((c, moves, d))
        self.s, self.eta = np.empty((c, moves)), np.empty((c, moves))

    def change_of_f(self, sign):
        """How much f falls when a point comes (1), or rises when it goes (-1); all points (m,)."""
        g = self.problem.g
        return np.einsum("ik,ik->i", g, self.q2 / (1 + sign * g * self.q1))

    def move(self, j, sign):
        X, x, g, t = self.problem.X, self.problem.X[j], self.problem.g[j], self.moves
        # 1. v = W x and u = B x, with what the moves so far have changed.
        used = np.flatnonzero(x)
        columns = used if 2 * used.size < x.size else slice(None)
        v, u = self.W[:, :, columns] @ x[columns], self.B[:, :, columns] @ x[columns]
        V, U, s = self.v[:, :t], self.u[:, :t], self.s[:, :t]
        Vx, Ux = V @ x, U @ x  # (c, t)
        v -= np.matmul((s * Vx)[:, None], V)[:, 0]
        u -= np.matmul((s * (Ux - s * self.eta[:, :t] * Vx))[:, None], V)[:, 0]
        u -= np.matmul((s * Vx)[:, None], U)[:, 0]
        # 2. The forms of all points.
        s, eta = sign * g / (1 + sign * g * (v @ x)), u @ x
        Xv, Xu = product(X, v), product(X, u)
        self.q2 -= s * Xv * (2 * Xu - s * eta * Xv)
        self.q1 -= s * Xv**2
        self.v[:, t], self.u[:, t], self.s[:, t], self.eta[:, t] = v, u, s, eta
        self.moves += 1
