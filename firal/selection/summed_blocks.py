"""Blocks that are computed when they are asked for, one class at a time.

A thousand blocks of 383 x 383 take 1.2 GB, and a selection has many such sets: the labeled points,
Sigma at some weights, the picked points. All of them are sums over a few thousand points, which
take a few milliseconds per class. So only what needs the whole pool is stored, H_p, and these sums
are made anew for each class where they are used. Small sets are stored: that is quicker.
"""

from __future__ import annotations

import numpy as np

from firal.selection.block_rows import GroupedRows, blocks

STORED_BYTES = 2**27  # a set of blocks up to this size is stored


class SummedBlocks:
    """Sums ``base_k + penalty I + sum_i weights_ik x_i x_i^T``, of which none is stored.

    Parameters
    ----------
    X : np.ndarray or GroupedRows of shape (n, d)
        Points; may be empty.
    weights : np.ndarray of shape (n, c)
        Nonnegative weights.
    penalty : float, default 0.0
        Multiple of the identity in every block.
    base : np.ndarray or SummedBlocks of shape (c, d, d), optional
        Blocks that are added.
    """

    def __init__(
        self,
        X: np.ndarray | GroupedRows,
        weights: np.ndarray,
        penalty: float = 0.0,
        base: np.ndarray | SummedBlocks | None = None,
    ):
        self.X, self.weights, self.penalty, self.base = X, weights, penalty, base

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the blocks, if they were stored."""
        return self.weights.shape[1], self.X.shape[1], self.X.shape[1]

    def __len__(self) -> int:
        return self.weights.shape[1]

    def __getitem__(self, k: int) -> np.ndarray:
        """The block of one class, newly computed; cost n d^2 / 2 multiply-adds."""
        if k >= len(self):
            raise IndexError(k)
        out = blocks(self.X, self.weights[:, k : k + 1])[0]
        out[np.diag_indices_from(out)] += self.penalty
        if self.base is not None:
            out += self.base[k]
        return out

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        """All blocks."""
        out = self.stored()
        return out if dtype is None else out.astype(dtype, copy=False)

    def stored(self, threads: int = 1) -> np.ndarray:
        """All blocks as an array.

        Parameters
        ----------
        threads : int
            Number of threads that share the classes.

        Returns
        -------
        np.ndarray of shape (c, d, d)
            The blocks.
        """
        out = blocks(self.X, self.weights, threads)
        diagonal = np.arange(out.shape[1])
        out[:, diagonal, diagonal] += self.penalty
        if self.base is not None:
            out += self.base
        return out

    def stored_if_small(self, threads: int = 1) -> np.ndarray | SummedBlocks:
        """All blocks as an array, unless they are large.

        Parameters
        ----------
        threads : int
            Number of threads that share the classes.

        Returns
        -------
        np.ndarray or SummedBlocks
            An array if it has at most ``STORED_BYTES``.
        """
        return self.stored(threads) if 8 * np.prod(self.shape) <= STORED_BYTES else self


def inner_product(A: np.ndarray | SummedBlocks, M: np.ndarray) -> float:
    """Sum of the products of all entries.

    Parameters
    ----------
    A : np.ndarray or SummedBlocks
        A matrix, or blocks.
    M : np.ndarray
        Of the same shape.

    Returns
    -------
    float
        ``<A, M>``; of blocks that are not stored, one is made at a time.
    """
    if isinstance(A, SummedBlocks):
        return float(sum(np.vdot(block, other) for block, other in zip(A, M, strict=True)))
    return float(np.vdot(A, M))
