"""Readers of single formats: text with separators, and .xlsx.

They know nothing of headers or labels; ``firal.data.cells`` does. .xlsx needs the package openpyxl.
The reader of .parquet is ``firal.data.parquet_files``.
"""

from __future__ import annotations

import csv
import gzip
import logging
import re
import zlib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from firal.data.damage import intact
from firal.data.kinds import real_kind
from firal.data.unpacking import (
    refuse_large_archive,
    refuse_large_sheet,
    refuse_large_text,
)

log = logging.getLogger("firal")

SHOWN = 12  # names of columns in a message
CHECK_ROWS = 100  # of a sheet; each has up to 16,384 cells


def text_lines(path: Path) -> tuple[list[list], list[int], str]:
    """Split a text into lines and cells.

    Parameters
    ----------
    path : Path
        A text, perhaps compressed.

    Returns
    -------
    lines : list of list
        Cells of each line; an empty line is [None].
    starts : list of int
        Line of the file, from 1, in which each begins.
    separator : str
        What stands between the cells.

    Raises
    ------
    ValueError
        If it is empty, not in UTF-8, or has a quote that is not closed.
    """
    lines, starts, reader = [], [], None
    try:
        packed = path.suffix.lower() == ".gz"
        if packed:
            refuse_large_text(path)
        opened = gzip.open if packed else open
        with opened(path, mode="rt", newline="", encoding="utf-8-sig") as file:
            start = file.readline()
            file.seek(0)
            bare = re.sub('"[^"]*"', "", start)
            separator = next((mark for mark in "\t;" if mark in bare), ",")
            reader = csv.reader(_texts(file, path), delimiter=separator, strict=True)
            begin = 1
            for line in reader:
                lines.append(line or [None])
                starts.append(begin)
                begin = reader.line_num + 1
    except csv.Error as error:
        fault = "a quote that is not closed, or that does not enclose its cell,"
        if "field limit" in str(error):
            fault = "a very long cell, perhaps because a quote is not closed,"
        raise ValueError(
            f"{path.name} has {fault} in line {starts[-1] + 1 if starts else 1} or after: {error}"
        ) from None
    except UnicodeDecodeError as error:
        got = f"other bytes after line {len(lines)}: {error.reason}"
        start = b"" if packed else path.read_bytes()[:4]
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            got = "UTF-32" if start == b"\xff\xfe\0\0" else "UTF-16"
        raise ValueError(
            f"{path.name} must be text in UTF-8, got {got}{real_kind(path) or '; save it as UTF-8'}"
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path.name} must be an intact .gz: {error}{real_kind(path)}") from None
    if not lines:
        raise ValueError(f"{path.name} is empty")
    first = lines[0][0] or ""
    if first.startswith("{\\rtf"):
        raise ValueError(f"{path.name} must be plain text, got rich text (RTF): save it as CSV")
    if start.strip().lower().startswith("sep="):
        raise ValueError(
            f"{path.name} must begin with its header or its first point, got {start.strip()!r}, a "
            "line for Excel: remove it"
        )
    lines[0][0] = first.lstrip("\ufeff") if first else lines[0][0]
    return lines, starts, separator


def _texts(file, path) -> Iterator[str]:
    """Lines without NUL, which no text has."""
    for number, line in enumerate(file, 1):
        if "\0" in line:
            raise ValueError(
                f"{path.name} must be text in UTF-8, got a NUL byte in line {number}: it is "
                "damaged, or a text in UTF-16; save it as UTF-8"
            )
        yield line


def refuse_twins(names: Sequence[str], path: Path) -> None:
    """Raise ValueError if two columns have the same name.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    path : Path
        The file, for the message.
    """
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        more = ", ..." if len(names) > SHOWN else ""
        raise ValueError(
            f"{path.name} must have distinct column names, got {twice!r} twice among "
            f"{', '.join(names[:SHOWN])}{more}: rename one"
        )


def needs(package: str, path: Path) -> None:
    """Raise ValueError if the package that a format needs is absent.

    Parameters
    ----------
    package : str
        Its name.
    path : Path
        The file, for the message.
    """
    if find_spec(package) is None:
        raise ValueError(
            f"{path.name} needs the package {package}: pip install {package}, or use .csv"
        )


def sheet_rows(path: Path) -> list[list]:
    """Read the first sheet of a workbook.

    Parameters
    ----------
    path : Path
        A .xlsx file.

    Returns
    -------
    list of list
        Values of each row; None where a cell is empty.

    Raises
    ------
    ValueError
        If it is empty or damaged, or openpyxl is absent.
    """
    needs("openpyxl", path)
    import openpyxl

    with intact(path, ".xlsx"):
        refuse_large_archive(path)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        rows, cells = [], 0
        for row in book.worksheets[0].iter_rows(values_only=True):
            rows.append(list(row))
            cells += len(row)
            if len(rows) % CHECK_ROWS == 0:
                refuse_large_sheet(path, cells)
        if len(book.worksheets) > 1:
            log.info(
                f"{path.name}: only the first sheet is read, {book.worksheets[0].title!r} of "
                f"{len(book.worksheets)}"
            )
    if not rows:
        raise ValueError(f"{path.name} is empty")
    return rows
