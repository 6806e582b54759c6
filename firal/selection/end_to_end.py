"""FIRAL from end to end (Algorithm 1), and the choice of its one parameter eta.

Small eta makes the rounding forget which directions are still weak, large eta makes it look at the
weakest direction only. With d~ = rank(features) * (c-1), theory knows two values:

- the paper's Theorem 10 takes eta = 8 sqrt(d~) / eps for a wanted accuracy eps < 1;
- the bound lambda_min >= b / (b + eta sqrt(d~)) - 2 sqrt(d~) / eta, which holds for points picked
  with replacement, is best at eta = sqrt(2) b / (sqrt(b) - sqrt(2 d~)) if b > 2 d~. This is at
  least 8 sqrt(d~), with equality at b = 8 d~.

So the grid is log-spaced around 8 sqrt(d~): that number times 2^-3, .., 2^3, and the closed form
if there is one. The relaxed problem does not depend on eta and is solved once. The runs share it,
the factor of Sigma, and the eigenvalues of every partial sum that more than one of them meets.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from firal.common import checks
from firal.common.progress import reporter
from firal.common.threads import threads_for
from firal.selection.ftrl import (
    LARGEST_ETA,
    check_budget,
    prepare_rounding,
    run,
    spectrum_of,
)
from firal.selection.problem import prepare, warn_if_all_tie
from firal.selection.relaxation import check_relaxation, solve

MAX_ITER = 1000


def select(
    pool, labeled, theta, budget, *, eta=None, replace=False, capped=True, tol=1e-2, progress=None
):
    """Pick ``budget`` points of the pool to label: FIRAL, Algorithm 1 of the paper.

    pool (m, d), labeled (n0, d) or None, theta (c-1, d). Solves the relaxed problem to a
    certified relative gap of ``tol`` (see ``relax``), then rounds it (see ``sparsify``).
    ``eta`` is a positive number, or None for the value of the grid with the largest lambda_min,
    or "theory" for the closed form, which needs budget > 2 d~. ``replace`` and ``capped`` are
    as in ``sparsify`` and ``relax``. ``progress`` is True for a tqdm bar, or a function called as
    ``progress(stage, done, total)`` with stage "relax" (total is the most it may take) or
    "sparsify". Deterministic.

    Returns a ``Selection`` with ``relaxation`` and ``tried`` filled. If no eta of the grid has a
    positive lambda_min (too few points for full rank), the one with the smallest
    trace (I + sum H~)^{-1} is kept.
    """
    problem = prepare(pool, labeled, theta, budget)
    check_relaxation(problem, capped, "multiplicative", tol, MAX_ITER)
    check_budget(problem, replace)
    etas = _etas(eta, problem.size, problem.budget)
    report, bar = reporter(progress)
    warn_if_all_tie(problem, labeled, theta)
    try:
        with threads_for(problem.size):
            relaxation = solve(
                problem, capped, "multiplicative", tol, MAX_ITER, partial(report, "relax")
            )
            best, tried = _tune(prepare_rounding(problem, relaxation.z), etas, replace, report)
    finally:
        if bar is not None:
            bar.close()
    return best._replace(relaxation=relaxation, tried=tried)


def eta_grid(size, budget):
    """The values tried by ``select`` for d~ = size, ascending: 8 sqrt(d~) times 2^-3, .., 2^3, and
    the closed form if budget > 2 d~."""
    grid = list(8 * np.sqrt(size) * 2.0 ** np.arange(-3, 4))
    if budget > 2 * size:
        grid.append(eta_theory(size, budget))
    return sorted(float(value) for value in grid)


def eta_theory(size, budget):
    """``sqrt(2) b / (sqrt(b) - sqrt(2 d~))``: the eta with the best guarantee, for b > 2 d~."""
    if not budget > 2 * size:
        raise ValueError(
            f'eta="theory" needs a budget above 2 d~ = {2 * size}, got {budget}: there the theory '
            "says nothing; use eta=None, which tries a grid, or give a number"
        )
    return float(np.sqrt(2) * budget / (np.sqrt(budget) - np.sqrt(2 * size)))


def _etas(eta, size, budget):
    if eta is None:
        return eta_grid(size, budget)
    if isinstance(eta, str):
        if eta != "theory":
            raise ValueError(f'eta must be None, "theory" or a positive number, got {eta!r}')
        return [eta_theory(size, budget)]
    return [checks.number(eta, "eta", 0, LARGEST_ETA)]


def _tune(rounding, etas, replace, report):
    """The run with the largest lambda_min (the first of equals), and all (eta, lambda_min)."""
    runs, b = [], rounding.problem.budget
    for before, eta in enumerate(etas):

        def step(done, _, before=before):
            report("sparsify", before * b + done, len(etas) * b)

        runs.append(run(rounding, eta, replace, step))
    full_rank = [r for r in runs if np.isfinite(r.objective)]
    if full_rank:
        best = max(full_rank, key=lambda r: r.lambda_min)
    else:
        best = min(runs, key=lambda r: np.sum(1 / (1 + spectrum_of(rounding, r.indices, None))))
    return best, tuple((r.eta, r.lambda_min) for r in runs)
