"""More files from others: Parquet footers that claim rows, long digits, half characters, marks."""

import csv
import io
import json
import struct

import numpy as np
import pytest

from firal import cli
from firal.common.text import as_text, whole_number
from firal.data import classes, points
from firal.data.labels import read_answers
from firal.data.output import table_bytes, with_formula, without_formula
from firal.data.points import read_points
from firal.session.label_studio import read_answers_of_tasks
from firal.session.report import report
from firal.session.session import Session

X = np.random.default_rng(0).normal(size=(200, 3))


# Parquet: what the footer says need not be so.


def varint(number):
    """A number as Thrift writes it."""
    number, out = (number << 1) ^ (number >> 63), b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def claims(path, rows):
    """A file of 200 rows whose footer says other numbers of rows; the places of 200 in it."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    out = io.BytesIO()
    columns = {"a": X[:, 0], "b": X[:, 1], "t": ["x"] * 200}
    parquet.write_table(pyarrow.table(columns), out)
    content = out.getvalue()
    size = struct.unpack("<I", content[-8:-4])[0]
    pieces = content[-8 - size : -8].split(varint(200))
    for k in [*range(1, len(pieces)), None]:  # one of the places, and all of them
        numbers = [varint(rows if k in (j, None) else 200) for j in range(1, len(pieces))]
        footer = pieces[0] + b"".join(n + p for n, p in zip(numbers, pieces[1:], strict=True))
        path.write_bytes(content[: -8 - size] + footer + struct.pack("<I", len(footer)) + b"PAR1")
        yield k


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("rows", [199, 201, 10**6, 10**12, 2**62, -1])
def test_rows_that_a_parquet_file_does_not_have(rows, streamed, tmp_path, monkeypatch):
    """Read as 200 rows, or refused: no memory for the others, no end of the process."""
    if streamed:
        monkeypatch.setattr(points, "HELD_FROM", 10)
    refused = 0
    for _ in claims(tmp_path / "x.parquet", rows):
        try:
            found = read_points(tmp_path / "x.parquet", ignore=["t"]).features
            if hasattr(found, "reduce"):
                assert found.reduce(lambda start, block: len(block), int.__add__) == len(found)
                found = found.rows(np.arange(len(found)))
            assert np.array_equal(found, X[: len(found), :2])
        except ValueError as error:
            refused += 1
            assert "x.parquet must" in str(error)
    harmless = rows == 199 or (0 < rows < 10**7 and not streamed)  # what is there is read
    assert refused >= 2 or harmless


def test_a_damaged_footer_is_an_error_of_ours(tmp_path):
    """pyarrow raises OSError for it, where the size of a file is asked for as well."""
    for _ in claims(tmp_path / "x.parquet", 200):
        break
    content = (tmp_path / "x.parquet").read_bytes()
    (tmp_path / "x.parquet").write_bytes(content[:-60] + b"\xff" * 40 + content[-20:])
    with pytest.raises(ValueError, match="x.parquet must be an intact .parquet"):
        read_points(tmp_path / "x.parquet")


# Digits that Python does not read.

LONG = "9" * 5000


def test_thousands_of_digits(tmp_path):
    (tmp_path / "y.csv").write_text(f"row,label\n{LONG},cat\n")
    with pytest.raises(ValueError, match=r"row numbers in y.csv must be in 0..29, got '999"):
        read_answers(tmp_path / "y.csv", 30, None, "name")
    lines = "\n".join(f"{LONG},{x},{y}" for x, y in X[:9, :2].tolist())
    (tmp_path / "x.csv").write_text(f"a,b,c\n{lines}\n")
    with pytest.raises(ValueError, match="'a', .*whole numbers"):
        read_points(tmp_path / "x.csv")
    assert classes.doubts({LONG: 3, "1": 3, LONG[1:]: 3}) == []
    assert [whole_number(text) for text in ("0" * 300, LONG, "", "1.0")] == [0, None, None, None]


# Characters that no file can hold.


@pytest.fixture
def session(tmp_path):
    np.save(tmp_path / "x.npy", X)
    return Session.create(tmp_path / "s", tmp_path / "x.npy")


def test_half_a_character(session, tmp_path):
    message = "a text must be made of whole characters"
    for text in ("\ud800", "cat\udcff"):
        with pytest.raises(ValueError, match=message):
            as_text(text)
        with pytest.raises(ValueError, match=message):
            session.decide({1: text})
        result = [{"value": {"choices": [text]}, "type": "choices"}]
        tasks = [{"data": {"firal_row": 1}, "annotations": [{"result": result}]}]
        (tmp_path / "tasks.json").write_text(json.dumps(tasks))
        with pytest.raises(ValueError, match=message):
            read_answers_of_tasks(tmp_path / "tasks.json", 30)
        session.journal.path.write_text(
            json.dumps({"event": "decide", "labels": {"1": text}}) + "\n"
        )
        with pytest.raises(ValueError, match=f"line 1 of .*{message}"):
            Session(session.folder)
    assert as_text(" \U0001f600 ") == "\U0001f600"


# Paths in settings that no system has.


@pytest.mark.parametrize("name", ["\0", "a" * 5000, "/dev/zero", "/"])
def test_the_table_of_a_session_is_a_file(name, session, capsys):
    settings = session.folder / "settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "features": name}))
    assert cli.main(["next", "2", "--session", str(session.folder), "--quiet"]) == 2
    assert "the features of this session: put it back" in capsys.readouterr().err


# What turns the direction of writing in a page, and what a spreadsheet does not see.


def test_texts_of_a_page_do_not_turn_what_follows(tmp_path):
    turns = "\u202e\u2066\u2069\u202a"
    lines = ["id,a,b,text", *(f"n{k}{turns},{x},{y},t{turns}" for k, (x, y, _) in enumerate(X))]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    session = Session.create(tmp_path / "s", tmp_path / "x.csv", id_column="id", show="text")
    session.decide({int(row): f"c{k % 2}{turns}" for k, row in enumerate(session.next(6).rows)})
    session.next(3)
    page = report(session)
    assert "c0 " in page and not set(page) & set(turns)
    name = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"  # Persian, with a mark that it needs
    session.decide({session.pending[0]: name})
    assert name in report(session)


@pytest.mark.parametrize("text", ["\ufeff=1+1", "\u200b@x", "\xa0=1", "'\ufeff+x", "\ufeff \x00=1"])
def test_formulas_behind_marks_that_cannot_be_seen(text):
    """At the start of a file a byte order mark is dropped: what follows would begin the cell."""
    assert with_formula(without_formula(text)) == text and without_formula(text) == f"'{text}"
    content = table_bytes([text, "b"], [[text], [1]])
    assert content.startswith(b"'")
    assert next(csv.reader(io.StringIO(content.decode())))[0] == f"'{text}"
    for plain in ("\ufeffcat", "\u200b", "\xa0-1", "\u200e3"):
        assert without_formula(plain) == plain
