"""Class probabilities of all points, as another program has written them.

A .npy file has one row per point and one column per class. Any other table may also name its rows,
by the column of ids or by a column ``row`` or ``index``; it must then have every point once, in any
order. Names of the columns are names of classes: every label must be among them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

import numpy as np

from firal.common.text import as_text
from firal.data.cells import Cells, TableError, listed, read_cells, refuse_line_breaks
from firal.data.columns import as_features
from firal.data.files import read_npy
from firal.data.point_names import ROW_NAMES, named_columns, rows_of_columns
from firal.data.table_files import existing_table, suffix


def read_probabilities(
    path: str | os.PathLike,
    n: int,
    ids: Sequence[str] | None = None,
    id_name: str | None = None,
    header: bool | None = None,
    classes: Collection[str] = (),
) -> np.ndarray:
    """Read class probabilities of all points.

    Parameters
    ----------
    path : str or path
        A file that ends in .npy, .csv, .tsv, .txt, .csv.gz, .parquet or .xlsx.
    n : int
        Number of points.
    ids : sequence of str, optional
        Ids of the n points, if they have any.
    id_name : str, optional
        The column of the file that holds ids.
    header : bool, optional
        Whether the first line of a text is a header; by default if no cell of it is a number.
    classes : collection of str
        Classes that have a label, as text.

    Returns
    -------
    np.ndarray of shape (n, c)
        In the order of the points. ``firal.next_batch`` checks that rows sum to 1.

    Raises
    ------
    ValueError
        If the file is absent or damaged, a cell is not a number, a point is absent or named twice,
        or a class has no column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "p.csv"
    >>> _ = path.write_text("row,cat,dog\\n1,0.5,0.5\\n0,0.9,0.1\\n")
    >>> read_probabilities(path, n=2, classes=["dog"]).tolist()
    [[0.9, 0.1], [0.5, 0.5]]
    """
    path = existing_table(path)
    if suffix(path) == ".npz":
        raise ValueError(f"probabilities must be a .npy or a table, got {path.name}")
    if suffix(path) == ".npy":
        return _one_row_per_point(read_npy(path), n, path)
    cells = read_cells(path, header)
    refuse_line_breaks(cells, cells.names, path)
    keys = [name for name in cells.names if _is_key(name, cells, ids, id_name)]
    names = [name for name in cells.names if name not in keys]
    if not names:
        raise ValueError(f"{path.name} must have a column for every class, got {cells.names}")
    if cells.has_header:
        known = {as_text(name) for name in names}
        absent = [name for name in classes if name not in known]
        if absent:
            raise ValueError(
                f"{path.name} must have a column for every class, got labels of {absent[0]!r} and "
                f"the columns {listed(names)}: rename a column, or write the file without a header"
            )
    try:
        P = as_features(cells, names, header is None and not cells.has_header, path)[0]
    except TableError as error:  # its remedies are those of features
        what = str(error).partition(": pass header")[0].partition(": use it as")[0]
        raise ValueError(f"{what}: write probabilities of all points and classes") from None
    P = _one_row_per_point(P, n, path)
    if not keys:
        return P
    columns = named_columns(cells, ids, id_name, path)
    rows = rows_of_columns(cells, columns, n, ids, id_name, path)
    twice = next((row for k, row in enumerate(rows) if row in rows[:k]), None)
    if twice is not None:  # n rows, so another point is absent
        raise ValueError(f"{path.name} must name every point once, got row {twice} twice")
    out = np.empty_like(P)
    out[rows] = P
    return out


def _is_key(name, cells: Cells, ids, id_name):
    if not cells.has_header:
        return False
    return name.strip().lower() in ROW_NAMES or (ids is not None and name == id_name)


def _one_row_per_point(P, n, path):
    if P.ndim != 2 or len(P) != n:
        raise ValueError(
            f"{path.name} must have one row for each of the {n} points and one column per class, "
            f"got shape {P.shape}"
        )
    return P
