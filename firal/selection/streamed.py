"""A selection problem whose pool lives anywhere: in memory, in a file, on a Dask cluster.

The problem is that of :mod:`firal.selection.problem`. What differs is how it is read: nothing of
the size of the pool is kept but one number per point. Two passes prepare it,

1. a triangular factor of the features, and the mean probability of every class: the coordinates;
2. the mean information H_p;

and then it has what :mod:`firal.selection.working_set` asks of a problem: ``contract`` is a pass,
``restricted`` gathers a few thousand rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from firal.common import checks
from firal.common.threads import allowed_threads
from firal.engine.pool import FeaturePool
from firal.model.fitting import symmetric_penalty
from firal.model.hessians import weighted_information
from firal.selection import coordinates
from firal.selection.block_diagonal import BlockProblem, require_room
from firal.selection.design import BlockData, Design, FullData
from firal.selection.problem import Problem, kept_classes, require_definite
from firal.selection.structure import choose
from firal.selection.summed_blocks import SummedBlocks

BEST = 1000  # points with the largest values of the last pass, which become candidates
PIECE = 512  # points of the small QR factorizations


class StreamedProblem:
    """What the working set needs of a problem, for a pool that is read block by block.

    Parameters
    ----------
    pool : FeaturePool
        The points.
    data : FullData or BlockData
        From features to the fields of the problem.
    small : Problem or BlockProblem
        The problem without points.
    report : callable
        Called as ``report(stage, done, total)``.
    """

    def __init__(
        self,
        pool: FeaturePool,
        data: FullData | BlockData,
        small: Problem | BlockProblem,
        report: Callable[[str, int, int], None],
    ):
        self.pool, self.data, self.small, self.report = pool, data, small, report
        self.n_points, self.budget = pool.n_points, small.budget
        self.labeled_information = small.labeled_information
        self.mean_information = small.mean_information
        self.passes = 0  # for the certificate
        self.best = np.empty(0, dtype=np.intp)  # points with the largest values of the last pass

    def evaluator(self) -> Callable[[np.ndarray], tuple[float, np.ndarray | None]]:
        """As in ``Problem``.

        Returns
        -------
        callable
            From Sigma to f and M.
        """
        return self.small.evaluator()

    def restricted(self, rows: np.ndarray) -> Problem | BlockProblem:
        """The same problem with few candidates, in memory.

        Parameters
        ----------
        rows : np.ndarray of int
            Points of the pool.

        Returns
        -------
        Problem or BlockProblem
            H_p stays that of the pool.
        """
        return self.small._replace(**self.data(self.pool.features(rows)))

    def contract(self, M: np.ndarray) -> np.ndarray:
        """<H(x_i), M> of every point: one pass.

        Parameters
        ----------
        M : np.ndarray
            Symmetric, in the form of the information.

        Returns
        -------
        np.ndarray of shape (m,)
            One number per point.
        """
        self.passes += 1
        bare = self.small._replace(labeled_information=None, mean_information=None)
        report = partial(self.report, f"pass {self.passes}")
        a = self.pool.values(_Contract(self.data, bare, M), report)
        count = min(BEST, self.n_points)
        self.best = np.sort(np.argpartition(a, self.n_points - count)[-count:])
        return a


def prepare_streamed(
    pool: FeaturePool,
    labeled: np.ndarray,
    design: Design,
    budget: int,
    *,
    ridge: float = 0.0,
    effects: float = 0.0,
    structure: str = "full",
    report: Callable[[str, int, int], None],
) -> StreamedProblem:
    """Prepare a selection in two passes over the pool.

    Parameters
    ----------
    pool : FeaturePool
        Unlabeled points.
    labeled : np.ndarray of shape (n0, d)
        Features of the labeled points; may have no rows.
    design : Design
        Parameters, and centers of clusters if there are cluster effects.
    budget : int
        Number of points to pick, at most the number of points.
    ridge : float, default 0.0
        Penalty of the fit.
    effects : float
        Size of the cluster effects, in units of the root mean square of a feature.
    structure : {"full", "block-diagonal"}
        As in ``firal.select``; the latter needs a ridge.
    report : callable
        Called as ``report(stage, done, total)``.

    Returns
    -------
    StreamedProblem
        What the working set works on.

    Raises
    ------
    ValueError
        If the budget is too large, a value is not finite, the matrices cannot fit in memory, or the
        points have no information of full rank on the span of their features and there is no ridge.

    Notes
    -----
    Cost of the passes: m d^2 and m d~^2 / 4 multiply-adds.
    """
    m, d = pool.n_points, pool.n_features
    budget = checks.integer(budget, "budget", 1, m)
    if structure == "full" and design.theta is not None:
        choose(structure, "select", m, d, len(design.theta) + 1, budget)  # refuses what cannot fit
    ridge = checks.number(ridge, "ridge", 0, strict=False)
    strength, n = (len(labeled) + budget) * ridge, m + len(labeled)
    # 1. The first pass: a triangular factor, and how probable the classes are. The columns of the
    # clusters hold 1 there: what they should hold depends on the mean square of the features.
    work = _Overview(design._replace(size=1.0))
    R, total = pool.reduce(work, _Overview.merged, partial(report, "coordinates"))
    square = np.sum(R[:, :d] ** 2) / m
    columns = max(np.count_nonzero(R[:, :d].any(axis=0)), 1)  # one of zeros is no feature
    design = design._replace(size=effects * np.sqrt(square / columns))
    R[:, d:] *= design.size
    if ridge:
        coordinates.require_strong_penalty(np.sum(R**2) / m, strength)
    points, p0 = design.columns(labeled), design.probabilities(labeled)
    threads = allowed_threads()
    # 2. The second pass: the mean information, in good coordinates.
    if structure == "block-diagonal":
        c = p0.shape[1]
        require_room(c, points.shape[1])
        data = BlockData(design)
        known = SummedBlocks(points, p0 * (1 - p0), strength * (1 - 1 / c)).stored_if_small()
        none = np.empty((0, points.shape[1])), np.empty((0, p0.shape[1]))
        small = BlockProblem(*none, known, None, budget)
    else:
        R = np.linalg.qr(np.vstack([R, points]), mode="r")
        if ridge:
            map_, penalty = coordinates.penalized_by(R, n, ridge)
        else:
            map_ = coordinates.whitened_by(R, n)
        classes, reference = kept_classes(total + p0.sum(axis=0))
        data = FullData(design, map_, classes, reference)
        known = weighted_information(points @ map_, p0[:, classes], np.ones(len(labeled)))
        if ridge:
            penalty = np.diag(strength * penalty)
            known += np.kron(symmetric_penalty(len(classes) + 1), penalty)
        none = np.empty((0, map_.shape[1])), np.empty((0, len(classes))), np.empty(0)
        small = Problem(*none, known, None, budget, threads)
    mean = pool.reduce(_Information(data), _added, partial(report, "information")) / m
    if not mean.any():
        raise ValueError(
            "pool must carry information, got none: all its points are zero, or all have "
            "probabilities of 0 and 1"
        )
    if structure == "full":
        require_definite(mean + known / budget)
    return StreamedProblem(pool, data, small._replace(mean_information=mean), report)


class _Overview:
    """Triangular factor of the columns of the design, and sums of the probabilities."""

    def __init__(self, design):
        self.design = design

    def __call__(self, first, features):
        columns = self.design.columns(features)
        # factors of pieces that stay in the cache, then the factor of these
        whole = len(columns) // PIECE * PIECE
        pieces = columns[:whole].reshape(-1, PIECE, columns.shape[1])
        R = np.linalg.qr(pieces, mode="r").reshape(-1, columns.shape[1])
        R = np.linalg.qr(np.vstack([R, columns[whole:]]), mode="r")
        return R, self.design.probabilities(features).sum(axis=0)

    @staticmethod
    def merged(a, b):
        return np.linalg.qr(np.vstack([a[0], b[0]]), mode="r"), a[1] + b[1]


class _Information:
    """Sum of the information of the points of a block."""

    def __init__(self, data):
        self.data = data

    def __call__(self, first, features):
        return self.data.information(**self.data(features))


class _Contract:
    """<H(x_i), M> of the points of a block; ``small`` is the problem without points."""

    def __init__(self, data, small, M):
        self.data, self.small, self.M = data, small, M

    def __call__(self, features):
        block = self.small._replace(**self.data(features))
        if isinstance(block, Problem):
            block = block._replace(threads=1)  # the home has threads of its own
        return block.contract(self.M)


def _added(a, b):
    a += b
    return a
