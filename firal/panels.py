"""A small plot drawn twice from one description: as SVG for a page, by matplotlib for print.

A :class:`Panel` holds axes and marks (lines, areas, dots, texts) in data coordinates. Colors have
names, each with a value for light and one for dark pages. Text has the color of the page's text.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

import numpy as np

WIDTH, HEIGHT = 340, 300  # of a panel, in pixels
LEFT, TOP, RIGHT, BOTTOM = 48, 26, 334, 258  # the frame of its axes
FAR = 3000  # no pixel coordinate is further out: what is beyond the frame is cut off anyway

# name -> (on a light page, on a dark page); contrast at least 3:1, text is never in these colors
PALETTE = {
    "gray": ("#7E7E7E", "#A9A9A9"),
    "blue": ("#1A8CF0", "#6CB8FF"),
    "gold": ("#C38A00", "#E8B84A"),
    "teal": ("#0B3B36", "#5FC9BB"),
    "purple": ("#6A1B9A", "#CE9FF0"),
    "red": ("#B3261E", "#FF8A80"),
}
DASHES = {"solid": "", "dashed": "6 4", "dotted": "2 4"}
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
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Look(NamedTuple):
    """How a mark is drawn; the same in every frame of a figure."""

    color: str = "ink"
    width: float = 2.0
    dash: str = "solid"
    opacity: float = 1.0
    marker: str = "o"
    size: float = 3.5
    hollow: bool = False
    label: str = ""  # in the legend; none if empty


class Mark(NamedTuple):
    """kind is line, area, dots or text. NaN in x or y starts a new line or polygon."""

    kind: str
    look: Look
    x: np.ndarray
    y: np.ndarray
    text: str = ""


class Panel:
    """Axes with marks; ``equal`` widens xlim or ylim until one unit is as long in x as in y."""

    def __init__(
        self,
        title,
        xlim,
        ylim,
        *,
        xlabel="",
        ylabel="",
        xlog=False,
        ylog=False,
        equal=False,
        xticks=None,
        yticks=None,
    ):
        self.title, self.xlabel, self.ylabel, self.equal = title, xlabel, ylabel, equal
        if equal:
            xlim, ylim = _same_unit(xlim, ylim)
        self.across = _Axis(xlim, xlog, RIGHT - LEFT, False, xticks)
        self.up = _Axis(ylim, ylog, BOTTOM - TOP, True, yticks)
        self.marks = []

    def line(self, x, y, **look):
        """A line through the points; NaN interrupts it."""
        return self._add("line", x, y, look)

    def area(self, x, y, **look):
        """Filled polygons, separated by NaN."""
        return self._add("area", x, y, {"opacity": 0.25, "width": 0} | look)

    def dots(self, x, y, **look):
        """One marker per point."""
        return self._add("dots", x, y, {"width": 1.5} | look)

    def bars(self, x, heights, thickness=0.7, **look):
        """Upright bars from 0, at x."""
        x, heights = np.broadcast_arrays(np.asarray(x, float), np.asarray(heights, float))
        x = np.where(np.isnan(heights), np.nan, x)
        half, gap = thickness / 2, np.full(x.shape, np.nan)
        left, right, floor = x - half, x + half, np.zeros(x.shape)
        corners_x = np.stack([left, left, right, right, gap], axis=-1).ravel()
        corners_y = np.stack([floor, heights, heights, floor, gap], axis=-1).ravel()
        return self.area(corners_x, corners_y, **look)

    def text(self, x, y, text):
        """A short text centered at (x, y); it stays the same in every frame."""
        return self._add("text", x, y, {}, text)

    def _add(self, kind, x, y, look, text=""):
        look = Look(**look)
        if look.color != "ink":
            look = look._replace(color=color_name(look.color))
        if look.dash not in DASHES or look.marker not in OUTLINES:
            raise ValueError(
                f"unknown look {look.dash!r} {look.marker!r}: dashes are {', '.join(DASHES)}, "
                f"markers {' '.join(OUTLINES)}"
            )
        x, y = np.broadcast_arrays(
            np.atleast_1d(np.asarray(x, float)), np.atleast_1d(np.asarray(y, float))
        )
        self.marks.append(Mark(kind, look, x, y, text))
        return self

    def outline(self, mark):
        """The ``d`` attribute of a mark's path."""
        return path(mark, self.across(mark.x), self.up(mark.y))

    def svg(self, name):
        """The panel as SVG; the paths of marks have the class ``m``, in order."""
        w, h = RIGHT - LEFT, BOTTOM - TOP
        parts = [
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{name}" '
            'font-size="12" fill="currentColor">',
            f'<text id="{name}" x="{LEFT}" y="16" font-weight="bold">{escape(self.title)}</text>',
        ]
        for v, label in self.across.ticks():
            a = LEFT + self.across(v)
            parts.append(f'<text x="{a:.1f}" y="{BOTTOM + 16}" text-anchor="middle">{label}</text>')
        for v, label in self.up.ticks():
            b = TOP + self.up(v)
            parts.append(f'<text x="{LEFT - 5}" y="{b + 4:.1f}" text-anchor="end">{label}</text>')
            parts.append(
                f'<path d="M{LEFT},{b:.1f}h{w}" stroke="currentColor" stroke-opacity=".15"/>'
            )
        parts.append(
            f'<text x="{LEFT + w / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
            f"{escape(self.xlabel)}</text>"
        )
        parts.append(
            f'<text transform="translate(12 {TOP + h / 2}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.ylabel)}</text>"
        )
        # an inner <svg> cuts off what is outside the axes
        parts.append(f'<svg x="{LEFT}" y="{TOP}" width="{w}" height="{h}">')
        for mark in self.marks:
            if mark.kind == "text":
                a, b = self.across(mark.x)[0], self.up(mark.y)[0]
                parts.append(
                    f'<text x="{a:.1f}" y="{b + 4:.1f}" text-anchor="middle">'
                    f"{escape(mark.text)}</text>"
                )
            else:
                parts.append(f'<path class="m" {paint(mark)} d="{self.outline(mark)}"/>')
        parts.append(
            f'</svg><rect x="{LEFT}" y="{TOP}" width="{w}" height="{h}" fill="none" '
            'stroke="currentColor" stroke-opacity=".5"/></svg>'
        )
        return "\n".join(parts)

    def draw(self, ax):
        """The same on matplotlib axes, in the colors of a light page."""
        ax.set_title(self.title, fontsize=10, loc="left")
        ax.set_xlabel(self.xlabel, fontsize=9)
        ax.set_ylabel(self.ylabel, fontsize=9)
        ax.tick_params(labelsize=8)
        for axis, scale, limits, which in (
            (self.across, ax.set_xscale, ax.set_xlim, ax.xaxis),
            (self.up, ax.set_yscale, ax.set_ylim, ax.yaxis),
        ):
            scale("log" if axis.log else "linear")
            limits(*axis.limits)
            ticks = list(axis.ticks())
            which.set_ticks([v for v, _ in ticks], [label for _, label in ticks])
            which.set_ticks([], minor=True)
        if self.equal:
            ax.set_aspect("equal")
        for mark in self.marks:
            _draw_mark(ax, mark)


