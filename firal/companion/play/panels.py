"""The description of a small plot: axes and marks (lines, areas, dots, texts), in data coordinates.

It is drawn twice: as SVG for a page (:mod:`firal.companion.play.svg`) and by matplotlib for print
(:mod:`firal.companion.play.print`). Colors have names, each with a value for light and one for dark
pages. Text has the color of the page's text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firal.companion.play.axis import Axis

WIDTH, HEIGHT = 340, 300  # of a panel, in pixels
LEFT, TOP, RIGHT, BOTTOM = 48, 26, 334, 258  # the frame of its axes

# name -> (on a light page, on a dark page); contrast at least 3:1, text is never in these colors
PALETTE = {
    "gray": ("#7E7E7E", "#A9A9A9"),
    "blue": ("#1A8CF0", "#6CB8FF"),
    "gold": ("#C38A00", "#E8B84A"),
    "teal": ("#0B3B36", "#5FC9BB"),
    "purple": ("#6A1B9A", "#CE9FF0"),
    "red": ("#B3261E", "#FF8A80"),
}
DASHES = "solid", "dashed", "dotted"
MARKERS = "o", "s", "^", "v", "D", "*"


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
        self.across = Axis(xlim, xlog, RIGHT - LEFT, False, xticks)
        self.up = Axis(ylim, ylog, BOTTOM - TOP, True, yticks)
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

    def bars(self, x, heights, floor=0.0, thickness=0.7, **look):
        """Upright bars at x, from ``floor`` on."""
        x, heights, floor = np.broadcast_arrays(
            *(np.asarray(a, float) for a in (x, heights, floor))
        )
        x = np.where(np.isnan(heights), np.nan, x)
        half, gap = thickness / 2, np.full(x.shape, np.nan)
        left, right, heights = x - half, x + half, floor + heights
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
        if look.dash not in DASHES or look.marker not in MARKERS:
            raise ValueError(
                f"unknown look {look.dash!r} {look.marker!r}: dashes are {', '.join(DASHES)}, "
                f"markers {' '.join(MARKERS)}"
            )
        x, y = np.broadcast_arrays(
            np.atleast_1d(np.asarray(x, float)), np.atleast_1d(np.asarray(y, float))
        )
        self.marks.append(Mark(kind, look, x, y, text))
        return self


def color_name(color):
    """The name of a color of the palette, given by name or by its value on a light page."""
    for name, (light, _) in PALETTE.items():
        if color in (name, light):
            return name
    raise ValueError(f"unknown color {color!r}: expected one of {', '.join(PALETTE)}")


def _same_unit(xlim, ylim):
    """The smaller range widened around its middle, so that x and y have one unit."""
    shape = (RIGHT - LEFT) / (BOTTOM - TOP)
    x, y = np.array(xlim, dtype=float), np.array(ylim, dtype=float)
    width = max(x[1] - x[0], (y[1] - y[0]) * shape)
    half = np.array([-0.5, 0.5])
    return x.mean() + half * width, y.mean() + half * width / shape
