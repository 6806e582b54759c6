"""A user's pool as it is read: features with names, ids, and the labels that there are.

This is what ``firal select`` and a session begin with. Nothing is computed here, and whatever is
in doubt has been refused when it returns: columns that look like labels or ids, labels that look
like none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from firal.common.text import as_text
from firal.data.classes import rename
from firal.data.labels import merge, read_answers
from firal.data.point_names import check_ids
from firal.data.streams import is_long, stream_table
from firal.data.tables import read_table
from firal.engine.passes import Home
from firal.placement import HELD_FROM

LEAK = 20  # labels from which on a column that agrees with them all is no chance


class Points(NamedTuple):
    """A pool and what is known about it.

    Attributes
    ----------
    features : np.ndarray or Home, of shape (n, d)
        One row per point; a home is read block by block.
    names : list of str
        Names of the features.
    has_header : bool
        Whether these names come from the file.
    ids : list of str, or None
        Ids of the points.
    labels : dict
        From row to label.
    pending : list of int
        Rows of earlier batches that have no label yet.
    shown : list of str, or None
        What an annotator sees of every point.
    """

    features: np.ndarray | Home
    names: list[str]
    has_header: bool
    ids: list[str] | None
    labels: dict[int, str]
    pending: list[int]
    shown: list[str | None] | None = None


def read_points(
    path: str | os.PathLike,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    ignore: Sequence[str] = (),
    confirmed: Sequence[str] = (),
    header: bool | None = None,
    labeled: Sequence[str | os.PathLike] = (),
    unlabeled: Iterable[str] = (),
    renamed: Mapping[str, str | None] | None = None,
    show: str | None = None,
    one_hot: Sequence[str] = (),
    impute: bool = False,
    dask: bool = False,
) -> Points:
    """Read a pool: a table of features, and labels in it or beside it.

    Parameters
    ----------
    path : str or path
        Table of features, see :func:`firal.data.tables.read_table`.
    id_column, label_column : str, optional
        Columns of the table with ids and with labels.
    ignore : sequence of str
        Columns that are nothing of these and no features.
    confirmed : sequence of str
        Columns that are features although they look like a label or an id.
    header : bool, optional
        Whether texts begin with a header; by default by the rule of ``firal.data.cells``.
    labeled : sequence of paths
        Files of labels, see :func:`firal.data.labels.read_labels`.
    unlabeled : iterable of str
        Labels that mean no label.
    renamed : mapping, optional
        From a label to the one to use in its place.
    show : str, optional
        Column with what an annotator sees: a text, or the path of a picture.
    one_hot : sequence of str
        Columns of categories, each of which becomes a feature of zeros and ones.
    impute : bool
        Whether missing numbers become the median of their column.
    dask : bool, default False
        Whether the workers of the default Dask client read the table, block by block. A long
        ``.parquet`` file is read block by block anyway.

    Returns
    -------
    Points
        All that the files say.

    Raises
    ------
    TableError
        If the caller has to say more; ``remedies`` says what.
    ValueError
        If a file is absent or damaged, or two labels of a point differ.
    """
    columns = [name for name in (label_column, id_column) if name is not None]
    if len(columns) == 2 and columns[0] == columns[1]:
        raise ValueError(f"the label column and the id column must differ, got {columns[0]!r}")
    texts = [] if show is None else [show]
    if dask or (is_long(path, HELD_FROM) and not (one_hot or impute)):
        if one_hot or impute:
            raise ValueError("one_hot and impute need a table in memory, got one on Dask workers")
        table = stream_table(path, [*columns, *texts], ignore, dask, confirmed)
    else:
        table = read_table(path, columns, ignore, header, confirmed, texts, one_hot, impute)
    n, ids = len(table.features), table.found.get(id_column)
    if ids is not None:
        check_ids(ids, id_column)
    column = enumerate(table.found.get(label_column, ()))
    parts, pending = [{row: label for row, label in column if label is not None}], []
    for file in labeled:
        answers = read_answers(file, n, ids, id_column, header)
        parts.append(answers.labels)
        pending += answers.pending
    names = {**dict.fromkeys(unlabeled), **(renamed or {})}
    labels = merge(rename(part, names) for part in parts)
    pending = sorted({row for row in pending if row not in labels})
    shown = table.found.get(show)
    return Points(table.features, table.names, table.has_header, ids, labels, pending, shown)


def telling(points: Points) -> list[str]:
    """Find features that take one value per class: perhaps the label under another name.

    Parameters
    ----------
    points : Points
        A pool with labels.

    Returns
    -------
    list of str
        Names of such features; none with fewer than ``LEAK`` labels.
    """
    rows = sorted(points.labels)
    if len(rows) < LEAK or len(points.features.shape) != 2:
        return []
    texts = [as_text(points.labels[row]) for row in rows]
    if len(set(texts)) < 2:
        return []
    codes = np.unique(texts, return_inverse=True)[1]
    home = isinstance(points.features, Home)
    known = points.features.rows(rows) if home else np.asarray(points.features[rows])
    found = []
    for name, column in zip(points.names, known.T, strict=False):
        pairs = set(zip(column.tolist(), codes.tolist(), strict=True))
        if len(pairs) == len(set(texts)) == len(set(column.tolist())):
            found.append(name)
    return found
