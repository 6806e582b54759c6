"""Synthetic experiments: train on points from q, measure the excess risk on p, many times.

p is Gaussian, Laplace or t, centered, with scale matrix 100 I; theta_* is a regular simplex, so
all classes are equally likely. q is p dilated by nu or translated by tau. One *run* draws n points
of q, labels them from theta_*, computes the empirical risk minimizer (ERM), and measures its excess
risk on p. Runs with one seed share their random numbers over all q and n: a curve over q
or n is then a curve of one experiment, and a slope fitted to it has no extra noise.

The ERM does not exist when the labels are separable. Such a run has the risk NaN, and
``Sweep.missing`` counts it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import linalg
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from firal.common import checks
from firal.common.blocks import pool_blocks
from firal.information.fisher import fir, information, sigma
from firal.model.fitting import fit
from firal.model.hessians import weighted_information
from firal.model.logistic import softmax
from firal.theory import designs, transforms

LAWS = ("gaussian", "laplace", "t")
OPERATIONS = ("dilation", "translation")
SCALE = 10.0  # standard deviation of a coordinate of p (for t: its scale)
SOLVE_POINTS = 10_000  # so many points of p are used to solve for nu or tau


class Setting(NamedTuple):
    """p, theta_*, and a large sample of p on which ratios and risks are computed."""

    theta: np.ndarray  # (c-1, d)
    points: np.ndarray  # (N, d), a sample of p
    Hp: np.ndarray  # (d~, d~), mean Hessian over the points
    law: str
    df: float

    @property
    def n_classes(self) -> int:
        return len(self.theta) + 1


class Ratios(NamedTuple):
    """Where q is, and what theory needs to know about it; one entry per q."""

    amounts: np.ndarray  # nu or tau
    fir: np.ndarray  # trace of Hq^{-1} Hp
    sigma: np.ndarray  # its largest eigenvalue


class Run(NamedTuple):
    """One run, as a row of a tidy table."""

    seed: int
    amount: float
    fir: float
    n: int
    risk: float  # NaN: the ERM does not exist


class Sweep(NamedTuple):
    """All runs over seeds (S), choices of q (Q) and sample sizes (N)."""

    ratios: Ratios
    sizes: np.ndarray  # (N,)
    risk: np.ndarray  # (S, Q, N), NaN where the ERM does not exist
    own_fir: np.ndarray  # (S, Q, N), trace of Hn^{-1} Hp for the points drawn; NaN likewise

    @property
    def missing(self) -> np.ndarray:
        """Number of runs without an ERM: (Q, N)."""
        return np.isnan(self.risk).sum(axis=0)

    def quantiles(self, *levels) -> np.ndarray:
        """Quantiles over the seeds, (len(levels), Q, N). A run without an ERM counts as infinite:
        its risk is larger than any number. So a median stays honest until half the runs fail."""
        risk = np.where(np.isnan(self.risk), np.inf, self.risk)
        return np.quantile(risk, levels, axis=0, method="lower")

    def records(self) -> Iterator[Run]:
        """The runs one by one, for a table: ``pandas.DataFrame(sweep.records())``."""
        for (seed, q, k), risk in np.ndenumerate(self.risk):
            ratios = self.ratios
            yield Run(seed, ratios.amounts[q], ratios.fir[q], int(self.sizes[k]), float(risk))


def draw(n, d, rng, law="gaussian", df=5.0):
    """n points of p: (n, d). ``df`` is used by the t distribution only."""
    if law not in LAWS:
        raise ValueError(f"unknown law {law!r}: expected one of {', '.join(LAWS)}")
    zero, scale = np.zeros(d), SCALE**2 * np.eye(d)
    if law == "gaussian":
        return designs.gaussian(n, zero, scale, rng)
    if law == "laplace":
        return designs.laplace(n, zero, scale, rng)
    return designs.student_t(n, zero, scale, rng, df)


def setting(c, d, rng, *, law="gaussian", df=5.0, n_test=50_000):
    """The paper's setting for c classes in dimension d >= c-1."""
    theta = designs.simplex_theta(c, d)
    points = draw(n_test, d, rng, law, df)
    return Setting(theta, points, information(points, theta), law, df)


