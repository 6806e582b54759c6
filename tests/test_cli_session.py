"""The commands of a session, as a user types them."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from sklearn.datasets import load_wine

from firal import cli, cli_labeling
from firal.session.session import Session

WINE = load_wine()
NAMES = np.array(["red", "white", "rose"])[WINE.target]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("points.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *WINE.feature_names, "note"])
        for row, x in enumerate(WINE.data.tolist()):
            writer.writerow([f"wine {row}", *x, f"note on wine {row}"])
    return tmp_path


def run(capsys, *arguments, code=0):
    got = cli.main([*map(str, arguments)])
    out, err = capsys.readouterr()
    assert got == code, err
    assert "Traceback" not in err
    return out, err


def begin(capsys, *options):
    return run(capsys, "init", "points.csv", "--id-column", "name", "--show", "note", *options)


def fill(path, most=99):
    """What an annotator does with the file of a batch."""
    with open(path, newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines[:most]:
        line["label"] = NAMES[int(line["row"])]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, lines[0])
        writer.writeheader()
        writer.writerows(lines)
    return [int(line["row"]) for line in lines]


def test_from_the_first_command_to_the_labels(folder, capsys):
    _, err = begin(capsys)
    assert "session firal-session: 178 points, 13 features, 0 labels" in err
    assert "no held-out points, so accuracy is not measured; --hold-out 50" in err
    out, err = run(capsys, "next", 6)
    assert "no labels yet" in err and f"round 1 is in {Path('firal-session/round-01.csv')}" in err
    assert out == (folder / "firal-session/round-01.csv").read_text()
    rows = fill("firal-session/round-01.csv", 5)
    _, err = run(capsys, "label", "firal-session/round-01.csv")
    assert "5 new labels, 1 points still wait" in err and "classes: " in err
    _, err = run(capsys, "label", "firal-session/round-01.csv")  # again: nothing is new
    assert "0 new labels" in err
    out, err = run(capsys, "next", 4)
    assert "5 labeled in" in err and "1 points of earlier rounds still wait" in err
    assert not set(rows) & {int(line["row"]) for line in csv.DictReader(out.splitlines())}
    out, _ = run(capsys, "status")
    assert "5 labels to train, 5 pending, 0 skipped" in out
    assert "    1  firal-ridge        6        5        0        1  " in out
    run(capsys, "export", "labels.csv")
    with open("labels.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {int(line["row"]): line["label"] for line in lines} == {r: NAMES[r] for r in rows[:5]}
    assert lines[0]["name"] == f"wine {lines[0]['row']}" and lines[0]["round"] == "1"
    assert "exists" in run(capsys, "export", "labels.csv", code=2)[1]
    run(capsys, "export", "labels.csv", "--overwrite")
    assert json.loads(run(capsys, "export", "x.json")[0] or open("x.json").read())[0]["label"]


def test_a_label_that_changes_is_said(folder, capsys):
    begin(capsys)
    run(capsys, "next", 3)
    row = fill("firal-session/round-01.csv")[0]
    run(capsys, "label", "firal-session/round-01.csv")
    (folder / "fix.csv").write_text(f"row,label\n{row},purple\n")
    _, err = run(capsys, "label", "fix.csv")
    assert f"row {row} changes from '{NAMES[row]}' to 'purple'" in err and "0 new labels" in err
    (folder / "slip.csv").write_text(f"row,label\n{row},Purple\n5,?\n")
    _, err = run(capsys, "label", "slip.csv", code=2)
    assert "looks like no label" in err and "(--map OLD=NEW, --unlabeled, --class)" in err
    run(capsys, "label", "slip.csv", "--map", "Purple=purple", "--unlabeled", "?")


def test_held_out_points_come_first_and_never_train(folder, capsys):
    _, err = begin(capsys, "--hold-out", 8)
    assert f"8 points are held out, in {Path('firal-session/held-out.csv')}" in err
    fill("firal-session/held-out.csv")
    run(capsys, "label", "firal-session/held-out.csv")
    _, err = run(capsys, "next", 5)
    assert "0 labeled in 0 classes, 170 to choose from; 8 left out" in err
    out, _ = run(capsys, "status")
    assert "8 of 8 held-out points are labeled" in out and "0 labels to train" in out


def test_a_lost_file_of_a_batch_is_written_again(folder, capsys):
    begin(capsys)
    run(capsys, "next", 3)
    first = (folder / "firal-session/round-01.csv").read_text()
    (folder / "firal-session/round-01.csv").unlink()
    run(capsys, "next", 3)
    assert (folder / "firal-session/round-01.csv").read_text() == first


def test_label_studio_there_and_back(folder, capsys):
    begin(capsys)
    run(capsys, "next", 4)
    run(capsys, "export", "tasks.json", "--tasks")
    done = json.loads((folder / "tasks.json").read_text())
    assert done[0]["data"]["text"].startswith("note on wine ")
    for task in done:
        choice = NAMES[task["data"]["firal_row"]]
        result = [{"type": "choices", "value": {"choices": [choice]}, "from_name": "choice"}]
        task["annotations"] = [{"result": result, "was_cancelled": False}]
    (folder / "export.json").write_text(json.dumps(done))
    assert "4 new labels, 0 points still wait" in run(capsys, "label", "export.json")[1]
    assert "must be written as .json" in run(capsys, "export", "t.csv", "--tasks", code=2)[1]


def typed(text):
    """Answers from a file: a line each."""
    return cli_labeling.keyboard(io.StringIO(text), io.StringIO())


def test_labeling_in_the_terminal(folder, capsys):
    begin(capsys)
    run(capsys, "next", 5)
    session = Session("firal-session")
    rows = session.pending
    out = io.StringIO()
    # new class, new class, a key, a name, skip, undo, skip again
    answers = typed("n\nred\nn\nwhite\n1\nwhite\ns\nu\ns\n")
    assert cli_labeling.label_points(session, answers, out) == 5
    assert session.labels == dict(zip(rows, ["red", "white", "red", "white"], strict=False))
    assert session.skipped == {rows[4]} and session.pending == []
    shown = out.getvalue()
    assert f"wine {rows[0]} (row {rows[0]}); 5 to go\n  note on wine {rows[0]}\n" in shown
    assert "  1 red   2 white\n  s skip   u undo   n new class   q quit\n" in shown


def test_a_class_keeps_its_key(folder, capsys):
    begin(capsys)
    run(capsys, "next", 4)
    session = Session("firal-session")
    rows = session.pending
    answers = typed("n\nzebra\nn\nant\n1\n2\n")
    cli_labeling.label_points(session, answers, io.StringIO())
    assert [session.labels[row] for row in rows] == ["zebra", "ant", "zebra", "ant"]


def test_more_classes_than_keys(folder, capsys):
    begin(capsys)
    run(capsys, "next", 50)
    session, out = Session("firal-session"), io.StringIO()
    names = [f"sort {chr(97 + k // 7)}{chr(97 + k % 7)}" for k in range(48)]
    answers = "".join(f"n\n{name}\n" for name in names) + f"n\n{names[-1]}\nz\n"
    assert cli_labeling.label_points(session, typed(answers), out) == 50
    assert list(session.labels.values()) == [*names, names[-1], names[30]]
    assert "and 17 more classes: n, then the name" in out.getvalue()


def test_what_is_typed_by_mistake(folder, capsys):
    begin(capsys)
    run(capsys, "next", 4)
    session, out = Session("firal-session"), io.StringIO()
    row = session.pending[0]
    # nothing to undo, no such key, an empty name, a slip that is taken back, then confirmed
    answers = typed("u\n7\nn\n\nn\ngoose\nn\nGoose\nn\nn\nGoose\ny\nq\n")
    assert cli_labeling.label_points(session, answers, out) == 2
    assert "nothing to undo" in out.getvalue() and "'7' is none of the keys" in out.getvalue()
    assert session.labels[row] == "goose" and list(session.labels.values()) == ["goose", "Goose"]
    assert len(session.pending) == 2
    assert cli_labeling.label_points(session, typed(""), out) == 0  # the input ends


def test_a_text_cannot_steer_the_terminal(folder, capsys):
    (folder / "odd.csv").write_text('a,b,text\n1,2,"x\x1b[2Jy"\n2,1,z\n3,3,w\n')
    session = Session.create(folder / "t", folder / "odd.csv", show="text")
    session.next(3)
    out = io.StringIO()
    cli_labeling.label_points(session, typed("s\ns\ns\n"), out)
    assert "\x1b" not in out.getvalue() and "x [2Jy" in out.getvalue()


def test_commands_without_a_session_or_work(folder, capsys):
    assert "no session in firal-session" in run(capsys, "status", code=2)[1]
    begin(capsys)
    assert "no point waits for a label" in run(capsys, "label", code=2)[1]
    assert (
        "holds a session already"
        in run(capsys, "init", "points.csv", "--id-column", "name", "--ignore", "note", code=2)[1]
    )
    run(capsys, "init", "points.csv", "--id-column", "name", "--ignore", "note", "--session", "b")
    assert "178 points" in run(capsys, "status", "--session", "b")[0]


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of POSIX")
def test_a_disk_without_room_is_said_and_nothing_is_lost(tmp_path):
    """The journal still has room, the files of the rounds have not."""
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(900, 3)))
    session = ("--session", "s", "--quiet")
    code = (
        "import resource, sys; from firal import cli; limit = int(sys.argv.pop(1)); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)); sys.exit(cli.main())"
    )

    def run(limit, *arguments):
        command = [sys.executable, "-c", code, str(limit), *arguments, *session]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=environment
        )

    assert run(10**6, "init", "x.npy", "--hold-out", "0", "--strategy", "random").returncode == 0
    assert run(10**6, "next", "2").returncode == 0
    journal = (tmp_path / "s" / "journal.jsonl").stat().st_size
    done = run(journal + 10, "next", "2")  # half an event
    assert done.returncode == 2 and "journal.jsonl: File too large: make room and" in done.stderr
    assert len(Session(tmp_path / "s").rounds) == 1
    done = run(journal + 5000, "next", "800")  # the event fits, its file does not
    assert done.returncode == 2 and "round 2 is picked and kept, but its file" in done.stderr
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == [
        "journal.jsonl",
        "round-01.csv",
        "settings.json",
    ]
    done = run(journal, "report")
    assert done.returncode == 2 and "report.html: File too large: make room and" in done.stderr
    assert run(10**6, "next", "2").returncode == 0
    assert len((tmp_path / "s" / "round-02.csv").read_text().splitlines()) == 801
    assert len(Session(tmp_path / "s").rounds) == 3
