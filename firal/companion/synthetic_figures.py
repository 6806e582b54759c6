"""Figures of the synthetic experiments: one look for Gaussian, Laplace and t points."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FormatStrFormatter, LogLocator

from firal.companion.plotting import BOUND_COLOR, bound_line

LIMIT = r"FIR$/(2n)$, slope 1"


def risk_rows(sweeps, title):
    """Excess risk against FIR (top), n (middle) and FIR/n (bottom); one column per sweep.

    sweeps   {column title: Sweep}. Points are medians over the seeds, bars reach from the 10 % to
             the 90 % quantile. A run without an ERM counts as infinite. A cross at the upper edge
             marks a point where some run has no ERM. Returns the figure.
    """
    fig, axes = plt.subplots(
        3, len(sweeps), figsize=(7.0, 7.4), sharey="row", squeeze=False, layout="constrained"
    )
    for column, (name, sweep) in zip(axes.T, sweeps.items(), strict=True):
        column[0].set_title(name, fontsize=10)
        _against_fir(column[0], sweep)
        _against_n(column[1], sweep)
        _against_quotient(column[2], sweep)
    for row, what in zip(axes, ("FIR", "n", "FIR/n"), strict=True):
        low = min(line.get_ydata().min() for ax in row for line in ax.lines)
        # bars may reach the upper edge, so a legend stands below the curves
        row[0].set_ylim(low / (1000 if what == "n" else 10), 300)
        row[0].set_ylabel("excess risk on p", fontsize=9)
        for ax in row:
            ax.set(xscale="log", yscale="log")
            ax.set_xlabel(what, fontsize=9, labelpad=1)
            ax.tick_params(labelsize=8)
            if what != "FIR/n":
                ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
                ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
            ax.minorticks_off()
    for ax in axes[1]:  # every column has ratios of its own
        ax.legend(fontsize=6.5, loc="lower left", borderpad=0.1, labelspacing=0.2)
    named = {}  # what the first and the last row mean is the same in all columns
    for ax in axes[[2, 0], 0]:
        handles, labels = ax.get_legend_handles_labels()
        named.update(zip(labels, handles, strict=True))
    fig.legend(named.values(), named.keys(), loc="outside lower center", ncols=4, fontsize=7.5)
    fig.suptitle(title, fontsize=12, fontweight="bold", x=0.01, ha="left")
    return fig


def _against_fir(ax, sweep):
    colors = plt.cm.cividis(np.linspace(0.9, 0, len(sweep.sizes)))  # larger n is darker
    low, middle, high = sweep.quantiles(0.1, 0.5, 0.9)
    fir = sweep.ratios.fir
    order = np.argsort(fir)
    for k, (n, color) in enumerate(zip(sweep.sizes, colors, strict=True)):
        bars(ax, fir[order], low[order, k], middle[order, k], high[order, k], color, f"n = {n}")
        crosses(ax, fir[sweep.missing[:, k] > 0], color)
    for k in (0, -1):
        label = LIMIT if k == 0 else None
        bound_line(ax, fir[order], fir[order] / (2 * sweep.sizes[k]), label)


def _against_n(ax, sweep):
    order = np.argsort(sweep.ratios.fir)
    chosen = order[[0, len(order) // 2, -1]] if len(order) > 2 else order
    low, middle, high = sweep.quantiles(0.1, 0.5, 0.9)
    for q, color in zip(chosen, ("#0B3B36", "#1A8CF0", "#B3261E"), strict=False):
        fir = sweep.ratios.fir[q]
        bars(ax, sweep.sizes, low[q], middle[q], high[q], color, f"FIR = {fir:.3g}")
        crosses(ax, sweep.sizes[sweep.missing[q] > 0], color)
        label = r"FIR$/(2n)$, slope $-1$" if q == chosen[0] else None
        bound_line(ax, sweep.sizes, fir / (2 * sweep.sizes), label)


def _against_quotient(ax, sweep):
    colors = plt.cm.cividis(np.linspace(0.9, 0, len(sweep.sizes)))
    middle = sweep.quantiles(0.5)[0]
    for k, (n, color) in enumerate(zip(sweep.sizes, colors, strict=True)):
        x = sweep.ratios.fir / n
        seen = np.isfinite(middle[:, k])
        ax.plot(x[seen], middle[seen, k], "o", color=color, markersize=3.5)
        crosses(ax, x[sweep.missing[:, k] > 0], color)
    line = np.array([sweep.ratios.fir.min() / sweep.sizes.max(), sweep.ratios.fir.max()])
    line[1] /= sweep.sizes.min()
    bound_line(ax, line, line / 2, LIMIT)
    ax.plot(line, 1.8 * line, ":", color=BOUND_COLOR, linewidth=1.4, label=r"(9/5) FIR$/n$")


def bars(ax, x, low, middle, high, color, label):
    """Medians joined by a line, with bars between two quantiles; infinite ones are left out."""
    seen = np.isfinite(middle)
    x, low, middle = np.asarray(x)[seen], low[seen], middle[seen]
    high = np.minimum(high[seen], 1e3)  # a bar to infinity leaves the picture
    ax.errorbar(
        x,
        middle,
        yerr=(middle - low, high - middle),
        fmt="o-",
        color=color,
        markersize=3,
        linewidth=1.1,
        elinewidth=0.8,
        label=label,
    )


def crosses(ax, x, color):
    """Crosses at the upper edge: here some run has no ERM."""
    if len(x) == 0:
        return
    ax.plot(
        x, np.full(len(x), 0.97), "x", color=color, markersize=5, transform=ax.get_xaxis_transform()
    )
