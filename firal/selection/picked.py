"""The points picked so far: their information, its spectrum, their objective."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas

from firal.common.blocks import pool_blocks
from firal.common.linalg import is_singular, trace_of_ratio
from firal.common.nogil import eigenvalues, in_threads
from firal.common.threads import matrix_threads
from firal.model.hessians import curvature, curvature_root, information_root

CACHED = 2**19  # bytes of the rows of a large matrix that are worked on together


class PickedPoints:
    """The points picked so far and the sum of their information.

    Parameters
    ----------
    rounding : Rounding
        What all runs on one z share.
    """

    def __init__(self, rounding: Any):
        size = rounding.problem.size
        self.rounding, self.rows = rounding, []
        self.information = np.zeros((size, size))  # sum_l (H(x_{i_l}) + D)
        self.white = np.zeros((size, size))  # sum_l H~_{i_l}

    def add(self, i: int) -> None:
        """Take a point in.

        Parameters
        ----------
        i : int
            Its row.
        """
        rounding, problem = self.rounding, self.rounding.problem
        x, h = problem.X[i], problem.h[i]
        self.rows.append(i)
        curved = curvature(h[None])[0]
        k, d = len(curved), len(x)
        left = np.multiply.outer(curved, x).reshape(k, k * d)  # a row of H is one of these times x
        half = blas.dtrsm(1.0, rounding.factor, self.root(i), lower=1)

        def add_to(rows):
            self.information[rows] += rounding.labeled_per_pick[rows]
            number = np.arange(rows.start, rows.stop)
            self.information[rows] += left[number // d] * x[number % d, None]
            self.white[rows] += rounding.white_labeled_per_pick[rows]
            self.white[rows] += half[rows] @ half.T

        threads = matrix_threads(problem.size, problem.threads)
        in_threads(add_to, list(cached_rows(problem.size)), threads)

    def root(self, i: int) -> np.ndarray:
        """Thin factor of the information of a point.

        Parameters
        ----------
        i : int
            Its row.

        Returns
        -------
        np.ndarray of shape (d~, k)
            U with U U^T = H(x_i).
        """
        problem = self.rounding.problem
        return information_root(problem.X[i], problem.h[i], problem.reference[i])

    def times_root(self, W: np.ndarray, i: int) -> np.ndarray:
        """Multiply a matrix by the thin factor of a point.

        Parameters
        ----------
        W : np.ndarray of shape (d~, d~)
            Symmetric.
        i : int
            Row of the point.

        Returns
        -------
        np.ndarray of shape (d~, k)
            ``W @ root(i)``. Cost: d~^2, since the factor is a Kronecker product.
        """
        problem = self.rounding.problem
        x = problem.X[i]
        W = W if W.flags.c_contiguous else W.T
        return (
            W.reshape(len(W), -1, len(x)) @ x @ curvature_root(problem.h[i], problem.reference[i])
        )

    def spectrum(self) -> np.ndarray:
        """Eigenvalues of the sum of H~.

        Returns
        -------
        np.ndarray of shape (d~,)
            Ascending.
        """
        if not self.rows:  # also the last two axes of blocks
            return np.zeros(self.white[..., 0].size)
        return spectrum_of(self.rounding, self.rows, self.white)

    def spectrum_is_known(self) -> bool:
        """Whether another run has asked for the eigenvalues of the same points.

        Returns
        -------
        bool
            True if they cost nothing.
        """
        return not self.rows or _digest(self.rows) in self.rounding.spectra

    def lambda_min(self) -> float:
        """Smallest eigenvalue of the picked information against Sigma(z).

        Returns
        -------
        float
            At least 0.
        """
        return float(max(self.spectrum()[0], 0.0))

    def objective(self) -> float:
        """Objective of the picked points: ``trace(information^{-1} H_p)``.

        Returns
        -------
        float
            The objective; inf if the picked information is singular to rounding.
        """
        if is_singular(self.spectrum()):
            return np.inf
        return self.ratio()

    def ratio(self) -> float:
        """The objective of regular information.

        Returns
        -------
        float
            ``trace(information^{-1} H_p)``.
        """
        return trace_of_ratio(self.information, self.rounding.problem.target())


def cached_rows(size: int) -> Iterator[slice]:
    """Rows of a large matrix, so few at a time that work on them stays in cache.

    Parameters
    ----------
    size : int
        Order of the matrix.

    Returns
    -------
    iterator of slice
        Together they are all rows.
    """
    return pool_blocks(size, 8 * size, CACHED)


def spectrum_of(rounding: Any, rows: ArrayLike, white: np.ndarray | None = None) -> np.ndarray:
    """Eigenvalues of the sum of H~ over a set of picked points.

    They depend on the set only, so runs with another learning rate find them in
    ``rounding.spectra``.

    Parameters
    ----------
    rounding : Rounding
        What all runs on one z share.
    rows : array_like of shape (n,)
        The picked rows, in any order; at least one.
    white : np.ndarray of shape (d~, d~) or (c, d, d), optional
        The sum of H~. Not needed if the eigenvalues of this set are known.

    Returns
    -------
    np.ndarray of shape (d~,)
        Ascending.
    """
    key = _digest(rows)
    if key not in rounding.spectra:
        if white.ndim == 3:  # of blocks: all their eigenvalues together
            rounding.spectra[key] = np.sort(np.linalg.eigvalsh(white), axis=None)
        else:
            rounding.spectra[key] = eigenvalues(white.T.copy(order="F"))
    return rounding.spectra[key]


def _digest(rows):
    return blake2b(np.sort(rows).tobytes(), digest_size=16).digest()
