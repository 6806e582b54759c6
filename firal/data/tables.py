"""Features of a user's points: .npy, .npz, .csv, .tsv, .txt or .parquet.

.npy files are memory-mapped. In a .npz file the features are the array ``features``, or the only
array of two dimensions. In the other formats all columns are features except those that the caller
names: labels, ids, columns to ignore. ``firal.data.cells`` has the rule for header lines, and
``firal.data.labels`` reads labels from files of their own. Nothing is ever unpickled.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from firal.common.text import as_text
from firal.data.cells import (
    Cells,
    TableError,
    existing_table,
    is_number,
    listed,
    read_cells,
)
from firal.data.files import read_npy, read_npz

# what pandas makes of an index: in a .csv, in a .csv that it read and wrote again, in a .parquet
INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__")


def read_table(
    path: str | os.PathLike,
    columns: Sequence[str] = (),
    ignore: Sequence[str] = (),
    header: bool | None = None,
) -> tuple[np.ndarray, dict[str, list[str | None]]]:
    """Read the features of all points, and other columns of the table by name.

    Parameters
    ----------
    path : str or path
        A table that ends in .npy, .npz, .csv, .tsv, .txt or .parquet.
    columns : sequence of str
        Columns to return as text, such as labels and ids. In a .npz file these are other arrays,
        with one entry per point.
    ignore : sequence of str
        Columns that are neither features nor asked for. All arrays of a .npz file that are not
        asked for are ignored anyway.
    header : bool, optional
        Whether the first line of a text is a header. By default it is one if none of its cells is
        a number. Has no effect on the other formats.

    Returns
    -------
    features : np.ndarray of shape (n, d)
        One row per point; memory-mapped if the file is a .npy.
    found : dict
        For each name in ``columns`` a list of n texts, None where the cell is blank.

    Raises
    ------
    TableError
        If the caller has to say more about the table; ``remedies`` says what.
    ValueError
        If the file is absent or damaged, or if a named column is absent.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "points.csv"
    >>> _ = path.write_text("name,width,height,kind\\nu,1,2.5,cat\\nv,-3,4,\\n")
    >>> features, found = read_table(path, columns=["name", "kind"])
    >>> features.tolist(), found["kind"]
    ([[1.0, 2.5], [-3.0, 4.0]], ['cat', None])
    """
    path = existing_table(path)
    if path.suffix.lower() == ".npy":
        if columns or ignore:
            raise ValueError(
                f"{path.name} has no named columns, got {', '.join(columns or ignore)}"
            )
        return _with_rows(read_npy(path), path), {}
    if path.suffix.lower() == ".npz":
        X, found = _arrays_of_npz(path, columns)
        return _with_rows(X, path), found
    cells = read_cells(path, header)
    wanted = (*columns, *ignore)
    _check_first_line(cells, wanted, header, path)
    for name in wanted:
        if name not in cells.names:
            without = "" if cells.has_header else "no header, so its columns are "
            raise ValueError(
                f"{path.name} has no column {name!r}, it has {without}{listed(cells.names)}"
            )
    names = [name for name in cells.names if name not in wanted]
    if not names:
        raise ValueError(f"{path.name} must have columns of numbers besides {', '.join(wanted)}")
    index = next((name for name in names if name in INDEX_NAMES), None)
    if index is not None:
        raise TableError(
            f"{path.name} must have a name for every feature, got a column {index!r}, perhaps the "
            "index of a data frame: ignore it, or use it as the id column",
            ("ignore", "id_column"),
        )
    found = {name: [as_text(cell) for cell in _column(cells, name)] for name in columns}
    return _features(cells, names, header, path), found


def read_labeled_table(
    path: str | os.PathLike, header: bool | None = None
) -> tuple[np.ndarray, list[str]]:
    """Read a table with numbers in all columns but the last, which holds the labels.

    Parameters
    ----------
    path : str or path
        A table that ends in .csv, .tsv, .txt or .parquet.
    header : bool, optional
        As in ``read_table``.

    Returns
    -------
    features : np.ndarray of shape (n, d)
        One row per point.
    labels : list of str
        The n labels, as text.

    Raises
    ------
    TableError
        If the first line may be a header or a point.
    ValueError
        If the file is absent or damaged, a feature is not a number, or a label is blank.
    """
    path = existing_table(path)
    cells = read_cells(path, header)
    *names, label = cells.names
    if not names:
        raise ValueError(f"{path.name} must have columns of numbers and the label last, got one")
    _check_first_line(cells, [label], header, path)
    index = next((name for name in names if name in INDEX_NAMES), None)
    if index is not None:
        raise ValueError(
            f"{path.name} must have a name for every feature, got a column {index!r}, perhaps the "
            "index of a data frame: write the table without it (pandas: index=False)"
        )
    X = _features(cells, names, header, path)
    y = [as_text(cell) for cell in _column(cells, label)]
    if None in y:
        row = y.index(None)
        raise ValueError(
            f"{path.name} must have a label in every row, got {cells.columns[-1][row]!r} in "
            f"row {row}"
        )
    return X, y


def _check_first_line(cells: Cells, wanted, header, path):
    """TableError if a first line that counts as a point is, or may be, a header.

    It is one if it holds a name that the caller asks for. It may be one if it counts the columns
    from 0: pandas writes such a header above an array.
    """
    if cells.has_header or header is not None:
        return
    first = {name: (column[0] or "").strip() for name, column in _pairs(cells)}
    asked = [name for name in wanted if name not in first and name in first.values()]
    if asked:
        raise TableError(
            f"the first line of {path.name} names the column {asked[0]!r} but also holds numbers, "
            "so it counts as a point: pass header=True",
            ("header",),
        )
    features = [name for name in first if name not in wanted]
    if len(features) > 1 and all(first[name] == name for name in features):
        raise TableError(
            f"the first line of {path.name}, {listed(first.values(), 4)}, may be a header or a "
            "point: pass header=True or header=False",
            ("header",),
        )


def _pairs(cells):
    return zip(cells.names, cells.columns, strict=True)


def _column(cells, name):
    return cells.columns[cells.names.index(name)]


def _features(cells, names, header, path):
    """(n, d) numbers of the named columns."""
    guessed = header is None and not cells.has_header
    X = [_as_numbers(_column(cells, name), name, guessed, path) for name in names]
    return _with_rows(np.column_stack(X), path)


def _as_numbers(column, name, guessed, path):
    try:
        if not isinstance(column, np.ndarray) and None in column:  # numpy would make it NaN
            raise TypeError
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        row = next(k for k, cell in enumerate(column) if not is_number(cell))
        got = "a blank cell" if as_text(column[row]) is None else repr(column[row])
        message = f"column {name!r} of {path.name} must hold numbers, got {got:.60} in row {row}: "
        remedies = ("label_column", "id_column", "ignore")
        if guessed and row == 0:
            message += "pass header=True if the first line is a header; otherwise "
            remedies = ("header", *remedies)
        message += "use it as the label column or the id column, ignore it, or fill in numbers"
        raise TableError(message, remedies) from None


def _with_rows(X, path):
    if X.ndim == 2 and len(X) == 0:
        raise ValueError(f"{path.name} has no rows")
    return X


def _arrays_of_npz(path: Path, columns):
    arrays = read_npz(path)
    tables = [key for key in arrays if arrays[key].ndim == 2]
    key = "features" if "features" in arrays else tables[0] if len(tables) == 1 else None
    if key is None:
        raise ValueError(f"{path.name} must hold an array named features, got {listed(arrays)}")
    found = {}
    for name in columns:
        if name not in arrays:
            raise ValueError(f"{path.name} has no array {name!r}, it has {listed(arrays)}")
        if arrays[name].shape != arrays[key].shape[:1]:
            raise ValueError(
                f"{name} in {path.name} must have shape ({len(arrays[key])},), one entry per "
                f"point, got {arrays[name].shape}"
            )
        found[name] = [as_text(value) for value in arrays[name].tolist()]
    return arrays[key], found
