"""A second trial with bad input: wrong names of files, odd numbers, columns and labels in disguise.

Each case was a silent wrong answer, or a message that did not say what to do, when it was tried.
"""

import gzip
import io

import numpy as np
import pytest
import test_bad_inputs
from scipy import sparse
from test_bad_inputs import GOOD, X, csv_text, few, select, select_array, select_text, with_labels

from firal import cli


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def labels(*names):
    return with_labels("row,label\n" + "".join(f"{k},{name}\n" for k, name in enumerate(names)))


def npz(**arrays):
    np.savez("x.npz", **arrays)
    return select("x.npz")


CASES = {
    "number with underscores": ("write it as a plain number", lambda k: f"1_{k % 7}00"),
    "percent": ("'0%' in line 2: write it as a plain number", lambda k: f"{k % 7}%"),
    "currency": ("write it as a plain number", lambda k: f"${k % 7}.5"),
    "Fortran exponent": ("write it as a plain number", lambda k: f"1.{k % 7}D+02"),
    "minus of a typesetter": ("write it as a plain number", lambda k: f"\u2212{k % 7}.5"),
    "missing as -999": ("got -999 in 5 rows", lambda k: -999 if k % 4 == 0 else k * 7 % 11),
    "missing as 9999": ("got 9999 in 5 rows", lambda k: 9999 if k % 4 == 0 else k * 7 % 11),
    "ids with gaps": ("as ids and times", lambda k: 1000 + 7 * k + k % 3),
    "times that fall": ("as ids and times", lambda k: 1700000000 - 61 * k),
}
CASES = {
    name: (message, lambda cells=cells: select_text(few("c", cells)))
    for name, (message, cells) in CASES.items()
} | {
    name: (message, lambda column=column: select_text(few(column, lambda k: k * k % 3)))
    for name, message, column in (
        ("diagnosis", "'diagnosis', which is named like a label", "diagnosis"),
        ("true label", "'true_label', which is named like a label", "true_label"),
        ("fold", "'fold', which is named like a split", "fold"),
    )
}
CASES |= {
    "comma at the end of lines": (
        "'', which is perhaps empty: a separator too many",
        lambda: select_text(GOOD.replace("\n", ",\n")),
    ),
    "line of units": (
        "got none in line 2, cm, cm, cm, cm: remove it",
        lambda: select_text(GOOD.replace("\n", "\ncm,cm,cm,cm\n", 1)),
    ),
    "header in the middle": (
        "got none in line 52, a, b, c, d: remove it",
        lambda: select_text(GOOD + GOOD),
    ),
    "blank names": ("got 4 blanks in its first line", lambda: select_text(csv_text(",,,"))),
    "json lines": ("perhaps JSON", lambda: select_text('{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n')),
    "gz named csv": ("name it .gz", lambda: select_text(gzip.compress(GOOD.encode()))),
    "npy named csv": ("name it .npy", lambda: select_text(npy(X))),
    "csv named npy": ("name it .csv", lambda: select_text(GOOD, name="x.npy")),
    "csv named npz": ("name it .csv", lambda: select_text(GOOD, name="x.npz")),
    "csv named xlsx": ("name it .csv", lambda: select_text(GOOD, name="x.xlsx")),
    "csv named parquet": ("name it .csv", lambda: select_text(GOOD, name="x.parquet")),
    "csv named gz": ("name it .csv", lambda: select_text(GOOD, name="x.csv.gz")),
    "xls named xlsx": (
        "an old Excel workbook",
        lambda: select_text(b"\xd0\xcf\x11\xe0" + bytes(600), name="x.xlsx"),
    ),
    "no columns": ("got shape (9, 0)", lambda: select_array(np.zeros((9, 0)))),
    "npz without arrays": ("named features, got none", lambda: npz()),
    "sparse of another kind": (
        "must be of the kind csr, csc, coo, got 'dia'",
        lambda: npz(format=b"dia", shape=(3, 3), data=np.ones((1, 3)), offsets=np.zeros(1)),
    ),
    "sparse damaged": (
        "must hold an intact sparse matrix",
        lambda: npz(format=b"csr", shape=(2, 3), data=[1.0], indices=[7], indptr=[0, 1, 1]),
    ),
    "sparse too large": (
        "reduce it first",
        lambda: npz(
            format=b"csr", shape=(10**6, 10**6), data=[], indices=np.zeros(0, int), indptr=[0]
        ),
    ),
    "two numbers one class": ("are the same number", lambda: labels("1", "01", "2")),
    "unseen character": ("look alike", lambda: labels("cat", "cat\u200b", "dog")),
    "letter of another alphabet": ("look alike", lambda: labels("cat", "c\u0430t", "dog")),
    "several labels": ("is perhaps several labels in one", lambda: labels("cat|dog", "cat", "dog")),
    "blank row number": ("got a blank in line 2", lambda: with_labels("row,label\n,cat\n5,dog\n")),
    "ridge beyond": ("--ridge must be at most 1e+30", lambda: select_array(X, "--ridge", "1e300")),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(test_bad_inputs.CASES, name, CASES[name])
    test_bad_inputs.test_bad_input(name, tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_matrices_are_read(kind, tmp_path, monkeypatch, capsys):
    """The same picks as from the dense array."""
    monkeypatch.chdir(tmp_path)
    Z = np.where(X > X.mean(axis=0), X, 0.0)
    sparse.save_npz("x.npz", sparse.csr_array(Z).asformat(kind))
    assert cli.main([*select("x.npz"), "--quiet"]) == 0
    picks = capsys.readouterr().out
    assert cli.main([*select_array(Z), "--quiet"]) == 0
    assert capsys.readouterr().out == picks


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("fold", lambda k: k * k % 3),
        ("c", lambda k: -999 if k % 4 == 0 else k * 7 % 11),
        ("c", lambda k: 1000 + 7 * k + k % 3),
    ],
)
def test_what_is_a_feature_after_all_is_confirmed(column, cells, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main([*select_text(few(column, cells)), "--feature", column, "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_ordinary_columns_are_not_in_doubt(tmp_path, monkeypatch, capsys):
    """Negative control: -9 among numbers of its size, whole numbers that rise only at first."""
    monkeypatch.chdir(tmp_path)
    for cells in (lambda k: -9 if k % 4 == 0 else k - 12, lambda k: min(k * 3, 54)):
        assert cli.main([*select_text(few("c", cells)), "--quiet"]) == 0
    capsys.readouterr()


def test_a_text_for_annotators_is_told_from_a_number_in_disguise(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    select_text(few("note", lambda k: f"bottle {k % 9}"))
    assert cli.main(["init", "x.csv", "--hold-out", "0"]) == 2
    error = capsys.readouterr().err
    assert "plain number" not in error and "or show it to the annotators" in error
    assert "--show" in error
