"""Whether a first line that counts as a point is a header after all.

It is one if it holds a name that the caller asks for. It may be one if it counts the columns from
0, as pandas writes it above an array, or if it goes up or down steadily, as wavelengths and times
do, and the next lines do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from firal.data.cells import Cells, TableError, is_number, listed

SEEN = 50  # rows that are compared with the first
FEW = 10  # in a shorter table the first line is only in doubt if its steps are equal


def check_first_line(cells: Cells, wanted: Sequence[str], header: bool | None, path: Path) -> None:
    """Raise TableError if a first line that counts as a point is, or may be, a header.

    Parameters
    ----------
    cells : Cells
        The table.
    wanted : sequence of str
        Columns that the caller names.
    header : bool, optional
        What the caller says about the first line; nothing is in doubt then.
    path : Path
        The file, for the message.
    """
    if cells.has_header or header is not None:
        return
    columns = dict(zip(cells.names, cells.columns, strict=True))
    first = {name: (column[0] or "").strip() for name, column in columns.items()}
    asked = [name for name in wanted if name not in first and name in first.values()]
    if asked:
        raise TableError(
            f"the first line of {path.name} names the column {asked[0]!r} but also holds numbers, "
            "so it counts as a point: pass header=True",
            ("header",),
        )
    features = [name for name in first if name not in wanted]
    counts = len(features) > 1 and all(first[name] == name for name in features)
    if counts or _only_first_is_steady([columns[name] for name in features]):
        raise TableError(
            f"the first line of {path.name}, {listed(first.values(), 4)}, may be a header or a "
            "point: pass header=True or header=False",
            ("header",),
        )


def _only_first_is_steady(columns):
    """Whether the first of several rows goes up or down all along and none of the next does.

    Of three numbers many do by chance. So equal steps, as no next row has them, are enough.
    """
    rows = list(zip(*(column[:SEEN] for column in columns), strict=True))
    if len(columns) < 3 or len(rows) < 3 or not all(map(is_number, rows[0])):
        return False
    first = np.diff([float(cell) for cell in rows[0]])
    if len(rows) < FEW and np.ptp(first) > 1e-9 * np.abs(first).max():
        return False  # among few rows one that goes up may well be a point

    def steady(row):
        if not all(map(is_number, row)):
            return False
        steps = np.diff([float(cell) for cell in row])
        return bool((steps > 0).all() or (steps < 0).all())

    def even(row):
        steps = np.diff([float(cell) for cell in row]) if all(map(is_number, row)) else [0.0]
        return bool(steps[0] != 0 and np.ptp(steps) <= 1e-9 * abs(steps[0]))

    alone = [rule(rows[0]) and not any(map(rule, rows[1:])) for rule in (steady, even)]
    return alone[0] or (alone[1] and len(rows) >= FEW)
