"""Columns of a table as features: numbers, and a doubt about those that look like something else.

A label or an id among the features is not seen in the result: the picks are only worse. So a
column whose name or content says that it is one is refused until the caller says what it is.
All columns that are not numbers are named in one error, with the reason for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from firal.data.cells import Cells, TableError, is_number, listed
from firal.data.encoding import indicators, is_missing, with_medians

# what pandas makes of an index: in a .csv, in a .csv that it read and wrote again, in a .parquet
INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__")
LABEL_NAMES = "target|targets|label|labels|class|classes|y|y_true|ground_truth|outcome"
ID_NAMES = r"id|ids|uid|uuid|guid|index|idx|row|rows|rank|row_?number|key"
LABEL = re.compile(rf"(?:{LABEL_NAMES})", re.IGNORECASE)
ID = re.compile(rf"(?:(?i:{ID_NAMES})|.*[a-z](?:ID|Id)|(?i:.*[_ .-]id|id[_ .-].*))")
SHORTEST_COUNT = 5  # fewer rows than this may be 1, 2, 3 by chance
YES_NO = {"true": 1.0, "false": 0.0}
MOST = 5  # columns that an error shows


def doubtful(names: Sequence[str], columns: Sequence, confirmed: Iterable[str] = ()) -> list[str]:
    """Find columns that are hardly features: labels and ids.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    columns : sequence
        Their n cells each: numbers or texts.
    confirmed : iterable of str
        Columns that the caller says are features.

    Returns
    -------
    list of str
        For each such column what it is and why, as "'target', which is named like a label".

    Examples
    --------
    >>> doubtful(["size", "target", "case"], [[3, 1, 4, 1, 5], [0, 1, 0, 1, 1], [7, 8, 9, 10, 11]])
    ["'target', which is named like a label", "'case', which counts the rows"]
    """
    confirmed, found = set(confirmed), []
    for name, column in zip(names, columns, strict=True):
        if name in confirmed:
            continue
        if name in INDEX_NAMES:
            found.append(f"{name!r}, which is perhaps the index of a data frame")
        elif LABEL.fullmatch(name):
            found.append(f"{name!r}, which is named like a label")
        elif ID.fullmatch(name):
            found.append(f"{name!r}, which is named like an id")
        elif counts_rows(column):
            found.append(f"{name!r}, which counts the rows")
    return found


def counts_rows(column: Sequence) -> bool:
    """Tell whether a column is k, k + 1, k + 2, ...: an index and not a measurement.

    Parameters
    ----------
    column : sequence
        Numbers or texts.

    Returns
    -------
    bool
        False if there are fewer than ``SHORTEST_COUNT`` rows.
    """
    if len(column) < SHORTEST_COUNT or not all(map(is_number, column[:3])):
        return False
    if float(column[1]) - float(column[0]) != 1 or float(column[2]) - float(column[1]) != 1:
        return False  # nearly always decided here, without reading the column
    if not isinstance(column, np.ndarray):
        if not all(map(is_number, column)):
            return False
        column = np.array([float(cell) for cell in column])
    return bool((np.diff(column) == 1).all())


def refuse_doubtful(
    names: Sequence[str], columns: Sequence, path: Path, confirmed: Iterable[str] = ()
) -> None:
    """Raise TableError if a column looks like a label or an id.

    Parameters
    ----------
    names, columns, confirmed
        As in :func:`doubtful`.
    path : Path
        The file, for the message.
    """
    found = doubtful(names, columns, confirmed)
    if found:
        raise TableError(
            f"{path.name} must have features only besides the columns that are named otherwise, "
            f"got {'; '.join(found[:MOST])}{_more(found)}: use it as the label column or the id "
            "column, ignore it, or confirm that it is a feature",
            ("label_column", "id_column", "ignore", "feature"),
        )


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
        True and False become 1 and 0.
    names : list of str
        Names of the d features.

    Raises
    ------
    TableError
        If a column holds something else: all such columns are named, with the first bad cell.
    """
    columns, made, bad = [], [], {}
    for name in names:
        column = cells.columns[cells.names.index(name)]
        if name in one_hot:
            categories, values = indicators(name, column)
            made += categories
            columns += list(values.T)
            continue
        if impute:
            column = [np.nan if is_missing(cell) else cell for cell in column]
        numbers = _numbers(column)
        if impute and numbers is not None:
            numbers = with_medians(numbers, name)
        made.append(name)
        columns.append(numbers)
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
    kinds = {str(other) for other in column}
    few = f", one of {len(kinds)} different values" if 1 < len(kinds) < len(column) else ""
    return f"{shown}{few}"


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
