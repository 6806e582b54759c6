"""Class probabilities that are given: scaled to sum 1, refused beyond a thousandth."""

import numpy as np
import pytest

import firal
from firal.model.logistic import probabilities as softmax
from firal.selection.probabilities import checked_probabilities, class_probabilities

P = np.array([[0.2, 0.8], [0.5, 0.5], [1.0, 0.0]])


def test_sums_are_made_one():
    for factor in (1.0, 1 + 9.9e-4, 1 - 9.9e-4):
        found = checked_probabilities(P * factor, 3, "P")
        np.testing.assert_allclose(found, P, rtol=1e-15)
        assert found.dtype == np.float64
    single = checked_probabilities((P * (1 + 5e-4)).astype(np.float32), 3, "P", 2)
    np.testing.assert_allclose(single.sum(axis=1), 1, rtol=1e-15)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (P * 1.0011, r"sums from 1.0011 to 1.0011, first in row 0: divide by the sum"),
        (P - [[0], [0], [1e-3]], r"entries from -0.001 .* first in row 2: .* apply a softmax"),
        (P * [[1], [0.9989], [1]], r"sums from 0.9989 to 1, first in row 1: divide by the sum"),
        (P[:2], r"shape \(3, c >= 2\), .* got shape \(2, 2\)"),
        (P[:, :1], r"shape \(3, c >= 2\), .* got shape \(3, 1\)"),
        (P[0], r"shape \(3, c >= 2\), .* got shape \(2,\)"),
    ],
)
def test_others_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        checked_probabilities(given, 3, "P")


def test_pairs():
    pool, labeled = np.ones((3, 1)), np.ones((2, 1))
    p, p0 = class_probabilities(pool, labeled, None, (P, P[:2]))
    assert np.array_equal(p, P) and np.array_equal(p0, P[:2])
    assert class_probabilities(pool, labeled[:0], None, (P, None))[1].shape == (0, 2)
    theta = np.array([[0.7]])
    found = class_probabilities(pool, labeled, theta, None)
    assert all(
        np.array_equal(q, softmax(X, theta)) for q, X in zip(found, (pool, labeled), strict=True)
    )
    more = np.column_stack([P, 0 * P[:, 0]])
    for bad, message in (
        ((P,), "must be a pair, .* got tuple"),
        ((P[:2], P[:2]), r"probabilities\[0\] must have shape \(3, c >= 2\)"),
        (P, "must be a pair, .* got ndarray"),
        ((P, more[:2]), r"probabilities\[1\] must have shape \(2, 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            class_probabilities(pool, labeled, None, bad)
    with pytest.raises(ValueError, match="theta must be None where probabilities are given"):
        class_probabilities(pool, labeled, theta, (P, P[:2]))
    with pytest.raises(ValueError, match="theta must be given, or probabilities in its place"):
        class_probabilities(pool, labeled, None, None)


@pytest.mark.parametrize("structure", ["full", "block-diagonal"])
def test_a_class_that_only_labeled_points_have_is_kept(structure):
    """Nothing jumps where its probability in the pool becomes zero, and labels of it count."""
    rng = np.random.default_rng(2)
    pool, labeled = rng.normal(size=(20, 2)), rng.normal(size=(3, 2))
    P0 = rng.dirichlet(np.ones(3), size=3)
    values = []
    for small in (0.0, 1e-10):
        P = np.column_stack([np.full((20, 2), (1 - small) / 2), np.full(20, small)])
        found = firal.select(
            pool,
            labeled,
            None,
            3,
            ridge=0.05,
            probabilities=(P, P0),
            rounding="greedy",
            structure=structure,
        )
        values.append(found.objective)
    assert values[0] == pytest.approx(values[1], rel=1e-7)
