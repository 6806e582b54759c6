"""Wide features and many labels: principal directions in place of all columns.

Wide designs (:mod:`firal.selection.wide`) keep one vector per class and per point that came, so
they grow with the labels. Where these vectors would take too much memory, and blocks of all columns
too, the columns are replaced by coordinates on the leading principal directions of the pool, as
many as blocks can have. The directions are orthonormal, so the penalty stays what it is. What is
lost is the rest of the mean square of the features, and it is said.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firal.selection.wide_forms import in_double, pieces, squared_norms

MOST_POINTS = 4096  # of which the directions are; a larger pool is sampled if it has more columns


class FeaturesReduced(UserWarning):
    """A selection has replaced wide features by fewer principal directions."""


class Reduced(NamedTuple):
    """Points in coordinates of principal directions.

    Attributes
    ----------
    pool : np.ndarray of shape (m, r)
        The pool, float64.
    labeled : np.ndarray of shape (n0, r)
        The labeled points.
    kept : float
        Share of the mean square of the pool that the directions hold.
    """

    pool: np.ndarray
    labeled: np.ndarray
    kept: float


def reduce_features(pool: np.ndarray, labeled: np.ndarray, columns: int) -> Reduced:
    """Replace the columns by coordinates on the leading principal directions of the pool.

    Parameters
    ----------
    pool : np.ndarray of shape (m, d)
        Points, float32 or float64.
    labeled : np.ndarray of shape (n0, d)
        Labeled points; may be empty.
    columns : int
        Number of directions r, at most d.

    Returns
    -------
    Reduced
        Nothing is centered, as the penalty has its center at zero. Cost: m d^2 / 2 multiply-adds
        and 4 d^3. With more than ``MOST_POINTS`` columns the directions are those of so many
        points, spread evenly, and there may be fewer of them.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[3.0, 4.0], [6.0, 8.0], [-4.0, 3.0]])  # mean square 50, 41.7 of it
    >>> found = reduce_features(points, points[:1], 1)           # along (3, 4)
    >>> np.abs(found.pool[:, 0]).round(6).tolist(), round(found.kept, 3)
    ([5.0, 10.0, 0.0], 0.833)
    """
    basis = _directions(pool)[:, :columns]
    out = np.empty((len(pool), basis.shape[1]))
    for rows in pieces(len(pool)):
        out[rows] = in_double(pool[rows]) @ basis
    total = squared_norms(pool).sum()
    kept = float(min(np.vdot(out, out) / total, 1.0)) if total else 1.0
    return Reduced(out, in_double(labeled) @ basis, kept)


def _directions(pool):
    """Principal directions, the strongest first, as columns; of a sample if d is very large."""
    m, d = pool.shape
    if d > MOST_POINTS:
        some = in_double(pool[np.linspace(0, m - 1, min(m, MOST_POINTS)).astype(int)])
        values, vectors = np.linalg.eigh(some @ some.T)
        strong = values[::-1] > 1e-12 * values[-1]
        return some.T @ (vectors[:, ::-1][:, strong] / np.sqrt(values[::-1][strong]))
    moments = np.zeros((d, d))
    for rows in pieces(m):
        part = in_double(pool[rows])
        moments += part.T @ part
    return np.linalg.eigh(moments)[1][:, ::-1]
