"""Tables of a user: features of all points, and labels of some of them.

Features: .npy (memory-mapped), .npz (the array ``features``, or the only two-dimensional one),
.csv / .tsv / .txt (``is_header`` says when their first line is a header) or .parquet.
Columns that are not features are asked for by name. Rows are counted from 0; a header is no row.

Labels become text, so that 3, 3.0, "3" and "3.0" are the same class; a blank cell, NaN (also as
text) and None mean that the point has no label. Nothing is ever unpickled.
"""

from __future__ import annotations

import csv
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from firal.data.files import read_npy, read_npz

TEXT = (".csv", ".tsv", ".txt")
SUFFIXES = (".npy", ".npz", *TEXT, ".parquet")
LABEL_NAMES = ("label", "labels", "y", "class", "target")  # a header of one column, in any case
# what pandas makes of an index: in a .csv, in a .csv that it read and wrote again, in a .parquet
INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__")


def read_table(path, columns=(), ignore=()):
    """Features (n, d), and {name: list of n texts or None} of the ``columns`` asked for.

    All other columns are features, but for those named in ``ignore``. In a .npz the names are
    those of its arrays, and what is not asked for is ignored.
    """
    path = _existing(path)
    if _kind(path) == ".npy":
        if columns or ignore:
            raise ValueError(
                f"{path.name} has no named columns, got {', '.join(columns or ignore)}"
            )
        return _with_rows(read_npy(path), path), {}
    if _kind(path) == ".npz":
        X, found = _columns_of_npz(path, columns)
        return _with_rows(X, path), found
    wanted = (*columns, *ignore)
    header, cells = read_cells(path, lambda first: is_header(first, path, wanted))
    for name in wanted:
        if name not in header:
            raise ValueError(f"{path.name} has no column {name!r}, it has {_listed(header)}")
    found = {name: [as_text(v) for v in cells[header.index(name)]] for name in columns}
    names = [name for name in header if name not in wanted]
    if not names:
        raise ValueError(f"{path.name} must have columns of numbers besides {', '.join(wanted)}")
    index = index_among(names)
    if index is not None:
        raise ValueError(
            f"{path.name} must have names for its features, got a column {index!r}, perhaps the "
            f"index of a data frame: --ignore '{index}' leaves it out, --id-column '{index}' "
            "uses it as names of the points"
        )
    X = [_as_numbers(cells[header.index(name)], name, path) for name in names]
    return _with_rows(np.column_stack(X), path), found


def is_header(first, path, wanted=()):
    """Does the first line of a text name the columns, or is it a point?

    It names them if no cell is a number, if it has a column ``wanted`` by name, or if it counts
    the columns from 0 as pandas does, perhaps after the blank name of an index.
    """
    cells = [cell.strip() for cell in first]
    if not any(map(is_number, cells)):
        return True
    if any(cell and cell in wanted and not is_number(cell) for cell in cells):
        return True
    counted = cells[1:] if cells[0] == "" else cells
    if len(counted) < 2 or counted != [str(k) for k in range(len(counted))]:
        return False
    if len(counted) == 2:
        raise ValueError(
            f"{path.name} must begin with names or with a point, got 0,1, which may be either: "
            "give the columns names"
        )
    return True


def index_among(names):
    """The first of the names that is perhaps the index of a data frame, or None."""
    return next((name for name in names if name in INDEX_NAMES), None)


