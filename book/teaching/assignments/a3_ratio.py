r"""The ratio

*Week 2. In NumPy, 20 minutes. Read [the excess risk](../../excess_risk.md) first.*

`fir(Hq, Hp)` is the trace of $\mathbf H_q^{-1}\mathbf H_p$, and `sigma(Hq, Hp)` the smallest $s$
with $\mathbf H_p\preceq s\,\mathbf H_q$. Write both, in one function that returns the pair. Both
matrices are symmetric, the first is positive definite.
"""

import numpy as np


def ratios(Hq, Hp):
    """(trace of Hq^{-1} Hp, its largest eigenvalue)."""
    values = np.linalg.eigvals(np.linalg.solve(Hq, Hp)).real
    return values.sum(), values.max()


def test_equal(ratios):
    """The same distribution twice: the ratio is the dimension."""
    A = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert np.allclose(ratios(A, A), (2.0, 1.0))


def test_which_one_is_inverted(ratios):
    """Twice the information for training halves the ratio."""
    assert np.allclose(ratios(2 * np.eye(3), np.eye(3)), (1.5, 0.5))


def test_not_commuting(ratios):
    """Matrices that do not commute: sigma is no quotient of eigenvalues."""
    Hq, Hp = np.array([[2.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 4.0]])
    fir, sigma = ratios(Hq, Hp)
    assert np.isclose(fir, 9.0)
    values = np.linalg.eigvalsh(sigma * Hq - Hp)
    assert abs(values.min()) < 1e-4


def test_singular_pool(ratios):
    """The pool may lack a direction."""
    assert np.allclose(ratios(np.eye(2), np.diag([3.0, 0.0])), (3.0, 3.0))


def test_any_coordinates(ratios):
    """An invertible map of the features changes neither number."""
    T = np.array([[1.0, 5.0], [0.0, 2.0]])
    Hq, Hp = np.diag([1.0, 3.0]), np.array([[2.0, 1.0], [1.0, 2.0]])
    assert np.allclose(ratios(T.T @ Hq @ T, T.T @ Hp @ T), ratios(Hq, Hp))
