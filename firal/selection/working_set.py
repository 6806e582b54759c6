"""The relaxed problem on a small working set, with a certificate for the whole pool.

Few points have weight at the optimum. So the problem is solved on a working set W, and one pass
over the pool computes a_i = <H(x_i), M> of all points at the solution. That pass is the certificate
of the full problem (``firal.selection.certificate``: every gradient gives a lower bound that no
feasible weights can beat), and its largest values are the points that W lacks. W keeps the points
with weight, takes these in, and the problem is solved again.

**Where the pool lives does not matter.** Of a problem, this module uses seven names only, so any
object that has them will do, for example one that reads its pool from a file:

============================  ==================================================================
``n_points``                  m, the number of points of the pool
``budget``                    b, the number of points to pick
``labeled_information``       what is known before: labeled points and penalty
``mean_information``          H_p, the mean over the pool
``evaluator()``               function from Sigma to f and M = Sigma^{-1} H_p Sigma^{-1}
``contract(M)``               the one pass: the array (m,) of <H(x_i), M>, 8 bytes per point
``restricted(rows)``          the problem of these rows (ascending, distinct; a few thousand),
                              in memory: a ``Problem`` or ``BlockProblem``
============================  ==================================================================

Every call of ``contract`` reads the whole pool once, every call of ``restricted`` only its rows.
Rounding on candidates (``firal.selection.end_to_end``) needs ``restricted`` and nothing else.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from firal.selection.certificate import largest_sum
from firal.selection.problem import Problem
from firal.selection.relaxation import Relaxation, solve

FROM = 1000  # pools of fewer points are solved as a whole
START = 500  # points of the first working set
TAKEN = 250  # points that a pass adds
MOST_PASSES = 50


def solve_on_working_set(
    problem: Problem,
    capped: bool,
    tol: float,
    max_iter: int,
    report: Callable[[int, int], None] | None = None,
) -> Relaxation:
    """Solve the relaxed problem with few passes over the pool.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    capped : bool
        Whether no weight may exceed 1.
    tol : float
        Certified relative gap to reach.
    max_iter : int
        Most gradients on a working set.
    report : callable, optional
        Called after every gradient as ``report(done, max_iter)``.

    Returns
    -------
    Relaxation
        Weights of all points; ``gap`` is certified for the whole pool. ``history`` has one row per
        pass. If ``MOST_PASSES`` passes do not suffice, the gap that they certify.

    Notes
    -----
    A pass costs m d~^2 / 4 multiply-adds; everything else happens on W.
    """
    m, b = problem.n_points, problem.budget
    if m <= max(FROM, 4 * b):
        return solve(problem, capped, "multiplicative", tol, max_iter, report)
    rows = np.linspace(0, m - 1, max(START, 2 * b)).astype(int)
    best, lower, gradients, history, measure = (np.inf, None), 0.0, 0, [], problem.evaluator()
    while True:
        # 1. Solve on the working set.
        small = problem.restricted(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the gap that counts is computed below
            inner = solve(small, capped, "multiplicative", tol / 2, max_iter, report)
        if inner.z is None:  # no ridge, and the working set does not span the parameters
            return solve(problem, capped, "multiplicative", tol, max_iter, report)
        gradients += inner.iterations
        # 2. One pass over the pool: the certificate.
        f, M = measure(small.total_information(inner.z))
        a = np.maximum(problem.contract(M), 0)
        known = np.vdot(problem.labeled_information, M)
        lower = max(lower, f * f / (largest_sum(a, b, capped) + known))
        if f < best[0]:
            z = np.zeros(m)
            z[rows] = inner.z
            best = f, z
        history.append((f, lower))
        gap = float(max(0.0, 1 - lower / best[0]))
        # 3. Stop at the gap, or replace the idle points of the working set by the violators.
        if gap <= tol or len(history) == MOST_PASSES:
            break
        top = np.argpartition(a, m - TAKEN)[m - TAKEN :]
        rows = np.union1d(rows[inner.z > 1e-6 * b / len(rows)], top)
    converged, passes = bool(gap <= tol), len(history) + 1  # and one for H_p
    if not converged:
        warnings.warn(
            f"relax stopped after {len(history)} passes over the pool with a certified gap of "
            f"{gap:.2g}, wanted {tol:g}: raise tol",
            RuntimeWarning,
            stacklevel=3,
        )
    return Relaxation(best[1], best[0], gap, gradients, converged, np.array(history), passes)
