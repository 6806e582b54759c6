"""Pictures of the report, as SVG in the page: a map of the pool, and the learning curve.

All texts are escaped. Colors are classes of the style sheet of the page, so that they follow its
light and dark mode; shapes tell the classes apart too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

import numpy as np

from firal.session.evaluation import After, wilson

WIDTH, HEIGHT, EDGE = 640, 400, 44
MOST_POINTS = 2000  # of the pool that are drawn
FENCE = 3.0  # quartile ranges beyond the quartiles that the map shows
COLORS = 8  # classes of the style sheet c0 .. c7
TURNS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], " ")
SHAPES = ("circle", "square", "triangle", "diamond")


def text(value: object) -> str:
    """Escape a value for a page.

    Parameters
    ----------
    value : object
        What to show.

    Returns
    -------
    str
        Its text, without anything that a browser takes for a tag or the end of an attribute, and
        with spaces for what turns the direction of all that follows.

    Examples
    --------
    >>> text('<b onclick="x">')
    '&lt;b onclick=&quot;x&quot;&gt;'
    """
    return escape(str(value).translate(TURNS), quote=True)


def plane(features: np.ndarray) -> np.ndarray:
    """Project points to the plane that shows most of their spread.

    Parameters
    ----------
    features : np.ndarray of shape (n, r)
        Points.

    Returns
    -------
    np.ndarray of shape (n, 2)
        Their first two principal components; zeros where there is none.
    """
    centered = features - features.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered)
    places = centered @ vectors[:, ::-1][:, :2]
    return np.column_stack([places, np.zeros((len(places), 2 - places.shape[1]))])


def pool_map(
    places: np.ndarray, labels: Mapping[int, str], pending: Sequence[int], classes: Sequence[str]
) -> str:
    """Draw the pool with its labeled and pending points.

    Parameters
    ----------
    places : np.ndarray of shape (n, 2)
        Where the points are.
    labels : mapping
        From row to label.
    pending : sequence of int
        Rows that wait for a label.
    classes : sequence of str
        All classes, in the order of their colors.

    Returns
    -------
    str
        An SVG element.
    """
    x, y = _scaled(places[:, 0], WIDTH), _scaled(places[:, 1], HEIGHT)
    n = len(places)
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).astype(int))
    parts = [f'<circle cx="{x[k]:.1f}" cy="{y[k]:.1f}" r="1.6" class="pool"/>' for k in rows]
    for row, label in labels.items():
        parts.append(_mark(x[row], y[row], list(classes).index(label), f"row {row}: {label}"))
    for row in pending:
        title = f"<title>{text(f'row {row}: pending')}</title>"
        ring = f'<circle cx="{x[row]:.1f}" cy="{y[row]:.1f}" r="8" class="ring">{title}</circle>'
        parts.append(ring)
    return _svg("Map of the pool: labeled points by class, rings around pending points", parts)


def legend(classes: Sequence[str], used: Collection[str]) -> str:
    """Explain the marks of the map.

    Parameters
    ----------
    classes : sequence of str
        All classes, in the order of their colors.
    used : collection of str
        Those that are shown: a name that was taken back still has its color.

    Returns
    -------
    str
        A list in HTML.
    """
    items = []
    for k, name in enumerate(classes):
        if name not in used:
            continue
        mark = f'<svg viewBox="0 0 16 16" width="16" height="16">{_mark(8, 8, k, name)}</svg>'
        items.append(f"<li>{mark} {text(name)}</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def curve_picture(curve: Sequence[After]) -> str:
    """Draw accuracy on the held-out points against the number of labels.

    Parameters
    ----------
    curve : sequence of After
        With held-out points.

    Returns
    -------
    str
        An SVG element: points with their intervals of 95 %.
    """
    most = max(point.labels for point in curve)
    left, right, top, bottom = EDGE + 12, WIDTH - 16, 16, HEIGHT - EDGE

    def place(labels, share):
        return left + (right - left) * labels / most, bottom - (bottom - top) * share

    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        _, y = place(0, share)
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" class="end">{100 * share:.0f} %</text>')
    line = []
    for point in curve:
        low, high = wilson(point.right, point.tested)
        x, y = place(point.labels, point.right / point.tested)
        line.append(f"{x:.1f},{y:.1f}")
        ends = [place(point.labels, share)[1] for share in (low, high)]
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}" class="bar"/>'
        )
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" class="mid">{point.labels}</text>')
    parts.append(f'<polyline points="{" ".join(line)}" class="curve"/>')
    parts += [
        f'<circle cx="{p.split(",")[0]}" cy="{p.split(",")[1]}" r="4" class="dot"/>' for p in line
    ]
    middle = (left + right) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 6}" class="mid">labels</text>')
    return _svg("Accuracy on held-out points against the number of labels", parts)


def _svg(title, parts):
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{text(title)}">'
        f"<title>{text(title)}</title>{''.join(parts)}</svg>"
    )


def _scaled(values, size):
    """Positions in the picture; what is far outside is drawn at its edge."""
    low, high = np.quantile(values, [0.25, 0.75])
    if high > low:
        values = np.clip(values, low - FENCE * (high - low), high + FENCE * (high - low))
    span = np.ptp(values) or 1.0
    return 12 + (size - 24) * (values - values.min()) / span


def _mark(x, y, number, title):
    """A mark in the color and shape of a class."""
    shape = SHAPES[number // COLORS % len(SHAPES)]
    style = f'class="c{number % COLORS}"'
    inside = f"<title>{text(title)}</title>"
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" {style}>{inside}</circle>'
    corners = {
        "square": ((-4, -4), (4, -4), (4, 4), (-4, 4)),
        "triangle": ((0, -6), (5, 4), (-5, 4)),
        "diamond": ((0, -6), (6, 0), (0, 6), (-6, 0)),
    }[shape]
    points = " ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in corners)
    return f'<polygon points="{points}" {style}>{inside}</polygon>'
