"""One page about a session: why these points, which classes, and are the labels enough.

The page is self-contained HTML without scripts. It asks for nothing from the network, and its
content policy forbids it. Every text of the user is escaped. Pictures that are small files beside
the table of features are put into the page.
"""

from __future__ import annotations

import base64
import mimetypes
from collections import Counter
from pathlib import Path

from firal.session.drawing import curve_picture, legend, plane, pool_map, text
from firal.session.evaluation import advice, learning_curve, wilson
from firal.session.fitted_model import features_of, fitted, ridge_of
from firal.session.label_studio import is_picture
from firal.session.reasons import predicted_errors, reasons
from firal.session.session import Session
from firal.session.style import STYLE

LARGEST_PICTURE = 400_000  # bytes
LONGEST_TEXT = 600
MOST_SHOWN = 60  # pending points
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def report(session: Session) -> str:
    """Make the page.

    Parameters
    ----------
    session : Session
        The session.

    Returns
    -------
    str
        HTML.
    """
    features = features_of(session)
    curve = learning_curve(session, features)
    parts = [
        f"<h1>{text(session.folder.name)}</h1>",
        _summary(session, curve),
        _batch(session, features),
        _map(session, features),
        _classes(session),
        _enough(curve),
        _rounds(session),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(session.folder.name)}: labeling session</title>"
        f"<style>{STYLE}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )


def is_report(path: Path) -> bool:
    """Whether a file is such a page, which may be replaced.

    Parameters
    ----------
    path : Path
        An existing file.

    Returns
    -------
    bool
        By the content policy at its beginning.
    """
    with open(path, "rb") as file:
        return POLICY.encode() in file.read(1000)


def _summary(session, curve):
    state, n = session.state, session.settings["points"]
    numbers = [
        (len(state.training), "labels to train"),
        (len(session.pending), "pending"),
        (len(session.skipped), "skipped"),
        (len(set(session.labels.values())), "classes"),
        (n, "points"),
    ]
    if curve and curve[-1].tested:
        numbers.append((f"{100 * curve[-1].right / curve[-1].tested:.0f} %", "held-out accuracy"))
    cells = "".join(f"<li><b>{text(value)}</b> {text(name)}</li>" for value, name in numbers)
    return f'<ul class="numbers">{cells}</ul><p>{text(advice(curve))}</p>'


def _batch(session, features):
    """The pending points, with what speaks for each."""
    held_out = session.state.held_out
    pending = [row for row in session.pending if row not in held_out]
    if not pending:
        return "<h2>To label</h2><p>No point is pending. Pick some by <code>firal next</code>.</p>"
    training, ridge = session.state.training, ridge_of(session)
    model = fitted(features, training, ridge)
    cards = []
    for reason in reasons(features, training, model, pending[:MOST_SHOWN], ridge):
        lines = [f"<h3>{text(_name(session, reason.row))}</h3>{_shown(session, reason.row)}"]
        for name, p in reason.probable:
            lines.append(
                f'<div class="p"><span>{text(name)}</span><meter min="0" max="1" value="{p:.3f}">'
                f"</meter><span>{100 * p:.0f} %</span></div>"
            )
        if reason.gain is not None:
            lines.append(
                f"<p>It tells the model more than {int(99.9 * reason.gain)} % of the pool.</p>"
            )
        if reason.nearest is not None:
            near = f"{_name(session, reason.nearest)}, {session.labels[reason.nearest]}"
            lines.append(
                f"<p>Nearest label: {text(near)}, at {reason.distance:.2f} of the usual distance."
                "</p>"
            )
        cards.append(f"<article>{''.join(lines)}</article>")
    expected = _gain(features, training, pending, model, ridge)
    more = len(pending) - MOST_SHOWN
    rest = f"<p>And {more} more.</p>" if more > 0 else ""
    head = f"<h2>To label</h2>{_certificate(session)}{expected}"
    return f'{head}<div class="cards">{"".join(cards)}</div>{rest}'


def _gain(features, training, pending, model, ridge):
    """What the model expects of the pending labels."""
    errors = predicted_errors(features, sorted(training), pending, model, ridge)
    if errors is None:
        return ""
    now, later = errors
    return (
        f"<p>The model expects the pending labels to reduce its excess log loss from {now:.2f} to "
        f"{later:.2f}, by {100 * (1 - later / now):.0f} %. This is its own prediction, not a "
        "measurement.</p>"
    )


def _certificate(session):
    """What is proved about the last batch, in words."""
    batch = session.rounds[-1]
    ratio = batch.details.get("ratio")
    if batch.number == 0 or ratio is None:
        return ""
    return (
        f"<p>Round {batch.number} was picked by {text(batch.strategy)}. By its own measure, the "
        f"predicted error of the model after these labels, no other choice of {len(batch.rows)} "
        f"points is better by more than a factor of {ratio:.2f}. The batch counts as a whole: "
        "label all of it.</p>"
    )


