"""Which point does a line of a table speak of? By its id, or by its row.

If the points have ids, ids win: a table without a header names them in its first column, and a
``row`` must agree with the id beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from firal.common.text import as_text, whole_number
from firal.data.cells import Cells, listed, refuse_line_breaks
from firal.data.output import with_formula

ROW_NAMES = ("row", "index")


def check_ids(ids: Sequence[str | None], id_name: str) -> None:
    """Raise ValueError if two points have the same id, or one has none.

    Parameters
    ----------
    ids : sequence of str
        One id per point.
    id_name : str
        Name of their column, for the message.
    """
    place = {name: row for row, name in enumerate(ids)}
    if None in place:
        raise ValueError(
            f"the column {id_name!r} must hold an id for every point, got a blank in row "
            f"{ids.index(None)}, and {ids.count(None)} in all: fill it in, or leave the column out "
            "and use rows"
        )
    if len(place) < len(ids):
        twice = next(name for row, name in enumerate(ids) if place[name] != row)
        raise ValueError(f"the column {id_name!r} must hold distinct ids, got {twice!r} twice")


def named_columns(
    cells: Cells, ids: Sequence[str] | None, id_name: str | None, path: Path
) -> dict[str, Sequence]:
    """Find the columns row, id and label of a table, by whatever names it has for them.

    Parameters
    ----------
    cells : Cells
        The table.
    ids : sequence of str, optional
        Ids of the points, if they have any.
    id_name : str
        Name of their column.
    path : Path
        The file, for the message.

    Returns
    -------
    dict
        The columns that there are, by the names "row", "id" and "label".

    Raises
    ------
    ValueError
        If there are two columns of rows or of labels, or a cell goes over several lines.
    """
    if not cells.has_header:
        names = ["row" if ids is None else "id", "label"]
        refuse_line_breaks(cells, cells.names, path)
        return dict(zip(names, cells.columns, strict=False))
    found = {}
    for name, column in zip(cells.names, cells.columns, strict=True):
        plain = name.strip().lower()
        if ids is not None and name == id_name:
            found["id"] = column
        elif plain in ROW_NAMES:
            if "row" in found:
                raise ValueError(
                    f"{path.name} must have one column of rows, got {listed(cells.names)}"
                )
            found["row"] = column
        elif plain == "label":
            if "label" in found:
                raise ValueError(
                    f"{path.name} must have one column of labels, got {listed(cells.names)}"
                )
            found["label"] = column
        else:
            continue
        refuse_line_breaks(cells, [name], path)
    return found


def rows_of_columns(
    cells: Cells,
    columns: Mapping[str, Sequence],
    n: int,
    ids: Sequence[str] | None,
    id_name: str | None,
    path: Path,
) -> list[int]:
    """Find the point of every line of a table, by id if there is one.

    Parameters
    ----------
    cells, ids, id_name, path
        As in :func:`named_columns`.
    columns : mapping
        Its result, with "row", "id" or both.
    n : int
        Number of points.

    Returns
    -------
    list of int
        Rows, 0-based.

    Raises
    ------
    ValueError
        If a row or id is unknown, or the two contradict each other.
    """
    rows = row_numbers(columns["row"], n, path, cells.place) if "row" in columns else None
    if "id" not in columns:
        return rows
    named = _rows_of_ids(columns["id"], ids, id_name, path, cells.place)
    if rows is not None and rows != named:
        k = next(k for k, (a, b) in enumerate(zip(rows, named, strict=True)) if a != b)
        raise ValueError(
            f"{path.name} contradicts itself in {cells.place(k)}: row {rows[k]} has the {id_name} "
            f"{ids[rows[k]]!r}, got {ids[named[k]]!r}: was the table of features reordered? Remove "
            "the column of rows, and the ids decide"
        )
    return named


def row_numbers(cells: Sequence, n: int, path: Path, place: Callable[[int], str]) -> list[int]:
    """Read row numbers.

    Parameters
    ----------
    cells : sequence
        Numbers or texts.
    n : int
        Number of points.
    path : Path
        The file, for the message.
    place : callable
        From the position of a cell to its place in words.

    Returns
    -------
    list of int
        The rows.

    Raises
    ------
    ValueError
        If one is not in 0..n-1.
    """
    rows = [as_text(cell) for cell in cells]
    for k, row in enumerate(rows):
        number = None if row is None else whole_number(row)
        if number is None or number >= n:
            got = "a blank" if row is None else f"{row!r:.40}"
            raise ValueError(
                f"row numbers in {path.name} must be in 0..{n - 1}, got {got} in {place(k)}"
            )
    return [int(row) for row in rows]


def _rows_of_ids(cells, ids, id_name, path, location):
    check_ids(ids, id_name)
    place = {name: row for row, name in enumerate(ids)}
    names = [as_text(cell) for cell in cells]
    names = [name if name in place else with_formula(name) for name in names]
    for k, name in enumerate(names):
        if name not in place:
            rows = all(name is not None and name.isdecimal() for name in names)
            hint = "; if these are rows, give the file the header row,label" if rows else ""
            raise ValueError(
                f"unknown {id_name} {name!r} in {location(k)} of {path.name}: the points have ids "
                f"such as {listed(ids, 3)}{hint}"
            )
    return [place[name] for name in names]
