"""Figure to play with: the working set of ``firal.relax``, pass by pass over the pool.

The solver is that of the module, with smaller working sets than it would take for such a pool: so
few points that each can be seen. ``Watched`` stands between it and its problem, and notes what
every pass over the pool says.
"""

from __future__ import annotations

from typing import NamedTuple
from unittest import mock

import numpy as np

from firal.companion.play.axis import number
from firal.companion.play.interactive import Control, PlayFigure
from firal.companion.play.panels import Panel
from firal.selection import working_set
from firal.selection.problem import prepare_problem
from firal.theory import designs

POINTS, CLASSES, TOL = 1500, 3, 1e-3
TAKEN = (20, 30, 45, 70, 100, 200)  # the module takes at least 2 b and 2 d~ = 12
BUDGETS = (3, 4, 6, 8, 10)
SOME = 0.05  # weight of a point that is marked
RANKS = np.unique(np.geomspace(1, POINTS, 60).astype(int)) - 1


class Pass(NamedTuple):
    """What is known after one pass over the pool."""

    rows: np.ndarray  # the working set; empty for the pass at equal weights
    z: np.ndarray  # weights of its points
    scores: np.ndarray  # (m,) a_i b / f; the gap is 1 - b / (sum of the b largest)
    value: float  # f
    lower: float  # certified so far
    gap: float


class Watched:
    """A problem that notes the working sets and the passes of its solver."""

    def __init__(self, problem):
        self.problem, self.sets, self.passes = problem, [], []
        for name in ("n_points", "budget", "labeled_information", "mean_information", "evaluator"):
            setattr(self, name, getattr(problem, name))

    def contract(self, M):
        a = self.problem.contract(M)
        self.passes.append((len(self.sets), a))
        return a

    def restricted(self, rows):
        self.sets.append(rows)
        return self.problem.restricted(rows)


def passes(problem, taken, tol=TOL):
    """List of :class:`Pass` of a search whose passes take so many points each."""
    watched, solved = Watched(problem), []

    def noted(*arguments):
        solved.append(inside(*arguments))
        return solved[-1]

    inside = working_set._solve_inside
    small = {"FROM": 0, "TAKEN": taken, "SHARE": problem.n_points, "_solve_inside": noted}
    with mock.patch.multiple(working_set, **small):
        found = working_set.solve_on_working_set(watched, True, tol, 2000)
    out, best, b = [], np.inf, problem.budget
    for (count, a), (f, lower) in zip(watched.passes, found.history, strict=True):
        best = min(best, f)
        rows = watched.sets[count - 1] if count else np.empty(0, int)
        z = solved[count - 1].z if count else np.empty(0)
        out.append(Pass(rows, z, np.maximum(a, 0) * b / f, f, lower, max(0.0, 1 - lower / best)))
    return out


def compute(seed):
    """(pool, {(budget, taken): list of Pass})."""
    rng = np.random.default_rng([seed, 8])
    points = rng.standard_normal((POINTS, 2)) * [1.5, 1.0]
    pool = np.column_stack([np.ones(POINTS), points])
    theta = np.column_stack([np.zeros(CLASSES - 1), designs.simplex_theta(CLASSES, 2)])
    runs = {}
    for b in BUDGETS:
        problem = prepare_problem(pool, None, theta, b)
        for taken in TAKEN:
            runs[b, taken] = passes(problem, taken)
    return pool, runs


def figure(pool, runs):
    """The figure of what ``compute`` returned."""
    points = pool[:, 1:]
    reach = np.abs(points).max(axis=0) + 0.3
    longest = max(len(run) for run in runs.values())
    gaps = np.array([p.gap for run in runs.values() for p in run])
    lowest = 10.0 ** np.floor(np.log10(gaps[gaps > 0].min()))
    top = 1.2 * max(p.scores.max() for run in runs.values() for p in run)

    def draw(i, j, t):
        b, run = BUDGETS[i], runs[BUDGETS[i], TAKEN[j]]
        here = run[min(t, len(run) - 1)]
        where = Panel(
            "Pool and working set",
            (-reach[0], reach[0]),
            (-reach[1], reach[1]),
            equal=True,
            xlabel="x₁",
            ylabel="x₂",
        )
        where.dots(*points.T, color="gray", size=1.1, opacity=0.6, label="pool")
        where.dots(*points[here.rows].T, color="blue", size=2.6, label="working set")
        held = here.rows[here.z > SOME]
        where.dots(*points[held].T, color="red", size=5, hollow=True, label=f"weight above {SOME}")
        scores = Panel(
            "Sensitivity of all points, sorted",
            (0.9, 1.1 * POINTS),
            (0.5, top),
            xlabel="rank in the pool",
            ylabel="sensitivity",
            xlog=True,
            ylog=True,
        )
        order = np.argsort(-here.scores)
        scores.line([0.9, 1.1 * POINTS], [1, 1], width=1, dash="dotted", label="mean of the weight")
        scores.line([b, b], [0.01, 100], color="gold", dash="dashed", label="the b largest")
        scores.line(RANKS + 1, here.scores[order[RANKS]], color="gray", width=1.5)
        inside = np.flatnonzero(np.isin(order[:200], here.rows))
        scores.dots(inside + 1, here.scores[order[inside]], color="blue", size=2.4)
        curve = Panel(
            "Certified gap",
            (0.5, longest + 0.5),
            (lowest, 2),
            xlabel="passes over the pool",
            ylabel="gap",
            ylog=True,
            xticks=[(k, str(k)) for k in range(1, longest + 1, 1 + longest // 12)],
        )
        along = np.maximum([p.gap for p in run], lowest)
        curve.line([0, longest + 1], [TOL, TOL], width=1, dash="dotted", label="wanted")
        curve.line(np.arange(1, len(run) + 1), along, color="purple", width=1.5)
        curve.dots(np.arange(1, len(run) + 1), along, color="purple", label="certified gap")
        now = min(t, len(run) - 1)
        curve.dots(now + 1, along[now], size=8, hollow=True, width=2.5)
        return [where, scores, curve], _sentence(run, t, b, len(held))

    return PlayFigure(
        "play-passes",
        [
            Control("Budget b", [str(b) for b in BUDGETS], start=2),
            Control("Points that a pass takes in", [str(n) for n in TAKEN], start=0),
            Control("Pass", [str(k + 1) for k in range(longest)], start=1),
        ],
        draw,
        caption="A pass compares all points with the solution on the working set. Points above it "
        "that the set lacks are taken in, and the gap that the pass certifies falls.",
    )


def _sentence(run, t, b, held):
    if t >= len(run):
        return f"The search ended at pass {len(run)}: the gap is {number(run[-1].gap)}."
    here = run[t]
    if not len(here.rows):
        return (
            f"Pass 1, at equal weights: f = {here.value:.3g}, and no weights are below "
            f"{here.lower:.3g}. The points with the largest sensitivities make the first set."
        )
    missing = b - np.isin(np.argsort(-here.scores)[:b], here.rows).sum()
    lacks = "none" if missing == 0 else str(missing)
    return (
        f"Pass {t + 1}: {len(here.rows)} points in the working set, {held} of them with a weight "
        f"above {SOME}. "
        f"f = {here.value:.4g}, no weights of the pool are below {here.lower:.4g}: "
        f"the gap is {number(here.gap)}. Of the {b} largest sensitivities, {lacks} "
        f"{'is' if missing == 1 else 'are'} outside of the set."
    )
