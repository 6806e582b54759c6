"""Figure to play with: the penalized design, by its ridge, the labels so far and the batch.

Three classes in the plane, features (1, x_1, x_2), so d~ = 6. Whatever is known about a direction
comes from three sources: the penalty, the labels so far, and the batch. Each has a control.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firal.companion.play.interactive import Control, PlayFigure
from firal.companion.play.panels import Panel
from firal.information.fisher import information
from firal.model.fitting import fit, symmetric_penalty
from firal.model.logistic import hessian
from firal.selection.end_to_end import select
from firal.selection.penalized import fit_ridge

RIDGES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
LABELS = (0, 3, 6, 12, 24, 48)
BATCHES = (1, 2, 3, 4, 6, 8)
CENTERS = np.array([[-1.6, -0.6], [1.5, -0.9], [0.2, 1.7]])
PER_CLASS = 40
RANDOM = 100  # batches drawn at random
CLASS_LOOKS = (("blue", "o"), ("gold", "^"), ("teal", "s"))


class Design(NamedTuple):
    """One position of the controls."""

    picked: np.ndarray  # (b,) rows of the pool without the labeled points
    ratio: np.ndarray  # (b + 1,) the penalized ratio after every pick
    random: np.ndarray  # (b + 1,) mean ratio of batches drawn at random
    bound: float  # no b distinct points have a smaller ratio
    shares: np.ndarray  # (3, d~): penalty, labels and batch, in every direction; they add up to 1


def make_pool(rng):
    """Features (m, 3) with a leading 1, and labels."""
    points = np.concatenate([c + 0.8 * rng.standard_normal((PER_CLASS, 2)) for c in CENTERS])
    return np.column_stack([np.ones(len(points)), points]), np.repeat(np.arange(3), PER_CLASS)


def design(pool, labeled, theta, ridge, batch, rng):
    """The greedy batch of ``firal.select`` and what is known in each direction after it."""
    found = select(pool, labeled, theta, batch, ridge=ridge, rounding="greedy")
    d = pool.shape[1]
    penalty = (len(labeled) + batch) * ridge * np.kron(symmetric_penalty(3), np.eye(d))
    known = information(labeled, theta, np.ones(len(labeled))) if len(labeled) else 0 * penalty
    Hp = information(pool, theta)
    H = np.array([hessian(x, theta) for x in pool])

    def along(rows):  # (.., b) rows -> (.., b + 1) ratios
        sums = np.cumsum(H[np.atleast_2d(rows)], axis=1)
        sums = np.concatenate([np.zeros((len(sums), 1, *penalty.shape)), sums], axis=1)
        return np.trace(np.linalg.solve(penalty + known + sums, Hp), axis1=-2, axis2=-1)

    drawn = along([rng.choice(len(pool), batch, replace=False) for _ in range(RANDOM)])
    # directions: those of the pool, the best known ones first
    vectors = np.linalg.eigh(Hp)[1][:, ::-1]
    parts = np.array([penalty, known, H[found.indices].sum(axis=0)])
    parts = np.einsum("ji,kjl,li->ki", vectors, parts, vectors)
    return Design(
        found.indices,
        along(found.indices)[0],
        np.mean(drawn, axis=0),
        found.objective / found.ratio,
        parts / parts.sum(axis=0),
    )


def compute(seed):
    """(pool, labels, order, {(ridge, n0, batch): Design}); the first n0 rows of order are known."""
    rng = np.random.default_rng([seed, 6])
    pool, labels = make_pool(rng)
    order = rng.permutation(len(pool))
    designs = {}
    for n0 in LABELS:
        known, rest = order[:n0], np.sort(order[n0:])
        for ridge in RIDGES:
            for batch in BATCHES:
                theta = np.zeros((2, 3))
                if n0:
                    r = fit_ridge(ridge, n0, batch)
                    theta = fit(pool[known], labels[known], 3, r, penalty="symmetric").theta
                drawing = np.random.default_rng([seed, 7])
                one = design(pool[rest], pool[known], theta, ridge, batch, drawing)
                designs[ridge, n0, batch] = one._replace(picked=rest[one.picked])
    return pool, labels, order, designs


def figure(pool, labels, order, designs):
    """The figure of what ``compute`` returned."""
    points = pool[:, 1:]
    reach = np.abs(points).max(axis=0) + 0.3
    most = BATCHES[-1]
    values = np.concatenate([[*d.ratio, *d.random, d.bound] for d in designs.values()])
    limits = values.min() / 1.3, values.max() * 1.3

    def draw(i, j, k):
        ridge, n0, batch = RIDGES[i], LABELS[j], BATCHES[k]
        here = designs[ridge, n0, batch]
        where = Panel(
            "Pool and batch",
            (-reach[0], reach[0]),
            (-reach[1], reach[1]),
            equal=True,
            xlabel="x₁",
            ylabel="x₂",
        )
        where.dots(*points.T, color="gray", size=1.8, label="no label")
        for c, (color, marker) in enumerate(CLASS_LOOKS):
            mine = [row for row in order[:n0] if labels[row] == c]
            where.dots(*points[mine].T, color=color, marker=marker, size=4.5, label=f"class {c}")
        where.dots(
            *points[here.picked].T, color="red", size=7.5, hollow=True, width=2.5, label="the batch"
        )
        ratios = Panel(
            "Penalized ratio, pick by pick",
            (-0.4, most + 0.4),
            limits,
            xlabel="picks of the batch",
            ylabel="ratio",
            ylog=True,
            xticks=[(t, str(t)) for t in range(most + 1)],
        )
        steps = np.arange(batch + 1)
        ratios.line(steps, here.random, color="gray", dash="dotted", label="random batches, mean")
        ratios.line(steps, here.ratio, color="red", width=1.5)
        ratios.dots(steps, here.ratio, color="red", label="the design")
        ends = [batch - 0.5, batch + 0.5]
        ratios.line(ends, [here.bound] * 2, dash="dashed", label="no batch is below (certified)")
        size = here.shares.shape[1]
        sources = Panel(
            "Who knows what",
            (0.4, size + 0.6),
            (0, 1),
            xlabel="direction of the pool, the strongest first",
            ylabel="share of the information",
            xticks=[(t, str(t)) for t in range(1, size + 1)],
        )
        directions, low = np.arange(1, size + 1), np.zeros(size)
        names = (("gray", "penalty"), ("blue", "labels so far"), ("red", "the batch, by share"))
        for (color, name), share in zip(names, here.shares, strict=True):
            sources.bars(directions, share, low, color=color, opacity=0.6, label=name)
            low = low + share
        return [where, ratios, sources], _sentence(ridge, n0, batch, here)

    return PlayFigure(
        "play-ridge",
        [
            Control("Ridge", [f"{r:g}" for r in RIDGES], start=RIDGES.index(1e-2)),
            Control("Labels so far", [str(n) for n in LABELS], start=2),
            Control("Batch", [str(b) for b in BATCHES], start=3),
        ],
        draw,
        caption="The penalty is information that is always there. The more of all that is known is "
        "the penalty, or the labels so far, the less a batch can change.",
    )


def _sentence(ridge, n0, batch, here):
    penalty, labels, new = 100 * here.shares.mean(axis=1)
    percent = "\N{NO-BREAK SPACE}%"
    start = "With no label yet" if n0 == 0 else f"With {n0} labels"
    return (
        f"{start} and ridge {ridge:g}, a batch of {batch} takes the ratio from "
        f"{here.ratio[0]:.3g} to {here.ratio[-1]:.3g}; random batches reach {here.random[-1]:.3g}, "
        f"and no batch is below {here.bound:.3g}. Of what is known, {penalty:.0f}{percent} is the "
        f"penalty, {labels:.0f}{percent} the labels so far, {new:.0f}{percent} the batch."
    )
