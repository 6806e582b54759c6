"""The relaxed problem: how much weight should every pool point get?

With H(x) the information of one point at theta, H_p its mean over the pool and b the budget, ::

    minimize    f(z) = trace(Sigma(z)^{-1} H_p)
    subject to  sum_i z_i = b,   0 <= z_i <= 1 if capped, 0 <= z_i otherwise,
    where       Sigma(z) = sum_i z_i (H(x_i) + (1/b) sum_labeled H).

With a ridge the labeled information has the penalty added (``firal.selection.problem``).
Every gradient gives a lower bound on the optimum (``firal.selection.certificate``), so the result
comes with a certified relative gap. Below, M = Sigma^{-1} H_p Sigma^{-1}.

**Default method, "multiplicative".** f(z) is the smallest value of
``sum_i |V_i|^2 / z_i + |V_0|^2`` over all V with ``sum_i P_i V_i + P_0 V_0 = H_p^{1/2}``, where
``P_i P_i^T = H(x_i)`` and ``P_0 P_0^T`` is the labeled information. The best V_i has
``|V_i| = z_i <H(x_i), M>^{1/2}``; for that V the best z is proportional to ``|V_i|``, cut at 1
where capped. Alternating the two never increases f; this is the step
``z_i <- z_i <H(x_i), M>^{1/2}``. We take it with Nesterov's momentum on the logarithms of z and
drop the momentum whenever f grows.

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
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.threads import threads_for
from firal.selection.certificate import CertifiedSearch
from firal.selection.problem import Problem, prepare_problem

METHODS = ("multiplicative", "mirror")


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
    passes : int
        How often the whole pool was read.
    """

    z: np.ndarray
    objective: float
    gap: float
    iterations: int
    converged: bool
    history: np.ndarray
    passes: int = 0

    def __repr__(self):
        return (
            f"Relaxation({np.count_nonzero(self.z)} of {len(self.z)} weights positive, "
            f"objective={self.objective:.6g}, gap={self.gap:.2g}, iterations={self.iterations}, "
            f"converged={self.converged})"
        )


def relax(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    *,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    capped: bool = True,
    method: str = "multiplicative",
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
    capped : bool, default True
        Whether no weight may exceed 1, as the paper states the problem. False is what Algorithm 2
        of the paper solves.
    method : {"multiplicative", "mirror"}
        "mirror" is Algorithm 2 of the paper, "multiplicative" is quicker.
    tol : float, default 1e-2
        Certified relative gap to reach, between 0 and 1.
    max_iter : int, default 1000
        Most gradients to compute.

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
    multiply-adds for the pool and about 2 d~^3 for Sigma, with d~ = d(c-1).

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
    problem = prepare_problem(
        pool,
        labeled,
        theta,
        budget,
        ridge=ridge,
        probabilities=probabilities,
        if_too_large=advice,
    )
    with threads_for(problem.size):
        return solve(problem, capped, method, tol, max_iter)


def check_options(capped: bool, method: str, tol: float, max_iter: int) -> None:
    """Check the options of ``relax``.

    Parameters
    ----------
    capped : bool
        Whether no weight may exceed 1.
    method : str
        One of ``METHODS``.
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
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}")
    checks.number(tol, "tol", 0, 1)
    checks.integer(max_iter, "max_iter", 1)


def solve(
    problem: Problem,
    capped: bool,
    method: str,
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
    method : str
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
    search = CertifiedSearch(problem, capped, tol, max_iter, report)
    (_multiplicative if method == "multiplicative" else _mirror)(search)
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
    return Relaxation(search.z, search.objective, gap, len(history), converged, history, passes)


def _multiplicative(search):
    """Monotone square-root step with momentum on log z; restart when f grows."""
    w = search.start()
    f, a = search.evaluate(w)
    previous, age = w, 0
    while a is not None and not search.finished:
        # 1. The plain step, which never increases f.
        plain = search.feasible(w * np.sqrt(a / a.max()))
        # 2. The same with momentum.
        trial = plain
        if age:
            trial = search.feasible(plain * (plain / previous) ** (age / (age + 3)))
        f_trial, a_trial = search.evaluate(trial)
        # 3. If f grew, take the plain step instead, and start without momentum again.
        if age and not f_trial <= f and not search.finished:
            trial, age = plain, 0
            f_trial, a_trial = search.evaluate(trial)
        w, f, a, previous = trial, f_trial, a_trial, plain
        age += 1


def _mirror(search):
    """Algorithm 2: entropic mirror descent with step sqrt(log(m) / t) / max |g|."""
    w = search.start()
    while True:
        # 1. The gradient.
        _, a = search.evaluate(w)
        if a is None or search.finished:
            return
        # 2. The exponential step, and the projection.
        g = a + search.constant
        step = np.sqrt(np.log(w.size) / len(search.history)) / g.max()
        w = search.feasible(w * np.exp(step * (g - g.max())))
