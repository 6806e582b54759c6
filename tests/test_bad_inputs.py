"""More than forty kinds of bad input: one line on stderr says what came and what to do.

Nothing of the kind may end in picks, in a traceback, or in a request to report a bug. Each case
writes its files into an empty folder and returns the arguments of the command.
"""

import gzip
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from firal import cli

X, Y = (part[::3] for part in load_iris(return_X_y=True))  # 50 flowers
JOURNAL = "firal-session/journal.jsonl"


def csv_text(header="a,b,c,d", sep=","):
    lines = [] if header is None else [header]
    lines += [sep.join(map(repr, x.tolist())) for x in X]
    return "\n".join(lines) + "\n"


GOOD = csv_text()


def write(name, content):
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def select(features, *more):
    return ["select", features, "--budget", "5", *more]


def select_array(X, *more):
    np.save("x.npy", X)
    return select("x.npy", *more)


def select_text(content, *more, name="x.csv"):
    write(name, content)
    return select(name, *more)


def with_labels(text):
    write("y.csv", text)
    return select_array(X, "--labeled", "y.csv")


def begin(*more):
    np.save("x.npy", X)
    assert cli.main(["init", "x.npy", "--quiet", *more]) == 0


def few(name, cells):
    """Twenty lines of two numbers and one more cell."""
    return f"a,b,{name}\n" + "".join(f"{k * k % 7},{k * 5 % 11},{cells(k)}\n" for k in range(20))


def answers(text):
    """Label a session from a file of Label Studio."""
    begin()
    assert cli.main(["next", "3", "--quiet", "--no-progress"]) == 0
    write("tasks.json", text)
    return ["label", "tasks.json"]


