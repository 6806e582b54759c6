"""Features of a user's points that are too many to be read at once: ``.npy`` and ``.parquet``.

:func:`stream_table` returns what :func:`firal.data.tables.read_table` returns, but the features are
a home (:mod:`firal.engine.homes`): the columns of labels and ids are read, the features are not.
Only their first rows are, to see whether a column looks like a label or an id.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from firal.common.text import as_text
from firal.data.parquet_files import parquet_names, parquet_table
from firal.data.suspects import refuse_doubtful
from firal.data.tables import Table
from firal.engine.homes import file_home

SUFFIXES = (".npy", ".parquet")
FIRST = 1000  # rows that tell whether a column counts the rows


def is_long(path: str | os.PathLike, most: int) -> bool:
    """Whether a file holds more numbers than are to be read at once.

    Parameters
    ----------
    path : str or path
        A table.
    most : int
        Bytes of all columns as float64, beyond which a ``.parquet`` file is long. A ``.npy`` file
        is memory-mapped anyway, and texts cannot be streamed.

    Returns
    -------
    bool
        Only the description of the file is read.
    """
    path = Path(path)
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return False
    try:
        from pyarrow import ArrowException, parquet

        data = parquet.read_metadata(path)
    except (ImportError, ArrowException, OSError):  # the reader says what is wrong
        return False
    return 8 * data.num_rows * data.num_columns > most


def stream_table(
    path: str | os.PathLike,
    columns: Sequence[str] = (),
    ignore: Sequence[str] = (),
    dask: bool = False,
    confirmed: Sequence[str] = (),
) -> Table:
    """Open the features of all points, and read other columns of the table by name.

    Parameters
    ----------
    path : str or path
        A table that ends in .npy or .parquet.
    columns : sequence of str
        Columns to return as text, such as labels and ids.
    ignore : sequence of str
        Columns that are neither features nor asked for.
    dask : bool, default False
        Whether the workers of the default Dask client read the file; its name must be good there.
    confirmed : sequence of str
        Columns that are features although they look like a label or an id.

    Returns
    -------
    Table
        As :func:`firal.data.tables.read_table` returns it; ``features`` is a home.

    Raises
    ------
    TableError
        If a column looks like a label or an id, by its name or by its first ``FIRST`` rows.
    ValueError
        If the file is of another format, is damaged, or lacks a named column.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(
            f"a table that is read block by block must end in {' or '.join(SUFFIXES)}, got "
            f"{path.name}: save it in one of these formats"
        )
    features, found = None, {}
    if path.suffix.lower() == ".parquet":
        names, wanted = parquet_names(path), (*columns, *ignore)
        absent = [name for name in (*wanted, *confirmed) if name not in names]
        if absent:
            raise ValueError(f"{path.name} has no column {absent[0]!r}, it has {names}")
        table = parquet_table(path, list(columns)) if columns else {}
        features = [name for name in names if name not in wanted]
        found = {name: [as_text(cell) for cell in table[name].to_pylist()] for name in columns}
    elif columns or ignore:
        raise ValueError(f"{path.name} has no named columns, got {', '.join(columns or ignore)}")
    if dask:
        from firal.engine.dask_home import on_dask

        home = on_dask(path, features)
    else:
        home = file_home(path, features)
    called = [str(k) for k in range(home.shape[1])] if features is None else features
    first = home.rows(np.arange(min(len(home), FIRST)))
    refuse_doubtful(called, list(first.T), path, confirmed)
    return Table(home, found, called, features is not None)


@contextmanager
def dask_client(address: str | None) -> Iterator[Any]:
    """Connect to a Dask scheduler, and make it the default.

    Parameters
    ----------
    address : str or None
        Such as ``tcp://10.0.0.5:8786``; None connects to nothing.

    Yields
    ------
    distributed.Client or None
        The connection, closed at the end.

    Raises
    ------
    ValueError
        If Dask is not installed, or nobody answers.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            "dask needs the packages dask and distributed: pip install 'dask[array]' distributed"
        ) from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"dask must name a scheduler that answers, got {address}: {error}"
        ) from None
    with client:
        yield client
