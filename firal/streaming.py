"""The strategies for a pool that is read block by block.

Each does what its namesake in :mod:`firal.strategies` does. Differences that a user may notice:

- K-means, and the clusters of "firal-ridge", are those of ``SAMPLE`` random points of the pool;
- "firal", "firal-ridge" and "bait" pick among candidates: the points with weight in the relaxed
  problem, the best points of its last pass, and some others (:mod:`firal.selection.candidates`).
  The certificate is that of the whole pool.
- "firal-ridge" with features too wide for blocks picks among ``WIDE_SAMPLE`` points that are spread
  evenly over the pool, held in float32. The log says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing, nullcontext
from functools import partial

import numpy as np
from scipy.special import entr

from firal.common import checks
from firal.common.progress import reporter
from firal.common.ties import largest_first
from firal.engine.clusters import cluster_centers, tie_limit
from firal.engine.pool import FeaturePool
from firal.model.logistic import softmax
from firal.selection import penalized
from firal.selection.candidates import bait_from_candidates, select_from_candidates
from firal.selection.design import Design
from firal.selection.ftrl import Selection
from firal.selection.streamed import prepare_streamed
from firal.selection.typical_first import spread_rows, typical_candidates, usual_options
from firal.selection.wide_sizes import is_wide
from firal.strategies import STRATEGIES, named

SAMPLE = 50_000  # points that K-means sees
WIDE_SAMPLE = 20_000  # points that are held where features are wide
CENTERS = 64  # distances to so many centers are held at once
TWINS = 8  # points that are equal to rounding

log = logging.getLogger("firal")


def pick_streamed(
    pool: FeaturePool,
    labeled: np.ndarray,
    theta: np.ndarray | None,
    budget: int,
    strategy: str,
    rng: np.random.Generator,
    *,
    ridge: float = penalized.RIDGE,
    eta: float | str | None = None,
    progress: bool | Callable | None = None,
) -> tuple[np.ndarray, Selection | None]:
    """Let a strategy pick from a pool that is read block by block.

    Parameters
    ----------
    pool : FeaturePool
        The points to choose from.
    labeled : np.ndarray of shape (n0, r)
        Features of the labeled points; may be empty.
    theta : np.ndarray of shape (c-1, r), or None
        Parameters of the model.
    budget : int
        Number of points to pick.
    strategy : str
        A key of ``firal.STRATEGIES``.
    rng : numpy.random.Generator
        Source of randomness.
    ridge, eta, progress
        As in :func:`firal.next_batch`.

    Returns
    -------
    rows : np.ndarray of shape (budget,)
        Distinct points of the pool.
    selection : Selection or None
        What "firal" and "firal-ridge" know about their picks.

    Raises
    ------
    ValueError
        If the strategy is a function, or refuses its input.
    """
    if not isinstance(strategy, str):
        raise ValueError(
            f"strategy must be one of {', '.join(STRATEGIES)} for a pool that is read block by "
            f"block, got the function {named(strategy)[0]}: pass an array that fits in memory"
        )
    budget = checks.integer(budget, "budget", 1, pool.n_points)
    report, bar = reporter(progress)
    with nullcontext() if bar is None else closing(bar):
        if strategy == "random":
            result = rng.choice(pool.n_points, size=budget, replace=False)
        elif strategy == "kmeans":
            centers = cluster_centers(pool.sample(SAMPLE, rng), budget, rng)
            result = nearest_points(pool, centers, partial(report, "kmeans"))
        elif strategy in PROBABILITY_SCORES:
            score = partial(_score, PROBABILITY_SCORES[strategy], theta)
            result = largest_points(pool, score, budget, partial(report, strategy))
        elif strategy == "firal-ridge":
            result = _penalized(pool, labeled, theta, budget, rng, ridge, report)
        else:
            problem = prepare_streamed(pool, labeled, Design(theta), budget, report=report)
            if strategy == "bait":
                result = bait_from_candidates(problem, report)
            else:
                result = select_from_candidates(problem, eta=eta, report=report)
    return getattr(result, "indices", result), result if hasattr(result, "indices") else None


def _penalized(pool, labeled, theta, budget, rng, ridge, report):
    """The strategy "firal-ridge": as in ``select_penalized``."""
    m, d, free = pool.n_points, pool.n_features, 1 if theta is None else len(theta)
    count = min(len(labeled) + budget, 2 * budget, m)
    structure = "full" if d * free <= penalized.LARGEST_FULL else "block-diagonal"
    if theta is None and d + count > penalized.LARGEST_FIRST:
        structure = "block-diagonal"  # the same problem, since all points have one class part
    if structure != "full" and is_wide(d + count, free + 1):
        rows = np.linspace(0, m - 1, min(m, max(WIDE_SAMPLE, 2 * budget))).astype(int)
        if rows.size < m:
            log.info(f"features are wide: the design is made for {rows.size} points of {m}")
        found = penalized.select_penalized(
            pool.features(rows).astype(np.float32),
            labeled,
            theta,
            budget,
            rng,
            ridge=ridge,
            progress=report,
        )
        return found._replace(indices=rows[found.indices], relaxation=None)
    centers = cluster_centers(pool.sample(SAMPLE, rng), count, rng, starts=1)
    usual = usual_options(len(labeled), None if theta is None else free + 1)
    only = None
    if usual["typical"] < 1:
        some = spread_rows(m, budget)
        rows = typical_candidates(pool.features(some), centers, budget, usual["typical"])
        only = some if rows is None else some[rows]
    if structure == "full" and (d + count) * free > penalized.LARGEST_SIZE:
        centers = None
    problem = prepare_streamed(
        pool,
        labeled,
        Design(theta, centers),
        budget,
        ridge=ridge,
        effects=usual["clusters"],
        structure=structure,
        report=report,
    )
    return select_from_candidates(
        problem, rounding="greedy", tol=penalized.GAP, only=only, report=report
    )


def _score(of_probabilities, theta, features):
    return of_probabilities(softmax(features, theta))


def _entropy(p):
    return entr(p).sum(axis=1)


def _uncertainty(p):
    return -p.max(axis=1)


#: Scores of which the largest are picked, by the name of the strategy: from class probabilities.
PROBABILITY_SCORES = {"entropy": _entropy, "var-ratios": _uncertainty}


def largest_points(
    pool: FeaturePool,
    score: Callable[[np.ndarray], np.ndarray],
    count: int,
    report: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """The points with the largest scores, in one pass.

    Parameters
    ----------
    pool : FeaturePool
        The points.
    score : callable
        From features (k, r) to scores (k,).
    count : int
        How many.
    report : callable, optional
        Called as ``report(done, total)``.

    Returns
    -------
    np.ndarray of shape (count,)
        Largest first; of equals, the lower point first.
    """

    def best(values, points):
        rows = np.argsort(points)
        values, points = values[rows], points[rows]
        order = largest_first(values, min(count, len(values)))
        return values[order], points[order]

    def of_block(first, features):
        return best(score(features), np.arange(first, first + len(features)))

    def merged(a, b):
        return best(*(np.concatenate(pair) for pair in zip(a, b, strict=True)))

    return pool.reduce(of_block, merged, report)[1]


def nearest_points(
    pool: FeaturePool,
    centers: np.ndarray,
    report: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """For each center in turn, the nearest point not taken yet, in one pass.

    Parameters
    ----------
    pool : FeaturePool
        The points.
    centers : np.ndarray of shape (b, r)
        Centers, at most as many as points.
    report : callable, optional
        Called as ``report(done, total)``.

    Returns
    -------
    np.ndarray of shape (b,)
        Distinct points; of equals, the lowest one, as from ``nearest_distinct``.

    Notes
    -----
    The b nearest points of every center are kept: the others can take b - 1 of them at most. To
    these come ``TWINS`` more, among which are those that are equal to rounding.
    """
    kept = len(centers) + TWINS

    def of_block(first, features):
        found, most = [], min(kept, len(features))
        half = np.sum(features**2, axis=1)[:, None] / 2
        for start in range(0, len(centers), CENTERS):
            some = centers[start : start + CENTERS]
            rough = half - features @ some.T  # half the squared distance, up to a constant
            limits = np.partition(rough, most - 1, axis=0)[most - 1]
            for center, column, limit in zip(some, rough.T, limits, strict=True):
                below, ties = np.flatnonzero(column < limit), np.flatnonzero(column == limit)
                rows = np.sort(np.concatenate([below, ties[: most - below.size]]))
                found.append((np.sum((features[rows] - center) ** 2, axis=1), first + rows))
        return found

    def merged(a, b_):
        out = []
        for pairs in zip(a, b_, strict=True):
            distance, points = (np.concatenate(pair) for pair in zip(*pairs, strict=True))
            order = np.argsort(distance, kind="stable")[:kept]
            out.append((distance[order], points[order]))
        return out

    taken = []
    for center, (distance, points) in zip(
        centers, pool.reduce(of_block, merged, report), strict=True
    ):
        free = ~np.isin(points, taken)
        limit = tie_limit(distance[free].min(), center)
        taken.append(int(points[free & (distance <= limit)].min()))
    return np.array(taken)
