"""Passes over a table that is read block by block, whatever its home.

A *home* holds a table (n, d) of numbers: an array in memory, a file, or a Dask array
(:mod:`firal.engine.homes`). Nothing above asks which: all it does is gather a few rows
(:meth:`Home.rows`), or make a *pass* over all of them (:meth:`Home.reduce`). A pass applies a
function to blocks of rows and combines its results. The table itself is never copied: blocks are
made float64 one by one, and what a pass returns is small.

**Every home gives the same bits.** Which rows form a block depends on the shape of the table alone.
Results are combined in the order of the rows: first the ``PART`` blocks of a part, then the parts.
So the sums of all homes have one order, whatever finished first and wherever it ran.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from firal.common.threads import allowed_threads, blas

BLOCK_BYTES = 4 * 2**20  # one block of rows as float64: it stays in the cache
PART = 16  # blocks that are combined first; on Dask they are one task
MOST_THREADS = 8  # every thread has its own working memory

Loader = Callable[[], np.ndarray]


class Home(ABC):
    """A table of numbers that is read block by block.

    Attributes
    ----------
    shape : tuple of int
        (n, d): rows and columns.
    dtype : numpy.dtype
        Type of the stored numbers; blocks are float64.
    kind : str
        Where it lives, in a word.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    kind: str

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def block_rows(self) -> int:
        """Rows of a block; the last one may have fewer."""
        return block_rows(self.shape[1])

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.shape[0] // self.block_rows)

    @abstractmethod
    def rows(self, indices: np.ndarray) -> np.ndarray:
        """Gather some rows.

        Parameters
        ----------
        indices : np.ndarray of int, shape (k,)
            Which rows, in any order.

        Returns
        -------
        np.ndarray of shape (k, d)
            The rows in that order, float64.
        """

    @abstractmethod
    def part_results(self, function: Callable, combine: Callable) -> Iterator[tuple[int, Any]]:
        """Apply a function to all blocks, and combine the results of every part.

        Parameters
        ----------
        function, combine : callable
            As in :meth:`reduce`.

        Yields
        ------
        tuple of int and object
            Number of blocks, and their combined result, part by part in the order of the rows.
        """

    def reduce(
        self,
        function: Callable[[int, np.ndarray], Any],
        combine: Callable[[Any, Any], Any],
        report: Callable[[int, int], None] | None = None,
    ) -> Any:
        """Make a pass: apply a function to all blocks, and combine the results in order.

        Parameters
        ----------
        function : callable
            Called as ``function(start, block)`` with the number of the first row and the rows
            (k, d), float64 in C order. It must not change them. It may run in another thread or on
            another machine, so it must not rely on side effects.
        combine : callable
            From two results, of earlier and of later rows, to one. It may change the first.
        report : callable, optional
            Called as ``report(done, total)`` with numbers of blocks.

        Returns
        -------
        object
            The combined result of all blocks.

        Examples
        --------
        >>> import numpy as np
        >>> from firal.engine.homes import as_home
        >>> home = as_home(np.arange(6.0).reshape(3, 2))
        >>> home.reduce(lambda start, block: block.sum(axis=0), lambda a, b: a + b)
        array([6., 9.])
        """
        total = None
        for k, result in enumerate(self.parts(function, combine, report)):
            total = result if k == 0 else combine(total, result)
        return total

    def parts(
        self,
        function: Callable[[int, np.ndarray], Any],
        combine: Callable[[Any, Any], Any],
        report: Callable[[int, int], None] | None = None,
    ) -> Iterator[Any]:
        """Make a pass whose results are as long as the table: they come part by part.

        Parameters
        ----------
        function, combine, report : callable
            As in :meth:`reduce`; ``combine`` is used within a part.

        Yields
        ------
        object
            The combined results of the parts, in the order of the rows.
        """
        done = 0
        for count, result in self.part_results(function, combine):
            done += count
            if report is not None:
                report(done, self.n_blocks)
            yield result


class ThreadedHome(Home):
    """A home whose blocks are read by this process and worked on by its threads.

    As many threads as BLAS may use when the home is made, with one BLAS thread in each: no thread
    waits for another.
    """

    def __init__(self):
        self.threads = allowed_threads()

    @abstractmethod
    def loaders(self) -> Iterator[Loader]:
        """Functions that give the blocks, in order; each is called once, perhaps by a thread."""

    def part_results(self, function: Callable, combine: Callable) -> Iterator[tuple[int, Any]]:
        """As in :class:`firal.engine.passes.Home`.

        Parameters
        ----------
        function, combine : callable
            As in :meth:`Home.reduce`.

        Yields
        ------
        tuple of int and object
            As in :class:`firal.engine.passes.Home`.
        """
        total, count = None, 0
        with blas.limit(limits=1):
            for result in self._results(function):
                total = result if count == 0 else combine(total, result)
                count += 1
                if count == PART:
                    yield count, total
                    total, count = None, 0
        if count:
            yield count, total

    def _results(self, function):
        """Results of all blocks in order, a few of them computed ahead."""

        def work(start, load):
            return function(start, load())

        starts = range(0, self.shape[0], self.block_rows)
        threads = min(self.threads, MOST_THREADS, self.n_blocks)
        if threads == 1:
            yield from (work(*pair) for pair in zip(starts, self.loaders(), strict=True))
            return
        ahead = deque()
        with ThreadPoolExecutor(threads) as pool:
            try:
                for pair in zip(starts, self.loaders(), strict=True):
                    ahead.append(pool.submit(work, *pair))
                    if len(ahead) > 2 * threads:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
            finally:  # after an error or Ctrl-C: what has not begun never will
                for future in ahead:
                    future.cancel()


def block_rows(d: int) -> int:
    """Rows of a block of a table with d columns.

    Parameters
    ----------
    d : int
        Number of columns.

    Returns
    -------
    int
        So many that they take ``BLOCK_BYTES`` as float64, at least 1.

    Examples
    --------
    >>> block_rows(64)
    8192
    """
    return max(1, BLOCK_BYTES // (8 * d))


def as_block(rows: np.ndarray) -> np.ndarray:
    """Rows as a function of a pass gets them.

    Parameters
    ----------
    rows : np.ndarray of shape (k, d)
        Of any type and order.

    Returns
    -------
    np.ndarray of shape (k, d)
        float64, in C order and aligned. What comes over a network need not be aligned, and NumPy
        adds such numbers in another order.
    """
    return np.require(rows, np.float64, ("C", "A"))
