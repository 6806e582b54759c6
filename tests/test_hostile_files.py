"""More files from others: what claims to be large, leads elsewhere, or speaks to a terminal."""

import csv
import io
import json
import time
import zipfile
from itertools import combinations

import numpy as np
import pytest
from chromium import BROWSER, Chromium
from hypothesis import given
from hypothesis import strategies as st

from firal import cli
from firal.cli_labeling import label_points
from firal.data import classes, unpacking
from firal.data.labels import read_labels
from firal.data.output import table_bytes, with_formula, without_formula
from firal.data.points import read_points
from firal.session.label_studio import read_answers_of_tasks
from firal.session.report import report
from firal.session.session import Session

X = np.random.default_rng(0).normal(size=(30, 3))
DEEP = "[" * 200_000


def header(shape, kind="<f8"):
    out = io.BytesIO()
    fields = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, fields)
    return out.getvalue()


def archive(path, **entries):
    with zipfile.ZipFile(path, "w") as file:
        for name, content in entries.items():
            file.writestr(name.replace("_", "."), content)
    return path


# What claims to be large.


def test_entries_of_any_name_are_looked_at(tmp_path):
    """numpy reads an entry without .npy too, and a value without bytes may occur 10^12 times."""
    plain, claim = header((30, 3)) + X.tobytes(), header((10**11, 3)) + bytes(80)
    for entries, message in (
        ({"features": claim}, "features claims 2400000000000 bytes and has"),
        ({"features_npy": header((10**12, 0)), "y_npy": header((10**12,), "|S0")}, "y.npy claims"),
        ({"features_npy": plain, "readme_txt": b"hello"}, "readme.txt in it is no array"),
    ):
        with pytest.raises(ValueError, match=message):
            read_points(archive(tmp_path / "x.npz", **entries), label_column="y")
    assert len(read_points(archive(tmp_path / "x.npz", features=plain)).features) == 30


@pytest.mark.parametrize("shape", [(2 * 10**9,), (1000, 1000, 2000), (-5, -5), ()])
def test_sparse_matrices_have_two_dimensions(shape, tmp_path):
    parts = dict(data=np.ones(1), row=np.zeros(1, int), col=np.zeros(1, int))
    np.savez(tmp_path / "x.npz", format=np.array(b"coo"), shape=np.array(shape, int), **parts)
    with pytest.raises(ValueError, match="must hold a sparse matrix with rows and columns"):
        read_points(tmp_path / "x.npz")


