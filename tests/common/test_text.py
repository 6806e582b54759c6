"""Text of one value: numbers lose their decimal point, what is blank is None."""

import numpy as np
import pytest

from firal.common.text import as_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (np.float32(2.5), "2.5"),
        (" cat ", "cat"),
        ("", None),
        ("  ", None),
        (None, None),
        (np.nan, None),
        (np.datetime64("NaT"), None),
        (b"dog", "dog"),
        (True, "True"),
        ("1.0", "1"),
        ("-1.000", "-1"),
        ("007", "007"),
        ("1.50", "1.50"),
        (".0", ".0"),
        ("nan", None),
        (" NaN", None),
        ("NA", "NA"),
        ("None", "None"),
        ("null", "null"),
    ],
)
def test_text_of_a_cell(value, text):
    assert as_text(value) == text
