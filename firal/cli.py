"""The command ``firal``: features of all points and labels of some in, points to label next out.

Exit codes: 0 done, 1 something failed, 2 bad input or options, 130 interrupted by Ctrl-C. What is
written to stdout is the result only; notes, warnings, errors and the bar go to stderr.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

import firal
from firal.data.tables import SUFFIXES, as_text, check_ids, merge, read_labels, read_table
from firal.engine.scaling import model_features
from firal.loop import RIDGE
from firal.selection.problem import AllPointsTie
from firal.strategies import STRATEGIES

NEED_NO_MODEL = ("random", "kmeans")
LARGE = 2000  # from this many parameters on, a selection takes minutes

EXAMPLES = """\
examples:
  firal select features.npy --labeled labels.csv --budget 10
      features.npy has one row per point; labels.csv the lines row,label of those that have one
  firal select points.csv --label-column y --id-column name --budget 10 --output round1.csv
      blank cells in column y are points without a label
  firal select points.csv --label-column y --id-column name --labeled round1.csv --budget 10
      round1.csv as written above, with a column "label" that your annotators have added

Rows are counted from 0, a header line does not count. Without labels, or with labels of one
class only, there is no model yet: the points are then picked by K-means, and a note says so.
The book's chapter "Use it on your own pool" explains all options.
"""


def main(argv=None):
    """Run the command; returns the exit code."""
    try:
        options = _parser().parse_args(argv)
        with _plain_warnings(options.quiet):
            _select(options)
        return 0
    except SystemExit as stop:  # --help, --version and what argparse refuses
        return stop.code
    except KeyboardInterrupt:
        return _failed("interrupted", 130)
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except np.linalg.LinAlgError as error:  # is a ValueError, but not the user's
        return _failed(f"a linear system could not be solved: {error}", 1)
    except (ValueError, OSError) as error:
        return _failed(error, 2)
    except MemoryError:
        return _failed("not enough memory: use fewer points or features (--pca)", 1)
    except Exception as error:
        return _failed(f"this should not happen, please report it: {error!r}", 1)


def _select(options):
    if options.eta is not None and options.strategy != "firal":
        raise ValueError(f"--eta is for --strategy firal, got --strategy {options.strategy}")
    _check_output(options)
    X, ids, labels = _read(options)
    n = len(X)
    known = np.array(sorted(labels), dtype=np.intp)
    free = np.setdiff1d(np.arange(n), known)
    if options.budget > free.size:
        raise ValueError(
            f"--budget must be at most {free.size}, the number of points without a label, "
            f"got {options.budget}"
        )
    classes, y = np.unique([labels[row] for row in known.tolist()], return_inverse=True)
    features = model_features(
        X, standardize=options.standardize, pca=options.pca, intercept=options.intercept
    )
    _note(
        options,
        f"{n} points, {X.shape[1]} features; {known.size} labeled in {classes.size} classes, "
        f"{free.size} to choose from",
    )
    strategy = _possible_strategy(options, known.size, classes.size)
    theta = None
    if strategy not in NEED_NO_MODEL:
        size = features.shape[1] * (classes.size - 1)
        if size > LARGE and strategy in ("firal", "bait"):
            _note(
                options,
                f"the model has {size} parameters: this can take minutes or more; "
                "--pca 20 or so makes it quick",
            )
        theta = firal.fit(features[known], y, classes.size, options.ridge).theta
    pool, labeled = features[free], features[known]
    del features
    result = None
    if strategy == "firal":
        result = firal.select(
            pool, labeled, theta, options.budget, eta=options.eta, progress=_shows_bar(options)
        )
        picked = result.indices
    else:
        rng = np.random.default_rng(options.seed)
        picked = STRATEGIES[strategy](pool, labeled, theta, options.budget, rng)
    _write(options, _rendered(options, free[picked].tolist(), ids, strategy, result))


def _read(options):
    """Features, ids or None, and {row: label}."""
    columns = [name for name in (options.label_column, options.id_column) if name is not None]
    if len(columns) == 2 and columns[0] == columns[1]:
        raise ValueError(f"--label-column and --id-column must differ, got {columns[0]!r} for both")
    X, found = read_table(options.features, columns, options.ignore)
    ids = found.get(options.id_column)
    if ids is not None:
        check_ids(ids, options.id_column)
    column = enumerate(found.get(options.label_column, ()))
    parts = [{row: label for row, label in column if label is not None}]
    parts += [read_labels(path, len(X), ids, options.id_column) for path in options.labeled]
    none = {as_text(value) for value in options.unlabeled}
    parts = [{row: label for row, label in part.items() if label not in none} for part in parts]
    return X, ids, merge(parts)


def _possible_strategy(options, n_labels, n_classes):
    """What was asked for, or K-means when there are no two classes to tell apart yet."""
    if options.strategy in NEED_NO_MODEL or n_classes >= 2:
        return options.strategy
    reason = "all labels are of one class" if n_labels else "no labels yet"
    _note(options, f"{reason}, so there is no model: K-means picks instead of {options.strategy}")
    return "kmeans"


def _rendered(options, rows, ids, strategy, result):
    """The text to write: CSV with rank, row and perhaps id, or JSON with the certificate too."""
    if _format(options) == "json":
        answer = {"firal": firal.__version__, "strategy": strategy, "rows": rows}
        if ids is not None:
            answer["ids"] = [ids[row] for row in rows]
        if result is not None:
            answer["eta"] = result.eta
            answer["lambda_min"] = result.lambda_min
            answer["relaxation_gap"] = result.relaxation.gap
        return json.dumps(answer, indent=1) + "\n"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["rank", "row"] + ([options.id_column] if ids is not None else []))
    for rank, row in enumerate(rows, 1):
        writer.writerow([rank, row] + ([ids[row]] if ids is not None else []))
    return out.getvalue()


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
    _note(options, f"{options.budget} picks written to {options.output}")


class _Parser(argparse.ArgumentParser):
    """Errors of one line, all in the same form."""

    def error(self, message):
        raise ValueError(f"{message} (see {self.prog} --help)")


def _parser():
    parser = _Parser(prog="firal", description="Active learning by the Fisher information ratio.")
    parser.add_argument("--version", action="version", version=f"firal {firal.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="select")
    select = commands.add_parser(
        "select",
        help="pick the points to label next",
        description="Pick the points to label next: features of all points and labels of some in, "
        "rows out. A logistic regression is fitted to the labels, and FIRAL chooses the points "
        "that tell most about it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = select.add_argument
    add("features", type=Path, help=f"table with one row per point: {' '.join(SUFFIXES)}")
    add("--budget", type=_integer(1), required=True, metavar="N", help="points to pick")
    what = select.add_argument_group("labels and names")
    what.add_argument(
        "--labeled",
        "--labels",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="labels: a table with the columns row (or the id column) and label, or one entry per "
        "point with blanks; may be given several times",
    )
    what.add_argument("--label-column", metavar="NAME", help="column of FEATURES with labels")
    what.add_argument(
        "--unlabeled",
        action="append",
        default=[],
        metavar="VALUE",
        help="a label that means none, such as -1 (blank and nan always); may be given several "
        "times",
    )
    what.add_argument("--id-column", metavar="NAME", help="column of FEATURES naming the points")
    what.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="NAME",
        help="a column that is no feature; may be given several times",
    )
    add("--strategy", choices=list(STRATEGIES), default="firal", help="default: firal")
    add(
        "--eta",
        type=_eta,
        metavar="X",
        help='of firal: a number or "theory"; default: the best of 7',
    )
    add("--seed", type=_integer(0), default=0, metavar="N", help="of random and kmeans; default 0")
    model = select.add_argument_group("model")
    model.add_argument(
        "--ridge",
        type=_positive,
        default=RIDGE,
        metavar="R",
        help=f"penalty R/2 |theta|^2 on the mean loss; default {RIDGE:g}",
    )
    model.add_argument(
        "--standardize",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="bring every column to mean 0 and standard deviation 1 (default: yes)",
    )
    model.add_argument(
        "--intercept",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="append a column of ones (default: yes)",
    )
    model.add_argument(
        "--pca", type=_integer(1), metavar="D", help="keep D principal components of the features"
    )
    out = select.add_argument_group("output")
    out.add_argument(
        "--output", type=_output, metavar="FILE", help=".csv or .json; default, or -: stdout"
    )
    out.add_argument("--format", choices=("csv", "json"), help="default: by the name of --output")
    out.add_argument("--overwrite", action="store_true", help="replace an existing --output")
    out.add_argument("--quiet", action="store_true", help="no notes and no bar, only errors")
    out.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="a bar on stderr (default: if that is a terminal)",
    )
    return parser


def _integer(low):
    def parse(text):
        if not text.isdecimal() or int(text) < low:
            raise argparse.ArgumentTypeError(f"must be an integer >= {low}, got {text!r}")
        return int(text)

    return parse


def _positive(text):
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not (0 < value < np.inf):
        raise argparse.ArgumentTypeError(f"must be a number > 0, got {text!r}")
    return value


def _output(text):
    if not text:
        raise argparse.ArgumentTypeError("must be the name of a file, or - for stdout, got ''")
    return None if text == "-" else Path(text)


def _eta(text):
    return text if text == "theory" else _positive(text)


def _shows_bar(options):
    if options.quiet:
        return False
    return sys.stderr.isatty() if options.progress is None else options.progress


def _note(options, text):
    if not options.quiet:
        print(f"firal: {text}", file=sys.stderr)


def _failed(text, code):
    first, *rest = str(text).splitlines() or ["failed"]
    print(f"firal: error: {' '.join([first, *map(str.strip, rest)])}", file=sys.stderr)
    return code


@contextmanager
def _plain_warnings(quiet):
    """Warnings of the module as one line each, without file and line number."""

    def show(message, category, *_, **__):
        hint = ", by --pca" if issubclass(category, AllPointsTie) else ""
        if not quiet:
            print(f"firal: warning: {message}{hint}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = show
        yield
