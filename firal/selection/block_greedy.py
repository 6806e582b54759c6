"""Greedy steps on block-diagonal information: rank-one changes, no inverse per step.

A point changes every block by a matrix of rank one. With W_k = M_k^{-1}, B_k = W_k H_pk W_k,
q1_ik = x_i^T W_k x_i and q2_ik = x_i^T B_k x_i, adding point i lowers f by
sum_k g_ik q2_ik / (1 + g_ik q1_ik). When point j comes (sign 1) or goes (sign -1), let
v = W_k x_j, u = B_k x_j and s = sign g_jk / (1 + sign g_jk x_j^T v). Then W_k loses s v v^T, B_k
loses s (v u^T + u v^T) - s^2 (x_j^T u) v v^T, and ::

    q1_i -= s (x_i^T v)^2,    q2_i -= 2 s (x_i^T v)(x_i^T u) - s^2 (x_j^T u) (x_i^T v)^2,

so a step costs 2 m c d multiply-adds for the pool, one product of X with 2 c vectors. Columns that
are indicators of groups, as those of clusters, cost next to nothing (``block_rows``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from firal.selection.block_diagonal import BlockProblem, inverse_or_none
from firal.selection.block_rows import each_class, product, quadratic
from firal.selection.scoring import TIE

PENDING_BYTES = 2**28  # of vectors that are kept beside the blocks
FEWEST_PENDING = 16


def block_greedy(
    problem: BlockProblem,
    start: np.ndarray | None = None,
    watch: Callable[[int, np.ndarray], None] | None = None,
    report: Callable[[int, int], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Picks of the forward steps alone, and of forward and backward steps.

    Parameters
    ----------
    problem : BlockProblem
        The prepared data.
    start : np.ndarray of shape (c, d, d), optional
        What counts as known before the first step; by default the labeled information.
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
    Memory: 2 c d^2, and 4 c d budget or ``PENDING_BYTES``.
    """
    if start is not None:
        problem = problem._replace(labeled_information=start)
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
    del state
    known = problem.total_information(chosen)
    state = _Greedy(problem.restricted(added)._replace(labeled_information=known), steps - b)
    left = list(range(steps))
    while len(left) > b:
        loss = np.maximum(state.change_of_f(-1)[left], 0)  # rounding may leave it below
        t = left[np.flatnonzero(loss <= loss.min() * (1 + TIE))[-1]]
        left.remove(t)
        state.move(t, -1)
    return np.array(added[:b]), np.array(added)[left]


class _Greedy:
    """The quadratic forms of all points, kept current while points come and go.

    W_k and B_k = W_k H_pk W_k are not written at every move. What the last moves changed is kept as
    their vectors v and u, so that a move reads the blocks only in the columns that its point has.
    When these vectors take more than ``PENDING_BYTES``, they are folded into the blocks.
    """

    def __init__(self, problem, moves):
        L, H = problem.labeled_information, problem.mean_information
        c, d = L.shape[:2]
        self.problem, self.moves = problem, 0
        self.W, self.B = np.empty(L.shape), np.empty(L.shape)

        def of_class(k):
            W = inverse_or_none(L[k])
            if W is None:
                raise ValueError(
                    "known information must be positive definite for greedy steps, got a singular "
                    "block: use a ridge"
                )
            self.W[k] = W
            np.matmul(W @ H[k], W, out=self.B[k])

        each_class(of_class, c, problem.threads)
        self.q1 = quadratic(problem.X, self.W, problem.threads)
        self.q2 = quadratic(problem.X, self.B, problem.threads)
        room = min(moves, max(FEWEST_PENDING, PENDING_BYTES // (16 * c * d)))
        self.v, self.u = np.empty((c, room, d)), np.empty((c, room, d))
        self.s, self.eta = np.empty((c, room)), np.empty((c, room))

    def change_of_f(self, sign):
        """How much f falls when a point comes (1), or rises when it goes (-1); all points (m,)."""
        g = self.problem.g
        return np.einsum("ik,ik->i", g, self.q2 / (1 + sign * g * self.q1))

    def move(self, j, sign):
        X, x, g = self.problem.X, self.problem.X[j], self.problem.g[j]
        if self.moves == self.v.shape[1]:
            self.fold()
        t = self.moves
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

    def fold(self):
        """Write what the moves so far have changed into the blocks."""
        t = self.moves

        def of_class(k):
            V, U, s = self.v[k, :t], self.u[k, :t], self.s[k, :t, None]
            sV = s * V
            self.W[k] -= V.T @ sV
            both = U.T @ sV
            self.B[k] -= both + both.T - V.T @ (s * self.eta[k, :t, None] * sV)

        each_class(of_class, len(self.W), self.problem.threads)
        self.moves = 0
