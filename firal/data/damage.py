"""Files that are not what they seem: whatever a reader stumbles over becomes one clear error.

Parsers raise what they like when bytes are damaged or made up: errors of zlib, of XML, of the
tokenizer, of missing passwords. No list of them is complete, so all are caught.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firal.data.kinds import real_kind

# Not about the content of the file.
OTHERS = (MemoryError, PermissionError, IsADirectoryError)


@contextmanager
def intact(path: Path, kind: str) -> Iterator[None]:
    """Context in which a reader may stumble over a file.

    Parameters
    ----------
    path : Path
        The file.
    kind : str
        What it should be, such as ".npy of plain values".

    Yields
    ------
    None
        While the file is read.

    Raises
    ------
    ValueError
        In place of any error of the reader.

    Examples
    --------
    >>> with intact(Path("points.npz"), ".npz of plain arrays"):
    ...     raise RuntimeError("password required")
    Traceback (most recent call last):
    ValueError: points.npz must be an intact .npz of plain arrays: password required
    """
    try:
        yield
    except OTHERS:
        raise
    except Exception as error:
        # numpy advises to load objects unsafely
        unsafe = "pickle" in str(error)
        reason = "it holds objects or another format" if unsafe else str(error) or repr(error)
        hint = real_kind(path) if path.is_file() else ""
        raise ValueError(f"{path.name} must be an intact {kind}: {reason}{hint}") from None
