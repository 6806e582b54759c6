"""Groups of options that several commands share, and the types of their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from firal.pipeline import DEFAULT, RIDGE
from firal.selection import penalized
from firal.strategies import STRATEGIES


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is what in the files.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a command that reads a table of features.
    """
    add = parser.add_argument_group("labels and columns").add_argument
    add(
        "--labeled",
        "--labels",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="labels: a table with the columns row (or the id column) and label, or one entry per "
        "point with blanks; repeat the option for several files",
    )
    add("--label-column", metavar="NAME", help="column of FEATURES with labels")
    add("--id-column", metavar="NAME", help="column of FEATURES with ids")
    repeated(add, "--ignore", "NAME", "a column that is not a feature")
    what = "a column that is a feature although it looks like a label or an id"
    repeated(add, "--feature", "NAME", what)
    what = "a column of categories, each of which becomes a feature of zeros and ones"
    repeated(add, "--one-hot", "NAME", what)
    add("--impute", action="store_true", help="missing numbers become the median of their column")
    add(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether text files begin with a header (default: if no cell of the first line is a "
        "number)",
    )
    add_classes(add)


def add_classes(add: Callable) -> None:
    """Add the options about labels that look like marks or slips.

    Parameters
    ----------
    add : callable
        ``add_argument`` of a parser or a group.
    """
    what = "a label that means no label, such as -1 (blank and nan always do)"
    repeated(add, "--unlabeled", "VALUE", what)
    what = "use the class NEW in place of OLD; nothing after = means no label"
    repeated(add, "--map", "OLD=NEW", what, type=_pair)
    what = "a class that is right although it looks like a mark or a slip"
    repeated(add, "--class", "NAME", what, dest="confirmed_class")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the options of the strategy and of the model.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a command that picks points.
    """
    add = parser.add_argument_group("strategy and model").add_argument
    add("--strategy", choices=list(STRATEGIES), default=DEFAULT, help=f"default: {DEFAULT}")
    add(
        "--eta",
        type=_eta,
        metavar="X",
        help='for firal: a number or "theory"; default: the best of 7',
    )
    add("--seed", type=integer(0), default=0, metavar="N", help="of all that is random; default 0")
    add(
        "--ridge",
        type=_positive,
        metavar="R",
        help=f"penalty of the fit; default {penalized.RIDGE:g} for {DEFAULT}, else {RIDGE:g}",
    )
    add(
        "--standardize",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="scale every column to mean 0 and standard deviation 1 (default: yes)",
    )
    add(
        "--robust",
        action=argparse.BooleanOptionalAction,
        help="draw heavy tails in: arsinh of the scaled columns (default: if they are scaled)",
    )
    add(
        "--intercept",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="append a column of ones (default: yes)",
    )
    add("--pca", type=integer(1), metavar="D", help="keep D principal components of the features")


def add_probabilities(add: Callable) -> None:
    """Add the option of class probabilities.

    Parameters
    ----------
    add : callable
        ``add_argument`` of a parser or a group.
    """
    add(
        "--probabilities",
        type=Path,
        metavar="FILE",
        help="class probabilities of all points from your own classifier, one row per point and "
        "one column per class: no model is fitted then",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the options about what is said on stderr.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of any command.
    """
    parser.add_argument("--quiet", action="store_true", help="no notes and no progress")
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="say on stderr what is going on once it takes more than 2 s (default: yes)",
    )


def repeated(add: Callable, name: str, metavar: str, what: str, **more: object) -> None:
    """Add an option that may be given several times.

    Parameters
    ----------
    add : callable
        ``add_argument`` of a parser or a group.
    name, metavar, what : str
        Of the option.
    **more
        Other arguments of ``add``.
    """
    what += "; repeat the option for several"
    add(name, action="append", default=[], metavar=metavar, help=what, **more)


def integer(low: int) -> Callable[[str], int]:
    """Make the type of an integer option.

    Parameters
    ----------
    low : int
        Smallest value.

    Returns
    -------
    callable
        From text to integer.
    """

    def parse(text):
        if not text.isdecimal() or int(text) < low:
            raise argparse.ArgumentTypeError(f"must be an integer >= {low}, got {text!r}")
        return int(text)

    return parse


def output(text: str) -> Path | None:
    """Type of the name of an output.

    Parameters
    ----------
    text : str
        What was given.

    Returns
    -------
    Path or None
        None for stdout.
    """
    if not text:
        raise argparse.ArgumentTypeError("must be the name of a file, or - for stdout, got ''")
    return None if text == "-" else Path(text)


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


def _eta(text):
    return text if text == "theory" else _positive(text)