def color_name(color):
    """The name of a color of the palette, given by name or by its value on a light page."""
    for name, (light, _) in PALETTE.items():
        if color in (name, light):
            return name
    raise ValueError(f"unknown color {color!r}: expected one of {', '.join(PALETTE)}")


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
    if DASHES[look.dash]:
        out += f' stroke-dasharray="{DASHES[look.dash]}"'
    if look.opacity != 1:
        out += (
            f' fill-opacity="{look.opacity:g}"'
            if mark.kind == "area"
            else (f' opacity="{look.opacity:g}"')
        )
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


def _draw_mark(ax, mark):
    look = mark.look
    color = "black" if look.color == "ink" else PALETTE[look.color][0]
    style = {"": "-", "6 4": "--", "2 4": ":"}[DASHES[look.dash]]
    if mark.kind == "text":
        ax.text(mark.x[0], mark.y[0], mark.text, ha="center", va="center", fontsize=8)
    elif mark.kind == "line":
        ax.plot(mark.x, mark.y, style, color=color, lw=0.75 * look.width, alpha=look.opacity)
    elif mark.kind == "dots":
        face = "none" if look.hollow else color
        size = 1.5 * look.size * (1.3 if look.marker == "*" else 1)
        ax.plot(
            mark.x,
            mark.y,
            look.marker,
            mfc=face,
            mec=color,
            ms=size,
            mew=0.75 * look.width if look.hollow else 0,
            alpha=look.opacity,
        )
    else:
        ends = np.flatnonzero(~np.isfinite(mark.x + mark.y))
        for x, y in zip(np.split(mark.x, ends), np.split(mark.y, ends), strict=True):
            ax.fill(
                x[np.isfinite(x + y)],
                y[np.isfinite(x + y)],
                color=color,
                alpha=look.opacity,
                lw=0.75 * look.width,
            )