# name -> (a part of the message, a function that writes files and returns the arguments)
CASES = {
    "empty file": ("x.csv is empty", lambda: select_text("")),
    "header only": ("x.csv has no rows", lambda: select_text("a,b\n")),
    "absent": ("no file x.csv", lambda: select("x.csv")),
    "unknown suffix": ("a table must end in .npy", lambda: select_text(GOOD, name="x.dat")),
    "excel 97": ("got x.xls", lambda: select_text(b"\xd0\xcf\x11\xe0", name="x.xls")),
    "latin-1": (
        "must be text in UTF-8",
        lambda: select_text(GOOD.replace("a,", "größe,").encode("latin-1")),
    ),
    "utf-16": ("save it as UTF-8", lambda: select_text(GOOD.encode("utf-16"))),
    "nul bytes": (
        "got a NUL byte in line 4",
        lambda: select_text(GOOD[:40] + "\0\0" + GOOD[40:]),
    ),
    "gz that is none": ("must be an intact .gz", lambda: select_text(GOOD, name="x.csv.gz")),
    "gz cut": (
        "must be an intact .gz",
        lambda: select_text(gzip.compress(GOOD.encode())[:-20], name="x.csv.gz"),
    ),
    "html page": (
        "must hold numbers, got '<html>",
        lambda: select_text("<!doctype html>\n<html><body>Not found</body></html>\n"),
    ),
    "json as csv": (
        "must have 1 cells in every line",
        lambda: select_text(json.dumps([{"a": 1, "b": 2}] * 9, indent=1)),
    ),
    "decimal comma": (
        "a decimal comma: write a point",
        lambda: select_text(csv_text("a;b;c;d", ";").replace(".", ",")),
    ),
    "thousands": ("a comma within a number", lambda: select_text("a,b\n" + '"1,234",2\n' * 20)),
    "units": ("got '5 cm' in line 2", lambda: select_text("a,b\n" + "5 cm,2\n" * 20)),
    "dates": ("got '2024-01-03' in line 2", lambda: select_text("a,day\n" + "5,2024-01-03\n" * 20)),
    "spaces as separator": (
        "got spaces, as in '5.1 3.5",
        lambda: select_text(csv_text("a b c d", " ")),
    ),
    "spaces as separator, no header": (
        "got spaces",
        lambda: select_text(csv_text(None, " "), name="x.txt"),
    ),
    "pipes as separator": (
        "separated by commas, semicolons or tabs, got '|'",
        lambda: select_text(csv_text("a|b|c|d", "|")),
    ),
    "ragged": ("got 3 in line 52", lambda: select_text(GOOD + "1,2,3\n")),
    "stray quote": (
        "a quote that is not closed",
        lambda: select_text(GOOD.replace("\n5", '\n"5', 1)),
    ),
    "same column twice": ("got 'b' twice", lambda: select_text(csv_text("a,b,b,d"))),
    "comment line": (
        "perhaps a comment, '# made by",
        lambda: select_text("# made by instrument 7\n" + GOOD),
    ),
    "missing cell": ("a blank cell in line 52", lambda: select_text(GOOD + "1,,3,4\n")),
    "infinity": ("got inf in row 50, column 1", lambda: select_text(GOOD + "1,inf,3,4\n")),
    "nan in npy": (
        "got nan in row 3, column 1",
        lambda: select_array(np.where(np.arange(200).reshape(50, 4) == 13, np.nan, X)),
    ),
    "1-d npy": ("an array of shape (50,)", lambda: select_array(X[:, 0])),
    "3-d npy": ("shape (10, 5, 4)", lambda: select_array(X.reshape(10, 5, 4))),
    "complex npy": ("got complex numbers", lambda: select_array(X + 1j)),
    "pickled npy": (
        "intact .npy of plain values",
        lambda: select_array(np.array([[{}] * 2] * 9, dtype=object)),
    ),
    "structured npy": (
        "must hold real numbers",
        lambda: select_array(np.zeros(9, dtype=[("a", float), ("b", float)])),
    ),
    "text npy": ("got the text 'a' at (0, 0)", lambda: select_array(np.array([["a", "b"]] * 9))),
    "npz no zip": ("intact .npz", lambda: select_text(b"PK\x03\x04rubbish", name="x.npz")),
    "parquet damaged": ("intact .parquet", lambda: select_text(b"PAR1rubbish", name="x.parquet")),
    "xlsx damaged": ("intact .xlsx", lambda: select_text(b"PK\x03\x04rubbish", name="x.xlsx")),
    "one point": ("--budget must be at most 1", lambda: select_text("a,b\n1,2\n")),
    "huge numbers": ("at most 1e+50 in size", lambda: select_array(X * 1e60)),
    "pca too large": (
        "--pca must be an integer in 1..4, got 9",
        lambda: select_array(X, "--pca", "9"),
    ),
    "ridge zero": ("--ridge: must be a number > 0", lambda: select_array(X, "--ridge", "0")),
    "strategy typo": ("choose from 'random'", lambda: select_array(X, "--strategy", "fiarl")),
    "unknown option": (
        "unrecognized arguments: --labeles",
        lambda: select_array(X, "--labeles", "y.csv"),
    ),
    "budget too large": (
        "--budget must be at most 50",
        lambda: [*select_array(X), "--budget", "51"],
    ),
    "budget zero": (
        "--budget: must be an integer >= 1",
        lambda: [*select_array(X), "--budget", "0"],
    ),
    "budget word": ("got 'ten'", lambda: [*select_array(X), "--budget", "ten"]),
    "row beyond": ("must be in 0..49, got '50'", lambda: with_labels("row,label\n50,cat\n")),
    "row negative": ("got '-1' in line 2", lambda: with_labels("row,label\n-1,cat\n")),
    "row fraction": ("got '1.5' in line 2", lambda: with_labels("row,label\n1.5,cat\n")),
    "one-based rows": (
        "got '50' in line 51",
        lambda: with_labels("row,label\n" + "".join(f"{k},c{k % 3}\n" for k in range(1, 51))),
    ),
    "two labels": ("row 1 has two labels", lambda: with_labels("row,label\n1,cat\n1,dog\n")),
    "no label column": (
        "must have the columns row and label",
        lambda: with_labels("row,klass\n1,cat\n"),
    ),
    "too few entries": (
        "one entry for each of the 50 points, got 48",
        lambda: with_labels("cat\ndog\n" * 24),
    ),
    "-1 marks": (
        "'-1' (41 labels) looks like no label",
        lambda: with_labels("".join(f"{k % 3 if k < 9 else -1}\n" for k in range(50))),
    ),
    "marks": ("'?' (1 label)", lambda: with_labels("row,label\n0,cat\n1,dog\n2,?\n")),
    "case twins": ("differ by case only", lambda: with_labels("row,label\n0,cat\n1,Cat\n2,dog\n")),
    "space twins": (
        "differ by spaces or hyphens",
        lambda: with_labels("row,label\n0,black cat\n1,black  cat\n2,dog\n"),
    ),
    "unicode twins": (
        "look alike, but are stored",
        lambda: with_labels("row,label\n0,caf\u00e9\n1,cafe\u0301\n2,dog\n"),
    ),
    "continuous labels": (
        "numbers with fractions, measurements",
        lambda: with_labels("row,label\n" + "".join(f"{k},{k / 7:.4f}\n" for k in range(30))),
    ),
    "all labeled": (
        "because every point has a label",
        lambda: with_labels("".join(f"c{k}\n" for k in Y)),
    ),
    "id twice": (
        "must hold distinct ids, got 'u0' twice",
        lambda: select_text(few("name", lambda k: f"u{k // 2}"), "--id-column", "name"),
    ),
    "blank id": (
        "got a blank in row 3, and 2 in all",
        lambda: select_text(
            few("name", lambda k: "" if k in (3, 5) else f"u{k}"), "--id-column", "name"
        ),
    ),
    "id column absent": ("has no column 'Name'", lambda: select_text(GOOD, "--id-column", "Name")),
    "label is id": (
        "must differ, got 'a'",
        lambda: select_text(GOOD, "--id-column", "a", "--label-column", "a"),
    ),
    "target inside": (
        "'target', which is named like a label",
        lambda: select_text(few("target", lambda k: k % 2)),
    ),
    "index inside": (
        "perhaps the index of a data frame",
        lambda: select_text(few("", lambda k: k)),
    ),
    "wavelengths": (
        "may be a header or a point",
        lambda: select_text(few("c", lambda k: k * 3 % 5).replace("a,b,c", "400,402,404")),
    ),
    "output folder absent": (
        "no folder no for --output",
        lambda: select_array(X, "--output", "no/o.csv"),
    ),
    "output suffix": ("an output must end in", lambda: select_array(X, "--output", "o.doc")),
    "output is input": (
        "must not be one of the files that are read",
        lambda: select_text(GOOD, "--output", "x.csv", "--overwrite"),
    ),
    "one-hot of many": (
        "it is perhaps an id, or a text",
        lambda: select_text(few("b2", lambda k: f"v{k}"), "--one-hot", "b2"),
    ),
    "one-hot absent": ("no column 'color'", lambda: select_text(GOOD, "--one-hot", "color")),
    "impute all missing": (
        "must hold a number somewhere",
        lambda: select_text(few("c", lambda k: ""), "--impute"),
    ),
    "eta for the default": (
        "--eta is an option of the strategy firal",
        lambda: select_array(X, "--eta", "3"),
    ),
    "session absent": (
        "no session in firal-session: begin one by firal init",
        lambda: ["next", "5"],
    ),
}


