"""When features are wide, and when they are too wide: the sizes at which a design changes its form.

1. Blocks of all columns, while they are small (:mod:`firal.selection.block_diagonal`).
2. No block, but a vector per class and point that came (:mod:`firal.selection.wide`).
3. Blocks of fewer columns, where the vectors are too many (:mod:`firal.selection.reduced`).

The limits do not depend on the machine, so the same data have the same picks everywhere.
"""

from __future__ import annotations

import numpy as np

LARGEST_ORDER, LARGEST_BLOCKS = 800, 2**31  # order and bytes beyond which no block is written
MOST_BYTES = 4 * 2**30  # of the vectors; where they would be more, features are reduced


def is_wide(order: int, n_classes: int) -> bool:
    """Whether the blocks of a design are too large to be written down.

    Parameters
    ----------
    order : int
        Features and clusters.
    n_classes : int
        Number of blocks.

    Returns
    -------
    bool
        True beyond ``LARGEST_ORDER`` columns, or if four sets of blocks take more than
        ``LARGEST_BLOCKS`` bytes.

    Examples
    --------
    >>> is_wide(249, 100), is_wide(2249, 100), is_wide(500, 1000)
    (False, True, True)
    """
    return order > LARGEST_ORDER or 4 * 8 * n_classes * order**2 > LARGEST_BLOCKS


def reduced_sizes(d: int, n_classes: int, n_points: int, clusters: int) -> tuple[int, int] | None:
    """Columns and clusters of a wide design whose vectors would take too much memory.

    Parameters
    ----------
    d : int
        Number of features.
    n_classes : int
        Number of blocks.
    n_points : int
        Labeled points, and those that greedy steps will add.
    clusters : int
        Number of clusters with an effect.

    Returns
    -------
    tuple of int, or None
        Principal directions and clusters with which blocks can be written; at least half of the
        columns are directions. None if the vectors fit.

    Examples
    --------
    >>> reduced_sizes(2048, 100, 300, 200) is None, reduced_sizes(2048, 100, 3000, 200)
    (True, (600, 200))
    """
    if vector_bytes(n_classes, n_points, d + clusters) <= MOST_BYTES:
        return None
    most = min(LARGEST_ORDER, int(np.sqrt(LARGEST_BLOCKS / (4 * 8 * n_classes))))
    columns = min(d, max(most - clusters, (most + 1) // 2))
    return columns, min(clusters, most - columns)


def vector_bytes(c: int, n: int, d: int) -> int:
    """Memory of the vectors v.

    Parameters
    ----------
    c, n, d : int
        Number of classes, of points that will come, and of columns.

    Returns
    -------
    int
        Bytes; ``MOST_BYTES`` is the most.
    """
    return 8 * c * n * d
