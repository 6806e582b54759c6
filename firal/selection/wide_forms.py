"""The data of a wide problem, and the quadratic forms of its points while points come.

The formulas are those of :mod:`firal.selection.wide`. All numbers are float64. A pool in float32 is
converted a few rows at a time: that costs a hundredth of the products with these rows, and the pool
stays as small as it was. Sums over the pool have one order, whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from firal.common.nogil import in_threads
from firal.selection.block_rows import GroupedRows, product

ROWS = 1024  # that are converted at once


class WideProblem(NamedTuple):
    """The data of one selection with wide features.

    Attributes
    ----------
    X : np.ndarray or GroupedRows of shape (m, d)
        Pool, float32 or float64; no copy in another type is made.
    g : np.ndarray of shape (m, c)
        p (1 - p) of every point and class, float64.
    labeled : np.ndarray or GroupedRows of shape (n0, d)
        Labeled points, in the same columns.
    labeled_g : np.ndarray of shape (n0, c)
        p (1 - p) of these.
    strength : float
        Number of labels after the batch times the ridge.
    budget : int
        Number of points to pick.
    """

    X: np.ndarray | GroupedRows
    g: np.ndarray
    labeled: np.ndarray | GroupedRows
    labeled_g: np.ndarray
    strength: float
    budget: int

    @property
    def level(self) -> float:
        """The penalty l of every block."""
        return self.strength * (1 - 1 / self.g.shape[1])

    @property
    def start(self) -> float:
        """f of the penalty alone: the sum of trace(H_pk) / l."""
        squares = squared_norms(self.X)
        return float(squares @ self.g.sum(axis=1)) / len(squares) / self.level


class Forms:
    """q1_ik = x_i^T W_k x_i and q2_ik = x_i^T W_k H_pk W_k x_i of all points, and f.

    Parameters
    ----------
    problem : WideProblem
        The data.
    steps : int
        Most points that will come, besides the labeled ones.
    threads : int
        Number of threads that share the rows.
    report : callable
        Called as ``report("forms", done, total)``.

    Attributes
    ----------
    q1, q2 : np.ndarray of shape (m, c)
        The forms.
    f : float
        The objective.
    moves : int
        Number of points that came.
    """

    def __init__(
        self,
        problem: WideProblem,
        steps: int,
        threads: int,
        report: Callable[[str, int, int], None],
    ):
        self.problem, self.threads, self.moves = problem, threads, 0
        X, level = problem.X, problem.level
        (m, d), c, n = X.shape, problem.g.shape[1], len(problem.labeled) + steps
        self.v, self.s = np.empty((c, n, d)), np.empty((c, n))
        self.q1 = np.repeat(squared_norms(X)[:, None] / level, c, axis=1)
        self.q2, self.f = np.zeros((m, c)), problem.start
        # q2 = x_i^T H_pk x_i / l^2 is a sum of squares of inner products, each used for two points
        cuts = pieces(m)
        for i, rows in enumerate(cuts):
            pairs = [(rows, others) for others in cuts[i:]]
            for (_, others), (here, there) in zip(
                pairs, self._in_turn(self._squares, pairs), strict=True
            ):
                self.q2[rows] += here
                if others is not rows:
                    self.q2[others] += there
            report("forms", i + 1, len(cuts))
        self.q2 /= m * level**2

    def decrease(self) -> np.ndarray:
        """How much f falls when a point comes.

        Returns
        -------
        np.ndarray of shape (m,)
            Of every point.
        """
        g = self.problem.g
        return np.einsum("ik,ik->i", g, self.q2 / (1 + g * self.q1))

    def move(self, x: np.ndarray, g: np.ndarray) -> None:
        """A point comes.

        Parameters
        ----------
        x : np.ndarray of shape (d,)
            Its features.
        g : np.ndarray of shape (c,)
            Its p (1 - p).
        """
        problem, cuts, t = self.problem, pieces(len(self.problem.X)), self.moves
        x = x.astype(np.float64, copy=False)
        v = self._inverse(np.broadcast_to(x, self.v[:, 0].shape))
        Xv = np.empty(problem.g.shape)

        # 1. u = W H_p v: one pass for the products, and the sum over the pool in the same pass.
        def image(rows):
            part = in_double(problem.X[rows])
            Xv[rows] = product(part, v)
            return _weighted_sum(part, problem.g[rows] * Xv[rows])

        total = np.zeros(v.shape)
        for part in self._in_turn(image, cuts):
            total += part
        u = self._inverse(total / len(problem.X))
        s = g / (1 + g * (v @ x))
        eta = u @ x
        self.f -= float(s @ eta)

        # 2. The forms of all points.
        def update(rows):
            Xu, mine = product(in_double(problem.X[rows]), u), Xv[rows]
            self.q2[rows] -= s * mine * (2 * Xu - s * eta * mine)
            self.q1[rows] -= s * np.square(mine)

        in_threads(update, cuts, self.threads)
        self.v[:, t], self.s[:, t] = v, s
        self.moves += 1

    def _inverse(self, A):
        """W_k a_k for the rows a_k of A (c, d)."""
        V, s = self.v[:, : self.moves], self.s[:, : self.moves]
        out = A / self.problem.level
        out -= np.matmul((s * np.matmul(V, A[:, :, None])[:, :, 0])[:, None], V)[:, 0]
        return out

    def _squares(self, pair):
        """What the squared inner products of some points with some others add to q2 of both."""
        rows, others = pair
        X, g = self.problem.X, self.problem.g
        inner = _inner(in_double(X[rows]), in_double(X[others]))
        np.square(inner, out=inner)
        return inner @ g[others], None if others is rows else inner.T @ g[rows]

    def _in_turn(self, work, items) -> Iterator:
        """Results in the order of the items; of those that wait, there are few."""
        for k in range(0, len(items), self.threads):
            yield from in_threads(work, items[k : k + self.threads], self.threads)


def pieces(m: int) -> list[slice]:
    """Rows in pieces that may be converted to float64.

    Parameters
    ----------
    m : int
        Number of rows.

    Returns
    -------
    list of slice
        Of ``ROWS`` rows each.
    """
    return [slice(start, min(start + ROWS, m)) for start in range(0, m, ROWS)]


def in_double(X: np.ndarray | GroupedRows) -> np.ndarray | GroupedRows:
    """Points as float64.

    Parameters
    ----------
    X : np.ndarray or GroupedRows of shape (n, d)
        A few points.

    Returns
    -------
    np.ndarray or GroupedRows of shape (n, d)
        The same numbers.
    """
    if not isinstance(X, GroupedRows):
        return X.astype(np.float64, copy=False)
    x, size = (part.astype(np.float64, copy=False) for part in (X.x, X.size))
    return GroupedRows(x, X.group, size, X.count)


def squared_norms(X: np.ndarray | GroupedRows) -> np.ndarray:
    """Squared norms of all points.

    Parameters
    ----------
    X : np.ndarray or GroupedRows of shape (m, d)
        Points.

    Returns
    -------
    np.ndarray of shape (m,)
        float64.
    """
    if isinstance(X, GroupedRows):
        return squared_norms(X.x) + X.size.astype(np.float64) ** 2
    out = np.empty(len(X))
    for rows in pieces(len(X)):
        part = in_double(X[rows])
        out[rows] = np.einsum("ij,ij->i", part, part)
    return out


def _inner(X, Y):
    """Inner products of some points with others."""
    if not isinstance(X, GroupedRows):
        return X @ Y.T
    out = X.x @ Y.x.T
    out += np.multiply.outer(X.size, Y.size) * (X.group[:, None] == Y.group)
    return out


def _weighted_sum(X, A):
    """``A^T X`` for A of shape (m, c)."""
    if not isinstance(X, GroupedRows):
        return A.T @ X
    d = X.x.shape[1]
    out = np.zeros((A.shape[1], d + X.count))
    out[:, :d] = A.T @ X.x
    tail = sparse.csr_array((X.size, (X.group, np.arange(len(X)))), shape=(X.count, len(X)))
    out[:, d:] = (tail @ A).T
    return out
