"""Cells of a user's table as they stand in the file: text (.csv, .tsv, .txt) or .parquet.

**Header.** One rule: the first line of a text is a header if none of its cells is a number. A
caller who knows better says so: ``header=True`` or ``header=False``. A .parquet file always names
its columns. Columns without a header are named "0", "1", and so on. Rows are 0-based, header
excluded.

**Text** is UTF-8, with or without a byte order mark. Cells are separated by tabs or semicolons if
the first line holds one, and by commas otherwise. In a table of several columns, empty lines are
skipped. In a table of one column, an empty line is an empty cell.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from firal.common import checks

TEXT = (".csv", ".tsv", ".txt")
SUFFIXES = (".npy", ".npz", *TEXT, ".parquet")


class TableError(ValueError):
    """A table that is unclear, and what the caller may say about it.

    Parameters
    ----------
    message : str
        What came, what was expected, what to do.
    remedies : sequence of str
        What may help: some of "header", "ignore", "id_column" and "label_column".

    Attributes
    ----------
    remedies : tuple of str
        The same.
    """

    def __init__(self, message: str, remedies: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.remedies = tuple(remedies)


class Cells(NamedTuple):
    """A table, column by column.

    Attributes
    ----------
    names : list of str
        Names of the columns, all different.
    columns : list
        For each column its n cells: texts (None for an empty line), or values of a .parquet file.
    has_header : bool
        True if the names come from the file, False if they are "0", "1", ...
    """

    names: list[str]
    columns: list
    has_header: bool


def existing_table(path: str | os.PathLike) -> Path:
    """Check that a path is a file in one of the formats of ``SUFFIXES``.

    Parameters
    ----------
    path : str or path
        Where the table should be.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    ValueError
        If it is absent, a folder, or has another suffix.
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"a table must end in {', '.join(SUFFIXES)}, got the folder {path}")
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"a table must end in {', '.join(SUFFIXES)}, got {path.name}")
    if not path.is_file():
        raise ValueError(f"no file {path}")
    return path


def read_cells(path: Path, header: bool | None = None) -> Cells:
    """Read the cells of a text or .parquet file without interpreting them.

    Parameters
    ----------
    path : Path
        An existing file that ends in .csv, .tsv, .txt or .parquet.
    header : bool, optional
        Whether the first line of a text is a header. By default it is one if none of its cells is
        a number. Has no effect on a .parquet file.

    Returns
    -------
    Cells
        Names and cells of the columns.

    Raises
    ------
    ValueError
        If the file is empty, damaged or not in UTF-8, if a line has another number of cells than
        the first, if two columns have the same name, or if pyarrow is needed and absent.
    """
    if header is not None:
        checks.boolean(header, "header")
    if path.suffix.lower() == ".parquet":
        return _read_parquet(path)
    lines, separator = _read_lines(path)
    first = [(cell or "").strip() for cell in lines[0]]
    width = len(first)
    has_header = not any(map(is_number, first)) if header is None else header
    names = first if has_header else [str(k) for k in range(width)]
    lines = lines[1:] if has_header else lines
    if width > 1:
        lines = [line for line in lines if line not in ([None], [""])]
    for row, line in enumerate(lines):
        if len(line) != width:
            raise ValueError(
                f"{path.name} must have {width} cells per line, got {len(line)} in row "
                f"{row}: {separator.join(line)!r:.60}"
            )
    if len(set(names)) < width:
        raise ValueError(f"{path.name} must have distinct column names, got {listed(names)}")
    return Cells(names, list(zip(*lines, strict=True)) or [()] * width, has_header)


def _read_lines(path):
    """Lines of a text as lists of cells, and the separator; an empty line is [None]."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            start = file.readline()
            file.seek(0)
            separator = next((mark for mark in "\t;" if mark in start), ",")
            lines = [line or [None] for line in csv.reader(file, delimiter=separator)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path.name} must be text in UTF-8: {error}") from None
    if not lines:
        raise ValueError(f"{path.name} is empty")
    return lines, separator


def _read_parquet(path):
    if find_spec("pyarrow") is None:
        raise ValueError(
            f"{path.name} needs the package pyarrow: pip install pyarrow, or save it as .csv"
        )
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path.name} must be an intact .parquet: {error}") from None
    columns = []
    for column in table.columns:
        kind = column.type
        plain = pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)
        quick = plain and column.null_count == 0
        columns.append(column.to_numpy() if quick else column.to_pylist())
    return Cells(table.column_names, columns, True)


def is_number(value: Any) -> bool:
    """Tell whether a cell is a number.

    Parameters
    ----------
    value : object
        The cell.

    Returns
    -------
    bool
        True if ``float`` accepts it. So "nan" and "inf" are numbers, and a blank is not.
    """
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def listed(names: Iterable, most: int = 12) -> str:
    """Join names for a message.

    Parameters
    ----------
    names : iterable
        The names.
    most : int
        How many to show at most.

    Returns
    -------
    str
        Names with commas between them, and how many there are if not all are shown.
    """
    names = list(map(str, names))
    more = f", ... ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more
