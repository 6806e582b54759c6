"""When no point can be better than another: exactly then it is said."""

import warnings

import numpy as np
import pytest

from firal.selection.problem import prepare_problem
from firal.selection.ties import AllPointsTie, warn_if_all_tie


def said(pool, labeled=None, ridge=0.0, theta=None):
    """The words of the warning; None if there is none."""
    theta = np.full((1, pool.shape[1]), 0.3) if theta is None else theta
    problem = prepare_problem(pool, labeled, theta, 1, ridge=ridge)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warn_if_all_tie(problem, pool, labeled, ridge)
    kinds = [w.category for w in seen]
    assert kinds in ([], [AllPointsTie])
    return str(seen[0].message) if seen else None


RNG = np.random.default_rng(0)
INDEPENDENT = RNG.normal(size=(4, 6))


def test_independent_points_tie_without_a_ridge():
    assert "4 points with 6 features are linearly independent" in said(INDEPENDENT)
    assert said(np.vstack([INDEPENDENT, INDEPENDENT[:1]])) is None  # one more than dimensions
    assert said(INDEPENDENT, ridge=0.1) is None


def test_labeled_points_count():
    other = RNG.normal(size=(2, 6))
    assert "6 points with 6 features" in said(INDEPENDENT, other)
    assert said(INDEPENDENT, INDEPENDENT[:1]) is None
    assert "4 points" in said(INDEPENDENT, INDEPENDENT[:0])


@pytest.mark.parametrize("labeled", [None, INDEPENDENT])
def test_equal_points_tie_with_a_ridge(labeled):
    pool = np.ones((5, 6))
    assert "all points of the pool have the same features" in said(pool, labeled, 0.1)
    pool[3, 2] = 1.5
    assert said(pool, labeled, 0.1) is None
    assert said(pool[:1], labeled, 0.1) is None  # a single point has no other to tie with
    assert said(np.ones((2, 6)), labeled, 0.1) is not None


def test_equal_features_with_other_probabilities_do_not_tie():
    pool, p = np.ones((3, 2)), np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]])
    for last, tie in ((3, False), (2, True)):
        problem = prepare_problem(
            pool[:last], None, None, 1, ridge=0.1, probabilities=(p[:last], None)
        )
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            warn_if_all_tie(problem, pool[:last], None, 0.1)
        assert bool(seen) == tie
