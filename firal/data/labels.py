"""Labels of some of the points, from a file of their own.

Labels become text, so that 3, 3.0, "3" and "3.0" are the same class. A blank cell, NaN (also as
text) and None mean that the point has no label. There are two forms.

**By row or id.** A table with the columns ``label`` and ``row`` (or the column of ids); other
columns do not matter. Without a header the table must have two columns, the row and the label.
The first line is a header if none of its cells is a number.

**One entry per point**, n in all, in a .npy file or a table of one column. A text of n entries has
no header. A text of n + 1 entries has one, and it must not be a number. Empty lines at the end may
be blank entries or may mean nothing, so a file that can be read both ways is refused: the caller
then says ``header=True`` or ``header=False``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from firal.common.text import as_text
from firal.data.cells import (
    SUFFIXES,
    TEXT,
    TableError,
    existing_table,
    is_number,
    listed,
    read_cells,
)
from firal.data.files import read_npy


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
        A file that ends in .npy, .csv, .tsv, .txt or .parquet, in one of the forms above.
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
    path = existing_table(path)
    if path.suffix.lower() == ".npy":
        return _one_per_point(read_npy(path), n, path)
    if path.suffix.lower() == ".npz":
        wanted = ", ".join(suffix for suffix in SUFFIXES if suffix != ".npz")
        raise ValueError(f"labels must be in a file that ends in {wanted}, got {path.name}")
    cells = read_cells(path, header)
    names = cells.names
    if len(names) == 1:
        entries = cells.columns[0]
        if path.suffix.lower() in TEXT:
            lines = [*names, *entries] if cells.has_header else entries
            entries = _entries(lines, n, header, path)
        return _one_per_point(np.array(entries, dtype=object), n, path)
    if not cells.has_header:
        if len(names) != 2:
            raise TableError(
                f"{path.name} must have two columns, row and label, if it has no header, got "
                f"{len(names)} columns: pass header=True if the first line is a header",
                ("header",),
            )
        names = ["row", "label"]
    return _by_row_or_id(dict(zip(names, cells.columns, strict=True)), n, ids, id_name, path)


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


def check_ids(ids: Sequence[str | None], id_name: str) -> None:
    """Raise ValueError if two points have the same id.

    Parameters
    ----------
    ids : sequence of str
        One id per point.
    id_name : str
        Name of their column, for the message.
    """
    place = {name: row for row, name in enumerate(ids)}
    if len(place) < len(ids):
        twice = next(name for row, name in enumerate(ids) if place[name] != row)
        raise ValueError(f"the column {id_name!r} must hold distinct ids, got {twice!r} twice")


def _entries(lines, n, header, path):
    """The n entries of a text of one column, by the rule at the top of this module."""
    texts = [as_text(line) for line in lines]
    last = len(lines)  # without the empty lines at the end; a quoted blank is not an empty line
    while last > 0 and lines[last - 1] is None:
        last -= 1
    fits = [last - start <= n <= len(lines) - start for start in (False, True)]
    if header is None:
        header = _is_header(texts, fits, n, path)
    if not fits[header]:
        after = " after the header" if header else ""
        raise ValueError(
            f"{path.name} must have one entry for each of the {n} points, got "
            f"{len(lines) - header}{after}"
        )
    return lines[header : header + n]


def _is_header(texts, fits, n, path):
    """Whether the first of the entries is a header; TableError if only the caller can know."""
    first, count = texts[0], f"{path.name} has {len(texts)} entries for {n} points"
    if fits[True] and is_number(first):
        raise TableError(
            f"{count}, and the first is {first}: pass header=True if it is a header", ("header",)
        )
    may_be_header = fits[True] and first is not None
    if may_be_header and fits[False]:
        raise TableError(
            f"{count}, the last of them empty: pass header=True if {first!r} is a header, or "
            "header=False if the empty end means nothing",
            ("header",),
        )
    if may_be_header and first in texts[1:]:
        raise TableError(
            f"{count}, and the first, {first!r}, is also a label: pass header=True if it is a "
            "header, or remove what is too much",
            ("header",),
        )
    if fits[False] and first is not None and first.lower() == "label":
        raise TableError(
            f"{count}, and the first is {first!r}: pass header=False if that is a class; if it is "
            "a header, an entry is missing",
            ("header",),
        )
    return may_be_header


def _one_per_point(values, n, path):
    if values.shape != (n,):
        raise ValueError(
            f"{path.name} must have one entry for each of the {n} points, got shape {values.shape}"
        )
    labels = map(as_text, values.tolist())
    return {row: label for row, label in enumerate(labels) if label is not None}


def _by_row_or_id(columns, n, ids, id_name, path):
    """{row: label} of a table with named columns."""
    by_row, by_id = "row" in columns, ids is not None and id_name in columns
    if "label" not in columns or not (by_row or by_id):
        key = "row" if ids is None else f"row (or {id_name})"
        raise ValueError(
            f"{path.name} must have the columns {key} and label, or one entry for each of the "
            f"{n} points, got the columns {listed(columns)}"
        )
    labels = [as_text(cell) for cell in columns["label"]]
    rows = _row_numbers(columns["row"], n, path) if by_row else None
    if by_id:
        named = _rows_of_ids(columns[id_name], ids, id_name, path)
        if by_row and rows != named:
            k = next(k for k, (a, b) in enumerate(zip(rows, named, strict=True)) if a != b)
            raise ValueError(
                f"{path.name} contradicts itself: row {rows[k]} has the {id_name} "
                f"{ids[rows[k]]!r}, got {ids[named[k]]!r}: was the table of features reordered?"
            )
        rows = named
    return merge({row: label} for row, label in zip(rows, labels, strict=True) if label is not None)


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
            raise ValueError(f"unknown {id_name} {name!r} in {path.name}")
    return [place[name] for name in names]
