"""What a selection will take, before it begins: its matrices, seconds and memory.

The work of a strategy is what its steps cost (:mod:`firal.work`); the speed of this machine is
measured by a matrix product that takes a few hundredths of a second. So seconds are right within a
factor of about three, and that is what the answer is for: is it seconds, minutes or hours.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from firal import work
from firal.common.sizes import size_text, time_text, total_memory
from firal.common.threads import one_thread
from firal.pipeline import DEFAULT
from firal.selection import block_diagonal, penalized
from firal.selection.reduced import MOST_POINTS
from firal.selection.structure import block_cost, choose, full_cost
from firal.selection.typical_first import spread_rows, usual_options
from firal.selection.wide_sizes import is_wide, reduced_sizes, vector_bytes

__all__ = [
    "Estimate",
    "estimate",
    "estimate_streamed",
    "fewer_features",
    "machine_rate",
    "size_text",
    "time_text",
    "total_memory",
    "why_impossible",
]

CANDIDATES = 12_000  # points of a streamed pool that are held in memory
BUFFERS = 2 * 10**8  # bytes of the blocks that are read
SIDE = 512  # of the matrices whose product is timed
SLOW = 120.0  # seconds from which on a quicker way is worth a word
FEWER = (200, 100, 50, 20, 10, 5)  # numbers of components that are tried as a remedy

PER_WIDE = 1.2  # multiply-adds without blocks, in units of those of a matrix product


class Estimate(NamedTuple):
    """What a selection will take.

    Attributes
    ----------
    structure : str
        "full", "block-diagonal", "wide" if no block is written, or "none" for a strategy without
        matrices.
    order : int
        Order of the largest matrices.
    clusters : int
        Number of clusters whose effects are in the design.
    work : float
        Multiply-adds, in units of those of a matrix product.
    memory : int
        Bytes that will be held at once, about.
    least : int
        Bytes below which it is impossible.
    """

    structure: str
    order: int
    clusters: int
    work: float
    memory: int
    least: int

    def seconds(self, rate: float) -> float:
        """Time that it takes.

        Parameters
        ----------
        rate : float
            Multiply-adds per second, see :func:`machine_rate`.

        Returns
        -------
        float
            Seconds, within a factor of about three.
        """
        return self.work / rate


def estimate(
    m: int, d: int, c: int, n_labels: int, budget: int, strategy: str = DEFAULT
) -> Estimate:
    """Estimate what a selection takes.

    Parameters
    ----------
    m : int
        Points to choose from.
    d : int
        Features of the model, with the intercept.
    c : int
        Classes among the labels; fewer than 2 if there is no model yet.
    n_labels : int
        Labeled points.
    budget : int
        Points to pick.
    strategy : str
        A key of ``firal.STRATEGIES``; others count as a strategy without matrices.

    Returns
    -------
    Estimate
        Matrices, work and memory.

    Examples
    --------
    >>> plan = estimate(m=3000, d=769, c=20, n_labels=60, budget=20)
    >>> plan.structure, plan.order
    ('wide', 809)
    >>> estimate(3000, 769, 2, 60, 20, "firal").structure
    'full'
    """
    if c < 2 and strategy not in (DEFAULT, "random", "kmeans"):
        strategy = "kmeans"
    points = 8 * m * d * 3
    if strategy == DEFAULT:
        return _penalized(m, d, c, n_labels, budget, points)
    if strategy in ("firal", "bait"):
        return _of_the_paper(m, d, c, budget, strategy)
    if strategy == "kmeans":
        return Estimate("none", 0, 0, work.clusters(m, d, budget, 3), points, points)
    return Estimate("none", 0, 0, float(m * d * 10 * max(c, 1)), points, points)


def _of_the_paper(m, d, c, budget, strategy):
    sizes = "select" if strategy == "firal" else "bait", m, d, c, budget
    if choose("auto", *sizes).structure == "full":
        counts = work.paper_counts(m, d * (c - 1), budget, strategy)
        total = work.full(m, d, c - 1, counts, budget, spectra=strategy == "firal")
        return Estimate("full", d * (c - 1), 0, total, *full_cost(*sizes)[1:])
    total, *memory = block_cost(*sizes)
    if strategy == "bait":
        counts = work.paper_counts(m, d, budget, strategy)
        total = work.blocks(m, d, d, c, counts, budget)
    return Estimate("block-diagonal", d, 0, total, *memory)


def _penalized(m, d, c, n_labels, budget, points):
    """Of the default strategy: the rules are those of ``firal.selection.penalized``."""
    free = max(c - 1, 1)
    clusters = min(n_labels + budget, 2 * budget, m)
    first = c < 2 and d + clusters > penalized.LARGEST_FIRST
    typical = usual_options(n_labels, c if c > 1 else None)["typical"] < 1
    start = work.neighbors(len(spread_rows(m, budget)), d) if typical else 0.0
    if d * free <= penalized.LARGEST_FULL and not first:
        effects = (d + clusters) * free <= penalized.LARGEST_SIZE
        if effects or typical:
            start += work.clusters(m, d, clusters)
        clusters = clusters if effects else 0
        s = (d + clusters) * free
        counts = work.penalized_counts(m, s, n_labels, c, budget)
        total = start + work.full(m, d + clusters, free, counts, budget, spectra=False)
        _, memory, least = full_cost("select", m, d + clusters, free + 1, budget)
        return Estimate("full", s, clusters, total, memory, least)
    order, c = d + clusters, free + 1
    n = n_labels + min(2 * budget, m)
    sizes = is_wide(order, c) and reduced_sizes(d, c, n, clusters)
    if is_wide(order, c) and not sizes:
        total = start + work.clusters(min(m, penalized.CLUSTER_SAMPLE), d, clusters)
        total += PER_WIDE * m * (m * d / 2 + 3 * c * order * n)
        memory = points + vector_bytes(c, n, order)
        return Estimate("wide", order, clusters, total, memory, memory)
    if sizes:
        start += d * (m + 8 * MOST_POINTS) * min(d, MOST_POINTS) / 2 + m * d * sizes[0]
        d, clusters = sizes
        order = d + clusters
    counts = work.penalized_counts(m, order, n_labels, c, budget)
    total = start + work.clusters(m, d, clusters) + work.blocks(m, d, order, c, counts, budget)
    blocks = 4 * 8 * c * order**2
    memory = points + 16 * m * order + 32 * m * c
    return Estimate("block-diagonal", order, clusters, total, memory + blocks, points + blocks)


def estimate_streamed(
    m: int, features: int, d: int, c: int, n_labels: int, budget: int, strategy: str = DEFAULT
) -> Estimate:
    """Estimate what a selection takes from a table that is read block by block.

    Parameters
    ----------
    m, features : int
        Points and features of the table.
    d, c, n_labels, budget, strategy
        As in :func:`estimate`.

    Returns
    -------
    Estimate
        That of ``CANDIDATES`` points, with the passes over all. Memory does not grow with the
        table but for two numbers per point.

    Examples
    --------
    >>> plan = estimate_streamed(10**6, 20, 21, 10, 40, 10)
    >>> plan.structure, plan.order, 10 < plan.seconds(3e10) < 30
    ('full', 369, True)
    """
    plan = estimate(min(m, CANDIDATES), d, c, n_labels, budget, strategy)
    free = max(c - 1, 1)
    columns = plan.order // free if plan.structure == "full" else d
    passes = work.readings(m, features, columns, free, plan.structure)
    memory = plan.memory + 16 * m + BUFFERS
    return plan._replace(work=plan.work + passes, memory=memory, least=plan.least + 16 * m)


def machine_rate() -> float:
    """Measure how fast one core of this machine multiplies matrices at this moment.

    Returns
    -------
    float
        Multiply-adds per second: the best of three products, so that one delay does not count.
    """
    A = np.random.default_rng(0).normal(size=(SIDE, SIDE))
    seconds = []
    with one_thread():  # as selections do
        for _ in range(4):  # the first one warms up
            start = time.perf_counter()
            A @ A
            seconds.append(time.perf_counter() - start)
    return SIDE**3 / max(min(seconds[1:]), 1e-9)


def why_impossible(plan: Estimate, memory: int | None) -> str | None:
    """Say why a selection cannot be done on this machine.

    Parameters
    ----------
    plan : Estimate
        What it takes.
    memory : int, optional
        Bytes that the machine has.

    Returns
    -------
    str or None
        The reason, as the beginning of a sentence; None if there is none.
    """
    if plan.structure == "block-diagonal" and plan.least > block_diagonal.MOST_BYTES:
        most = size_text(block_diagonal.MOST_BYTES)
        return f"it needs blocks of {size_text(plan.least)}, and {most} is the most"
    if memory is not None and plan.least > memory:
        return f"it needs {size_text(plan.least)} of memory, and this machine has " + size_text(
            memory
        )
    return None


def fewer_features(
    make: Callable[[int], Estimate], d: int, rate: float, memory: int | None
) -> tuple[int, Estimate] | None:
    """Find how many principal components make a selection quick.

    Parameters
    ----------
    make : callable
        The estimate for a number of components.
    d : int
        Number of features now.
    rate : float
        Of the machine.
    memory : int, optional
        Of the machine, in bytes.

    Returns
    -------
    tuple of int and Estimate, or None
        The most components that take less than half of ``SLOW``; None if no number does.
    """
    for k in FEWER:
        if k < d:
            plan = make(k)
            if plan.seconds(rate) < SLOW / 2 and why_impossible(plan, memory) is None:
                return k, plan
    return None
