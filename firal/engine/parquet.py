"""A table in a Parquet file, read block by block. Needs the package pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from firal.engine.passes import Loader, ThreadedHome

READ_ROWS = 2**16  # rows that are decoded at once


class ParquetHome(ThreadedHome):
    """Columns of numbers of a Parquet file.

    Parameters
    ----------
    path : str or path
        The file.
    columns : sequence of str, optional
        The columns to use, in this order; by default all.

    Raises
    ------
    ValueError
        If the file is damaged, or a column is absent, not of numbers, or has blanks.

    Notes
    -----
    A pass decodes the file once. To gather rows, the row groups that hold them are decoded, one
    after the other. ``READ_ROWS`` rows are decoded at once, however many the file claims to have.
    """

    kind = "file"

    def __init__(self, path: str | os.PathLike, columns: Sequence[str] | None = None):
        super().__init__()
        self.path = Path(path)
        with self._open() as file:
            types = {field.name: field.type for field in file.schema_arrow}
            groups = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        self.columns = list(types) if columns is None else list(columns)
        self.first = np.concatenate([[0], np.cumsum(groups)]).astype(int)  # rows of the groups
        self.dtype = _common_type(self.path.name, self.columns, types)
        self.shape = (int(self.first[-1]), len(self.columns))
        if min(groups, default=0) < 0:
            raise self._fewer()
        if 0 in self.shape:
            raise ValueError(f"{self.path.name} must have rows and columns, got shape {self.shape}")

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
        indices = np.asarray(indices, dtype=np.intp)
        out = np.empty((indices.size, self.shape[1]))
        group = np.searchsorted(self.first, indices, side="right") - 1
        with self._open() as file:
            for k in np.unique(group):
                wanted, start = np.flatnonzero(group == k), self.first[k]
                for batch in self._batches(file, [int(k)]):
                    place = indices[wanted] - start
                    here = (place >= 0) & (place < len(batch))
                    if here.any():
                        out[wanted[here]] = self._numbers(batch)[place[here]]
                    start += len(batch)
                    if place.max() < len(batch):
                        break
                else:
                    raise self._fewer()
        return out

    def loaders(self) -> Iterator[Loader]:
        """As in :class:`firal.engine.passes.ThreadedHome`.

        Yields
        ------
        callable
            Gives a block.
        """
        size, parts, held, seen = self.block_rows, [], 0, 0
        with self._open() as file:
            for batch in self._batches(file, range(file.num_row_groups)):
                parts.append(self._numbers(batch))
                held, seen = held + len(batch), seen + len(batch)
                if held < size:
                    continue
                numbers = np.concatenate(parts)
                whole = held - held % size
                for start in range(0, whole, size):
                    yield lambda block=numbers[start : start + size]: block
                parts, held = [numbers[whole:]], held - whole
        if seen != self.shape[0]:
            raise self._fewer()
        if held:
            rest = np.concatenate(parts)
            yield lambda: rest

    def _batches(self, file, groups):
        """Some rows after the other of these row groups."""
        import pyarrow

        try:
            yield from file.iter_batches(READ_ROWS, row_groups=list(groups), columns=self.columns)
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{self.path.name} must be an intact .parquet: {error}") from None

    def _fewer(self):
        return ValueError(
            f"{self.path.name} must be an intact .parquet: it claims {self.shape[0]} rows, and has "
            "others"
        )

    def _open(self):
        if find_spec("pyarrow") is None:
            raise ValueError(f"{self.path.name} needs the package pyarrow: pip install pyarrow")
        import pyarrow
        from pyarrow import parquet

        try:
            return parquet.ParquetFile(self.path)
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{self.path.name} must be an intact .parquet: {error}") from None

    def _numbers(self, table):
        """(k, d) float64; columns with blanks are refused."""
        out = np.empty((table.num_rows, self.shape[1]))
        for j, column in enumerate(table.columns):
            if column.null_count:
                raise ValueError(
                    f"column {self.columns[j]!r} of {self.path.name} must hold numbers, got "
                    f"{column.null_count} blank cells: fill them, or leave the column out"
                )
            out[:, j] = column.to_numpy(zero_copy_only=False)
        return out


def _common_type(name, columns, types):
    """The numpy type of all columns together."""
    from pyarrow import types as kinds

    absent = [column for column in columns if column not in types]
    if absent:
        raise ValueError(f"{name} has no column {absent[0]!r}, it has {', '.join(types)}")
    tests = (kinds.is_floating, kinds.is_integer, kinds.is_boolean)
    others = [column for column in columns if not any(test(types[column]) for test in tests)]
    if others:
        raise ValueError(
            f"all columns of {name} must be numbers, got {', '.join(others[:12])} of another type: "
            "leave them out, or encode them as numbers"
        )
    return np.result_type(*(types[column].to_pandas_dtype() for column in columns))
