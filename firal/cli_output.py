"""Where the command writes: checked before the work, and replaced as a whole after it."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path
from tempfile import TemporaryFile

from firal.data.output import check_suffix
from firal.data.writing import replace_file

log = logging.getLogger("firal")


def check_output(
    path: Path | None, sources: list[Path], overwrite: bool, format: str | None = None
) -> None:
    """Check before the work that the result can be written.

    Parameters
    ----------
    path : Path or None
        The output; None for stdout.
    sources : list of Path
        Files that are read, and must not be replaced.
    overwrite : bool
        Whether an existing file may be replaced.
    format : str, optional
        The format asked for, which must be that of the suffix.

    Raises
    ------
    ValueError
        If it cannot be written.
    """
    if path is None:
        if sys.stdout is None:
            raise ValueError("there is no stdout to write to: give an --output")
        return
    if path.exists():
        _check_existing_output(path, sources, overwrite)
    suffix = check_suffix(path)
    if format is not None and suffix != f".{format}":
        raise ValueError(f"--format must be that of --output, {path.name}, got {format}")
    folder = path.resolve().parent  # of what a link points to
    if not folder.is_dir():
        shown = os.readlink(path) if path.is_symlink() else path
        link = f" {path}, a link" if path.is_symlink() else ""
        raise ValueError(f"no folder {Path(shown).parent} for --output{link}")
    try:
        with TemporaryFile(dir=folder):  # now, and not after the computation
            pass
    except OSError as error:
        raise ValueError(
            f"the folder {path.parent} for --output must be writable, got: {error.strerror}"
        ) from None


def _check_existing_output(path, sources, overwrite):
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "a device"
        raise ValueError(f"--output must be an ordinary file, got {kind}, {path}")
    if any(path.samefile(source) for source in sources):
        raise ValueError(f"--output must not be one of the files that are read, got {path}")
    if not overwrite:
        raise ValueError(
            f"{path} exists, perhaps with labels in it: choose another --output, or --overwrite"
        )


def write(options: argparse.Namespace, content: bytes) -> None:
    """Write the result to --output or to stdout.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command.
    content : bytes
        What to write.
    """
    if options.output is None:
        to_stdout(content)
        return
    try:
        replace_file(options.output, content)
    except OSError as error:
        raise OSError(f"--output {options.output} cannot be written: {error.strerror}") from None
    log.info(f"{options.budget} picks written to {options.output}")


def to_stdout(content: bytes) -> None:
    """Write to stdout as to a file: in UTF-8 and with plain line ends, whatever the system's are.

    Else a table that a Windows shell redirects into a file could not be read again.

    Parameters
    ----------
    content : bytes
        UTF-8.
    """
    if sys.stdout is None:
        return
    sys.stdout.flush()
    raw = getattr(sys.stdout, "buffer", None)  # a stream in memory may have none
    if raw is None:
        sys.stdout.write(content.decode())
    else:
        raw.write(content)
    sys.stdout.flush()
