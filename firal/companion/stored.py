"""Results that executed notebooks hold, read back as numbers.

A notebook that puts the results of others side by side takes them from their stored outputs: it
neither repeats hours of work nor has numbers typed in. Only what was shown is known, so the
numbers are rounded as they were shown.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

NUMBER = r"[-+]?\d+(?:\.\d+)?"


class Table(NamedTuple):
    """A table of ``real_figures``: one row per strategy, one column per number of labels."""

    labels: list  # numbers of labels
    rows: dict  # strategy as shown -> (columns, numbers per cell)


def table(notebook, corner):
    """The first stored table whose corner says ``corner``, such as "points at labels".

    notebook: path of an executed .ipynb. A cell "-0.9 (-1.9 .. +0.0)" gives three numbers, a
    cell "0.225 ± 0.003" two.
    """
    for text in _texts(notebook):
        head, *lines = text.splitlines() or [""]
        if head.startswith(corner):
            labels = [int(word) for word in head.removeprefix(corner).split()]
            split = [re.split(r"\s{2,}", line.rstrip()) for line in lines]
            rows = {name: np.array(list(map(_numbers, cells))) for name, *cells in split}
            return Table(labels, rows)
    raise ValueError(f"{Path(notebook).name} must hold a table {corner!r}, got none")


def printed(notebook, before):
    """The first number that the notebook printed right after the text ``before``."""
    for text in _texts(notebook):
        if found := re.search(re.escape(before) + rf"\s*({NUMBER})", text):
            return float(found[1])
    raise ValueError(f"{Path(notebook).name} must print a number after {before!r}, got none")


def _numbers(cell):
    return [float(number) for number in re.findall(NUMBER, cell)]


def _texts(notebook):
    """Everything the notebook printed or shows as text, in order."""
    cells = json.loads(Path(notebook).read_text(encoding="utf8"))["cells"]
    for output in (o for cell in cells for o in cell.get("outputs", ())):
        text = output.get("text", output.get("data", {}).get("text/plain", ""))
        yield text if isinstance(text, str) else "".join(text)