def direction(d):
    """The paper's direction of translation, (1, 1, 0, ..., 0) / sqrt(2)."""
    a = np.zeros(d)
    a[:2] = 1 / np.sqrt(min(d, 2))
    return a


def move(X, operation, amount):
    """A sample of p turned into one of q: dilated by nu = amount, or translated by tau = amount."""
    if operation == "dilation":
        return transforms.dilate(X, amount)
    if operation == "translation":
        return transforms.translate(X, amount, direction(X.shape[1]))
    raise ValueError(f"unknown operation {operation!r}: expected one of {', '.join(OPERATIONS)}")


def ratios(setting, operation, amounts):
    """Fisher information ratio and sigma of every q, on the points of the setting."""
    values = []
    for amount in amounts:
        Hq = information(move(setting.points, operation, amount), setting.theta)
        values.append((fir(Hq, setting.Hp), sigma(Hq, setting.Hp)))
    firs, sigmas = np.array(values).T
    return Ratios(np.asarray(amounts, dtype=float), firs, sigmas)


def smallest_dilation(setting):
    """nu with the smallest ratio of all dilations, found on a part of the points.

    For small nu the points carry little information; for large nu they are far from every
    boundary between classes, and saturated. In between there is a minimum.
    """
    X = setting.points[:SOLVE_POINTS]
    Hp = information(X, setting.theta)
    grid = np.geomspace(0.5, 200, 41)
    values = [fir(information(transforms.dilate(X, nu), setting.theta), Hp) for nu in grid]
    return float(grid[np.argmin(values)])


def amounts_for(setting, operation, targets):
    """nu or tau for which the ratio is about ``targets`` times d~.

    Solved on a part of the points; ``ratios`` then gives the ratio on all of them. Large ratios
    rest on few points: on all of them they came out up to 5 % (dilation) and 28 % (translation)
    from the target. A target that no q of this kind has is a ValueError.
    """
    if operation not in OPERATIONS:
        raise ValueError(f"unknown operation {operation!r}: expected one of {OPERATIONS}")
    X, theta = setting.points[:SOLVE_POINTS], setting.theta
    wanted = np.asarray(targets, dtype=float) * theta.size
    if operation == "dilation":
        return np.array([transforms.solve_dilation(X, theta, t) for t in wanted])
    a = direction(X.shape[1])
    return np.array([transforms.solve_translation(X, theta, a, t) for t in wanted])


