"""Files from others: no code, no bombs, no paths that lead elsewhere, no scripts, no formulas."""

import ast
import csv
import gzip
import io
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from chromium import BROWSER, Chromium
from conftest import ROOT

from firal import cli
from firal.data import unpacking
from firal.data.files import read_npy, read_npz
from firal.data.labels import read_answers
from firal.data.output import table_bytes, with_formula, without_formula
from firal.data.points import read_points
from firal.session.report import report
from firal.session.session import Session

SOURCES = sorted((ROOT / "firal").rglob("*.py"))
X = np.random.default_rng(0).normal(size=(60, 3))


# No code from files, no network.


def used(tree):
    """Names of the modules that are imported, and of the functions that are called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Call):
            yield ast.unparse(node.func)


FORBIDDEN = {"pickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "eval", "exec"}
FORBIDDEN |= {"os.system", "torch.load", "yaml.unsafe_load", "pandas.read_pickle"}
NETWORK = ("socket", "http", "urllib", "requests", "httpx", "ftplib", "smtplib", "webbrowser")
MAY_DOWNLOAD = ROOT / "firal" / "companion" / "prepare"  # make data


def test_the_search_finds_what_it_looks_for():
    found = set(used(ast.parse("import pickle\nfrom urllib.request import urlopen\neval('1')")))
    assert found >= {"pickle", "urllib.request", "eval"}


def test_nothing_is_unpickled_or_evaluated():
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        torch = [node for node in calls if ast.unparse(node.func) == "torch.load"]
        assert all("weights_only=True" in ast.unparse(node) for node in torch), path
        allowed = {"torch.load"} if torch else set()
        if path.name == "loop.py":
            allowed |= {"joblib"}  # its ``store`` is a folder of one's own: SECURITY.md says so
        assert not (FORBIDDEN - allowed) & set(used(tree)), path
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.load", "numpy.load"):
                options = {k.arg: ast.unparse(k.value) for k in node.keywords}
                assert options.get("allow_pickle") == "False", path
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "yaml.load":
                assert "SafeLoader" in path.read_text(encoding="utf8"), path


def test_the_network_is_not_used():
    for path in SOURCES:
        if MAY_DOWNLOAD in path.parents:
            continue
        modules = {name.split(".")[0] for name in used(ast.parse(path.read_text(encoding="utf8")))}
        assert not modules & set(NETWORK), path


WATCHED = """
import sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "pickle.find_class"):
        sys.stderr.write(f"FORBIDDEN {event}\\n")

sys.addaudithook(watch)
import numpy as np
from firal import cli

