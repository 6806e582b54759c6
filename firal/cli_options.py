"""The options of the command ``firal``, and what ``--help`` says about them."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import firal
from firal.data.cells import SUFFIXES
from firal.data.output import WRITTEN
from firal.pipeline import DEFAULT, RIDGE
from firal.selection import penalized
from firal.strategies import STRATEGIES

EXAMPLES = """\
examples:
  firal select features.npy --labeled labels.csv --budget 10
      features.npy has one row per point; labels.csv has lines row,label for the labeled points
  firal select points.csv --label-column y --id-column name --budget 10 --output round1.csv
      blank cells in column y are points without a label
  firal select points.csv --label-column y --id-column name --labeled round1.csv --budget 10
      round1.csv as written above, with a column "label" that your annotators have added

Rows are 0-based, header excluded. No label is needed to begin with.
The book's chapter "Use it on your own pool" explains all options.
"""


class _Parser(argparse.ArgumentParser):
    """Errors of one line, all in the same form."""

    def error(self, message):
        raise ValueError(f"{message} (see {self.prog} --help)")


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command.

    Returns
    -------
    argparse.ArgumentParser
        What it refuses is a ValueError of one line.
    """
    top = _Parser(prog="firal", description="Active learning by the Fisher information ratio.")
    top.add_argument("--version", action="version", version=f"firal {firal.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="select")
    select = commands.add_parser(
        "select",
        help="pick the points to label next",
        description="Pick the points to label next: features of all points and labels of some in, "
        "rows out. A logistic regression is fitted to the labels, and penalized FIRAL picks the "
        "points with the most information about it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = select.add_argument
    add("features", type=Path, help=f"table with one row per point: {' '.join(SUFFIXES)}")
    add("--budget", type=_integer(1), required=True, metavar="N", help="points to pick")
    what = select.add_argument_group("labels and columns")
    what.add_argument(
        "--labeled",
        "--labels",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="labels: a table with the columns row (or the id column) and label, or one entry per "
        "point with blanks; repeat the option for several files",
    )
    what.add_argument("--label-column", metavar="NAME", help="column of FEATURES with labels")
    what.add_argument(
        "--unlabeled",
        action="append",
        default=[],
        metavar="VALUE",
        help="a value that means no label, such as -1 (blank and nan always do); repeat the option "
        "for several",
    )
    what.add_argument(
        "--map",
        type=_pair,
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="use the class NEW in place of OLD; nothing after = means no label",
    )
    what.add_argument(
        "--class",
        dest="confirmed_class",
        action="append",
        default=[],
        metavar="NAME",
        help="a class that is right although it looks like a mark or a slip",
    )
    what.add_argument(
        "--exclude",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="points not to be picked: a table with a column row or of ids, such as an earlier "
        "batch; repeat the option for several files",
    )
    what.add_argument("--id-column", metavar="NAME", help="column of FEATURES with ids")
    what.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="NAME",
        help="a column that is not a feature; repeat the option for several",
    )
    what.add_argument(
        "--feature",
        action="append",
        default=[],
        metavar="NAME",
        help="a column that is a feature although it looks like a label or an id",
    )
    what.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether text files begin with a header (default: if no cell of the first line is a "
        "number)",
    )
    add("--strategy", choices=list(STRATEGIES), default=DEFAULT, help=f"default: {DEFAULT}")
    add(
        "--eta",
        type=_eta,
        metavar="X",
        help='for firal: a number or "theory"; default: the best of 7',
    )
    add("--seed", type=_integer(0), default=0, metavar="N", help="of all that is random; default 0")
    model = select.add_argument_group("model")
    model.add_argument(
        "--ridge",
        type=_positive,
        metavar="R",
        help=f"penalty of the fit; default {penalized.RIDGE:g} for {DEFAULT}, else {RIDGE:g}",
    )
    model.add_argument(
        "--standardize",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="scale every column to mean 0 and standard deviation 1 (default: yes)",
    )
    model.add_argument(
        "--robust",
        action=argparse.BooleanOptionalAction,
        help="draw heavy tails in: arsinh of the scaled columns (default: if they are scaled)",
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
        "--output",
        type=_output,
        metavar="FILE",
        help=f"{' '.join(WRITTEN)}; default or -: stdout",
    )
    out.add_argument("--format", choices=("csv", "json"), help="default: by the name of --output")
    out.add_argument("--overwrite", action="store_true", help="replace an existing --output")
    out.add_argument("--quiet", action="store_true", help="no notes and no progress, only errors")
    out.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="say on stderr what is going on once it takes more than 2 s (default: yes)",
    )
    return top


def _integer(low):
    def parse(text):
        if not text.isdecimal() or int(text) < low:
            raise argparse.ArgumentTypeError(f"must be an integer >= {low}, got {text!r}")
        return int(text)

    return parse


def _pair(text):
    old, equals, new = text.partition("=")
    if not equals or not old.strip():
        raise argparse.ArgumentTypeError(f"must be OLD=NEW, got {text!r}")
    return old, new


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
