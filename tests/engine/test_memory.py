"""Passes over a pool in memory: any number of threads and blocks gives the same."""

import threading

import numpy as np
import pytest

from firal.engine import memory
from firal.model import hessians

THREADS = [1, 2, 3, 20]


@pytest.fixture
def points(monkeypatch):
    monkeypatch.setattr(memory, "POINTS_PER_THREAD", 10)
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(5), size=101)
    return rng.normal(size=(101, 3)), p[:, :-1], rng


@pytest.mark.parametrize("threads", THREADS)
def test_information_and_contraction(points, threads):
    X, h, rng = points
    weights, A = rng.random(101), rng.normal(size=(12, 12))
    whole = hessians.weighted_information(X, h, weights)
    assert memory.information(X, h, weights, threads) == pytest.approx(whole, rel=1e-12)
    each = hessians.contract_curvature(X, h, A + A.T)
    found = memory.contract(X, h, A + A.T, threads)
    assert found == pytest.approx(each, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("threads", THREADS)
def test_blocks_cover_all_points_once_and_workers_do_not_overlap(points, threads):
    owners, visits, blocks = {}, np.zeros(101, int), []

    def work(worker, block):
        owners.setdefault(worker, set()).add(threading.get_ident())
        visits[block] += 1
        blocks.append(block)

    memory.by_blocks(101, threads, 8, 56, work)
    assert (visits == 1).all() and max(block.stop - block.start for block in blocks) <= 7
    assert len(owners) == min(threads, memory.MOST_PARTS)
    assert all(len(threads_of_one) == 1 for threads_of_one in owners.values())


def test_few_points_stay_in_one_part(monkeypatch):
    monkeypatch.setattr(memory, "POINTS_PER_THREAD", 51)
    workers = set()
    memory.by_blocks(101, 4, 8, 80, lambda worker, block: workers.add(worker))
    assert workers == {0}


def test_few_points_of_many_bytes_are_shared_among_workers():
    workers = set()
    memory.by_blocks(
        12, 4, 2 * memory.BYTES_PER_THREAD, 1, lambda worker, block: workers.add(worker)
    )
    assert len(workers) == 4


@pytest.mark.parametrize("known", [0, 7])
def test_triangular_factor_over_many_blocks(monkeypatch, known):
    monkeypatch.setattr(memory, "FACTOR_BYTES", 8 * 4 * 10)
    rng = np.random.default_rng(1)
    pool, labeled = rng.normal(size=(53, 4)), rng.normal(size=(known, 4))
    R = memory.triangular_factor(pool, labeled)
    both = np.vstack([pool, labeled])
    assert R.shape == (4, 4) and np.array_equal(R, np.triu(R))
    assert R.T @ R == pytest.approx(both.T @ both, rel=1e-10)
