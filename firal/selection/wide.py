"""The penalized block-diagonal design for wide features: the same problem, and no block is written.

With c classes and d features the blocks of :mod:`firal.selection.block_diagonal` take c d^2
numbers: 3.4 GB for 100 classes and 2,048 features, each time. But after t points the inverse of a
block is known without it. With the penalty l = n ridge (1 - 1/c), ::

    W_k = (l I + sum_j g_jk x_j x_j^T)^{-1} = I / l - sum_j s_jk v_jk v_jk^T,

one vector v = W_k x_j and one number s = g / (1 + g x_j^T v) for every point j that came so far.
And H_p enters only through products with vectors, which are sums over the pool::

    B_k x = W_k H_pk W_k x,    H_pk v = (1/m) sum_i g_ik x_i (x_i^T v).

So greedy steps are exact, with three products of the pool with c vectors each. Nothing is
projected, and nothing is lost. All of it is float64, also for a pool in float32, whose rows are
converted a few at a time (:mod:`firal.selection.wide_forms`).

**The span.** Once the candidates are known, nothing but them and the labeled points comes into
Sigma. On the complement of their span every Sigma_k is l I, so f is that of the problem in
coordinates of the span plus a constant. There the blocks are small, and the backward steps of
``block_greedy`` run on them.

**The certificate.** At every step q2_ik = x_i^T B_k x_i is known for all points. This is the
gradient of f, and every gradient gives a lower bound that no weights can beat
(:mod:`firal.selection.certificate`). The best of them costs nothing, and is weaker than that of the
relaxed optimum. Where there are far more columns than points to pick, that optimum itself says
little: weights spread over all directions, and points cannot. So there is a second bound, for
points only (:mod:`firal.selection.few_points`); it costs nothing either.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from firal.common.threads import allowed_threads, one_thread
from firal.selection.block_diagonal import BlockProblem
from firal.selection.block_greedy import block_greedy
from firal.selection.block_rows import GroupedRows, blocks, product
from firal.selection.certificate import largest_sum
from firal.selection.few_points import least_objective, squares_of
from firal.selection.ftrl import Selection
from firal.selection.scoring import TIE
from firal.selection.solver import Relaxation
from firal.selection.wide_forms import Forms, WideProblem, in_double, pieces

SPAN_BYTES = 2**28  # of the blocks in the span, above which backward steps are left out
ROUNDING = 1e-9  # of the lower bound
RANK = 1e-11  # directions that count


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
        The picked rows; ``objective`` is f in all columns, ``least_objective`` what no points can
        beat. ``relaxation`` has the first b points that were added as its weights, and a certified
        gap; ``lambda_min`` is NaN.

    Notes
    -----
    Cost: m^2 d / 2 multiply-adds for the start, and 3 m c d for every labeled and every added
    point. Memory: the pool, c d (n0 + 2 budget) and a few m c numbers. The chapter *Wide features*
    has the measurements.
    """
    m, b = len(problem.X), problem.budget
    steps, threads = min(2 * b, m if only is None else len(only)), allowed_threads()
    with one_thread():
        state = Forms(problem, steps, threads, report)
        total, scale = len(problem.labeled) + steps, squares_of(state)
        # 1. The labeled points.
        for j in range(len(problem.labeled)):
            state.move(problem.labeled[j], problem.labeled_g[j])
            report("greedy", state.moves, total)
        # 2. Forward: add the point that lowers f most.
        allowed, added = np.ones(m, dtype=bool), []
        lower, least = _lower_bound(problem, state, []), least_objective(state, scale)
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
            if len(added).bit_count() == 1:  # after 1, 2, 4, .. points: it changes slowly
                least = max(least, least_objective(state, scale))
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
    found = Selection(rows, None, np.nan, nothing, nothing, float(f), relaxation)
    return found._replace(least_objective=least)


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
    T = np.vstack([_written_out(in_double(part)) for part in (problem.labeled, X[rows])])
    values, vectors = np.linalg.eigh(T @ T.T)
    kept = values > RANK * values[-1]
    basis = (vectors[:, kept] / np.sqrt(values[kept])).T @ T  # orthonormal rows
    inside, n0 = T @ basis.T, len(problem.labeled)
    mean = np.zeros((g.shape[1], len(basis), len(basis)))
    for part in pieces(len(X)):
        mean += blocks(product(in_double(X[part]), basis), g[part])
    mean /= len(X)
    known = blocks(inside[:n0], problem.labeled_g)
    diagonal = np.arange(len(basis))
    known[:, diagonal, diagonal] += level
    outside = problem.start - np.trace(mean, axis1=1, axis2=2).sum() / level
    small = BlockProblem(inside[n0:], g[rows], known, mean, problem.budget)
    return small, max(float(outside), 0.0)


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
    return f * f / most * (1 - ROUNDING)


def _written_out(X):
    """Rows as an array."""
    if not isinstance(X, GroupedRows):
        return X
    out = np.zeros(X.shape)
    out[:, : X.x.shape[1]] = X.x
    out[np.arange(len(X)), X.x.shape[1] + X.group] = X.size
    return out
