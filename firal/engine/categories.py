"""Categories among the columns: 0/1 columns that stand side by side and exclude each other.

A category of k levels comes as k columns of 0 and 1. Standardized, they together weigh as much as k
numbers in every distance and in the ridge: a column that names the speaker then decides which
points are neighbors. So a category counts as at most ``COLUMNS`` columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

COLUMNS = 2.0
MOST = 512  # more columns of 0 and 1 are words of texts or bits of a hash, and left as they are


class Levels(NamedTuple):
    """Columns of some rows that hold nothing but 0 and 1.

    Attributes
    ----------
    columns : np.ndarray of int, of shape (k,)
        Their numbers, ascending.
    ones : np.ndarray of shape (k,)
        How often each is 1.
    before : np.ndarray of int, of shape (k,)
        The nearest earlier column that is 1 in the same row as this one; -1 if there is none. So
        the columns from ``a`` to ``b`` exclude each other if ``before`` is less than ``a`` in all.
    """

    columns: np.ndarray
    ones: np.ndarray
    before: np.ndarray

    def merged(self, other: Levels) -> Levels:
        """Levels of the rows of both.

        Parameters
        ----------
        other : Levels
            Of other rows.

        Returns
        -------
        Levels
            The columns that are 0 or 1 in both.
        """
        columns, a, b = np.intersect1d(self.columns, other.columns, True, return_indices=True)
        before = np.maximum(self.before[a], other.before[b])
        return Levels(columns, self.ones[a] + other.ones[b], before)


def levels_of(block: np.ndarray) -> Levels:
    """Levels of a block of rows.

    Parameters
    ----------
    block : np.ndarray of shape (n, d)
        Rows.

    Returns
    -------
    Levels
        Of these rows.

    Notes
    -----
    Cost: ``n k``; a column whose first number is neither 0 nor 1 is read no further.
    """
    columns = np.flatnonzero((block[0] == 0) | (block[0] == 1))
    some = block[:, columns]
    binary = ((some == 0) | (some == 1)).all(axis=0)
    columns, ones = columns[binary], some[:, binary] == 1
    last = np.maximum.accumulate(np.where(ones, columns, -1), axis=1)  # up to each column
    before = np.full(columns.size, -1)
    before[1:] = np.where(ones[:, 1:], last[:, :-1], -1).max(axis=0)
    return Levels(columns, ones.sum(axis=0, dtype=float), before)


def category_scale(levels: Levels, n: int, d: int) -> np.ndarray:
    """What to multiply standardized columns by, so that no category weighs more than a few columns.

    Parameters
    ----------
    levels : Levels
        Of all rows.
    n : int
        Number of rows.
    d : int
        Number of columns.

    Returns
    -------
    np.ndarray of shape (d,)
        ``sqrt(COLUMNS / k)`` for the columns of a category with ``k > COLUMNS`` levels, 1 for all
        others. Levels are counted by how often they occur, ``k = 1 / sum_j p_j^2``, where rows that
        are 0 in all columns of the category are a level too: rare levels hardly count. All 1 if
        more than ``MOST`` columns are 0 or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.engine.categories import category_scale, levels_of
    >>> table = np.column_stack([np.arange(8), np.tile(np.eye(4), (2, 1))])  # a number, a category
    >>> category_scale(levels_of(table), 8, 5).round(3)
    array([1.   , 0.707, 0.707, 0.707, 0.707])
    """
    scale = np.ones(d)
    if levels.columns.size > MOST:
        return scale
    for group in _categories(levels):
        shares = levels.ones[group] / n
        effective = 1 / (np.sum(shares**2) + (1 - shares.sum()) ** 2)
        scale[levels.columns[group]] = np.sqrt(min(1.0, COLUMNS / effective))
    return scale


def _categories(levels):
    """Runs of neighboring columns that exclude each other, as positions in ``levels.columns``."""
    groups = []
    for place, column in enumerate(levels.columns):
        beside = groups and levels.columns[groups[-1][-1]] == column - 1
        if beside and levels.before[place] < levels.columns[groups[-1][0]]:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups
