"""Which files are tables: their suffixes, and that they exist."""

from __future__ import annotations

import os
import re
from pathlib import Path

TEXT = (".csv", ".tsv", ".txt")
SUFFIXES = (".npy", ".npz", *TEXT, ".parquet", ".xlsx")
ARRAYS = (".npy", ".npz")
PACKED = (".zip", ".bz2", ".xz", ".zst", ".7z", ".tar", ".tgz")


def suffix(path: str | os.PathLike) -> str:
    """Return the suffix that tells the format of a file.

    Parameters
    ----------
    path : str or path
        Its name.

    Returns
    -------
    str
        In lower case; of a compressed text, such as .csv.gz, the one before .gz.

    Examples
    --------
    >>> suffix("a.CSV"), suffix("a.csv.gz"), suffix("a.npy.gz")
    ('.csv', '.csv', '.gz')
    """
    path = Path(path)
    last = path.suffix.lower()
    inner = Path(path.stem).suffix.lower()
    return inner if last == ".gz" and inner in TEXT else last


def existing_table(path: str | os.PathLike) -> Path:
    """Check that a path is a file in one of the formats of ``SUFFIXES``.

    Parameters
    ----------
    path : str or path
        Where the table should be.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    ValueError
        If it is absent, a folder, or has another suffix.
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"a table must end in {', '.join(SUFFIXES)}, got the folder {path}")
    if suffix(path) not in SUFFIXES:
        packed = ": unpack it first" if path.suffix.lower() in PACKED else ""
        raise ValueError(f"a table must end in {', '.join(SUFFIXES)}, got {path.name}{packed}")
    if not path.is_file():
        far = ": download it first" if re.match(r"(https?|ftp|s3|gs):/", str(path)) else ""
        raise ValueError(f"no file {path}{far}")
    return path
