"""The options of the command ``firal``, and what ``--help`` says about them."""

from __future__ import annotations

import argparse
from pathlib import Path

import firal
from firal.cli_arguments import (
    add_classes,
    add_model,
    add_output,
    add_probabilities,
    add_reading,
    integer,
    output,
    repeated,
)
from firal.data.output import WRITTEN
from firal.data.table_files import SUFFIXES

FOLDER = Path("firal-session")

EXAMPLES = """\
a session, which remembers:
  firal init points.csv --id-column name --show text
  firal next 20
  firal label          (in the terminal; or fill in the column label of the batch's file, and
  firal label firal-session/round-01.csv)
  firal status

one selection, which remembers nothing:
  firal select features.npy --labeled labels.csv --budget 10

The book's chapter "Use it on your own pool" explains all options.
"""
SELECT_EXAMPLES = """\
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
    layout = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    top = _Parser(
        prog="firal",
        description="Active learning by the Fisher information ratio: which points to label next.",
        epilog=EXAMPLES,
        **layout,
    )
    top.add_argument("--version", action="version", version=f"firal {firal.__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_select(commands, layout)
    _add_session(commands, layout)
    return top


def _add_select(commands, layout):
    select = commands.add_parser(
        "select",
        help="pick the points to label next, from files, and remember nothing",
        description="Pick the points to label next: features of all points and labels of some in, "
        "rows out. A logistic regression is fitted to the labels, and penalized FIRAL picks the "
        "points with the most information about it.",
        epilog=SELECT_EXAMPLES,
        **layout,
    )
    add = select.add_argument
    add("features", type=Path, help=f"table with one row per point: {' '.join(SUFFIXES)}")
    add("--budget", type=integer(1), required=True, metavar="N", help="points to pick")
    add_reading(select)
    what = "points not to be picked: a table with a column row or of ids, such as an earlier batch"
    repeated(add, "--exclude", "FILE", what, type=Path)
    add(
        "--dask",
        metavar="ADDRESS",
        help="scheduler of a Dask cluster, such as tcp://10.0.0.5:8786; its workers read FEATURES, "
        "a .npy or .parquet file, under the same name",
    )
    add_model(select)
    add_probabilities(add)
    out = select.add_argument_group("output")
    out.add_argument(
        "--output", type=output, metavar="FILE", help=f"{' '.join(WRITTEN)}; default or -: stdout"
    )
    out.add_argument("--format", choices=("csv", "json"), help="default: by the name of --output")
    out.add_argument("--overwrite", action="store_true", help="replace an existing --output")
    add_output(out)


def _add_session(commands, layout):
    init = commands.add_parser(
        "init", help="begin a session, which remembers", epilog=EXAMPLES, **layout
    )
    init.add_argument("features", type=Path, help=f"table of the points: {' '.join(SUFFIXES)}")
    init.add_argument(
        "--hold-out",
        type=integer(0),
        metavar="N",
        help="points drawn at random to measure accuracy: label them first, they never train",
    )
    init.add_argument(
        "--show", metavar="NAME", help="column with the text or the picture's path to be labeled"
    )
    add_reading(init)
    add_model(init)
    pick = commands.add_parser("next", help="pick the next points of a session")
    pick.add_argument("budget", type=integer(1), metavar="N", help="points to pick")
    add_probabilities(pick.add_argument)
    label = commands.add_parser(
        "label", help="label the picked points: in the terminal, or from files"
    )
    label.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="labels as for select --labeled, or Label Studio's JSON; none: ask in the terminal",
    )
    add_classes(label.add_argument)
    commands.add_parser("status", help="where a session stands")
    page = commands.add_parser("report", help="write a page about a session: why these points")
    page.add_argument(
        "--output", type=Path, metavar="FILE", help="default: report.html in the session's folder"
    )
    export = commands.add_parser("export", help="write the labels of a session")
    export.add_argument("output", type=output, metavar="FILE", help=f"{' '.join(WRITTEN)}; or -")
    export.add_argument(
        "--tasks", action="store_true", help="the pending points as tasks of Label Studio (.json)"
    )
    export.add_argument("--overwrite", action="store_true", help="replace an existing file")
    for name in ("init", "next", "label", "status", "report", "export"):
        command = commands.choices[name]
        command.add_argument(
            "--session", type=Path, default=FOLDER, metavar="FOLDER", help=f"default: {FOLDER}"
        )
        add_output(command)
