"""What one notebook passes on to another, and the only way to read it.

A notebook that puts the results of others side by side takes them from their stored outputs: it
neither repeats hours of work nor has numbers typed in. The notebook with the result shows its table
by ``publish``, which stores the numbers as JSON beside the text; the other one reads them with
``table``. The numbers are rounded as they are shown, so text and JSON say the same.

Every input is declared in ``profiles.INPUTS``, because a notebook is current only as long as its
inputs are unchanged. Whatever is not declared is refused here.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from firal.companion import checkout, profiles

MIME = "application/vnd.firal.table+json"


class Table(NamedTuple):
    """A published table: one row per strategy, one column per number of labels."""

    labels: list  # numbers of labels
    rows: dict  # strategy as shown -> (columns, numbers per cell)
    facts: dict  # what else was published with it


class Published:
    """A table as it is displayed: the text and HTML of pandas, and the numbers as JSON."""

    def __init__(self, frame, content):
        self.frame, self.content = frame, content

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {
            "text/plain": repr(self.frame),
            "text/html": self.frame._repr_html_(),
            MIME: self.content,
        }


def publish(frame, name, **facts):
    """Show a table of ``real_figures`` so that other notebooks can read its numbers.

    ``name`` is unique in the notebook. ``facts`` are plain values that belong to the table, such
    as ``data``, the SHA-256 of the prepared file that the numbers come from.
    """
    numbers = frame.attrs["numbers"]
    if list(frame.index) != list(numbers) or any(
        len(row) != len(frame.columns) for row in numbers.values()
    ):
        raise ValueError("publish needs a table as real_figures returns it, got a part of one")
    content = {
        "name": name,
        "labels": [int(n) for n in frame.columns],
        "rows": list(numbers.items()),  # pairs: notebooks store the keys of JSON sorted
        "facts": facts,
    }
    return Published(frame, content)


def table(notebook, name, *, reader) -> Table:
    """The table that a notebook published under this name.

    notebook, reader  short names such as "e12" and "e16": whose table, and who reads it
    """
    _check_declared(notebook, reader)
    path = checkout.notebook_path(notebook)
    found = [content for content in checkout.displayed(path, MIME) if content["name"] == name]
    if len(found) != 1:
        raise ValueError(
            f"{path.name} must publish one table {name!r}, got {len(found)}: execute it first"
        )
    rows = {shown: np.array(row, dtype=float) for shown, row in found[0]["rows"]}
    return Table(found[0]["labels"], rows, found[0]["facts"])


def file(name, *, reader) -> Path:
    """The path of a declared file, given relative to the root of the repository."""
    _check_declared(name, reader)
    return checkout.root() / name


def _check_declared(name, reader):
    declared = profiles.INPUTS.get(reader, ())
    if name not in declared:
        raise ValueError(
            f"{reader} must not read {name}: profiles.INPUTS declares "
            f"{', '.join(declared) or 'nothing'} for it. Add it there first"
        )
