"""Passes over a pool that is held in memory.

A pass reads every point once. Much of it is elementwise work, which BLAS threads do not speed up.
So the pool is cut into one part per thread, and BLAS has one thread in each of them. The layers
above ask for a pass; they never cut a pool into parts themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from firal.common.blocks import pool_blocks
from firal.common.threads import blas
from firal.model.hessians import contract_curvature, weighted_information

FACTOR_BYTES = 32 * 2**20  # points per QR factorization, as bytes
POINTS_PER_THREAD = 1000  # a thread of its own does not pay for fewer points
BYTES_PER_THREAD = 2**24  # nor for less working memory, if points are large
MOST_PARTS = 8  # every part has its own working memory


def information(X: np.ndarray, h: np.ndarray, weights: np.ndarray, threads: int) -> np.ndarray:
    """Sum the information of all points: ``sum_i w_i H(x_i)``.

    Parameters
    ----------
    X : np.ndarray of shape (m, d)
        Points.
    h : np.ndarray of shape (m, k)
        Their probabilities of all classes but the reference.
    weights : np.ndarray of shape (m,)
        Weights.
    threads : int
        Number of threads allowed.

    Returns
    -------
    np.ndarray of shape (d * k, d * k)
        The sum. Cost: m d~^2 / 4 multiply-adds with d~ = d k.
    """
    return sum(
        _by_parts(
            len(X), threads, lambda part: weighted_information(X[part], h[part], weights[part])
        )
    )


def contract(X: np.ndarray, h: np.ndarray, M: np.ndarray, threads: int) -> np.ndarray:
    """Inner product of the information of every point with one matrix: ``<H(x_i), M>``.

    Parameters
    ----------
    X : np.ndarray of shape (m, d)
        Points.
    h : np.ndarray of shape (m, k)
        Their probabilities of all classes but the reference.
    M : np.ndarray of shape (d * k, d * k)
        Symmetric.
    threads : int
        Number of threads allowed.

    Returns
    -------
    np.ndarray of shape (m,)
        One number per point. Cost: m d~^2 / 4 multiply-adds with d~ = d k.
    """
    return np.concatenate(
        _by_parts(len(X), threads, lambda part: contract_curvature(X[part], h[part], M))
    )


def by_blocks(
    m: int, threads: int, bytes_per_point: int, budget: int, work: Callable[[int, slice], None]
) -> None:
    """Call ``work(worker, block)`` for blocks that together cover ``range(m)``.

    Parameters
    ----------
    m : int
        Number of points.
    threads : int
        Number of threads allowed.
    bytes_per_point : int
        Working memory of one point.
    budget : int
        Largest working memory of one block, in bytes.
    work : callable
        Calls with one and the same integer ``worker`` never overlap, so they may share working
        memory. Workers and blocks are the same in every pass with the same arguments.
    """

    def all_blocks_of(part):
        for inner in pool_blocks(part.stop - part.start, bytes_per_point, budget):
            work(part.start, slice(part.start + inner.start, part.start + inner.stop))

    _by_parts(
        m, threads, all_blocks_of, min(POINTS_PER_THREAD, BYTES_PER_THREAD // bytes_per_point)
    )


def triangular_factor(*point_sets: np.ndarray) -> np.ndarray:
    """Factor the sum of ``x x^T`` over all points, without forming it.

    Parameters
    ----------
    *point_sets : np.ndarray of shape (n, d)
        One or more sets of points with the same columns; all but the first may be empty.

    Returns
    -------
    np.ndarray of shape (r, d)
        Upper triangular R with ``R^T R = sum_i x_i x_i^T``; r is at most d.

    Notes
    -----
    QR factorizations of blocks of points: the sum itself would have the square of their condition
    number. Cost: m d^2 multiply-adds.
    """
    d = point_sets[0].shape[1]
    R = np.empty((0, d))
    for points in point_sets:
        for block in pool_blocks(len(points), 8 * d, FACTOR_BYTES):
            R = np.linalg.qr(np.vstack([R, points[block]]), mode="r")
    return R


def _by_parts(m, threads, work, least=None):
    """``work(part)`` for slices that split range(m) among threads; the list of their results."""
    least = POINTS_PER_THREAD if least is None else max(least, 1)
    parts = min(threads, MOST_PARTS, m // least)
    if parts <= 1:
        return [work(slice(0, m))]
    edges = np.linspace(0, m, parts + 1).astype(int)
    slices = [slice(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)]
    with blas.limit(limits=1), ThreadPoolExecutor(parts) as pool:
        return list(pool.map(work, slices))
