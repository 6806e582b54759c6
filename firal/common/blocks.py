"""Blocks of points: work on any number of rows in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator

BLOCK_BYTES = 8 * 2**20  # working memory of one block; about the size that stays in cache


def pool_blocks(n: int, bytes_per_point: int, budget: int = BLOCK_BYTES) -> Iterator[slice]:
    """Cut ``range(n)`` into blocks of bounded memory.

    Parameters
    ----------
    n : int
        Number of points; 0 gives no block.
    bytes_per_point : int
        Working memory that one point needs.
    budget : int
        Largest working memory of a block, in bytes. A block has at least one point.

    Yields
    ------
    slice
        Consecutive slices of about equal length that cover every point once.
    """
    if n == 0:
        return
    largest = max(1, int(budget // max(1, bytes_per_point)))
    size = math.ceil(n / math.ceil(n / largest))  # about equal lengths, none much too short
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
