"""A third trial with bad input: files for other programs, labels that are no classes, odd answers.

Each case was a silent wrong answer, or a message that did not say what to do, when it was tried.
"""

import json
import os
import warnings

import numpy as np
import pytest
import test_bad_inputs
from test_bad_inputs import GOOD, X, begin, few, select, select_array, select_text, write
from test_bad_inputs_again import labels

from firal import cli
from firal.data.classes import doubts
from firal.session.session import Session


def choice(*names):
    return {"result": [{"type": "choices", "value": {"choices": [name]}} for name in names]}


def picked():
    """Rows of a batch of three."""
    begin()
    assert cli.main(["next", "3", "--quiet", "--no-progress"]) == 0
    return Session("firal-session").pending


def tasks(of_row):
    """Answers to a batch of three, in one file of Label Studio."""
    write("tasks.json", json.dumps([of_row(row) for row in picked()]))
    return ["label", "tasks.json"]


def task(row, **answers):
    return {"data": {"firal_row": row}, **answers}


CASES = {
    "rich text": (
        "must be plain text, got rich text",
        lambda: select_text("{\\rtf1\\ansi " + GOOD, name="x.txt"),
    ),
    "line for Excel": ("'sep=;', a line for Excel", lambda: select_text("sep=;\n" + GOOD)),
    "zip": ("got x.csv.zip: unpack it first", lambda: select_text(GOOD, name="x.csv.zip")),
    "address": ("x.csv: download it first", lambda: select("https://example.org/x.csv")),
    "title above the names": (
        "or remove a title above the names",
        lambda: select_text("My measurements,,,\n" + GOOD),
    ),
    "texts as labels": (
        "12 labels such as 'a remark about wine number 0' occur once each",
        lambda: labels(*(f"a remark about wine number {k}" for k in range(12))),
    ),
    "shares as labels": ("numbers with fractions", lambda: labels("0", "0.01", "0.02", "0.5")),
    "slip early": (
        "'cabernet' (2) and 'cabrenet' (1) differ by one letter",
        lambda: labels("cabernet", "merlot", "cabrenet", "cabernet"),
    ),
    "full stop": ("differ by marks around them only", lambda: labels("red", "white", "red.")),
    "quotes": ("differ by marks around them only", lambda: labels("red", "white", "'red'")),
    "true and 1": (
        "'1' and 'true' are perhaps the same answer",
        lambda: labels("1", "0", "true", "false"),
    ),
    "yes and y": ("'y' and 'yes' are perhaps the same", lambda: labels("yes", "no", "y", "n")),
    "control of another name": (
        "name the control choice in the labeling configuration, not sentiment",
        lambda: tasks(lambda row: {"firal_row": row, "text": "a", "id": 1, "sentiment": "good"}),
    ),
    "ratings": (
        "of the kind rating, and choices are read",
        lambda: tasks(
            lambda row: task(
                row, annotations=[{"result": [{"type": "rating", "value": {"rating": 3}}]}]
            )
        ),
    ),
    "completions": (
        "they have completions",
        lambda: tasks(lambda row: task(row, completions=[choice("a")])),
    ),
    "predictions": (
        "they have predictions only",
        lambda: tasks(lambda row: task(row, annotations=[], predictions=[choice("a")])),
    ),
    "nothing answered": (
        "must hold an answer to a task, got 3 tasks without one",
        lambda: tasks(lambda row: task(row, annotations=[])),
    ),
} | {
    f"column {name}": (
        f"{name!r}, which is named like a label",
        lambda name=name: select_text(few(name, lambda k: k * k % 3)),
    )
    for name in ("prediction", "wine_kind", "Klasse")
}


def case(name, message):
    def add(function):
        CASES[name] = (message, function)
        return function

    return add


@case("two tasks disagree", "must agree, got 'a' and 'b' for row")
def _():
    row = picked()[0]
    write("t.json", json.dumps([task(row, annotations=[choice(name)]) for name in "ab"]))
    return ["label", "t.json"]


@case("nothing filled in", "round-01.csv must hold a label, got blanks only")
def _():
    picked()
    return ["label", "firal-session/round-01.csv"]


@case("page into a folder", "must be a file that ends in .html, got a folder, d")
def _():
    picked()
    os.mkdir("d")
    return ["report", "--output", "d"]


@case("page of another kind", "must be a file that ends in .html, got r.pdf")
def _():
    picked()
    return ["report", "--output", "r.pdf"]


@pytest.mark.parametrize("name", CASES)
def test_bad_input(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(test_bad_inputs.CASES, name, CASES[name])
    test_bad_inputs.test_bad_input(name, tmp_path, monkeypatch, capsys)


def test_infinity_is_named_without_other_warnings(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with np.errstate(over="ignore"):
        half = (X * 1e5).astype(np.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cli.main(select_array(half)) == 2
    error = capsys.readouterr().err
    assert "must be finite numbers, got inf" in error and "invalid value" not in error


def test_two_byte_order_marks_are_no_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(select_text("\ufeff\ufeff" + GOOD, "--no-progress")) == 0
    assert "features: a, b, c, d\n" in capsys.readouterr().err


def test_arrays_beside_the_features_are_named(tmp_path, monkeypatch, capsys):
    """The labels of an .npz are used only if they are asked for."""
    monkeypatch.chdir(tmp_path)
    names = np.where(X[:, 2] > 3, "long", "short")
    np.savez("x.npz", X=X, y=np.where(np.arange(len(X)) % 5 == 0, names, ""))
    assert cli.main(select("x.npz")) == 0
    captured = capsys.readouterr().err
    assert "x.npz: X are the features; not used: y\n" in captured and "0 labeled" in captured
    assert cli.main(select("x.npz", "--label-column", "y")) == 0
    captured = capsys.readouterr().err
    assert "not used" not in captured and "10 labeled in 2 classes" in captured


def test_blocks_are_counted_before_the_first_label(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    wide = np.random.default_rng(0).normal(size=(12, 500))
    assert cli.main(select_array(wide, "--no-progress")) == 0
    assert " 2 blocks of order" in capsys.readouterr().err


@pytest.mark.parametrize(
    "counts",
    [
        {"1": 3, "1.5": 4, "2": 2, "2.5": 2, "3.5": 2},  # half stars
        {"yes": 3, "no": 4, "perhaps": 2},
        {"y": 3, "n": 2},
        {"A": 3, "A*": 2},
        {"merlot": 1, "marlot": 1},  # as many of both: nothing says which is the slip
        {f"kind of {k}": 1 for k in range(9)},
        {f"a b {k}": 1 + (k == 0) for k in range(20)},
    ],
)
def test_ordinary_classes_are_not_in_doubt(counts):
    """Negative control."""
    assert doubts(counts) == []


def test_what_is_confirmed_is_not_in_doubt():
    assert doubts({"yes": 2, "y": 1, "no": 1}, ["y", "yes"]) == []
    assert doubts({"cabernet": 2, "cabrenet": 1}, ["cabrenet"]) == []
    texts = {f"a remark on {k}": 1 for k in range(12)}
    assert doubts(texts) and doubts(texts, ["a remark on 3"]) == []
