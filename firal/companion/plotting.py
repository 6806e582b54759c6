"""How every figure of the book looks: one style file, one color and marker per method.

The helpers draw on axes they are given and return them, so that they can be combined.
"""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pandas as pd

# On a fresh machine matplotlib announces that it builds its font cache. In an executed notebook
# that would be output that appears once and never again, so it is kept quiet.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
import matplotlib.pyplot as plt  # noqa: E402

from firal.companion import vector  # noqa: E402

# strategy -> (label, color, marker); the same in every figure
METHODS = {
    "random": ("Random", "#7E7E7E", "o"),
    "kmeans": ("K-means", "#1A8CF0", "s"),
    "entropy": ("Entropy", "#C38A00", "^"),
    "var-ratios": ("Var ratios", "#0B3B36", "v"),
    "bait": ("BAIT", "#6A1B9A", "D"),
    "firal": ("FIRAL", "#B3261E", "*"),
    "firal-ridge": ("Penalized FIRAL", "#2A00F0", "P"),
}

PRINTED_WIDTH = 102  # 100 characters fit in the PDF, of which pandas spares 2; it breaks at 80
BOUND_COLOR = "#3A3A3A"  # what theory says: always dashed, always this color


def use_style():
    """Apply ``firal.mplstyle``, store figures as SVG too, and let tables be as wide as a page.

    For the setup cell.
    """
    plt.style.use(Path(__file__).with_name("firal.mplstyle"))
    vector.show_as_vectors()
    pd.set_option("display.width", PRINTED_WIDTH)


def bound_line(ax, x, y, label):
    """Draw what theory predicts or bounds, dashed, beside what was measured.

    ``x`` and ``y`` are arrays of one length. A number for ``y`` gives a horizontal line over ``x``.
    """
    x = np.asarray(x, dtype=float)
    y = np.broadcast_to(np.asarray(y, dtype=float), x.shape)
    ax.plot(x, y, linestyle="--", color=BOUND_COLOR, linewidth=1.4, label=label, zorder=1)
    return ax


def slope_guide(ax, x, y_start, slope, label):
    """Draw the power law ``y_start * (x / x[0])**slope`` dashed, for log-log axes."""
    x = np.asarray(x, dtype=float)
    return bound_line(ax, x, y_start * (x / x[0]) ** slope, label)


def fitted_slope(x, y):
    """Least-squares slope of log y against log x: the exponent of a measured power law."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
