"""Rounding without a learning rate: FTRL whose eta follows the spectrum.

The setting is that of ``firal.sparsify``: weights z with sum b, Sigma = Sigma(z), the whitened
information H~_i = Sigma^{-1/2} (H(x_i) + D) Sigma^{-1/2} with sum_i z_i H~_i = I, and the sum S of
the H~ picked so far. FTRL keeps trace (S - l I)^{-2} = eta^2 fixed and lets the barrier
l = -nu/eta rise. Here trace (S - l I)^{-1} = level is fixed instead. This is FTRL with the rate ::

    eta_t = level / trace(A_t^{1/2}),

which grows as the spectrum of S spreads. One step, with delta = 1 / (b + level): ::

    l with trace (S - l I)^{-1} = level,      i maximizes the drop
    trace (S - (l + delta) I)^{-1} - trace (S - (l + delta) I + H~_i)^{-1}.

With replacement every step lifts the barrier by at least delta, and a trace of at most level puts
lambda_min at least 1/level above it. So at every moment, with ``left`` steps to go, ::

    lambda_min(at the end) >= l + left / (b + level) + 1 / level,

a guarantee that starts at b/(b + level) - (d~ - 1)/level and never falls during the run. Its best
start is (1 - sqrt((d~-1)/b))^2 for b > d~ - 1: half the points that a fixed eta needs.
The proof is in the chapter *The guarantee*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.threads import one_thread
from firal.selection.block_rounding import any_rounding
from firal.selection.greedy import greedy
from firal.selection.rounding import barrier_below
from firal.selection.structure import prepare_with_weights
from firal.selection.support import check_candidates, of_pool, on_support


class AdaptiveSelection(NamedTuple):
    """The picked points and what is known about them.

    Attributes
    ----------
    indices : np.ndarray of shape (b,)
        Rows of the pool, in the order they were picked.
    level : float
        The constant trace.
    etas : np.ndarray of shape (b,)
        The learning rate that every step amounts to.
    lambda_min : float
        Smallest eigenvalue of the picked information against Sigma(z).
    guarantee : np.ndarray of shape (b+1,) or None
        Lower bound on the final lambda_min, before every step and at the end; None without
        replacement.
    objective : float
        f of the picked points; inf if their information is singular.
    """

    indices: np.ndarray
    level: float
    etas: np.ndarray
    lambda_min: float
    guarantee: np.ndarray | None
    objective: float

    def __repr__(self):
        rows = np.array2string(self.indices, separator=", ", threshold=10)
        return (
            f"AdaptiveSelection(indices={rows}, level={self.level:.4g}, "
            f"lambda_min={self.lambda_min:.4g}, objective={self.objective:.6g})"
        )


def adaptive_sparsify(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    z: ArrayLike,
    budget: int,
    *,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    level: float | None = None,
    structure: str = "auto",
    candidates: str = "all",
    replace: bool = False,
) -> AdaptiveSelection:
    """Pick points whose information is close to that of the weights z, without tuning a rate.

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
    ridge : float, default 0.0
        Penalty of the fit that the labels are for: the information of n0 + budget labels has
        ``(n0 + budget) * ridge`` times the penalty added, in the given coordinates. 0 is the paper.
    probabilities : tuple of array_like, optional
        Class probabilities of the pool (m, c) and of the labeled points (n0, c) from any
        classifier; theta must be None then.
    level : float, optional
        Positive; has the role of eta in ``sparsify``. The default 2 sqrt(d~ b) is twice the value
        that the guarantee favors for large b.
    structure : {"full", "block-diagonal", "auto"}
        "block-diagonal" keeps one block of size d per class of all information
        (:mod:`firal.selection.block_diagonal`): quick for many classes. "auto" is full where that
        is feasible, and says so in a warning where it is not (:mod:`firal.selection.structure`).
    candidates : {"all", "support"}
        "support" picks among the points with weight, for which the theorem holds as well.
    replace : bool, default False
        True may pick a point again; the theorem behind ``guarantee`` is about that case.

    Returns
    -------
    AdaptiveSelection
        The picked rows and their certificate.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the sum of z is not ``budget``, Sigma(z) is
        singular, or there are fewer than ``budget`` distinct points.

    Notes
    -----
    Deterministic. Scores equal to rounding are ties, and the lowest row wins. The cost per step is
    that of ``sparsify``. The proof of the guarantee is in the chapter *The guarantee*.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> from firal.selection.adaptive import adaptive_sparsify
    >>> rng = np.random.default_rng(0)
    >>> pool, theta = rng.normal(size=(100, 3)), rng.normal(size=(2, 3))
    >>> z = firal.relax(pool, None, theta, budget=40, capped=False).z
    >>> found = adaptive_sparsify(pool, None, theta, z, 40, replace=True)
    >>> bool(found.lambda_min >= found.guarantee[-1] >= found.guarantee[0])
    True
    """
    check_candidates(candidates)
    problem, z, _ = prepare_with_weights(
        pool,
        labeled,
        theta,
        z,
        budget,
        replace,
        structure=structure,
        ridge=ridge,
        probabilities=probabilities,
    )
    rows = None
    if candidates == "support":
        problem, z, rows = on_support(problem, z, replace)
    if level is None:
        level = 2 * np.sqrt(problem.parameters * problem.budget)
    level = checks.number(level, "level", 0)
    with one_thread():
        rounding = any_rounding(problem, z)
        rule = _AdaptiveRule(rounding, level)
        picks = greedy(rule, rounding.scorer, problem.budget, replace=replace)
        final = barrier_below(rule.picked.spectrum(), level) + 1 / level
        found = AdaptiveSelection(
            indices=np.array(picks),
            level=level,
            etas=np.array(rule.etas),
            lambda_min=rule.picked.lambda_min(),
            guarantee=np.array([*rule.guarantee, final]) if replace else None,
            objective=rule.picked.objective(),
        )
        return of_pool(found, rows)


def best_level(size: int, budget: int) -> float:
    """The level with the best guarantee, sqrt((d~-1) b) / (1 - sqrt((d~-1)/b)).

    Parameters
    ----------
    size : int
        Number of parameters d~.
    budget : int
        Number of points b to pick; more than d~ - 1.

    Returns
    -------
    float
        The level. For size 1 the guarantee b/(b + level) has no largest value: it tends to 1 as
        the level tends to 0. The function then returns 2 sqrt(b), the default of
        ``adaptive_sparsify``.

    Raises
    ------
    ValueError
        If the budget is at most d~ - 1: then no level has a positive guarantee.
    """
    size = checks.integer(size, "size", 1)
    budget = checks.integer(budget, "budget", 1)
    if budget <= size - 1:
        raise ValueError(
            f"budget must exceed size - 1 = {size - 1} for the guarantee to be positive, "
            f"got {budget}: use the default level of adaptive_sparsify"
        )
    if size == 1:
        return 2.0 * np.sqrt(budget)
    return float(np.sqrt((size - 1) * budget) / (1 - np.sqrt((size - 1) / budget)))


class _AdaptiveRule:
    """W1 and W2 of the next step at a fixed level."""

    ratio = np.inf

    def __init__(self, rounding, level):
        self.rounding, self.level = rounding, level
        self.picked, self.etas, self.guarantee = rounding.picked(), [], []

    def weights(self):
        b, level, picked = self.rounding.problem.budget, self.level, self.picked
        spectrum = picked.spectrum()
        barrier = barrier_below(spectrum, level)
        self.etas.append(np.sqrt(np.sum((spectrum - barrier) ** -2.0)))
        left = b - len(picked.rows)
        self.guarantee.append(barrier + left / (b + level) + 1 / level)
        K = picked.information + self.rounding.labeled_per_pick
        raised = (barrier + 1 / (b + level)) * self.rounding.Sigma
        return self.rounding.score_matrices(K - raised)

    def add(self, i, score):
        self.picked.add(i)
