"""What a user passes in, as the method wants it: numbers of a table, and labels of some rows.

A table is an array, a memory-mapped array, or a data frame of pandas or polars; none of these
packages is imported here. Labels are words or numbers, and absent where there is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from firal.common.arrays import real_array
from firal.common.text import as_text
from firal.engine.columns import as_numbers

LARGEST_DENSE = 2 * 10**9  # bytes of a sparse matrix once it is dense


class Labels(NamedTuple):
    """Labels as the model wants them.

    Attributes
    ----------
    known : np.ndarray of shape (n0,)
        Rows with a label, ascending.
    codes : np.ndarray of shape (n0,)
        Place of their labels in ``classes``.
    classes : tuple
        The labels that occur, sorted.
    """

    known: np.ndarray
    codes: np.ndarray
    classes: tuple


def as_table(X: Any) -> np.ndarray:
    """Return the numbers of an array or a data frame.

    Parameters
    ----------
    X : array_like or data frame of shape (n, d)
        A frame of pandas or polars must have columns of numbers only. A sparse matrix is made
        dense if that takes no more than ``LARGEST_DENSE`` bytes.

    Returns
    -------
    np.ndarray of shape (n, d)
        An array is returned as it is, also if it is memory-mapped.

    Raises
    ------
    ValueError
        If it is not a table of numbers; the columns of a frame that are not are named.
    """
    if not hasattr(X, "columns"):
        if hasattr(X, "toarray") and 8 * np.prod(X.shape) <= LARGEST_DENSE:
            X = X.toarray()  # scaled columns are dense anyway
        sparse = hasattr(X, "nnz")
        kind = getattr(getattr(X, "dtype", None), "kind", "O")  # numbers stay where they are
        return as_numbers(X if kind in "biuf" and not sparse else real_array(X, "features"))
    named_columns = (
        X.items() if hasattr(X, "items") else zip(X.columns, X.get_columns(), strict=True)
    )
    columns, others = [], []
    for name, column in named_columns:
        values = np.asarray(column)
        if getattr(column.dtype, "kind", "O") in "biuf":  # also what pandas stores with a mask
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        columns.append(values)
        if values.dtype.kind not in "biuf":
            others.append(str(name))
    if others:
        raise ValueError(
            f"all columns of X must be numbers, got {', '.join(others[:12])} of another type: drop "
            "them, or encode them as numbers"
        )
    return as_numbers(np.column_stack(columns) if columns else np.empty((len(X), 0)))


def encode_labels(y: Sequence | Mapping[int, Any] | None, n: int) -> Labels:
    """Find the rows that have a label, and number the classes.

    Parameters
    ----------
    y : sequence of n entries, dict, or None
        As in :func:`firal.next_batch`.
    n : int
        Number of points.

    Returns
    -------
    Labels
        Rows, codes and classes. Classes are sorted as numbers if all are whole numbers, else as
        text.

    Raises
    ------
    ValueError
        If y does not have one entry per point, or names a row that does not exist.

    Examples
    --------
    >>> from firal.engine.inputs import encode_labels
    >>> encode_labels([10.0, None, "2", 10], 4)
    Labels(known=array([0, 2, 3]), codes=array([1, 0, 1]), classes=('2', 10))
    """
    texts, names = {}, {}
    for row, label in _entries(y, n):
        text = as_text(label)
        if text is not None:
            texts[row] = text
            names.setdefault(text, _plain(label, text))
    whole = all(_is_whole(text) for text in names)
    order = sorted(names, key=lambda text: (int(text), text) if whole else text)
    place = {text: code for code, text in enumerate(order)}
    known = sorted(texts)
    return Labels(
        np.array(known, dtype=np.intp),
        np.array([place[texts[row]] for row in known], dtype=np.intp),
        tuple(names[text] for text in order),
    )


def _entries(y, n):
    """Pairs (row, label) of y, checked; perhaps with labels that mean none."""
    if y is None:
        return []
    if isinstance(y, Mapping):
        for row in y:
            whole = isinstance(row, int | np.integer) and not isinstance(row, bool)
            if not whole or not 0 <= row < n:
                raise ValueError(f"y must name rows in 0..{n - 1}, got {row!r}")
        return [(int(row), label) for row, label in y.items()]
    wanted = f"y must have one entry for each of the {n} points, or be {{row: label}} or None"
    if isinstance(y, str) or len(getattr(y, "shape", (n,))) != 1:
        raise ValueError(f"{wanted}, got {y!r:.80}")
    # tolist also gives None where an array is masked
    entries = y.tolist() if hasattr(y, "tolist") else list(y)
    if len(entries) != n:
        raise ValueError(f"{wanted}, got {len(entries)} entries")
    return enumerate(entries)


def _plain(label, text):
    """The label to show: a whole number as int, a scalar of numpy as one of Python."""
    if isinstance(label, float | np.floating) and _is_whole(text):
        return int(text)
    return label.item() if isinstance(label, np.generic) else label


def _is_whole(text):
    return re.fullmatch(r"-?[0-9]+", text) is not None
