"""The greedy loop, and the short representations of its results."""

from types import SimpleNamespace

import numpy as np
import pytest
from instances import prepared

from firal.selection.adaptive import adaptive_sparsify
from firal.selection.end_to_end import select
from firal.selection.greedy import greedy
from firal.selection.scoring import PoolScorer


class Fixed:
    """A rule whose matrices never change: the best points are those with the largest scores."""

    ratio = np.inf

    def __init__(self, W):
        self.W, self.taken = W, []

    def weights(self):
        return self.W, self.W

    def add(self, i, score):
        self.taken.append((i, score))


@pytest.fixture
def fixed():
    problem, _ = prepared(0, 50, 3, 4)
    rule, scorer = Fixed(np.linalg.inv(problem.mean_information)), PoolScorer(problem)
    return rule, scorer, scorer.all(*rule.weights())


def test_distinct_points_in_the_order_of_their_scores(fixed):
    rule, scorer, scores = fixed
    rows = greedy(rule, scorer, 6)
    assert rows == np.argsort(-scores)[:6].tolist()
    assert rule.taken == [(i, scores[i]) for i in rows]


def test_with_replacement_the_best_point_is_picked_again(fixed):
    rule, scorer, scores = fixed
    assert greedy(rule, scorer, 4, replace=True) == [int(np.argmax(scores))] * 4


def test_what_is_watched_and_reported(fixed):
    rule, scorer, scores = fixed
    seen, done = [], []

    def watch(i, all_scores):
        assert len(rule.taken) == len(done)  # before the point is taken in
        seen.append(i)
        assert np.array_equal(all_scores, scores)

    rows = greedy(rule, scorer, 3, watch=watch, report=lambda *call: done.append(call))
    assert seen == rows and done == [(1, 3), (2, 3), (3, 3)]


def test_results_have_a_short_representation():
    rng = np.random.default_rng(0)
    pool, theta = rng.normal(size=(500, 3)), rng.normal(size=(2, 3))
    selection = select(pool, None, theta, 40, eta=20.0)
    text = repr(selection)
    assert text.startswith(f"Selection(indices=[{selection.indices[0]:3d}, ") and len(text) < 150
    assert "..." in text and f"lambda_min={selection.lambda_min:.4g}" in text
    z = selection.relaxation.z
    text = repr(selection.relaxation)
    assert text.startswith(f"Relaxation({np.count_nonzero(z)} of 500 weights positive, objective=")
    assert len(text) < 150 and "converged=True" in text
    text = repr(adaptive_sparsify(pool, None, theta, z, 40))
    assert text.startswith("AdaptiveSelection(indices=[") and len(text) < 150


@pytest.mark.parametrize("replace", [False, True])
def test_what_a_scorer_is_given_and_what_is_reported(replace):
    """Rows that are allowed as a mask of booleans; the rule gets the score of every pick."""
    added, reports, masks = [], [], []

    def best(W1, W2, allowed, ratio):
        assert allowed.dtype == bool and (W1, W2, ratio) == ("W1", "W2", 7.0)
        masks.append(allowed.tolist())
        return len(masks) - 1, 0.5 * len(masks)

    scorer = SimpleNamespace(problem=SimpleNamespace(X=np.zeros((4, 1))), best=best)
    rule = SimpleNamespace(
        ratio=7.0, weights=lambda: ("W1", "W2"), add=lambda *pick: added.append(pick)
    )
    rows = greedy(rule, scorer, 3, replace=replace, report=lambda *call: reports.append(call))
    assert rows == [0, 1, 2] and added == [(0, 0.5), (1, 1.0), (2, 1.5)]
    assert reports == [(1, 3), (2, 3), (3, 3)]
    taken = [[False] * k + [True] * (4 - k) for k in range(3)]
    assert masks == ([[True] * 4] * 3 if replace else taken)
