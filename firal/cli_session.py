"""The commands of a session: init, next, label, status, report, export.

All of them read and write one folder; :class:`firal.session.session.Session` does the work.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys

from firal.cli_announce import announce
from firal.cli_labeling import label_in_terminal
from firal.cli_output import check_output, to_stdout
from firal.cli_progress import Ticker
from firal.cli_rounds import batch_path, labels_table, set_aside, write_batch
from firal.cli_select import model_options, probabilities, reading
from firal.common.text import printable
from firal.data.classes import rename, table_of_classes
from firal.data.columns import listed_features
from firal.data.labels import merge, read_answers
from firal.data.output import check_suffix
from firal.data.writing import replace_file
from firal.session.evaluation import advice, learning_curve, wilson
from firal.session.label_studio import read_answers_of_tasks, tasks
from firal.session.report import is_report, report
from firal.session.session import Session

HELD_OUT = 50  # points that are proposed

log = logging.getLogger("firal")


def init(options: argparse.Namespace, ticker: Ticker) -> None:
    """``firal init``: begin a session.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command.
    ticker : Ticker
        Where to report progress.
    """
    held_out = _held_out(options)
    ticker(f"reading {options.features.name}")
    session = Session.create(
        options.session,
        options.features,
        seed=options.seed,
        held_out=held_out,
        show=options.show,
        labeled=options.labeled,
        classes=options.confirmed_class,
        **reading(options),
        **model_options(options),
    )
    if session.points.has_header:
        log.info(f"features: {listed_features(session.points.names)}")
    n, d = session.points.features.shape
    log.info(f"session {options.session}: {n} points, {d} features, {len(session.labels)} labels")
    if held_out:
        set_aside(batch_path(session.folder, 0))
        path = write_batch(session, session.rounds[0])
        log.info(f"{held_out} points are held out, in {path}: label them, they measure accuracy")
    log.info(f"next: firal {'label' if held_out else 'next 20'}{_where(options)}")


def pick(options: argparse.Namespace, ticker: Ticker) -> None:
    """``firal next N``: pick the next points.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command.
    ticker : Ticker
        Where to report progress.
    """
    ticker("reading the session")
    session = Session(options.session)
    held_out = session.state.held_out
    pending = [row for row in session.pending if row not in held_out]
    points = session.points._replace(labels=session.state.training)
    planned = argparse.Namespace(**{**_DEFAULTS, **session.settings["model"]})
    planned.budget = options.budget
    id_column = session.settings["reading"].get("id_column")
    P = probabilities(options, points, id_column, session.labels.values())
    planned.probabilities = options.probabilities
    announce(points, planned, pending, sorted(held_out | session.skipped), P)
    if pending:
        log.info(f"{len(pending)} points of earlier rounds still wait for a label")
    ticker("fitting the model")
    set_aside(batch_path(session.folder, 1 + sum(r.number > 0 for r in session.rounds)))
    session.next(options.budget, probabilities=P, progress=ticker)
    for batch in session.rounds:  # also one whose file was lost
        try:
            path = write_batch(session, batch)
        except OSError as error:
            raise OSError(
                f"round {batch.number} is picked and kept, but its file cannot be written: "
                f"{error.strerror}. Make room; firal label asks for its points, and the next "
                "firal next writes the file"
            ) from None
    to_stdout(path.read_bytes())
    log.info(f"round {session.rounds[-1].number} is in {path}; next: firal label{_where(options)}")


_DEFAULTS = {"strategy": "firal-ridge", "pca": None, "intercept": True}


def label(options: argparse.Namespace, ticker: Ticker) -> None:
    """``firal label``: take labels from files, or ask for them.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command.
    ticker : Ticker
        Where to report progress.
    """
    session = Session(options.session)
    for name in options.confirmed_class:
        session.confirm(name)
    if not options.files:
        ticker.end.set()  # the terminal is the annotator's
        if not session.pending:
            raise ValueError("no point waits for a label: pick some by firal next 20")
        count = label_in_terminal(session)
        log.info(f"{count} points labeled or skipped, {len(session.pending)} to go")
        return
    points, names = session.points, {**dict.fromkeys(options.unlabeled), **dict(options.map)}
    id_name = session.settings["reading"].get("id_column")
    parts = []
    for path in options.files:
        if path.suffix.lower() == ".json":
            part = read_answers_of_tasks(path, len(points.features))
        else:
            part = read_answers(path, len(points.features), points.ids, id_name).labels
        parts.append(rename(part, names))
    found = merge(parts)
    new = {row: text for row, text in found.items() if session.labels.get(row) != text}
    changed = [row for row in new if row in session.labels]
    for row in changed:
        log.info(f"row {row} changes from {session.labels[row]!r} to {new[row]!r}")
    if not found:
        raise ValueError(
            f"{', '.join(path.name for path in options.files)} must hold a label, got blanks only: "
            "fill in the column label"
        )
    if new:
        session.decide(new)
    picked = {row for batch in session.rounds for row in batch.rows}
    foreign = [row for row in new if row not in picked]
    if foreign and picked:
        plural = "was" if len(foreign) == 1 else "were"
        log.info(
            f"{len(foreign)} of them, such as row {foreign[0]}, {plural} not picked here: is this "
            "a file of another session? (firal status; undo in firal label)"
        )
    count = len(new) - len(changed)
    plural = "label" if count == 1 else "labels"
    log.info(f"{count} new {plural}, {len(session.pending)} points still wait")
    log.info(f"classes: {table_of_classes(session.labels)}")


def status(options: argparse.Namespace, ticker: Ticker) -> None:
    """``firal status``: where the session stands.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command.
    ticker : Ticker
        Where to report progress.
    """
    session = Session(options.session)
    settings, state = session.settings, session.state
    model = settings["model"]
    lines = [
        f"{options.session}: {settings['points']} points of {settings['features']}, "
        f"{len(settings['feature names'])} features, {model.get('strategy', 'firal-ridge')}, "
        f"seed {settings['seed']}",
        f"{len(state.training)} labels to train, {len(session.pending)} pending, "
        f"{len(session.skipped)} skipped",
    ]
    if state.held_out:
        known = sum(row in session.labels for row in state.held_out)
        lines.append(f"{known} of {len(state.held_out)} held-out points are labeled")
    if session.labels:
        lines.append(f"classes: {table_of_classes(session.labels, 100)}")
    if session.rounds:
        lines += ["", "round  strategy      picked  labeled  skipped  pending  first seen classes"]
    seen = set()
    for batch in session.rounds:
        known = [session.labels[row] for row in batch.rows if row in session.labels]
        new = sorted(set(known) - seen)
        seen |= set(known)
        skipped = sum(row in session.skipped for row in batch.rows)
        left = len(batch.rows) - len(known) - skipped
        number = batch.number or "-"
        lines.append(
            f"{number:>5}  {batch.strategy:<12}  {len(batch.rows):>6}  {len(known):>7}  "
            f"{skipped:>7}  {left:>7}  {', '.join(new)}".rstrip()
        )
    if state.training and len(session.rounds) > 1:
        ticker("fitting the model of every round")
        curve = learning_curve(session)
        if curve and curve[-1].tested:
            low, high = wilson(curve[-1].right, curve[-1].tested)
            share = curve[-1].right / curve[-1].tested
            lines += ["", f"accuracy on held-out points: {share:.2f} ({low:.2f} to {high:.2f})"]
        lines += ["", advice(curve)]
    to_stdout(printable("\n".join(lines) + "\n").encode())


def report_page(options: argparse.Namespace, ticker: Ticker) -> None:
    """``firal report``: write the page about the session.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command.
    ticker : Ticker
        Where to report progress.
    """
    ticker("reading the session")
    session = Session(options.session)
    path = options.output or session.folder / "report.html"
    if path.suffix.lower() not in (".html", ".htm") or path.is_dir():
        kind = "a folder, " if path.is_dir() else ""
        raise ValueError(f"--output must be a file that ends in .html, got {kind}{path}")
    if options.output is not None and path.exists() and not is_report(path):
        raise ValueError(f"{path} exists and is no report of a session: choose another --output")
    ticker("making the page")
    replace_file(path, report(session).encode())
    log.info(f"{path} written: open it in a browser")


def export(options: argparse.Namespace, ticker: Ticker) -> None:
    """``firal export FILE``: write the labels, or the pending points as tasks.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command.
    ticker : Ticker
        Where to report progress.
    """
    session = Session(options.session)
    check_output(options.output, session.files, options.overwrite)
    suffix = ".csv" if options.output is None else check_suffix(options.output)
    if options.tasks:
        if suffix != ".json" and options.output is not None:
            raise ValueError(f"tasks must be written as .json, got {options.output.name}")
        content = (json.dumps(tasks(session, session.pending), indent=1) + "\n").encode()
    else:
        content = labels_table(session, suffix)
    if options.output is None:
        to_stdout(content)
    else:
        replace_file(options.output, content)
        log.info(f"{options.output} written")


def _held_out(options):
    """How many points to hold out; asked for on a terminal."""
    if options.hold_out is not None:
        return options.hold_out
    if not sys.stdin or not sys.stdin.isatty() or options.quiet:
        log.info(
            f"no held-out points, so accuracy is not measured; --hold-out {HELD_OUT} draws some"
        )
        return 0
    sys.stderr.write(
        f"Hold out points, drawn at random, to measure accuracy? They are labeled first and never "
        f"train. How many ({HELD_OUT} is usual, 0 for none): "
    )
    sys.stderr.flush()
    answer = sys.stdin.readline().strip() or "0"
    if not answer.isdecimal():
        raise ValueError(f"the number of held-out points must be an integer >= 0, got {answer!r}")
    return int(answer)


def _where(options):
    return "" if str(options.session) == "firal-session" else f" --session {options.session}"
