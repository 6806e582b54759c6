"""Numbers that one notebook publishes and another one reads."""

import ast
import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import ROOT
from IPython.core.formatters import DisplayFormatter

from firal import loop
from firal.companion import checkout, claims, profiles, real_figures, stored
from firal.companion.plotting import METHODS

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A folder with a registry, where e16 may read e12 and one file."""
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "claims.yml").write_text("[]")
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    monkeypatch.setattr(profiles, "INPUTS", {"e16": ("e12", "benchmarks/cost.csv")})
    return tmp_path


def store(repository, *values):
    """A notebook e12 whose cells have these values, as Jupyter stores them."""
    cells = [{"cell_type": "markdown", "source": ["text"]}]
    for value in values:
        data, metadata = DisplayFormatter().format(value)
        output = {"output_type": "execute_result", "data": data, "metadata": metadata}
        cells.append({"cell_type": "code", "source": [], "outputs": [output]})
    path = repository / "notebooks" / "e12_x.ipynb"
    path.write_text(json.dumps({"cells": cells}, sort_keys=True), encoding="utf8")
    return path


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 3)), np.ones(60)])
    y = np.arange(60) % 3
    return loop.compare(
        X, y, trials=3, rounds=2, batch=4, seed=0, strategies=("random", "kmeans", "var-ratios")
    )


def test_a_published_table_looks_as_before(repository, records):
    table = real_figures.strategy_table(records)
    plain, _ = DisplayFormatter().format(table)
    published, _ = DisplayFormatter().format(stored.publish(table, "accuracy"))
    assert set(published) == {*plain, stored.MIME}
    assert {mime: published[mime] for mime in plain} == plain


def test_numbers_are_read_back_as_they_were_shown(repository, records):
    differences = loop.paired_differences(records, against="random")
    store(
        repository,
        "something else",
        stored.publish(real_figures.strategy_table(records), "accuracy", all_labels=0.9, data="ab"),
        stored.publish(real_figures.difference_table(differences), "differences"),
    )
    accuracy = stored.table("e12", "accuracy", reader="e16")
    assert list(accuracy.rows) == ["Random", "K-means", "Var ratios"]
    assert accuracy.labels == [3, 7, 11] and accuracy.facts == {"all_labels": 0.9, "data": "ab"}
    for name in ("random", "kmeans", "var-ratios"):
        for k, shown in enumerate(accuracy.rows[METHODS[name][0]]):
            values = [r.accuracy for r in records if (r.strategy, r.round) == (name, k)]
            assert shown[0] == float(f"{np.mean(values):.3f}")
            assert shown[1] == float(f"{np.std(values, ddof=1) / np.sqrt(3):.3f}")
    gaps = stored.table("e12", "differences", reader="e16")
    assert gaps.labels == [7, 11] and gaps.facts == {}
    for d in differences:
        if d.round:
            shown = gaps.rows[METHODS[d.strategy][0]][d.round - 1]
            assert np.allclose(shown, 100 * np.array([d.mean, d.low, d.high]), atol=0.051)


def test_the_sign_of_a_shown_zero_stays(repository):
    """An interval that ends just below zero is shown as -0.0, and counts as below zero."""
    differences = [loop.Difference("bait", 1, 20, -0.01, -0.02, -0.0004, 20)]
    store(repository, stored.publish(real_figures.difference_table(differences), "differences"))
    high = stored.table("e12", "differences", reader="e16").rows["BAIT"][0, 2]
    assert high == 0 and np.signbit(high)


def test_part_of_a_table_cannot_be_published(records):
    table = real_figures.strategy_table(records)
    for part in (table.iloc[:1], table[[3, 7]]):
        with pytest.raises(ValueError, match="got a part of one"):
            stored.publish(part, "accuracy")


def test_a_table_must_be_there_once(repository, records):
    table = real_figures.strategy_table(records)
    store(repository, table)
    with pytest.raises(ValueError, match="e12_x.ipynb must publish one table 'accuracy', got 0"):
        stored.table("e12", "accuracy", reader="e16")
    store(repository, stored.publish(table, "accuracy"), stored.publish(table, "accuracy"))
    with pytest.raises(ValueError, match="must publish one table 'accuracy', got 2"):
        stored.table("e12", "accuracy", reader="e16")


def test_what_is_not_declared_is_refused(repository, records):
    store(repository, stored.publish(real_figures.strategy_table(records), "accuracy"))
    stored.table("e12", "accuracy", reader="e16")
    with pytest.raises(ValueError, match="e11 must not read e12: .* declares nothing for it"):
        stored.table("e12", "accuracy", reader="e11")
    with pytest.raises(ValueError, match="e16 must not read e13: .* declares e12, bench.*cost.csv"):
        stored.table("e13", "accuracy", reader="e16")
    assert stored.file("benchmarks/cost.csv", reader="e16") == (
        repository / "benchmarks" / "cost.csv"
    )
    with pytest.raises(ValueError, match="e16 must not read benchmarks/other.csv"):
        stored.file("benchmarks/other.csv", reader="e16")


def test_stored_curves_are_the_curves_of_the_records(repository, records):
    store(repository, stored.publish(real_figures.strategy_table(records), "a", all_labels=0.9))
    _, (left, right) = plt.subplots(1, 2)
    real_figures.accuracy_curves(left, records, 0.9)
    assert real_figures.stored_curves(right, stored.table("e12", "a", reader="e16")) is right
    for a, b in zip(left.lines, right.lines, strict=True):
        assert list(a.get_xdata()) == list(b.get_xdata())
        shown, exact = (np.array(line.get_ydata(), dtype=float) for line in (b, a))
        assert np.allclose(shown, exact, atol=1.1e-3)
    plt.close("all")


READERS = {"open", "read_text", "read_bytes", "read_csv", "loadtxt", "genfromtxt", "read_npz"}


def undeclared(code, short):
    """Calls in the code of a notebook that read something without asking ``stored`` by its name."""
    calls = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    for node in calls:
        name = ast.unparse(node.func)
        if name in ("stored.table", "stored.file"):
            reader = {k.arg: getattr(k.value, "value", None) for k in node.keywords}.get("reader")
            if reader != short:
                yield ast.unparse(node)
        elif name.split(".")[-1] in READERS and "stored.file(" not in ast.unparse(node):
            yield ast.unparse(node)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_read_only_through_stored_and_under_their_own_name(path):
    """The files that u01 reads are its own: it writes them into a temporary folder."""
    cells = checkout.cells(path)
    code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    found = list(undeclared(code, path.stem.split("_")[0]))
    assert [call for call in found if "folder.name" not in call] == []


@pytest.mark.parametrize(
    "code",
    [
        "pd.read_csv('../benchmarks/cost.csv')",
        "open('e12_mnist60k.ipynb').read()",
        "stored.table('e12', 'accuracy', reader='e16')",
        "pd.read_csv(stored.file('benchmarks/cost.csv', reader='e16'))",
    ],
)
def test_the_check_sees_undeclared_reading(code):
    assert list(undeclared(code, "t16"))
    assert not list(undeclared("pd.read_csv(stored.file('a/b.csv', reader='t16'))", "t16"))


def test_the_side_by_side_notebook_has_the_present_numbers_of_the_others(monkeypatch):
    monkeypatch.chdir(ROOT)
    tables = [stored.table(name, "differences", reader="e16") for name in ("e12", "e13", "e14")]
    level = sum(not np.signbit(high) for table in tables for _, _, high in table.rows["K-means"])
    recorded = claims.recorded(checkout.notebook_path("e16"))
    assert next(r for r in recorded if r.id == "txt-kmeans-below").measured == level
