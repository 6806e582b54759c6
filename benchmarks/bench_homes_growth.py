"""How a selection from a file grows with the pool; ``--write`` stores the table for the book.

CPU seconds of one thread, so that they depend little on what else the machine does; largest
resident size above that of the program. Up to 10^6 points everything is run. Beyond, the passes are
simulated: a pass does the same work for every block, so its time is the time of one block times
their number; what happens on the working set and on the candidates does not grow, and is taken
from the largest pool that was run.
"""

from __future__ import annotations

import csv
import multiprocessing
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench_homes import BUDGET, write_table
from common import memory, one_thread, show

import firal
from firal.engine.homes import as_home

RUN = (10**3, 10**4, 10**5, 10**6)
SIMULATED = (10**7, 10**8)
FIELDS = ("m", "simulated", "passes", "pass_seconds", "other_seconds", "peak_mib", "gap")
PASSES = ("scale", "coordinates", "information")


def measure(path, y):
    """One row of the table, by a run in this process."""
    before, seconds, mark, stages = memory("VmRSS"), {}, [time.process_time()], set()

    def progress(stage, done, total):
        now = time.process_time()
        kind = "pass" if stage in PASSES or stage.startswith("pass") else "other"
        seconds[kind] = seconds.get(kind, 0.0) + now - mark[0]
        mark[0] = now
        stages.add(stage)

    begin = time.process_time()
    with one_thread():
        batch = firal.next_batch(as_home(path), y, BUDGET, progress=progress)
    total = time.process_time() - begin
    relaxation = batch.selection.relaxation
    passes = 2 + len(stages & set(PASSES[1:])) + sum(s.startswith("pass") for s in stages)
    return {
        "m": len(as_home(path)),
        "simulated": 0,
        "passes": passes,
        "pass_seconds": seconds["pass"],
        "other_seconds": total - seconds["pass"],
        "peak_mib": (memory("VmHWM") - before) / 2**20,
        "gap": relaxation.gap,
    }


def growth(sizes, simulated):
    """Rows of the table."""
    rows = []
    for m in sizes:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "pool.npy"
            y = write_table(path, m)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                rows.append(pool.apply(measure, (path, y)))
    # what the smallest pool needs is not the passes: loading of packages, clusters of the sample
    fixed = rows[0]["pass_seconds"]
    for row in rows:
        row["pass_seconds"] = max(row["pass_seconds"] - fixed, 0.0)
        row["other_seconds"] += fixed
    last = rows[-1]
    for m in simulated:
        factor = m / last["m"]
        pass_seconds = factor * last["pass_seconds"]
        rows.append(last | {"m": m, "simulated": 1, "pass_seconds": pass_seconds, "peak_mib": ""})
    return rows


def main(quick=False, write=False):
    rows = growth(RUN[:2] if quick else RUN, () if quick else SIMULATED)
    shown = [
        (f"m = {r['m']:.0e}, {r['passes']} passes", f"{r['pass_seconds']:.1f} s", None, None)
        for r in rows
    ]
    show("growth of a selection from a file, CPU seconds of the passes, one thread", shown)
    if write:
        path = Path(__file__).with_name("homes.csv")
        with open(path, "w", newline="", encoding="utf8") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            for row in rows:
                writer.writerow(
                    {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}
                )


if __name__ == "__main__":
    main(quick="--quick" in sys.argv, write="--write" in sys.argv)
