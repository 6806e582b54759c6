"""Scores that are equal to rounding: machines round differently, and the lowest row decides."""

from __future__ import annotations

import numpy as np

TIE = 1e-9  # relative; scores that agree to this are equal


def largest_first(scores: np.ndarray, count: int) -> np.ndarray:
    """Rows of the largest scores, the largest first; of equals, the lowest row first.

    Parameters
    ----------
    scores : np.ndarray of shape (n,)
        Finite numbers.
    count : int
        How many rows; at most n.

    Returns
    -------
    np.ndarray of int, shape (count,)
        Rows.

    Notes
    -----
    Scores are equal if they agree with the largest of those that are left to ``TIE``. Cost: a sort,
    and a search in it for every row.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.common.ties import largest_first
    >>> largest_first(np.array([0.5, 2.0, 0.1, 2.0 + 1e-12]), 3).tolist()
    [1, 3, 0]
    """
    order = np.argsort(-scores, kind="stable")
    falling, start = -scores[order], 0
    while start < count:
        limit = falling[start] + TIE * abs(falling[start])
        stop = start + int(np.searchsorted(falling[start:], limit, side="right"))
        order[start:stop].sort()
        start = stop
    return order[:count]
