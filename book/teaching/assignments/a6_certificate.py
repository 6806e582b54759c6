r"""A certificate from one gradient

*Week 3. By hand and in NumPy, 45 minutes. Read [the relaxation](../../relaxation.md) first.*

Minimize $f(z)=\mathrm{tr}(\Sigma(z)^{-1}\mathbf H_p)$ with $\Sigma(z)=\sum_i z_i\mathbf H_i$ over
$z\ge0$, $\sum_iz_i=b$. You have some feasible $z$ with $\Sigma(z)\succ0$. How much better can the
best one be? Use that $f$ is convex, and its gradient. Write `lower_bound(H, Hp, z)`: a number
that no feasible point can go below, and that is equal to $f(z)$ when $z$ is optimal.
"""

import numpy as np


def lower_bound(H, Hp, z):
    """A lower bound of f over all weights with the sum of ``z``; ``H`` is (m, k, k)."""
    inverse = np.linalg.inv(np.einsum("i,ijk->jk", z, H))
    value = np.trace(inverse @ Hp)
    gain = np.einsum("ijk,kj->i", H, inverse @ Hp @ inverse)  # minus the gradient
    return value**2 / (np.sum(z) * gain.max())


def test_never_above_the_optimum(lower_bound):
    """Two directions: the optimum is (sqrt(a) + sqrt(b))^2 / budget. No bound exceeds it."""
    H = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
    for need in (1.0, 9.0, 100.0):
        best = (1 + np.sqrt(need)) ** 2 / 4
        for first in (0.2, 1.0, 2.0, 3.7):
            z = np.array([first, 4.0 - first])
            assert lower_bound(H, np.diag([1.0, need]), z) <= best * (1 + 1e-6)


def test_tight_at_the_optimum(lower_bound):
    """At the optimum the bound is the value."""
    H = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
    assert np.isclose(lower_bound(H, np.diag([1.0, 9.0]), np.array([1.0, 3.0])), 4.0)


def test_it_says_something(lower_bound):
    """Close to the optimum the bound is close to the value."""
    H = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
    assert lower_bound(H, np.eye(2), np.array([2.05, 1.95])) > 0.9


def test_matrices_that_do_not_commute(lower_bound):
    """Three points in the plane, against a search: never above, and close at the best weights.

    A point of weight zero counts: perhaps it deserves more.
    """
    x = np.array([[1.0, 0.0], [1.0, 1.0], [-0.5, 2.0]])
    H, Hp = np.einsum("ij,ik->ijk", x, x), np.array([[2.0, 0.5], [0.5, 1.0]])
    grid = [(i / 40, j / 40) for i in range(41) for j in range(41 - i)]
    values = []
    for a, b in grid:
        S = a * H[0] + b * H[1] + (1 - a - b) * H[2]
        if np.linalg.det(S) > 1e-9:
            values.append(np.trace(np.linalg.solve(S, Hp)))
    for z in ([1 / 3, 1 / 3, 1 / 3], [0.5, 0.1, 0.4], [0.1, 0.6, 0.3], [0.6, 0.4, 0.0]):
        assert lower_bound(H, Hp, np.array(z)) <= min(values) * (1 + 1e-6)
    assert lower_bound(H, Hp, np.array([0.25, 0.5, 0.25])) > 0.95 * min(values)
