"""Figures and tables of the real-data experiments: one look for every data set.

Most of them take the :class:`firal.trial.Round` list of ``firal.loop.compare``. What draws on axes
returns the axes.
"""

from __future__ import annotations

from textwrap import wrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from firal.companion.plotting import METHODS, bound_line

GAP = 2  # white pixels around a thumbnail
LINES = ("-", "--", ":", "-.")


def accuracy_curves(ax, records, all_labels):
    """Mean accuracy against the number of labels, one curve per strategy, bars of one s.e.

    ``all_labels`` is the accuracy of the fit to all labels, drawn dashed. The legend says how
    many trials there are.
    """
    mean, error = (_by_labels(records, "accuracy", how) for how in ("mean", "sem"))
    error = error.fillna(0)  # one trial has no standard error
    _curves(ax, mean.columns, {k: (mean.loc[k], error.loc[k]) for k in mean.index}, all_labels)
    trials = len({r.trial for r in records})
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(1, 1),  # beside the axes: inside there is no corner that is always free
        fontsize=9,
        title=f"mean ± s.e.,\n{trials} trials",
        title_fontsize=9,
    )
    return ax


def stored_curves(ax, table):
    """``accuracy_curves`` of a table read by ``firal.companion.stored``, without a legend.

    The table was published with the fact ``all_labels``.
    """
    names = {label: name for name, (label, *_) in METHODS.items()}
    found = {names[shown]: numbers.T for shown, numbers in table.rows.items()}
    return _curves(ax, table.labels, found, table.facts["all_labels"])


def paired_panel(ax, differences, against="firal"):
    """Accuracy minus that of ``against`` in points, with its interval, side by side per round.

    ``differences`` come from ``firal.loop.paired_differences``; round 0, where all are equal, is
    left out.
    """
    table = pd.DataFrame(differences)
    table = table[table["round"] > 0]
    names = list(dict.fromkeys(table["strategy"]))
    ticks = sorted(set(table["n_labels"]))
    step = min(np.diff(ticks), default=ticks[0])
    for place, name in enumerate(names):
        label, color, marker = METHODS[name]
        part = table[table["strategy"] == name]
        at = part["n_labels"] + (place - (len(names) - 1) / 2) * 0.1 * step
        half = 100 * (part["high"] - part["mean"])
        ax.errorbar(at, 100 * part["mean"], half, fmt=marker, color=color, label=label, capsize=3)
    label, color, _ = METHODS[against]
    ax.axhline(0, color=color, linewidth=1.4, zorder=1)
    ax.set(xlabel="labels", ylabel=f"accuracy minus {label}'s, points", xticks=ticks)
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=9)
    return ax


def picked_images(pool, records, *, trial=0, rounds=(1,), strategies=None, columns=None):
    """The images picked in one trial, strategy by strategy: figures 13 to 16. Returns the axes.

    ``pool`` has ``images``, ``labels`` and ``classes`` (``firal.data.datasets.Pool``); dark ink on
    white for gray images. Every strategy and round starts a new line of at most ``columns``
    thumbnails (None: one line). Under a thumbnail stands the name of its class, the first where
    there are several, in lines of one or two words. All thumbnails are one picture, so that the
    figure stays small and quick.
    """
    chosen = {
        (r.strategy, r.round): r.picked for r in records if r.trial == trial and r.round in rounds
    }
    names = list(dict.fromkeys(name for name, _ in chosen)) if strategies is None else strategies
    lines = []  # (text at the left, rows of the pool)
    for name in names:
        for round_ in rounds:
            rows = chosen[name, round_]
            width = len(rows) if columns is None else columns
            text = METHODS[name][0] + (f"\nround {round_}" if len(rounds) > 1 else "")
            for start in range(0, len(rows), width):
                lines.append((text if start == 0 else "", rows[start : start + width]))

    widest = max(len(rows) for _, rows in lines)
    height, width = pool.images.shape[1] + 2 * GAP, pool.images.shape[2] + 2 * GAP
    inch = 6.0 / widest  # of one thumbnail, in a figure of 7 inches
    called = [wrap(str(name).split(",")[0], 11, break_long_words=False) for name in pool.classes]
    longest, most = max(len(line) for name in called for line in name), max(map(len, called))
    size = min(7.0, 0.95 * 72 * inch / (0.55 * longest))  # of the text below it, in points
    below = int(np.ceil(height * 1.3 * most * size / 72 / inch))  # pixels that the text needs
    sheet = np.full((len(lines) * (height + below), widest * width, 3), 255, dtype=np.uint8)
    fig, ax = plt.subplots(
        figsize=(7.0, 6.0 * sheet.shape[0] / sheet.shape[1] + 0.3), layout="constrained"
    )
    for i, (text, rows) in enumerate(lines):
        top = i * (height + below)
        ax.text(-0.3 * width, top + height / 2, text, ha="right", va="center", fontsize=9)
        for j, row in enumerate(rows):
            inside = np.s_[top + GAP : top + height - GAP, j * width + GAP : (j + 1) * width - GAP]
            sheet[inside] = _picture(pool.images[row], pool.images.max())
            below_it = "\n".join(called[pool.labels[row]])
            ax.text((j + 0.5) * width, top + height, below_it, ha="center", va="top", fontsize=size)
    ax.imshow(sheet, interpolation="nearest")  # sharp, and it compresses well
    ax.set_axis_off()
    return ax


