"""Numbers read back from the stored outputs of notebooks."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import ROOT

from firal import loop
from firal.companion import claims, real_figures, stored
from firal.companion.plotting import METHODS


def notebook(folder, *outputs):
    """A notebook whose cells hold these texts: printed, or as the value of the cell."""
    cells = [{"cell_type": "markdown", "source": ["text"]}]
    for kind, text in outputs:
        lines = text.splitlines(keepends=True)
        output = {"text": lines} if kind == "printed" else {"data": {"text/plain": lines}}
        cells.append({"cell_type": "code", "source": [], "outputs": [output]})
    path = folder / "one.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf8")
    return path


def records():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 3)), np.ones(60)])
    y = np.arange(60) % 3
    return loop.compare(
        X, y, trials=3, rounds=2, batch=4, seed=0, strategies=("random", "kmeans", "var-ratios")
    )


def test_tables_are_read_back_as_they_were_shown(tmp_path):
    runs = records()
    differences = loop.paired_differences(runs, against="random")
    path = notebook(
        tmp_path,
        ("printed", "something else\n"),
        ("value", str(real_figures.strategy_table(runs))),
        ("value", str(real_figures.difference_table(differences))),
    )
    accuracy = stored.table(path, "accuracy at labels")
    assert accuracy.labels == [3, 7, 11]
    for name in ("random", "kmeans", "var-ratios"):
        mean = [
            np.mean([r.accuracy for r in runs if (r.strategy, r.round) == (name, k)])
            for k in range(3)
        ]
        shown = accuracy.rows[METHODS[name][0]]
        assert shown.shape == (3, 2)
        assert np.allclose(shown[:, 0], mean, atol=5.1e-4)
    gaps = stored.table(path, "points at labels")
    assert gaps.labels == [7, 11]
    for d in differences:
        if d.round:
            shown = gaps.rows[METHODS[d.strategy][0]][d.round - 1]
            assert np.allclose(shown, 100 * np.array([d.mean, d.low, d.high]), atol=0.051)


def test_the_first_table_counts(tmp_path):
    first, second = (
        "points at labels   10\nRandom            +1.0 (-2.0 .. +3.0)",
        "points at labels   10\nRandom            +9.0 (-2.0 .. +3.0)",
    )
    path = notebook(tmp_path, ("value", first), ("value", second))
    assert stored.table(path, "points at labels").rows["Random"].tolist() == [[1, -2, 3]]


def test_printed_numbers(tmp_path):
    path = notebook(
        tmp_path, ("printed", "a 1\naccuracy with all labels: 0.910\n"), ("printed", "a 7")
    )
    assert stored.printed(path, "accuracy with all labels:") == 0.91
    assert stored.printed(path, "a") == 1
    whole = {"cells": [{"cell_type": "code", "outputs": [{"text": "b: -2.5"}]}]}  # not in lines
    path.write_text(json.dumps(whole), encoding="utf8")
    assert stored.printed(path, "b:") == -2.5


def test_what_is_not_there_is_said(tmp_path):
    path = notebook(tmp_path, ("printed", "nothing"))
    with pytest.raises(
        ValueError, match="one.ipynb must hold a table 'points at labels', got none"
    ):
        stored.table(path, "points at labels")
    with pytest.raises(ValueError, match="one.ipynb must print a number after 'x:', got none"):
        stored.printed(path, "x:")


def test_stored_curves_are_the_curves_of_the_records(tmp_path):
    runs = records()
    path = notebook(tmp_path, ("value", str(real_figures.strategy_table(runs))))
    _, (left, right) = plt.subplots(1, 2)
    real_figures.accuracy_curves(left, runs, 0.9)
    assert real_figures.stored_curves(right, stored.table(path, "accuracy at labels"), 0.9) is right
    for a, b in zip(left.lines, right.lines, strict=True):
        assert list(a.get_xdata()) == list(b.get_xdata())
        shown, exact = (np.array(line.get_ydata(), dtype=float) for line in (b, a))
        assert np.allclose(shown, exact, atol=1.1e-3)
    plt.close("all")


def test_the_side_by_side_notebook_has_the_present_numbers_of_the_others():
    folder = ROOT / "notebooks"
    names = ("e12_mnist60k", "e13_cifar10", "e14_imagenet50")
    tables = [stored.table(folder / f"{name}.ipynb", "points at labels") for name in names]
    level = sum(high >= 0 for table in tables for _, _, high in table.rows["K-means"])
    recorded = claims.recorded(folder / "e16_three_data_sets.ipynb")
    assert next(r for r in recorded if r.id == "txt-kmeans-below").measured == level
