"""Ctrl-C while the command ``firal`` starts: one line and exit code 130, no traceback.

The imports of the module take most of a second, and :func:`firal.cli.main` can only catch what
happens after them. So the package sets a handler before it imports anything large, but only where
the process is the command: in a program that imports the module Ctrl-C is the program's own matter.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import PurePath


def is_command(argv0: str, interpreter: list[str]) -> bool:
    """Say whether a process is the command.

    Parameters
    ----------
    argv0 : str
        ``sys.argv[0]``: the installed script, or "-m" while ``python -m`` looks for its module.
    interpreter : list of str
        ``sys.orig_argv``: how Python was called.

    Returns
    -------
    bool
        True for ``firal`` and for ``python -m firal``.

    Examples
    --------
    >>> is_command("/usr/bin/firal", ["python", "/usr/bin/firal"])
    True
    >>> is_command("my_program.py", ["python", "my_program.py"])
    False
    """
    if argv0 != "-m":
        return PurePath(argv0).stem in ("firal", "firal-script")
    return "-mfiral" in interpreter or ("-m", "firal") in zip(
        interpreter, interpreter[1:], strict=False
    )


def _end(*_):
    # Nothing is open and nothing is written yet, and an exception could be lost in an import.
    os.write(2, b"firal: error: interrupted\n")
    os._exit(130)


def interrupts_end_the_start() -> None:
    """Let Ctrl-C end the process at once, until :func:`interrupts_are_exceptions`."""
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def interrupts_are_exceptions() -> None:
    """Give Ctrl-C its usual meaning back, if it was changed here."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if is_command(sys.argv[0] if sys.argv else "", sys.orig_argv):
    interrupts_end_the_start()
