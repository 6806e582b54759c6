"""Figures of the penalized design: curves for several pools, dots with intervals for many tables.

What draws on axes returns the axes.
"""

from __future__ import annotations

import numpy as np

from firal.companion.plotting import METHODS
from firal.companion.starts import FROM_NOTHING
from firal.companion.table_runs import difference, interval

PENALIZED = METHODS["firal-ridge"][1:]  # its color and marker

# names that are not strategies of their own: label, color, marker
BESIDE = {
    "firal-ridge": ("penalized, from $S_0$", *PENALIZED),
    FROM_NOTHING: ("penalized, from nothing", "#000000", "X"),
    "default": ("default", *PENALIZED),
    "default-s0": ("default, from $S_0$", *PENALIZED),
    "default-0": ("default, from nothing", "#000000", "X"),
    "random-0": ("Random, no S0", "#B0B0B0", "o"),
}


def look(name):
    """(label, color, marker) of a strategy, or of one of its starts."""
    return BESIDE[name] if name in BESIDE else METHODS[name]


def pool_curves(ax, records):
    """Mean accuracy in percent against the number of labels, with bars of one standard error."""
    for name in dict.fromkeys(r.strategy for r in records):
        label, color, marker = look(name)
        mine = [r for r in records if r.strategy == name]
        counts = sorted({r.n_labels for r in mine})
        values = [np.array([100 * r.accuracy for r in mine if r.n_labels == n]) for n in counts]
        mean = [v.mean() for v in values]
        error = [v.std(ddof=1) / np.sqrt(len(v)) if len(v) > 1 else 0 for v in values]
        size = 4 if len(counts) > 12 else 5
        ax.errorbar(
            counts, mean, error, color=color, marker=marker, label=label, lw=1.3, markersize=size
        )
    ax.set(xlabel="labels", ylabel="accuracy, %")
    return ax


def table_dots(ax, found, methods, against="random"):
    """Points by which methods are ahead of ``against``: one line per table, with 95 % intervals.

    found   {table: ``firal.companion.table_runs.Runs``}, drawn from top to bottom
    """
    places = np.arange(len(found))[::-1]
    for k, name in enumerate(methods):
        label, color, marker = look(name)
        shift = 0.24 * ((len(methods) - 1) / 2 - k)
        rows = [interval(difference(runs, name, against)) for runs in found.values()]
        mean, low, high = np.array(rows).T
        ax.errorbar(
            mean,
            places + shift,
            xerr=[mean - low, high - mean],
            fmt=marker,
            color=color,
            label=label,
            markersize=5,
            elinewidth=1.2,
            capsize=2,
        )
    ax.axvline(0, color=look(against)[1], linewidth=1.4, zorder=1)
    ax.set_yticks(places, [name.replace("_", " ") for name in found])
    ax.set_ylim(-0.6, len(found) - 0.4)
    ax.set_xlabel(f"accuracy minus that of {look(against)[0]}, points")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(methods), fontsize=9)
    return ax
