"""The relaxed objective, its gradient, and the certificate that every gradient gives.

The problem and its symbols are those of ``firal.selection.relaxation``: minimize
f(z) = trace(Sigma(z)^{-1} H_p) over the weights z with sum b, and z <= 1 if capped. With
M = Sigma^{-1} H_p Sigma^{-1}, the gradient is -g_i = <H(x_i), M> + (1/b) <sum_labeled H, M>.
Sigma is linear in z, so f(t z) = f(z) / t, and sum_i z_i (-g_i) = f(z).

**Certificate.** f is convex. So for a feasible z' and every t > 0,
f(z') = t f(t z') >= t (f(z) + g.(t z' - z)) = 2 t f(z) - t^2 (-g).z'. The best t is
f(z) / ((-g).z'), and f(z') >= f(z)^2 / ((-g).z'). The largest (-g).z' over the feasible set is
the sum of the b largest -g_i (capped) or b times the largest one. So every gradient gives a number
that no feasible z' can beat, and ``gap`` is the relative distance to the best of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from firal.selection.problem import Problem
from firal.selection.summed_blocks import inner_product

FLOOR = 1e-10  # weights below FLOOR * b/m count as zero, but may grow again


class CertifiedSearch:
    """Evaluates f and its gradient; keeps the best weights, the best bound and the history.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    capped : bool
        Whether no weight may exceed 1.
    tol : float
        Relative gap at which the search is finished.
    max_iter : int
        Number of gradients after which it is finished.
    report : callable, optional
        Called after every gradient as ``report(done, max_iter)``.
    """

    def __init__(
        self,
        problem: Problem,
        capped: bool,
        tol: float,
        max_iter: int,
        report: Callable[[int, int], None] | None = None,
    ):
        self.problem, self.capped, self.tol, self.max_iter = problem, capped, tol, max_iter
        self.report = report
        self.measure = problem.evaluator()  # from Sigma to f and M
        self.floor = FLOOR * problem.budget / problem.X.shape[0]
        self.objective, self.lower, self.z = np.inf, 0.0, None
        self.gradient = None  # the last a
        self.constant = 0.0  # <sum_labeled H, M> / b, the same for every point
        self.history = []

    @property
    def gap(self) -> float:
        """Certified relative gap: the optimum is at least objective * (1 - gap)."""
        return max(0.0, 1 - self.lower / self.objective)

    @property
    def converged(self) -> bool:
        """Whether the gap is at most ``tol``."""
        return self.gap <= self.tol

    @property
    def finished(self) -> bool:
        """Whether the search has converged or used all its gradients."""
        return self.converged or len(self.history) >= self.max_iter

    def start(self) -> np.ndarray:
        """Equal weights.

        Returns
        -------
        np.ndarray of shape (m,)
            b/m for every point.
        """
        m = self.problem.X.shape[0]
        return np.full(m, self.problem.budget / m)

    def feasible(self, w: np.ndarray) -> np.ndarray:
        """Scale weights to the right sum, cut at 1 if capped, and lift them to the floor.

        Parameters
        ----------
        w : np.ndarray of shape (m,)
            Positive weights.

        Returns
        -------
        np.ndarray of shape (m,)
            Weights for ``evaluate``.
        """
        return np.maximum(scale_to_sum(w, self.problem.budget, self.capped), self.floor)

    def evaluate(self, w: np.ndarray) -> tuple[float, np.ndarray | None]:
        """Evaluate f and its gradient at weights without those at the floor.

        Parameters
        ----------
        w : np.ndarray of shape (m,)
            Weights from ``start`` or ``feasible``.

        Returns
        -------
        tuple of float and np.ndarray
            f and a (m,) with a_i = <H(x_i), M>; (inf, None) if Sigma is singular to rounding.

        Notes
        -----
        Cost: m d~^2 / 2 multiply-adds for the pool and about 2 d~^3 for Sigma.
        """
        problem, b = self.problem, self.problem.budget
        # 1. The feasible weights, and their information.
        kept = w > self.floor
        z = scale_to_sum(np.where(kept, w, 0), b, self.capped)
        # 2. The objective and the gradient, which gives a lower bound on the optimum.
        f, M = self.measure(problem.total_information(z))
        a = None
        if M is not None:
            self.gradient = a = np.maximum(problem.contract(M), 0)
            self.constant = inner_product(problem.labeled_information, M) / b
            largest = largest_sum(a, b, self.capped)
            self.lower = max(self.lower, f * f / (largest + b * self.constant))
        # 3. Keep the best.
        if f < self.objective:
            self.objective, self.z = f, z
        self.history.append((f, self.lower))
        if self.report is not None:
            self.report(len(self.history), self.max_iter)
        return f, a


def largest_sum(a: np.ndarray, total: int, capped: bool) -> float:
    """Largest ``a.z`` over feasible weights z.

    Parameters
    ----------
    a : np.ndarray of shape (m,)
        Nonnegative.
    total : int
        Sum of the weights; at most m if capped.
    capped : bool
        Whether no weight may exceed 1.

    Returns
    -------
    float
        The sum of the largest entries, or a multiple of the largest.
    """
    if not capped:
        return total * a.max()
    return a.sum() if total == a.size else np.partition(a, a.size - total)[a.size - total :].sum()


def scale_to_sum(w: np.ndarray, total: float, capped: bool) -> np.ndarray:
    """Scale weights to a sum: ``min(1, s w)`` if capped, else ``s w``, with the right s.

    Parameters
    ----------
    w : np.ndarray of shape (m,)
        Nonnegative weights, not all zero.
    total : float
        The sum; at most m if capped.
    capped : bool
        Whether no weight may exceed 1.

    Returns
    -------
    np.ndarray of shape (m,)
        The scaled weights.
    """
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