rng = np.random.default_rng(0)
X, y = rng.normal(size=(80, 3)), rng.integers(3, size=80)
np.savez("x.npz", features=X)
open("y.csv", "w").write("row,label\\n" + "".join(f"{k},c{y[k]}\\n" for k in range(0, 80, 4)))
codes = [
    cli.main(["select", "x.npz", "--labeled", "y.csv", "--budget", "4", "--output", "o.csv"]),
    cli.main(["init", "x.npz", "--labeled", "y.csv", "--hold-out", "5", "--quiet"]),
    cli.main(["next", "4", "--quiet"]),
    cli.main(["report", "--quiet"]),
    cli.main(["status", "--quiet"]),
]
assert codes == [0] * 5, codes
"""
CAUGHT = """
import pickle, socket
pickle.loads(pickle.dumps(np.float64))
socket.socket().connect_ex(("127.0.0.1", 9))
"""


def test_commands_open_no_connection_and_unpickle_nothing(tmp_path):
    """As they run: Python reports every connection and every unpickled name to a hook."""
    for extra, forbidden in (("", []), (CAUGHT, ["pickle.find_class", "socket.connect"])):
        folder = tmp_path / f"{len(extra)}"
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", WATCHED + extra], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-2000:]
        seen = [line.split()[1] for line in done.stderr.splitlines() if "FORBIDDEN" in line]
        assert seen == forbidden


class Evil:
    def __reduce__(self):
        return (os.mkdir, ("owned",))


def test_objects_in_arrays_are_refused_and_not_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evil = np.empty((2, 2), dtype=object)
    evil[:] = Evil()
    np.save("x.npy", evil, allow_pickle=True)
    np.savez("x.npz", features=evil)
    for read, name in ((read_npy, "x.npy"), (read_npz, "x.npz")):
        with pytest.raises(ValueError, match="must be an intact .np[yz] of plain"):
            read(tmp_path / name)
    assert not (tmp_path / "owned").exists()


# Bombs.


def zeros_npz(path, rows):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        content = io.BytesIO()
        np.save(content, np.zeros((rows, 4)))
        file.writestr("features.npy", content.getvalue())


def test_archives_that_unpack_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "HARMLESS", 10_000)
    monkeypatch.setattr(unpacking, "LARGEST", 400_000)
    monkeypatch.setattr(unpacking, "PIECE", 1000)
    zeros_npz(tmp_path / "ratio.npz", 10_000)  # 320 kB, 300 times the file
    zeros_npz(tmp_path / "size.npz", 20_000)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 90_000))
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/worksheets/sheet1.xml", "<c>0</c>" * 60_000)
    for name in ("ratio.npz", "size.npz", "x.csv.gz", "x.xlsx"):
        with pytest.raises(ValueError, match="must unpack to at most 400000 bytes"):
            read_points(tmp_path / name)
    rng = np.random.default_rng(0)
    np.savez_compressed(tmp_path / "fine.npz", features=rng.normal(size=(2000, 4)))
    assert read_points(tmp_path / "fine.npz").features.shape == (2000, 4)
    zeros_npz(tmp_path / "small.npz", 50)
    assert len(read_npz(tmp_path / "small.npz")["features"]) == 50


def test_an_array_that_claims_more_than_there_is(tmp_path):
    content = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**11, 4)}
    np.lib.format.write_array_header_1_0(content, header)
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as file:
        file.writestr("features.npy", content.getvalue() + bytes(80))
    with pytest.raises(ValueError, match="claims 3200000000000 bytes and has"):
        read_points(tmp_path / "x.npz")
    (tmp_path / "x.npy").write_bytes(content.getvalue() + bytes(80))
    with pytest.raises(ValueError, match="must be an intact .npy"):
        read_points(tmp_path / "x.npy")


# Paths.

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


def test_pictures_outside_of_the_folder_are_not_shown(tmp_path):
    inside = tmp_path / "data"
    inside.mkdir()
    (tmp_path / "secret.png").write_bytes(PNG + b"secret")
    (inside / "mine.png").write_bytes(PNG)
    (inside / "link.png").symlink_to(tmp_path / "secret.png")
    shown = ["../secret.png", str(tmp_path / "secret.png"), "link.png", "mine.png"]
    shown.append(str(inside / "mine.png"))
    lines = ["a,b,c,picture"]
    lines += [f"{','.join(map(repr, x.tolist()))},{shown[k % 5]}" for k, x in enumerate(X)]
    (inside / "points.csv").write_text("\n".join(lines))
    session = Session.create(tmp_path / "s", inside / "points.csv", show="picture")
    rows = session.next(40).rows
    page = report(session)
    assert page.count("<img") == sum(row % 5 in (3, 4) for row in rows)
    assert "c2VjcmV0" not in page  # "secret" in base64
    assert "../secret.png" in page  # its path is shown instead


def test_a_session_reads_no_other_table(tmp_path):
    np.save(tmp_path / "x.npy", X)
    Session.create(tmp_path / "s", tmp_path / "x.npy")
    np.save(tmp_path / "other.npy", X + 1)
    settings = tmp_path / "s" / "settings.json"
    settings.write_text(settings.read_text().replace("x.npy", "other.npy"))
    with pytest.raises(ValueError, match="got another content"):
        Session(tmp_path / "s").next(2)


# Scripts and formulas.

EVIL = "\"'><script>window.owned=1</script><img src=x onerror=window.owned=2><svg onload=owned=3>"


def evil_session(folder):
    names = [f"a{EVIL}", f"b{EVIL}", "c"]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["id " + EVIL, *names, "text"])
    for k, x in enumerate(X.tolist()):
        writer.writerow([f"{k} {EVIL}", *x, EVIL if k % 2 else ""])
    path = folder / "points.csv"
    path.write_text(out.getvalue())
    session = Session.create(
        folder / "s", path, id_column="id " + EVIL, show="text", held_out=8, classes=[]
    )
    session.decide({row: f"class {row % 3} {EVIL}" for row in session.pending})
    for _ in range(3):
        rows = session.next(6).rows
        session.decide({int(row): f"class {row % 3} {EVIL}" for row in rows})
    session.next(9)
    return session


@pytest.mark.skipif(BROWSER is None, reason="no Chromium")
def test_no_script_of_a_user_runs_in_a_report(tmp_path):
    (tmp_path / "report.html").write_text(report(evil_session(tmp_path)))
    with Chromium(tmp_path / "profile") as browser:
        browser.open((tmp_path / "report.html").as_uri())
        assert browser.run("window.owned === undefined")
        marks = "script, svg[onload], img[onerror], iframe, object, [onclick]"
        assert browser.run(f"document.querySelectorAll('{marks}').length") == 0
        assert browser.run("document.body.innerText.includes('<script>window.owned=1</script>')")
        # the same page without escapes and policy: the test can see a script that runs
        text = report(Session(tmp_path / "s")).replace("&lt;", "<")
        text = text.replace("&gt;", ">").replace("&quot;", '"').replace("&#x27;", "'")
        text = text.replace("Content-Security-Policy", "x")
        (tmp_path / "open.html").write_text(text)
        browser.open((tmp_path / "open.html").as_uri())
        assert browser.run("window.owned !== undefined")


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", '=HYPERLINK("x")']


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_texts(text, tmp_path):
    for suffix, mark in ((".csv", ","), (".tsv", "\t")):
        content = table_bytes(["row", text], [[0], [text]], suffix).decode()
        rows = list(csv.reader(io.StringIO(content), delimiter=mark))
        assert rows[0][1] == rows[1][1] == f"'{text}"
    assert with_formula(without_formula(text)) == text
    openpyxl = pytest.importorskip("openpyxl")
    (tmp_path / "x.xlsx").write_bytes(table_bytes(["a"], [[text]], ".xlsx"))
    sheet = openpyxl.load_workbook(tmp_path / "x.xlsx").active
    assert sheet["A2"].data_type == "s"


def test_numbers_and_words_stay_as_they_are():
    for text in ("-1", "+2.5", "-1e3", "a=b", "", "'tis", "cat"):
        assert without_formula(text) == text and with_formula(text) == text
    assert without_formula(-3) == -3 and without_formula(None) is None


def test_ids_and_labels_that_look_like_formulas_come_back(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ids = [f"={k}+1" for k in range(60)]
    lines = [
        "name,a,b,c",
        *(f"{n},{','.join(map(repr, x))}" for n, x in zip(ids, X.tolist(), strict=True)),
    ]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    options = ("--id-column", "name", "--hold-out", "0", "--quiet")
    assert cli.main(["init", "x.csv", *options]) == 0
    assert cli.main(["next", "4", "--quiet"]) == 0
    path = tmp_path / "firal-session" / "round-01.csv"
    rows = list(csv.DictReader(path.open()))
    assert all(row["name"].startswith("'=") for row in rows)
    for k, row in enumerate(rows):
        row["label"] = without_formula(("@cat", "-dog")[k % 2])
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    answers = read_answers(path, 60, ids, "name")
    assert sorted(answers.labels.values()) == ["-dog", "-dog", "@cat", "@cat"]
    assert cli.main(["label", str(path), "--quiet"]) == 0
    assert set(Session("firal-session").labels.values()) == {"@cat", "-dog"}


def test_the_policy_is_written_down():
    text = (ROOT / ".github" / "SECURITY.md").read_text(encoding="utf8")
    for line in ("unpickled", "4 GiB", "300 times", "formula", "Dask"):
        assert line in text
    assert unpacking.LARGEST == 4 * 2**30 and unpacking.LARGEST_RATIO == 300
