"""What FTRL, adaptive rounding and swapping share: the geometry of Sigma(z), points picked so far.

Given weights z with sum b, let Sigma = Sigma(z) = C C^T and D = (1/b) sum_labeled H. Every point
is measured in the geometry of Sigma: H~_i = C^{-1} (H(x_i) + D) C^{-T}, so sum_i z_i H~_i = I. The
paper has Sigma^{-1/2} in place of C^{-1}, which only rotates the coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from firal.common.linalg import (
    invert_in_place,
    product_and_gram,
)
from firal.common.threads import matrix_threads
from firal.engine import memory
from firal.selection.bait import greedy_picks
from firal.selection.picked import PickedPoints
from firal.selection.problem import Problem
from firal.selection.scoring import PoolScorer


class Rounding(NamedTuple):
    """What all runs on one z share, whatever their learning rate.

    Attributes
    ----------
    problem : Problem
        The prepared data.
    Sigma : np.ndarray of shape (d~, d~)
        Information of the weights z and of the labeled points.
    factor : np.ndarray of shape (d~, d~)
        Lower triangular C with Sigma = C C^T.
    labeled_per_pick : np.ndarray of shape (d~, d~)
        D: labeled information divided by the budget.
    white_labeled_per_pick : np.ndarray of shape (d~, d~)
        C^{-1} D C^{-T}.
    scorer : PoolScorer
        Scores the pool.
    spectra : dict
        Eigenvalues of the sum of H~ over a set of picked points, by a digest of the set.
    """

    problem: Problem
    Sigma: np.ndarray
    factor: np.ndarray
    labeled_per_pick: np.ndarray
    white_labeled_per_pick: np.ndarray
    scorer: PoolScorer
    spectra: dict

    def picked(self) -> PickedPoints:
        """No points yet.

        Returns
        -------
        PickedPoints
            To which points are added.
        """
        return PickedPoints(self)

    def score_matrices(self, K: np.ndarray, *room: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute ``W1 = K^{-1}`` and ``W2 = K^{-1} Sigma K^{-1}``.

        Parameters
        ----------
        K : np.ndarray of shape (d~, d~)
            Positive definite. Overwritten.
        *room : np.ndarray of shape (d~, d~)
            None or two, in Fortran order. Overwritten.

        Returns
        -------
        tuple of np.ndarray
            W1 and W2. Cost: about 3/2 d~^3 multiply-adds.
        """
        threads = matrix_threads(len(K), self.problem.threads)
        W1 = invert_in_place(K, "Sigma(z)", threads)
        return W1, product_and_gram(W1, self.factor, threads, room)

    def greedy_picks(
        self,
        watch: Callable[[int, np.ndarray], None] | None = None,
        report: Callable[[int, int], None] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Picks of greedy steps on the objective itself.

        Parameters
        ----------
        watch, report : callable, optional
            As in ``firal.selection.bait.greedy_picks``.

        Returns
        -------
        tuple of np.ndarray
            The first b points added, and b points left of 2b.
        """
        return greedy_picks(
            self.problem, self.problem.labeled_information, watch, self.scorer, report
        )

    def quality(self, rows: np.ndarray) -> tuple[float, float]:
        """The certificate ``lambda_min`` and the objective of a set of points.

        Parameters
        ----------
        rows : np.ndarray of int
            Distinct rows.

        Returns
        -------
        tuple of float
            Both.
        """
        picked = self.picked()
        for row in rows:
            picked.add(row)
        return picked.lambda_min(), picked.objective()

    def of_first(self, count: int) -> Rounding:
        """The same where only some points may be picked.

        Parameters
        ----------
        count : int
            How many: the first ones.

        Returns
        -------
        Rounding
            With the same Sigma(z), and with a scorer of its own.
        """
        problem = self.problem.restricted(np.arange(count))
        return self._replace(problem=problem, scorer=PoolScorer(problem))

    def alone(self) -> Rounding:
        """The same for one thread.

        Returns
        -------
        Rounding
            With its own scorer.
        """
        problem = self.problem._replace(threads=1)
        return self._replace(problem=problem, scorer=PoolScorer(problem))


def prepare_rounding(problem: Problem, z: np.ndarray) -> Rounding:
    """Compute Sigma(z), its factor, and the labeled information in its geometry.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    z : np.ndarray of shape (m,)
        Nonnegative weights with the budget as their sum.

    Returns
    -------
    Rounding
        What every run needs.

    Raises
    ------
    ValueError
        If Sigma(z) is singular.
    """
    Sigma = memory.information(problem.X, problem.h, z, problem.threads)
    Sigma = Sigma + problem.labeled_information
    factor, failed = lapack.dpotrf(Sigma.T, lower=1, clean=1)
    if failed:
        raise ValueError(
            "z must give information of full rank, got a singular Sigma(z): "
            f"{np.count_nonzero(z)} points have weight"
        )
    D = problem.labeled_information / problem.budget
    half = blas.dtrsm(1.0, factor, D, lower=1)
    white = blas.dtrsm(1.0, factor, half, lower=1, side=1, trans_a=1)
    return Rounding(problem, Sigma, factor, D, (white + white.T) / 2, PoolScorer(problem), {})


def barrier_below(spectrum: np.ndarray, level: float) -> float:
    """Find the barrier l below a spectrum with ``sum_j 1 / (spectrum_j - l) = level``.

    Parameters
    ----------
    spectrum : np.ndarray of shape (d~,)
        Eigenvalues, ascending.
    level : float
        Positive.

    Returns
    -------
    float
        The barrier, at least 1 / ``level`` below the smallest eigenvalue.

    Notes
    -----
    In u = spectrum_0 - l the equation is phi(u) = 1 / sum_j 1/(u + gap_j) = 1 / level. phi is
    concave and increasing, and phi(1/level) <= 1/level: Newton's method climbs to the root.
    """
    gaps = spectrum - spectrum[0]
    u = 1 / level
    for _ in range(100):
        inverse = 1 / (u + gaps)
        total = np.sum(inverse)
        move = (total / level - 1) * total / np.sum(inverse**2)
        u += move
        if move <= 4e-16 * u:
            break
    return spectrum[0] - u
