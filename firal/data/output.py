"""Tables that are written: their bytes, in the format that the suffix says.

.csv, .tsv and .txt need nothing, .parquet needs the package pyarrow and .xlsx needs openpyxl. In
texts with separators a cell that a spreadsheet would take for a formula gets a quote in front.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from firal.data.cells import is_number
from firal.data.formats import needs

FORMULA = tuple("=+-@＝＋－＠\t\r\n")  # what a spreadsheet takes for one begins so
QUOTED = '",;\t\r\n'  # also what separates cells in other countries: `a;=1` would be two
EMPTY = '""'  # a line of one empty cell
WRITTEN = (".csv", ".tsv", ".txt", ".json", ".parquet", ".xlsx")


def check_suffix(path: Path) -> str:
    """Check that a table can be written in the format of its suffix.

    Parameters
    ----------
    path : Path
        Its name.

    Returns
    -------
    str
        The suffix, in lower case; ".csv" if there is none.

    Raises
    ------
    ValueError
        If the format is another one, or its package is absent.

    Examples
    --------
    >>> check_suffix(Path("round1.CSV"))
    '.csv'
    """
    suffix = path.suffix.lower()
    if suffix not in WRITTEN:
        raise ValueError(
            f"an output must end in {', '.join(WRITTEN)}, which is its format, got {path.name!r}"
        )
    if suffix == ".parquet":
        needs("pyarrow", path)
    if suffix == ".xlsx":
        needs("openpyxl", path)
    return suffix


def table_bytes(names: Sequence[str], columns: Sequence[Sequence], suffix: str = ".csv") -> bytes:
    """Make the content of a table file.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    columns : sequence of sequences
        Their values: texts, numbers, or None.
    suffix : str
        A format of ``WRITTEN`` except .json.

    Returns
    -------
    bytes
        The file. Texts are in UTF-8.

    Examples
    --------
    >>> table_bytes(["row", "id"], [[4, 0], ["a", "b,c"]])
    b'row,id\\n4,a\\n0,"b,c"\\n'
    """
    if suffix == ".parquet":
        return _parquet(names, columns)
    if suffix == ".xlsx":
        return _xlsx(names, columns)
    mark = "\t" if suffix == ".tsv" else ","
    lines = [mark.join(map(_cell, line)) for line in (names, *zip(*columns, strict=True))]
    return "".join(f"{line or EMPTY}\n" for line in lines).encode()


def _cell(value):
    """One cell of a text."""
    value = without_formula(value)
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in QUOTED) else text


def without_formula(cell: Any) -> Any:
    """Put a quote before a text that a spreadsheet would compute.

    Parameters
    ----------
    cell : object
        A value of a table.

    Returns
    -------
    object
        The same, or a text that begins with a quote; ``firal.data.labels`` removes it again.

    Examples
    --------
    >>> without_formula("=1+1"), without_formula("-1.5"), without_formula(-3), without_formula("@x")
    ("'=1+1", '-1.5', -3, "'@x")
    """
    return f"'{cell}" if isinstance(cell, str) and _is_computed(cell) else cell


def with_formula(text: str | None) -> str | None:
    """Undo :func:`without_formula`.

    Parameters
    ----------
    text : str or None
        A text that was read.

    Returns
    -------
    str or None
        Without the quote, if the rest would be a formula.

    Examples
    --------
    >>> with_formula("'=1+1"), with_formula("'tis"), with_formula(None)
    ('=1+1', "'tis", None)
    """
    if text is not None and text.startswith("'") and _is_computed(text[1:]):
        return text[1:]
    return text


def _is_computed(text):
    """Whether a spreadsheet takes a text for a formula, or would without quotes and spaces."""
    bare = text.lstrip("' ")
    if bare.startswith(FORMULA):
        return not is_number(bare)
    # behind marks that cannot be seen: at the start of a file, a byte order mark is dropped
    seen = (k for k, mark in enumerate(bare) if mark.isprintable() and mark not in "' ")
    bare = bare[next(seen, len(bare)) :]
    return bare.startswith(FORMULA) and not is_number(bare)


def _parquet(names, columns):
    import pyarrow
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.table(list(map(list, columns)), names=list(names)), out)
    return out.getvalue()


def _xlsx(names, columns):
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    for line in (names, *zip(*columns, strict=True)):
        try:
            sheet.append(list(line))
        except openpyxl.utils.exceptions.IllegalCharacterError as error:
            raise ValueError(f"a .xlsx cannot hold {str(error)!r:.60}: write a .csv") from None
        for cell in sheet[sheet.max_row]:
            if cell.data_type == "f":  # a text that begins with = is a text
                cell.data_type = "s"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
