"""Two first-order methods for the relaxed problem, over all points of a problem in memory.

The problem and its symbols are those of ``firal.selection.relaxation``, and M = Sigma^{-1} H_p
Sigma^{-1}. Every gradient gives a lower bound on the optimum (``firal.selection.certificate``), so
the result comes with a certified relative gap.

**"multiplicative".** f(z) is the smallest value of
``sum_i |V_i|^2 / z_i + |V_0|^2`` over all V with ``sum_i P_i V_i + P_0 V_0 = H_p^{1/2}``, where
``P_i P_i^T = H(x_i)`` and ``P_0 P_0^T`` is the labeled information. The best V_i has
``|V_i| = z_i <H(x_i), M>^{1/2}``; for that V the best z is proportional to ``|V_i|``, cut at 1
where capped. Alternating the two never increases f; this is the step
``z_i <- z_i <H(x_i), M>^{1/2}``. We take it with Nesterov's momentum on the logarithms of z and
drop the momentum whenever f grows.

**"accelerated"** is ``firal.selection.accelerated``: fewer and cheaper gradients. It replaces
"multiplicative" where matrices are large; working sets always use it but for blocks.

**"mirror"** is Algorithm 2 of the paper: ``z_i <- z_i exp(-beta_t g_i)`` with g the gradient,
rescaled, with ``beta_t = sqrt(log(m) / t) / max |g|``, and the best iterate is returned. The paper
does not give the constant, and without ``max |g|`` the exponential overflows. The paper's algorithm
solves the problem without caps. For capped=True the rescaling becomes the entropic projection on
the capped set, which is again ``min(1, s z_i)`` with one number s for all points.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from firal.selection import accelerated
from firal.selection.certificate import CertifiedSearch
from firal.selection.problem import Problem

NEAR = 2000  # points of the largest gradient that are candidates beside those with weight


class Relaxation(NamedTuple):
    """Feasible weights and the proof of how good they are.

    Attributes
    ----------
    z : np.ndarray of shape (m,)
        Weights; their sum is the budget.
    objective : float
        f(z).
    gap : float
        Certified relative gap: the optimum is at least objective * (1 - gap).
    iterations : int
        Number of gradients computed.
    converged : bool
        Whether the gap is at most ``tol``.
    history : np.ndarray of shape (iterations, 2)
        Objective, and best lower bound so far, at every gradient; with a working set at every pass.
        The bound is 0 as long as large matrices are in float32.
    passes : int
        How often the whole pool was read.
    candidates : np.ndarray of int
        Rows with weight, and those with the largest gradient of the last pass, ascending.
    structure : str
        "full" or "block-diagonal".
    why : str
        Why that structure.
    """

    z: np.ndarray
    objective: float
    gap: float
    iterations: int
    converged: bool
    history: np.ndarray
    passes: int = 0
    candidates: np.ndarray | None = None
    structure: str = "full"
    why: str = ""

    def __repr__(self):
        return (
            f"Relaxation({np.count_nonzero(self.z)} of {len(self.z)} weights positive, "
            f"objective={self.objective:.6g}, gap={self.gap:.2g}, iterations={self.iterations}, "
            f"converged={self.converged})"
        )


def solve(
    problem: Problem,
    capped: bool,
    method: str,
    tol: float,
    max_iter: int,
    report: Callable[[int, int], None] | None = None,
    start: np.ndarray | None = None,
) -> Relaxation:
    """Solve the relaxed problem with all points of the pool in every gradient.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    capped : bool
        As in ``relax``.
    method : str
        "multiplicative", "accelerated" or "mirror".
    tol : float
        As in ``relax``.
    max_iter : int
        As in ``relax``.
    report : callable, optional
        Called after every gradient as ``report(done, total)``.
    start : np.ndarray of shape (m,), optional
        Weights to start from, all positive. The default is equal weights.

    Returns
    -------
    Relaxation
        As in ``relax``.
    """
    search = CertifiedSearch(problem, capped, tol, max_iter, report)
    w = search.start() if start is None else search.feasible(start)
    if method == "mirror":
        _mirror(search, w)
    elif method == "accelerated" or accelerated.is_large(problem):
        accelerated.anderson(search, accelerated.rough_weights(search, w))
    else:
        _multiplicative(search, w)
    history = np.array(search.history)
    if not search.converged:
        warnings.warn(
            f"relax stopped after {len(history)} gradients with a certified gap of "
            f"{search.gap:.2g}, wanted {tol:g}: raise max_iter or tol",
            RuntimeWarning,
            stacklevel=3,
        )
    gap, converged = float(search.gap), bool(search.converged)
    passes = 2 * len(history) + 1  # sum and gradient; H_p before
    near = None
    if search.z is not None:
        near = nearest_to_weight(search.z, search.gradient, problem.budget)
    n = len(history)
    return Relaxation(search.z, search.objective, gap, n, converged, history, passes, near)


def nearest_to_weight(z: np.ndarray, a: np.ndarray, budget: int) -> np.ndarray:
    """Find the points with weight, and those that are the next to get some.

    Parameters
    ----------
    z : np.ndarray of shape (m,)
        Weights.
    a : np.ndarray of shape (m,)
        <H(x_i), M> of all points: the larger, the more a point would help.
    budget : int
        Number of points to pick.

    Returns
    -------
    np.ndarray of int
        Rows, ascending: all with weight, and ``NEAR`` or 4 ``budget`` with the largest a.
    """
    count = min(len(a), max(NEAR, 4 * budget))
    top = np.argpartition(a, len(a) - count)[len(a) - count :]
    return np.union1d(np.flatnonzero(z), top)


def _multiplicative(search, w):
    """Square-root step with momentum on log z; where f grows, the plain step, which is monotone."""
    f, a = search.evaluate(w)
    previous, age = w, 0
    while a is not None and not search.finished:
        # 1. The step without momentum never increases f.
        step = search.feasible(w * np.sqrt(a / a.max()))
        # 2. The same with momentum.
        trial = step
        if age:
            trial = search.feasible(step * (step / previous) ** (age / (age + 3)))
        f_trial, a_trial = search.evaluate(trial)
        # 3. If f grew, take the plain step instead, and start without momentum again.
        if age and not f_trial <= f and not search.finished:
            trial = step
            age = 0
            f_trial, a_trial = search.evaluate(trial)
        w, f, a, previous = trial, f_trial, a_trial, step
        age += 1


def _mirror(search, w):
    """Algorithm 2: entropic mirror descent with step sqrt(log(m) / t) / max |g|."""
    while True:
        # 1. The gradient.
        _, a = search.evaluate(w)
        if a is None or search.finished:
            return
        # 2. The exponential step, and the projection.
        g = a + search.constant
        step = np.sqrt(np.log(w.size) / len(search.history)) / g.max()
        w = search.feasible(w * np.exp(step * (g - g.max())))
