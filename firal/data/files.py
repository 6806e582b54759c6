"""Files of arrays: intact, of plain values, and with the expected checksum.

Nothing is ever unpickled. Each array in a .npz carries a CRC-32, which zipfile compares. The
files that a SHA256SUMS in the same folder lists, as ``sha256sum`` writes it, must agree with it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from firal.data.damage import intact
from firal.data.unpacking import refuse_false_headers, refuse_large_archive

MANIFEST = "SHA256SUMS"


def read_npy(path: str | os.PathLike) -> np.ndarray:
    """Open the array of a .npy file, memory-mapped.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    np.ndarray
        Read-only; its values are read from the file when they are used.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is damaged, or holds Python objects or several arrays.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    with intact(path, ".npy of plain values"):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("it is an archive of several")
        return array


def read_npz(path: Path, required: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Read all arrays of a .npz file.

    Parameters
    ----------
    path : Path
        The file.
    required : sequence of str
        Names of arrays that must be there.

    Returns
    -------
    dict
        From name to array.

    Raises
    ------
    ValueError
        If the file is absent or damaged, holds Python objects, or lacks a required array.
    """
    with intact(path, ".npz of plain arrays"):
        refuse_large_archive(path)
        refuse_false_headers(path)
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    if any(key not in arrays for key in required):
        raise ValueError(
            f"{path.name} must hold {', '.join(required)}, got {', '.join(sorted(arrays))}"
        )
    return arrays


def sha256(path: str | os.PathLike) -> str:
    """Compute the SHA-256 of a file.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    str
        Its SHA-256, in hexadecimal.
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verified_sha256(path: Path) -> str:
    """Compute the SHA-256 of a file and compare it with the folder's SHA256SUMS.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        Its SHA-256, in hexadecimal. A file that SHA256SUMS does not list is not compared.

    Raises
    ------
    ValueError
        If SHA256SUMS lists the file with another checksum.
    """
    checksum = sha256(path)
    manifest = path.with_name(MANIFEST)
    lines = manifest.read_text("utf8").splitlines() if manifest.is_file() else []
    for line in lines:
        expected, _, listed = line.strip().partition(" ")
        if listed.strip().lstrip("*") == path.name and expected.lower() != checksum:
            raise ValueError(
                f"{path.name} must have SHA-256 {expected} as in {MANIFEST}, got {checksum}: "
                "the file is damaged or of another version"
            )
    return checksum
