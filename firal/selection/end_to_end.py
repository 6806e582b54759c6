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

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.progress import reporter
from firal.common.threads import threads_for
from firal.selection.ftrl import LARGEST_ETA, Selection, run_ftrl
from firal.selection.problem import prepare_problem, warn_if_all_tie
from firal.selection.relaxation import check_options, solve
from firal.selection.rounding import prepare_rounding, spectrum_of

METHOD, MAX_ITER = "multiplicative", 1000


def select(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike,
    budget: int,
    *,
    eta: float | str | None = None,
    replace: bool = False,
    capped: bool = True,
    tol: float = 1e-2,
    progress: bool | Callable[[str, int, int], None] | None = None,
) -> Selection:
    """Pick the points of a pool to label next: FIRAL, Algorithm 1 of the paper.

    Solves the relaxed problem to a certified gap (see ``relax``), then rounds the weights to points
    (see ``sparsify``).

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    theta : array_like of shape (c-1, d)
        Parameters, for example from ``fit``; the last class is the reference.
    budget : int
        Number of points to pick.
    eta : float or "theory", optional
        Learning rate of the rounding. By default several are tried, and the one with the largest
        lambda_min is kept. "theory" is the closed form, which needs budget > 2 d~.
    replace : bool, default False
        Whether a point may be picked again.
    capped : bool, default True
        Whether no weight of the relaxed problem may exceed 1.
    tol : float, default 1e-2
        Certified relative gap of the relaxed problem, between 0 and 1.
    progress : bool or callable, optional
        True for a tqdm bar, or a function called as ``progress(stage, done, total)`` with stage
        "relax" (total is the most it may take) or "sparsify".

    Returns
    -------
    Selection
        The picked rows and their certificate, with ``relaxation`` and ``tried`` filled.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the budget exceeds the pool, or the points have
        no information of full rank on the span of their features.

    Notes
    -----
    Deterministic. If no eta has a positive lambda_min (too few points for full rank), the one with
    the smallest trace (I + sum H~)^{-1} is kept. The certificate says that the picked points have
    an objective of at most ``relaxation.objective / lambda_min``. The chapter *The guarantee* has
    the proof, *What it costs* counts the work.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> rng = np.random.default_rng(0)
    >>> pool, theta = rng.normal(size=(200, 3)), rng.normal(size=(2, 3))
    >>> selection = firal.select(pool, pool[:5], theta, budget=10)
    >>> len(set(selection.indices)), selection.relaxation.converged
    (10, True)
    """
    check_options(capped, METHOD, tol, MAX_ITER)
    checks.boolean(replace, "replace")
    report, bar = reporter(progress)
    limits = (("capped=False", capped), ("replace=True", not replace))
    needed = " and ".join(option for option, limited in limits if limited)
    advice = f"set {needed} to allow repeated picks" if needed else None
    problem = prepare_problem(pool, labeled, theta, budget, if_too_large=advice)
    etas = _etas(eta, problem.size, problem.budget)
    warn_if_all_tie(problem, labeled, theta)
    try:
        with threads_for(problem.size):
            # 1. Weights for all points.
            relaxation = solve(problem, capped, METHOD, tol, MAX_ITER, partial(report, "relax"))
            # 2. From weights to points, with every eta.
            best, tried = _tune(prepare_rounding(problem, relaxation.z), etas, replace, report)
    finally:
        if bar is not None:
            bar.close()
    return best._replace(relaxation=relaxation, tried=tried)


def eta_grid(size: int, budget: int) -> list[float]:
    """The learning rates that ``select`` tries.

    Parameters
    ----------
    size : int
        Number of parameters d~.
    budget : int
        Number of points to pick.

    Returns
    -------
    list of float
        Ascending: 8 sqrt(d~) times 2^-3, .., 2^3, and the closed form if budget > 2 d~.
    """
    grid = list(8 * np.sqrt(size) * 2.0 ** np.arange(-3, 4))
    if budget > 2 * size:
        grid.append(eta_theory(size, budget))
    return sorted(float(value) for value in grid)


def eta_theory(size: int, budget: int) -> float:
    """The eta with the best guarantee: ``sqrt(2) b / (sqrt(b) - sqrt(2 d~))``.

    Parameters
    ----------
    size : int
        Number of parameters d~.
    budget : int
        Number of points b to pick; more than 2 d~.

    Returns
    -------
    float
        The learning rate.

    Raises
    ------
    ValueError
        If the budget is at most 2 d~.
    """
    if not budget > 2 * size:
        raise ValueError(
            f'eta="theory" needs a budget above 2 d~ = {2 * size}, got {budget}: below, the theory '
            "gives no value; use eta=None, which tries a grid, or give a number"
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

        runs.append(run_ftrl(rounding, eta, replace, step))
    full_rank = [r for r in runs if np.isfinite(r.objective)]
    if full_rank:
        best = max(full_rank, key=lambda r: r.lambda_min)
    else:
        best = min(runs, key=lambda r: np.sum(1 / (1 + spectrum_of(rounding, r.indices))))
    return best, tuple((r.eta, r.lambda_min) for r in runs)