def weights_by_round(ax, records, *, trial=0):
    """FIRAL's relaxed weights of one trial, normalized to sum 1, heaviest first: figure 12.

    One curve per round. The thin line is the largest share that a point can have: its weight
    z_i is at most 1 and their sum is the batch size b, so 1/b.
    """
    mine = [r for r in records if r.trial == trial and r.z is not None]
    colors = plt.cm.cividis(np.linspace(0, 0.7, len(mine)))
    for k, (r, color) in enumerate(zip(mine, colors, strict=True)):
        share = np.sort(r.z)[::-1] / r.z.sum()
        rank = np.arange(1, share.size + 1)
        ax.plot(rank, share, LINES[k % len(LINES)], color=color, label=f"round {r.round}")
    ax.axhline(1 / len(mine[0].picked), color="black", linewidth=1, label="1/b")
    ax.set(xscale="log", xlabel="points, heaviest first", ylabel="share of the weight")
    ax.set_ylim(0, None)
    ax.legend(loc="center right", fontsize=9)
    return ax


def eta_curve(ax, tried, eta, label=None):
    """lambda_min of the rounded batch against eta, and a star at the value that was kept.

    ``tried`` and ``eta`` are those of a ``Selection``: pairs (eta, lambda_min), and the kept one.
    """
    etas, values = np.array(sorted(tried)).T
    (line,) = ax.plot(etas, values, marker="o", markersize=4, label=label)
    kept = values[np.argmin(np.abs(etas - eta))]
    ax.plot(eta, kept, marker="*", markersize=13, color=line.get_color(), linestyle="none")
    ax.set(xscale="log", xlabel=r"$\eta$", ylabel=r"$\lambda_{\min}$ of the batch")
    if label is not None:
        ax.legend(fontsize=9)
    return ax


def strategy_table(records, field="accuracy", digits=3):
    """Mean ± standard error of a field by strategy (rows) and number of labels (columns).

    ``field`` is any number of a record: "accuracy", "classes", "new_classes", "fir", "seconds".
    """
    mean, error = (_by_labels(records, field, how) for how in ("mean", "sem"))
    found = {
        name: [(f"{a:.{digits}f}", f"{e:.{digits}f}") for a, e in zip(*pair, strict=True)]
        for name, *pair in zip(mean.index, mean.to_numpy(), error.to_numpy(), strict=True)
    }
    corner = f"{field.replace('_', ' ')} at labels"
    return _table(found, mean.columns, "{} ± {}", corner)


def difference_table(differences):
    """Paired differences in points with their intervals: strategies by number of labels."""
    after = [d for d in differences if d.round > 0]
    found = {}
    for d in after:
        shown = tuple(f"{100 * value:+.1f}" for value in (d.mean, d.low, d.high))
        found.setdefault(d.strategy, []).append(shown)
    labels = list(dict.fromkeys(d.n_labels for d in after))
    return _table(found, labels, "{} ({} .. {})", "points at labels")


def _table(found, labels, form, corner):
    """Strategies by numbers of labels, for ``found``: {name: the numbers of each cell as text}.

    The numbers go along in ``attrs``, for ``stored.publish``; they are those that are shown.
    """
    found = {METHODS[name][0]: cells for name, cells in found.items()}
    table = pd.DataFrame(
        [[form.format(*cell) for cell in cells] for cells in found.values()],
        index=list(found),
        columns=labels,
    )
    table.columns.name = corner
    table.attrs["numbers"] = {
        shown: [[float(number) for number in cell] for cell in cells]
        for shown, cells in found.items()
    }
    return table


def _curves(ax, labels, found, all_labels):
    """One curve per strategy from ``found``: {name: (means, standard errors)}."""
    for name, (mean, error) in found.items():
        label, color, marker = METHODS[name]
        ax.errorbar(labels, mean, error, color=color, marker=marker, label=label, capsize=2)
    bound_line(ax, labels, all_labels, "all labels")
    ax.set(xlabel="labels", ylabel="accuracy on the pool", xticks=labels)
    return ax


def _by_labels(records, field, how):
    """(strategies, numbers of labels) of the mean or sem over the trials, in the records' order."""
    table = pd.DataFrame([(r.strategy, r.n_labels, getattr(r, field)) for r in records])
    found = table.groupby([0, 1])[2].agg(how).unstack()
    return found.loc[list(dict.fromkeys(table[0]))]


def _picture(image, brightest):
    """(h, w, 3) uint8; gray images become dark on white."""
    if image.ndim == 3:
        return image & 0xF0 | image >> 4  # 16 levels: half the size of the PNG
    gray = 255 - np.rint(image * (255 / brightest)).astype(np.uint8)
    return np.repeat(gray[:, :, None], 3, axis=2)
