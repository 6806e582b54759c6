"""The design with block-diagonal information: many classes at the price of few.

With one parameter vector per class (no reference class) the information of a point is
(diag(p) - p p^T) (x) x x^T. Its diagonal blocks are g_k x x^T with g_k = p_k (1 - p_k), one of size
d x d per class, and so all information is kept as an array (c, d, d) instead of a matrix of order
d (c-1). The blocks of the symmetric penalty are n ridge (1 - 1/c) I. The problem is ::

    f(S) = sum_k trace[(L_k + sum_{i in S} g_ik x_i x_i^T + n ridge (1 - 1/c) I)^{-1} H_pk].

It has the form of the full problem, sums of positive semidefinite matrices, so the relaxation, its
certificate and every rounding work on it as they stand: a block-diagonal matrix is a matrix. The
chapter *Many classes* has the bounds between the two objectives. The authors of FIRAL use the same
blocks in the rounding of their follow-up (Approx-FIRAL, 2024).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import nogil
from firal.common.linalg import from_lower, reciprocal_condition
from firal.common.threads import allowed_threads, one_thread
from firal.selection import coordinates
from firal.selection.block_rows import GroupedRows, blocks, contracted, each_class, grouped
from firal.selection.inputs import Inputs, checked_inputs
from firal.selection.summed_blocks import SummedBlocks

MOST_BYTES = 8 * 2**30  # of the blocks; more is refused


class BlockProblem(NamedTuple):
    """The prepared data of one selection with block-diagonal information.

    Attributes
    ----------
    X : np.ndarray or GroupedRows of shape (m, d)
        Pool.
    g : np.ndarray of shape (m, c)
        p (1 - p) of every point and class.
    labeled_information : np.ndarray or SummedBlocks of shape (c, d, d)
        Blocks of the labeled points and of the penalty.
    mean_information : np.ndarray of shape (c, d, d)
        Blocks of H_p.
    budget : int
        Number of points to pick.
    threads : int
        Number of threads that share the classes.
    report : callable or None
        Called as ``report("pass", done, total)`` during large passes over the points.
    """

    X: np.ndarray | GroupedRows
    g: np.ndarray
    labeled_information: np.ndarray | SummedBlocks
    mean_information: np.ndarray
    budget: int
    threads: int = 1
    report: Callable[[str, int, int], None] | None = None

    @property
    def n_points(self) -> int:
        """Number of points m of the pool."""
        return len(self.X)

    @property
    def copies(self) -> int:
        """How often the problem stands in the full one: once."""
        return 1

    @property
    def size(self) -> int:
        """Order of the blocks."""
        return self.mean_information.shape[1]

    @property
    def parameters(self) -> int:
        """Number of parameters c d."""
        return self.mean_information.shape[0] * self.mean_information.shape[1]

    def restricted(self, rows: np.ndarray) -> BlockProblem:
        """The same problem with fewer candidates; H_p stays that of the pool.

        Parameters
        ----------
        rows : np.ndarray of int
            Rows of the pool.

        Returns
        -------
        BlockProblem
            Of these rows.
        """
        return self._replace(X=self.X[rows], g=self.g[rows])

    def total_information(self, z: np.ndarray) -> np.ndarray | SummedBlocks:
        """Sigma(z): labeled points, penalty, and the pool with weights z.

        Parameters
        ----------
        z : np.ndarray of shape (m,)
            Weights.

        Returns
        -------
        np.ndarray or SummedBlocks of shape (c, d, d)
            Blocks, stored if they are small. Cost: c d^2 / 2 multiply-adds per point with weight.
        """
        held = z > 0
        weights = self.g[held] * z[held, None]
        total = SummedBlocks(self.X[held], weights, base=self.labeled_information)
        return total.stored_if_small(self.threads)

    def evaluator(self) -> Callable[[np.ndarray], tuple[float, np.ndarray | None]]:
        """Function from Sigma to f and M = Sigma^{-1} H_p Sigma^{-1}.

        Returns
        -------
        callable
            Returns (inf, None) if a block is singular. Cost of a call: about 3 c d^3 multiply-adds.
        """

        def evaluate(Sigma):
            f, M = np.empty(len(Sigma)), np.empty(Sigma.shape)

            def of_class(k):
                inverse = inverse_or_none(Sigma[k])
                if inverse is None:
                    f[k] = np.inf
                    return
                half = inverse @ self.mean_information[k]
                f[k] = np.trace(half)
                np.matmul(half, inverse, out=M[k])

            each_class(of_class, len(Sigma), self.threads)
            total = float(f.sum())
            return (total, M) if np.isfinite(total) else (np.inf, None)

        return evaluate

    def contract(self, M: np.ndarray) -> np.ndarray:
        """<H(x_i), M> of every point.

        Parameters
        ----------
        M : np.ndarray of shape (c, d, d)
            Blocks.

        Returns
        -------
        np.ndarray of shape (m,)
            Cost: m c d^2 multiply-adds.

        Notes
        -----
        In float64: these numbers make the certificate, which must hold for every point.
        """
        step = None if self.report is None else partial(self.report, "pass")
        return contracted(self.X, self.g, M, self.threads, step)


def inverse_or_none(S: np.ndarray) -> np.ndarray | None:
    """Inverse of one block.

    Parameters
    ----------
    S : np.ndarray of shape (d, d)
        Symmetric.

    Returns
    -------
    np.ndarray of shape (d, d), or None
        None if S is not positive definite to rounding. Cost: d^3 multiply-adds.
    """
    C, diagonal = S.T.copy(order="F"), S.diagonal()
    if not nogil.cholesky(C):
        return None
    if np.min(C.diagonal() ** 2 / diagonal) <= len(S) * np.finfo(float).eps:
        return None
    nogil.inverse_of_factored(C)
    return from_lower(C)


def prepare_blocks(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    *,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    if_too_large: str | None = "blocks are for distinct points",
) -> BlockProblem:
    """Check the data of a selection, and compute its blocks.

    Parameters
    ----------
    pool, labeled, theta, budget, ridge, probabilities, if_too_large
        As in :func:`firal.selection.problem.prepare_problem`.

    Returns
    -------
    BlockProblem
        The prepared data.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the budget is too large, the blocks would take
        too much memory, or a block is singular for lack of points and of a ridge.
    """
    data = checked_inputs(
        pool,
        labeled,
        theta,
        budget,
        ridge=ridge,
        probabilities=probabilities,
        if_too_large=if_too_large,
    )
    return blocks_of(data)


def blocks_of(data: Inputs, report: Callable[[str, int, int], None] | None = None) -> BlockProblem:
    """Compute the blocks of checked data.

    Parameters
    ----------
    data : Inputs
        The checked data.
    report : callable, optional
        Called as ``report("information", done, total)``, and by large passes.

    Returns
    -------
    BlockProblem
        As in ``prepare_blocks``.

    Notes
    -----
    Without a ridge nothing changes with an invertible linear map of the features, so they are
    replaced by coordinates on their span, and classes of probability zero are left out. Cost:
    m c d^2 / 2 multiply-adds; memory m (d + c) + 3 c d^2.
    """
    pool, labeled, p, p0, budget, ridge = data
    d, c, threads, strength = pool.shape[1], p.shape[1], allowed_threads(), data.strength
    require_room(c, d)
    g, g0 = p * (1 - p), p0 * (1 - p0)
    del p, p0, data
    if not g.any():
        raise ValueError(
            "pool must carry information, got none: all its points have probabilities of 0 and 1"
        )
    with one_thread():
        if ridge:
            coordinates.require_strong_ridge(pool, strength)
            X = grouped(pool)
        else:
            map_ = coordinates.whitened(pool, labeled)
            X, labeled = pool @ map_, labeled @ map_
            seen = g.any(axis=0)
            g, g0 = np.ascontiguousarray(g[:, seen]), g0[:, seen]
        known = SummedBlocks(labeled, g0, strength * (1 - 1 / c)).stored_if_small()
        step = None if report is None else partial(report, "information")
        mean = blocks(X, g, threads, step)
        mean /= len(pool)
        if not ridge:
            _require_definite(mean, known, budget)
    return BlockProblem(X, g, known, mean, budget, threads, report)


def require_room(c: int, d: int) -> None:
    """Raise if the blocks would take too much memory.

    Parameters
    ----------
    c, d : int
        Number of classes and of features.

    Raises
    ------
    ValueError
        If four arrays of blocks take more than ``MOST_BYTES``.
    """
    needed = 4 * 8 * c * d * d
    if needed > MOST_BYTES:
        raise ValueError(
            f"{c} blocks of {d} x {d} must fit in {MOST_BYTES / 2**30:.0f} GiB, got "
            f"{needed / 2**30:.0f} GiB: reduce the features"
        )


def _require_definite(mean, known, budget):
    worst = min(reciprocal_condition(a + b / budget) for a, b in zip(mean, known, strict=True))
    if not worst > mean.shape[1] * np.finfo(float).eps:
        raise ValueError(
            "pool and labeled must have information of full rank in every class, got a reciprocal "
            f"condition number of {worst:.2g}: too few points, or probabilities that are 0 or 1 to "
            "rounding (use a ridge)"
        )
