"""Penalized FIRAL, from the first label on: the strategy "firal-ridge".

The design is that of ``firal.select`` with a ridge: the objective is the ratio of the estimator
that is really fitted, and it exists with no label at all. Three things are added to make it robust.

**Cluster effects.** A linear model sees no groups, and at theta = 0 it likes extreme points. Real
classes come in groups. So the design is made for a model with one more parameter per cluster and
class: the features x are followed by ``scale`` times the indicator of the cluster of x, with ``2 *
budget`` clusters, or ``n0 + budget`` if that is less. Under the ridge this is a prior under which
the logits are a linear function plus an independent shift of each cluster. Points of clusters that
have no label yet gain by it. The model that is fitted to the labels has no such terms.

**Typical points first.** What an outlier is says little about other points, but outliers are where
a design is most uncertain. At first only the half of every cluster with the nearest neighbors may
be picked (:mod:`firal.engine.typical`), while H_p is that of all points. From eight labels per
class on, and while all labels are of one class, all points may be picked, and the cluster effects
are larger: typical points have told what they can, and a rare class is not typical
(:mod:`firal.selection.typical_first`).

**The same prior in fit and design.** After the batch the fit on n = n0 + budget labels has the
total penalty n * ridge. The theta of the design is fitted with this total penalty too, that is,
with the ridge ``fit_ridge(ridge, n0, budget)`` on n0 labels: a handful of labels makes a fit with a
small penalty far too sure of itself.

Which scale, which number of clusters and which ridge was decided by measurement, on one half of
many pools; the chapter *The estimator that is really fitted* has the tables.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import closing, nullcontext

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.own_theta import selection_parameters
from firal.common.progress import reporter
from firal.common.rounds import same_columns
from firal.engine.clusters import cluster_centers, nearest_center
from firal.model.logistic import softmax
from firal.selection.block_rows import GroupedRows
from firal.selection.coordinates import require_strong_penalty
from firal.selection.end_to_end import select
from firal.selection.ftrl import Selection
from firal.selection.probabilities import class_probabilities
from firal.selection.reduced import FeaturesReduced, reduce_features
from firal.selection.typical_first import typical_candidates, usual_options
from firal.selection.wide import select_wide
from firal.selection.wide_forms import WideProblem, in_double, pieces, squared_norms
from firal.selection.wide_sizes import is_wide, reduced_sizes

RIDGE = 1e-2  # on features of mean square 1
LARGEST_SIZE = 600  # with full matrices, cluster effects are left out beyond this order
LARGEST_FIRST = 150  # the same for the first batch, where blocks lose nothing
LARGEST_FULL = 1500  # beyond this order the information is block-diagonal
CLUSTER_SAMPLE = 5000  # points that fix the clusters of wide features
GAP = 0.1  # of the relaxed problem, which only serves the certificate here


def fit_ridge(ridge: float, n_labeled: int, budget: int) -> float:
    """Ridge for n0 labels whose total penalty is that of ``ridge`` on n0 + budget labels.

    Parameters
    ----------
    ridge : float
        Penalty of the fit after the batch.
    n_labeled : int
        Number of labels now, n0; at least 1.
    budget : int
        Number of labels to come.

    Returns
    -------
    float
        ``ridge * (n0 + budget) / n0``.

    Examples
    --------
    >>> fit_ridge(0.01, 10, 10)
    0.02
    """
    return ridge * (n_labeled + budget) / n_labeled


def select_penalized(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    rng: np.random.Generator,
    *,
    ridge: float = RIDGE,
    clusters: float | None = None,
    typical: float | None = None,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    progress: bool | Callable[[str, int, int], None] | None = None,
    watch: Callable[[int, np.ndarray], None] | None = None,
) -> Selection:
    """Pick typical points to label next by the penalized design with cluster effects.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points, in columns of one scale.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    theta : array_like of shape (c-1, d) or None
        Parameters, fitted with ``fit_ridge`` and the symmetric penalty; None while there are no
        labels of two classes.
    budget : int
        Number of points to pick, at most m.
    rng : numpy.random.Generator
        Source of randomness for the start of K-means; nothing else is random.
    ridge : float, default 0.01
        Penalty of the fit, positive.
    clusters : float, optional
        Size of the cluster effects; 0 leaves them out. The default is that of ``usual_options``.
    typical : float, optional
        Share of the points of every cluster that may be picked, those with the nearest neighbors;
        1 for all points. The default is that of ``usual_options``.
    probabilities : tuple of array_like, optional
        Class probabilities of any classifier in place of theta, as in ``firal.select``.
    progress : bool or callable, optional
        As in ``firal.select``.
    watch : callable, optional
        As in ``firal.select``.

    Returns
    -------
    Selection
        The picked rows. ``objective`` and the certificate are those of the model with cluster
        effects; the certificate compares with all choices, those of other points among them.

    Raises
    ------
    ValueError
        As in ``firal.select``.

    Notes
    -----
    Points are picked by greedy steps (``rounding="greedy"`` of ``firal.select``). Cluster effects
    make the matrices larger, of order (d + 2 budget)(c - 1); they are left out if that is more than
    ``LARGEST_SIZE``. If d (c - 1) is more than ``LARGEST_FULL``, only one block per class is kept
    of all information (``structure="block-diagonal"``), with cluster effects. Before the first
    label the class part is one number, and the size is d + budget for any number of classes. Where
    these blocks are too large (``is_wide``), none is written (:mod:`firal.selection.wide`): the
    same problem in all columns, without a copy of a pool in float32, and a certificate that costs
    nothing (:mod:`firal.selection.few_points`). With very many labels that does not fit either:
    principal directions take the place of the columns (:mod:`firal.selection.reduced`), and a
    ``FeaturesReduced`` warning and ``why`` say how much of the mean square is lost.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> pool = np.repeat(10.0 * np.eye(4), 20, axis=0) + rng.normal(size=(80, 4))  # four groups
    >>> found = select_penalized(pool, None, None, 4, rng)
    >>> sorted((found.indices // 20).tolist())
    [0, 1, 2, 3]
    """
    # 1. Check, and compute the probabilities.
    same_columns(pool, labeled)
    pool = checks.points(pool, "pool")
    m, d = pool.shape
    budget = checks.integer(budget, "budget", 1, m)
    ridge = checks.number(ridge, "ridge", 0)
    if labeled is None or np.size(labeled) == 0:
        labeled = np.empty((0, d))
    labeled = checks.points(labeled, "labeled", d) if len(labeled) else labeled
    nothing_known, free = theta is None and probabilities is None, 1
    if probabilities is not None:
        p, p0 = class_probabilities(pool, labeled, theta, probabilities)
        free = p.shape[1] - 1
    elif theta is not None:
        theta = selection_parameters(theta, d)
        free = len(theta)
    usual = usual_options(len(labeled), None if nothing_known else free + 1)
    clusters = usual["clusters"] if clusters is None else clusters
    clusters = checks.number(clusters, "clusters", 0, strict=False)
    typical = checks.number(usual["typical"] if typical is None else typical, "typical", 0)
    if typical > 1:
        raise ValueError(f"typical must be a share, at most 1, got {typical!r}")
    # 2. Full matrices as long as they are small, else one block per class.
    count = min(len(labeled) + budget, 2 * budget, m)
    structure = "full" if d * free <= LARGEST_FULL else "block-diagonal"
    if nothing_known and clusters and d + count > LARGEST_FIRST:
        structure = "block-diagonal"  # the same problem, since all points have one class part
    wide = structure != "full" and is_wide(d + count if clusters else d, free + 1)
    kind = np.float32 if wide and pool.dtype == np.float32 else np.float64
    pool, labeled = pool.astype(kind, copy=False), labeled.astype(kind, copy=False)
    if nothing_known:
        p, p0 = (np.full((len(X), 2), 0.5) for X in (pool, labeled))
    elif probabilities is None:
        p, p0 = (_probabilities(X, theta.astype(np.float64, copy=False)) for X in (pool, labeled))
    why, columns = None, max(np.count_nonzero(pool.any(axis=0)), 1)  # one of zeros is no feature
    if wide:
        effects = count if clusters else 0
        sizes = reduced_sizes(d, free + 1, len(labeled) + min(2 * budget, m), effects)
        if sizes is not None:
            pool, labeled, kept = reduce_features(pool, labeled, sizes[0])
            why = (
                f"{d} features are replaced by {pool.shape[1]} principal directions with "
                f"{100 * kept:.1f} % of their mean square: with {len(labeled)} labels and "
                f"{free + 1} classes the design in all columns does not fit"
            )
            warnings.warn(why, FeaturesReduced, stacklevel=2)
            wide, count = False, sizes[1] if clusters else count
    if wide:
        strength = (len(labeled) + budget) * ridge
        return _select_wide(
            pool,
            labeled,
            p,
            p0,
            strength,
            budget,
            count,
            clusters / np.sqrt(columns),
            typical,
            rng,
            progress,
            watch,
        )
    # 3. Clusters: typical points may be picked, and indicators join the features.
    effects = clusters and (structure != "full" or (d + count) * free <= LARGEST_SIZE)
    if effects or typical < 1:
        centers = cluster_centers(pool, count, rng, starts=1)
    only = typical_candidates(pool, centers, budget, typical) if typical < 1 else None
    if effects:
        size = clusters * np.sqrt(np.sum(pool**2) / (m * columns))
        pool, labeled = (_with_indicators(X, centers, size) for X in (pool, labeled))
    # 4. The penalized design.
    found = select(
        pool,
        labeled,
        None,
        budget,
        ridge=ridge,
        probabilities=(p, p0),
        rounding="greedy",
        structure=structure,
        candidates=only,
        tol=GAP,
        progress=progress,
        watch=watch,
    )
    return found if why is None else found._replace(why=why)


def _select_wide(
    pool, labeled, p, p0, strength, budget, count, clusters, typical, rng, progress, watch
):
    """The same design, block-diagonal, without a block."""
    report, bar = reporter(progress)
    with nullcontext() if bar is None else closing(bar):
        report("cluster", 0, 1)
        square = squared_norms(pool).mean()
        require_strong_penalty(square, strength)
        only = None
        if clusters or typical < 1:
            some = np.linspace(0, len(pool) - 1, min(len(pool), CLUSTER_SAMPLE)).astype(int)
            centers = cluster_centers(pool[some], min(count, len(some)), rng, starts=1)
        if typical < 1:
            only = typical_candidates(pool, centers, budget, typical)
        if clusters:
            size = clusters * np.sqrt(square)
            pool, labeled = (
                GroupedRows(
                    X, nearest_center(X, centers), np.full(len(X), size, X.dtype), len(centers)
                )
                for X in (pool, labeled)
            )
        report("cluster", 1, 1)
        g, g0 = (np.ascontiguousarray(q * (1 - q)) for q in (p, p0))
        problem = WideProblem(pool, g, labeled, g0, strength, budget)
        return select_wide(problem, report, watch, only=only)


def _probabilities(X, theta):
    """Class probabilities in float64, without a copy of X in that type."""
    out = np.empty((len(X), len(theta) + 1))
    for rows in pieces(len(X)):
        out[rows] = softmax(in_double(X[rows]), theta)
    return out


def _with_indicators(X, centers, size):
    """X followed by ``size`` in the column of the nearest center, and zeros."""
    out = np.zeros((len(X), X.shape[1] + len(centers)))
    out[:, : X.shape[1]] = X
    out[np.arange(len(X)), X.shape[1] + nearest_center(X, centers)] = size
    return out