def case(name, message):
    def add(function):
        CASES[name] = (message, function)
        return function

    return add


@case("folder", "got the folder x.csv")
def _():
    os.mkdir("x.csv")
    return select("x.csv")


@case("npz with two tables", "must hold an array named features, got a, b")
def _():
    np.savez("x.npz", a=X, b=X)
    return select("x.npz")


@case("xlsx is another zip", "intact .xlsx")
def _():
    with zipfile.ZipFile("x.xlsx", "w") as file:
        file.writestr("a.txt", "hello")
    return select("x.xlsx")


@case("labels npz", "got y.npz")
def _():
    np.savez("y.npz", y=Y)
    return select_array(X, "--labeled", "y.npz")


@case("unknown id", "unknown name 'v1' in line 2")
def _():
    write("y.csv", "name,label\nv1,cat\n")
    text = few("name", lambda k: f"u{k}")
    return select_text(text, "--id-column", "name", "--labeled", "y.csv")


@case("output exists", "o.csv exists")
def _():
    write("o.csv", "mine")
    return select_array(X, "--output", "o.csv")


@case("session twice", "holds a session already")
def _():
    begin()
    return ["init", "x.npy", "--hold-out", "0"]


@case("session damaged", "settings.json must be JSON")
def _():
    os.mkdir("firal-session")
    write("firal-session/settings.json", "{")
    return ["status"]


