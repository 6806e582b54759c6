r"""The best split

*Week 3. By hand and in NumPy, 25 minutes. Read [the objective](../../objective.md) first.*

Directions $k=1,\dots,K$ are needed with weights $a_k\ge0$, and $z_k$ labels in direction $k$
leave the risk $\sum_k a_k/z_k$. How should a budget $b$ be split? Find the minimizer by the
Lagrange condition, and write `best_split(needs, budget)`. A direction that nobody needs gets
nothing.
"""

import numpy as np


def best_split(needs, budget):
    """Weights ``z`` (K,) with sum ``budget`` that minimize the sum of needs / z; needs is (K,)."""
    root = np.sqrt(needs)
    return budget * root / root.sum()


def test_the_sum(best_split):
    """The whole budget is spent."""
    assert np.isclose(np.sum(best_split(np.array([1.0, 2.0, 5.0]), 30)), 30)


def test_a_hundred_to_one(best_split):
    """Needed a hundred times as much: ten times the labels."""
    assert np.allclose(best_split(np.array([100.0, 1.0]), 11), [10, 1], rtol=1e-3)


def test_nothing_is_better(best_split):
    """No small shift of the budget lowers the risk."""
    needs = np.array([3.0, 1.0, 7.0])
    z = np.asarray(best_split(needs, 5.0), dtype=float)
    for i in range(3):
        for j in range(3):
            shifted = z.copy()
            shifted[i] += 1e-3
            shifted[j] -= 1e-3
            assert (needs / shifted).sum() >= (needs / z).sum() - 1e-5


def test_not_needed(best_split):
    """A direction without need."""
    assert np.allclose(best_split(np.array([4.0, 0.0]), 6), [6, 0], atol=1e-3)
