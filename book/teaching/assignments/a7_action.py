r"""One step of the rounding

*Week 3. By hand and in NumPy, 40 minutes. Read [from weights to points](../../sparsification.md)
first.*

In the game behind the rounding, the action after losses with sum $\mathbf S$ is $\mathbf
A=(\nu\mathbf I+\eta\mathbf S)^{-2}$, with the one $\nu$ for which $\mathrm{tr}\,\mathbf A=1$ and
$\nu\mathbf I+\eta\mathbf S\succ0$. Write `action(S, eta)`.
"""

import numpy as np


def action(S, eta):
    """The matrix (nu I + eta S)^{-2} of trace one, for symmetric positive semidefinite ``S``."""
    values, vectors = np.linalg.eigh(S)
    low = -eta * values.min()  # the trace is infinite here, and at most one at low + sqrt(k)
    high = low + np.sqrt(len(values))
    for _ in range(200):
        nu = (low + high) / 2
        if np.sum((nu + eta * values) ** -2.0) > 1:
            low = nu
        else:
            high = nu
    return (vectors * (high + eta * values) ** -2.0) @ vectors.T


def test_start(action):
    """No loss yet: all directions alike."""
    assert np.allclose(action(np.zeros((4, 4)), 1.0), np.eye(4) / 4)


def test_by_hand(action):
    """Here nu = 5/4, because 3, 4 and 5 are the sides of a right triangle."""
    found = action(np.diag([0.0, 5 / 12]), 1.0)
    assert np.allclose(found, np.diag([16 / 25, 9 / 25]))


def test_the_rate(action):
    """Twice the rate with half the losses is the same action."""
    found = action(np.diag([0.0, 5 / 24]), 2.0)
    assert np.allclose(found, np.diag([16 / 25, 9 / 25]))


def test_negative_nu(action):
    """Every direction has been served: nu is negative, and the trace is still one."""
    found = action(np.diag([10.0, 11.0, 15.0]), 2.0)
    assert np.isclose(np.trace(found), 1) and np.linalg.eigvalsh(found).min() > 0
    assert found[0, 0] > found[1, 1] > found[2, 2]


def test_not_diagonal(action):
    """A rotation of the losses rotates the action."""
    Q = np.array([[0.0, 0.6, 0.8], [0.0, 0.8, -0.6], [-1.0, 0.0, 0.0]])
    S = np.diag([0.3, 2.0, 0.9])
    assert np.allclose(action(Q @ S @ Q.T, 1.5), Q @ action(S, 1.5) @ Q.T)
