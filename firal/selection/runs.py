"""From weights to points, by all rules that are wanted: the best run is kept.

Pools in memory (``firal.selection.end_to_end``) and pools that are read block by block
(``firal.selection.candidates``) differ in how the candidates are found. From there on they are the
same, and that is here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock

import numpy as np

from firal.common.nogil import in_threads
from firal.common.threads import matrix_threads
from firal.selection.block_rounding import BlockRounding
from firal.selection.ftrl import Selection, run_ftrl
from firal.selection.picked import spectrum_of
from firal.selection.rounding import Rounding
from firal.selection.scoring import TIE


def rounded(
    rounding: Rounding | BlockRounding,
    etas: list[float],
    *,
    by_objective: bool,
    greedy: bool,
    replace: bool = False,
    first: int | None = None,
    report: Callable[[str, int, int], None],
    watch: Callable[[int, np.ndarray], None] | None = None,
) -> tuple[Selection, tuple]:
    """Run FTRL with some learning rates, and greedy steps, and keep the best run.

    Parameters
    ----------
    rounding : Rounding or BlockRounding
        The prepared candidates and their weights.
    etas : list of float
        Learning rates; may be empty if ``greedy``.
    by_objective : bool
        Whether the smallest objective is best, or the largest ``lambda_min``.
    greedy : bool
        Whether greedy steps are tried, too.
    replace : bool
        Whether FTRL may pick a point again.
    first : int, optional
        Only so many points, the first ones, may be picked; by default all.
    report : callable
        Called as ``report(stage, done, total)``.
    watch : callable, optional
        Of greedy steps, as in ``bait``; without them of FTRL, as in ``sparsify``, if there is one
        learning rate.

    Returns
    -------
    tuple
        The best run, and ((eta, lambda_min), ..) of every eta.
    """
    pickable = rounding if first is None else rounding.of_first(first)
    watch_ftrl = watch if len(etas) == 1 and not greedy else None
    runs = _ftrl_runs(pickable, etas, replace, report, watch_ftrl)
    tried = tuple((r.eta, r.lambda_min) for r in runs)
    if greedy:
        runs.append(run_greedy(rounding, pickable, partial(report, "greedy"), watch))
    return _best(rounding, runs, by_objective), tried


def run_greedy(
    rounding: Rounding | BlockRounding,
    pickable: Rounding | BlockRounding,
    report: Callable[[int, int], None] | None = None,
    watch: Callable[[int, np.ndarray], None] | None = None,
) -> Selection:
    """Pick points by greedy steps on the objective itself.

    The better of two sets is kept: the first b points added, for which the small-budget theorem
    holds, and b points left of 2b added when the others were removed again.

    Parameters
    ----------
    rounding : Rounding or BlockRounding
        The prepared problem; its weights z only serve the certificate ``lambda_min``.
    pickable : Rounding or BlockRounding
        The same, or that of its first points, which alone may be picked.
    report : callable, optional
        Called after every forward step as ``report(done, total)``.
    watch : callable, optional
        As in ``bait``.

    Returns
    -------
    Selection
        The picked rows; ``eta`` is None.
    """
    runs, none = [], np.empty(0)
    for rows in pickable.greedy_picks(watch, report):
        lambda_min, objective = rounding.quality(rows)
        runs.append(Selection(rows, None, lambda_min, none, none, objective))
    return _best(rounding, runs[::-1], by_objective=True)


def _ftrl_runs(rounding, etas, replace, report, watch):
    """One run per eta; large matrices on one thread each, some runs at the same time."""
    b, done, lock = rounding.problem.budget, [0], Lock()
    threads = matrix_threads(rounding.problem.size, rounding.problem.threads)

    def step(*_):
        with lock:
            done[0] += 1
            report("sparsify", done[0], len(etas) * b)

    def run(eta):
        mine = rounding
        if min(threads, len(etas)) > 1:
            mine = rounding.alone()
        return run_ftrl(mine, eta, replace, step, watch)

    return in_threads(run, etas, threads)


def _best(rounding, runs, by_objective):
    """The run to keep, the first of equals: by the objective, or by lambda_min."""
    if by_objective:  # the same points in another order may differ by rounding
        least = min(r.objective for r in runs)
        return next(r for r in runs if r.objective <= least * (1 + TIE))
    full_rank = [r for r in runs if np.isfinite(r.objective)]
    if full_rank:
        return max(full_rank, key=lambda r: r.lambda_min)
    return min(runs, key=lambda r: np.sum(1 / (1 + spectrum_of(rounding, r.indices))))
