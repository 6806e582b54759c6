"""Many classes: blocks against full matrices, growth with m, c and b, and the size of ImageNet-1k.

The last takes a while, so it runs on request only (``--large``). Its result is stored in
``many_classes.csv`` and printed by every run. ``--quick`` leaves out the full matrices.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np
from common import blas_rate, memory, one_thread, show

import firal
from firal.common.sizes import size_text
from firal.common.threads import allowed_threads

RECORD = Path(__file__).parent / "many_classes.csv"
LARGE = dict(m=50_000, d=383, c=1000, b=200)
FASTER = 20  # goal: how much quicker blocks are than full matrices
RIDGE, GAP = 1e-2, 0.1
PROBES = 16  # of the full objective at the large size


def pool_of(m, d, c, n0=None, seed=0):
    """Points around c centers, some labeled ones, and a classifier that half knows the centers."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(c, d)) / np.sqrt(d) * 3
    X = centers[rng.integers(c, size=m + (n0 or c))] + rng.normal(size=(m + (n0 or c), d)) / 2
    theta = centers[:-1] - centers[-1]
    return X[: -(n0 or c)], X[-(n0 or c) :], theta


def picked(data, b, structure, progress=None):
    """Points by greedy steps, and CPU seconds."""
    start = time.process_time()
    found = firal.select(
        *data,
        b,
        ridge=RIDGE,
        rounding="greedy",
        structure=structure,
        candidates="all",
        tol=GAP,
        progress=progress,
    )
    return found, time.process_time() - start


def against_full(m=5000, d=40, c=50, b=50):
    """Ratio of the times of full matrices and of blocks; what the full objective says of both."""
    data = pool_of(m, d, c)
    blocks, quick = picked(data, b, "block-diagonal")
    full, slow = picked(data, b, "full")
    return slow, quick, slow / quick, full, blocks


def growth(name, factors=(1, 2, 4, 8), **base):
    """CPU seconds while one size grows; exponent of the growth between the last two."""
    seconds = []
    for factor in factors:
        sizes = {**base, name: factor * base[name]}
        b = sizes.pop("b")
        seconds.append(min(picked(pool_of(**sizes, n0=50), b, "block-diagonal")[1] for _ in "12"))
    slope = np.polyfit(np.log(factors), np.log(seconds), 1)[0]
    return seconds, float(slope)


class Parts:
    """CPU seconds of every stage of a selection: what has passed since the report before."""

    def __init__(self):
        self.seconds, self.start, self.cpu = {}, time.perf_counter(), time.process_time()
        self.last, self.said = self.cpu, self.start

    def __call__(self, stage, done, total):
        now = time.process_time()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self.last
        self.last = now
        if time.perf_counter() - self.said > 10:
            self.said = time.perf_counter()
            print(
                f"  {self.said - self.start:6.0f} s, {now - self.cpu:6.0f} CPU s, peak "
                f"{size_text(memory('VmHWM'))}: {stage} {done}/{total}",
                flush=True,
            )


def large(m, d, c, b):
    """Seconds, peak memory and certificate at the size of ImageNet-1k; the full f of the picks."""
    data = pool_of(m, d, c)
    before, parts = memory("VmRSS"), Parts()
    found = firal.select(
        *data, b, ridge=RIDGE, rounding="greedy", tol=GAP, candidates="support", progress=parts
    )
    parts("rest", 1, 1)
    row = dict(
        m=m,
        d=d,
        c=c,
        b=b,
        structure=found.structure,
        threads=allowed_threads(),
        seconds=round(time.perf_counter() - parts.start),
        cpu_seconds=round(parts.last - parts.cpu),
        **{f"cpu_{stage}": round(value, 1) for stage, value in parts.seconds.items()},
        peak_bytes=memory("VmHWM"),
        data_bytes=before,
        passes=found.passes,
        gap=round(found.relaxation.gap, 4),
        gradients=found.relaxation.iterations,
        candidates=len(found.relaxation.candidates),
        ratio=round(found.ratio, 4),
        gflops_of_one_core=round(blas_rate() / 1e9),
    )
    print(f"  {row}", flush=True)
    start = time.process_time()
    rng = np.random.default_rng(1)
    full = firal.estimate_fir(*data, rng, rows=found.indices, ridge=RIDGE, probes=PROBES)
    return row | dict(
        objective=round(found.objective, 4),
        full_objective=round(full.value, 4),
        full_error=round(full.error, 4),
        full_iterations=full.iterations,
        full_cpu=round(time.process_time() - start),
    )


def stored(row):
    """Keep the result of ``large``."""
    with RECORD.open("w", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow(row)


def _over_blocks(row):
    """The estimated full f in units of (c-1)/c times that of blocks, with its standard error."""
    unit = float(row["objective"]) * (1 - 1 / int(row["c"]))
    value, error = (float(row[name]) / unit for name in ("full_objective", "full_error"))
    return f"{value:.3f} +- {error:.3f}"


def main():
    if "--large" in sys.argv:
        stored(large(**LARGE))
    with one_thread():
        if "--quick" not in sys.argv:
            slow, quick, ratio, full, blocks = against_full()
            same = len(set(full.indices.tolist()) & set(blocks.indices.tolist()))
            rows = [
                ("full, CPU seconds", f"{slow:.1f}", None, None),
                ("blocks, CPU seconds", f"{quick:.1f}", None, None),
                ("ratio", f"{ratio:.0f}", f">= {FASTER}", ratio >= FASTER),
                ("points picked by both", f"{same} of 50", None, None),
            ]
            show("m=5000, d=40, c=50, b=50", rows)
        base, rows = dict(m=4000, d=20, c=20, b=10), []
        for name in ("m", "c", "b"):
            seconds, slope = growth(name, **base)
            times = " ".join(f"{value:.2f}" for value in seconds)
            rows.append((f"{name} = {base[name]} times 1, 2, 4, 8", times, None, None))
            rows.append((f"exponent in {name}", f"{slope:.2f}", "<= 1.2", slope <= 1.2))
        show("blocks, CPU seconds while one size grows (m=4000, d=20, c=20, b=10)", rows)
    if RECORD.exists():
        with RECORD.open() as file:
            row = next(csv.DictReader(file))
        cpu, room = int(row["cpu_seconds"]), int(row["peak_bytes"])
        rows = [
            (f"CPU seconds, {row['threads']} thread(s)", str(cpu), "<= 3600", cpu <= 3600),
            *(
                (f"  of which {k[4:]}", v, None, None)
                for k, v in row.items()
                if k[:4] == "cpu_" and k != "cpu_seconds"
            ),
            ("seconds, the machine shared with others", row["seconds"], None, None),
            ("peak memory", size_text(room), "<= 6 GB", room <= 6e9),
            ("readings of the pool", row["passes"], None, None),
            ("certified gap of the weights", row["gap"], None, None),
            ("certified ratio of the points", row["ratio"], None, None),
            ("full objective over that of blocks", _over_blocks(row), None, None),
        ]
        sizes = ", ".join(f"{name}={row[name]}" for name in ("m", "d", "c", "b"))
        show(f"{sizes}, as stored ({row['structure']})", rows)


if __name__ == "__main__":
    main()
