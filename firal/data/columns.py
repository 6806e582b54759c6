"""Columns of a table as features: numbers.

All columns that are not numbers are named in one error, with the reason for each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from firal.data.cells import Cells, TableError, is_number, listed
from firal.data.encoding import indicators, is_missing, with_medians

# a number with a currency, a unit of percent, spaces, or marks of a program or a typesetter
DRESSED = re.compile(r"(?=.*\d)[\s\d.,'_%$\u20ac\u00a3\u00a5\u2212+eEdD-]+")
YES_NO = {"true": 1.0, "false": 0.0}
MOST = 5  # columns that an error shows


def as_features(
    cells: Cells,
    names: Sequence[str],
    guessed: bool,
    path: Path,
    one_hot: Sequence[str] = (),
    impute: bool = False,
) -> tuple[np.ndarray, list[str]]:
    """Make numbers of the named columns.

    Parameters
    ----------
    cells : Cells
        The table.
    names : sequence of str
        Its columns that are features.
    guessed : bool
        Whether a first line of points is only a guess.
    path : Path
        The file, for the message.
    one_hot : sequence of str
        Columns of categories, each of which becomes a column of zeros and ones.
    impute : bool
        Whether missing numbers become the median of their column.

    Returns
    -------
    features : np.ndarray of shape (n, d)
        True and False become 1 and 0. A column of vectors becomes one column per entry.
    names : list of str
        Names of the d features.

    Raises
    ------
    TableError
        If a column holds something else: all such columns are named, with the first bad cell.
    """
    columns, made, bad = [], [], {}
    by_name = dict(zip(cells.names, cells.columns, strict=True))  # there may be 50,000
    for name in names:
        column = by_name[name]
        if name in one_hot:
            categories, values = indicators(name, column)
            made += categories
            columns += list(values.T)
            continue
        if impute:
            column = [np.nan if is_missing(cell) else cell for cell in column]
        numbers = _numbers(column)
        # a cell of a .parquet may be a whole vector
        vectors = numbers is not None and numbers.ndim == 2
        parts = list(numbers.T) if vectors else [numbers]
        if impute and numbers is not None:
            parts = [with_medians(part, name) for part in parts]
        made += [f"{name}[{k}]" for k in range(len(parts))] if vectors else [name]
        columns += parts
        if numbers is None:
            bad[name] = next(k for k, cell in enumerate(column) if _number(cell) is None)
    if bad:
        raise _not_numbers(cells, bad, guessed, path)
    return np.column_stack(columns), made


def _numbers(column):
    """float64, or None if a cell is not a number."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        return column.astype(np.float64)
    try:
        if None in column:  # numpy would make it NaN
            return None
        if any(isinstance(cell, str) and "_" in cell for cell in column):  # it reads 1_0 as 10
            return None
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = [_number(cell) for cell in column]
        return None if None in numbers else np.array(numbers)


def _number(cell):
    if is_number(cell):
        return float(cell)
    return YES_NO.get(str(cell).strip().lower())


def _not_numbers(cells: Cells, bad: Mapping[str, int], guessed, path):
    """The TableError about columns that are not numbers: {name: first bad row}."""
    first, rows = min(bad.values()), len(cells.columns[0])
    line = [column[first] for column in cells.columns]
    next_line = [column[first + 1 if first + 1 < rows else 0] for column in cells.columns]
    if len(bad) == len(line) > 1 and all(map(is_number, next_line)) and not (guessed and not first):
        return TableError(
            f"{path.name} must hold numbers, got none in {cells.place(first)}, "
            f"{listed(line, 4)}: remove it if it is a header, a unit or a remark"
        )
    reasons = [_reason(cells, name, row) for name, row in bad.items()]
    one = len(bad) == 1
    what = f"column {next(iter(bad))!r}" if one else f"{len(bad)} columns"
    message = f"{what} of {path.name} must hold numbers, got "
    message += reasons[0].partition(": ")[2] if one else "; ".join(reasons[:MOST]) + _more(reasons)
    remedies = ("label_column", "id_column", "ignore", "one_hot", "impute")
    message += ": "
    if guessed and 0 in bad.values():
        message += "pass header=True if the first line is a header; otherwise "
        remedies = ("header", *remedies)
    message += (
        "use it as the label column or the id column, ignore it, encode its categories, or fill "
    )
    message += "in numbers"
    return TableError(message, remedies)


def _reason(cells, name, row):
    """What is wrong with a column, by its first bad cell and by how many there are."""
    column = cells.columns[cells.names.index(name)]
    cell = column[row]
    text = "" if cell is None else str(cell).strip()
    wrong = [k for k, other in enumerate(column) if _number(other) is None]
    where = cells.place(row)
    if is_missing(cell):
        blank = "a blank cell" if not text else repr(text)
        return f"{name!r}: {blank} in {where} ({len(wrong)} such), a missing value"
    shown = f"{name!r}: {text!r:.60} in {where}"
    if re.fullmatch(r"-?\d+,\d{1,2}|-?\d+,\d{4,}", text):
        return f"{shown}, a decimal comma: write a point"
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", text):
        return f"{shown}, a comma within a number: write it without"
    if isinstance(cell, list) and all(map(is_number, cell)):
        return f"{name!r}: a list of {len(cell)}, and {_unequal(column)}"
    if re.match(r"[\[{]", text):
        return f"{shown}, perhaps JSON: write one number per cell"
    kinds = {str(other) for other in column}
    if all(DRESSED.fullmatch(kind) for kind in kinds):
        return f"{shown}: write it as a plain number, such as -1.5 or 1e3"
    few = f", one of {len(kinds)} different values" if 1 < len(kinds) < len(column) else ""
    return f"{shown}{few}"


def _unequal(column):
    """What keeps lists of numbers from being vectors."""
    must = "lists must have one length and no blank"
    blank = next((row for row, cell in enumerate(column) if not isinstance(cell, list)), None)
    if blank is not None:
        return f"{must}, got a blank in row {blank}"
    lengths = {len(cell) for cell in column}
    return f"{must}, got {min(lengths)} to {max(lengths)}"


def _more(found):
    return "" if len(found) <= MOST else f"; and {len(found) - MOST} more"


def listed_features(names: Sequence[str]) -> str:
    """Say which columns are the features.

    Parameters
    ----------
    names : sequence of str
        Their names.

    Returns
    -------
    str
        All names if they are few, else the first and the last.
    """
    if len(names) <= 12:
        return listed(names)
    return f"{', '.join(names[:6])}, ..., {', '.join(names[-3:])}"
