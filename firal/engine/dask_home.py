"""A table on a Dask cluster, or in any Dask array. Needs the packages dask and distributed.

A part of the table (``PART`` blocks, 64 MiB) is one task: the data stay where they are, and a small
result comes back. If a worker dies, the scheduler runs its tasks again elsewhere, from the graph of
the array, and the pass goes on. The results are the same bits as those of the other homes, as long
as BLAS has one thread on the workers, which is the default of Dask.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from firal.engine.homes import file_home
from firal.engine.passes import PART, Loader, ThreadedHome, as_block, block_rows


class DaskHome(ThreadedHome):
    """A Dask array of two dimensions.

    Parameters
    ----------
    array : dask.array.Array of shape (n, d)
        Real numbers, chunks of known sizes. It is worked on by the default client if there is one.
        Otherwise Dask computes its parts, one after the other, and threads of this process work on
        them.

    Raises
    ------
    ValueError
        If it is not such an array.
    """

    kind = "Dask"

    def __init__(self, array: Any):
        super().__init__()
        if hasattr(array, "columns"):
            raise ValueError(
                "X must be a Dask array, got a Dask frame: use frame.to_dask_array(lengths=True)"
            )
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise ValueError(
                "features must be a table of numbers with one row per point, "
                f"got a Dask array of {array.ndim} dimensions and type {array.dtype}"
            )
        if any(np.isnan(size) for size in array.shape):
            raise ValueError(
                "X must have chunks of known sizes, got a Dask array without: call "
                "X.compute_chunk_sizes() first"
            )
        if 0 in array.shape:
            raise ValueError(f"features must have rows and columns, got shape {array.shape}")
        self.array, self.dtype = array, array.dtype
        self.shape = tuple(int(size) for size in array.shape)
        self.part_rows = PART * self.block_rows
        chunks = (min(self.part_rows, self.shape[0]), self.shape[1])
        self._parts = array.rechunk(chunks).to_delayed().ravel().tolist()

    def rows(self, indices: np.ndarray) -> np.ndarray:
        """As in :class:`firal.engine.passes.Home`.

        Parameters
        ----------
        indices : np.ndarray of int, shape (k,)
            Which rows.

        Returns
        -------
        np.ndarray of shape (k, d)
            The rows, float64.
        """
        from dask import compute, delayed

        indices = np.asarray(indices, dtype=np.intp)
        out, part = np.empty((indices.size, self.shape[1])), indices // self.part_rows
        numbers = np.unique(part)
        wanted = [np.flatnonzero(part == k) for k in numbers]
        take = delayed(_take, pure=False)
        tasks = [
            take(self._parts[k], indices[which] - k * self.part_rows)
            for k, which in zip(numbers, wanted, strict=True)
        ]
        client = _default_client()
        found = compute(*tasks) if client is None else _gathered(client, tasks)
        for which, rows in zip(wanted, found, strict=True):
            out[which] = rows
        return out

    def part_results(self, function: Callable, combine: Callable) -> Iterator[tuple[int, Any]]:
        """As in :class:`firal.engine.passes.Home`.

        Parameters
        ----------
        function, combine : callable
            As in :meth:`firal.engine.passes.Home.reduce`.

        Yields
        ------
        tuple of int and object
            As in :class:`firal.engine.passes.Home`.
        """
        client = _default_client()
        if client is None:
            yield from super().part_results(function, combine)
            return
        from dask import delayed

        work = delayed(_Work(function, combine, self.block_rows), pure=False)  # sent once a pass
        run = delayed(_run, pure=False)
        tasks = [run(work, k * self.part_rows, part) for k, part in enumerate(self._parts)]
        yield from _gathered(client, tasks)

    def loaders(self) -> Iterator[Loader]:
        """As in :class:`firal.engine.passes.ThreadedHome`, for a pass without a cluster.

        Yields
        ------
        callable
            Gives a block.
        """
        for part in self._parts:
            numbers = part.compute()
            for start in range(0, len(numbers), self.block_rows):
                rows = numbers[start : start + self.block_rows]
                yield lambda rows=rows: as_block(rows)


def on_dask(path: str | os.PathLike, columns: Sequence[str] | None = None) -> DaskHome:
    """A file that the workers of a cluster read themselves.

    Parameters
    ----------
    path : str or path
        A ``.npy`` or ``.parquet`` file, under a name that all workers can open.
    columns : sequence of str, optional
        Columns of a ``.parquet`` file to use; by default all.

    Returns
    -------
    DaskHome
        Its parts are read where they are worked on.

    Raises
    ------
    ValueError
        As in :func:`firal.engine.homes.as_home`.
    """
    import dask.array
    from dask import delayed

    n, d = file_home(path, columns).shape
    size, read, parts = PART * block_rows(d), delayed(_read, pure=False), []
    for start in range(0, n, size):
        stop = min(start + size, n)
        part = read(os.path.abspath(path), columns, start, stop)
        parts.append(dask.array.from_delayed(part, (stop - start, d), np.float64))
    return DaskHome(dask.array.concatenate(parts))


class _Work:
    """The functions of a pass, in a wrapper that Dask does not look into."""

    def __init__(self, function, combine, rows):
        self.function, self.combine, self.rows = function, combine, rows


def _run(work, first, part):
    """Number of blocks of a part, and their combined result."""
    total, count = None, 0
    for start in range(0, len(part), work.rows):
        result = work.function(first + start, as_block(part[start : start + work.rows]))
        total = result if count == 0 else work.combine(total, result)
        count += 1
    return count, total


def _take(part, indices):
    return np.asarray(part)[indices]


def _read(path, columns, start, stop):
    return file_home(path, columns).rows(np.arange(start, stop))


def _gathered(client, tasks):
    """Results of tasks in order."""
    futures = client.compute(tasks)
    try:
        while futures:
            future = futures.pop(0)  # its result is freed on the cluster when it is not held here
            yield future.result()
    finally:  # after an error or Ctrl-C: what has not begun never will
        client.cancel(futures)


def _default_client():
    if "distributed" not in sys.modules:
        return None
    try:
        return sys.modules["distributed"].default_client()
    except ValueError:
        return None
