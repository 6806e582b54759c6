"""The comparison on ordinary tables: the default from no label, others from one label per class.

A *start* draws points of a table and a seed. Every method then buys labels up to b, 2b, 3b and 4b,
with b = max(10, c). "default" is ``firal.next_batch`` as it is, from no label at all. The methods
of the paper get one random label per class, S0, which counts; at the first count they pick the rest
of b. They see standardized columns with an intercept, and theta from a fit with the ridge 1e-3.
"random-0" draws all its labels at random, without S0.

Accuracy is over the drawn points, by one classifier for all: ridge 1e-3, symmetric penalty, on the
classes that have a label. It takes the standardized columns too, also after the default, which
itself works on robust ones.

``firal.companion.table_records`` keeps the runs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit
from threadpoolctl import threadpool_limits

from firal.companion import ridge_rules
from firal.engine.categories import category_scale, levels_of
from firal.engine.scaling import model_features
from firal.model.fitting import fit
from firal.model.logistic import softmax
from firal.pipeline import RIDGE, fit_and_pick, next_batch, why_no_model
from firal.selection.penalized import RIDGE as DESIGN_RIDGE
from firal.selection.penalized import fit_ridge, select_penalized
from firal.strategies import kmeans
from firal.trial import balanced_rows

FROM_S0 = ("random", "kmeans", "bait", "firal")
METHODS = ("default", *FROM_S0, "random-0")
POINTS, SHARE = 500, 0.75  # drawn from a table: so many, or this share if that is less
COUNTS = 4
LATER = slice(1, COUNTS)  # all but the first count
LARGEST_FIRAL = 200  # FIRAL is left out for more parameters

# Decisions of the default, changed one at a time: name -> options of ``run_variant``. First those
# around the former default, which could pick any point and had larger cluster effects.
FORMER = {"clusters": 3.0, "typical": 1.0}
VARIANTS = {
    "former default": FORMER,
    "ridge 0.003": FORMER | {"ridge": 0.003},
    "ridge 0.03": FORMER | {"ridge": 0.03},
    "no clusters": FORMER | {"clusters": 0.0},
    "clusters 1": FORMER | {"clusters": 1.0},
    "clusters 10": FORMER | {"clusters": 10.0},
    "K-means first": FORMER | {"first": "kmeans"},
    "not robust": FORMER | {"robust": False},
    "theta by ridge": FORMER | {"same_prior": False},
}
# the ridge chosen from the labels so far
RULED = {f"ridge by {rule}": FORMER | {"ridge": rule} for rule in ridge_rules.RULES}
# what is new in the default
TYPICAL_VARIANTS = {
    "all points, clusters 3": FORMER,
    "all points": {"typical": 1.0},
    "typical quarter": {"typical": 0.25},
    "typical, no clusters": {"clusters": 0.0},
    "typical, clusters 3": {"clusters": 3.0},
}
# a category of k levels weighs as k columns
CATEGORY_VARIANTS = {"category in full": {"categories": False}}
ALL_VARIANTS = VARIANTS | RULED | TYPICAL_VARIANTS | CATEGORY_VARIANTS


class Runs(NamedTuple):
    """Runs of some methods on one table; NaN where a method was left out."""

    methods: tuple
    accuracy: np.ndarray  # (methods, starts, counts)
    balanced: np.ndarray  # mean over the classes of the share that is found
    picks: np.ndarray  # (methods, starts, counts * b), rows of the drawn points; -1 if left out
    seconds: np.ndarray  # (methods,), in all
    softened: np.ndarray  # (methods,), batches for which theta needed a larger ridge
    facts: np.ndarray  # of the table: points, columns, classes, points of the smallest class


class Start(NamedTuple):
    """What one start draws: points, their classes 0..c-1, S0, and a seed for the method."""

    X: np.ndarray
    y: np.ndarray
    initial: np.ndarray
    seed: list


def batch_size(y) -> int:
    """b of a table: 10, or the number of its classes if that is larger."""
    return max(10, int(np.max(y)) + 1)


def draw_start(X, y, number: int, *, seed: int = 0, points: int = POINTS) -> Start:
    """Draw the points of a start, and its S0: one random point of each class that was drawn.

    A draw with one class is repeated.
    """
    rng = np.random.default_rng([seed, number, 0])
    size = min(points, int(SHARE * len(X)))
    while True:
        rows = rng.permutation(len(X))[:size]
        found, codes = np.unique(y[rows], return_inverse=True)
        if len(found) > 1:
            break
    initial = balanced_rows(codes, 1, np.random.default_rng([seed, number, 1]))
    return Start(X[rows], codes, initial, [seed, number, 2])


def with_category(X, levels: int) -> np.ndarray:
    """Append 0/1 columns of a random category, which says nothing about the classes."""
    codes = np.random.default_rng(levels).integers(levels, size=len(X))
    return np.column_stack([X, np.eye(levels)[codes]])


def run_default(start: Start, batch: int, counts: int = COUNTS) -> np.ndarray:
    """Rows that ``firal.next_batch`` buys by its defaults, batch by batch, from no label."""
    rng, known = np.random.default_rng(start.seed), []
    for _ in range(counts):
        labels = {int(row): int(start.y[row]) for row in known}
        known.extend(next_batch(start.X, labels or None, batch, rng=rng).rows.tolist())
    return np.array(known)


def run_from_s0(
    start: Start, strategy: str, batch: int, counts: int = COUNTS
) -> tuple[np.ndarray, int]:
    """Rows that a strategy of the paper buys, S0 first, and the number of softened batches.

    Far outliers can make all probabilities 0 or 1 to rounding. BAIT and FIRAL refuse these. Theta
    is then fitted again with a ridge ten times as large, as the error advises.
    """
    rng, known, softened = np.random.default_rng(start.seed), start.initial, 0
    F = model_features(start.X)
    c = int(start.y.max()) + 1
    while len(known) < counts * batch:
        budget, ridge = batch - len(known) % batch, RIDGE
        free = np.setdiff1d(np.arange(len(F)), known)
        data = (F[free], F[known], start.y[known], c, budget, strategy)
        while True:
            try:
                picks = fit_and_pick(*data, ridge=ridge, rng=rng)
                break
            except ValueError:
                if ridge > 1:
                    raise
                ridge *= 10
        softened += ridge > RIDGE
        known = np.concatenate([known, free[picks.rows]])
    return known, softened


def run_variant(
    start: Start,
    batch: int,
    counts: int = COUNTS,
    *,
    ridge: float | str = DESIGN_RIDGE,
    clusters: float | None = None,
    typical: float | None = None,
    robust: bool = True,
    categories: bool = True,
    same_prior: bool = True,
    first: str = "design",
) -> np.ndarray:
    """``run_default`` with its decisions as options, for an ablation.

    ridge               of ``select_penalized``, or a rule of ``ridge_rules``
    clusters, typical   of ``select_penalized``
    robust              of the features
    categories          False: a category weighs as many columns as it has levels
    same_prior          fit theta with ``fit_ridge``; else with the ridge itself
    first               "design", or "kmeans" for the first batch
    """
    rng, known = np.random.default_rng(start.seed), np.empty(0, dtype=int)
    F = model_features(start.X, robust=robust)
    if not categories:
        n, d = start.X.shape
        F[:, :d] /= category_scale(levels_of(start.X), n, d)
    for _ in range(counts):
        free, theta, r = np.setdiff1d(np.arange(len(F)), known), None, ridge
        if isinstance(ridge, str):
            r = DESIGN_RIDGE  # until there are labels of two classes
        if why_no_model(start.y[known]) is None:
            found, codes = np.unique(start.y[known], return_inverse=True)
            if isinstance(ridge, str):
                r = ridge_rules.choose_ridge(F[known], codes, len(found), batch, ridge)
            own = fit_ridge(r, len(known), batch) if same_prior else r
            theta = fit(F[known], codes, len(found), own, penalty="symmetric").theta
        if first == "kmeans" and not len(known):
            rows = kmeans(F, None, None, batch, rng)
        else:
            rows = select_penalized(
                F[free], F[known], theta, batch, rng, ridge=r, clusters=clusters, typical=typical
            ).indices
        known = np.concatenate([known, free[rows]])
    return known


def score(F, y, known, ridge: float = RIDGE) -> tuple[float, float]:
    """Accuracy and balanced accuracy over all points of the fit to the known labels."""
    found, codes = np.unique(y[known], return_inverse=True)
    if len(found) == 1:
        guess = np.full(len(y), found[0])
    else:
        theta = fit(F[known], codes, len(found), ridge, penalty="symmetric").theta
        guess = found[softmax(F, theta).argmax(axis=1)]
    right = guess == y
    return float(right.mean()), float(np.mean([right[y == k].mean() for k in np.unique(y)]))


def run_table(
    X,
    y,
    *,
    starts: int,
    seed: int = 0,
    methods: Sequence[str] = METHODS,
    points: int = POINTS,
) -> Runs:
    """All starts of all methods on one table.

    methods   names of ``METHODS`` or ``ALL_VARIANTS``
    """
    methods = {name: _function(name) for name in methods}
    b = batch_size(y)
    shape = (len(methods), starts, COUNTS)
    accuracy, balanced = np.full(shape, np.nan), np.full(shape, np.nan)
    picks = np.full((len(methods), starts, COUNTS * b), -1)
    seconds, softened = np.zeros(len(methods)), np.zeros(len(methods), dtype=int)
    left_out = {"firal"} if (X.shape[1] + 1) * int(np.max(y)) > LARGEST_FIRAL else set()
    with threadpool_limits(1):
        for t in range(starts):
            start = draw_start(X, y, t, seed=seed, points=points)
            F = model_features(start.X)
            for i, (name, function) in enumerate(methods.items()):
                if name in left_out:
                    continue
                begin = time.perf_counter()
                known = function(start, b)
                if name in FROM_S0:
                    known, more = known
                    softened[i] += more
                seconds[i] += time.perf_counter() - begin
                picks[i, t] = known
                for k in range(COUNTS):
                    accuracy[i, t, k], balanced[i, t, k] = score(F, start.y, known[: (k + 1) * b])
    facts = np.array([*X.shape, int(np.max(y)) + 1, np.bincount(y).min()])
    return Runs(tuple(methods), accuracy, balanced, picks, seconds, softened, facts)


def _function(name):
    """function(start, batch) of a name of ``METHODS`` or ``ALL_VARIANTS``."""
    if name == "default":
        return run_default
    if name in ALL_VARIANTS:
        return partial(run_variant, **ALL_VARIANTS[name])
    if name == "random-0":
        return lambda start, batch: np.random.default_rng(start.seed).permutation(len(start.X))[
            : COUNTS * batch
        ]
    return lambda start, batch: run_from_s0(start, name, batch)  # with a number


def interval(differences, confidence: float = 0.95) -> tuple[float, float, float]:
    """Mean of the differences and the ends of Student's t interval."""
    d = np.asarray(differences, dtype=float)
    half = stdtrit(len(d) - 1, (1 + confidence) / 2) * d.std(ddof=1) / np.sqrt(len(d))
    return d.mean(), d.mean() - half, d.mean() + half


def difference(
    runs: Runs, one: str, other: str, measure: str = "accuracy", counts: slice = LATER
) -> np.ndarray:
    """Points by which one method is ahead of another, per start.

    counts   of which the mean is taken; by default 2b to 4b
    """
    values = dict(zip(runs.methods, getattr(runs, measure), strict=True))
    return 100 * (values[one] - values[other])[:, counts].mean(axis=1)
