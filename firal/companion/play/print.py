"""Panels as a picture for print, by matplotlib: no controls, the colors of a light page."""

from __future__ import annotations

import io

import numpy as np

from firal.companion.play.panels import PALETTE

STYLES = {"solid": "-", "dashed": "--", "dotted": ":"}


def png(panels, legend, title):
    """The panels side by side, two in a row, as the bytes of a PNG file.

    ``legend`` holds the marks that it explains by their labels.
    """
    from matplotlib.figure import Figure  # needed by the book only

    n = len(panels)
    columns = min(n, 2)
    rows = -(-n // columns)
    width = 3.5 * columns if columns > 1 else 5.5  # titles are longer where there is one panel
    fig = Figure(figsize=(width, 3.1 * rows + 0.4), layout="constrained", dpi=110)
    axes = fig.subplots(rows, columns, squeeze=False).ravel()
    for panel, ax in zip(panels, axes, strict=False):
        draw(panel, ax)
    for ax in axes[n:]:
        ax.set_axis_off()
    fig.suptitle(title, fontsize=9)
    if legend:
        keys = [_key(mark) for mark in legend]
        fig.legend(handles=keys, loc="outside lower center", ncols=2 * columns - 1, fontsize=8)
    file = io.BytesIO()
    fig.savefig(file, format="png")
    return file.getvalue()


def draw(panel, ax):
    """The panel on matplotlib axes."""
    ax.set_title(panel.title, fontsize=10, loc="left")
    ax.set_xlabel(panel.xlabel, fontsize=9)
    ax.set_ylabel(panel.ylabel, fontsize=9)
    ax.tick_params(labelsize=8)
    for axis, scale, limits, which in (
        (panel.across, ax.set_xscale, ax.set_xlim, ax.xaxis),
        (panel.up, ax.set_yscale, ax.set_ylim, ax.yaxis),
    ):
        scale("log" if axis.log else "linear")
        limits(*axis.limits)
        ticks = list(axis.ticks())
        which.set_ticks([v for v, _ in ticks], [label for _, label in ticks])
        which.set_ticks([], minor=True)
    if panel.equal:
        ax.set_aspect("equal")
    for mark in panel.marks:
        _draw_mark(ax, mark)


def _draw_mark(ax, mark):
    look = mark.look
    color = _color(look)
    if mark.kind == "text":
        ax.text(mark.x[0], mark.y[0], mark.text, ha="center", va="center", fontsize=8)
    elif mark.kind == "line":
        ax.plot(
            mark.x, mark.y, STYLES[look.dash], color=color, lw=0.75 * look.width, alpha=look.opacity
        )
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


def _key(mark):
    """What stands for the mark in the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    look = mark.look
    color = _color(look)
    if mark.kind == "area":
        return Patch(color=color, alpha=look.opacity, label=look.label)
    key = Line2D([], [], color=color, label=look.label, linewidth=0.75 * look.width)
    if mark.kind == "dots":
        key.set(linestyle="", marker=look.marker, markersize=1.5 * look.size)
        key.set(markerfacecolor="none" if look.hollow else color)
    else:
        key.set(linestyle=STYLES[look.dash])
    return key


def _color(look):
    return "black" if look.color == "ink" else PALETTE[look.color][0]
