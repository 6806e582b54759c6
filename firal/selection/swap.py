"""Distinct points by exchanging: one point out, one point in, a bounded number of times.

The setting is that of ``firal.sparsify``: weights z with sum b, here with z_i <= 1, the whitened
information F_i with sum_i z_i F_i = I, and S_T = sum_{i in T} F_i for a set T of b points. With
the level e and the lift delta, ::

    1 / level = 2 / sqrt(b d~) + delta,        l(T) with trace (S_T - l I)^{-1} = level,

an exchange is made only if it raises the barrier l(T) by at least delta. No pair is tried. With
K = S_T - (l(T) + delta) I, a_i = <K^{-2}, F_i> and c_i = <K^{-1}, F_i>, convexity gives ::

    trace (K + F_i - F_j)^{-1} <= trace K^{-1} - a_i / (1 + 2 c_i) + a_j / (1 - 2 c_j),

so the point i that enters maximizes a_i / (1 + 2 c_i), and the point j that leaves minimizes
a_j / (1 - 2 c_j) among those with 2 c_j < 1. If even this pair does not bring the trace down to the
level, the search ends: one pass over the pool per exchange. The barrier starts at -d~/level or
above, and the search also ends when it reaches 1 - delta. So with r = sqrt(d~/b) there are fewer
than (1 + 2r)/delta + d~ exchanges, and for b > 36 d~ at the end ::

    lambda_min(S_T) >= (1 - 6r)/(1 - 2r) + 2/sqrt(b d~) - (5/4) b delta.

The proof is in the chapter *The guarantee*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from firal.common import checks
from firal.common.threads import one_thread
from firal.engine import memory
from firal.selection.picked import PickedPoints
from firal.selection.rounding import barrier_below, prepare_rounding
from firal.selection.structure import prepare_with_weights


class SwapSelection(NamedTuple):
    """The points at the end of the search and what is known about them.

    Attributes
    ----------
    indices : np.ndarray of shape (b,)
        Distinct rows of the pool, ascending.
    exchanges : int
        Number of exchanges made.
    limit : int
        Largest number of exchanges that the theorem allows.
    barriers : np.ndarray of shape (exchanges + 1,)
        The barrier at the start and after every exchange.
    lambda_min : float
        Smallest eigenvalue of the picked information against Sigma(z).
    guarantee : float or None
        Lower bound on ``lambda_min`` that was known beforehand; None where the theorem is silent,
        that is for b <= 36 d~ or a weight above 1.
    objective : float
        f of the picked points; inf if their information is singular.
    """

    indices: np.ndarray
    exchanges: int
    limit: int
    barriers: np.ndarray
    lambda_min: float
    guarantee: float | None
    objective: float

    def __repr__(self):
        rows = np.array2string(self.indices, separator=", ", threshold=10)
        return (
            f"SwapSelection(indices={rows}, exchanges={self.exchanges}, limit={self.limit}, "
            f"lambda_min={self.lambda_min:.4g}, objective={self.objective:.6g})"
        )


def swap(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike,
    z: ArrayLike,
    budget: int,
    *,
    start: ArrayLike | None = None,
    lift: float | None = None,
) -> SwapSelection:
    """Pick distinct points whose information is close to that of the weights z, by exchanges.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    theta : array_like of shape (c-1, d)
        Parameters; the last class is the reference.
    z : array_like of shape (m,)
        Nonnegative weights with sum ``budget``, for example from ``relax``.
    budget : int
        Number of points to pick.
    start : array_like of shape (budget,), optional
        Distinct rows to start from, for example those of ``sparsify``. The default is the rows of
        the largest weights.
    lift : float, optional
        Positive: how much an exchange must raise the barrier. The default 8 / (5 b sqrt(b d~))
        makes the guarantee (1 - 6r)/(1 - 2r), and there are fewer than b sqrt(b d~) exchanges for
        b > 36 d~. A larger lift makes fewer of them.

    Returns
    -------
    SwapSelection
        The rows and their certificate.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the sum of z is not ``budget``, Sigma(z) is
        singular, there are fewer than ``budget`` points, or ``start`` is not a set of rows.

    Notes
    -----
    Deterministic: the lowest row wins a tie. An exchange costs m d~^2 / 2 multiply-adds for the
    pool and about 4 d~^3 for the barrier and the matrices. The number of exchanges is bounded for
    every budget; the bound on ``lambda_min`` needs b > 36 d~ and z <= 1. The proof is in the
    chapter *The guarantee*.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> from firal.selection.swap import swap
    >>> rng = np.random.default_rng(0)
    >>> pool, theta = rng.normal(size=(200, 2)), rng.normal(size=(1, 2))
    >>> z = firal.relax(pool, None, theta, budget=80).z
    >>> found = swap(pool, None, theta, z, 80)
    >>> bool(found.lambda_min >= found.guarantee), found.exchanges <= found.limit
    (True, True)
    """
    problem, z, _ = prepare_with_weights(pool, labeled, theta, z, budget, replace=False)
    b, size = problem.budget, problem.size
    scale = math.sqrt(b * size)
    lift = checks.number(8 / (5 * b * scale) if lift is None else lift, "lift", 0)
    chosen = _start(start, z, b)
    limit = math.ceil((1 + 2 * size / scale) / lift + size) - 1
    with one_thread():
        rounding = prepare_rounding(problem, z)
        barriers = _exchange(rounding, chosen, 1 / (2 / scale + lift), lift, limit)
        picked = PickedPoints(rounding)
        for i in np.flatnonzero(chosen):
            picked.add(i)
        return SwapSelection(
            indices=np.flatnonzero(chosen),
            exchanges=len(barriers) - 1,
            limit=limit,
            barriers=np.array(barriers),
            lambda_min=picked.lambda_min(),
            guarantee=_guarantee(b, size, lift) if z.max() <= 1 + 1e-9 else None,
            objective=picked.objective(),
        )


def _start(start, z, b):
    """Mask of the points to start from."""
    if start is None:
        start = np.argsort(-z, kind="stable")[:b]
    start = np.asarray(start)
    valid = start.shape == (b,) and np.issubdtype(start.dtype, np.integer)
    if not valid or np.any((start < 0) | (start >= len(z))) or len(np.unique(start)) < b:
        raise ValueError(
            f"start must be {b} distinct rows between 0 and {len(z) - 1}, got {start!r}"
        )
    chosen = np.zeros(len(z), dtype=bool)
    chosen[start] = True
    return chosen


def _guarantee(b, size, lift):
    """Lower bound on lambda_min at the end, or None for b <= 36 d~."""
    if b <= 36 * size:
        return None
    r = math.sqrt(size / b)
    return (1 - 6 * r) / (1 - 2 * r) + 2 / math.sqrt(b * size) - 1.25 * b * lift


def _exchange(rounding, chosen, level, lift, limit):
    """Exchange points in ``chosen`` until no exchange is sure to lift the barrier; all barriers."""
    problem, Sigma, D = rounding.problem, rounding.Sigma, rounding.labeled_per_pick
    barriers = []
    while True:
        # 1. The barrier of the present set.
        weights = chosen.astype(float)
        total = memory.information(problem.X, problem.h, weights, problem.threads)
        total += problem.labeled_information
        spectrum = linalg.eigh(total, Sigma, eigvals_only=True)
        barriers.append(barrier_below(spectrum, level))
        raised = barriers[-1] + lift
        if raised >= 1 or len(barriers) > limit or chosen.all():
            return barriers
        # 2. One pass over the pool: what every point adds, and what it would leave behind.
        W1, W2 = rounding.score_matrices(total - raised * Sigma)
        c = memory.contract(problem.X, problem.h, W1, problem.threads) + np.vdot(W1, D)
        a = memory.contract(problem.X, problem.h, W2, problem.threads) + np.vdot(W2, D)
        gain = np.where(chosen, -np.inf, a / (1 + 2 * c))
        removable = chosen & (2 * c < 1)
        loss = np.full(len(c), np.inf)
        loss[removable] = a[removable] / (1 - 2 * c[removable])
        # 3. Exchange the best pair if that brings the trace at the raised barrier to the level.
        i, j = np.argmax(gain), np.argmin(loss)
        if gain[i] - loss[j] < np.vdot(W1, Sigma) - level:
            return barriers
        chosen[i], chosen[j] = True, False
