"""Figures of the notebooks as SVG: sharp at every size, and a dark page can color them anew.

A notebook stores both: SVG for pages, PNG for print. Marks with very many points and photographs
would make the SVG heavy, so they are embedded as pictures; axes and text stay vectors. Where even
that is too heavy, there is a PNG alone, with twice the pixels.
"""

from __future__ import annotations

import io
import re
from base64 import b64encode

import matplotlib.pyplot as plt
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

MOST_BYTES = 200_000  # of the SVG of a figure
MANY = 300  # points of a mark that is embedded as a picture, where the figure is too heavy
EMBEDDED, SHARP = 150, 220  # dots per inch: pictures in an SVG, figures that have no SVG
USUAL = {"bbox_inches": "tight"}  # as Jupyter stores figures


def svg(figure):
    """The figure as SVG, the same for the same figure; None if it is too heavy."""
    text = _printed(figure)
    if len(text) <= MOST_BYTES:
        return text
    heavy = figure.findobj(lambda a: isinstance(a, Line2D | Collection) and _points(a) > MANY)
    before = [mark.get_rasterized() for mark in heavy]
    for mark in heavy:
        mark.set_rasterized(True)
    text = _printed(figure)
    for mark, how in zip(heavy, before, strict=True):
        mark.set_rasterized(how)
    return text if len(text) <= MOST_BYTES else None


def png(figure):
    """The figure as the text of a PNG: sharper where there is no SVG."""
    file = io.BytesIO()
    dpi = {} if svg(figure) else {"dpi": SHARP}
    figure.savefig(file, format="png", **USUAL, **dpi)
    return b64encode(file.getvalue()).decode()


def show_as_vectors():
    """Let Jupyter store figures in both forms. Elsewhere nothing happens."""
    try:
        from IPython import get_ipython
    except ImportError:
        return
    shell = get_ipython()
    if shell is None:
        return
    plt.switch_backend(plt.get_backend())  # once loaded, it does not set formatters of its own
    formatters = shell.display_formatter.formatters
    formatters["image/svg+xml"].for_type(Figure, svg)
    formatters["image/png"].for_type(Figure, png)


def _printed(figure):
    file = io.StringIO()
    nothing = dict.fromkeys(["Creator", "Date", "Format", "Type"])
    settings = {"svg.hashsalt": "firal", "svg.fonttype": "path"}
    with plt.rc_context(settings):
        figure.savefig(file, format="svg", metadata=nothing, dpi=EMBEDDED, **USUAL)
    text = re.sub(r"<!DOCTYPE.*?>\s*|<metadata>.*?</metadata>\s*", "", file.getvalue(), flags=re.S)
    return re.sub(r"^ +", "", text, flags=re.M)


def _points(mark):
    return len(mark.get_xydata()) if isinstance(mark, Line2D) else len(mark.get_offsets())