@case("session settings of another kind", "must hold the settings of a session, got []")
def _():
    os.mkdir("firal-session")
    write("firal-session/settings.json", "[]")
    return ["status"]


@case("session settings lack", "must have a path as 'features'")
def _():
    os.mkdir("firal-session")
    write("firal-session/settings.json", "{}")
    return ["status"]


@case("journal line", "line 1 of firal-session/journal.jsonl must be an event of this session")
def _():
    begin()
    write(JOURNAL, '{"event": "round"}\n')
    return ["status"]


@case("journal rows beyond", "rows must be in 0..49, got 99")
def _():
    begin()
    event = {"event": "round", "number": 1, "rows": [99], "strategy": "random", "known": 0}
    write(JOURNAL, json.dumps(event) + "\n")
    return ["next", "3"]


@case("journal unknown", "got 'merge': it was written by a later one")
def _():
    begin()
    write(JOURNAL, '{"event": "merge"}\n')
    return ["status"]


@case("features changed", "must be the table that this session began with")
def _():
    begin()
    np.save("x.npy", X + 1)
    return ["next", "3"]


@case("label before next", "pick some by firal next 20")
def _():
    begin()
    return ["label"]


@case("hold out too many", "--hold-out must be at most 50")
def _():
    np.save("x.npy", X)
    return ["init", "x.npy", "--hold-out", "60"]


@case("hold out all", "firal next: N must be at most 0")
def _():
    begin("--hold-out", "50")
    return ["next", "3"]


@case("show absent", "no column 'text'")
def _():
    write("x.csv", GOOD)
    return ["init", "x.csv", "--show", "text", "--hold-out", "0"]


@case("label studio other json", "must be an export of Label Studio")
def _():
    return answers('{"a": 1}')


@case("label studio foreign tasks", "must have firal_row in 0..49")
def _():
    return answers('[{"data": {"text": "x"}, "annotations": []}]')


@case("label studio odd", "must have annotations whose results hold choices")
def _():
    result = [{"type": "choices", "value": {}}]
    return answers(json.dumps([{"data": {"firal_row": 1}, "annotations": [{"result": result}]}]))


@case("label studio odd2", "must have firal_row")
def _():
    return answers('[{"data": 3, "annotations": 5}]')


@case("export exists", "o.csv exists")
def _():
    begin()
    write("o.csv", "mine")
    return ["export", "o.csv"]


@pytest.mark.parametrize("name", CASES)
def test_bad_input(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    message, arguments = CASES[name]
    arguments = arguments()
    before = sorted(tmp_path.rglob("*"))
    capsys.readouterr()
    code = cli.main([*arguments])
    out, err = capsys.readouterr()
    *notes, last = err.splitlines()
    assert (code, out) == (2, ""), err
    assert last.startswith("firal: error: ") and message in last
    assert all(note.startswith("firal: ") for note in notes) and "Traceback" not in err
    assert sorted(tmp_path.rglob("*")) == before  # and nothing is left behind


def test_there_are_more_than_forty_kinds():
    assert len(CASES) > 90
