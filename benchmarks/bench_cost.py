"""Time and memory behind the cost chapter: one size varied at a time, on one core.

``--write`` stores the table in ``benchmarks/cost.csv``, which notebook t16 draws. So the committed
notebook is the same whenever it is executed, and your own machine is one command away.
"""

from __future__ import annotations

import csv
import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from common import one_thread

from firal.selection.ftrl import run_ftrl
from firal.selection.problem import prepare_problem
from firal.selection.rounding import prepare_rounding
from firal.selection.solver import solve

TABLE = Path(__file__).with_name("cost.csv")
BASE = {"m": 4000, "d": 12, "c": 9, "b": 4}
SWEEPS = {
    "m": (1000, 4000, 16_000, 64_000),
    "d": (6, 12, 24, 48),
    "c": (5, 9, 18, 36),
    "b": (2, 4, 8, 16, 32),
}
MEMORY = {"m": (500, 2000, 8000, 32_000), "d": 20, "c": 10, "b": 3}
GRADIENTS = 3


def problem_of(m, d, c, b):
    """A Gaussian pool with 2 d labeled points, prepared, for one thread."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(c - 1, d)) / np.sqrt(d)
    data = rng.normal(size=(m, d)), rng.normal(size=(2 * d, d)), theta
    return prepare_problem(*data, b)._replace(threads=1)


def work(problem):
    """A few gradients and the whole rounding; CPU seconds of one gradient and of the rounding."""
    rounding = prepare_rounding(problem, np.full(len(problem.X), problem.budget / len(problem.X)))
    begin = time.process_time()
    solve(problem, False, "mirror", 1e-12, GRADIENTS)
    middle = time.process_time()
    run_ftrl(rounding, 50.0, False)
    return (middle - begin) / GRADIENTS, time.process_time() - middle


def times(sizes, repeats=5):
    problem = problem_of(**sizes)
    return np.min([work(problem) for _ in range(repeats)], axis=0)


def peak_mib(sizes):
    """Peak memory of preparation and work, as tracemalloc sees it."""
    tracemalloc.start()
    work(problem_of(**sizes))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def rows():
    """(sweep, value, seconds of a gradient, seconds of the rounding, peak MiB) one by one."""
    for sweep, values in SWEEPS.items():
        for value in values:
            gradient, rounding = times(BASE | {sweep: value})
            yield sweep, value, f"{gradient:.3g}", f"{rounding:.3g}", ""
    for m in MEMORY["m"]:
        yield "memory", m, "", "", f"{peak_mib(MEMORY | {'m': m}):.3g}"


def main(write):
    table = [("sweep", "value", "gradient_seconds", "rounding_seconds", "peak_mib")]
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # three gradients do not converge
        for row in rows():
            print("{:>7} {:>6}  gradient {:>9} s  rounding {:>9} s  peak {:>6} MiB".format(*row))
            table.append(row)
    if write:
        with TABLE.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main("--write" in sys.argv[1:])
