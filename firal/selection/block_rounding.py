"""Rounding on blocks: what FTRL, the adaptive rule and greedy steps ask of block-diagonal data.

The rules are those of :mod:`firal.selection.ftrl` and :mod:`firal.selection.adaptive`, in the one
loop of :mod:`firal.selection.greedy`. They meet the information through four things: Sigma and the
labeled part of a pick, the spectrum of what was picked, the two matrices of a step, and the scores
of the pool. All of them work on an array (c, d, d) of blocks as on one matrix. A point has rank one
in every block, so its score needs no small system: ::

    s_i = sum_k g_ik q2_ik / (1 + g_ik q1_ik),    q1_ik = x_i^T W1_k x_i,  q2_ik = x_i^T W2_k x_i.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property

import numpy as np

from firal.common import nogil
from firal.common.linalg import factor_of, trace_of_ratio
from firal.selection.block_diagonal import BlockProblem, inverse_or_none
from firal.selection.block_greedy import block_greedy
from firal.selection.block_rows import blocks, each_class, quadratic
from firal.selection.picked import PickedPoints
from firal.selection.problem import Problem
from firal.selection.rounding import Rounding, prepare_rounding
from firal.selection.scoring import TIE


class BlockScorer:
    """Scores all points of a block-diagonal problem.

    Parameters
    ----------
    problem : BlockProblem
        The prepared data.
    """

    def __init__(self, problem: BlockProblem):
        self.problem = problem

    def all(self, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
        """Scores of all points.

        Parameters
        ----------
        W1, W2 : np.ndarray of shape (c, d, d)
            Symmetric blocks.

        Returns
        -------
        np.ndarray of shape (m,)
            The scores. Cost: 2 m c d^2 multiply-adds.
        """
        X, g, threads = self.problem.X, self.problem.g, self.problem.threads
        q1, q2 = quadratic(X, W1, threads), quadratic(X, W2, threads)
        return np.einsum("ik,ik->i", g, q2 / (1 + g * q1))

    def best(
        self, W1: np.ndarray, W2: np.ndarray, allowed: np.ndarray, ratio: float = np.inf
    ) -> tuple[int, float]:
        """Find the allowed point with the largest score.

        Parameters
        ----------
        W1, W2 : np.ndarray of shape (c, d, d)
            Symmetric blocks.
        allowed : np.ndarray of shape (m,)
            True where a point may be picked.
        ratio : float
            Not used: all scores are cheap.

        Returns
        -------
        tuple of int and float
            Its row, the lowest of equals, and its score.
        """
        scores = np.where(allowed, self.all(W1, W2), -np.inf)
        i = int(np.flatnonzero(scores >= scores.max() * (1 - TIE))[0])
        return i, float(scores[i])


class BlockRounding:
    """What all runs on one z share; the names are those of ``Rounding``.

    Parameters
    ----------
    problem : BlockProblem
        The prepared data.
    z : np.ndarray of shape (m,)
        Nonnegative weights with the budget as their sum.
    """

    def __init__(self, problem: BlockProblem, z: np.ndarray):
        self.problem, self.z = problem, z
        self.scorer, self.spectra = BlockScorer(problem), {}

    @cached_property
    def Sigma(self) -> np.ndarray:
        """Blocks (c, d, d) of the weights z and of the labeled points."""
        return np.asarray(self.problem.total_information(self.z))

    @cached_property
    def factor(self) -> np.ndarray:
        """C_k (c, d, d), lower triangular, with Sigma_k = C_k C_k^T."""
        try:
            return np.linalg.cholesky(self.Sigma)
        except np.linalg.LinAlgError:
            raise ValueError(
                "z must give information of full rank, got a singular Sigma(z): "
                f"{np.count_nonzero(self.z)} points have weight"
            ) from None

    @cached_property
    def labeled_per_pick(self) -> np.ndarray:
        """D: labeled information divided by the budget."""
        return np.asarray(self.problem.labeled_information) / self.problem.budget

    @cached_property
    def white_labeled_per_pick(self) -> np.ndarray:
        """C^{-1} D C^{-T}, block by block."""
        half = np.linalg.solve(self.factor, self.labeled_per_pick)
        return np.linalg.solve(self.factor, np.swapaxes(half, 1, 2))

    def picked(self) -> PickedBlocks:
        """No points yet.

        Returns
        -------
        PickedBlocks
            To which points are added.
        """
        return PickedBlocks(self)

    def score_matrices(self, K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute ``W1 = K^{-1}`` and ``W2 = K^{-1} Sigma K^{-1}``.

        Parameters
        ----------
        K : np.ndarray of shape (c, d, d)
            Positive definite blocks.

        Returns
        -------
        tuple of np.ndarray
            W1 and W2. Cost: about 3 c d^3 multiply-adds.
        """
        W1, W2 = np.empty_like(K), np.empty_like(K)

        def of_class(k):
            inverse = inverse_or_none(K[k])
            if inverse is None:
                raise ValueError("Sigma(z) must be positive definite to rounding, got less")
            W1[k] = inverse
            np.matmul(inverse @ self.Sigma[k], inverse, out=W2[k])

        each_class(of_class, len(K), self.problem.threads)
        return W1, W2

    def greedy_picks(
        self,
        watch: Callable[[int, np.ndarray], None] | None = None,
        report: Callable[[int, int], None] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Picks of greedy steps.

        Parameters
        ----------
        watch, report : callable, optional
            As in ``block_greedy``.

        Returns
        -------
        tuple of np.ndarray
            As from ``block_greedy``.
        """
        return block_greedy(self.problem, None, watch, report)

    def quality(self, rows: np.ndarray) -> tuple[float, float]:
        """The certificate ``lambda_min`` and the objective of a set of points.

        Parameters
        ----------
        rows : np.ndarray of int
            Distinct rows.

        Returns
        -------
        tuple of float
            Nothing of size c d^2 is kept. Cost: about 3 c d^3 multiply-adds.
        """
        problem, held = self.problem, self.z > 0
        X, weights = problem.X[held], problem.g[held] * self.z[held, None]
        picked, g = problem.X[rows], problem.g[rows]
        f, smallest = np.empty(g.shape[1]), np.empty(g.shape[1])

        def of_class(k):
            known, own = problem.labeled_information[k], slice(k, k + 1)
            S = known + blocks(picked, g[:, own])[0]
            C = (known + blocks(X, weights[:, own])[0]).T.copy(order="F")
            nogil.cholesky(C)
            half = S.T.copy(order="F")
            nogil.solve_triangular(C, half)
            half = half.T.copy(order="F")
            nogil.solve_triangular(C, half)
            smallest[k] = nogil.eigenvalues(half)[0]
            inverse = inverse_or_none(S)
            H = problem.mean_information[k]
            f[k] = np.inf if inverse is None else np.vdot(inverse, H)

        each_class(of_class, len(f), problem.threads)
        return float(max(smallest.min(), 0.0)), float(f.sum())

    def of_first(self, count: int) -> BlockRounding:
        """Greedy steps where only some points may be picked.

        Parameters
        ----------
        count : int
            How many: the first ones.

        Returns
        -------
        BlockRounding
            For ``greedy_picks`` alone: its Sigma(z) lacks the weights of the other points.
        """
        return BlockRounding(self.problem.restricted(np.arange(count)), self.z[:count])

    def alone(self) -> BlockRounding:
        """The same for one thread.

        Returns
        -------
        BlockRounding
            With its own scorer; spectra are shared.
        """
        other = copy(self)
        other.problem = self.problem._replace(threads=1)
        other.scorer = BlockScorer(other.problem)
        return other


class PickedBlocks(PickedPoints):
    """The points picked so far and the sum of their blocks.

    Parameters
    ----------
    rounding : BlockRounding
        What all runs on one z share.
    """

    def __init__(self, rounding: BlockRounding):
        self.rounding, self.rows = rounding, []
        self.information = np.zeros_like(rounding.Sigma)  # sum_l (H(x_{i_l}) + D)
        self.white = np.zeros_like(rounding.Sigma)  # sum_l H~_{i_l}

    def add(self, i: int) -> None:
        """Take a point in.

        Parameters
        ----------
        i : int
            Its row.
        """
        rounding = self.rounding
        x, g = rounding.problem.X[i], rounding.problem.g[i][:, None, None]
        self.rows.append(i)
        self.information += rounding.labeled_per_pick
        self.information += g * np.outer(x, x)
        half = np.linalg.solve(rounding.factor, np.broadcast_to(x[:, None], (len(g), len(x), 1)))
        self.white += rounding.white_labeled_per_pick
        self.white += g * half * np.swapaxes(half, 1, 2)

    def ratio(self) -> float:
        """The objective of regular information.

        Returns
        -------
        float
            ``sum_k trace(information_k^{-1} H_pk)``.
        """
        pairs = zip(self.information, self.rounding.problem.mean_information, strict=True)
        return float(sum(trace_of_ratio(S, factor_of(H)) for S, H in pairs))


def any_rounding(problem: Problem | BlockProblem, z: np.ndarray) -> Rounding | BlockRounding:
    """Prepare the rounding of a problem of either structure.

    Parameters
    ----------
    problem : Problem or BlockProblem
        The prepared data.
    z : np.ndarray of shape (m,)
        Nonnegative weights with the budget as their sum.

    Returns
    -------
    Rounding or BlockRounding
        What every run needs.

    Raises
    ------
    ValueError
        If Sigma(z) is singular.
    """
    if isinstance(problem, BlockProblem):
        return BlockRounding(problem, z)
    return prepare_rounding(problem, z)
