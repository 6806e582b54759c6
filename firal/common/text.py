"""Text of one value of a user's data, and which values mean that there is none."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

HALF = re.compile("[\ud800-\udfff]")
MOST_DIGITS = 300  # Python refuses to read thousands


def as_text(value: Any) -> str | None:
    """Return the text of one cell or label, or None if it is blank.

    Blank are None, NaN, ``pandas.NA``, white space, and the text "nan" in any case. Whole numbers
    lose their decimal point, also as text: pandas writes 1.0 when a column of integers has blanks.
    So 3, 3.0, "3" and "3.0" are the same label.

    Parameters
    ----------
    value : object
        Anything that may stand in a table.

    Returns
    -------
    str or None
        Its text without spaces at the ends, or None.

    Raises
    ------
    ValueError
        If it has half a character, as JSON and NumPy allow: no file could hold it.

    Examples
    --------
    >>> from firal.common.text import as_text
    >>> [as_text(value) for value in (3.0, " cat ", "1.0", "nan")]
    ['3', 'cat', '1', None]
    """
    if value is None:
        return None
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    text = str(value).strip()
    if not text.isascii() and HALF.search(text):
        raise ValueError(f"a text must be made of whole characters, got {text!r:.60}")
    if text.lower() in ("", "nan", "<na>") or value != value:  # <NA> is the text of pandas.NA
        return None
    return text.partition(".")[0] if re.fullmatch(r"-?[0-9]+\.0+", text) else text


def whole_number(text: str) -> int | None:
    """Return the number that a text of digits stands for.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    int or None
        None if it has other characters, or hundreds of digits.

    Examples
    --------
    >>> from firal.common.text import whole_number
    >>> [whole_number(text) for text in ("07", "-1", "9" * 5000)]
    [7, None, None]
    """
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def printable(text: str) -> str:
    """Return a text without characters that a terminal obeys.

    Parameters
    ----------
    text : str
        Perhaps with names from a file of somebody else.

    Returns
    -------
    str
        The same with spaces for control characters other than the end of a line, and for those that
        cannot be seen or turn the direction of writing.

    Examples
    --------
    >>> from firal.common.text import printable
    >>> printable("cat\\x1b[2J")
    'cat [2J'
    """
    return "".join(mark if mark.isprintable() or mark == "\n" else " " for mark in text)
