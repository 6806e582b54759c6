"""What a selection will take: the structure is the one that is used, and the numbers are sane."""

import time

import numpy as np
import pytest

from firal import estimate as module
from firal.estimate import estimate, fewer_features, machine_rate, why_impossible
from firal.selection import penalized


@pytest.mark.parametrize(
    ("m", "d", "c", "n0", "budget"),
    [
        (60, 4, 3, 6, 5),
        (60, 30, 12, 24, 8),
        (60, 40, 20, 40, 5),
        (90, 160, 12, 24, 6),
        (60, 9, 0, 0, 4),
        (60, 160, 0, 0, 4),
        (60, 820, 3, 6, 5),
    ],
)
def test_the_structure_is_the_one_that_is_used(monkeypatch, m, d, c, n0, budget):
    used = {}

    def catch(pool, labeled, theta, budget, *, structure, probabilities, **_):
        free = probabilities[0].shape[1] - 1
        order = pool.shape[1] * (free if structure == "full" else 1)
        used.update(structure=structure, order=order, clusters=pool.shape[1] - d)

    def catch_wide(problem, *_, **__):
        used.update(structure="wide", order=problem.X.shape[1], clusters=problem.X.count)

    monkeypatch.setattr(penalized, "select", catch)
    monkeypatch.setattr(penalized, "select_wide", catch_wide)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m + n0, d))
    theta = rng.normal(size=(c - 1, d)) if c else None
    penalized.select_penalized(X[n0:], X[:n0], theta, budget, rng)
    plan = estimate(m, d, c, n0, budget)
    assert {name: getattr(plan, name) for name in used} == used


def test_more_is_longer():
    base = dict(m=2000, d=21, c=10, n_labels=30, budget=10)  # below the sizes of working sets
    for strategy in ("firal-ridge", "firal", "bait", "kmeans", "entropy"):
        plan = estimate(**base, strategy=strategy)
        for name in ("m", "d"):
            more = estimate(**{**base, name: 2 * base[name]}, strategy=strategy)
            assert more.work > plan.work and more.memory > plan.memory, (strategy, name)
        assert plan.memory >= plan.least > 0
    assert estimate(**base, strategy="firal").work > 5 * estimate(**base, strategy="bait").work
    first = estimate(**{**base, "c": 1}, strategy="firal")  # no model: K-means picks
    assert first == estimate(**{**base, "c": 1}, strategy="kmeans")


def test_the_calibration_takes_less_than_a_second():
    start = time.process_time()
    assert 1e8 < machine_rate() < 1e14
    assert time.process_time() - start < 1


def test_what_is_impossible_and_what_helps():
    def plan(pca):
        return estimate(20_000, 2049 if pca is None else pca + 1, 100, 300, 100, "firal")

    huge = plan(None)
    assert huge.structure == "block-diagonal" and huge.order == 2049
    assert why_impossible(huge, 23 * 10**9).startswith("it needs blocks of 14 GB, and 8.6 GB")
    huge = huge._replace(structure="full")
    assert why_impossible(huge, 9 * 10**9).startswith("it needs 14 GB of memory, and this machine")
    assert why_impossible(huge, None) is None  # the system does not say
    k, better = fewer_features(plan, 2048, 1e12, 23 * 10**9)
    assert k in module.FEWER and why_impossible(better, 23 * 10**9) is None
    assert better.seconds(1e12) < module.SLOW / 2
    assert fewer_features(plan, 2048, 1.0, 23 * 10**9) is None
    reduced = estimate(20_000, 10_001, 100, 600, 100)  # vectors of all columns would not fit
    assert (reduced.structure, reduced.order, reduced.clusters) == ("block-diagonal", 800, 200)
    assert why_impossible(reduced, 10**15) is None and reduced.work > 20_000 * 10_001 * 4096 / 2
    assert why_impossible(estimate(20_000, 4097, 100, 300, 100), 23 * 10**9) is None
