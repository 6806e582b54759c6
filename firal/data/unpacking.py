"""Compressed files: how large they become, before anything is read into memory.

A few kilobytes can unpack to terabytes. The size of an archive is in its directory, and that of a
compressed text is found by unpacking it piece by piece and keeping nothing. A column of a .parquet
file says how many values it has, and texts are read without their repetitions. What is larger than
``LARGEST`` is refused, and so is what grows more than ``LARGEST_RATIO`` times to a size that
matters: no table of measurements does.
"""

from __future__ import annotations

import gzip
import math
import zipfile
from pathlib import Path

import numpy as np

LARGEST = 4 * 2**30  # bytes
LARGEST_RATIO = 300
HARMLESS = 100 * 2**20  # bytes; below this the ratio does not matter
PIECE = 2**20


def refuse_large_archive(path: Path) -> None:
    """Raise ValueError if a zip archive unpacks to too much.

    Parameters
    ----------
    path : Path
        A .npz or .xlsx file.

    Raises
    ------
    ValueError
        If it is too large.
    zipfile.BadZipFile
        If it is no archive.
    """
    with zipfile.ZipFile(path) as file:
        _refuse(path, sum(entry.file_size for entry in file.infolist()))


def refuse_large_text(path: Path) -> None:
    """Raise ValueError if a compressed text unpacks to too much.

    Parameters
    ----------
    path : Path
        A .gz file.

    Raises
    ------
    ValueError
        If it is too large.
    OSError, EOFError, zlib.error
        If it is damaged.
    """
    size, limit = 0, min(LARGEST, max(HARMLESS, LARGEST_RATIO * path.stat().st_size))
    with gzip.open(path) as file:
        while piece := file.read(PIECE):
            size += len(piece)
            if size > limit:
                _refuse(path, size)


def refuse_false_headers(path: Path) -> None:
    """Raise ValueError if an entry of a .npz is no array, or claims to be larger than it is.

    Parameters
    ----------
    path : Path
        A .npz file.

    Raises
    ------
    ValueError
        If a header and the size of its entry disagree.

    Notes
    -----
    numpy sets the memory of an array aside before it reads it, whatever the name of the entry.
    """
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            with archive.open(entry) as file:
                try:
                    version = np.lib.format.read_magic(file)
                except ValueError:
                    raise ValueError(f"{entry.filename} in it is no array") from None
                read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                    version, np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = read(file)
            # values of no bytes would be free, so that any number of them could be claimed
            claimed = max(dtype.itemsize, 1) * math.prod(map(int, shape))
            if claimed > entry.file_size:
                raise ValueError(
                    f"{entry.filename} claims {claimed} bytes and has {entry.file_size}"
                )


def refuse_large_sheet(path: Path, cells: int) -> None:
    """Raise ValueError if a sheet has too many cells: one far away brings all those before it.

    Parameters
    ----------
    path : Path
        A .xlsx file.
    cells : int
        How many were read so far.

    Raises
    ------
    ValueError
        If they take too much memory.
    """
    _refuse(path, 8 * cells)


def refuse_large_parquet(path: Path, size: int) -> None:
    """Raise ValueError if columns of a .parquet file take too much memory.

    Parameters
    ----------
    path : Path
        The file.
    size : int
        Bytes of the columns. No ratio is asked for: columns of zeros are common, and take none.

    Raises
    ------
    ValueError
        If there are more than ``LARGEST``.
    """
    if size > LARGEST:
        raise ValueError(
            f"{path.name} must take at most {LARGEST} bytes of memory, got {size}: leave long "
            "texts out"
        )


def _refuse(path, size):
    packed = max(path.stat().st_size, 1)
    if size > LARGEST or (size > HARMLESS and size > LARGEST_RATIO * packed):
        raise ValueError(
            f"{path.name} must unpack to at most {LARGEST} bytes, and to at most {LARGEST_RATIO} "
            f"times its size, got {packed} bytes that unpack to {size} or more: if it is yours, "
            "save it as .npy or .parquet"
        )
