"""The command ``firal``: features of all points and labels of some in, points to label next out.

The command reads files, calls :func:`firal.next_batch`, and writes the picks.

Exit codes: 0 done, 1 failure, 2 bad input or options, 130 interrupted by Ctrl-C. Only the result
goes to stdout; notes, warnings, errors and the progress bar go to stderr.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import contextmanager

import numpy as np

from firal import cli_select, cli_session
from firal.cli_options import parser
from firal.cli_progress import Ticker, ends_at_once
from firal.common.start_up import interrupts_are_exceptions
from firal.common.text import printable
from firal.selection.ties import AllPointsTie
from firal.session.folder import MODEL, SETTINGS

# The library's errors begin with the name of an argument; these have an option of the same name.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ARGUMENTS = ("budget", "dask", "eta", "pca", "probabilities", "ridge", "robust", "strategy")
# What a TableError asks for, and the options that say it.
REMEDIES = {
    "header": "--header or --no-header",
    "ignore": "--ignore",
    "feature": "--feature",
    "id_column": "--id-column",
    "label_column": "--label-column",
    "one_hot": "--one-hot",
    "impute": "--impute",
    "map": "--map OLD=NEW",
    "unlabeled": "--unlabeled",
    "class": "--class",
}
COMMANDS = {
    "select": cli_select.run,
    "init": cli_session.init,
    "next": cli_session.pick,
    "label": cli_session.label,
    "status": cli_session.status,
    "report": cli_session.report_page,
    "export": cli_session.export,
}

log = logging.getLogger("firal")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        The exit code.

    Examples
    --------
    >>> from firal.cli import main
    >>> main(["--version"])  # doctest: +ELLIPSIS
    firal ...
    0
    """
    command = None  # as long as the arguments are not understood
    try:
        interrupts_are_exceptions()  # while the module was imported they ended the process
        options = parser().parse_args(argv)
        command = options.command
        with ends_at_once(), _messages_as_lines(options.quiet):
            shown = not options.quiet and options.progress
            with Ticker(sys.stderr, shown) as ticker:
                COMMANDS[command](options, ticker)
        return 0
    except SystemExit as stop:  # --help, --version and what argparse refuses
        return stop.code
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except np.linalg.LinAlgError as error:  # is a ValueError, but not the user's
        return _fail(f"a linear system could not be solved: {error}", 1)
    except ValueError as error:
        return _fail(_with_options(error, command), 2)
    except OSError as error:
        return _fail(_of_the_system(error) or _with_options(error, command), 2)
    except MemoryError:
        return _fail("not enough memory: use fewer features (--pca 20) or fewer points", 1)
    except Exception as error:
        return _fail(f"this should not happen, please report it: {error!r}", 1)


def _of_the_system(error):
    """The message of an error of the disk, for example."""
    if error.errno is None:  # ours
        return None
    text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if error.errno not in FULL:
        return text
    return f"{text}: make room and run the command again; what was finished before is kept"


def _with_options(error, command):
    """The message of an error, in the words of the command."""
    text = str(error)
    first = re.match(r"\w*", text).group()
    if command == "next" and first == "budget":
        text = text.replace("budget", "firal next: N", 1)
    elif command == "next" and first in MODEL:
        text += f": see 'model' in {SETTINGS} of the session"
    elif first in ARGUMENTS:
        text = f"--{text}"
    text = text.replace("by Session.create", "by firal init FEATURES")
    text = re.sub(r"^held_out", "--hold-out", text)
    text = text.replace("got a file: choose another one", "got a file: choose another --session")
    remedies = [REMEDIES[word] for word in getattr(error, "remedies", ())]
    if command == "init" and REMEDIES["one_hot"] in remedies:
        text += ", or show it to the annotators"
        remedies.append("--show")
    return f"{text} ({', '.join(remedies)})" if remedies else text


def _fail(text, code):
    first, *rest = str(text).splitlines() or ["failed"]
    line = " ".join([first, *map(str.strip, rest)])
    print(f"firal: error: {printable(line)}", file=sys.stderr)
    return code


class _Line(logging.Formatter):
    """A note without characters that a terminal obeys."""

    def format(self, record):
        return printable(super().format(record))


@contextmanager
def _messages_as_lines(quiet):
    """Notes and warnings of the module as one line each on stderr, or not at all."""

    def show(message, category, *_, **__):
        reduce = issubclass(category, AllPointsTie) and "Reduce the features" in str(message)
        hint = " (--pca)" if reduce else ""
        if not quiet:
            print(f"firal: warning: {printable(str(message))}{hint}", file=sys.stderr)

    handler, level = logging.StreamHandler(sys.stderr), log.level
    handler.setFormatter(_Line("firal: %(message)s"))
    handler.setLevel(logging.CRITICAL if quiet else logging.INFO)
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RuntimeWarning)
            warnings.showwarning = show
            yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
