"""From a streamed problem to points: relax on a working set, then round on candidates in memory.

Every averaging argument behind the rounding uses the weights z only, so its guarantees hold when
the candidates are the points with weight. To these come the points with the largest <H(x_i), M> of
the last pass and a spread of others: greedy steps with fewer points than parameters use them.

For a pool in memory, :mod:`firal.selection.support` says which points are candidates. From there
on both ways are one, in :mod:`firal.selection.runs`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from firal.common.threads import one_thread
from firal.selection.bait import greedy_picks
from firal.selection.block_rounding import any_rounding
from firal.selection.end_to_end import MAX_ITER, etas_of
from firal.selection.ftrl import Selection
from firal.selection.relaxation import Relaxation
from firal.selection.runs import rounded
from firal.selection.streamed import StreamedProblem
from firal.selection.working_set import solve_on_working_set

SPREAD = 10_000  # candidates that are spread evenly over the pool
MOST = 10_000  # candidates with weight; there are far fewer unless weights are equal


def relaxed_candidates(
    problem: StreamedProblem, tol: float, report: Callable[[str, int, int], None]
) -> tuple[Relaxation, np.ndarray]:
    """Solve the relaxed problem, and say which points are candidates.

    Parameters
    ----------
    problem : StreamedProblem
        The prepared data.
    tol : float
        Certified relative gap to reach.
    report : callable
        Called as ``report("relax", done, most)``.

    Returns
    -------
    relaxation : Relaxation
        Weights of all points, certified for the whole pool.
    candidates : np.ndarray of int
        Points, ascending.
    """
    m, b, steps = problem.n_points, problem.budget, partial(report, "relax")
    with one_thread():
        relaxation = solve_on_working_set(problem, True, tol, MAX_ITER, steps)
    support = _evenly(np.flatnonzero(relaxation.z), MOST)
    spread = _evenly(np.arange(m), max(SPREAD, 4 * b))
    return relaxation, np.unique(np.concatenate([support, problem.best, spread]))


def _evenly(rows, most):
    """At most so many of the rows, spread evenly."""
    if rows.size <= most:
        return rows
    return rows[np.linspace(0, rows.size - 1, most).astype(int)]


def select_from_candidates(
    problem: StreamedProblem,
    *,
    eta: float | str | None = None,
    rounding: str = "ftrl",
    tol: float = 1e-2,
    only: np.ndarray | None = None,
    report: Callable[[str, int, int], None],
) -> Selection:
    """Pick points of a pool that is read block by block.

    Parameters
    ----------
    problem : StreamedProblem
        The prepared data.
    eta : float, "theory" or None
        As in ``firal.select``.
    rounding : {"ftrl", "greedy"}
        As in ``firal.select``.
    tol : float, default 1e-2
        Certified relative gap of the relaxed problem.
    only : np.ndarray of int, optional
        The only points that greedy steps may pick, ascending.
    report : callable
        Called as ``report(stage, done, total)``.

    Returns
    -------
    Selection
        The picked points; ``objective`` and ``ratio`` are certified for the whole pool.
        ``lambda_min`` is that against the weights of the candidates, which are all weights unless
        more than ``MOST`` points have some (equal weights).
    """
    relaxation, candidates = relaxed_candidates(problem, tol, report)
    if only is not None:
        support = np.setdiff1d(np.flatnonzero(relaxation.z), only)
        candidates = np.concatenate([only, _evenly(support, MOST)])
    small, z = problem.restricted(candidates), relaxation.z[candidates]
    z *= problem.budget / z.sum()
    greedy = rounding == "greedy"
    with one_thread():
        best, tried = rounded(
            any_rounding(small, z),
            [] if greedy else etas_of(eta, small.parameters, small.budget),
            by_objective=greedy,
            greedy=greedy,
            first=None if only is None else len(only),
            report=report,
        )
    structure = "full" if problem.mean_information.ndim == 2 else "block-diagonal"
    return best._replace(
        indices=candidates[best.indices],
        relaxation=relaxation._replace(structure=structure),
        tried=tried,
        passes=relaxation.passes,
        structure=structure,
    )


def bait_from_candidates(
    problem: StreamedProblem, report: Callable[[str, int, int], None], tol: float = 0.1
) -> np.ndarray:
    """Pick points by BAIT among the candidates.

    Parameters
    ----------
    problem : StreamedProblem
        The prepared data, without a ridge.
    report : callable
        Called as ``report(stage, done, total)``.
    tol : float, default 0.1
        Gap of the relaxed problem, which only serves to find the candidates.

    Returns
    -------
    np.ndarray of shape (budget,)
        Points, in the order they were added.
    """
    _, candidates = relaxed_candidates(problem, tol, report)
    small = problem.restricted(candidates)
    start = small.labeled_information + small.mean_information
    with one_thread():
        steps = partial(report, "greedy")
        return candidates[greedy_picks(small, start, report=steps)[1]]
