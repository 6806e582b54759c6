"""Files that are written all or nothing, also by a process that is killed in between.

A file is written beside its name, as ``NAME.0123abcd.part``, and moved to its name when it is on
the disk. A process that is killed leaves that part. The next one that writes the same file removes
it: a part that nobody holds a lock on has no writer any more.
"""

from __future__ import annotations

import glob
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows has no such module, Jupyter in a browser an empty one
    flock = None  # there a file that is open cannot be removed, which does as well


def replace_file(path: Path, content: bytes) -> None:
    """Write a file, all or nothing; a link is followed.

    Parameters
    ----------
    path : Path
        Where to write.
    content : bytes
        What.

    Raises
    ------
    OSError
        If it cannot be written; what was there is left as it was.
    """
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of another one in the end; a link is followed.

    Parameters
    ----------
    path : Path
        Its name in the end.

    Yields
    ------
    file object
        Binary. After an error in the block nothing has changed.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x.txt"
    >>> with replacing(path) as file:
    ...     _ = file.write(b"new")
    ...     path.exists()
    False
    >>> path.read_bytes()
    b'new'
    """
    target = path.resolve()
    remove_parts(target)
    file, part = _new_part(target)
    try:
        with named(target), file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if flock is not None:  # moved while it is locked: nobody takes it for a leftover
                os.replace(part, target)
        if flock is None:  # Windows moves no open file
            os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Context in which errors of the system say which file could not be written.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    None
        While it is written.

    Raises
    ------
    OSError
        With ``path`` as its file name, if it came without one.

    Examples
    --------
    >>> with named(Path("x.csv")):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'x.csv'
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def remove_parts(path: Path) -> None:
    """Remove what killed processes have left of a file.

    Parameters
    ----------
    path : Path
        The file. Its parts are plain files beside it that nobody writes to.
    """
    for name in glob.glob(f"{glob.escape(str(path))}.{'[0-9a-f]' * 8}.part"):
        with suppress(OSError):  # somebody writes to it, or it is gone
            if not stat.S_ISREG(os.lstat(name).st_mode):  # a link or a pipe is none of ours
                continue
            with open(name, "rb") as file:
                _lock(file)
                if flock is not None:
                    os.unlink(name)
            if flock is None:
                os.unlink(name)


def _new_part(target):
    """A new file beside the target, locked, and its name; never one that exists, nor a link."""
    while True:
        part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
        file = open(part, "xb")
        try:
            with suppress(OSError):  # some disks have no locks
                _lock(file)
            # another process may have removed it before the lock
            if part.exists() and os.path.samestat(os.fstat(file.fileno()), part.stat()):
                return file, part
        except BaseException:
            part.unlink(missing_ok=True)
            file.close()
            raise
        file.close()


def _lock(file):
    if flock is not None:
        flock(file, LOCK_EX | LOCK_NB)
