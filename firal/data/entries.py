"""Labels as one entry per point, in a .npy file or a text of one column.

A text of n entries has no header. A text of n + 1 entries has one, and it must not be a number.
Empty lines at the end may be blank entries or may mean nothing, so a file that can be read both
ways is refused: the caller then says ``header=True`` or ``header=False``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from firal.common.text import as_text
from firal.data.cells import TableError, is_number


def entries_of_text(lines: Sequence, n: int, header: bool | None, path: Path) -> Sequence:
    """Find the n entries of a text of one column, by the rule at the top of this module.

    Parameters
    ----------
    lines : sequence
        All its lines; None for an empty one.
    n : int
        Number of points.
    header : bool, optional
        Whether the first line is a header, in place of the rule.
    path : Path
        The file, for the message.

    Returns
    -------
    sequence
        n of the lines.

    Raises
    ------
    TableError
        If only the caller can know whether the first line is a header.
    ValueError
        If there are too few or too many.
    """
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


def one_per_point(values: np.ndarray, n: int, path: Path) -> dict[int, str]:
    """Labels of the points by row.

    Parameters
    ----------
    values : np.ndarray of shape (n,)
        One entry per point, blank where there is no label.
    n : int
        Number of points.
    path : Path
        The file, for the message.

    Returns
    -------
    dict
        From row to label.

    Raises
    ------
    ValueError
        If it has another shape.
    """
    if values.shape != (n,):
        raise ValueError(
            f"{path.name} must have one entry for each of the {n} points, got shape {values.shape}"
        )
    labels = map(as_text, values.tolist())
    return {row: label for row, label in enumerate(labels) if label is not None}
