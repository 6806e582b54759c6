"""Columns of words and columns with gaps, made features where the caller asks for it.

**One column per category**: zeros and ones; a missing value has zeros in all of them. **Missing
numbers** become the median of their column. Both are choices that change the model, so neither is
made silently.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firal.common.text import as_text

MOST_CATEGORIES = 100
SHORTEST = 5  # in fewer rows all values may differ by chance
MISSING = {"", "na", "n/a", "#n/a", "null", "none", "nan", "-", "?"}


def is_missing(cell: object) -> bool:
    """Tell whether a cell stands for a missing value.

    Parameters
    ----------
    cell : object
        Of a table.

    Returns
    -------
    bool
        True for blanks, NaN and marks such as NA.
    """
    text = as_text(cell)
    return text is None or text.lower() in MISSING


def indicators(name: str, column: Sequence) -> tuple[list[str], np.ndarray]:
    """Make one column of zeros and ones per category.

    Parameters
    ----------
    name : str
        Name of the column.
    column : sequence
        Its n cells.

    Returns
    -------
    names : list of str
        "name=category", sorted.
    values : np.ndarray of shape (n, k)
        Zeros and ones.

    Raises
    ------
    ValueError
        If there are more than ``MOST_CATEGORIES`` categories, or every row has its own.

    Examples
    --------
    >>> names, values = indicators("color", ["red", "blue", "", "red"])
    >>> names, values.tolist()
    (['color=blue', 'color=red'], [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    """
    texts = [None if is_missing(cell) else as_text(cell) for cell in column]
    categories = sorted({text for text in texts if text is not None})
    if not 1 <= len(categories) <= MOST_CATEGORIES:
        raise ValueError(
            f"the column {name!r} must have 1..{MOST_CATEGORIES} categories to become columns of "
            f"zeros and ones, got {len(categories)}: ignore it, or group them"
        )
    if len(categories) == len(texts) >= SHORTEST:
        raise ValueError(
            f"the column {name!r} must have categories that several points share to become columns "
            f"of zeros and ones, got {len(texts)} different values in {len(texts)} rows: it is "
            "perhaps an id, or a text; ignore it"
        )
    values = np.array([[text == category for category in categories] for text in texts])
    return [f"{name}={category}" for category in categories], values.astype(np.float64)


def with_medians(values: np.ndarray, name: str) -> np.ndarray:
    """Replace NaN by the median of the others.

    Parameters
    ----------
    values : np.ndarray of shape (n,)
        A column of numbers.
    name : str
        Its name, for the message.

    Returns
    -------
    np.ndarray of shape (n,)
        Without NaN.

    Raises
    ------
    ValueError
        If all are NaN.

    Examples
    --------
    >>> with_medians(np.array([1.0, np.nan, 3.0, 8.0]), "size").tolist()
    [1.0, 3.0, 3.0, 8.0]
    """
    gaps = np.isnan(values)
    if gaps.all():
        raise ValueError(f"the column {name!r} must hold a number somewhere, got none: ignore it")
    return np.where(gaps, np.median(values[~gaps]), values)
