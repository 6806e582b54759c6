"""Text of one value of a user's data, and which values mean that there is none."""

from __future__ import annotations

import re
from typing import Any

import numpy as np


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
    if text.lower() in ("", "nan", "<na>") or value != value:  # <NA> is the text of pandas.NA
        return None
    return text.partition(".")[0] if re.fullmatch(r"-?[0-9]+\.0+", text) else text
