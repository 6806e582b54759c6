"""Core: information against loops, BLAS and memory; fit against scikit-learn. Prints ratios."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from common import best_time, blas_rate, blas_threads, one_thread, peak_above_data, show
from sklearn.linear_model import LogisticRegression

from firal.information import fisher
from firal.model import hessians, logistic
from firal.model.fitting import fit
from firal.theory import designs

SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")


def points(m, d, c, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=(c - 1, d)) / np.sqrt(d)


def naive_information(X, theta):
    """The definition: for each point its probabilities and a Kronecker product, added up."""
    total = np.zeros((theta.size, theta.size))
    for x in X:
        odds = np.exp(theta @ x)
        h = odds / (1 + odds.sum())
        total += np.kron(np.diag(h) - np.outer(h, h), np.outer(x, x))
    return total / len(X)


def minimal_flops(m, d, c):
    """Two per multiply-add, with both symmetries used."""
    k = c - 1
    return 2 * m * (d * (d + 1) // 2) * (k * (k + 1) // 2)


def bench_information():
    X, theta = points(3000, 20, 10)
    gap = np.abs(fisher.information(X, theta) - naive_information(X, theta)).max()
    fast = best_time(partial(fisher.information, X, theta))
    slow = best_time(partial(naive_information, X, theta))
    ratio = slow / fast
    rows = [
        ("loop / information", f"{ratio:.0f}x", "at least 100x", ratio >= 100),
        ("largest difference", f"{gap:.1e}", None, None),
    ]
    show("information against a loop of Kronecker products, m=3000, d=20, c=10", rows)


def bench_blas():
    for m, d, c, goal in ((3000, 20, 10, True), (5000, 40, 50, False), (20_000, 20, 3, False)):
        X, theta = points(m, d, c)
        M = np.eye(theta.size)
        ideal = minimal_flops(m, d, c) / blas_rate()
        rows = []
        for function, *arguments in (
            (fisher.information, X, theta),
            (fisher.contract, X, theta, M),
            (hessians.quadratic_forms, X, M, c - 1),
        ):
            ratio = best_time(partial(function, *arguments)) / ideal
            wanted = goal and function is fisher.information
            what = f"{function.__name__} / ideal time"
            limit, met = ("at most 3x", ratio <= 3) if wanted else (None, None)
            rows.append((what, f"{ratio:.2f}x", limit, met))
        show(f"minimal flops at the BLAS rate, m={m}, d={d}, c={c}, 1 thread", rows)


def scikit_learn(X, y, solver):
    model = LogisticRegression(
        C=np.inf, fit_intercept=False, solver=solver, tol=1e-8, max_iter=10_000
    )
    coef = model.fit(X, y).coef_
    return coef[:-1] - coef[-1]


def fit_problem(n, d, c, spread, seed):
    rng = np.random.default_rng(seed)
    X = designs.gaussian(n, np.zeros(d), spread**2 * np.eye(d), rng)
    if d >= c - 1:
        theta = designs.simplex_theta(c, d)
    else:
        theta = rng.normal(size=(c - 1, d)) / np.sqrt(2 * d)  # distances near 1
    return X, designs.draw_labels(X, theta, rng)


def bench_fit():
    for n, d, c, spread in ((3200, 8, 8, 10.0), (3200, 8, 8, 1.0), (5000, 40, 50, 1.0)):
        X, y = fit_problem(n, d, c, spread, seed=0)
        scale = np.sqrt(np.mean(np.sum(X**2, axis=1)))
        ours = best_time(lambda X=X, y=y, c=c: fit(X, y, c))
        theta = fit(X, y, c).theta
        rows = [("firal.fit", f"{1e3 * ours:.1f} ms", gradient_norm(X, y, theta, scale), None)]
        same = []
        for solver in SOLVERS:
            if solver == "newton-cholesky" and d * c > 1000:
                continue  # forms and factors a 2000 x 2000 matrix per step: tens of seconds
            seconds = best_time(lambda X=X, y=y, s=solver: scikit_learn(X, y, s))
            theirs = scikit_learn(X, y, solver)
            norm = gradient_norm(X, y, theirs, scale)
            rows.append((f"scikit-learn {solver}", f"{1e3 * seconds:.1f} ms", norm, None))
            if np.abs(theirs - theta).max() < 1e-5:
                same.append(seconds)
        if not same:
            rows.append(("no scikit-learn solver reached the same optimum", "", None, None))
        else:
            ratio = min(same) / ours
            rows.append(
                ("best scikit-learn / firal.fit", f"{ratio:.2f}x", "at least 1x", ratio >= 1)
            )
        show(f"fit, n={n}, d={d}, c={c}, points N(0, {spread:g}^2 I)", rows)


def gradient_norm(X, y, theta, scale):
    return f"gradient {np.linalg.norm(logistic.gradient(X, y, theta)) / scale:.0e}"


def large_pool():
    return points(200_000, 20, 10)


def large_work(X, theta):
    fisher.information(X, theta)
    fisher.contract(X, theta, np.eye(theta.size))


def bench_memory():
    peak = peak_above_data(large_pool, large_work) / 2**20
    rows = [("peak above the data", f"{peak:.0f} MiB", "below 1024 MiB", peak < 1024)]
    show("memory of information and contract, m=200000, d=20, c=10", rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # scikit-learn warns about penalties and convergence
    with one_thread():
        print(f"BLAS rate {blas_rate() / 1e9:.0f} Gflop/s on {blas_threads()} thread")
        bench_information()
        bench_blas()
        bench_fit()
    bench_memory()
