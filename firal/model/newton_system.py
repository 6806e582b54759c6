"""The linear system of one Newton step: conjugate gradients, or a Cholesky factorization.

The system is ``(mean_i H(x_i) + ridge I) step = -slope`` with d~ = d(c-1) unknowns. Conjugate
gradients need products with the Hessian only, which cost ``2 n d~`` multiply-adds each. A
factorization needs the matrix itself, ``n d~^2 / 4`` multiply-adds, and is quicker when d~ is small
or when conjugate gradients are slow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from firal.model.hessians import weighted_information

SMALL_SYSTEM = 32  # up to this d~ the system is always factored
MEDIUM_SYSTEM = 2000  # up to this d~ it is factored when conjugate gradients are slow
MAX_CG = 100


def row_space(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the singular values of X and an orthonormal basis of its row space.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.

    Returns
    -------
    scales : ndarray of shape (r,)
        The positive singular values, largest first; r is the rank of X, at least 1.
    basis : ndarray of shape (r, d)
        The right singular vectors, one per row.

    Notes
    -----
    The rank is counted after scaling every column to length 1: a small column is not a dependent
    one.

    Examples
    --------
    >>> import numpy as np
    >>> scales, basis = row_space(np.array([[3.0, 0.0], [4.0, 0.0]]))
    >>> scales, np.abs(basis)
    (array([5.]), array([[1., 0.]]))
    """
    R = linalg.qr(X, mode="r", check_finite=False)[0][: X.shape[1]]
    lengths = np.linalg.norm(R, axis=0)
    lengths[lengths == 0] = 1.0
    relative = linalg.svdvals(R / lengths)
    rank = int((relative > max(X.shape) * np.finfo(np.float64).eps * relative[0]).sum())
    rank = max(rank, 1)  # X = 0: keep one (zero) direction, theta = 0 is a minimizer
    _, s, basis = linalg.svd(R, full_matrices=False)
    return s[:rank], basis[:rank]


@dataclass(frozen=True)
class NewtonSystem:
    """The Newton system of one data set, to be solved for many gradients.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Points.
    ridge : float
        Multiple of the identity that is added to the mean Hessian.
    scales : ndarray of shape (d,)
        Singular values of X.
    basis : ndarray of shape (d, d) or None
        Right singular vectors of X, one per row; None if they are the unit vectors.
    penalty : ndarray of shape (c-1, c-1) or None
        Class part A of the penalty ``ridge/2 trace(theta^T A theta)``; None if it is I.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [-2.0]])
    >>> system = NewtonSystem(X, 0.0, *row_space(X))
    >>> system.solve(np.full((1, 2), 0.5), slope=np.eye(1), tolerance=0.1)
    array([[-1.6]])
    """

    X: np.ndarray
    ridge: float
    scales: np.ndarray
    basis: np.ndarray | None
    penalty: np.ndarray | None = None

    def penalize(self, D: np.ndarray) -> np.ndarray:
        """Half the gradient of ``trace(D^T penalty D)``.

        Parameters
        ----------
        D : ndarray of shape (c-1, d)
            Parameters.

        Returns
        -------
        ndarray of shape (c-1, d)
            ``penalty @ D``.
        """
        return D if self.penalty is None else self.penalty @ D

    def solve(self, h: np.ndarray, slope: np.ndarray, tolerance: float) -> np.ndarray:
        """Solve ``(mean_i H(x_i) + ridge A (x) I) step = -slope``.

        Parameters
        ----------
        h : ndarray of shape (c-1, n)
            Probabilities of all classes but the last.
        slope : ndarray of shape (c-1, d)
            Gradient.
        tolerance : float
            Relative residual at which conjugate gradients stop. A factorization ignores it.

        Returns
        -------
        ndarray of shape (c-1, d)
            The step; a descent direction even if the Hessian is singular to rounding.
        """
        if slope.size > SMALL_SYSTEM:
            step, solved = self._conjugate_gradients(h, slope, tolerance)
            if solved or slope.size > MEDIUM_SYSTEM:
                return step
        n = self.X.shape[0]
        H = weighted_information(self.X, h.T, np.full(n, 1 / n))
        if self.penalty is None:
            H[np.diag_indices_from(H)] += self.ridge
        else:
            H += np.kron(self.ridge * self.penalty, np.eye(self.X.shape[1]))
        try:
            factor = linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:  # singular to rounding: conjugate gradients descend all the same
            return self._conjugate_gradients(h, slope, tolerance)[0]
        return -linalg.cho_solve(factor, slope.ravel(), check_finite=False).reshape(slope.shape)

    def _conjugate_gradients(self, h, slope, tolerance):
        """The step after at most ``MAX_CG`` iterations, and whether it reached the tolerance.

        One iteration costs ``2 n d~`` multiply-adds. The residual is measured in the norm of the
        preconditioner.
        """
        precondition = self._preconditioner(h)
        step = np.zeros_like(slope)
        residual = -slope
        direction = z = precondition(residual)
        energy = start = np.sum(residual * z)
        for _ in range(MAX_CG):
            # 1. Curvature along the direction; rounding may leave none.
            image = self._product(h, direction)
            bend = np.sum(direction * image)
            if bend <= 0:
                return (step if step.any() else z), False

            # 2. Minimize along the direction.
            length = energy / bend
            step = step + length * direction
            residual = residual - length * image

            # 3. Stop at the tolerance.
            z = precondition(residual)
            previous, energy = energy, np.sum(residual * z)
            if energy <= tolerance**2 * start:
                return step, True

            # 4. The next direction is conjugate to all before.
            direction = z + (energy / previous) * direction
        return step, False

    def _product(self, h, D):
        """``(mean_i H(x_i) + ridge A (x) I) D`` for D of shape (c-1, d)."""
        Z = h * (D @ self.X.T)
        Z -= h * Z.sum(axis=0)
        return Z @ self.X / self.X.shape[0] + self.ridge * self.penalize(D)

    def _preconditioner(self, h):
        """Inverse of ``(mean curvature) (x) (X^T X / n) + ridge A (x) I``, in its eigenbasis.

        At theta = 0 this is the inverse Hessian itself.
        """
        n, basis = self.X.shape[0], self.basis
        A = np.diag(h.mean(axis=1)) - h @ h.T / n
        a, U = linalg.eigh(A, self.penalty)  # U^T penalty U = I
        spectrum = np.maximum(a, 1e-12 * a[-1])[:, None] * (self.scales**2 / n) + self.ridge

        def precondition(R):
            if basis is None:
                return U @ ((U.T @ R) / spectrum)
            return U @ ((U.T @ R @ basis.T) / spectrum) @ basis

        return precondition
