"""The relaxed problem: how much weight should every pool point get?

With H(x) the information of one point at theta, H_p its mean over the pool and b the budget, ::

    minimize    f(z) = trace(Sigma(z)^{-1} H_p)
    subject to  sum_i z_i = b,   0 <= z_i <= 1 if capped, 0 <= z_i otherwise,
    where       Sigma(z) = sum_i z_i (H(x_i) + (1/b) sum_labeled H).

With a ridge the labeled information has the penalty added (``firal.selection.problem``).
Every gradient gives a lower bound on the optimum (``firal.selection.certificate``), so the result
comes with a certified relative gap. Few points have weight at the optimum, so a large pool is
solved on a working set (``firal.selection.working_set``), and read only a few times. A small pool
is solved as a whole (``firal.selection.solver``), with two readings per gradient.
"""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.threads import one_thread
from firal.selection.block_diagonal import BlockProblem
from firal.selection.problem import Problem
from firal.selection.solver import Relaxation, solve
from firal.selection.structure import prepare
from firal.selection.working_set import solve_on_working_set

METHODS = ("working-set", "multiplicative", "mirror")
LARGE = 10_000  # from this number of points on, the default is a working set


def relax(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    *,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    structure: str = "auto",
    capped: bool = True,
    method: str | None = None,
    tol: float = 1e-2,
    max_iter: int = 1000,
) -> Relaxation:
    """Solve the relaxed design problem to a certified relative gap.

    Minimizes ``f(z) = trace(Sigma(z)^{-1} H_p)`` subject to ``sum(z) = budget`` and
    ``0 <= z <= 1``, where Sigma(z) is the information of the weighted pool and the labeled points.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    theta : array_like of shape (c-1, d)
        Parameters; the last class is the reference.
    budget : int
        Sum of the weights.
    ridge : float, default 0.0
        Penalty of the fit that the labels are for: the information of n0 + budget labels has
        ``(n0 + budget) * ridge`` times the penalty added, in the given coordinates. 0 is the paper.
    probabilities : tuple of array_like, optional
        Class probabilities of the pool (m, c) and of the labeled points (n0, c) from any
        classifier; theta must be None then.
    structure : {"full", "block-diagonal", "auto"}
        "block-diagonal" keeps one block of size d per class of all information
        (:mod:`firal.selection.block_diagonal`): quick for many classes. "auto" is full where that
        is feasible, and says so in a warning where it is not (:mod:`firal.selection.structure`).
    capped : bool, default True
        Whether no weight may exceed 1, as the paper states the problem. False is what Algorithm 2
        of the paper solves.
    method : {"working-set", "multiplicative", "mirror"}, optional
        "mirror" is Algorithm 2 of the paper, "multiplicative" is quicker; both read the whole pool
        twice per gradient. "working-set" reads it a handful of times, with the same certificate.
        The default is "multiplicative" for small pools, and "working-set" for large ones.
    tol : float, default 1e-2
        Certified relative gap to reach, between 0 and 1.
    max_iter : int, default 1000
        Most gradients to compute; with a working set, most on each.

    Returns
    -------
    Relaxation
        Weights ``z``, ``objective``, certified ``gap`` and the history. If ``max_iter`` gradients
        do not suffice, the best weights found, with ``converged=False`` and a warning.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, or no feasible ``z`` exists.

    Notes
    -----
    The optimum is at least ``objective * (1 - gap)``; the proof is in the chapter *The relaxation*.
    Features of deficient rank are handled on their span. Cost per gradient: m d~^2 / 2
    multiply-adds for the pool and about 2 d~^3 for Sigma, with d~ = d(c-1). A pass of the working
    set costs m d~^2 / 4, and its gradients are those of a pool of about a thousand points. With
    blocks: m c d^2 for a pass, and 3 c d^3 for Sigma.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> rng = np.random.default_rng(0)
    >>> pool, theta = rng.normal(size=(200, 3)), rng.normal(size=(2, 3))
    >>> relaxation = firal.relax(pool, None, theta, budget=10)
    >>> relaxation.gap <= 1e-2, round(float(relaxation.z.sum()), 6)
    (True, 10.0)
    """
    check_options(capped, method, tol, max_iter)
    advice = "set capped=False to allow weights above 1" if capped else None
    problem, choice = prepare(
        pool,
        labeled,
        theta,
        budget,
        structure=structure,
        task="relax",
        ridge=ridge,
        probabilities=probabilities,
        if_too_large=advice,
    )
    with one_thread():
        found = solve_relaxed(problem, capped, method, tol, max_iter)
    return found._replace(structure=choice.structure, why=choice.why)


def check_options(capped: bool, method: str | None, tol: float, max_iter: int) -> None:
    """Check the options of ``relax``.

    Parameters
    ----------
    capped : bool
        Whether no weight may exceed 1.
    method : str or None
        One of ``METHODS``, or None for the default.
    tol : float
        Relative gap to reach.
    max_iter : int
        Most gradients to compute.

    Raises
    ------
    ValueError
        If one of them has no meaning.
    """
    checks.boolean(capped, "capped")
    if method is not None and method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}")
    checks.number(tol, "tol", 0, 1)
    checks.integer(max_iter, "max_iter", 1)


def solve_relaxed(
    problem: Problem | BlockProblem,
    capped: bool,
    method: str | None,
    tol: float,
    max_iter: int,
    report: Callable[[int, int], None] | None = None,
) -> Relaxation:
    """Run ``relax`` on a prepared problem.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    capped : bool
        As in ``relax``.
    method : str or None
        As in ``relax``.
    tol : float
        As in ``relax``.
    max_iter : int
        As in ``relax``.
    report : callable, optional
        Called after every gradient as ``report(done, total)``.

    Returns
    -------
    Relaxation
        As in ``relax``.
    """
    if method is None:
        method = "working-set" if problem.n_points >= LARGE else "multiplicative"
    if method == "working-set":
        return solve_on_working_set(problem, capped, tol, max_iter, report)
    return solve(problem, capped, method, tol, max_iter, report)
