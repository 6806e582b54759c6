"""What a file really is, by its first bytes: for messages about files under a wrong name."""

from __future__ import annotations

from pathlib import Path

# first bytes -> what begins so, and the suffixes that are right for it
KINDS = {
    b"\x1f\x8b": ("a compressed file", (".gz",)),
    b"PK\x03\x04": ("a zip archive", (".xlsx", ".npz", ".zip")),
    b"\x93NUMPY": ("an array of NumPy", (".npy",)),
    b"PAR1": ("a Parquet table", (".parquet",)),
    b"ARROW1": ("a Feather table", (".feather",)),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", (".xls",)),
    b"\x89HDF": ("an HDF5 file", (".h5",)),
    b"SQLite": ("an SQLite database", (".db",)),
    b"%PDF": ("a PDF", (".pdf",)),
}
TEXT = (".csv", ".tsv", ".txt")


def real_kind(path: Path) -> str:
    """Say what a file is if that is not what its name says.

    Parameters
    ----------
    path : Path
        An existing file.

    Returns
    -------
    str
        The end of a message, or "" if the first bytes tell nothing.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "points.csv"
    >>> _ = path.write_bytes(b"PAR1 and more")
    >>> real_kind(path)
    '; it begins like a Parquet table: name it .parquet'
    """
    with open(path, "rb") as file:
        start = file.read(200)
    last = path.suffix.lower()
    for first, (kind, suffixes) in KINDS.items():
        if start.startswith(first):
            names = " or ".join(suffixes)
            return "" if last in suffixes else f"; it begins like {kind}: name it {names}"
    text = start.isascii() and start and b"\0" not in start
    return f"; it begins like a text: name it {' or '.join(TEXT)}" if text else ""
