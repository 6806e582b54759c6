"""Large pools and large matrices: select against version 0.1, the ideal pass, a busy machine.

Version 0.1 is taken from the history of this repository, without network. Every measurement runs in
a process of its own. CPU seconds of one thread are compared where other programs would disturb the
clock; the part about a busy machine needs an otherwise idle one. ``--quick`` runs every part at
small sizes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
FIRST_EDITION = "d69166c"  # the last state of version 0.1.0
MILLION = {"m": 10**6, "d": 20, "c": 10, "budget": 10}
MATRICES = {"m": 5000, "d": 40, "c": 50, "budget": 50}
QUICK = {"m": 20_000, "d": 6, "c": 4, "budget": 5}
QUICK_MATRICES = {"m": 1000, "d": 30, "c": 20, "budget": 10}
STEPS = 12  # FTRL steps that are timed of a large selection


class Enough(Exception):
    """Raised when all was seen that is to be timed."""


def mixture(m, d, c, budget, seed=0):
    """(pool, labeled, theta, budget): c Gaussian classes, one labeled point each, a soft theta."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(c, d))
    pool = means[rng.integers(c, size=m)]
    pool += rng.normal(size=(m, d))
    labeled = means + rng.normal(size=(c, d))
    return pool, labeled, (means[:-1] - means[-1]) / 3, budget


def whole(sizes, select):
    """Seconds of a selection with one eta, and what it needs above the data."""
    data = mixture(**sizes)
    before, begin, cpu = memory("VmRSS"), time.perf_counter(), time.process_time()
    found = select(*data, eta=8 * np.sqrt(sizes["d"] * (sizes["c"] - 1)))
    return {
        "wall": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
        "peak": memory("VmHWM") - before,
        "passes": getattr(found.relaxation, "passes", 2 * found.relaxation.iterations + 1),
        "gap": found.relaxation.gap,
    }


def steps(sizes, select, one_eta):
    """Seconds of the relaxation, and of an FTRL step, of which only some are taken."""
    data = mixture(**sizes)
    begin, marks = time.perf_counter(), {"relax": [], "sparsify": []}

    def progress(stage, *_):
        marks[stage].append(time.perf_counter())
        if len(marks["sparsify"]) > STEPS:
            raise Enough

    eta = 8 * np.sqrt(sizes["d"] * (sizes["c"] - 1)) if one_eta else None
    try:
        select(*data, eta=eta, progress=progress)
    except Enough:
        pass
    late = marks["sparsify"][: STEPS + 1]
    return {"relax": marks["relax"][-1] - begin, "step": (late[-1] - late[2]) / (len(late) - 3)}


def rates(sizes):
    """Time of every pass over the pool in units of the time that BLAS needs for its flops."""
    from common import best_time, blas_rate, one_thread

    from firal.model.hessians import contract_curvature, weighted_information
    from firal.selection.problem import prepare_problem

    m, d, c = sizes["m"], sizes["d"], sizes["c"]
    problem = prepare_problem(*mixture(**sizes))
    X, h, M, weights = problem.X, problem.h, problem.mean_information, np.full(m, 1 / m)
    with one_thread():
        ideal = 2 * m * (d * (d + 1) // 2) * (c * (c - 1) // 2) / blas_rate()
        return {
            "ideal": ideal,
            "sum": best_time(lambda: weighted_information(X, h, weights)) / ideal,
            "certificate": best_time(lambda: contract_curvature(X, h, M)) / ideal,
        }


def memory(field):
    lines = Path("/proc/self/status").read_text(encoding="utf8").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(field))) * 1024


