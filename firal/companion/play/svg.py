"""A panel as SVG, for a page. Its colors are variables set by the page: ``--fp-red`` and so on."""

from __future__ import annotations

from html import escape

import numpy as np

from firal.companion.play.panels import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH

FAR = 3000  # no pixel coordinate is further out: what is beyond the frame is cut off anyway
STROKES = {"solid": "", "dashed": "6 4", "dotted": "2 4"}
# outline of a marker of radius 1 around the origin; a dot is a line of length 0 with round ends
OUTLINES = {
    "o": None,
    "s": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
    "^": [(0, -1.1), (1, 0.8), (-1, 0.8)],
    "v": [(0, 1.1), (1, -0.8), (-1, -0.8)],
    "D": [(0, -1.15), (1.15, 0), (0, 1.15), (-1.15, 0)],
    "*": [
        ((1.4, 0.55)[k % 2] * np.sin(k * np.pi / 5), -(1.4, 0.55)[k % 2] * np.cos(k * np.pi / 5))
        for k in range(10)
    ],
}


def svg(panel, name):
    """The panel as SVG; the paths of marks have the class ``m``, in order."""
    w, h = RIGHT - LEFT, BOTTOM - TOP
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{name}" '
        'font-size="12" fill="currentColor">',
        f'<text id="{name}" x="{LEFT}" y="16" font-weight="bold">{escape(panel.title)}</text>',
    ]
    for v, label in panel.across.ticks():
        a = min(LEFT + panel.across(v), WIDTH - 3.5 * len(label))  # all of it is to be seen
        parts.append(f'<text x="{a:.1f}" y="{BOTTOM + 16}" text-anchor="middle">{label}</text>')
    for v, label in panel.up.ticks():
        b = TOP + panel.up(v)
        parts.append(f'<text x="{LEFT - 5}" y="{b + 4:.1f}" text-anchor="end">{label}</text>')
        parts.append(f'<path d="M{LEFT},{b:.1f}h{w}" stroke="currentColor" stroke-opacity=".15"/>')
    parts.append(
        f'<text x="{LEFT + w / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
        f"{escape(panel.xlabel)}</text>"
    )
    parts.append(
        f'<text transform="translate(12 {TOP + h / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(panel.ylabel)}</text>"
    )
    # an inner <svg> cuts off what is outside the axes
    parts.append(f'<svg x="{LEFT}" y="{TOP}" width="{w}" height="{h}">')
    for mark in panel.marks:
        if mark.kind == "text":
            a, b = panel.across(mark.x)[0], panel.up(mark.y)[0]
            parts.append(
                f'<text x="{a:.1f}" y="{b + 4:.1f}" text-anchor="middle">{escape(mark.text)}</text>'
            )
        else:
            parts.append(f'<path class="m" {paint(mark)} d="{outline(panel, mark)}"/>')
    parts.append(
        f'</svg><rect x="{LEFT}" y="{TOP}" width="{w}" height="{h}" fill="none" '
        'stroke="currentColor" stroke-opacity=".5"/></svg>'
    )
    return "\n".join(parts)


def outline(panel, mark):
    """The ``d`` attribute of the path of one of the panel's marks."""
    return path(mark, panel.across(mark.x), panel.up(mark.y))


def paint(mark):
    """SVG attributes of a mark."""
    look = mark.look
    color = "currentColor" if look.color == "ink" else f"var(--fp-{look.color})"
    width = look.width
    if mark.kind == "area":
        fill, stroke = color, color if width else "none"
    elif mark.kind == "line":
        fill, stroke = "none", color
    else:
        fill, stroke = ("none" if look.hollow else color), color
        if look.marker == "o" and not look.hollow:
            width = 2 * look.size
    out = f'fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"'
    if mark.kind == "dots":
        out += ' stroke-linecap="round" stroke-linejoin="round"'
    if STROKES[look.dash]:
        out += f' stroke-dasharray="{STROKES[look.dash]}"'
    if look.opacity != 1:
        which = "fill-opacity" if mark.kind == "area" else "opacity"
        out += f' {which}="{look.opacity:g}"'
    return out


def path(mark, a, b):
    """The ``d`` attribute of a mark at the pixels a, b; NaN are gaps."""
    seen = np.isfinite(a) & np.isfinite(b)
    a = [f"{v:.1f}" for v in np.clip(np.where(seen, a, 0), -FAR, FAR)]
    b = [f"{v:.1f}" for v in np.clip(np.where(seen, b, 0), -FAR, FAR)]
    if mark.kind == "dots":
        stamp = _stamp(mark.look)
        return "".join(f"M{u},{v}{stamp}" for u, v, s in zip(a, b, seen, strict=True) if s)
    pieces, broken = [], True
    close = "Z" if mark.kind == "area" else ""
    for u, v, s in zip(a, b, seen, strict=True):
        if s:
            pieces.append(f"{'M' if broken else 'L'}{u},{v}")
        elif not broken:
            pieces.append(close)
        broken = not s
    return "".join(pieces) + ("" if broken else close)


def _stamp(look):
    """Path of a marker, relative to its center."""
    r = look.size
    if look.marker == "o":
        if not look.hollow:
            return "h0"
        return f"m{-r:g},0a{r:g},{r:g} 0 1,0 {2 * r:g},0a{r:g},{r:g} 0 1,0 {-2 * r:g},0"
    corners = r * np.array(OUTLINES[look.marker], dtype=float)
    steps = np.diff(corners, axis=0, prepend=np.zeros((1, 2)))
    text = "l".join(f"{dx:.1f},{dy:.1f}" for dx, dy in steps)
    return f"m{text}z"
