"""Information of all classes as an operator: products without a matrix of order d~.

With one parameter vector per class, the information of weighted points and of the penalty is ::

    Sigma = sum_i w_i (diag(p_i) - p_i p_i^T) (x) x_i x_i^T + strength (I - 1 1^T / c) (x) I.

It is singular: adding one vector to the parameters of all classes changes no probability. Nothing
is lost, since H_p has the same null space: trace(Sigma^+ H_p) is the ratio of the model with a
reference class, whichever that is. Parameters are arrays (d, c, s) here, s vectors at once. A
product with Sigma costs 2 n c d s multiply-adds. The diagonal blocks B (c, d, d) are a very good
preconditioner: Sigma <= 2 B always (the chapter *Many classes* has the proof).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.blocks import pool_blocks
from firal.selection import coordinates
from firal.selection.block_diagonal import inverse_or_none, require_room
from firal.selection.block_rows import blocks, each_class
from firal.selection.inputs import checked_inputs

POINT_BYTES = 2**27  # working memory of one block of points


class ClassInformation(NamedTuple):
    """Weighted points with class probabilities, and a penalty.

    Attributes
    ----------
    X : np.ndarray of shape (n, d)
        Points.
    p : np.ndarray of shape (n, c)
        Class probabilities.
    weights : np.ndarray of shape (n,)
        Nonnegative.
    strength : float
        Factor of the symmetric penalty.
    """

    X: np.ndarray
    p: np.ndarray
    weights: np.ndarray
    strength: float

    def times(self, V: np.ndarray) -> np.ndarray:
        """Products with Sigma.

        Parameters
        ----------
        V : np.ndarray of shape (d, c, s)
            Vectors of parameters.

        Returns
        -------
        np.ndarray of shape (d, c, s)
            Sigma V.
        """
        d, c, s = V.shape
        out = self.strength * (V - V.mean(axis=1, keepdims=True))
        for rows in pool_blocks(len(self.X), 24 * c * s, POINT_BYTES):
            x, p = self.X[rows], self.p[rows, :, None]
            U = (x @ V.reshape(d, -1)).reshape(-1, c, s)
            U -= np.einsum("nk,nks->ns", self.p[rows], U)[:, None]
            U *= p * self.weights[rows, None, None]
            out += (x.T @ U.reshape(len(x), -1)).reshape(d, c, s)
        return out

    def diagonal_blocks(self, threads: int = 1) -> np.ndarray:
        """The blocks of Sigma.

        Parameters
        ----------
        threads : int
            Number of threads that share the classes.

        Returns
        -------
        np.ndarray of shape (c, d, d)
            B.
        """
        B = blocks(self.X, self.p * (1 - self.p) * self.weights[:, None], threads)
        diagonal = np.arange(self.X.shape[1])
        B[:, diagonal, diagonal] += self.strength * (1 - 1 / self.p.shape[1])
        return B


def inverses(B: np.ndarray, threads: int = 1) -> np.ndarray:
    """Inverse of every block.

    Parameters
    ----------
    B : np.ndarray of shape (c, d, d)
        Symmetric blocks; overwritten.
    threads : int
        Number of threads that share the classes.

    Returns
    -------
    np.ndarray of shape (c, d, d)
        The inverses, in place of B.

    Raises
    ------
    ValueError
        If a block is singular to rounding.
    """

    def of_class(k):
        inverse = inverse_or_none(B[k])
        if inverse is None:
            raise ValueError(
                f"chosen and labeled points must have information of full rank in every class, got "
                f"a singular block of class {k}: more points, or a ridge"
            )
        B[k] = inverse

    each_class(of_class, len(B), threads)
    return B


def pool_and_chosen(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    *,
    rows: ArrayLike | None,
    weights: ArrayLike | None,
    ridge: float,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None,
) -> tuple[ClassInformation, ClassInformation]:
    """Check the data, and bring them to the form of this module.

    Parameters
    ----------
    pool, labeled, theta, rows, weights, ridge, probabilities
        As in :func:`firal.estimate_fir`.

    Returns
    -------
    tuple of ClassInformation
        Mean information of the pool; Sigma of the chosen and the labeled points with the penalty.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, or not exactly one of rows and weights is given.
    """
    if (rows is None) == (weights is None):
        both = "neither" if rows is None else "both"
        raise ValueError(f"give either rows or weights of the chosen points, got {both}")
    m = len(checks.points(pool, "pool"))
    if weights is None:
        rows = checks.rows(rows, m, "rows")
        weights = np.bincount(rows, minlength=m).astype(np.float64)
    weights = checks.weights(weights, m)
    if not weights.any():
        raise ValueError("weights must not all be zero: no point is chosen")
    data = checked_inputs(pool, labeled, theta, 1, ridge=ridge, probabilities=probabilities)
    require_room(data.p.shape[1], data.pool.shape[1])
    X, X0, p, p0 = data.pool, data.labeled, data.p, data.p0
    if not data.ridge:  # any coordinates of the span will do, and classes that never occur do not
        map_, seen = coordinates.whitened(X, X0), p.any(axis=0)
        X, X0, p, p0 = X @ map_, X0 @ map_, p[:, seen], p0[:, seen]
    held = np.flatnonzero(weights)
    chosen = ClassInformation(
        np.vstack([X[held], X0]),
        np.vstack([p[held], p0]),
        np.concatenate([weights[held], np.ones(len(X0))]),
        (len(X0) + weights.sum()) * data.ridge,
    )
    return ClassInformation(X, p, np.full(m, 1 / m), 0.0), chosen
