r"""Excess risk as a divergence

*Week 2. In NumPy, 30 minutes. Read [the problem](../../setting.md) first.*

The labels follow the model with $\theta_\star$. The excess risk of $\theta$ is its expected loss
minus that of $\theta_\star$, averaged over the points: the mean Kullback–Leibler divergence of
the model's class probabilities from the true ones. Write `excess_risk(X, theta, truth)`.
"""

import numpy as np
from scipy.special import log_softmax


def excess_risk(X, theta, truth):
    """Mean excess risk over the points ``X`` (n, d); parameters are (c-1, d)."""
    zeros = np.zeros((len(X), 1))
    p = log_softmax(np.hstack([X @ truth.T, zeros]), axis=1)
    q = log_softmax(np.hstack([X @ theta.T, zeros]), axis=1)
    return float((np.exp(p) * (p - q)).sum(1).mean())


def test_zero_at_the_truth(excess_risk):
    """The truth has no excess risk, and nothing else has less."""
    X, truth = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[0.3, -0.2], [1.0, 0.1]])
    assert abs(excess_risk(X, truth, truth)) < 1e-8
    assert excess_risk(X, truth + 0.1, truth) > 0


def test_by_hand(excess_risk):
    """One point, two classes: truth one half, model three quarters."""
    found = excess_risk(np.array([[1.0]]), np.array([[np.log(3.0)]]), np.array([[0.0]]))
    assert np.isclose(found, 0.5 * np.log(0.5 / 0.75) + 0.5 * np.log(0.5 / 0.25))


def test_the_two_arguments_are_not_alike(excess_risk):
    """The expectation is under the truth."""
    found = excess_risk(np.array([[1.0]]), np.array([[0.0]]), np.array([[np.log(3.0)]]))
    assert np.isclose(found, 0.75 * np.log(1.5) + 0.25 * np.log(0.5))


def test_mean(excess_risk):
    """A point that is there twice changes nothing."""
    X, truth, other = np.array([[1.0], [2.0]]), np.array([[0.5]]), np.array([[-0.5]])
    assert np.isclose(excess_risk(np.vstack([X, X]), other, truth), excess_risk(X, other, truth))


def test_certain_labels(excess_risk):
    """Probabilities that are zero in floating point must not give nan, nor count for nothing.

    Here the risk is 1800; 20 is enough, for those who add a tiny number to a probability.
    """
    found = excess_risk(np.array([[1.0]]), np.array([[-900.0]]), np.array([[900.0]]))
    assert 20 < found < 1801
