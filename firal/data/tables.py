"""Features of a user's points: .npy, .npz, .csv, .tsv, .txt (also .gz), .parquet or .xlsx.

.npy files are memory-mapped; their columns are called "0", "1", and so on. In a .npz file the
features are the array ``features``, or the only array of two dimensions. In the other formats all
columns are features except those that the caller names: labels, ids, columns to ignore. A column
that looks like a label or an id is refused until the caller says what it is
(``firal.data.suspects``). ``firal.data.cells`` has the rule for header lines, and
``firal.data.labels`` reads labels from files of their own. Nothing is ever unpickled.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from firal.common.text import as_text
from firal.data.cells import is_number, listed, read_cells, refuse_line_breaks
from firal.data.columns import as_features
from firal.data.encoding import with_medians
from firal.data.files import read_npy, read_npz
from firal.data.first_line import check_first_line
from firal.data.sparse_file import dense_matrix
from firal.data.suspects import INDEX_NAMES, refuse_doubtful, refuse_marks
from firal.data.table_files import existing_table, suffix

log = logging.getLogger("firal")


class Table(NamedTuple):
    """Result of :func:`read_table`.

    Attributes
    ----------
    features : np.ndarray or Home, of shape (n, d)
        One row per point; memory-mapped if the file is a .npy and all its columns are features. Of
        :func:`firal.data.streams.stream_table` it is a home.
    found : dict
        For each column asked for a list of n texts, None where the cell is blank.
    names : list of str
        Names of the d features.
    has_header : bool
        Whether these names come from the file.
    """

    features: np.ndarray
    found: dict[str, list[str | None]]
    names: list[str]
    has_header: bool


def read_table(
    path: str | os.PathLike,
    columns: Sequence[str] = (),
    ignore: Sequence[str] = (),
    header: bool | None = None,
    confirmed: Sequence[str] = (),
    texts: Sequence[str] = (),
    one_hot: Sequence[str] = (),
    impute: bool = False,
) -> Table:
    """Read the features of all points, and other columns of the table by name.

    Parameters
    ----------
    path : str or path
        A table that ends in .npy, .npz, .csv, .tsv, .txt, .csv.gz, .parquet or .xlsx.
    columns : sequence of str
        Columns to return as text, such as labels and ids. In a .npz file these are other arrays,
        with one entry per point.
    ignore : sequence of str
        Columns that are neither features nor asked for. All arrays of a .npz file that are not
        asked for are ignored anyway.
    header : bool, optional
        Whether the first line of a text is a header. By default it is one if none of its cells is
        a number. Has no effect on the other formats.
    confirmed : sequence of str
        Columns that are features although they look like a label or an id.
    texts : sequence of str
        More columns to return as text, in which a cell may go over several lines.
    one_hot : sequence of str
        Columns of categories, each of which becomes a feature of zeros and ones.
    impute : bool
        Whether missing numbers become the median of their column.

    Returns
    -------
    Table
        Features with their names, and the columns asked for.

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
    >>> table = read_table(path, columns=["name", "kind"])
    >>> table.features.tolist(), table.found["kind"], table.names
    ([[1.0, 2.5], [-3.0, 4.0]], ['cat', None], ['width', 'height'])
    """
    path, single, columns = existing_table(path), columns, (*columns, *texts)
    if suffix(path) == ".npy":
        return _columns_of_array(read_npy(path), columns, ignore, confirmed, path, impute)
    if suffix(path) == ".npz":
        X, found = _arrays_of_npz(path, columns)
        return _columns_of_array(X, (), ignore, confirmed, path, impute)._replace(found=found)
    cells = read_cells(path, header)
    _refuse_other_separator(cells, path)
    wanted = (*columns, *ignore)
    check_first_line(cells, wanted, header, path)
    _check_names(cells.names, (*wanted, *confirmed, *one_hot), cells.has_header, path)
    names = [name for name in cells.names if name not in wanted]
    if not names:
        besides = f" besides {', '.join(wanted)}" if wanted else ", got none"
        raise ValueError(f"{path.name} must have columns of numbers{besides}")
    refuse_line_breaks(cells, (*single, *names), path)
    if cells.has_header:
        by_name = dict(zip(cells.names, cells.columns, strict=True))
        refuse_doubtful(names, [by_name[name] for name in names], path, confirmed)
    found = {name: [as_text(cell) for cell in _column(cells, name)] for name in columns}
    guessed = header is None and not cells.has_header
    X, names = as_features(cells, names, guessed, path, one_hot, impute)
    X = _with_rows(X, path)
    if not cells.has_header:  # after the question whether the first line is a header
        refuse_doubtful(names, list(X.T), path, confirmed)
    refuse_marks(names, X, path, confirmed)
    return Table(X, found, names, cells.has_header)


def _columns_of_array(X, columns, ignore, confirmed, path, impute=False):
    """Columns of an array by their numbers."""
    if X.ndim != 2 or len(X) == 0:
        if columns or ignore:
            raise ValueError(f"{path.name} must have rows and columns, got shape {X.shape}")
        return Table(_with_rows(X, path), {}, [], False)
    names = [str(k) for k in range(X.shape[1])]
    _check_names(names, (*columns, *ignore, *confirmed), False, path)
    found = {name: [as_text(value) for value in X[:, int(name)].tolist()] for name in columns}
    kept = [k for k, name in enumerate(names) if name not in (*columns, *ignore)]
    if not kept:
        besides = f" besides {', '.join((*columns, *ignore))}" if columns or ignore else ""
        raise ValueError(f"{path.name} must have columns of numbers{besides}, got shape {X.shape}")
    if X.dtype.kind in "biuf":
        refuse_doubtful([names[k] for k in kept], [X[:, k] for k in kept], path, confirmed)
    features = X if len(kept) == len(names) else X[:, kept]
    if impute and X.dtype.kind == "f":
        features = np.column_stack([with_medians(X[:, k], names[k]) for k in kept])
    return Table(features, found, [names[k] for k in kept], False)


def _check_names(names, wanted, has_header, path):
    for name in wanted:
        if name not in names:
            without = "" if has_header else "no header, so its columns are "
            raise ValueError(f"{path.name} has no column {name!r}, it has {without}{listed(names)}")


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
    check_first_line(cells, [label], header, path)
    index = next((name for name in names if name in INDEX_NAMES), None)
    if index is not None:
        raise ValueError(
            f"{path.name} must have a name for every feature, got a column {index!r}, perhaps the "
            "index of a data frame: write the table without it (pandas: index=False)"
        )
    refuse_line_breaks(cells, cells.names, path)
    guessed = header is None and not cells.has_header
    X = _with_rows(as_features(cells, names, guessed, path)[0], path)
    y = [as_text(cell) for cell in _column(cells, label)]
    if None in y:
        row = y.index(None)
        raise ValueError(
            f"{path.name} must have a label in every row, got {cells.columns[-1][row]!r} in "
            f"{cells.place(row)}"
        )
    return X, y


def _refuse_other_separator(cells, path):
    """ValueError if the only column holds several numbers in each cell."""
    if len(cells.names) != 1 or len(cells.columns[0]) == 0:
        return
    cell = str(cells.columns[0][0] or "")
    for mark, called in (("|", "'|'"), (":", "':'"), (None, "spaces")):
        parts = cell.split(mark)
        if len(parts) > 1 and all(is_number(part) for part in parts):
            raise ValueError(
                f"{path.name} must have its cells separated by commas, semicolons or tabs, got "
                f"{called}, as in {cell!r:.60}: replace the separators"
            )


def _column(cells, name):
    return cells.columns[cells.names.index(name)]


def _with_rows(X, path):
    if X.ndim == 0:
        raise ValueError(f"{path.name} must have rows and columns, got a single value")
    if X.ndim == 2 and len(X) == 0:
        raise ValueError(f"{path.name} has no rows")
    return X


def _arrays_of_npz(path: Path, columns):
    arrays = read_npz(path)
    matrix = dense_matrix(arrays, path)
    if matrix is not None:
        arrays = {"features": matrix}
    tables = [key for key in arrays if arrays[key].ndim == 2]
    key = "features" if "features" in arrays else tables[0] if len(tables) == 1 else None
    if key is None:
        raise ValueError(
            f"{path.name} must hold an array named features, got {listed(arrays) or 'none'}"
        )
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
    if others := [name for name in arrays if name not in (key, *columns)]:
        log.info(f"{path.name}: {key} are the features; not used: {listed(others)}")
    return arrays[key], found
