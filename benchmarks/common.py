"""Timing helpers for the benchmarks: best of several runs, BLAS rate, peak memory, a table.

Every benchmark compares things measured in the same run on the same machine, so only the ratios
are worth keeping. Times are the best of several repetitions. With one thread (``one_thread``) they
are CPU seconds, which depend little on what else the machine does; with more, pass
``clock=time.perf_counter``.
"""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits


def best_time(function, seconds=1.0, at_least=3, clock=time.process_time):
    """Shortest time of repeated calls, for about ``seconds`` and at least a few calls."""
    shortest, started, calls = np.inf, clock(), 0
    while calls < at_least or clock() - started < seconds:
        begin = clock()
        function()
        shortest = min(shortest, clock() - begin)
        calls += 1
    return shortest


def blas_rate(size=1500, dtype=np.float64):
    """Floating point operations per second of a large square matrix product."""
    A = np.random.default_rng(0).normal(size=(size, size)).astype(dtype)
    return 2 * size**3 / best_time(lambda: A @ A)


def blas_threads():
    """Number of threads BLAS uses now."""
    return max((pool["num_threads"] for pool in threadpool_info()), default=1)


def one_thread():
    """Context in which BLAS has one thread, so that CPU time is the time one would wait."""
    return threadpool_limits(limits=1)


def peak_above_data(make, work):
    """Extra memory in bytes that ``work(*make())`` needs, in a new process.

    Both are functions at the top level of a module. Counted is the largest resident size so far,
    minus the resident size when the data is ready: never too little.
    """
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_peak, (make, work))


def _peak(make, work):
    data = make()
    before = memory("VmRSS")
    work(*data)
    return memory("VmHWM") - before


def memory(field):
    """A line of /proc/self/status, in bytes (Linux only)."""
    lines = Path("/proc/self/status").read_text(encoding="utf8").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(field))) * 1024


def show(title, rows):
    """Print rows of (what, measured, goal, met); goal and met may be None for information only."""
    print(f"\n{title}")
    width = max(len(what) for what, *_ in rows)
    for what, measured, goal, met in rows:
        verdict = "" if met is None else ("  met" if met else "  MISSED")
        print(f"  {what:<{width}}  {measured:>22}  {goal or '':<22}{verdict}")
