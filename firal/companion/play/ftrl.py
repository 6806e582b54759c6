"""Figure to play with: the rounding of Algorithm 1, step by step, on a small pool.

``steps`` is the algorithm written with one dense matrix per point, so that everything it looks at
can be shown; ``firal.sparsify`` picks the same points without these matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import optimize

from firal.companion.play.interactive import Control, PlayFigure
from firal.companion.play.panels import Panel
from firal.model.logistic import hessian
from firal.selection.relaxation import relax
from firal.theory import designs

POOL, BUDGET, CLASSES = 20, 6, 3
ETAS = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 60.0, 250.0, 1000.0)


class Step(NamedTuple):
    """The state before a pick; after the last pick ``pick`` is None."""

    picked: tuple  # rows picked so far
    information: np.ndarray  # (d~,) ascending eigenvalues of sum_l H~_{i_l}
    A: np.ndarray  # (d~,) eigenvalues of A_t for the same directions; their sum is 1
    gains: np.ndarray  # (m,) what each point would add to the lower bound
    pick: int | None


def steps(pool, theta, z, budget, eta):
    """All states of FTRL rounding without replacement and without labeled points.

    pool (m, d), theta (c-1, d), z (m,) with sum ``budget``. Cost per step: m d~^3.
    """
    H = np.array([hessian(x, theta) for x in pool])
    values, vectors = np.linalg.eigh(np.tensordot(z, H, 1))
    root = vectors / np.sqrt(values) @ vectors.T  # Sigma(z)^{-1/2}
    white = root @ H @ root  # H~_i; the sum of z_i H~_i is I
    size = len(root)
    total, picked, out = np.zeros((size, size)), [], []
    for t in range(budget + 1):
        spectrum = np.linalg.eigvalsh(total)
        nu = _normalizer(eta * spectrum)
        inverse_root = nu * np.eye(size) + eta * total  # A_t^{-1/2}
        after = np.linalg.inv(inverse_root + eta * white)
        roots = 1 / (nu + eta * spectrum)  # eigenvalues of A_t^{1/2}
        gains = (roots.sum() - np.trace(after, axis1=1, axis2=2)) / eta
        gains[picked] = np.nan
        pick = int(np.nanargmax(gains)) if t < budget else None
        out.append(Step(tuple(picked), spectrum, roots**2, gains, pick))
        if pick is not None:
            picked.append(pick)
            total = total + white[pick]
    return out


def _normalizer(values):
    """nu with ``sum_j (nu + values_j)^{-2} = 1``: the trace of A_t is 1."""
    low = -values.min()
    return optimize.brentq(
        lambda nu: np.sum((nu + values) ** -2) - 1, low + 0.5, low + np.sqrt(values.size) + 1
    )


def compute(seed):
    """(pool, z, {eta: list of Step})."""
    rng = np.random.default_rng([seed, 3])
    pool = rng.standard_normal((POOL, 2)) * [1.6, 1.0]
    theta = designs.simplex_theta(CLASSES, 2)
    z = relax(pool, None, theta, BUDGET, tol=1e-4).z
    return pool, z, {eta: steps(pool, theta, z, BUDGET, eta) for eta in ETAS}


def figure(pool, z, runs):
    """The figure of what ``compute`` returned."""
    etas = list(runs)
    every = np.arange(len(pool))
    top = max(np.nanmax(s.gains[~np.isnan(s.gains)], initial=0) for r in runs.values() for s in r)
    most = max(s.information.max() for r in runs.values() for s in r)
    reach = np.abs(pool).max(axis=0) + 0.6
    names = _beside(pool, 0.36)

    def draw(which, t):
        step = runs[etas[which]][t]
        now = [] if step.pick is None else [step.pick]
        where = Panel(
            "Pool: weights and picks",
            (-reach[0], reach[0]),
            (-reach[1], reach[1]),
            equal=True,
            xlabel="x₁",
            ylabel="x₂",
        )
        where.area(*_disks(pool, 0.22 * np.sqrt(z)), color="gray", opacity=0.5, label="weight z")
        where.dots(*pool.T, size=1.5)
        picked = pool[list(step.picked)]
        where.dots(*picked.T, color="blue", marker="s", size=6, hollow=True, label="picked")
        where.dots(*pool[now].T, color="red", marker="D", size=8, hollow=True, label="next pick")
        for i, (x, y) in enumerate(names):
            where.text(x, y, str(i))
        directions = np.arange(1, len(step.A) + 1)
        spectrum = Panel(
            "Directions, weakest first",
            (0.4, len(step.A) + 0.6),
            (0, 1.1 * max(most, 1)),
            xlabel="direction",
            ylabel="eigenvalue",
            xticks=[(k, str(k)) for k in directions],
        )
        spectrum.line([0, 9], [1, 1], width=1, dash="dotted", label="what the weights z give")
        spectrum.bars(directions, step.A, color="blue", opacity=0.6, label="Aₜ: share of attention")
        spectrum.dots(
            directions,
            step.information,
            color="gold",
            marker="D",
            size=5,
            label="information picked so far",
        )
        scores = Panel(
            "Gain of every point",
            (-0.7, len(pool) - 0.3),
            (0, 1.1 * top),
            xlabel="point",
            ylabel="gain",
            xticks=[(k, str(k)) for k in every[::2]],
        )
        others = np.where(np.isin(every, now), np.nan, step.gains)
        scores.bars(every, others, color="gray", opacity=0.6, label="gain")
        scores.bars(now, step.gains[now], color="red", opacity=0.9)
        scores.dots(
            list(step.picked),
            np.full(len(step.picked), 0.03 * top),
            color="blue",
            marker="s",
            size=4,
            hollow=True,
        )
        return [where, spectrum, scores], _sentence(step)

    return PlayFigure(
        "play-ftrl",
        [
            Control("η", [f"{eta:g}" for eta in etas], start=etas.index(16.0)),
            Control("Picks so far", [str(t) for t in range(BUDGET + 1)], start=3),
        ],
        draw,
        caption="Aₜ puts its weight on the directions that have little information so far, and "
        "the next pick is the point with the largest gain there.",
    )


def _sentence(step):
    weakest = (
        f"The weakest direction has {step.information[0]:.2f} of what the weights z would give"
    )
    if step.pick is None:
        return f"{len(step.picked)} points are picked. {weakest}."
    order = np.argsort(-np.nan_to_num(step.gains))
    why = (
        "nothing is known yet, so all directions count alike"
        if not step.picked
        else f"Aₜ gives it {100 * step.A[0]:.0f}\N{NO-BREAK SPACE}% of the attention"
    )
    return (
        f"{len(step.picked)} picked. {weakest}; {why}. Next is point {step.pick} with gain "
        f"{step.gains[step.pick]:.3f}; point {order[1]} follows with {step.gains[order[1]]:.3f}."
    )


def _beside(points, distance):
    """A place for the name of every point: around it, where points and names leave most room."""
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False) + np.pi / 6
    around = distance * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    taken = list(points)
    for point in points:
        gaps = np.linalg.norm((point + around)[:, None] - np.array(taken), axis=2)
        taken.append(point + around[np.round(gaps.min(axis=1), 2).argmax()])
    return np.array(taken[len(points) :])


def _disks(centers, radii, steps=16):
    """Polygons around the centers, separated by NaN."""
    angles = np.linspace(0, 2 * np.pi, steps, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    shapes = centers[:, None] + radii[:, None, None] * circle
    gap = np.full((len(centers), 1, 2), np.nan)
    return np.concatenate([shapes, gap], axis=1).reshape(-1, 2).T
