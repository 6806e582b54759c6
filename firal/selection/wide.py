"""The penalized block-diagonal design for wide features: the same problem, and no block is written.

With c classes and d features the blocks of :mod:`firal.selection.block_diagonal` take c d^2
numbers: 3.4 GB for 100 classes and 2,048 features, each time. But after t points the inverse of a
block is known without it. With the penalty l = n ridge (1 - 1/c), ::

    W_k = (l I + sum_j g_jk x_j x_j^T)^{-1} = I / l - sum_j s_jk v_jk v_jk^T,

one vector v = W_k x_j and one number s = g / (1 + g x_j^T v) for every point j that came so far.
And H_p enters only through products with vectors, which are sums over the pool::

    B_k x = W_k H_pk W_k x,    H_pk v = (1/m) sum_i g_ik x_i (x_i^T v).

So greedy steps are exact, with three products of the pool with c vectors each. Nothing is
projected, and nothing is lost.

**The span.** Once the candidates are known, nothing but them and the labeled points comes into
Sigma. On the complement of their span every Sigma_k is l I, so f is that of the problem in
coordinates of the span plus a constant. There the blocks are small, and the backward steps of
``block_greedy`` run on them.

**The certificate.** At every step q2_ik = x_i^T B_k x_i is known for all points. This is the
gradient of f, and every gradient gives a lower bound that no weights can beat
(:mod:`firal.selection.certificate`). The best of them costs nothing, and is weaker than that of the
relaxed optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from firal.common.blocks import pool_blocks
from firal.common.nogil import in_threads, parts
from firal.common.threads import allowed_threads, one_thread
from firal.selection.block_diagonal import BlockProblem
from firal.selection.block_greedy import block_greedy
from firal.selection.block_rows import GroupedRows, blocks, product
from firal.selection.certificate import largest_sum
from firal.selection.ftrl import Selection
from firal.selection.scoring import TIE
from firal.selection.solver import Relaxation

BLOCK_BYTES = 16 * 2**20
MOST_BYTES = 8 * 2**30  # of the vectors v; more is refused
SPAN_BYTES = 2**28  # of the blocks in the span, above which backward steps are left out
ROUNDING = {np.dtype(np.float32): 1e-3, np.dtype(np.float64): 1e-9}  # of the lower bound
RANK = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-11}  # directions that count


class WideProblem(NamedTuple):
    """The data of one selection with wide features.

    Attributes
    ----------
    X : np.ndarray or GroupedRows of shape (m, d)
        Pool, float32 or float64; all products are in this type.
    g : np.ndarray of shape (m, c)
        p (1 - p) of every point and class, in the same type.
    labeled : np.ndarray or GroupedRows of shape (n0, d)
        Labeled points, in the same columns.
    labeled_g : np.ndarray of shape (n0, c)
        p (1 - p) of these.
    strength : float
        Number of labels after the batch times the ridge.
    budget : int
        Number of points to pick.
    """

    X: np.ndarray | GroupedRows
    g: np.ndarray
    labeled: np.ndarray | GroupedRows
    labeled_g: np.ndarray
    strength: float
    budget: int

    @property
    def level(self) -> float:
        """The penalty l of every block."""
        return self.strength * (1 - 1 / self.g.shape[1])


def select_wide(
    problem: WideProblem,
    report: Callable[[str, int, int], None],
    watch: Callable[[int, np.ndarray], None] | None = None,
    tol: float = 0.1,
    only: np.ndarray | None = None,
) -> Selection:
    """Pick points by greedy steps, without any block.

    Parameters
    ----------
    problem : WideProblem
        The data.
    report : callable
        Called as ``report(stage, done, total)`` with stage "forms" or "greedy".
    watch : callable, optional
        Called at every forward step as ``watch(i, decrease)``, as in ``bait``.
    tol : float, default 0.1
        Gap at which ``relaxation`` counts as converged; nothing else depends on it.
    only : np.ndarray of int, optional
        The only rows that may be picked, at least ``budget``; by default all.

    Returns
    -------
    Selection
        The picked rows; ``objective`` is f in all columns. ``relaxation`` has the first b points
        that were added as its weights, and a certified gap; ``lambda_min`` is NaN.

    Raises
    ------
    ValueError
        If the vectors of the labeled and added points would take too much memory.

    Notes
    -----
    Cost: m^2 d / 2 multiply-adds for the start, and 3 m c d for every labeled and every added
    point. Memory: the pool, c d (n0 + 2 budget) and a few m c numbers. The chapter *Wide features*
    has the measurements.
    """
    m, b = len(problem.X), problem.budget
    steps, threads = min(2 * b, m if only is None else len(only)), allowed_threads()
    with one_thread():
        state = _Forms(problem, steps, threads, report)
        total = len(problem.labeled) + steps
        # 1. The labeled points.
        for j in range(len(problem.labeled)):
            state.move(problem.labeled[j], problem.labeled_g[j])
            report("greedy", state.moves, total)
        # 2. Forward: add the point that lowers f most.
        allowed, added, lower = np.ones(m, dtype=bool), [], _lower_bound(problem, state, [])
        if only is not None:
            allowed[np.setdiff1d(np.arange(m), only)] = False
        for _ in range(steps):
            decrease = state.decrease()
            scores = np.where(allowed, decrease, -np.inf)
            i = int(np.flatnonzero(scores >= scores.max() * (1 - TIE))[0])
            if watch is not None:
                watch(i, decrease)
            added.append(i)
            allowed[i] = False
            state.move(problem.X[i], problem.g[i])
            lower = max(lower, _lower_bound(problem, state, added))
            if len(added) == b:
                f = first = state.f
            report("greedy", state.moves, total)
        # 3. Backward, in the span of the points in play.
        rows, nothing = np.array(added[:b]), np.empty(0)
        n, c = state.moves, problem.g.shape[1]
        if steps > b and 8 * c * n * n <= SPAN_BYTES:
            small, constant = span_problem(problem, np.array(added))
            for found in block_greedy(small):
                value = _objective(small, found) + constant
                if value < f * (1 - TIE):
                    rows, f = np.array(added)[found], value
    z = np.zeros(m)
    z[added[:b]] = 1
    gap = float(np.clip(1 - lower / first, 0.0, 1.0))
    history = np.array([[first, lower]])
    relaxation = Relaxation(z, first, gap, steps, gap <= tol, history, 1 + 2 * state.moves)
    return Selection(rows, None, np.nan, nothing, nothing, float(f), relaxation)


def span_problem(problem: WideProblem, rows: np.ndarray) -> tuple[BlockProblem, float]:
    """The problem in coordinates of the span of the labeled points and some of the pool.

    Parameters
    ----------
    problem : WideProblem
        The data.
    rows : np.ndarray of int
        Candidates.

    Returns
    -------
    small : BlockProblem
        With the candidates as its pool, and H_p of the whole pool.
    constant : float
        What f has on the complement of the span, whichever candidates are picked.

    Notes
    -----
    Cost: m t d + m c t^2 multiply-adds for t points; memory 2 c t^2 and m t numbers.
    """
    X, g, level = problem.X, problem.g, problem.level
    T = np.vstack([_written_out(problem.labeled), _written_out(X[rows])])
    values, vectors = np.linalg.eigh((T @ T.T).astype(np.float64))
    kept = values > RANK[T.dtype] * values[-1]
    basis = (vectors[:, kept] / np.sqrt(values[kept])).T.astype(T.dtype) @ T  # orthonormal rows
    inside, n0 = T.astype(np.float64) @ basis.T.astype(np.float64), len(problem.labeled)
    mean = np.zeros((g.shape[1], len(basis), len(basis)))
    for part in pool_blocks(len(X), 8 * basis.shape[0], BLOCK_BYTES):
        mean += blocks(product(X[part], basis).astype(np.float64), g[part])
    mean /= len(X)
    known = blocks(inside[:n0], problem.labeled_g.astype(np.float64))
    diagonal = np.arange(len(basis))
    known[:, diagonal, diagonal] += level
    outside = _start(problem) - np.trace(mean, axis1=1, axis2=2).sum() / level
    small = BlockProblem(inside[n0:], g[rows].astype(np.float64), known, mean, problem.budget)
    return small, max(float(outside), 0.0)


def squared_norms(X: np.ndarray | GroupedRows) -> np.ndarray:
    """Squared norms of all points.

    Parameters
    ----------
    X : np.ndarray or GroupedRows of shape (m, d)
        Points.

    Returns
    -------
    np.ndarray of shape (m,)
        float64.
    """
    if isinstance(X, GroupedRows):
        return squared_norms(X.x) + X.size.astype(np.float64) ** 2
    return np.einsum("ij,ij->i", X, X).astype(np.float64)


def _start(problem):
    """f of the penalty alone: the sum of trace(H_pk) / l."""
    squares = squared_norms(problem.X)
    return float(squares @ problem.g.sum(axis=1, dtype=np.float64)) / len(squares) / problem.level


def _objective(small, rows):
    weights = np.zeros(len(small.X))
    weights[rows] = 1
    return small.evaluator()(small.total_information(weights))[0]


def _lower_bound(problem, state, rows):
    """What the present gradient proves about all weights.

    By the Cauchy-Schwarz inequality f(z) <Sigma(z), M> >= f^2 for M = S^{-1} H_p S^{-1},
    f = trace(S^{-1} H_p) and any S: here that of the labeled points and the points ``rows``.
    """
    f, a = state.f, np.maximum(np.einsum("ik,ik->i", problem.g, state.q2), 0)
    known = max(f - a[rows].sum(), 0.0)  # <S, M> = f
    most = largest_sum(a, problem.budget, True) + known
    return f * f / most * (1 - ROUNDING[state.type])


def _written_out(X):
    """Rows as an array."""
    if not isinstance(X, GroupedRows):
        return X
    out = np.zeros(X.shape, X.x.dtype)
    out[:, : X.x.shape[1]] = X.x
    out[np.arange(len(X)), X.x.shape[1] + X.group] = X.size
    return out


class _Forms:
    """The quadratic forms of all points, kept current while points come."""

    def __init__(self, problem, steps, threads, report):
        self.problem, self.moves = problem, 0
        X, g, level = problem.X, problem.g, problem.level
        (m, d), c, n = X.shape, g.shape[1], len(problem.labeled) + steps
        self.type = (X.x if isinstance(X, GroupedRows) else X).dtype
        needed = self.type.itemsize * c * n * d
        if needed > MOST_BYTES:
            raise ValueError(
                f"{c} classes times {n} points times {d} columns must fit in "
                f"{MOST_BYTES / 2**30:.0f} GiB, got {needed / 2**30:.0f} GiB: reduce the features"
            )
        self.v, self.s = np.empty((c, n, d), self.type), np.empty((c, n), self.type)
        squares = squared_norms(X)
        self.q1 = np.repeat(squares[:, None] / level, c, axis=1)
        self.q2, self.f = np.empty((m, c)), _start(problem)
        self.slices = parts(m, min(threads, m))
        # q2 = x_i^T H_pk x_i / l^2 is a sum of squares of inner products
        cuts = list(pool_blocks(m, self.type.itemsize * m, BLOCK_BYTES))

        def start(cut):
            inner = _inner(X, cut)
            np.square(inner, out=inner)
            self.q2[cut] = inner @ g / (m * level**2)

        for k in range(0, len(cuts), len(self.slices)):
            in_threads(start, cuts[k : k + len(self.slices)], len(self.slices))
            report("forms", min(k + len(self.slices), len(cuts)), len(cuts))

    def decrease(self):
        """How much f falls when a point comes (m,)."""
        g = self.problem.g
        return np.einsum("ik,ik->i", g, self.q2 / (1 + g * self.q1))

    def move(self, x, g):
        """A point with features x (d,) and weights g (c,) comes."""
        X, m, threads, t = self.problem.X, len(self.problem.X), len(self.slices), self.moves
        x = x.astype(self.type, copy=False)
        v = self._inverse(np.broadcast_to(x, self.v[:, 0].shape))
        Xv = np.empty((m, len(v)), self.type)

        # 1. u = W H_p v: one pass for the products, and the sum over the pool in the same pass.
        def image(part):
            Xv[part] = product(X[part], v)
            return _weighted_sum(X[part], self.problem.g[part] * Xv[part])

        u = self._inverse(sum(in_threads(image, self.slices, threads)) / np.asarray(m, self.type))
        s = g / (1 + g * (v @ x).astype(np.float64))
        eta = (u @ x).astype(np.float64)
        self.f -= float(s @ eta)

        # 2. The forms of all points.
        def update(part):
            Xu, mine = product(X[part], u), Xv[part]
            self.q2[part] -= s * mine * (2 * Xu - s * eta * mine)
            self.q1[part] -= s * np.square(mine)

        in_threads(update, self.slices, threads)
        self.v[:, t], self.s[:, t] = v, s
        self.moves += 1

    def _inverse(self, A):
        """W_k a_k for the rows a_k of A (c, d)."""
        V, s = self.v[:, : self.moves], self.s[:, : self.moves]
        out = A / np.asarray(self.problem.level, self.type)
        out -= np.matmul((s * np.matmul(V, A[:, :, None])[:, :, 0])[:, None], V)[:, 0]
        return out


def _inner(X, cut):
    """Inner products of some points with all points."""
    if not isinstance(X, GroupedRows):
        return X[cut] @ X.T
    out = X.x[cut] @ X.x.T
    out += np.multiply.outer(X.size[cut], X.size) * (X.group[cut][:, None] == X.group)
    return out


def _weighted_sum(X, A):
    """``A^T X`` for A of shape (m, c)."""
    if not isinstance(X, GroupedRows):
        return A.T @ X
    d = X.x.shape[1]
    out = np.zeros((A.shape[1], d + X.count), A.dtype)
    out[:, :d] = A.T @ X.x
    tail = sparse.csr_array((X.size, (X.group, np.arange(len(X)))), shape=(X.count, len(X)))
    out[:, d:] = (tail @ A).T
    return out
