"""One selection problem, checked and brought to good coordinates once.

The data are a pool (m, d), the points already labeled (n0, d), a parameter theta (c-1, d) and a
budget b. Every quantity of the method is unchanged by an invertible linear map of the features
and by another choice of the reference class, because each only multiplies all information
matrices from both sides by one invertible matrix. ``prepare`` uses that freedom:

- features are replaced by coordinates on the span of all points in which their second moment is
  the identity, so dependent or badly scaled columns do no harm;
- classes that have probability zero at every point carry no information and are dropped, and the
  class that is most probable over all points becomes the reference.

What follows is the exact problem on the range of the information, of effective size
d~ = rank(features) * (kept classes - 1). If the information is singular even there (saturated
probabilities), the method has no answer, and one ValueError says so.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import linalg

from firal.common import checks
from firal.common.threads import blas
from firal.model.hessians import pool_blocks, weighted_information
from firal.model.logistic import softmax

FACTOR_BYTES = 32 * 2**20  # points per QR factorization, as bytes
PART = 1000  # a thread of its own needs at least so many points
MOST_PARTS = 8  # every part has its own working memory


class AllPointsTie(RuntimeWarning):
    """The picks say nothing: they are the lowest rows, because all points of the pool tie."""


class Problem(NamedTuple):
    """The prepared data of one selection; k = kept classes - 1, d~ = columns of X times k."""

    X: np.ndarray  # (m, r) pool, in coordinates with identity second moment
    h: np.ndarray  # (m, k) probabilities of all classes but the reference
    reference: np.ndarray  # (m,) probability of the reference class
    labeled: np.ndarray  # (d~, d~) sum of the information of the labeled points
    mean: np.ndarray  # (d~, d~) H_p: mean information over the pool
    budget: int
    threads: int  # BLAS threads the user allows

    @property
    def size(self):
        """d~, the number of parameters."""
        return self.mean.shape[0]


def prepare(pool, labeled, theta, budget):
    """Check the four inputs and return the ``Problem``. ``labeled`` may be None or have no rows.

    Cost: m d^2 for the coordinates and m d~^2 / 4 for the mean information; memory m (d + c).
    """
    pool = checks.points(pool, "pool").astype(np.float64, copy=False)
    m, d = pool.shape
    theta = checks.parameters(theta, d).astype(np.float64, copy=False)
    budget = checks.integer(budget, "budget", 1)
    if labeled is None or np.size(labeled) == 0:
        labeled = np.empty((0, d))
    else:
        labeled = checks.points(labeled, "labeled", d).astype(np.float64, copy=False)
    map_ = _coordinates(pool, labeled)
    p, p0 = softmax(pool, theta), softmax(labeled, theta)
    classes, reference = _classes(p, p0)
    X = pool @ map_
    h = np.ascontiguousarray(p[:, classes])
    threads = max((lib["num_threads"] for lib in blas.info()), default=1)
    mean = information_by_parts(X, h, np.full(m, 1 / m), threads)
    if not mean.any():
        raise ValueError(
            "pool must carry information, got none: all its points are zero, or all have "
            "probabilities of 0 and 1"
        )
    known = weighted_information(labeled @ map_, p0[:, classes], np.ones(len(labeled)))
    _require_definite(mean + known / budget)
    return Problem(X, h, p[:, reference].copy(), known, mean, budget, threads)


def warn_if_all_tie(problem, labeled, theta):
    """Independent points are the unit vectors in some coordinates: no one differs from another."""
    n = len(problem.X) + (0 if labeled is None else len(labeled))
    if n > problem.X.shape[1]:
        return
    warnings.warn(
        f"{n} points with {np.shape(theta)[1]} features tell nothing apart: all points of the pool "
        "are worth the same, and the lowest rows are picked; reduce the features below the number "
        "of points",
        AllPointsTie,
        stacklevel=3,
    )


def _coordinates(pool, labeled):
    """(d, r) map to r = rank coordinates in which all points together have second moment I."""
    n, d = len(pool) + len(labeled), pool.shape[1]
    R = np.empty((0, d))
    for points in (pool, labeled):
        for block in pool_blocks(len(points), 8 * d, FACTOR_BYTES):
            R = np.linalg.qr(np.vstack([R, points[block]]), mode="r")
    scale = np.linalg.norm(R, axis=0)
    scale[scale == 0] = 1
    _, s, Vt = np.linalg.svd(R / scale, full_matrices=False)
    rank = int(np.sum(s > s[0] * max(n, d) * np.finfo(float).eps)) if s[0] > 0 else 0
    if rank == 0:
        raise ValueError("pool and labeled must hold a nonzero point, got only zeros")
    return (Vt[:rank] / s[:rank, None]).T * np.sqrt(n) / scale[:, None]


def _classes(p, p0):
    """Indices of the classes kept besides the reference, and the reference."""
    total = p.sum(axis=0) + p0.sum(axis=0)
    reference = int(np.argmax(total))
    kept = np.flatnonzero(total > 0)
    if kept.size < 2:
        raise ValueError(
            f"theta must leave some uncertainty, got probability 1 for class {reference} at every "
            "point: their information is zero"
        )
    return kept[kept != reference], reference


def _require_definite(total):
    """The information of all points must be positive definite, whatever its scaling."""
    scale = np.sqrt(np.maximum(np.diag(total), 0))
    rcond = 0.0
    if scale.min() > 0:
        scaled = total / scale / scale[:, None]
        factor, failed = linalg.lapack.dpotrf(scaled, lower=1)
        if not failed:
            norm = np.abs(scaled).sum(axis=0).max()
            rcond = linalg.lapack.dpocon(factor, norm, uplo="L")[0]
    if not rcond > len(total) * np.finfo(float).eps:
        raise ValueError(
            "pool and labeled must have information of full rank on the span of their features, "
            f"got a reciprocal condition number of {rcond:.2g}: too few points, or probabilities "
            "that are 0 or 1 to rounding (a fit with a larger ridge gives softer ones)"
        )


def factor_of(A):
    """F with F F^T = A for a positive semidefinite A; lower triangular if A is definite."""
    factor, failed = linalg.lapack.dpotrf(A, lower=1, clean=1)
    if not failed:
        return factor
    values, vectors = linalg.eigh(A)
    return np.asfortranarray(vectors * np.sqrt(np.maximum(values, 0)))


def from_lower(A):
    """The symmetric matrix whose lower triangle BLAS or LAPACK left in A; A is overwritten.

    A comes in Fortran order; its transpose, the same matrix, goes back in C order without a copy.
    """
    for block in pool_blocks(len(A), 1, 256):  # square tiles: a transposed copy stays in cache
        square = A[block, block]
        np.copyto(square, square.T.copy(), where=_above_diagonal(len(square)))
        for rows in pool_blocks(block.start, 1, 256):
            A[rows, block] = A[block, rows].T
    return A.T


@lru_cache(maxsize=16)
def _above_diagonal(size):
    return np.triu(np.ones((size, size), dtype=bool), 1)


def by_parts(m, threads, work):
    """``work(part)`` for slices that split range(m) among threads; the list of their results.

    Much of a pool pass is elementwise, which BLAS threads do not speed up. So BLAS gets one
    thread meanwhile, and every part of the pool runs in a thread of its own.
    """
    parts = min(threads, MOST_PARTS, m // PART)
    if parts <= 1:
        return [work(slice(0, m))]
    edges = np.linspace(0, m, parts + 1).astype(int)
    slices = [slice(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)]
    with blas.limit(limits=1), ThreadPoolExecutor(parts) as pool:
        return list(pool.map(work, slices))


def information_by_parts(X, h, weights, threads):
    """``weighted_information`` with one part of the points per thread."""
    return sum(
        by_parts(
            len(X), threads, lambda part: weighted_information(X[part], h[part], weights[part])
        )
    )
