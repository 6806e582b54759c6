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
from contextlib import closing, nullcontext
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.progress import reporter
from firal.common.threads import one_thread
from firal.selection.block_rounding import any_rounding
from firal.selection.ftrl import LARGEST_ETA, Selection
from firal.selection.relaxation import check_options, solve_relaxed
from firal.selection.runs import rounded
from firal.selection.structure import prepare
from firal.selection.support import candidates_of, given_rows, of_pool, spread
from firal.selection.ties import warn_if_all_tie
from firal.selection.working_set import solve_on_working_set

MAX_ITER = 1000
ROUNDINGS = ("ftrl", "greedy", "best")


def select(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    *,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    eta: float | str | None = None,
    rounding: str | None = None,
    structure: str = "auto",
    candidates: str | ArrayLike | None = None,
    replace: bool = False,
    capped: bool = True,
    tol: float = 1e-2,
    progress: bool | Callable[[str, int, int], None] | None = None,
    watch: Callable[[int, np.ndarray], None] | None = None,
) -> Selection:
    """Pick the points of a pool to label next: FIRAL, Algorithm 1 of the paper, or penalized.

    Solves the relaxed problem to a certified gap (see ``relax``), then rounds the weights to points
    (see ``sparsify``).

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    theta : array_like of shape (c-1, d)
        Parameters, for example from ``fit``; the last class is the reference. With a ridge, zeros
        will do before the first label.
    budget : int
        Number of points to pick.
    ridge : float, default 0.0
        Penalty of the fit that the labels are for: the information of n0 + budget labels has
        ``(n0 + budget) * ridge`` times the penalty added, in the given coordinates. 0 is the paper.
    probabilities : tuple of array_like, optional
        Class probabilities of the pool (m, c) and of the labeled points (n0, c) from any
        classifier; theta must be None then.
    eta : float or "theory", optional
        Learning rate of the rounding. By default several are tried, and the best run is kept.
        "theory" is the closed form, which needs budget > 2 d~.
    rounding : {"ftrl", "greedy", "best"}, optional
        How weights become points: "ftrl" is Algorithm 1; "greedy" adds and removes points by the
        objective, as ``bait`` does, and needs a ridge; "best" runs both and keeps the smaller
        objective. The default is "ftrl" without a ridge, "best" with one, and "greedy" with a ridge
        and blocks.
    structure : {"full", "block-diagonal", "auto"}
        "block-diagonal" keeps one block of size d per class of all information
        (:mod:`firal.selection.block_diagonal`): quick for many classes. "auto" is full where that
        is feasible, and says so in a warning where it is not (:mod:`firal.selection.structure`).
    candidates : {"all", "support"} or array_like of int, optional
        Which points the rounding may pick: "all" is Algorithm 1; "support" are the points with
        weight and a few thousand that are the next to get some, so that the pool is not read again.
        The default is "all" for fewer than 10,000 points, and "support" for more. With "greedy"
        these may be rows of the pool: no other point is picked. The weights, H_p and the
        certificate stay those of the whole pool.
    replace : bool, default False
        Whether a point may be picked again; "ftrl" only.
    capped : bool, default True
        Whether no weight of the relaxed problem may exceed 1.
    tol : float, default 1e-2
        Certified relative gap of the relaxed problem, between 0 and 1.
    progress : bool or callable, optional
        True for a tqdm bar, or a function called as ``progress(stage, done, total)`` with stage
        "relax" (total is the most it may take), "sparsify" or "greedy"; with blocks also
        "information" and "pass".
    watch : callable, optional
        Of greedy steps, as in ``bait``; of FTRL, as in ``sparsify``, if ``eta`` is a number and no
        greedy steps are made. NaN stands for points that are no candidates.

    Returns
    -------
    Selection
        The picked rows and their certificate, with ``relaxation`` and ``tried`` filled.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the budget exceeds the pool, or there is no ridge
        and the points have no information of full rank on the span of their features.

    Notes
    -----
    Deterministic. Without a ridge the run with the largest lambda_min is kept; if no eta has a
    positive one (too few points for full rank), that with the smallest trace (I + sum H~)^{-1}.
    With a ridge the run with the smallest objective is kept.
    The certificate says that the picked points have an objective of at most
    ``relaxation.objective / lambda_min``, and of at most ``ratio`` times the best possible one.
    The chapter *The guarantee* has the proof, *What it costs* counts the work.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> rng = np.random.default_rng(0)
    >>> pool, theta = rng.normal(size=(200, 3)), rng.normal(size=(2, 3))
    >>> selection = firal.select(pool, pool[:5], theta, budget=10)
    >>> len(set(selection.indices)), selection.relaxation.converged
    (10, True)
    >>> first = firal.select(pool, None, np.zeros((2, 3)), budget=4, ridge=0.01)  # no label yet
    >>> bool(first.ratio < 1.5)
    True
    """
    check_options(capped, None, tol, MAX_ITER)
    checks.boolean(replace, "replace")
    checks.function(watch, "watch")
    by_default = rounding is None
    rounding = _rounding(rounding, ridge, replace)
    if eta is not None and rounding == "greedy":
        raise ValueError(f'eta must be None with rounding="greedy", got {eta!r}')
    report, bar = reporter(progress)
    limits = (("capped=False", capped), ("replace=True", not replace))
    needed = " and ".join(option for option, limited in limits if limited)
    advice = f"set {needed} to allow repeated picks" if needed else None
    problem, choice = prepare(
        pool,
        labeled,
        theta,
        budget,
        structure=structure,
        task="select" if eta is None and rounding != "greedy" else "sparsify",
        ridge=ridge,
        probabilities=probabilities,
        if_too_large=advice,
        report=report,
    )
    m = problem.n_points
    only = given_rows(candidates, m, problem.budget)
    if choice.structure == "full":
        warn_if_all_tie(problem, pool, labeled, ridge)
    elif by_default and rounding == "best" and eta is None:
        rounding = "greedy"
    if only is not None and rounding != "greedy":
        raise ValueError(
            f'candidates must be a word unless rounding="greedy", got {len(only)} rows'
        )
    etas = etas_of(eta, problem.parameters, problem.budget) if rounding != "greedy" else []
    with _closing(bar), one_thread():
        # 1. Weights for all points.
        steps = partial(report, "relax")
        if rounding == "greedy":  # only the certificate needs the weights
            relaxation = solve_on_working_set(problem, capped, tol, MAX_ITER, steps)
        else:
            relaxation = solve_relaxed(problem, capped, None, tol, MAX_ITER, steps)
        # 2. From weights to points, with every eta, and by greedy steps.
        wanted = candidates if only is None else only
        small, z, rows, first = candidates_of(problem, relaxation, wanted)
        best, tried = rounded(
            any_rounding(small, z),
            etas,
            by_objective=bool(ridge),
            greedy=rounding != "ftrl",
            replace=replace,
            first=first,
            report=report,
            watch=spread(watch, rows if only is None else only, m),
        )
    passes = relaxation.passes
    if rows is None:  # every step reads the whole pool, a greedy run has 2b forward ones
        passes += problem.budget * len(etas)
        passes += min(2 * problem.budget, problem.n_points) if rounding != "ftrl" else 0
    return of_pool(best, rows)._replace(
        relaxation=relaxation._replace(structure=choice.structure, why=choice.why),
        tried=tried,
        passes=passes,
        structure=choice.structure,
        why=choice.why,
    )