class _Axis:
    """From data to pixels: 0 at the left or, when ``reverse``, at the top."""

    def __init__(self, limits, log, length, reverse, ticks):
        low, high = map(float, limits)
        if not (np.isfinite([low, high]).all() and low < high and (low > 0 or not log)):
            kind = "positive " if log else ""
            raise ValueError(f"limits must be two {kind}numbers, the lower first, got {limits}")
        self.limits, self.log, self.length, self.reverse = (low, high), log, length, reverse
        self.given = ticks

    def __call__(self, values):
        values = np.asarray(values, dtype=float)
        low, high = self.limits
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.where(values > 0, np.log(values), np.nan)
            low, high = np.log(low), np.log(high)
        share = (values - low) / (high - low)
        return self.length * (1 - share if self.reverse else share)

    def ticks(self):
        """Pairs of a value and its label."""
        if self.given is not None:
            return list(self.given)
        low, high = self.limits
        if not self.log:
            step = _nice_step((high - low) / 5)
            values = step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
            return [(v, f"{v:g}".replace("-", "−")) for v in np.round(values, 12) + 0.0]
        decades = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
        every = max(1, int(np.ceil((decades[-1] - decades[0]) / 6)))
        factors = (1, 2, 5) if np.log10(high / low) < 1.6 else (1,)
        values = [m * 10.0**k for k in decades[::every] for m in factors]
        return [(v, _power(v)) for v in values if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]


def _nice_step(rough):
    scale = 10.0 ** np.floor(np.log10(rough))
    return scale * min(m for m in (1, 2, 5, 10) if m * scale >= rough * (1 - 1e-9))


def number(v, digits=2):
    """v with so many significant digits, as one writes it: 0.012, 3.5·10⁻⁶."""
    text = f"{v:.{digits}g}"
    if "e" not in text:
        return text
    lead, exponent = text.split("e")
    return f"{lead}·10{str(int(exponent)).translate(SUPERSCRIPT)}"


def _power(v):
    """100 as it is, 100000 as 10⁵."""
    exponent = round(np.log10(v))
    if 9e-4 < v < 9e3 or not np.isclose(v, 10.0**exponent):
        return f"{v:g}"
    return "10" + str(exponent).translate(SUPERSCRIPT)


def _same_unit(xlim, ylim):
    """The smaller range widened around its middle, so that x and y have one unit."""
    shape = (RIGHT - LEFT) / (BOTTOM - TOP)
    x, y = np.array(xlim, dtype=float), np.array(ylim, dtype=float)
    width = max(x[1] - x[0], (y[1] - y[0]) * shape)
    half = np.array([-0.5, 0.5])
    return x.mean() + half * width, y.mean() + half * width / shape
