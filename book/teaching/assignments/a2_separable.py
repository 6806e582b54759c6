r"""When does the classifier not exist?

*Week 1. In Python, 40 minutes. Read [the problem](../../setting.md) first.*

Two classes, no intercept. Labels are *separable* when some direction $w\ne0$ has $w^{\top}x\ge0$
for all points of class 1 and $w^{\top}x\le0$ for all of class 0, and is strict for at least one
point. Then maximum likelihood has no solution.

Write `separable(X, y)`. A linear program decides it: `scipy.optimize.linprog` is one way.
"""

import numpy as np
from scipy.optimize import linprog


def separable(X, y):
    """Whether the labels ``y`` (n,) in {0, 1} of the points ``X`` (n, d) are separable."""
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X, dtype=float))
    # maximize the sum of the margins, each of which must not be negative, for w in a box
    found = linprog(-signed.sum(0), A_ub=-signed, b_ub=np.zeros(len(X)), bounds=(-1, 1))
    return bool(-found.fun > 1e-9)


def test_apart(separable):
    """Class 1 at the right, class 0 at the left."""
    assert separable(np.array([[1.0], [2.0], [-1.0]]), np.array([1, 1, 0]))


def test_mixed(separable):
    """Both labels at both sides of the origin."""
    X = np.array([[1.0], [2.0], [-1.0], [-2.0]])
    assert not separable(X, np.array([1, 0, 1, 0]))


def test_touching(separable):
    """A margin of zero for some points is still separable: the loss falls along w for ever."""
    X = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    assert separable(X, np.array([1, 0, 1]))


def test_between_the_axes(separable):
    """No axis and no diagonal separates these points, and w = (2, 5) does."""
    assert separable(np.array([[3.0, -1.0], [-2.0, 1.0], [-1.0, -1.0]]), np.array([1, 1, 0]))


def test_no_intercept(separable):
    """A line that misses the origin does not help: there is no intercept."""
    assert not separable(np.array([[1.0], [3.0]]), np.array([0, 1]))


def test_every_labeling_of_independent_points(separable):
    """As many independent points as features: every labeling is separable."""
    for bits in range(8):
        assert separable(np.eye(3), np.array([bits >> k & 1 for k in range(3)]))
