"""Wide features: a batch of ``firal.next_batch`` without a block; seconds, memory, growth.

The goal: 20,000 embeddings of 2,048 numbers in float32, 100 classes, 100 labels, a batch of 100 in
less than ten minutes on two cores and 4 GB, a first word of progress within seconds, and an
interruption that is heard within two seconds. A timer sends a signal ten times a second, and the
longest time between two that are heard is how long Ctrl-C can wait. Growth in m, d, c and b is
measured at smaller sizes, by CPU seconds of one thread. ``--quick`` leaves out the large size.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from common import memory, show

GOAL = {"m": 20_000, "d": 2048, "c": 100, "budget": 100}
BASE = {"m": 3000, "d": 1024, "c": 20, "budget": 20}
SECONDS, BYTES, LONGEST_WAIT = 600, 4 * 2**30, 2.0
STEEPEST = 1.2  # growth of the CPU seconds when one size is doubled


def mixture(m, d, c, seed=0):
    """(X, y): c groups in 64 directions of d columns, and noise; float32."""
    rng = np.random.default_rng(seed)
    means, turn = rng.normal(size=(c, 64)), rng.normal(size=(64, d)) / 8
    y = np.arange(m) % c
    X = np.empty((m, d), np.float32)
    for start in range(0, m, 1000):
        rows = slice(start, start + 1000)
        inside = means[y[rows]] + rng.normal(size=(len(y[rows]), 64))
        X[rows] = inside @ turn + 0.5 * rng.normal(size=(len(inside), d))
    return X, y


def measure(m, d, c, budget, threads):
    """One batch with one label per class, in this process."""
    from threadpoolctl import threadpool_limits

    import firal

    X, y = mixture(m, d, c)
    marks, heard = [("start", time.perf_counter())], []
    signal.signal(signal.SIGALRM, lambda *_: heard.append((time.perf_counter(), marks[-1][0])))
    with threadpool_limits(threads):
        cpu = time.process_time()
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        batch = firal.next_batch(
            X,
            {row: int(y[row]) for row in range(c)},
            budget,
            progress=lambda stage, *_: marks.append((stage, time.perf_counter())),
        )
        signal.setitimer(signal.ITIMER_REAL, 0)
        cpu = time.process_time() - cpu
    begin = marks[0][1]
    waits = np.diff([at for at, _ in heard])
    return {
        "wall": time.perf_counter() - begin,
        "cpu": cpu,
        "first": marks[1][1] - begin,
        "wait": float(waits.max()),
        "waited_in": heard[int(waits.argmax()) + 1][1],
        "peak": memory("VmHWM"),
        "ratio": batch.selection.ratio,
    }


def in_process(threads, **sizes):
    """``measure`` in a process of its own, for the memory."""
    call = [sys.executable, str(Path(__file__).resolve()), "--one", json.dumps([sizes, threads])]
    return json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)


def main():
    if "--one" in sys.argv:
        sizes, threads = json.loads(sys.argv[-1])
        print(json.dumps(measure(**sizes, threads=threads)))
        return
    base, rows = in_process(1, **BASE), []
    for name in ("m", "d", "c", "budget"):
        more = in_process(1, **{**BASE, name: 2 * BASE[name]})
        slope = np.log2(more["cpu"] / base["cpu"])
        rows.append((f"exponent in {name}", f"{slope:.2f}", f"<= {STEEPEST}", slope <= STEEPEST))
    show(f"A batch with wide features, {BASE}: {base['cpu']:.1f} CPU s", rows)
    if "--quick" in sys.argv:
        return
    found = in_process(2, **GOAL)
    show(
        f"{GOAL}, two threads",
        [
            ("seconds", f"{found['wall']:.0f}", f"< {SECONDS}", found["wall"] < SECONDS),
            ("CPU seconds", f"{found['cpu']:.0f}", None, None),
            ("peak memory, GiB", f"{found['peak'] / 2**30:.2f}", "< 4", found["peak"] < BYTES),
            ("first progress, s", f"{found['first']:.1f}", "< 10", found["first"] < 10),
            (
                f"longest wait of a signal, s, in {found['waited_in']!r}",
                f"{found['wait']:.2f}",
                f"< {LONGEST_WAIT:g}",
                found["wait"] < LONGEST_WAIT,
            ),
            ("certified ratio of the picks", f"{found['ratio']:.2f}", None, None),
        ],
    )


if __name__ == "__main__":
    main()