def read_labels(path, n, ids=None, id_name="id"):
    """{row: label} of the points that ``path`` gives a label; n rows, ``ids`` their names if any.

    Three forms: one entry per point, n in all, blank where there is no label (.npy, or a table
    of one column, perhaps with a header); a table with a header that has ``label`` and ``row`` (or
    the column of ids); a table without a header, of two columns: row, label. Other columns do not
    matter.
    """
    path = _existing(path)
    if _kind(path) == ".npy":
        return _one_per_point(read_npy(path), n, path)
    if _kind(path) == ".npz":
        wanted = ", ".join(suffix for suffix in SUFFIXES if suffix != ".npz")
        raise ValueError(f"labels must be in a file that ends in {wanted}, got {path.name}")
    header, cells = read_cells(path, _labels_have_header)
    if len(header) == 1:
        values = _entries(cells[0], n, path) if _kind(path) in TEXT else cells[0]
        return _one_per_point(np.array(values, dtype=object), n, path)
    if header == ["0", "1"]:  # no header
        header = ["row", "label"]
    by_row, by_id = "row" in header, ids is not None and id_name in header
    if "label" not in header or not (by_row or by_id):
        key = "row" if ids is None else f"row (or {id_name})"
        raise ValueError(
            f"{path.name} must have the columns {key} and label, or one entry for each of the "
            f"{n} points, got the columns {_listed(header)}"
        )
    labels = [as_text(value) for value in cells[header.index("label")]]
    rows = _row_numbers(cells[header.index("row")], n, path) if by_row else None
    if by_id:
        named = _rows_of_ids(cells[header.index(id_name)], ids, id_name, path)
        if by_row and rows != named:
            k = next(k for k, (a, b) in enumerate(zip(rows, named, strict=True)) if a != b)
            raise ValueError(
                f"{path.name} contradicts itself: row {rows[k]} has the {id_name} "
                f"{ids[rows[k]]!r}, got {ids[named[k]]!r}: was the table of features reordered?"
            )
        rows = named
    return merge([dict([pair]) for pair in zip(rows, labels, strict=True) if pair[1] is not None])


def merge(parts):
    """One {row: label} of several; ValueError if two of them disagree."""
    merged = {}
    for part in parts:
        for row, label in part.items():
            if merged.setdefault(row, label) != label:
                raise ValueError(f"row {row} has two labels, {merged[row]!r} and {label!r}")
    return merged


def as_text(value):
    """Text of one cell; None for blank, None, NaN and the text nan in any case.

    Whole numbers lose their decimal point, also as text: pandas writes 1.0 when a column of
    integers has blanks.
    """
    if value is None or value != value:
        return None
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    text = str(value).strip()
    if text == "" or text.lower() == "nan":
        return None
    return text.partition(".")[0] if re.fullmatch(r"-?[0-9]+\.0+", text) else text


def check_ids(ids, id_name):
    """ValueError if two points have the same id."""
    place = {name: row for row, name in enumerate(ids)}
    if len(place) < len(ids):
        twice = next(name for row, name in enumerate(ids) if place[name] != row)
        raise ValueError(f"the column {id_name!r} must hold distinct ids, got {twice!r} twice")


def _existing(path):
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"a table must end in {', '.join(SUFFIXES)}, got the folder {path}")
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"a table must end in {', '.join(SUFFIXES)}, got {path.name}")
    if not path.is_file():
        raise ValueError(f"no file {path}")
    return path


def _kind(path):
    return path.suffix.lower()


def _with_rows(X, path):
    if X.ndim == 2 and len(X) == 0:
        raise ValueError(f"{path.name} has no rows")
    return X


def _columns_of_npz(path, columns):
    arrays = read_npz(path)
    tables = [key for key in arrays if arrays[key].ndim == 2]
    key = "features" if "features" in arrays else tables[0] if len(tables) == 1 else None
    if key is None:
        raise ValueError(f"{path.name} must hold an array named features, got {_listed(arrays)}")
    found = {}
    for name in columns:
        if name not in arrays:
            raise ValueError(f"{path.name} has no array {name!r}, it has {_listed(arrays)}")
        if arrays[name].shape != arrays[key].shape[:1]:
            raise ValueError(
                f"{name} in {path.name} must have shape ({len(arrays[key])},), one entry per "
                f"point, got {arrays[name].shape}"
            )
        found[name] = [as_text(value) for value in arrays[name].tolist()]
    return arrays[key], found


