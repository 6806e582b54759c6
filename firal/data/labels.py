"""Labels of some of the points, from a file of their own.

Labels become text, so that 3, 3.0, "3" and "3.0" are the same class. A blank cell, NaN (also as
text) and None mean that the point has no label. There are two forms.

**By row or id.** A table with the columns ``label`` and ``row`` (or ``index``, or the column of
ids), in upper or lower case; other columns do not matter. Without a header the table must have two
columns, the row and the label. The first line is a header if none of its cells is a number. If the
points have ids, ids win: a table without a header names them in its first column, and a ``row``
must agree with the id beside it.

A table with a column ``rank`` is a batch that was written by the command. Its points without a
label are pending: somebody is about to label them, and they are not to be picked again.

**One entry per point**, n in all, in a .npy file or a table of one column: ``firal.data.entries``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from firal.common.text import as_text
from firal.data.cells import TableError, listed, read_cells, refuse_line_breaks
from firal.data.entries import entries_of_text, one_per_point
from firal.data.files import read_npy
from firal.data.output import with_formula
from firal.data.point_names import ROW_NAMES, named_columns, row_numbers, rows_of_columns
from firal.data.table_files import ARRAYS, SUFFIXES, TEXT, existing_table, suffix

BATCH_NAME = "rank"  # the column that only a batch has


class Answers(NamedTuple):
    """What a file of labels says.

    Attributes
    ----------
    labels : dict
        From row, 0-based, to label. Points without a label are not in it.
    pending : list of int
        Rows of a batch that have no label yet.
    """

    labels: dict[int, str]
    pending: list[int]


def read_labels(
    path: str | os.PathLike,
    n: int,
    ids: Sequence[str] | None = None,
    id_name: str = "id",
    header: bool | None = None,
) -> dict[int, str]:
    """Read which points have a label, and which one.

    Parameters
    ----------
    path : str or path
        A file that ends in .npy, .csv, .tsv, .txt, .csv.gz, .parquet or .xlsx, in one of the forms
        above.
    n : int
        Number of points.
    ids : sequence of str, optional
        Ids of the n points, if they have any.
    id_name : str
        The column of the file that holds ids.
    header : bool, optional
        Whether the first line of a text is a header, in place of the rules above. Has no effect on
        the other formats.

    Returns
    -------
    dict
        From row, 0-based, to label. Points without a label are not in it.

    Raises
    ------
    TableError
        If the first line may be a header or a point.
    ValueError
        If the file is absent or damaged, has another form, names an unknown row or id, or
        contradicts itself.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("row,label\\n0,cat\\n2,dog\\n1,\\n")
    >>> read_labels(path, n=3)
    {0: 'cat', 2: 'dog'}
    """
    return read_answers(path, n, ids, id_name, header).labels


def read_answers(
    path: str | os.PathLike,
    n: int,
    ids: Sequence[str] | None = None,
    id_name: str = "id",
    header: bool | None = None,
) -> Answers:
    """Read labels, and which points of a batch still wait for one.

    Parameters
    ----------
    path, n, ids, id_name, header
        As in :func:`read_labels`.

    Returns
    -------
    Answers
        Labels and pending rows.

    Raises
    ------
    ValueError
        As in :func:`read_labels`.
    """
    path = existing_table(path)
    if suffix(path) == ".npy":
        return Answers(one_per_point(read_npy(path), n, path), [])
    if suffix(path) == ".npz":
        wanted = ", ".join(ending for ending in SUFFIXES if ending != ".npz")
        raise ValueError(f"labels must be in a file that ends in {wanted}, got {path.name}")
    cells = read_cells(path, header)
    names = cells.names
    if len(names) == 1:
        refuse_line_breaks(cells, names, path)
        entries = cells.columns[0]
        if suffix(path) in TEXT:
            lines = [*names, *entries] if cells.has_header else entries
            entries = entries_of_text(lines, n, header, path)
        return Answers(one_per_point(np.array(entries, dtype=object), n, path), [])
    if not cells.has_header and len(names) != 2:
        raise TableError(
            f"{path.name} must have two columns, {'row' if ids is None else id_name} and label, if "
            f"it has no header, got {len(names)} columns: pass header=True if the first line is a "
            "header",
            ("header",),
        )
    columns = named_columns(cells, ids, id_name, path)
    if "label" not in columns or not {"row", "id"} & columns.keys():
        key = "row" if ids is None else f"{id_name} (or row)"
        raise ValueError(
            f"{path.name} must have the columns {key} and label, or one entry for each of the "
            f"{n} points, got the columns {listed(names)}"
        )
    rows = rows_of_columns(cells, columns, n, ids, id_name, path)
    labels = [with_formula(as_text(cell)) for cell in columns["label"]]
    answers = merge({row: label} for row, label in zip(rows, labels, strict=True) if label)
    pending = []
    if any(name.lower() == BATCH_NAME for name in names):
        pending = [row for row in rows if row not in answers]
    return Answers(answers, pending)


def read_rows(
    path: str | os.PathLike,
    n: int,
    ids: Sequence[str] | None = None,
    id_name: str = "id",
    header: bool | None = None,
) -> list[int]:
    """Read a list of points: a batch that is pending, or points to leave out.

    Parameters
    ----------
    path : str or path
        A table with a column ``row``, ``index`` or of ids, or with one column of rows or ids; or a
        .npy of rows.
    n, ids, id_name, header
        As in :func:`read_labels`.

    Returns
    -------
    list of int
        Rows, 0-based.

    Raises
    ------
    ValueError
        If the file is absent or damaged, or names an unknown row or id.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "round1.csv"
    >>> _ = path.write_text("rank,row\\n1,4\\n2,0\\n")
    >>> read_rows(path, n=5)
    [4, 0]
    """
    path = existing_table(path)
    if suffix(path) in ARRAYS:
        if suffix(path) == ".npz":
            raise ValueError(f"rows must be in a .npy or a table, got {path.name}")
        return row_numbers(read_npy(path).ravel().tolist(), n, path, lambda k: f"entry {k}")
    cells = read_cells(path, header)
    if len(cells.names) == 1 and not set(map(str.lower, cells.names)) & {*ROW_NAMES, id_name}:
        # a word above row numbers is a header; a word above ids is an id, and a wrong one is found
        first = cells.names if cells.has_header and ids is not None and header is None else []
        columns = {"row" if ids is None else "id": [*first, *cells.columns[0]]}
        cells = cells._replace(lines=None)
    else:
        columns = named_columns(cells, ids, id_name, path)
    if not {"row", "id"} & columns.keys():
        key = "row" if ids is None else f"{id_name} (or row)"
        raise ValueError(f"{path.name} must have a column {key}, got {listed(cells.names)}")
    return rows_of_columns(cells, columns, n, ids, id_name, path)


def merge(parts: Iterable[Mapping[int, str]]) -> dict[int, str]:
    """Join labels from several sources.

    Parameters
    ----------
    parts : iterable of mappings
        Each from row to label.

    Returns
    -------
    dict
        From row to label.

    Raises
    ------
    ValueError
        If two parts give a row different labels.

    Examples
    --------
    >>> merge([{0: "cat"}, {2: "dog", 0: "cat"}])
    {0: 'cat', 2: 'dog'}
    """
    merged = {}
    for part in parts:
        for row, label in part.items():
            if merged.setdefault(row, label) != label:
                raise ValueError(f"row {row} has two labels, {merged[row]!r} and {label!r}")
    return merged
