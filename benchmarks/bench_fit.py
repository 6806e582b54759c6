"""Fit and probabilities at scale: 10^6 labeled rows and 10^8 rows from a file, block by block.

Every measurement runs in a new process. Seconds are those of the processor, with one BLAS thread.
10^8 rows are simulated: the same function is called for every block, so its time is that of 10^6
rows, times 100; memory is measured at two sizes, and must not grow. ``--quick`` takes 10^5 rows.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from bench_homes import CLASSES, D, write_table
from common import memory, one_thread, show

from firal.engine.homes import as_home
from firal.engine.regression import fit_by_blocks, probability_blocks

ROWS = 10**6
FLAT = 50e6  # bytes that a reading of any number of rows may need above the program


def fitted(path):
    """Seconds and memory of a fit, and the norm of its gradient."""
    home = as_home(path)
    y = np.arange(len(home)) % CLASSES  # noise: the fit needs a few Newton steps nevertheless
    before, begin = memory("VmHWM"), time.process_time()
    with one_thread():
        fit = fit_by_blocks(home, y, CLASSES, 1e-3)
    seconds = time.process_time() - begin
    return seconds, memory("VmHWM") - before, fit.iterations, fit.gradient_norm


def predicted(path):
    """Seconds and memory of all probabilities, and their sum."""
    theta, total = np.ones((CLASSES - 1, D)) / D, 0.0
    before, begin = memory("VmHWM"), time.process_time()
    with one_thread():
        for p in probability_blocks(as_home(path), theta):
            total += p.sum()
    return time.process_time() - begin, memory("VmHWM") - before, total


def alone(work, path):
    """In a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, (path,))


def main(quick=False):
    m = 10**5 if quick else ROWS
    with TemporaryDirectory() as folder:
        few, many = Path(folder) / "few.npy", Path(folder) / "many.npy"
        write_table(few, m // 4)
        write_table(many, m)
        size = many.stat().st_size
        fit_seconds, fit_bytes, steps, norm = alone(fitted, many)
        _, small, _ = alone(predicted, few)
        seconds, large, total = alone(predicted, many)
    assert abs(total - m) <= 1e-6 * m  # one per row
    goal = (None, None) if quick else ("at most 50 MB", large <= FLAT)
    rows = [
        ("size of the file", f"{size / 1e6:.0f} MB", None, None),
        ("fit: CPU seconds, Newton steps", f"{fit_seconds:.1f}, {steps}", None, None),
        ("fit: norm of the gradient", f"{norm:.0e}", None, None),
        ("fit: memory above the program", f"{fit_bytes / 1e6:.0f} MB", None, None),
        ("probabilities: CPU seconds", f"{seconds:.2f}", None, None),
        ("probabilities, 10^8 rows, simulated", f"{seconds * 10**8 / m:.0f} s", None, None),
        ("probabilities: memory, a quarter of the rows", f"{small / 1e6:.0f} MB", None, None),
        ("probabilities: memory, all rows", f"{large / 1e6:.0f} MB", *goal),
    ]
    show(f"fit and probabilities from a file, m={m}, d={D}, c={CLASSES}", rows)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