def read_cells(path, has_header):
    """Names of the columns, and their cells, column by column.

    ``has_header`` decides by the first line of a text; without a header the names are 0, 1, ..
    An empty line of a text with one column is None.
    """
    if _kind(path) == ".parquet":
        return _read_parquet(path)
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
    width = len(lines[0])
    first = [cell or "" for cell in lines[0]]
    header = [str(k) for k in range(width)]
    if has_header(first):
        header, lines = [name.strip() for name in first], lines[1:]
    if width > 1:
        lines = [line for line in lines if line not in ([None], [""])]  # a blank line is no point
    for number, line in enumerate(lines):
        if len(line) != width:
            raise ValueError(
                f"{path.name} must have {width} cells per line, got {len(line)} in row "
                f"{number}: {separator.join(line)!r:.60}"
            )
    if len(set(header)) < width:
        raise ValueError(f"{path.name} must have distinct column names, got {_listed(header)}")
    return header, list(zip(*lines, strict=True)) or [()] * width


def _labels_have_header(first):
    """One column: see ``_entries``. Two: "row,label" may be left out. More: always."""
    return len(first) > 2 or (len(first) == 2 and not (as_text(first[0]) or "").isdecimal())


def _entries(cells, n, path):
    """One column of text without its header and without an empty line after its end."""
    texts = [as_text(cell) for cell in cells]
    first_is_unique = texts[0] is not None and texts[0] not in texts[1:]
    if first_is_unique and texts[0].lower() in LABEL_NAMES:
        cells = cells[1:]
    elif first_is_unique and len(cells) == n + 1:
        if cells[-1] is None:
            raise ValueError(
                f"{path.name} must have one entry for each of the {n} points, got {n + 1}: either "
                f"{texts[0]!r} is a header, then call it label, or remove the empty last line"
            )
        cells = cells[1:]
    if len(cells) == n + 1 and as_text(cells[-1]) is None:
        cells = cells[:-1]
    return cells


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
    cells = []
    for column in table.columns:
        kind = column.type
        plain = pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)
        quick = plain and column.null_count == 0
        cells.append(column.to_numpy() if quick else column.to_pylist())
    return table.column_names, cells


def _as_numbers(cells, name, path):
    try:
        if not isinstance(cells, np.ndarray) and None in cells:  # numpy would make it NaN
            raise TypeError
        return np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):
        row = next(k for k, value in enumerate(cells) if not is_number(value))
        got = "a blank cell" if as_text(cells[row]) is None else repr(cells[row])
        raise ValueError(
            f"column {name!r} of {path.name} must hold numbers, got {got:.60} in row {row}: "
            "is it the label (--label-column), an id (--id-column), or to be ignored (--ignore)?"
        ) from None


def is_number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _one_per_point(values, n, path):
    if values.shape != (n,):
        raise ValueError(
            f"{path.name} must have one entry for each of the {n} points, got shape {values.shape}"
        )
    labels = map(as_text, values.tolist())
    return {row: label for row, label in enumerate(labels) if label is not None}


def _row_numbers(cells, n, path):
    rows = [as_text(cell) for cell in cells]
    for k, row in enumerate(rows):
        if row is None or not row.isdecimal() or int(row) >= n:
            raise ValueError(
                f"row numbers in {path.name} must be in 0..{n - 1}, got {row!r:.40} in its row {k}"
            )
    return [int(row) for row in rows]


def _rows_of_ids(cells, ids, id_name, path):
    check_ids(ids, id_name)
    place = {name: row for row, name in enumerate(ids)}
    names = [as_text(cell) for cell in cells]
    for name in names:
        if name not in place:
            raise ValueError(f"{path.name} has the {id_name} {name!r}, which no point has")
    return [place[name] for name in names]


def _listed(names, most=12):
    names = list(map(str, names))
    more = f", .. ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more
