"""A fourth trial with bad input: sheets with gaps, huge ids, sessions edited, lost or used twice.

Each case was a silent wrong answer, or a message that did not say what to do, when it was tried.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import test_bad_inputs
from test_bad_inputs import (
    GOOD,
    JOURNAL,
    X,
    begin,
    csv_text,
    few,
    select,
    select_array,
    select_text,
    with_labels,
    write,
)
from test_bad_inputs_again import labels

from firal import cli
from firal.data.classes import doubts
from firal.session.session import Session

SETTINGS = Path("firal-session/settings.json")


def sheet(rows, *more):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save("x.xlsx")
    return select("x.xlsx", *more)


def lines_of_sheet():
    return [list("abcd"), *X.tolist()]


def parquet(names, columns):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_arrays(columns, names=names), "x.parquet")
    return select("x.parquet")


def vectors(values):
    pyarrow = pytest.importorskip("pyarrow")
    return parquet(["a", "v"], [pyarrow.array(X[:, 0]), pyarrow.array(values)])


def certain(*classes):
    np.save("p.npy", np.tile(classes, (len(X), 1)).astype(float))
    return select_array(X, "--probabilities", "p.npy")


def picked(count=3):
    begin()
    assert cli.main(["next", str(count), "--quiet", "--no-progress"]) == 0
    return Session("firal-session").pending


def labeled():
    rows = picked()
    Session("firal-session").decide(dict(zip(rows, "abc", strict=True)))
    return rows


def edited(**model):
    picked()
    settings = json.loads(SETTINGS.read_text())
    settings["model"] |= model
    SETTINGS.write_text(json.dumps(settings))
    return ["next", "3"]


CASES = {
    "two columns of labels": (
        "must have one column of labels, got row, label, Label",
        lambda: with_labels("row,label,Label\n0,cat,dog\n1,dog,cat\n"),
    ),
    "dates as labels": (
        "12 labels such as '2024-03-01' are dates",
        lambda: labels(*(f"2024-03-{k + 1:02}" for k in range(12))),
    ),
    "lists as labels": (
        "\"['cat']\" (2) is perhaps several labels in one",
        lambda: labels("['cat']", "['cat']", "['dog']"),
    ),
    "labels in UTF-16": (
        "y.csv must be text in UTF-8, got UTF-16",
        lambda: with_labels("row,label\n0,cat\n".encode("utf-16")),
    ),
    "text in UTF-32": (
        "x.csv must be text in UTF-8, got UTF-32",
        lambda: select_text(GOOD.encode("utf-32")),
    ),
    "budget beyond all pools": (
        "--budget must be at most 50",
        lambda: [*select_array(X), "--budget", "1" + "0" * 20],
    ),
    "blank row in a sheet": (
        "row 20 is blank in all columns: remove it",
        lambda: sheet([*lines_of_sheet()[:21], [None] * 4, *lines_of_sheet()[21:]]),
    ),
    "blank row and medians": (
        "row 20 is blank in all columns: remove it",
        lambda: sheet([*lines_of_sheet()[:21], [None] * 4, *lines_of_sheet()[21:]], "--impute"),
    ),
    "line of separators": (
        "line 12 is blank in all columns: remove it",
        lambda: select_text("\n".join([*GOOD.split("\n")[:11], ",,,", *GOOD.split("\n")[11:]])),
    ),
    "numbers of 20 digits": (
        "'c', whose whole numbers have more than 15 digits, as ids",
        lambda: select_text(few("c", lambda k: 10**19 + k * k * 7 % 11)),
    ),
    "integers beyond double precision": (
        "'1', whose whole numbers have more than 15 digits, as ids",
        lambda: select_array(np.c_[X[:, 0] * 10, 2**53 + np.arange(50) ** 2 % 41].astype(np.int64)),
    ),
    "certain of one class": (
        "class probabilities must leave some uncertainty, got 1 for class 0 at every point",
        lambda: certain(1, 0, 0),
    ),
    "parquet with a name twice": (
        "x.parquet must have distinct column names, got 'a' twice among a, a",
        lambda: parquet(["a", "a"], [X[:, 0], X[:, 1]]),
    ),
    "vectors of two lengths": (
        "a list of 1, and lists must have one length and no blank, got 1 to 2",
        lambda: vectors([[1.0] * (1 + k % 2) for k in range(50)]),
    ),
    "vector is absent": (
        "lists must have one length and no blank, got a blank in row 7",
        lambda: vectors([None if k == 7 else [1.0, k % 3] for k in range(50)]),
    ),
    "strategy edited": (
        "strategy must be one of random, kmeans",
        lambda: edited(strategy="magic"),
    ),
    "pca edited": (
        "pca must be an integer in 1..4, got 99: see 'model' in settings.json of the session",
        lambda: edited(pca=99),
    ),
}


def case(name, message):
    def add(function):
        CASES[name] = (message, function)
        return function

    return add


@case("dangling output", "no folder gone for --output o.csv")
def _():
    os.symlink("gone/x.csv", "o.csv")
    return select_array(X, "--output", "o.csv")


@case("session is a file", "firal-session must be a folder, got a file: choose another --session")
def _():
    write("firal-session", "x")
    np.save("x.npy", X)
    return ["init", "x.npy", "--hold-out", "0"]


@case("status of a file", "firal-session must be a folder, got a file")
def _():
    write("firal-session", "x")
    return ["status"]


@case("journal is a folder", "journal.jsonl must be a file, got a folder")
def _():
    begin()
    os.remove(JOURNAL)
    os.mkdir(JOURNAL)
    return ["status"]


@case("journal lost", "no journal.jsonl in firal-session, but round-01.csv: put it back")
def _():
    picked()
    os.remove(JOURNAL)
    return ["next", "3"]


@case("journal twice", "rounds must be counted 1, 2, .., got 1 after 1")
def _():
    picked()
    write(JOURNAL, Path(JOURNAL).read_bytes() * 2)
    return ["status"]


@case("too many of next", "firal next: N must be at most 47")
def _():
    picked()
    return ["next", "48"]


@case("export over the features", "must not be one of the files that are read, got x.csv")
def _():
    write("x.csv", GOOD)
    assert cli.main(["init", "x.csv", "--hold-out", "0", "--quiet"]) == 0
    return ["export", "x.csv", "--overwrite"]


@case("export over the settings", "must not be one of the files that are read, got firal-session/")
def _():
    picked()
    return ["export", "firal-session/settings.json", "--overwrite"]


@case("report over another page", "keep.html exists and is no report of a session")
def _():
    labeled()
    write("keep.html", "<p>mine</p>")
    return ["report", "--output", "keep.html"]


@pytest.mark.parametrize("name", CASES)
def test_bad_input(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(test_bad_inputs.CASES, name, CASES[name])
    test_bad_inputs.test_bad_input(name, tmp_path, monkeypatch, capsys)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_blank_rows_below_a_table_are_no_points(folder, capsys):
    """A sheet with a format in a cell below has rows without values."""
    assert cli.main([*sheet([*lines_of_sheet(), *[[None] * 4] * 3]), "--no-progress"]) == 0
    assert "firal: 50 points, 4 features" in capsys.readouterr().err
    assert cli.main([*select_text(GOOD + ",,,\n" * 3), "--no-progress"]) == 0
    assert "firal: 50 points, 4 features" in capsys.readouterr().err


def test_blank_lines_of_one_column_stay_entries(folder, capsys):
    """Negative control: in a column of labels a blank is a point without one."""
    assert cli.main(with_labels("cat\n\n\n\n\n\ndog\n" + "\n" * 43)) == 0
    assert "2 labeled in 2 classes" in capsys.readouterr().err


def test_huge_numbers_with_fractions_are_features(folder, capsys):
    """Negative control: a double has nothing to lose here."""
    assert cli.main(select_array(X * 1e20)) == 0
    assert cli.main(select_text(few("c", lambda k: f"{1e19 + 4e18 * (k * 7 % 11)}"))) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    "counts",
    [
        {"2024-03-01": 7, "2024-03-02": 9},  # two days
        {f"2024-03-{k:02}": 5 for k in range(10, 22)},  # every day often
        {"[a": 2, "b]": 3},
        {"[A]": 2, "(B)": 3},
    ],
)
def test_ordinary_classes_are_not_in_doubt(counts):
    """Negative control."""
    confirmed = ["[A]"]
    assert doubts(counts, confirmed) == []


def test_a_torn_line_is_mentioned(folder, capsys):
    labeled()
    write(JOURNAL, Path(JOURNAL).read_bytes()[:-20])
    assert cli.main(["status"]) == 0
    out, err = capsys.readouterr()
    assert "0 labels to train, 3 pending" in out
    assert "the last line of firal-session/journal.jsonl is not complete" in err


def test_a_whole_journal_is_not_mentioned(folder, capsys):
    """Negative control."""
    labeled()
    assert cli.main(["status"]) == 0
    assert "not complete" not in capsys.readouterr().err


def test_settings_saved_by_a_notepad(folder, capsys):
    picked()
    SETTINGS.write_bytes(b"\xef\xbb\xbf" + SETTINGS.read_bytes())
    assert cli.main(["status"]) == 0
    capsys.readouterr()


def test_labels_of_points_that_were_not_picked_are_mentioned(folder, capsys):
    rows = picked()
    other = next(row for row in range(50) if row not in rows)
    write("y.csv", f"row,label\n{rows[0]},cat\n{other},dog\n")
    assert cli.main(["label", "y.csv"]) == 0
    assert f"1 of them, such as row {other}, was not picked here" in capsys.readouterr().err
    write("y.csv", f"row,label\n{rows[1]},cat\n")
    assert cli.main(["label", "y.csv"]) == 0
    assert "picked here" not in capsys.readouterr().err


def test_two_processes_do_not_pick_the_same_round(folder):
    """The second one read the session before the first one wrote."""
    begin()
    first, second = Session("firal-session"), Session("firal-session")
    rows = first.next(3).rows.tolist()
    with pytest.raises(ValueError, match="another process has picked points .* try again"):
        second.next(3)
    assert Session("firal-session").pending == rows
    third = Session("firal-session")
    first.label(rows[0], "cat")  # labels of two annotators do not contradict each other
    third.label(rows[1], "dog")
    assert Session("firal-session").labels == {rows[0]: "cat", rows[1]: "dog"}
    first.next(2)  # and a batch that took long is not lost by labels that came meanwhile
    assert len(Session("firal-session").rounds) == 2


def test_a_report_may_be_written_again(folder, capsys):
    labeled()
    for _ in range(2):
        assert cli.main(["report", "--output", "mine.html"]) == 0
    capsys.readouterr()


def test_a_file_of_a_round_is_that_of_its_rows(folder, capsys):
    """A file that another session left is set aside."""
    begin()
    write("firal-session/round-01.csv", "rank,row,label\n1,49,cat\n")
    assert cli.main(["next", "3", "--quiet", "--no-progress"]) == 0
    rows = Session("firal-session").pending
    out = capsys.readouterr().out
    assert [int(line.split(",")[1]) for line in out.splitlines()[1:]] == rows
    assert Path("firal-session/round-01.csv.old").read_text().endswith("49,cat\n")


def test_text_of_columns_in_a_sheet(folder, capsys):
    """Numbers that a sheet holds as texts are numbers."""
    rows = [[str(row[0]), *row[1:]] for row in lines_of_sheet()[1:]]
    assert cli.main([*sheet([list("abcd"), *rows]), "--quiet"]) == 0
    first = capsys.readouterr().out
    assert cli.main([*select_text(csv_text()), "--quiet"]) == 0
    assert capsys.readouterr().out == first