def test_texts_and_lists_in_parquet_that_repeat_themselves(tmp_path, monkeypatch):
    """Some kilobytes: one text a thousand times, a list of zeros."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    monkeypatch.setattr(unpacking, "LARGEST", 10**6)
    text = pyarrow.array(["x" * 2000] * 1000)
    lists = pyarrow.array([[0.0] * 6000] * 40)
    for columns, options in (
        ({"a": np.arange(1000.0), "t": text}, {"show": "t"}),
        ({"a": np.arange(1000.0), "t": text.dictionary_encode()}, {"label_column": "t"}),
        ({"v": lists}, {}),
        ({"a": np.zeros(200_000)}, {}),
    ):
        parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
        assert (tmp_path / "x.parquet").stat().st_size < 40_000
        with pytest.raises(ValueError, match="must take at most 1000000 bytes of memory, got"):
            read_points(tmp_path / "x.parquet", **options)
    words = pyarrow.array(["cat", None, "dog", "cat"] * 50)
    parquet.write_table(
        pyarrow.table({"a": np.arange(200) / 7, "y": words}), tmp_path / "x.parquet"
    )
    points = read_points(tmp_path / "x.parquet", label_column="y")
    assert [points.labels.get(row) for row in range(4)] == ["cat", None, "dog", "cat"]


def test_columns_of_other_types_are_read_as_before(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from firal.data.parquet_files import parquet_columns

    columns = {
        "a.b": pyarrow.array([1.5, None]),
        "bytes": pyarrow.array([b"x", b"y"]),
        "long": pyarrow.array(["x", None], pyarrow.large_string()),
        "words": pyarrow.array(["u", "v"]).dictionary_encode(),
        "codes": pyarrow.DictionaryArray.from_arrays([0, 0], [7]),
        "yes": pyarrow.array([True, False]),
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
    names, found = parquet_columns(tmp_path / "x.parquet")
    assert names == list(columns)
    assert [list(column) for column in found] == [column.to_pylist() for column in columns.values()]


def test_json_that_is_too_deep(tmp_path):
    np.save(tmp_path / "x.npy", X)
    session = Session.create(tmp_path / "s", tmp_path / "x.npy")
    for line in (DEEP, '{"event": "undo", "x": ' + DEEP):
        session.journal.path.write_text(f"{line}\n")
        with pytest.raises(ValueError, match="line 1 of .* must be an event in JSON"):
            Session(tmp_path / "s")
    (tmp_path / "tasks.json").write_text(DEEP)
    with pytest.raises(ValueError, match="must be an export of Label Studio"):
        read_answers_of_tasks(tmp_path / "tasks.json", 30)


# What leads elsewhere.


@pytest.mark.parametrize(
    "name", ["settings.json", "journal.jsonl", "round-01.csv", "held-out.csv", "report.html"]
)
def test_files_of_a_session_are_no_links(name, tmp_path, capsys):
    """A session that somebody sent must not write to files of whoever opens it."""
    np.save(tmp_path / "x.npy", X)
    Session.create(tmp_path / "s", tmp_path / "x.npy", held_out=3)
    link, target = tmp_path / "s" / name, tmp_path / "precious"
    if link.exists():
        link.rename(target)
    before = target.read_bytes() if target.exists() else None
    link.symlink_to(target)
    for command in (["next", "2"], ["label"], ["status"], ["report"], ["export", "-"]):
        assert cli.main([*command, "--session", str(tmp_path / "s"), "--quiet"]) == 2
        assert "must be a file of the session, got a link" in capsys.readouterr().err
    assert (target.read_bytes() if target.exists() else None) == before


def test_the_folder_and_the_table_of_a_session_may_be_links(tmp_path):
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "table.npy").symlink_to(tmp_path / "x.npy")
    Session.create(tmp_path / "s", tmp_path / "table.npy")
    (tmp_path / "other").symlink_to(tmp_path / "s")
    assert len(Session(tmp_path / "other").next(2).rows) == 2


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg"><script>parent.owned=top.owned=1</script>'
    '<image href="http://127.0.0.1:9/x.png"/></svg>'
)


def session_with_pictures(folder, pictures):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    names = [pictures[k % len(pictures)] for k in range(len(X))]
    table = pyarrow.table({"a": X[:, 0], "b": X[:, 1], "picture": names})
    parquet.write_table(table, folder / "x.parquet")
    session = Session.create(folder / "s", folder / "x.parquet", show="picture")
    session.next(len(X))
    return session


def test_names_of_pictures_that_no_disk_knows(tmp_path):
    (tmp_path / "circle.png").symlink_to("circle.png")
    (tmp_path / "folder.png").mkdir()
    odd = ["a\0.png", "a" * 5000 + ".png", "circle.png", "folder.png", "//a/b.png", "../x.png"]
    page = report(session_with_pictures(tmp_path, odd))
    assert "<img" not in page and "circle.png" in page


@pytest.mark.skipif(BROWSER is None, reason="no Chromium")
def test_scripts_in_pictures_do_not_run(tmp_path):
    (tmp_path / "x.svg").write_text(SVG)
    page = report(session_with_pictures(tmp_path, ["x.svg"]))
    assert "data:image/svg+xml;base64," in page
    (tmp_path / "report.html").write_text(page)
    with Chromium(tmp_path / "profile") as browser:
        browser.open((tmp_path / "report.html").as_uri())
        assert browser.run("window.owned === undefined")
        assert browser.run("document.images.length > 5")
        # opened by itself, the picture does run it
        browser.open((tmp_path / "x.svg").as_uri())
        assert browser.run("window.owned === 1")


# What a spreadsheet or a terminal obeys.

TEXTS = ["a;=1+1", "a\t=1+1", 'a",=1', " =1+1", "\n=1", "＝1+1", "'=1+1", "''@x", "-", "-1 ", "'"]


@pytest.mark.parametrize("text", TEXTS)
def test_cells_that_are_formulas_elsewhere(text):
    """Other countries separate by semicolons, other programs by tabs: a cell stays one cell."""
    assert with_formula(without_formula(text)) == text
    for suffix in (".csv", ".tsv", ".txt"):
        content = table_bytes([text, "b"], [[text, None], [1.5, "x"]], suffix).decode()
        for mark in (",", ";", "\t"):
            for line in csv.reader(io.StringIO(content, newline=""), delimiter=mark):
                for cell in line:
                    assert not cell.lstrip(" ").startswith(("=", "@", "＝"))
        own = "\t" if suffix == ".tsv" else ","
        rows = list(csv.reader(io.StringIO(content, newline=""), delimiter=own))
        assert [with_formula(cell) for cell in rows[0]] == [text, "b"]
        assert [with_formula(cell) for cell in rows[1]] == [text, "1.5"] and rows[2] == ["", "x"]


@given(st.text("'=+-@ 1a\t", max_size=6))
def test_quotes_in_front_come_off_again(text):
    assert with_formula(without_formula(text)) == text


def test_a_header_in_quotes_may_hold_separators(tmp_path):
    ids, name = ["u;v", "w\tx", "y,z"], "the;id"
    path = tmp_path / "y.csv"
    path.write_bytes(table_bytes([name, "label"], [ids, ["cat", "dog", "cat"]]))
    assert read_labels(path, 3, ids, name) == {0: "cat", 1: "dog", 2: "cat"}


def test_what_a_workbook_cannot_hold():
    pytest.importorskip("openpyxl")
    with pytest.raises(ValueError, match="a .xlsx cannot hold 'a.*: write a .csv"):
        table_bytes(["a"], [["a\x07b"]], ".xlsx")


ESCAPE = "\x1b[2Jowned\x07\u202e"


def test_names_do_not_speak_to_the_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["id,a,b" + ESCAPE, *(f"{k}{ESCAPE},{x[0]},{x[1]}" for k, x in enumerate(X))]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    answers = [f"{k}{ESCAPE},{'uv'[k % 2]}{ESCAPE}" for k in range(9)]
    (tmp_path / "y.csv").write_text("\n".join(["id,label", *answers]))
    assert cli.main(["init", "x.csv", "--id-column", "id", "--hold-out", "0"]) == 0
    assert cli.main(["label", "y.csv"]) == 0
    assert cli.main(["next", "3", "--quiet"]) == 0
    (tmp_path / "z.csv").write_text(f"id,label\nnobody{ESCAPE},u{ESCAPE}\n")
    assert cli.main(["label", "z.csv"]) == 2
    assert cli.main(["status"]) == 0
    captured = capsys.readouterr()
    shown = captured.err + captured.out.partition("0" + ESCAPE)[2].partition("\n\n")[2]
    assert "u [2Jowned" in captured.out and "b [2Jowned" in captured.err
    assert "\x1b" not in captured.err and "\u202e" not in shown
    out = io.StringIO()
    label_points(Session("firal-session"), lambda prompt: "q", out)
    assert "u [2Jowned" in out.getvalue() and not set(out.getvalue()) & set("\x1b\x07\u202e")


def test_json_without_numbers_that_json_does_not_have(tmp_path, capsys):
    """The certificate of wide designs has no lambda_min."""
    np.save(tmp_path / "x.npy", np.random.default_rng(1).normal(size=(60, 900)))
    assert cli.main(["select", str(tmp_path / "x.npy"), "--budget", "2", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found["lambda_min"] is None and found["relaxation_gap"] > 0


# Many names.

LETTERS = st.text("abc-_ 12É", min_size=1, max_size=9)


@given(st.sets(LETTERS, max_size=12))
def test_all_names_that_are_alike_are_compared(names):
    names = sorted(name for name in names if name.strip())
    wanted = set()
    for a, b in combinations(names, 2):
        numbers = [name.isdecimal() for name in (a, b)]
        if any(map(classes.is_number, (a, b))):
            alike = all(numbers) and int(a) == int(b)
        else:
            alike = classes._plain(a) == classes._plain(b) or classes._one_slip(a, b)
        wanted |= {(a, b)} if alike else set()
    assert wanted <= set(classes._alike(names))


def test_many_classes_are_compared_in_no_time():
    """A column of 20,000 different names: all pairs would take ten minutes."""
    names = np.random.default_rng(0).choice(list("abcdefghij"), size=(20_000, 9))
    counts = {"".join(name): 2 for name in names.tolist()} | {"platypus": 50, "platypux": 1}
    start = time.process_time()
    found = classes.doubts(counts)
    assert time.process_time() - start < 30
    assert any("platypus" in line for line in found)