def measured(what, sizes, source, threads=None):
    """Run one of the functions above in a new process, with the module that is in ``source``."""
    environment = dict(os.environ, PYTHONPATH=str(source))
    if threads is not None:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment |= {name: str(threads) for name in names}
    command = [sys.executable, __file__, "--worker", what, json.dumps(sizes)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return json.loads(run.stdout.splitlines()[-1])


def worker(what, sizes):
    import firal

    functions = {
        "whole": lambda: whole(sizes, firal.select),
        "steps, one eta": lambda: steps(sizes, firal.select, True),
        "steps, all": lambda: steps(sizes, firal.select, False),
        "rates": lambda: rates(sizes),
    }
    print(json.dumps(functions[what]()))


def first_edition(folder):
    """Version 0.1 from the history, or None."""
    archive = folder / "firal.tar"
    command = ["git", "-C", str(ROOT), "archive", "-o", str(archive), FIRST_EDITION, "firal"]
    if subprocess.run(command, capture_output=True).returncode:
        return None
    subprocess.run(["tar", "-xf", str(archive), "-C", str(folder)], check=True)
    return folder


def busy_neighbor():
    """A process that multiplies matrices on one core until it is stopped."""
    code = "import numpy as np\nA = np.ones((1500, 1500))\nwhile True: A @ A"
    return subprocess.Popen([sys.executable, "-c", code], env=dict(os.environ, OMP_NUM_THREADS="1"))


def bench_million(sizes, old, judge):
    new, pass_ = measured("whole", sizes, ROOT, 1), measured("rates", sizes, ROOT, 1)
    in_passes = new["cpu"] / pass_["ideal"]
    rows = [
        ("CPU seconds, readings of the pool", f"{new['cpu']:.1f}, {new['passes']}", "", None),
        ("certified gap", f"{new['gap']:.1e}", "at most 1e-2", new["gap"] <= 1e-2),
        ("CPU time / ideal time of one pass", f"{in_passes:.0f}", "at most 60", in_passes <= 60),
        (
            "peak above the data",
            f"{new['peak'] / 1e6:.0f} MB",
            "at most 300 MB",
            new["peak"] <= 300e6,
        ),
    ]
    for name in ("sum", "certificate"):
        value = pass_[name]
        rows.append((f"pass / BLAS time: {name}", f"{value:.2f}", "at most 2", value <= 2))
    if old is not None:
        ratio = measured("whole", sizes, old, 1)["cpu"] / new["cpu"]
        rows.append(("version 0.1 / now, CPU time", f"{ratio:.1f}x", "at least 10x", ratio >= 10))
    report("one eta", sizes, rows, judge)


def bench_matrices(sizes, old, judge):
    """Alone, beside a busy process, and against version 0.1; all on the clock."""
    rows = []
    for what, etas in (("steps, one eta", 1), ("steps, all", 7)):

        def seconds(parts, steps=etas * sizes["budget"]):
            return parts["relax"] + steps * parts["step"]

        alone = measured(what, sizes, ROOT)
        neighbor = busy_neighbor()
        try:
            busy = measured(what, sizes, ROOT)
        finally:
            neighbor.kill()
        slower = seconds(busy) / seconds(alone)
        rows += [
            (f"{what}: relaxation, step", f"{alone['relax']:.1f}, {alone['step']:.2f} s", "", None),
            (f"{what}: with a busy process", f"{slower:.1f}x", "at most 3x", slower <= 3),
        ]
        if old is not None:
            first = measured(what, sizes, old)
            ratio = seconds(first) / seconds(alone)
            parts = f"{first['relax']:.1f}, {first['step']:.2f} s"
            rows += [
                (f"{what}: version 0.1", parts, "", None),
                (f"{what}: version 0.1 / now", f"{ratio:.1f}x", "at least 2x", ratio >= 2),
            ]
    report("large matrices", sizes, rows, judge)


def report(title, sizes, rows, judge):
    from common import show

    shown = [row if judge else (*row[:2], None, None) for row in rows]
    show(", ".join([title] + [f"{name}={value}" for name, value in sizes.items()]), shown)


def main(quick):
    with tempfile.TemporaryDirectory() as folder:
        old = first_edition(Path(folder))
        if old is None:
            print(f"version 0.1 (commit {FIRST_EDITION}) is not in the history: not compared")
        bench_million(QUICK if quick else MILLION, old, not quick)
        bench_matrices(QUICK_MATRICES if quick else MATRICES, old, not quick)


if __name__ == "__main__":
    if "--worker" in sys.argv[1:]:
        worker(sys.argv[2], json.loads(sys.argv[3]))
    else:
        main("--quick" in sys.argv[1:])
