"""Columns that are hardly features: labels, ids, splits, and numbers that mean "missing".

None of them is seen in the result: the picks are only worse. So a column whose name or content
says that it is one is refused until the caller says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from firal.data.cells import TableError, is_number

# what pandas makes of an index: in a .csv, in a .csv that it read and wrote again, in a .parquet
INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__")
LABEL_NAMES = "target|targets|label|labels|class|classes|y|y_true|ground_truth|outcome|diagnosis"
LABEL_NAMES += r"|species|annotation|predictions?|predicted|y_pred"
LABEL_NAMES += r"|.*[_ .-](?:label|target|class|kind)"
LABEL_NAMES += "|klasse|clase|class[e]|etikett|etiqueta"  # in other languages
ID_NAMES = r"id|ids|uid|uuid|guid|index|idx|row|rows|rank|row_?number|key"
SPLIT_NAMES = "fold|split|partition|subset|is_(?:train|test|valid)"
LABEL = re.compile(rf"(?:{LABEL_NAMES})", re.IGNORECASE)
ID = re.compile(rf"(?:(?i:{ID_NAMES})|.*[a-z](?:ID|Id)|(?i:.*[_ .-]id|id[_ .-].*))")
SPLIT = re.compile(rf"(?:{SPLIT_NAMES})", re.IGNORECASE)
SHORTEST_COUNT = 5  # fewer rows than this may be 1, 2, 3 by chance
SHORTEST_RISE = 20  # fewer whole numbers than this may go up all along by chance
DIGITS, LARGEST_WHOLE = 16, 2**53  # float64 holds all whole numbers up to this one
SOME = 1000  # cells among which such numbers are sought
MISSING = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)  # numbers that stand for no number
FAR = 2  # how many times the range of the others such a number is away from them
MOST = 5  # columns that an error shows


def doubtful(names: Sequence[str], columns: Sequence, confirmed: Iterable[str] = ()) -> list[str]:
    """Find columns that are hardly features: labels, ids and splits.

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
            empty = len(column) and all(_is_blank(cell) for cell in column)
            what = "empty: a separator too many in every line" if empty else "the index of a "
            found.append(f"{name!r}, which is perhaps {what}{'' if empty else 'data frame'}")
        elif LABEL.fullmatch(name):
            found.append(f"{name!r}, which is named like a label")
        elif ID.fullmatch(name):
            found.append(f"{name!r}, which is named like an id")
        elif SPLIT.fullmatch(name):
            found.append(f"{name!r}, which is named like a split of the points")
        elif counts_rows(column):
            found.append(f"{name!r}, which counts the rows")
        elif rises(column):
            found.append(f"{name!r}, whose whole numbers rise or fall all along, as ids and times")
        elif beyond_doubles(column):
            found.append(f"{name!r}, whose whole numbers have more than 15 digits, as ids")
    return found


@np.errstate(invalid="ignore")  # infinity minus infinity is neither
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
    if len(column) < SHORTEST_COUNT or not _all_numbers(column[:3]):
        return False
    if not (np.diff(_numbers(column[:3])) == 1).all():
        return False  # nearly always decided here, without reading the column
    return _all_numbers(column) and bool((np.diff(_numbers(column)) == 1).all())


@np.errstate(invalid="ignore")
def rises(column: Sequence) -> bool:
    """Tell whether a column holds whole numbers that rise, or fall, from row to row.

    Parameters
    ----------
    column : sequence
        Numbers or texts.

    Returns
    -------
    bool
        False if there are fewer than ``SHORTEST_RISE`` rows.

    Examples
    --------
    >>> rises([10 * k + k % 3 for k in range(20)]), rises([k % 7 for k in range(20)])
    (True, False)
    """
    if len(column) < SHORTEST_RISE:
        return False
    for part in (column[:SHORTEST_RISE], column):  # nearly always decided by the first rows
        if not _all_numbers(part):
            return False
        steps = np.diff(numbers := _numbers(part))
        if not ((steps > 0).all() or (steps < 0).all()) or (numbers != np.trunc(numbers)).any():
            return False
    return True


def beyond_doubles(column: Sequence) -> bool:
    """Tell whether a column holds whole numbers of which a float64 loses the last digits.

    Parameters
    ----------
    column : sequence
        Numbers or texts.

    Returns
    -------
    bool
        True if one of the first thousand is a whole number, written without point and exponent,
        beyond 2^53.

    Examples
    --------
    >>> beyond_doubles(["9007199254740993", "2"]), beyond_doubles(["1e30", "2"])
    (True, False)
    """
    column = column[:SOME]
    if isinstance(column, np.ndarray):
        whole = column.dtype.kind in "iu" and column.dtype.itemsize == 8 and column.size
        return bool(whole) and max(-int(column.min()), int(column.max())) > LARGEST_WHOLE
    long = (str(cell).strip().lstrip("+-") for cell in column if len(str(cell)) >= DIGITS)
    found = (text.lstrip("0") for text in long if text.isdecimal())
    return any(len(text) > DIGITS or int(text or "0") > LARGEST_WHOLE for text in found)


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
        more = f"; and {len(found) - MOST} more" if len(found) > MOST else ""
        raise TableError(
            f"{path.name} must have features only besides the columns that are named otherwise, "
            f"got {'; '.join(found[:MOST])}{more}: use it as the label column or the id "
            "column, ignore it, or confirm that it is a feature",
            ("label_column", "id_column", "ignore", "feature"),
        )


def refuse_marks(
    names: Sequence[str], features: np.ndarray, path: Path, confirmed: Iterable[str] = ()
) -> None:
    """Raise TableError if a number such as -999 seems to mean that there is none.

    Parameters
    ----------
    names : sequence of str
        Names of the d columns.
    features : np.ndarray of shape (n, d)
        Their numbers.
    path : Path
        The file, for the message.
    confirmed : iterable of str
        Columns that are right as they stand.
    """
    if len(features) == 0:
        return
    ends = np.array([features.min(axis=0), features.max(axis=0)])
    for side, k in np.argwhere(np.isin(ends, MISSING)):
        mark, column = ends[side, k], features[:, k]
        others = column[column != mark]
        if names[k] in confirmed or len(others) < 2 or len(column) - len(others) < 2:
            continue
        low, high = others.min(), others.max()
        if min(abs(mark - low), abs(mark - high)) > FAR * (high - low):
            raise TableError(
                f"column {names[k]!r} of {path.name} must hold measurements, got {mark:g} in "
                f"{len(column) - len(others)} rows, far from all others, {low:g} to {high:g}: it "
                "means perhaps that a value is missing. Leave these cells blank and fill them by "
                "the median, ignore the column, or confirm that it is a feature",
                ("impute", "ignore", "feature"),
            )


def _is_blank(cell):
    return cell is None or not str(cell).strip()


def _all_numbers(column):
    numeric = isinstance(column, np.ndarray) and column.dtype.kind in "biuf"
    return numeric or all(map(is_number, column))


def _numbers(column):
    return np.array([float(cell) for cell in column])
