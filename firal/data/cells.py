"""Cells of a user's table as they stand in the file: text (.csv, .tsv, .txt) or .parquet.

**Header.** One rule: the first line of a text is a header if none of its cells is a number. A
caller who knows better says so: ``header=True`` or ``header=False``. A .parquet file always names
its columns. Columns without a header are named "0", "1", and so on. Rows are 0-based, header
excluded.

**Text** is UTF-8, with or without a byte order mark, perhaps compressed (.csv.gz). Cells are
separated by tabs or semicolons if the first line holds one, and by commas otherwise. In a table of
several columns, empty lines are skipped, and so are rows of blank cells at its end; elsewhere they
are an error. In a table of one column, an empty line is an empty cell.

**Quotes.** A quote that is not closed in its line takes the next lines into one cell, and their
points would be lost without a word. So a cell may go over several lines only in columns that
nobody reads, and never if these lines look like rows of the table. Every complaint names the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from firal.common import checks
from firal.data.formats import refuse_twins, sheet_rows, text_lines
from firal.data.parquet_files import parquet_columns
from firal.data.table_files import suffix


class TableError(ValueError):
    """A table that is unclear, and what the caller may say about it.

    Parameters
    ----------
    message : str
        What came, what was expected, what to do.
    remedies : sequence of str
        What may help: some of "header", "ignore", "feature", "id_column" and "label_column".

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
    lines : list of int, or None
        Line of the file, from 1, in which each row begins; None if it has no lines.
    broken : dict
        From the name of a column to the first line at which a cell goes over several lines.
    """

    names: list[str]
    columns: list
    has_header: bool
    lines: list[int] | None = None
    broken: dict[str, int] | None = None

    def place(self, row: int) -> str:
        """Say where a row stands.

        Parameters
        ----------
        row : int
            Row, from 0.

        Returns
        -------
        str
            The line of a text, as an editor counts it, or the row.
        """
        return f"row {row}" if self.lines is None else f"line {self.lines[row]}"


def read_cells(path: Path, header: bool | None = None) -> Cells:
    """Read the cells of a text, .parquet or .xlsx file without interpreting them.

    Parameters
    ----------
    path : Path
        An existing file that ends in .csv, .tsv, .txt (also with .gz), .parquet or .xlsx.
    header : bool, optional
        Whether the first line of a text or sheet is a header. By default it is one if none of its
        cells is a number. Has no effect on a .parquet file.

    Returns
    -------
    Cells
        Names and cells of the columns.

    Raises
    ------
    ValueError
        If the file is empty, damaged or not in UTF-8, if a quote is not closed or a line has
        another number of cells than the first, if two columns have the same name, or if a package
        that the format needs is absent.
    """
    if header is not None:
        checks.boolean(header, "header")
    if suffix(path) == ".parquet":
        return Cells(*parquet_columns(path), True)
    if suffix(path) == ".xlsx":
        lines, starts, separator = sheet_rows(path), None, ", "
    else:
        lines, starts, separator = text_lines(path)
    first = [str("" if cell is None else cell).strip() for cell in lines[0]]
    width = len(first)
    has_header = not any(map(is_number, first)) if header is None else header
    names = first if has_header else [str(k) for k in range(width)]
    blank = [all(cell is None or not str(cell).strip() for cell in line) for line in lines]
    end = len(lines)
    while width > 1 and end > 1 and blank[end - 1]:  # formats below a table, not points
        end -= 1
    kept = [k for k in range(int(has_header), end) if width == 1 or lines[k] != [None]]
    places = None if starts is None else [starts[k] for k in kept]
    gap = next((row for row, k in enumerate(kept) if blank[k] and width > 1), None)
    lines = [lines[k] for k in kept]
    cells = Cells(names, [], has_header, places, {})
    if gap is not None:
        raise ValueError(f"{path.name}: {cells.place(gap)} is blank in all columns: remove it")
    for row, line in enumerate(lines):
        if len(line) != width:
            remedy = "a cell that holds the separator must stand in quotes"
            if first[0].startswith("#"):
                remedy = f"its first line is perhaps a comment, {first[0]!r:.40}: remove it"
            raise ValueError(
                f"{path.name} must have {width} cells in every line, as in its first, got "
                f"{len(line)} in {cells.place(row)}: {separator.join(map(str, line))!r:.60}; "
                f"{remedy}"
            )
        if starts is not None:
            _note_line_breaks(cells, line, row, separator, path)
    if len(set(names)) < width:
        if names.count("") > 1:
            raise ValueError(
                f"{path.name} must have a name for every column, got {names.count('')} blanks in "
                "its first line: name them, or remove a title above the names"
            )
        refuse_twins(names, path)
    return cells._replace(columns=list(zip(*lines, strict=True)) or [()] * width)


def refuse_line_breaks(cells: Cells, names: Iterable[str], path: Path) -> None:
    """Raise ValueError if a cell of a column that is used goes over several lines.

    Parameters
    ----------
    cells : Cells
        The table.
    names : iterable of str
        The columns that are used.
    path : Path
        Its file, for the message.
    """
    for name in names:
        line = (cells.broken or {}).get(name)
        if line is not None:
            raise ValueError(
                f"a cell of the column {name!r} of {path.name} goes over several lines, from line "
                f"{line} on: is there a quote too many?"
            )


def _note_line_breaks(cells, line, row, separator, path):
    """Keep which columns have a line break in a cell; ValueError if it took rows of the table."""
    for name, cell in zip(cells.names, line, strict=True):
        if cell is None or "\n" not in cell:
            continue
        cells.broken.setdefault(name, cells.lines[row])
        if any(part.count(separator) >= len(line) - 1 > 0 for part in cell.split("\n")[1:]):
            raise ValueError(
                f"a quote in line {cells.lines[row]} of {path.name} takes the "
                f"{cell.count(chr(10))} lines after it into one cell of the column {name!r}: "
                "close or remove it"
            )


def is_number(value: Any) -> bool:
    """Tell whether a cell is a number.

    Parameters
    ----------
    value : object
        The cell.

    Returns
    -------
    bool
        True if ``float`` accepts it. So "nan" and "inf" are numbers, and a blank is not. Nor is
        1_000, which is so written in programs only.
    """
    if isinstance(value, str) and "_" in value:
        return False
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
