r"""The information of one label

*Week 1. By hand and in NumPy, 30 minutes. Read [logistic regression](../../logistic.md) first.*

There are $c$ classes. The parameter $\theta$ has $c-1$ rows; the logit of the last class is zero.
Let $h$ be the vector of the first $c-1$ class probabilities at a point $x$. The information of
its label is the Kronecker product of $\mathrm{diag}(h)-hh^{\top}$, first, and $xx^{\top}$,
second.

Write `information(x, theta)`, a matrix with $d(c-1)$ rows and columns.
"""

import numpy as np


def information(x, theta):
    """Information of the label at ``x`` (d,), for ``theta`` (c-1, d)."""
    logits = np.append(theta @ x, 0.0)
    weights = np.exp(logits - logits.max())
    h = (weights / weights.sum())[:-1]
    return np.kron(np.diag(h) - np.outer(h, h), np.outer(x, x))


def test_shape(information):
    """The matrix has d(c-1) rows and columns."""
    assert np.shape(information(np.ones(3), np.zeros((4, 3)))) == (12, 12)


def test_two_classes(information):
    """Two classes, one feature, theta = 0: the probability is one half."""
    assert np.allclose(information(np.array([2.0]), np.array([[0.0]])), 1.0)


def test_it_is_the_second_derivative_of_the_loss(information):
    """Compare with finite differences of the loss. The order of the Kronecker factors counts."""
    x, theta = np.array([1.0, -0.5]), np.array([[0.3, 0.1], [-0.2, 0.4]])

    def loss(t):
        logits = np.append(t.reshape(2, 2) @ x, 0.0)
        return np.log(np.exp(logits).sum()) - logits[1]

    e, h, t = np.eye(4), 1e-4, theta.ravel()
    second = [
        [
            (loss(t + h * (a + b)) - loss(t + h * (a - b)) - loss(t - h * (a - b)))
            + loss(t - h * (a + b))
            for b in e
        ]
        for a in e
    ]
    assert np.allclose(information(x, theta), np.array(second) / (4 * h * h), atol=1e-6)


def test_large_logits(information):
    """Logits of 1000 and 999 must not overflow; the first class is e times as likely."""
    found = information(np.array([1000.0]), np.array([[1.0], [0.999]]))
    product = np.e / (1 + np.e) ** 2  # of the two probabilities; the third is zero
    assert np.allclose(found, 1e6 * product * np.array([[1, -1], [-1, 1]]), rtol=1e-3)
