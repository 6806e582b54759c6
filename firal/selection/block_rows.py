"""Rows whose last columns are indicators of groups: products at the price of the other columns.

Cluster effects append many columns to the features, and a point has one number in them. With d
columns x before them, the group j of the point and its number s there, ::

    V x' = V_x x + s V_j,      x'^T M x' = x^T M_xx x + 2 s x^T M_xj + s^2 M_jj,

so the columns of the groups cost a look-up, and not a product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import numpy as np
from scipy import sparse

from firal.common import nogil
from firal.common.nogil import in_threads, parts

FEWEST = 8  # columns of groups from which on they are worth the trouble
PIECE = 4096  # points of one product
HALVED = 512  # points of one product with a triangular matrix
TASK = 10**10  # multiply-adds between two reports, for which an interruption waits
PARTS = 32  # of the classes, per thread


@dataclass(frozen=True)
class GroupedRows:
    """Points with columns x, followed by columns of which each point has at most one.

    Attributes
    ----------
    x : np.ndarray of shape (m, d)
        The columns before those of the groups.
    group : np.ndarray of shape (m,)
        Which column of the groups a point has.
    size : np.ndarray of shape (m,)
        Its number there; may be 0.
    count : int
        Number of columns of the groups.
    """

    x: np.ndarray
    group: np.ndarray
    size: np.ndarray
    count: int

    @property
    def shape(self) -> tuple[int, int]:
        """Of the rows written out."""
        return len(self.x), self.x.shape[1] + self.count

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows) -> GroupedRows | np.ndarray:
        """Some of the points; a single one is written out."""
        if np.ndim(rows) == 0 and not isinstance(rows, slice):
            tail = np.zeros(self.count)
            tail[self.group[rows]] = self.size[rows]
            return np.concatenate([self.x[rows], tail])
        return GroupedRows(self.x[rows], self.group[rows], self.size[rows], self.count)


def grouped(X: np.ndarray) -> np.ndarray | GroupedRows:
    """Find columns of groups at the end of a table.

    Parameters
    ----------
    X : np.ndarray of shape (m, d)
        Points.

    Returns
    -------
    GroupedRows or np.ndarray
        The same points; X itself if fewer than ``FEWEST`` of its last columns have at most one
        number in every row.

    Examples
    --------
    >>> import numpy as np
    >>> rows = grouped(np.hstack([np.ones((20, 2)), np.eye(20)]))
    >>> rows.x.shape, rows.count
    ((20, 2), 20)
    """
    # numbers of every row in the last 1, 2, .. columns
    filled = np.cumsum((X != 0)[:, ::-1], axis=1)
    count = int(np.sum(filled.max(axis=0, initial=0) <= 1))
    if count < FEWEST:
        return X
    d = X.shape[1] - count
    tail = X[:, d:]
    group = np.argmax(tail != 0, axis=1)
    return GroupedRows(np.ascontiguousarray(X[:, :d]), group, tail[np.arange(len(X)), group], count)


def product(X: np.ndarray | GroupedRows, V: np.ndarray) -> np.ndarray:
    """Inner products of all points with some vectors.

    Parameters
    ----------
    X : np.ndarray or GroupedRows of shape (m, d)
        Points.
    V : np.ndarray of shape (k, d)
        Vectors.

    Returns
    -------
    np.ndarray of shape (m, k)
        ``x_i^T v_j``. Cost: m k times the columns that are no groups.
    """
    if isinstance(X, np.ndarray):
        return X @ V.T
    d = X.x.shape[1]
    out = X.x @ V[:, :d].T
    out += X.size[:, None] * V[:, d:].T[X.group]
    return out


def blocks(
    X: np.ndarray | GroupedRows,
    weights: np.ndarray,
    threads: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """Weighted sums of x x^T, one per class.

    Parameters
    ----------
    X : np.ndarray or GroupedRows of shape (m, d)
        Points; may be empty.
    weights : np.ndarray of shape (m, c)
        Nonnegative weights.
    threads : int
        Number of threads that share the classes.
    report : callable, optional
        Called as ``report(done, c)`` after every class.

    Returns
    -------
    np.ndarray of shape (c, d, d)
        ``sum_i weights_ik x_i x_i^T``. Cost: m c d^2 / 2 multiply-adds.
    """
    if isinstance(X, np.ndarray):
        out = np.zeros((weights.shape[1], X.shape[1], X.shape[1]))

        def of_class(k):
            for rows in _some(len(X)):
                half = X[rows] * np.sqrt(weights[rows, k])[:, None]
                out[k] += half.T @ half  # NumPy computes one triangle

        each_class(of_class, len(out), threads, report)
        return out
    m, d = X.x.shape
    tail = sparse.csr_array((X.size, (np.arange(m), X.group)), shape=(m, X.count))
    out = np.zeros((weights.shape[1], d + X.count, d + X.count))
    diagonal = np.arange(d, d + X.count)
    for block, w in zip(out, weights.T, strict=True):
        weighted = X.x * w[:, None]
        block[:d, :d] = weighted.T @ X.x
        block[d:, :d] = tail.T @ weighted
        block[:d, d:] = block[d:, :d].T
        block[diagonal, diagonal] = np.bincount(X.group, w * X.size**2, X.count)
    return out


def quadratic(X: np.ndarray | GroupedRows, M: np.ndarray, threads: int = 1) -> np.ndarray:
    """Quadratic forms of all points with every block.

    Parameters
    ----------
    X : np.ndarray or GroupedRows of shape (m, d)
        Points.
    M : np.ndarray of shape (c, d, d)
        Symmetric blocks.
    threads : int
        Number of threads that share the classes.

    Returns
    -------
    np.ndarray of shape (m, c)
        ``x_i^T M_k x_i``, in the type of X. Cost: as in :func:`forms`, for every block.
    """
    out = np.empty((len(X), len(M)), dtype=X.dtype if isinstance(X, np.ndarray) else np.float64)
    if isinstance(X, np.ndarray):

        def of_class(k):
            out[:, k] = forms(X, M[k])

        each_class(of_class, len(M), threads)
        return out
    d = X.x.shape[1]
    for k, block in enumerate(M):
        mixed = X.x @ block[:d, :d]
        mixed += 2 * X.size[:, None] * block[d:, :d][X.group]
        own = block.diagonal()[d:][X.group]
        out[:, k] = np.einsum("ij,ij->i", mixed, X.x) + X.size**2 * own
    return out


def forms(X: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Quadratic forms of points with one symmetric matrix.

    Parameters
    ----------
    X : np.ndarray of shape (n, d)
        Points.
    M : np.ndarray of shape (d, d)
        Symmetric.

    Returns
    -------
    np.ndarray of shape (n,)
        ``x_i^T M x_i``, in the type of X.

    Notes
    -----
    If M = C C^T is positive definite, these are the squared lengths of C^T x_i, and a product with
    a triangular matrix has n d^2 / 2 multiply-adds: half of those with M. Where there are too few
    points to pay for C, or M is singular to rounding, the product with M is taken.
    """
    out = np.empty(len(X), X.dtype)
    C = M.T.copy(order="F") if X.dtype == np.float64 and len(X) >= 2 * len(M) else None
    if C is None or not nogil.cholesky(C):
        M = M.astype(X.dtype, copy=False)
        for rows in _some(len(X)):
            out[rows] = np.einsum("ij,ij->i", X[rows] @ M, X[rows])
        return out
    for rows in _some(len(X), HALVED):
        half = X[rows].copy()
        nogil.multiply_transposed(C, half.T)
        out[rows] = np.einsum("ij,ij->i", half, half)
    return out


