"""Figure to play with: six strategies on one two-dimensional pool, round by round.

Four classes, features (1, x_1, x_2), so d~ = 9. All strategies start from the same labeled points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firal.companion.play.interactive import Control, PlayFigure
from firal.companion.play.panels import Panel
from firal.companion.plotting import METHODS
from firal.model.fitting import fit
from firal.model.logistic import softmax
from firal.pipeline import RIDGE
from firal.strategies import PAPER
from firal.trial import active_learning, all_labels_accuracy, balanced_rows

ROUNDS, BATCH, PER_CLASS = 8, 3, 40
CENTERS = np.array([[-2.0, 0.0], [1.2, 2.2], [1.8, -1.0], [0.0, 0.3]])
SPREADS = np.array([0.8, 0.9, 0.9, 0.6])
CLASS_LOOKS = (("blue", "o"), ("gold", "^"), ("teal", "s"), ("purple", "D"))
HALF = 4.6  # the map reaches from -HALF to HALF


class Run(NamedTuple):
    """One strategy in one trial; R rounds after the fit on the initial points."""

    known: list  # R + 1 arrays: rows with a label
    picked: list  # R + 1 arrays: rows picked in this round
    theta: list  # R + 1 parameters
    accuracy: np.ndarray  # (R + 1,)
    margin: np.ndarray  # (R + 1,) of the picked points: how sure the fit before was; NaN at first


def make_pool(rng):
    """Features (m, 3) with a leading 1, and labels."""
    points = np.concatenate(
        [c + s * rng.standard_normal((PER_CLASS, 2)) for c, s in zip(CENTERS, SPREADS, strict=True)]
    )
    labels = np.repeat(np.arange(len(CENTERS)), PER_CLASS)
    return np.column_stack([np.ones(len(points)), points]), labels


def run(pool, labels, strategy, seed):
    """One trial; the initial points depend on the seed only."""
    initial = balanced_rows(labels, 1, np.random.default_rng(seed))
    records = active_learning(
        pool, labels, initial, strategy, rounds=ROUNDS, batch=BATCH, rng=np.random.default_rng(seed)
    )
    known, thetas = [initial], []
    for r in records:
        if r.round:
            known.append(np.concatenate([known[-1], r.picked]))
        thetas.append(fit(pool[known[-1]], labels[known[-1]], len(CENTERS), RIDGE).theta)
    margins = [np.nan]
    for r in records[1:]:
        p = np.sort(softmax(pool[r.picked], thetas[r.round - 1]), axis=1)
        margins.append(np.mean(p[:, -1] - p[:, -2]))
    return Run(
        known,
        [r.picked for r in records],
        thetas,
        np.array([r.accuracy for r in records]),
        np.array(margins),
    )


def compute(seed, n_trials):
    """(pool, labels, {strategy: list of n_trials Run})."""
    pool, labels = make_pool(np.random.default_rng([seed, 4]))
    runs = {
        strategy: [run(pool, labels, strategy, [seed, 5, trial]) for trial in range(n_trials)]
        for strategy in PAPER
    }
    return pool, labels, runs


def figure(pool, labels, runs):
    """The figure of what ``compute`` returned: the first trial of every strategy."""
    names = list(runs)
    shown = {name: runs[name][0] for name in names}
    best = all_labels_accuracy(pool, labels)
    low = min(r.accuracy.min() for r in shown.values()) - 0.05
    counts = len(CENTERS) + BATCH * np.arange(ROUNDS + 1)

    def draw(which, r):
        run = shown[names[which]]
        plane = Panel(
            "Pool, labels and regions",
            (-HALF, HALF),
            (-3.4, 4.2),
            equal=True,
            xlabel="x₁",
            ylabel="x₂",
        )
        for k, (color, _) in enumerate(CLASS_LOOKS):
            plane.area(*region(run.theta[r], k), color=color, opacity=0.16, width=1)
        for k, (color, marker) in enumerate(CLASS_LOOKS):
            mine = pool[labels == k, 1:]
            plane.dots(
                *mine.T, color=color, marker=marker, size=2.6, hollow=True, label=f"class {k}"
            )
        for k, (color, marker) in enumerate(CLASS_LOOKS):
            mine = [i for i in run.known[r] if labels[i] == k]
            plane.dots(*pool[mine, 1:].T, color=color, marker=marker, size=5)
        new = pool[run.picked[r], 1:]
        plane.dots(*new.T, color="red", size=9, hollow=True, width=2.5, label="new in this round")
        curves = Panel(
            "Accuracy in this trial",
            (3, counts[-1] + 1),
            (low, 1),
            xlabel="labels",
            ylabel="accuracy on the pool",
        )
        curves.line([0, 99], [best, best], width=1, dash="dotted", label="all labels known")
        for name in names:
            label, color, marker = METHODS[name]
            curves.line(counts, shown[name].accuracy, color=color, width=1, opacity=0.8)
            curves.dots(counts, shown[name].accuracy, color=color, marker=marker, label=label)
        curves.line(counts, run.accuracy, width=3, label="chosen strategy")
        curves.dots(counts[r], run.accuracy[r], size=8, hollow=True, width=2.5)
        return [plane, curves], _sentence(names[which], runs[names[which]], r)

    return PlayFigure(
        "play-rounds",
        [
            Control("Strategy", [METHODS[n][0] for n in names], choice=True, start=len(names) - 1),
            Control("Round", [str(r) for r in range(ROUNDS + 1)], start=3),
        ],
        draw,
        caption="Filled markers have a label, shaded regions are what the fit predicts. One trial "
        "ranks nothing: the means over the trials are in the sentence.",
    )


def region(theta, k):
    """Corners of the part of the map where class k is most probable: (2, corners).

    The map is cut by the half-plane (theta_k - theta_j)(1, x) >= 0 for every other class j.
    """
    theta = np.vstack([theta, np.zeros(3)])  # the last class is the reference
    corners = HALF * 2 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    for j in range(len(theta)):
        if j != k and len(corners):
            corners = _cut(corners, theta[k] - theta[j])
    return corners.T if len(corners) else np.empty((2, 0))


def _cut(corners, a):
    """The part of a convex polygon with ``a_0 + a_1 x_1 + a_2 x_2 >= 0``."""
    side = a[0] + corners @ a[1:]
    out = []
    for i in range(len(corners)):
        j = (i + 1) % len(corners)
        if side[i] >= 0:
            out.append(corners[i])
        if (side[i] >= 0) != (side[j] >= 0):
            share = side[i] / (side[i] - side[j])
            out.append(corners[i] + share * (corners[j] - corners[i]))
    return np.array(out).reshape(-1, 2)


def _sentence(name, runs, r):
    run, trials = runs[0], np.array([one.accuracy[r] for one in runs])
    error = trials.std(ddof=1) / np.sqrt(len(trials)) if len(trials) > 1 else np.nan
    return (
        f"{METHODS[name][0]}, {len(run.known[r])} labels: accuracy {run.accuracy[r]:.3f} in this "
        f"trial. Mean of {len(trials)} trials: {trials.mean():.3f} ± {error:.3f}."
        + (f" Margin of the new points: {run.margin[r]:.2f}." if r else "")
    )
