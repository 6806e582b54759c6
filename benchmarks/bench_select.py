"""FIRAL: select against the literal transcription, BLAS, memory, growth. Prints ratios.

``--quick`` runs every part at small sizes, to see that it works; goals are only judged at the sizes
they were set for. ``scaling()`` returns the times behind the cost chapter.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
from common import best_time, blas_rate, blas_threads, one_thread, peak_above_data, show

from firal.model.hessians import contract_curvature, weighted_information
from firal.selection.end_to_end import select
from firal.selection.problem import prepare_problem
from firal.selection.scoring import PoolScorer

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import reference_select as literal  # noqa: E402

SMALL = {"m": 3000, "d": 20, "c": 10, "budget": 10}
LARGE = {"m": 5000, "d": 40, "c": 50, "budget": 50}
QUICK_SMALL = {"m": 300, "d": 6, "c": 4, "budget": 5}
QUICK_LARGE = {"m": 300, "d": 8, "c": 8, "budget": 8}


def mixture(m, d, c, budget, seed=0):
    """(pool, labeled, theta, budget): c Gaussian classes, one labeled point each, a soft theta."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(c, d))
    pool = means[rng.integers(c, size=m)] + rng.normal(size=(m, d))
    labeled = means + rng.normal(size=(c, d))
    return pool, labeled, (means[:-1] - means[-1]) / 3, budget


def timed_select(data, clock=time.perf_counter, **options):
    """Selection, seconds in all, median seconds of a gradient and of an FTRL step."""
    begin, marks = clock(), {"relax": [], "sparsify": []}
    result = select(*data, progress=lambda stage, *_: marks[stage].append(clock()), **options)
    total = clock() - begin
    return result, total, *(float(np.median(np.diff(marks[s]))) for s in ("relax", "sparsify"))


def middle_eta(d, c):
    return 8 * np.sqrt(d * (c - 1))


def bench_whole(sizes, judge):
    """Everything against everything: Algorithms 1 and 2 as printed, 100 mirror steps."""
    data, eta = mixture(**sizes), middle_eta(sizes["d"], sizes["c"])
    pool, labeled, theta, budget = data
    options = {"eta": eta, "capped": False, "replace": True}  # what the paper's algorithms do
    fast = best_time(lambda: select(*data, **options))
    result = select(*data, **options)
    default = best_time(lambda: select(*data))
    begin = time.perf_counter()
    H, H_p = literal.matrices(*data)
    z, value = literal.relax_solve(H, H_p, budget, 100)
    root = literal.power(np.tensordot(z, H, axes=1), -0.5)
    D_tilde = root @ sum(literal.hessian(x, theta) for x in labeled) @ root / budget
    picks = literal.printed_select(
        list(literal.thin_factors(pool, theta, root)), D_tilde, budget, eta
    )
    slow = time.perf_counter() - begin
    picked_value = np.trace(np.linalg.solve(H[picks].sum(axis=0), H_p))
    f, gap = result.relaxation.objective, result.relaxation.gap
    rows = [
        ("literal / select, one eta", f"{slow / fast:.0f}x", "at least 10x", slow >= 10 * fast),
        ("certified gap", f"{gap:.1e}", "at most 1e-2", gap <= 1e-2),
        ("relaxed objective, ours / literal", f"{f / value:.4f}", "at most 1", f <= value),
        ("objective of the picks, ours / literal", f"{result.objective / picked_value:.4f}"),
        ("seconds: literal, one eta, grid of eta", f"{slow:.1f}, {fast:.3f}, {default:.3f}"),
    ]
    show_all("whole selection", sizes, rows, judge)


class OneByOne:
    """The matrices H(x_i) + D, formed when asked for: 5000 of size 1960 do not fit in memory."""

    def __init__(self, pool, labeled, theta, budget):
        self.pool, self.theta = pool, theta
        self.share = sum(literal.hessian(x, theta) for x in labeled) / budget

    def __len__(self):
        return len(self.pool)

    def __iter__(self):
        return (literal.hessian(x, self.theta) + self.share for x in self.pool)


