"""Rounding without a learning rate: FTRL whose eta follows the spectrum.

The setting is that of ``firal.sparsify``: weights z with sum b, Sigma = Sigma(z), the whitened
information H~_i = Sigma^{-1/2} (H(x_i) + D) Sigma^{-1/2} with sum_i z_i H~_i = I, and the sum S of
the H~ picked so far. FTRL keeps trace (S - l I)^{-2} = eta^2 fixed and lets the barrier
l = -nu/eta rise. Here trace (S - l I)^{-1} = level is fixed instead. This is FTRL with the rate

    eta_t = level / trace(A_t^{1/2}),

which grows as the spectrum of S spreads. One step, with delta = 1 / (b + level):

    l with trace (S - l I)^{-1} = level,      i maximizes the drop
    trace (S - (l + delta) I)^{-1} - trace (S - (l + delta) I + H~_i)^{-1}.

With replacement every step lifts the barrier by at least delta, and a trace of at most level puts
lambda_min at least 1/level above it. So at every moment, with ``left`` steps to go,

    lambda_min(at the end) >= l + left / (b + level) + 1 / level,

a guarantee that starts at b/(b + level) - (d~ - 1)/level and never falls during the run. Its best
start is (1 - sqrt((d~-1)/b))^2 for b > d~ - 1: half the points that a fixed eta needs.
The proof is in the book's chapter on the guarantee.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import blas

from firal.common import checks
from firal.common.threads import threads_for
from firal.model.hessians import curvature
from firal.selection.ftrl import (
    check_budget,
    inverse,
    objective_of,
    prepare_rounding,
    spectrum_of,
    white_information,
)
from firal.selection.problem import from_lower, prepare
from firal.selection.scoring import best_point


class AdaptiveSelection(NamedTuple):
    """The picked points and what is known about them."""

    indices: np.ndarray  # (b,) rows of the pool, in the order they were picked
    level: float
    etas: np.ndarray  # (b,) the learning rate that every step amounts to
    lambda_min: float  # smallest eigenvalue of the picked information against Sigma(z)
    guarantee: np.ndarray | None  # (b+1,) bound on the final lambda_min, step by step
    objective: float  # f of the picked points; inf if their information is singular


def adaptive_sparsify(pool, labeled, theta, z, budget, *, level=None, replace=False):
    """Pick ``budget`` points so that their information is close to Sigma(z) from below.

    pool (m, d), labeled (n0, d) or None, theta (c-1, d), z (m,) nonnegative with sum budget.
    ``level`` > 0 plays the part that eta has in ``sparsify``, but needs no tuning: the default is
    2 sqrt(d~ b), twice the value that the guarantee favors for large b. ``guarantee`` is None for
    ``replace=False``: the theorem behind it is about picking with replacement. Scores equal
    to rounding are ties, and the lowest index wins. Cost per step: as ``sparsify``.
    """
    problem = prepare(pool, labeled, theta, budget)
    z = checks.weights(z, problem.X.shape[0], "z")
    if not np.isclose(z.sum(), budget, rtol=1e-6, atol=0):
        raise ValueError(f"z must have sum {budget}, the budget, got sum {z.sum():g}")
    if level is None:
        level = 2 * np.sqrt(problem.size * problem.budget)
    level = checks.number(level, "level", 0)
    check_budget(problem, replace)
    with threads_for(problem.size):
        return _run(prepare_rounding(problem, z), level, replace)


def best_level(size, budget):
    """The level with the best guarantee, sqrt((d~-1) b) / (1 - sqrt((d~-1)/b)); ``size`` is d~.

    It exists for budget > size - 1 only. For size 1 every large level is equally good.
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


def _run(rounding, level, replace):
    problem, Sigma = rounding.problem, rounding.Sigma
    size, b = problem.size, problem.budget
    picked, white = np.zeros((size, size)), np.zeros((size, size))
    allowed = np.ones(problem.X.shape[0], dtype=bool)
    indices, etas, guarantee = [], [], []
    for step in range(b):
        spectrum = spectrum_of(rounding, indices, white)
        barrier = _barrier(spectrum, level)
        etas.append(np.sqrt(np.sum((spectrum - barrier) ** -2.0)))
        guarantee.append(barrier + (b - step) / (b + level) + 1 / level)
        W1 = inverse(picked + rounding.share - (barrier + 1 / (b + level)) * Sigma)
        half = blas.dtrmm(1.0, rounding.factor, W1, side=1, lower=1)
        W2 = from_lower(blas.dsyrk(1.0, half, lower=1))
        i, _ = best_point(problem, W1, W2, allowed, rounding.memory)
        indices.append(i)
        allowed[i] = replace
        picked += rounding.share + np.kron(
            curvature(problem.h[i : i + 1])[0], np.outer(problem.X[i], problem.X[i])
        )
        white += rounding.white_share + white_information(rounding, i)
    spectrum = spectrum_of(rounding, indices, white)
    guarantee.append(_barrier(spectrum, level) + 1 / level)
    return AdaptiveSelection(
        indices=np.array(indices),
        level=level,
        etas=np.array(etas),
        lambda_min=float(max(spectrum[0], 0.0)),
        guarantee=np.array(guarantee) if replace else None,
        objective=objective_of(problem, picked, spectrum),
    )


def _barrier(spectrum, level):
    """l below the ascending ``spectrum`` with sum_j 1 / (spectrum_j - l) = level.

    In u = spectrum_0 - l the equation is phi(u) = 1 / sum_j 1/(u + gap_j) = 1 / level. phi is
    concave and increasing, and phi(1/level) <= 1/level: Newton's method climbs to the root.
    """
    gaps = spectrum - spectrum[0]
    u = 1 / level
    for _ in range(100):
        inverse = 1 / (u + gaps)
        total = np.sum(inverse)
        move = (total / level - 1) * total / np.sum(inverse**2)
        u += move
        if move <= 4e-16 * u:
            break
    return spectrum[0] - u
