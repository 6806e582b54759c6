"""Rounding on candidates: the points with weight, instead of the whole pool.

Every averaging argument behind the rounding uses the weights z only, so its guarantees hold for the
points with weight (the chapter *The guarantee* has the theorem). Then the pool leaves the inner
loop: scores are computed for a few thousand points, however large the pool is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from firal.common import checks
from firal.selection.problem import Problem
from firal.selection.relaxation import LARGE
from firal.selection.solver import Relaxation

CANDIDATES = ("all", "support")


def check_candidates(candidates: str | None) -> None:
    """Check the option of ``select`` and ``sparsify``.

    Parameters
    ----------
    candidates : str or None
        One of ``CANDIDATES``, or None for the default.

    Raises
    ------
    ValueError
        If it is something else.
    """
    if candidates not in (None, *CANDIDATES):
        raise ValueError(f"candidates must be one of {CANDIDATES} or None, got {candidates!r}")


def given_rows(candidates: Any, m: int, least: int) -> np.ndarray | None:
    """Rows of the pool that are given as the candidates.

    Parameters
    ----------
    candidates : str, array_like of int, or None
        The option of ``select``.
    m : int
        Number of points of the pool.
    least : int
        Smallest number of candidates.

    Returns
    -------
    np.ndarray of int, or None
        Ascending; None if the option is not a list of rows.

    Raises
    ------
    ValueError
        If they are no distinct rows of the pool, or too few, or the option is another word.
    """
    if candidates is None or isinstance(candidates, str):
        check_candidates(candidates)
        return None
    rows = np.sort(checks.rows(candidates, m, "candidates"))
    if rows.size < least:
        raise ValueError(f"candidates must be at least {least} rows, the budget, got {rows.size}")
    return rows


def candidates_of(
    problem: Problem,
    relaxation: Relaxation,
    candidates: str | np.ndarray | None,
) -> tuple[Problem, np.ndarray, np.ndarray | None, int | None]:
    """The problem of the candidates of a solved relaxed problem.

    Parameters
    ----------
    problem : Problem
        The prepared data, or any object with the names that :mod:`firal.selection.working_set`
        lists.
    relaxation : Relaxation
        The relaxed solution.
    candidates : str, np.ndarray of int, or None
        "all"; "support" for the points with weight and those that are the next to get some; None
        for "support" from ``LARGE`` points on; or rows, which are followed by those with weight, of
        which Sigma(z) consists.

    Returns
    -------
    tuple
        The problem of the candidates and of all points with weight, their weights, their rows, and
        how many of them, the first ones, are candidates. None for rows if they are the whole pool,
        and None for the number if all are candidates.
    """
    if isinstance(candidates, np.ndarray):
        rows = np.concatenate([candidates, np.setdiff1d(np.flatnonzero(relaxation.z), candidates)])
        return problem.restricted(rows), relaxation.z[rows], rows, len(candidates)
    if candidates is None:
        candidates = "support" if problem.n_points >= LARGE else "all"
    if candidates == "all":
        return problem, relaxation.z, None, None
    rows = relaxation.candidates
    return problem.restricted(rows), relaxation.z[rows], rows, None


def on_support(
    problem: Problem, z: np.ndarray, replace: bool
) -> tuple[Problem, np.ndarray, np.ndarray]:
    """The problem of the points with weight.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    z : np.ndarray of shape (m,)
        Weights.
    replace : bool
        Whether a point may be picked again.

    Returns
    -------
    tuple
        The problem of these points, their weights, and their rows.

    Raises
    ------
    ValueError
        If fewer than ``budget`` points have weight, and none may be picked again.
    """
    rows = np.flatnonzero(z)
    if not replace and len(rows) < problem.budget:
        raise ValueError(
            f"z must have weight on at least {problem.budget} points, the budget, got {len(rows)}: "
            'set candidates="all", or replace=True to allow repeated picks'
        )
    return problem.restricted(rows), z[rows], rows


def spread(
    watch: Callable[[int, np.ndarray], None] | None, rows: np.ndarray | None, m: int
) -> Callable[[int, np.ndarray], None] | None:
    """Translate what a run on candidates tells into rows of the pool.

    Parameters
    ----------
    watch : callable or None
        Called as ``watch(i, scores)`` with the row of the pool and the scores (m,) of all points;
        NaN stands for points that are no candidates.
    rows : np.ndarray of int, or None
        Rows of the candidates; None if all points are candidates.
    m : int
        Number of points of the pool.

    Returns
    -------
    callable or None
        To be called with a candidate and the scores of the candidates.
    """
    if watch is None or rows is None:
        return watch

    def translated(i, scores):
        all_scores = np.full(m, np.nan)
        all_scores[rows] = scores
        watch(int(rows[i]), all_scores)

    return translated


def of_pool(selection: Any, rows: np.ndarray | None) -> Any:
    """A selection of candidates as rows of the pool.

    Parameters
    ----------
    selection : NamedTuple
        With ``indices`` of candidates.
    rows : np.ndarray of int, or None
        Rows of the candidates; None if all points are candidates.

    Returns
    -------
    NamedTuple
        With ``indices`` of the pool.
    """
    return selection if rows is None else selection._replace(indices=rows[selection.indices])