def _closing(bar):
    return nullcontext() if bar is None else closing(bar)


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


def etas_of(eta: float | str | None, size: int, budget: int) -> list[float]:
    """The learning rates that an option of ``select`` means.

    Parameters
    ----------
    eta : float, "theory" or None
        The option.
    size : int
        Number of parameters d~.
    budget : int
        Number of points to pick.

    Returns
    -------
    list of float
        One or more.

    Raises
    ------
    ValueError
        If it is something else, or there is no closed form.
    """
    if eta is None:
        return eta_grid(size, budget)
    if isinstance(eta, str):
        if eta != "theory":
            raise ValueError(f'eta must be None, "theory" or a positive number, got {eta!r}')
        return [eta_theory(size, budget)]
    return [checks.number(eta, "eta", 0, LARGEST_ETA)]


def _rounding(rounding, ridge, replace):
    """The name of the rounding, checked."""
    ridge = checks.number(ridge, "ridge", 0, strict=False)
    if rounding is None:
        return "best" if ridge and not replace else "ftrl"
    if rounding not in ROUNDINGS:
        raise ValueError(f"rounding must be one of {ROUNDINGS}, got {rounding!r}")
    if rounding != "ftrl" and (replace or not ridge):
        what = "replace=True" if replace else "ridge=0"
        raise ValueError(f'rounding must be "ftrl" with {what}, got {rounding!r}')
    return rounding