def _map(session, features):
    held_out = session.state.held_out
    pending = [row for row in session.pending if row not in held_out]
    classes = session.state.classes
    labels = session.state.training
    picture = pool_map(plane(features), labels, pending, classes)
    words = (
        "The two directions in which the points differ most. Gray: the pool. Rings: pending. "
        "Points that look close here may still be far apart; those far outside are at the edge."
    )
    shown = legend(classes, set(labels.values()))
    return f"<h2>Map of the pool</h2><figure>{picture}</figure>{shown}<p>{words}</p>"


def _classes(session):
    """Classes and their labels, round by round."""
    if not session.labels:
        return ""
    rounds = session.rounds
    place = {row: batch.number for batch in rounds for row in batch.rows}
    counts = Counter((place.get(row, -1), label) for row, label in session.labels.items())
    numbers = [-1, *(batch.number for batch in rounds)]
    numbers = [number for number in numbers if any(key[0] == number for key in counts)]
    titles = {-1: "before", 0: "held out"}
    head = "".join(f"<th>{titles.get(k, f'round {k}')}</th>" for k in numbers)
    lines = []
    for name, total in session.counts.items():
        cells = "".join(f"<td>{counts[k, name] or ''}</td>" for k in numbers)
        lines.append(f"<tr><th>{text(name)}</th><td>{total}</td>{cells}</tr>")
    return (
        '<h2>Classes</h2><div class="wide"><table><thead><tr><th>class</th><th>labels</th>'
        f"{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _enough(curve):
    """The learning curve, if there are held-out labels; and how far predictions still change."""
    if not curve:
        return ""
    lines, picture, words = [], "", "No held-out point has a label, so accuracy is not known. "
    if curve[-1].tested:
        picture = f"<figure>{curve_picture(curve)}</figure>"
        words = f"Accuracy on {curve[-1].tested} held-out points, with intervals of 95 %. "
    words += "Kappa is the agreement of the predictions on the pool with those of the round before."
    for point in curve:
        kappa = "" if point.kappa is None else f"{point.kappa:.2f}"
        share = ""
        if point.tested:
            low, high = wilson(point.right, point.tested)
            share = f"{point.right / point.tested:.2f} ({low:.2f} to {high:.2f})"
        lines.append(f"<tr><td>{point.labels}</td><td>{share}</td><td>{kappa}</td></tr>")
    return (
        f"<h2>Are these enough?</h2><p>{text(advice(curve))}</p>{picture}"
        '<div class="wide"><table><thead><tr><th>labels</th><th>accuracy</th><th>kappa</th></tr>'
        f"</thead><tbody>{''.join(lines)}</tbody></table></div><p>{words}</p>"
    )


def _rounds(session):
    lines = []
    for batch in session.rounds:
        known = sum(row in session.labels for row in batch.rows)
        skipped = sum(row in session.skipped for row in batch.rows)
        cells = (
            batch.number or "held out",
            batch.strategy,
            len(batch.rows),
            known,
            skipped,
            batch.details.get("time", ""),
        )
        lines.append("<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in cells) + "</tr>")
    head = "".join(
        f"<th>{name}</th>" for name in ("round", "picked by", "points", "labeled", "skipped", "on")
    )
    return (
        f'<h2>History</h2><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _name(session, row):
    ids = session.points.ids
    return f"row {row}" if ids is None else ids[row]


def _shown(session, row):
    """What the annotator sees: a picture, a text, or the first features."""
    points = session.points
    shown = points.shown[row] if points.shown is not None else None
    if shown is None:
        numbers = list(zip(points.names, points.features[row].tolist(), strict=True))[:8]
        shown = ", ".join(f"{name} {value:g}" for name, value in numbers)
    elif is_picture(shown):
        source = _picture(session, shown)
        if source:
            return f'<img src="{source}" alt="{text(shown)}">'
    cut = shown[:LONGEST_TEXT] + (" ..." if len(shown) > LONGEST_TEXT else "")
    return f'<p class="shown">{text(cut)}</p>'


def _picture(session, shown):
    """A small picture file as part of the page; None if there is none below the table's folder."""
    table = (session.folder / session.settings["features"]).resolve()
    try:
        path = (table.parent / shown).resolve()
        if not path.is_relative_to(table.parent):
            return None  # a table that somebody sent must not put other files into the page
        if not path.is_file() or path.stat().st_size > LARGEST_PICTURE:
            return None
    except (OSError, RuntimeError, ValueError):  # too long, a circle of links, a zero byte
        return None
    kind = mimetypes.guess_type(path.name)[0] or "image/png"
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
