"""Figures of the penalized design: every run and table is drawn where its numbers say."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

from firal import loop
from firal.companion import start_figures, starts
from firal.companion.plotting import METHODS
from firal.companion.table_runs import Runs, difference, interval


@pytest.fixture
def ax():
    fig, ax = plt.subplots()
    yield ax
    plt.close(fig)


def test_names_beside_the_strategies_have_a_look_of_their_own():
    names = ("random", "bait", "firal", "firal-ridge", starts.FROM_NOTHING)
    looks = [start_figures.look(name) for name in names]
    assert looks[:3] == [METHODS[name] for name in names[:3]]
    assert len({look[0] for look in looks}) == len({look[1:] for look in looks}) == len(names)
    assert start_figures.look("default")[1:] == METHODS["firal-ridge"][1:]


def test_curves_show_the_means(ax):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = np.column_stack([rng.normal(size=(60, 2)) + 3 * np.eye(3, 2)[y], np.ones(60)])
    options = dict(rounds=2, batch=3, seed=0)
    runs = loop.compare(X, y, trials=2, strategies=["random"], **options)
    runs += [r for t in range(2) for r in starts.from_nothing(X, y, t, **options)]
    start_figures.pool_curves(ax, runs)
    assert ax.get_legend_handles_labels()[1] == ["Random", "penalized, from nothing"]
    line = ax.lines[0]
    mean = [
        100 * np.mean([r.accuracy for r in runs if (r.strategy, r.n_labels) == ("random", n)])
        for n in (3, 6, 9)
    ]
    assert np.allclose(line.get_xydata(), np.column_stack([[3, 6, 9], mean]))


def test_dots_stand_beside_their_tables(ax):
    rng = np.random.default_rng(1)
    methods = ("default", "random", "bait")
    found = {
        name: Runs(methods, rng.random((3, 5, 4)), *5 * [None]) for name in ("one_two", "three")
    }
    start_figures.table_dots(ax, found, ("default", "bait"))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["one two", "three"]
    assert ax.get_yticks().tolist() == [1, 0]
    default = ax.containers[0].lines[0].get_xydata()
    expected = [interval(difference(runs, "default", "random"))[0] for runs in found.values()]
    assert np.allclose(default[:, 0], expected) and np.allclose(default[:, 1], [1.12, 0.12])
    assert ax.get_legend_handles_labels()[1] == ["default", "BAIT"]
