"""The command ``firal``: features of all points and labels of some in, points to label next out.

The command reads files, calls :func:`firal.next_batch`, and writes the picks.

Exit codes: 0 done, 1 failure, 2 bad input or options, 130 interrupted by Ctrl-C. Only the result
goes to stdout; notes, warnings, errors and the progress bar go to stderr.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import os
import re
import sys
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile

import numpy as np

import firal
from firal.cli_options import parser
from firal.common.text import as_text
from firal.data.labels import check_ids, merge, read_labels
from firal.data.streams import dask_client, is_long, stream_table
from firal.data.tables import read_table
from firal.pipeline import STREAM_FROM
from firal.selection.problem import AllPointsTie

# The library's errors begin with the name of an argument; these have an option of the same name.
ARGUMENTS = ("budget", "dask", "eta", "pca", "ridge", "robust", "strategy")
# What a TableError asks for, and the options that say it.
REMEDIES = {
    "header": "--header or --no-header",
    "ignore": "--ignore",
    "id_column": "--id-column",
    "label_column": "--label-column",
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
    try:
        options = parser().parse_args(argv)
        with _messages_as_lines(options.quiet):
            _select(options)
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
    except (ValueError, OSError) as error:
        return _fail(_with_options(error), 2)
    except MemoryError:
        return _fail("not enough memory: use fewer points or features (--pca)", 1)
    except Exception as error:
        return _fail(f"this should not happen, please report it: {error!r}", 1)


def _select(options):
    _check_output(options)
    with dask_client(options.dask):
        X, ids, labels = _read(options)
        batch = firal.next_batch(
            X,
            labels,
            options.budget,
            strategy=options.strategy,
            ridge=options.ridge,
            standardize=options.standardize,
            robust=options.robust,
            pca=options.pca,
            intercept=options.intercept,
            eta=options.eta,
            rng=np.random.default_rng(options.seed),
            progress=_shows_bar(options),
        )
    _write(options, _rendered(options, batch, ids))


def _read(options):
    """Features, ids or None, and {row: label}."""
    columns = [name for name in (options.label_column, options.id_column) if name is not None]
    if len(columns) == 2 and columns[0] == columns[1]:
        raise ValueError(f"--label-column and --id-column must differ, got {columns[0]!r} for both")
    if options.dask is not None or is_long(options.features, STREAM_FROM):
        X, found = stream_table(
            options.features, columns, options.ignore, dask=options.dask is not None
        )
    else:
        X, found = read_table(options.features, columns, options.ignore, options.header)
    ids = found.get(options.id_column)
    if ids is not None:
        check_ids(ids, options.id_column)
    column = enumerate(found.get(options.label_column, ()))
    parts = [{row: label for row, label in column if label is not None}]
    for path in options.labeled:
        parts.append(read_labels(path, len(X), ids, options.id_column, options.header))
    none = {as_text(value) for value in options.unlabeled}
    parts = [{row: label for row, label in part.items() if label not in none} for part in parts]
    return X, ids, merge(parts)


def _rendered(options, batch, ids):
    """The text to write: CSV with rank, row and perhaps id, or JSON with the certificate too."""
    rows = batch.rows.tolist()
    if _format(options) == "json":
        answer = {"firal": firal.__version__, "strategy": batch.strategy, "rows": rows}
        if ids is not None:
            answer["ids"] = [ids[row] for row in rows]
        if batch.selection is not None:
            answer["eta"] = batch.selection.eta
            answer["objective"] = _finite(batch.selection.objective)
            answer["ratio"] = _finite(batch.selection.ratio)
            answer["lambda_min"] = batch.selection.lambda_min
            answer["relaxation_gap"] = batch.selection.relaxation.gap
        return json.dumps(answer, indent=1) + "\n"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["rank", "row"] + ([options.id_column] if ids is not None else []))
    for rank, row in enumerate(rows, 1):
        writer.writerow([rank, row] + ([ids[row]] if ids is not None else []))
    return out.getvalue()


def _finite(value):
    """None for what JSON has no number for: the ratio of too few points without a ridge."""
    return value if value is not None and np.isfinite(value) else None


def _format(options):
    if options.format is not None:
        return options.format
    return "json" if options.output and options.output.suffix.lower() == ".json" else "csv"


def _check_output(options):
    path = options.output
    if path is None:
        if sys.stdout is None:
            raise ValueError("there is no stdout to write to: give an --output")
        return
    if path.exists():
        _check_existing_output(path, options)
    folder = path.resolve().parent  # of what a link points to
    if not folder.is_dir():
        raise ValueError(f"no folder {path.parent} for --output")
    try:
        with TemporaryFile(dir=folder):  # now, and not after the computation
            pass
    except OSError as error:
        raise ValueError(
            f"the folder {path.parent} for --output must be writable, got: {error.strerror}"
        ) from None


def _check_existing_output(path, options):
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "a device"
        raise ValueError(f"--output must be an ordinary file, got {kind}, {path}")
    if any(path.samefile(source) for source in _sources(options)):
        raise ValueError(f"--output must not be one of the files that are read, got {path}")
    if not options.overwrite:
        raise ValueError(
            f"{path} exists, perhaps with labels in it: choose another --output, or --overwrite"
        )


def _sources(options):
    return [path for path in (options.features, *options.labeled) if path.exists()]


def _write(options, text):
    if options.output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    target = options.output.resolve()  # a link is followed, not replaced
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf8")
        os.replace(part, target)  # all or nothing
    except OSError as error:
        raise OSError(f"--output {options.output} cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
    log.info(f"{options.budget} picks written to {options.output}")


def _shows_bar(options):
    if options.quiet:
        return False
    return sys.stderr.isatty() if options.progress is None else options.progress


def _with_options(error):
    """The message of an error, in the words of the command."""
    text = str(error)
    first = re.match(r"\w*", text).group()
    if first in ARGUMENTS:
        text = f"--{text}"
    remedies = [REMEDIES[word] for word in getattr(error, "remedies", ())]
    return f"{text} ({', '.join(remedies)})" if remedies else text


def _fail(text, code):
    first, *rest = str(text).splitlines() or ["failed"]
    print(f"firal: error: {' '.join([first, *map(str.strip, rest)])}", file=sys.stderr)
    return code


@contextmanager
def _messages_as_lines(quiet):
    """Notes and warnings of the module as one line each on stderr, or not at all."""

    def show(message, category, *_, **__):
        reduce = issubclass(category, AllPointsTie) and "Reduce the features" in str(message)
        hint = " (--pca)" if reduce else ""
        if not quiet:
            print(f"firal: warning: {message}{hint}", file=sys.stderr)

    handler, level = logging.StreamHandler(sys.stderr), log.level
    handler.setFormatter(logging.Formatter("firal: %(message)s"))
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