def contracted(
    X: np.ndarray | GroupedRows,
    g: np.ndarray,
    M: np.ndarray,
    threads: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """Weighted sums of the quadratic forms of all points.

    Parameters
    ----------
    X : np.ndarray or GroupedRows of shape (m, d)
        Points.
    g : np.ndarray of shape (m, c)
        Weights.
    M : np.ndarray of shape (c, d, d)
        Symmetric blocks.
    threads : int
        Number of threads that share the work.
    report : callable, optional
        Called as ``report(done, total)``.

    Returns
    -------
    np.ndarray of shape (m,)
        ``sum_k g_ik x_i^T M_k x_i``, in the type of X; nothing of size m c is made.
    """
    if isinstance(X, GroupedRows):
        return np.einsum("ik,ik->i", g, quadratic(X, M))
    many, done, lock = max(int(TASK // (PIECE * M[0].size)), 1), [0], Lock()
    starts = range(0, len(M), many)
    tasks = [(rows, slice(k, k + many)) for k in starts for rows in _some(len(X))]

    def of_task(task):
        rows, classes = task
        part = 0
        for block, weights in zip(M[classes], g[rows, classes].T, strict=True):
            part = part + weights * forms(X[rows], block)
        if report is not None:
            with lock:
                done[0] += 1
                report(done[0], len(tasks))
        return part

    total = np.zeros(len(X), dtype=X.dtype)
    for (rows, _), part in zip(tasks, in_threads(of_task, tasks, threads), strict=True):
        total[rows] += part  # in the order of the tasks, whoever was first
    return total


def each_class(
    work: Callable[[int], None],
    count: int,
    threads: int,
    report: Callable[[int, int], None] | None = None,
) -> None:
    """Call ``work(k)`` for every class.

    Parameters
    ----------
    work : callable
        Of one class; writes where no other class does.
    count : int
        Number of classes.
    threads : int
        Number of threads that share the classes; BLAS should have one thread in each.
    report : callable, optional
        Called as ``report(done, count)``.

    Notes
    -----
    The classes are handed out in small parts: an interruption ends only those that have begun.
    """
    done, lock = [0], Lock()

    def some(part):
        for k in range(part.start, part.stop):
            work(k)
            if report is not None:
                with lock:
                    done[0] += 1
                    report(done[0], count)

    in_threads(some, parts(count, min(count, PARTS * threads)), threads)


def _some(m, piece=PIECE):
    """Rows in pieces that stay in the cache."""
    return [slice(start, start + piece) for start in range(0, m, piece)]
