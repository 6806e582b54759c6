"""The relaxed problem on a small working set, with a certificate for the whole pool.

Few points have weight at the optimum. So the problem is solved on a working set W, and one pass
over the pool computes a_i = <H(x_i), M> of all points at the solution. That pass is the certificate
of the full problem (``firal.selection.certificate``: every gradient gives a lower bound that no
feasible weights can beat), and its largest values are the points that W lacks. W keeps the points
with weight, takes these in, and the problem is solved again. The first pass is made at equal
weights for all points, whose Sigma is known without a pass: labeled information plus b H_p. They
only give a bound: weights of a working set are returned, since their support is small. Where this
bound is enough for the first of these, no pass follows.

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
from firal.selection.solver import Relaxation, nearest_to_weight, solve
from firal.selection.summed_blocks import inner_product

FROM = 2000  # pools of fewer points are solved as a whole
TAKEN = 500  # points of the sample, and that a pass adds; more if budget, d~ or the pool are large
SHARE, MOST_TAKEN = 500, 5000  # one of SHARE points of a large pool, but not more than that
FRESH = 0.2  # share of the weight that is spread over all points of a new working set
ROUGH = 0.1  # a working set is solved to this part of the gap of the pool
IDLE = 1e-6  # points with less than this part of the mean weight leave the working set
PATIENCE = 10  # passes after which twice as many points are taken every time
MOST_PASSES = 50
SOUND = 1e-6  # largest relative rounding error of f in a certificate


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
        The prepared data, or any object with the names that the module lists.
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
    A pass costs m d~^2 / 4 multiply-adds; everything else happens on W. If the gradients on W
    always suffice, the search ends: after ``PATIENCE`` passes W takes twice as many points every
    time, and when it is the whole pool, its gap is that of the problem. The chapter *Pools of any
    size* has the proofs.
    """
    m, b = problem.n_points, problem.budget
    taken = max(TAKEN, min(m // SHARE, MOST_TAKEN), 2 * b, 2 * len(problem.mean_information[-1]))
    if m <= max(FROM, 4 * taken):
        whole = problem.restricted(np.arange(m))
        return solve(whole, capped, _method(whole), tol, max_iter, report)
    rows, gradients, history, measure = _sample(m, taken), 0, [], problem.evaluator()
    f, M = _at_equal_weights(problem, measure)
    inner, best, lower = None, (np.inf, None), 0.0
    while True:
        # 1. One pass over the pool: the certificate.
        a = problem.contract(M)
        np.maximum(a, 0, out=a)
        known = inner_product(problem.labeled_information, M)
        M = None  # of large blocks, two do not fit
        lower = max(lower, f * f / (largest_sum(a, b, capped) + known))
        if inner is not None and f < best[0]:
            best = f, _weights(m, b, rows, inner)
        history.append((f, lower))
        gap = float(max(0.0, 1 - lower / min(f, best[0])))
        # 2. Stop at the gap, or replace the idle points of the working set by the violators.
        solved = inner is not None
        if (solved and (gap <= tol or len(rows) == m)) or len(history) == MOST_PASSES:
            break
        if len(history) > PATIENCE:
            taken = min(2 * taken, m)
        rows, start = _renewed(rows, inner, a, taken, b)
        # 3. Solve on the working set, in the beginning only roughly.
        small = problem.restricted(rows)
        wanted = tol / 2 if len(rows) == m else max(tol / 2, ROUGH * gap)
        inner = _solve_inside(small, capped, wanted, max_iter, start, gradients, report)
        gradients += inner.iterations
        f, M = _evaluate(measure, small, inner.z)
        if len(history) == 1 and 1 - lower / f <= tol:  # the bound of equal weights is enough
            best = f, _weights(m, b, rows, inner)
            break
        if M is None:  # no ridge, and W does not span the parameters: a larger sample will
            (f, M), inner = _at_equal_weights(problem, measure), None
            rows = _sample(m, 2 * len(rows))
    if best[1] is None:
        best = f, _weights(m, b, rows, None)
    gap = float(max(0.0, 1 - lower / best[0]))
    converged, passes = bool(gap <= tol), len(history) + 1  # and one for H_p
    if not converged:
        warnings.warn(
            f"relax stopped after {len(history)} passes over the pool with a certified gap of "
            f"{gap:.2g}, wanted {tol:g}: raise max_iter or tol",
            RuntimeWarning,
            stacklevel=3,
        )
    near = nearest_to_weight(best[1], a, b)
    return Relaxation(best[1], best[0], gap, gradients, converged, np.array(history), passes, near)


def _at_equal_weights(problem, measure):
    """f and M of equal weights for all points: no pass is needed."""
    Sigma = problem.budget * problem.mean_information
    Sigma += problem.labeled_information
    return measure(Sigma)


def _sample(m, size):
    """Rows that are spread evenly over the pool."""
    return np.linspace(0, m - 1, min(size, m)).astype(int)


def _weights(m, b, rows, inner):
    """Weights of all points; equal ones if nothing was solved."""
    if inner is None:
        return np.full(m, b / m)
    z = np.zeros(m)
    z[rows] = inner.z
    return z


def _renewed(rows, inner, a, taken, b):
    """The next working set: points with weight and the largest a; weights to start from."""
    top = np.argpartition(a, a.size - taken)[a.size - taken :]
    if inner is None:
        return np.union1d(rows, top), None
    kept = inner.z > IDLE * b / len(rows)
    both = np.union1d(rows[kept], top)
    start = np.full(len(both), FRESH * b / len(both))
    start[np.searchsorted(both, rows[kept])] += (1 - FRESH) * inner.z[kept]
    return both, start


def _solve_inside(small, capped, tol, max_iter, start, before, report):
    """The problem of a working set; ``before`` gradients were reported already."""

    def step(done, most):
        if report is not None:
            report(before + done, most)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the gap that counts is that of the pool
        return solve(small, capped, _method(small), tol, max_iter, step, start)


def _method(small):
    """How a working set is solved; blocks have no single precision."""
    return "accelerated" if small.mean_information.ndim == 2 else "multiplicative"


def _evaluate(measure, small, z):
    """f and M of weights on a working set; (inf, None) if rounding leaves no valid certificate.

    <Sigma, M> = f. Where Sigma is singular to rounding, the two numbers differ.
    """
    if z is None:
        return np.inf, None
    Sigma = small.total_information(z)
    f, M = measure(Sigma)
    if M is None or not abs(inner_product(Sigma, M) - f) <= SOUND * f:
        return np.inf, None
    return f, M
