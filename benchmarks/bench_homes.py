"""Pools in files: a selection under 2 GB of memory, passes against a bare read. Prints ratios.

A table of 10^7 points with 20 features, 1.6 GB, is written to a temporary folder and removed
afterwards. A selection on it runs in a new process, whose largest resident size is measured; this
includes the pages of the file that are mapped. ``--quick`` takes 2 * 10^5 points.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from common import memory, show

import firal
from firal.engine.homes import as_home

D, CLASSES, LABELS, BUDGET = 20, 3, 60, 10
LIMIT = 2e9  # bytes resident
BLOCK = 2**22


def write_table(path, m):
    """A mixture of Gaussians, written block by block; {row: label} of the first points."""
    rng = np.random.default_rng(0)
    means, y = 2 * rng.normal(size=(CLASSES, D)), {}
    table = np.lib.format.open_memmap(path, "w+", np.float64, (m, D))
    for start in range(0, m, 10**5):
        kinds = rng.integers(CLASSES, size=min(10**5, m - start))
        table[start : start + kinds.size] = means[kinds] + rng.normal(size=(kinds.size, D))
        if start == 0:
            y = {row: int(kinds[row]) for row in range(LABELS)}
    table.flush()
    return y


def bare_read(path):
    """Seconds to read the file once, into one small buffer."""
    buffer, begin = bytearray(BLOCK), time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.perf_counter() - begin


def select_from(path, y):
    """Resident size before and at most, seconds of every stage, and the certificate."""
    before, begin, seconds = memory("VmHWM"), time.perf_counter(), {}
    mark = [begin]

    def progress(stage, done, total):
        now = time.perf_counter()
        seconds[stage] = seconds.get(stage, 0.0) + now - mark[0]
        mark[0] = now

    batch = firal.next_batch(as_home(path), y, BUDGET, progress=progress)
    relaxation = batch.selection.relaxation
    return {
        "peak": memory("VmHWM"),
        "before": before,
        "seconds": seconds,
        "total": time.perf_counter() - begin,
        "gap": relaxation.gap,
        "ratio": batch.selection.ratio,
    }


def main(quick=False):
    m = 200_000 if quick else 10**7
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pool.npy"
        y = write_table(path, m)
        size = path.stat().st_size
        read = min(bare_read(path) for _ in range(3))
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found = pool.apply(select_from, (path, y))
        again = min(bare_read(path) for _ in range(3))
    read = min(read, again)
    peak, total = found["peak"], found["total"]
    goal = (None, None) if quick else ("< 2000 MB", peak < LIMIT)
    rows = [
        ("size of the file", f"{size / 1e6:.0f} MB", None, None),
        ("largest resident size", f"{peak / 1e6:.0f} MB", *goal),
        ("  of it before the selection", f"{found['before'] / 1e6:.0f} MB", None, None),
        ("certified gap of the relaxed problem", f"{found['gap']:.3f}", None, None),
        ("certified factor of the picks", f"{found['ratio']:.2f}", None, None),
        ("whole selection", f"{total:.1f} s", None, None),
        ("  in bare reads of the file", f"{total / read:.0f}", None, None),
    ]
    for stage, seconds in found["seconds"].items():
        passes = {"scale": 2, "coordinates": 1, "information": 1}.get(stage)
        passes = 1 if stage.startswith("pass") else passes
        if passes:
            ratio = f"{seconds / passes / read:.1f}"
            rows.append((f"  one pass of {stage!r} in bare reads", ratio, None, None))
    show(f"selection from a file, m={m}, d={D}, c={CLASSES}, b={BUDGET}", rows)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