def sweep(setting, operation, amounts, sizes, n_seeds, seed=0, *, workers=2):
    """Run every seed, q and n; returns a Sweep. The result does not depend on ``workers``.

    amounts   one nu or tau per q
    sizes     sample sizes n, in any order; the n points are the first n of one larger sample
    """
    sizes = np.array([checks.integer(n, "n", 1) for n in sizes])
    n_seeds = checks.integer(n_seeds, "n_seeds", 1)
    where = ratios(setting, operation, amounts)
    job = partial(_one_seed, setting, operation, where.amounts, sizes)
    children = np.random.SeedSequence(seed).spawn(n_seeds)
    if workers == 1:
        results = [job(child) for child in children]
    else:
        with ProcessPoolExecutor(workers) as pool:
            chunk = -(-n_seeds // (2 * workers))  # the setting is sent once per chunk
            runs = pool.map(job, children, chunksize=chunk)
            # a bar on a terminal only, never in a stored notebook
            results = list(tqdm(runs, total=n_seeds, unit="seed", disable=None, leave=False))
    risk, own_fir = np.stack(results, axis=1)
    return Sweep(where, sizes, risk, own_fir)


def curve_slope(x, risk, rng, n_resamples=400):
    """Log-log slope of the mean risk over x, with a 95 % interval: (slope, low, high).

    x (Q,), risk (S, Q), NaN where the ERM does not exist. Means are over the runs that have one;
    an x where more than a quarter has none is left out. The interval is by resampling seeds.
    """
    use = np.isnan(risk).mean(axis=0) <= 0.25
    if use.sum() < 2:
        return np.nan, np.nan, np.nan
    u = np.log(x[use]) - np.log(x[use]).mean()
    risk = risk[:, use]
    resampled = risk[rng.integers(len(risk), size=(n_resamples, len(risk)))]
    resampled = resampled[~np.isnan(resampled).all(axis=1).any(axis=1)]
    slope = np.log(np.nanmean(risk, axis=0)) @ u / (u @ u)
    others = np.log(np.nanmean(resampled, axis=1)) @ u / (u @ u)
    low, high = np.quantile(others, (0.025, 0.975))
    return float(slope), float(low), float(high)


class Risk:
    """``firal.excess_risk`` on fixed points and theta_*, for many theta: about ten times faster.

    R(theta) = mean_x log sum_k p_k(x) exp(D_k(x)) - <mean_x p(x) x^T, theta - theta_*>, with p from
    theta_* and D = (theta - theta_*) x. The first factor of each term is computed once. Unlike
    ``excess_risk`` this cancels when theta is close to theta_*: the absolute error is near 1e-15.
    """

    def __init__(self, theta_star, points):
        self.theta_star = theta_star
        self.points_by_column = np.ascontiguousarray(points.T)
        self.p = np.ascontiguousarray(softmax(points, theta_star).T)  # (c, N)
        self.moment = self.p[:-1] @ points / len(points)

    def __call__(self, theta):
        difference = theta - self.theta_star
        total = 0.0
        N = self.p.shape[1]
        for block in pool_blocks(N, 16 * len(self.p), 2**21):
            D = difference @ self.points_by_column[:, block]
            top = np.maximum(D.max(axis=0), 0) if np.abs(D).max() > 500 else 0.0
            np.exp(D - top, out=D)
            D *= self.p[:-1, block]
            total += np.sum(np.log(D.sum(axis=0) + self.p[-1, block] * np.exp(-top)) + top)
        return float(total / N - np.sum(self.moment * difference))


def fit_from(X, y, start):
    """The ERM by Newton's method from ``start`` (c-1, d), or None if there is none in reach.

    The minimizer is unique, so the start changes the time only. A final Newton step that moves no
    difference of logits by 1 or more proves that the minimizer exists (``model.separation``); when
    Newton's method does not get there, ``firal.fit`` decides.
    """
    n, c = len(y), len(start) + 1
    weights = np.full(n, 1 / n)
    target = (y[:, None] == np.arange(c - 1)).astype(float)
    theta = start
    for _ in range(12):
        h = softmax(X, theta)[:, :-1]
        slope = (h - target).T @ X / n
        H = weighted_information(X, h, weights)
        try:
            factor = linalg.cho_factor(H, check_finite=False)
        except linalg.LinAlgError:
            break
        step = -linalg.cho_solve(factor, slope.ravel(), check_finite=False).reshape(theta.shape)
        change = step @ X.T
        largest = np.max(np.maximum(change.max(axis=0), 0) - np.minimum(change.min(axis=0), 0))
        theta = theta + step
        if largest < 1e-5:  # the next step would be of the order of its square
            return theta
        if not largest < 1e3:
            break
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # not converged: None says it
        try:
            found = fit(X, y, c)
        except ValueError:  # separable labels, or a class without a label
            return None
    return found.theta if found.converged else None


def _one_seed(setting, operation, amounts, sizes, seed_sequence):
    """Risks and ratios of one seed: (2, Q, N)."""
    rng = np.random.default_rng(seed_sequence)
    theta = setting.theta
    base = draw(sizes.max(), theta.shape[1], rng, setting.law, setting.df)
    uniform = rng.random((sizes.max(), 1))
    risk = Risk(theta, setting.points)
    out = np.full((2, len(amounts), len(sizes)), np.nan)
    with threadpool_limits(1):  # small products: a second thread only waits
        for q, amount in enumerate(amounts):
            X = move(base, operation, amount)
            y = (np.cumsum(softmax(X, theta), axis=1)[:, :-1] < uniform).sum(axis=1)
            for k, n in enumerate(sizes):
                fitted = fit_from(X[:n], y[:n], theta)
                if fitted is not None:
                    Hn = information(X[:n], theta)
                    out[:, q, k] = risk(fitted), fir(Hn, setting.Hp)
    return out