def bench_steps(sizes, judge):
    """One gradient and one FTRL step against one literal one, each timed once."""
    data, eta = mixture(**sizes), middle_eta(sizes["d"], sizes["c"])
    pool, labeled, theta, budget = data
    result, total, gradient, step = timed_select(data, eta=eta)
    problem = prepare_problem(*data)
    begin = time.perf_counter()
    m = len(pool)
    literal.relax_step(np.full(m, 1 / m), 1, OneByOne(*data), problem.mean_information)
    literal_gradient = time.perf_counter() - begin
    # the thin factors P~_i are made once per run, so they do not count as part of a step; the time
    # of a step does not depend on their values, so a few stand for all
    size = problem.size
    few = list(literal.thin_factors(pool[:40], theta, np.eye(size)))
    share = problem.labeled_information / budget
    begin = time.perf_counter()
    literal.printed_scores([few[i % len(few)] for i in range(m)], np.eye(size) + share, eta)
    literal.printed_update(share + few[0] @ few[0].T, share, eta)
    literal_step = time.perf_counter() - begin
    ratios = literal_gradient / gradient, literal_step / step
    rows = [
        ("literal / our gradient", f"{ratios[0]:.0f}x", "at least 50x", ratios[0] >= 50),
        ("literal / our FTRL step", f"{ratios[1]:.0f}x", "at least 50x", ratios[1] >= 50),
        ("seconds of a gradient: literal, ours", f"{literal_gradient:.1f}, {gradient:.3f}"),
        ("seconds of a step: literal, ours", f"{literal_step:.1f}, {step:.3f}"),
        ("whole select, one eta", f"{total:.1f} s", "a few minutes", total <= 240),
        (
            "gradients, certified gap",
            f"{result.relaxation.iterations}, {result.relaxation.gap:.1e}",
        ),
    ]
    show_all("steps of a large selection", sizes, rows, judge)


def small_memory_data():
    return (mixture(**QUICK_LARGE),)


def large_memory_data():
    return (mixture(**LARGE | {"budget": 3}),)  # more steps need no more memory


def select_middle(data):
    select(*data, eta=8 * np.sqrt(data[2].size), tol=0.2)  # nor do more gradients


def bench_memory(judge):
    peak = peak_above_data(large_memory_data if judge else small_memory_data, select_middle)
    rows = [("peak above the data", f"{peak / 2**30:.2f} GiB", "under 2 GiB", peak < 2 * 2**30)]
    show_all("memory of a large selection", LARGE if judge else QUICK_LARGE, rows, judge)


