"""The relaxed problem: how much weight should every pool point get?

With H(x) the information of one point at theta, H_p its mean over the pool and b the budget,

    minimize    f(z) = trace(Sigma(z)^{-1} H_p)
    subject to  sum_i z_i = b,   0 <= z_i <= 1 if capped, 0 <= z_i otherwise,
    where       Sigma(z) = sum_i z_i (H(x_i) + (1/b) sum_labeled H).

With M = Sigma^{-1} H_p Sigma^{-1}, the gradient is -g_i = <H(x_i), M> + (1/b) <sum_labeled H, M>.
Sigma is linear in z, so f(t z) = f(z) / t, and sum_i z_i (-g_i) = f(z).

**Certificate.** f is convex. So for a feasible z' and every t > 0,
f(z') = t f(t z') >= t (f(z) + g.(t z' - z)) = 2 t f(z) - t^2 (-g).z'. The best t is
f(z) / ((-g).z'), and f(z') >= f(z)^2 / ((-g).z'). The largest (-g).z' over the feasible set is
the sum of the b largest -g_i (capped) or b times the largest one. So every gradient gives a number
that no feasible z' can beat, and ``gap`` is the relative distance to the best of them.

**Default method, "multiplicative".** f(z) is the smallest value of sum_i |V_i|^2 / z_i + |V_0|^2
over all V with sum_i P_i V_i + P_0 V_0 = H_p^{1/2}, where P_i P_i^T = H(x_i) and P_0 P_0^T is the
labeled information. The best V_i has |V_i| = z_i <H(x_i), M>^{1/2}; for that V the best z is
proportional to |V_i|, cut at 1 where capped. Alternating the two never increases f: this is the
step ``z_i <- z_i <H(x_i), M>^{1/2}``. We take it with Nesterov's momentum on the logarithms of z
and drop the momentum whenever f grows.

**"mirror"** is Algorithm 2 of the paper: ``z_i <- z_i exp(-beta_t g_i)``, rescaled, with
``beta_t = sqrt(log(m) / t) / max |g|``, and the best iterate is returned. The paper does not give
the constant, and without max |g| the exponential overflows. The paper's algorithm solves the
problem without caps. For capped=True the rescaling becomes the entropic projection on the capped
set, which is again ``min(1, s z_i)`` with one number s for all points.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from firal.common import checks
from firal.common.threads import threads_for
from firal.model.hessians import contract_curvature
from firal.selection.problem import (
    by_parts,
    factor_of,
    from_lower,
    information_by_parts,
    prepare,
)

METHODS = ("multiplicative", "mirror")
FLOOR = 1e-10  # weights below FLOOR * b/m count as zero, but may grow again


class Relaxation(NamedTuple):
    """A feasible z and the proof of how good it is: the optimum is >= objective * (1 - gap)."""

    z: np.ndarray  # (m,) weights, sum b
    objective: float  # f(z)
    gap: float  # certified relative gap
    iterations: int  # gradients computed
    converged: bool  # gap <= tol
    history: np.ndarray  # (iterations, 2): objective, best lower bound so far


def relax(
    pool, labeled, theta, budget, *, capped=True, method="multiplicative", tol=1e-2, max_iter=1000
):
    """Solve the relaxed problem to a certified relative gap of ``tol``.

    pool (m, d), labeled (n0, d) or None, theta (c-1, d), budget b. The problem, the certificate
    and the two methods are in the module's docstring. If ``max_iter`` gradients do not suffice,
    the best weights found come back with converged=False, and a warning. Features of
    deficient rank are handled on their span.
    Cost per gradient: m d~^2 / 2 multiply-adds for the pool and about 2 d~^3 for Sigma.
    """
    problem = prepare(pool, labeled, theta, budget)
    check_relaxation(problem, capped, method, tol, max_iter)
    with threads_for(problem.size):
        return solve(problem, capped, method, tol, max_iter)


def check_relaxation(problem, capped, method, tol, max_iter):
    """One ValueError for options that cannot be met."""
    m, b = problem.X.shape[0], problem.budget
    checks.boolean(capped, "capped")
    if capped and b > m:
        raise ValueError(
            f"budget must be at most the pool size {m} when capped=True, got {b}: "
            "no z <= 1 has that sum (capped=False allows it)"
        )
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}, got {method!r}")
    checks.number(tol, "tol", 0, 1)
    checks.integer(max_iter, "max_iter", 1)


def solve(problem, capped, method, tol, max_iter, report=None):
    """``relax`` for a prepared problem; ``report(done, total)`` is called after each gradient."""
    search = _Search(problem, capped, tol, max_iter, report)
    (_multiplicative if method == "multiplicative" else _mirror)(search)
    history = np.array(search.history)
    if not search.converged:
        warnings.warn(
            f"relax stopped after {len(history)} gradients with a certified gap of "
            f"{search.gap:.2g}, wanted {tol:g}: raise max_iter or tol",
            RuntimeWarning,
            stacklevel=3,
        )
    return Relaxation(
        search.z, search.objective, search.gap, len(history), search.converged, history
    )


def _multiplicative(search):
    """Monotone square-root step with momentum on log z; restart when f grows."""
    w = search.start()
    f, a = search.evaluate(w)
    previous, age = w, 0
    while a is not None and not search.finished:
        plain = search.feasible(w * np.sqrt(a / a.max()))
        trial = plain
        if age:
            trial = search.feasible(plain * (plain / previous) ** (age / (age + 3)))
        f_trial, a_trial = search.evaluate(trial)
        if age and not f_trial <= f and not search.finished:
            trial, age = plain, 0
            f_trial, a_trial = search.evaluate(trial)
        w, f, a, previous = trial, f_trial, a_trial, plain
        age += 1


def _mirror(search):
    """Algorithm 2: entropic mirror descent with step sqrt(log(m) / t) / max |g|."""
    w = search.start()
    while True:
        _, a = search.evaluate(w)
        if a is None or search.finished:
            return
        g = a + search.constant
        step = np.sqrt(np.log(w.size) / len(search.history)) / g.max()
        w = search.feasible(w * np.exp(step * (g - g.max())))


class _Search:
    """Evaluates f and its gradient; keeps the best iterate, the best bound and the history."""

    def __init__(self, problem, capped, tol, max_iter, report):
        self.problem, self.capped, self.tol, self.max_iter = problem, capped, tol, max_iter
        self.report = report
        self.target = factor_of(problem.mean)  # F with F F^T = H_p
        self.floor = FLOOR * problem.budget / problem.X.shape[0]
        self.objective, self.lower, self.z = np.inf, 0.0, None
        self.constant = 0.0  # <sum_labeled H, M> / b, the same for every point
        self.history = []

    @property
    def gap(self):
        return max(0.0, 1 - self.lower / self.objective)

    @property
    def converged(self):
        return self.gap <= self.tol

    @property
    def finished(self):
        return self.converged or len(self.history) >= self.max_iter

    def start(self):
        m = self.problem.X.shape[0]
        return np.full(m, self.problem.budget / m)

    def feasible(self, w):
        """The multiple of w with the right sum, cut at 1 if capped; never below the floor."""
        return np.maximum(scale_to_sum(w, self.problem.budget, self.capped), self.floor)

    def evaluate(self, w):
        """f and a_i = <H(x_i), M> at the feasible point without the weights at the floor."""
        problem, b = self.problem, self.problem.budget
        kept = w > self.floor
        z = scale_to_sum(np.where(kept, w, 0), b, self.capped)
        X, h, weights = problem.X, problem.h, z
        if 2 * np.count_nonzero(kept) < kept.size:  # else the copy costs more than it saves
            X, h, weights = X[kept], h[kept], z[kept]
        Sigma = information_by_parts(X, h, weights, problem.threads) + problem.labeled
        f, M = trace_and_derivative(Sigma, self.target)
        a = None  # stays so if Sigma is singular to rounding: f is infinite, without a gradient
        if M is not None:
            a = np.maximum(self._contract(M), 0)
            self.constant = np.vdot(problem.labeled, M) / b
            self.lower = max(self.lower, f * f / (self._largest(a) + b * self.constant))
        if f < self.objective:
            self.objective, self.z = f, z
        self.history.append((f, self.lower))
        if self.report is not None:
            self.report(len(self.history), self.max_iter)
        return f, a

    def _contract(self, M):
        """<H(x_i), M> for all i"""
        X, h = self.problem.X, self.problem.h
        parts = by_parts(
            len(X), self.problem.threads, lambda part: contract_curvature(X[part], h[part], M)
        )
        return np.concatenate(parts)

    def _largest(self, a):
        """max over feasible z of a.z"""
        b = self.problem.budget
        if not self.capped:
            return b * a.max()
        return a.sum() if b == a.size else np.partition(a, a.size - b)[a.size - b :].sum()


def scale_to_sum(w, total, capped):
    """``min(1, s w)`` (capped) or ``s w`` with the s that makes the sum equal to ``total``."""
    z = w * (total / w.sum())
    if not capped:
        return z
    at_cap = np.zeros(z.size, dtype=bool)
    while (over := (z > 1) & ~at_cap).any():
        at_cap |= over
        rest = np.where(at_cap, 0, w)
        left = rest.sum()
        z = rest * ((total - at_cap.sum()) / left) if left > 0 else rest
        z[at_cap] = 1
    return z


def trace_and_derivative(Sigma, target):
    """``f = trace(Sigma^{-1} F F^T)`` and ``M = Sigma^{-1} F F^T Sigma^{-1}``; (inf, None) if
    Sigma is not positive definite. Cost: about 2 d~^3 multiply-adds."""
    factor, failed = lapack.dpotrf(Sigma.T, lower=1)  # symmetric; .T has the order LAPACK wants
    if failed:
        return np.inf, None
    half = blas.dtrsm(1.0, factor, target, lower=1)
    f = float(np.vdot(half, half))
    root = blas.dtrsm(1.0, factor, half, lower=1, trans_a=1, overwrite_b=1)
    return f, from_lower(blas.dsyrk(1.0, root, lower=1))
