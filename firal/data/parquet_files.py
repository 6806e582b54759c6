"""Reader of .parquet files, which needs the package pyarrow; from strangers, too.

A footer may claim any number of rows, a list may have any length, and a text may be repeated a
million times. pyarrow ends the process where the description of a column is damaged. So it is asked
for that (``row_group.column``) only for columns of lists: the size of the others is the number of
rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from firal.data.damage import intact
from firal.data.formats import needs, refuse_twins
from firal.data.unpacking import refuse_large_parquet


def parquet_columns(path: Path) -> tuple[list[str], list]:
    """Read a .parquet file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    names : list of str
        Names of the columns.
    columns : list
        Arrays of numbers, or lists where values are absent or not numbers.

    Raises
    ------
    ValueError
        If it is damaged, or pyarrow is absent.
    """
    table = parquet_table(path)
    import pyarrow

    columns = []
    with intact(path, ".parquet"):
        for column in table.columns:
            kind = column.type
            plain = pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)
            quick = plain and column.null_count == 0
            columns.append(column.to_numpy() if quick else column.to_pylist())
    return table.column_names, columns


def parquet_names(path: Path) -> list[str]:
    """Names of the columns of a .parquet file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    list of str
        In their order.
    """
    from pyarrow import parquet

    with intact(path, ".parquet"):
        return parquet.read_schema(path).names


def parquet_table(path: Path, columns: Sequence[str] | None = None) -> Any:
    """Read columns of a .parquet file as a table of pyarrow.

    Parameters
    ----------
    path : Path
        The file.
    columns : sequence of str, optional
        Names; by default all.

    Returns
    -------
    pyarrow.Table
        Texts are dictionaries: one that occurs a million times stands there once.

    Raises
    ------
    ValueError
        If it is damaged, would take too much memory, or pyarrow is absent.
    """
    needs("pyarrow", path)
    import pyarrow
    from pyarrow import compute, parquet

    kinds = pyarrow.types
    with intact(path, ".parquet"):
        about = parquet.read_metadata(path)
        schema = about.schema.to_arrow_schema()
        names = schema.names
    refuse_twins(names, path)
    taken = names if columns is None else columns
    nested = [f.name for f in schema if kinds.is_nested(f.type) and f.name in taken]
    with intact(path, ".parquet"):
        groups = [about.row_group(k) for k in range(about.num_row_groups)]
        rows = max(about.num_rows, sum(group.num_rows for group in groups))
        size = 8 * rows * len(taken)
        for group in groups if nested else ():
            for part in map(group.column, range(group.num_columns)):
                if any(part.path_in_schema.startswith(f"{name}.") for name in nested):
                    size += 8 * part.num_values
        refuse_large_parquet(path, size)
        texts = [f.name for f in schema if kinds.is_string(f.type) or kinds.is_binary(f.type)]
        table = parquet.read_table(
            path, columns=columns, read_dictionary=texts, page_checksum_verification=True
        )
        for column in table.columns:
            if kinds.is_dictionary(column.type) and not kinds.is_primitive(column.type.value_type):
                for chunk in column.chunks:
                    letters = compute.binary_length(chunk.dictionary).take(chunk.indices)
                    size += compute.sum(letters).as_py() or 0
        refuse_large_parquet(path, size)
    return table
