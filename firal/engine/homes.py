"""Where a table lives: an array in memory, a file, or a Dask array.

Files are ``.npy`` (memory-mapped) and ``.parquet`` (:mod:`firal.engine.parquet`). Dask arrays are
in :mod:`firal.engine.dask_home`. How all of them are read is in :mod:`firal.engine.passes`.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from firal.engine.columns import as_numbers
from firal.engine.passes import Home, Loader, ThreadedHome, as_block

GATHERED = 8  # scattered rows of a file that are read before their pages, perhaps huge, go back


class ArrayHome(ThreadedHome):
    """An array in memory, or a memory-mapped file.

    Parameters
    ----------
    array : np.ndarray of shape (n, d)
        Any real type and order. Pages of a memory-mapped file are given back after every block, so
        that a pass over a file of any size keeps a few blocks in memory.
    """

    def __init__(self, array: np.ndarray):
        super().__init__()
        self.array = as_numbers(array)
        self.shape, self.dtype = self.array.shape, self.array.dtype
        self._mapped = _shared_mapping(self.array)
        self.kind = "memory" if self._mapped is None else "file"

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
        if self._mapped is None:
            return as_block(self.array[indices])
        # every row maps the pages around it too, so they are given back in between
        out = np.empty((len(indices), self.shape[1]))
        for start in range(0, len(indices), GATHERED):
            some = slice(start, start + GATHERED)
            out[some] = self._taken(indices[some])
        return out

    def loaders(self) -> Iterator[Loader]:
        """As in :class:`firal.engine.passes.ThreadedHome`.

        Yields
        ------
        callable
            Gives a block.
        """
        for start in range(0, self.shape[0], self.block_rows):
            yield lambda rows=slice(start, start + self.block_rows): self._taken(rows)

    def _taken(self, which):
        block = as_block(self.array[which])
        if self._mapped is not None:
            if np.may_share_memory(block, self.array):  # float64 in C order: not copied yet
                block = block.copy()
            self._mapped.madvise(mmap.MADV_DONTNEED)
        return block


def as_home(X: Any) -> Home:
    """Find out where a table lives.

    Parameters
    ----------
    X : Home, array_like, str, path or Dask array, of shape (n, d)
        A path must end in ``.npy`` or ``.parquet``.

    Returns
    -------
    Home
        X itself if it is one.

    Raises
    ------
    ValueError
        If it is not a table of numbers, or there is no home for such a file.
    """
    if isinstance(X, Home):
        return X
    if is_dask(X):
        from firal.engine.dask_home import DaskHome

        return DaskHome(X)
    if isinstance(X, str | os.PathLike):
        return file_home(X)
    return ArrayHome(X)


def is_dask(X: Any) -> bool:
    """Whether something is a Dask collection; Dask is not imported for that.

    Parameters
    ----------
    X : object
        Anything.

    Returns
    -------
    bool
        True for Dask arrays, and for Dask frames, which ``as_home`` refuses.
    """
    return hasattr(X, "__dask_graph__") and hasattr(X, "ndim")


def file_home(path: str | os.PathLike, columns: Sequence[str] | None = None) -> Home:
    """A file as a home.

    Parameters
    ----------
    path : str or path
        A ``.npy`` or ``.parquet`` file.
    columns : sequence of str, optional
        Columns of a ``.parquet`` file to use, in this order; by default all.

    Returns
    -------
    Home
        The file is not read yet.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is damaged, not of numbers, or of another format.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    if path.suffix.lower() == ".npy" and columns is None:
        try:
            return ArrayHome(np.load(path, mmap_mode="r", allow_pickle=False))
        except (MemoryError, OSError):
            raise
        except Exception as error:  # a damaged header may raise anything
            reason = "it holds objects or another format" if "pickle" in str(error) else error
            raise ValueError(f"{path.name} must be an intact .npy of numbers: {reason}") from None
    if path.suffix.lower() == ".parquet":
        from firal.engine.parquet import ParquetHome

        return ParquetHome(path, columns)
    raise ValueError(f"X must be a .npy or .parquet file, or a table in memory, got {path.name}")


def _shared_mapping(array):
    """The mmap below an array if its pages can be read again from the file, else None."""
    shared = isinstance(array, np.memmap) and array.mode in ("r", "r+", "w+")
    base = array
    while base is not None and not isinstance(base, mmap.mmap):
        base = getattr(base, "base", None)
    return base if shared and hasattr(mmap, "MADV_DONTNEED") else None
