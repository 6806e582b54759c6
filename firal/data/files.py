"""Files of arrays, read with care: intact, of plain values, and the ones that were meant.

Nothing is ever unpickled. Each array in a .npz carries a CRC-32, which zipfile compares; a file
SHA256SUMS beside a file, as ``sha256sum`` writes it, must agree with it if it lists it.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import numpy as np

MANIFEST = "SHA256SUMS"


def read_npy(path):
    """The array of a .npy, memory-mapped; ValueError if it is damaged or holds objects."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("it is an archive of several")
    except (ValueError, EOFError) as error:
        raise ValueError(
            f"{path.name} must be an intact .npy of plain values: {_reason(error)}"
        ) from None
    return array


def read_npz(path, required=()):
    """All arrays of a .npz by name; ValueError if it is damaged or lacks a ``required`` one."""
    try:
        with zipfile.ZipFile(path), np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise ValueError(
            f"{path.name} must be an intact .npz of plain arrays: {_reason(error)}"
        ) from None
    if any(key not in arrays for key in required):
        raise ValueError(
            f"{path.name} must hold {', '.join(required)}, got {', '.join(sorted(arrays))}"
        )
    return arrays


def _reason(error):
    """Why numpy refused a file, without its advice to load it unsafely."""
    return "it holds objects or another format" if "pickle" in str(error) else error


def sha256(path):
    """SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verified_sha256(path):
    """SHA-256 of the file; ValueError if the folder's SHA256SUMS says otherwise."""
    checksum = sha256(path)
    manifest = path.with_name(MANIFEST)
    lines = manifest.read_text().splitlines() if manifest.is_file() else []
    for line in lines:
        expected, _, listed = line.strip().partition(" ")
        if listed.strip().lstrip("*") == path.name and expected.lower() != checksum:
            raise ValueError(
                f"{path.name} must have SHA-256 {expected} as in {MANIFEST}, got {checksum}: "
                "damaged or of another version"
            )
    return checksum