def minimal_flops(m, d, c):
    """Of one product of all points with one matrix, both symmetries used; two per multiply-add."""
    return 2 * m * (d * (d + 1) // 2) * (c * (c - 1) // 2)


def bench_passes(sizes, judge):
    """Pool passes against a large matrix product in the same number of threads."""
    pool, labeled, theta, budget = mixture(**sizes)
    m, d, c = sizes["m"], sizes["d"], sizes["c"]
    problem = prepare_problem(pool, labeled, theta, budget)
    X, h, W = problem.X, problem.h, problem.mean_information
    flops, weights, all_ = minimal_flops(m, d, c), np.full(m, 1 / m), np.full(m, True)
    with one_thread():
        alone = PoolScorer(problem._replace(threads=1))
        least = flops / blas_rate()
        times = {
            "sum of information": best_time(lambda: weighted_information(X, h, weights)) / least,
            "gradient": best_time(lambda: contract_curvature(X, h, W)) / least,
            "all scores (two products)": best_time(lambda: alone.all(W, W)) / (2 * least),
            "best score, with float32": best_time(lambda: alone.best(W, W, all_)) / (2 * least),
        }
    threads = blas_threads()
    scorer = PoolScorer(problem)
    both = best_time(lambda: scorer.all(W, W)) * blas_rate() / (2 * flops)
    times[f"all scores, {threads} threads"] = both
    rows = [(f"time / BLAS time: {k}", f"{v:.2f}", "at most 3", v <= 3) for k, v in times.items()]
    show_all("pool passes", sizes, rows, judge)


def million():
    return (mixture(10**6, 20, 10, 3),)


def few():
    return (mixture(10**4, 20, 10, 3),)


def bench_growth(sizes, judge):
    """Work as the pool grows: CPU time, which other programs on the machine disturb least."""
    rows, times = [], []
    for m in sizes:
        begin = time.perf_counter()
        data = mixture(m, 20, 10, 10)
        _, _, *pair = timed_select(data, time.process_time, eta=middle_eta(20, 10))
        times.append(pair)
        each = [f"{1e6 * seconds / m:.2f}" for seconds in pair]
        rows.append((f"m = {m}: CPU microseconds per point, gradient and step", ", ".join(each)))
        rows.append((f"m = {m}: whole select", f"{time.perf_counter() - begin:.1f} s"))
    for name, column in zip(("gradient", "FTRL step"), np.log(times).T, strict=True):
        slope = np.polyfit(np.log(sizes), column, 1)[0]
        rows.append((f"slope of {name} in m", f"{slope:.2f}", "at most 1.1", slope <= 1.1))
    peak = peak_above_data(million if judge else few, select_middle)
    numbers = peak / 8 / (10**6 if judge else 10**4)
    rows.append(("numbers per point in memory above the 20 features", f"{numbers:.0f}"))
    show_all("growth, d=20, c=10, b=10", {}, rows, judge)


def scaling(base=None, factors=(1, 2, 4), seed=0):
    """Times of select around a base size, one size changed at a time.

    Returns rows (name, value, d~, seconds per gradient, seconds per FTRL step), and for every
    name the two slopes of log time against log value. BLAS has one thread: slopes are then those
    of the work.
    """
    base = base or {"m": 4000, "d": 12, "c": 9, "budget": 12}
    rows, slopes = [], {}
    with one_thread():
        for name in base:
            group = []
            for factor in factors:
                sizes = base | {name: base[name] * factor}
                runs = [
                    timed_select(mixture(**sizes, seed=seed), eta=50.0, tol=0.1)[2:]
                    for _ in range(3)
                ]
                gradient, step = np.min(runs, axis=0)
                size = sizes["d"] * (sizes["c"] - 1)
                group.append((name, sizes[name], size, float(gradient), float(step)))
            logs = np.log([row[1:] for row in group])
            slopes[name] = tuple(
                float(np.polyfit(logs[:, 0], logs[:, column], 1)[0]) for column in (2, 3)
            )
            rows += group
    return rows, slopes


def bench_scaling(base):
    _, slopes = scaling(base)
    rows = [
        (f"slope in {name}: gradient, FTRL step", "{:.2f}, {:.2f}".format(*pair))
        for name, pair in slopes.items()
    ]
    show_all("slopes of log time", base or {}, rows, judge=False)


def show_all(title, sizes, rows, judge):
    """``show``, with goals left out where they are not judged."""
    full = [row if len(row) == 4 and judge else (*row[:2], None, None) for row in rows]
    show(", ".join([title] + [f"{name}={value}" for name, value in sizes.items()]), full)


def main(quick):
    started = time.perf_counter()
    small, large = (QUICK_SMALL, QUICK_LARGE) if quick else (SMALL, LARGE)
    print(f"FIRAL: {blas_threads()} BLAS threads, {blas_rate() / 1e9:.0f} Gflop/s")
    bench_whole(small, not quick)
    bench_passes(small, not quick)
    bench_passes(large, not quick)
    bench_memory(not quick)
    bench_growth((1000, 4000) if quick else (10**4, 10**5, 10**6), not quick)
    bench_scaling({"m": 500, "d": 4, "c": 4, "budget": 4} if quick else None)
    bench_steps(large, not quick)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\n{time.perf_counter() - started:.0f} s in all, peak {peak:.1f} GiB with the literal code"
    )


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
