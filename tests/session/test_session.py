"""A session: what is remembered, what is refused, and that nothing is lost when it is killed."""

import gc
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

import firal
from firal.data.cells import TableError
from firal.session.folder import JOURNAL
from firal.session.journal import Journal
from firal.session.session import Session
from firal.session.state import replay

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["red", "white", "rose"])[Y]


@pytest.fixture
def table(tmp_path):
    np.save(tmp_path / "wine.npy", X)
    return tmp_path / "wine.npy"


def begin(table, **options):
    return Session.create(table.parent / "s", table, **options)


def test_rounds_are_those_of_next_batch(table):
    session, labels = begin(table, seed=3, pca=5), {}
    for number in range(1, 4):
        batch = session.next(5)
        want = firal.next_batch(X, labels, 5, pca=5, rng=3)
        assert np.array_equal(batch.rows, want.rows)
        assert session.pending == batch.rows.tolist()
        session.decide({int(row): NAMES[row] for row in batch.rows})
        labels |= {int(row): NAMES[row] for row in batch.rows}
        assert session.labels == labels and session.rounds[-1].number == number
    again = Session(session.folder)
    assert again.state == session.state and again.settings == session.settings
    assert again.rounds[1].known == 5 and again.rounds[1].details["ratio"] >= 1
    assert np.array_equal(again.next(4).rows, firal.next_batch(X, labels, 4, pca=5, rng=3).rows)


def test_pending_skipped_and_held_out_points_are_not_picked(table):
    session = begin(table, held_out=20, strategy="random")
    held_out = session.state.held_out
    assert len(held_out) == 20 and session.pending == list(session.rounds[0].rows)
    one, two = session.next(10).rows, session.next(10).rows
    session.skip(one[0])
    session.label(one[1], "red")
    session.label(min(held_out), "white")
    assert session.state.training == {one[1]: "red"}  # a held-out label never trains
    rest = session.next(178 - 40).rows
    assert not set(rest) & {*one, *two, *held_out} and len(set(rest)) == 138
    with pytest.raises(ValueError, match="at most 0, .* every point has a label, is pending or is"):
        session.next(1)
    other = Session.create(table.parent / "t", table, held_out=20, strategy="random", seed=1)
    assert other.state.held_out != held_out


def test_labels_of_held_out_points_do_not_train_the_model_that_picks(table):
    """The batch and its theta are those of the other labels alone."""
    session = begin(table, held_out=20, seed=5)
    drawn = np.random.default_rng([5, 2**31]).choice(178, 20, replace=False)
    assert session.pending == drawn.tolist()  # by no generator of a round: [5, number of labels]
    held_out = sorted(session.pending)
    session.decide({row: NAMES[row] for row in held_out})
    for size in (6, 4):
        rows = session.next(size).rows
        session.decide({int(row): NAMES[row] for row in rows})
    training = {row: NAMES[row] for row in session.labels if row not in held_out}
    assert len(training) == 10 and session.state.training == training
    batch = session.next(5)
    expected = firal.next_batch(X, training, 5, exclude=held_out, rng=5)
    assert batch.rows.tolist() == expected.rows.tolist()
    assert batch.counts.sum() == 10 and np.array_equal(batch.theta, expected.theta)
    assert session.rounds[-1].known == 10


def test_undo(table):
    session = begin(table)
    rows = session.next(3).rows.tolist()
    session.label(rows[0], "red")
    session.label(rows[0], "white")
    session.skip(rows[1])
    session.decide({rows[1]: "rose", rows[2]: "rose"})
    assert session.undo() == {rows[1]: None, rows[2]: False}
    assert session.skipped == {rows[1]} and session.pending == [rows[2]]
    assert session.undo() == {rows[1]: False} and session.undo() == {rows[0]: "red"}
    assert session.labels == {rows[0]: "red"}
    session.undo()
    assert session.labels == {} and session.pending == rows
    with pytest.raises(ValueError, match="nothing to undo"):
        session.undo()
    assert Session(session.folder).state == session.state


def test_what_is_refused(table, tmp_path):
    session = begin(table)
    with pytest.raises(ValueError, match="holds a session already"):
        begin(table)
    with pytest.raises(ValueError, match="no session in"):
        Session(tmp_path / "none")
    with pytest.raises(ValueError, match="options must be among .*, got .'speed'."):
        Session.create(tmp_path / "x", table, speed=1)
    with pytest.raises(ValueError, match="row must be an integer in 0..177, got 178"):
        session.label(178, "red")
    with pytest.raises(ValueError, match="got a blank for row 3"):
        session.label(3, " ")
    session.label(3, "red")
    with pytest.raises(TableError, match="'RED' .1. and 'red' .1. differ by case only"):
        session.label(4, "RED")
    with pytest.raises(TableError, match="looks like no label"):
        session.label(4, "?")
    assert session.labels == {3: "red"}  # nothing of it was recorded
    session.confirm("?")
    session.label(4, "?")
    assert Session(session.folder).labels == {3: "red", 4: "?"}


def test_another_table_is_refused(table):
    folder = begin(table).folder
    gc.collect()  # Windows replaces and removes no file that is mapped
    np.save(table, X + 1)
    with pytest.raises(ValueError, match="must be the table that this session began with"):
        Session(folder).next(2)
    gc.collect()
    table.unlink()
    with pytest.raises(ValueError, match="the features of this session: put it back"):
        Session(folder).next(2)


def test_labels_that_exist_are_taken_in(table, tmp_path):
    (tmp_path / "y.csv").write_text("row,label\n0,red\n60,white\n")
    session = begin(table, labeled=[tmp_path / "y.csv"])
    assert session.labels == {0: "red", 60: "white"} and session.counts == {"red": 1, "white": 1}
    assert not set(session.next(5).rows) & {0, 60}


def a_history(table):
    session = begin(table, held_out=4)
    rows = session.next(4).rows
    for row in rows[:2]:
        session.label(row, NAMES[row])
    session.skip(rows[2])
    session.undo()
    session.decide({int(row): NAMES[row] for row in session.state.held_out})
    return session


def test_killed_at_any_byte_nothing_that_was_complete_is_lost(table):
    """Every prefix of the journal is what a crash may leave; it opens, and goes on."""
    session = a_history(table)
    path = session.folder / JOURNAL
    content = path.read_bytes()
    events = session.journal.read()
    for length in range(len(content) + 1):
        path.write_bytes(content[:length])
        complete = content[:length].count(b"\n")
        found = Session(session.folder)
        assert found.state == replay(events[:complete])
        if length % 7 == 0:
            found.label(170, "red")
            assert Session(session.folder).labels[170] == "red"
            assert len(Journal(path).read()) == complete + 1


def test_a_damaged_line_is_named(table):
    session = a_history(table)
    path = session.folder / JOURNAL
    lines = path.read_text().splitlines()
    for bad in ("{", "[1]", '{"rows": []}'):
        path.write_text("\n".join([lines[0], bad, *lines[2:]]) + "\n")
        with pytest.raises(ValueError, match="line 2 of .*journal.jsonl must be an event in JSON"):
            Session(session.folder)
    path.write_text("\n".join([*lines, '{"event": "dance"}']) + "\n")
    with pytest.raises(ValueError, match="events that this version knows, got 'dance'"):
        Session(session.folder)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_killed_for_real_every_label_that_was_acknowledged_is_there(table):
    begin(table)
    code = (
        "import itertools\n"
        "from firal.session.session import Session\n"
        "session = Session('s')\n"
        "for k in itertools.count():\n"
        "    session.label(k % 178, f'kind {k}')\n"
        "    print(k, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=table.parent,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    last = -1
    while last < 40:
        last = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    rest = process.communicate()[0].split()
    last = int(rest[-1]) if rest else last
    labels = Session(table.parent / "s").labels
    assert all(labels[k] == f"kind {k}" for k in range(min(last, 177) + 1) if last < 178)
    assert len(labels) >= min(last + 1, 178)


def test_two_processes_do_not_overwrite_each_other(table):
    begin(table)
    one, two = Session(table.parent / "s"), Session(table.parent / "s")
    one.label(1, "red")
    two.label(2, "white")
    one.label(3, "rose")
    assert Session(table.parent / "s").labels == {1: "red", 2: "white", 3: "rose"}


def test_the_folder_can_be_read_by_a_person(table):
    session = a_history(table)
    told = json.loads((session.folder / "settings.json").read_text())
    assert told["features"] == "../wine.npy" and told["seed"] == 0 and told["points"] == 178
    lines = (session.folder / JOURNAL).read_text().splitlines()
    assert all({"event", "time"} <= json.loads(line).keys() for line in lines)


decisions = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 5), st.sampled_from(["a", "b", None])),
        st.just("undo"),
    ),
    max_size=30,
)


@given(decisions)
@settings(max_examples=200, deadline=None)
def test_undo_restores_what_was_there_before(steps):
    """Against a plain stack of copies."""
    states, events = [({}, set())], []
    for step in steps:
        labels, skipped = (states[-1][0].copy(), states[-1][1].copy())
        if step == "undo":
            events.append({"event": "undo"})
            states = states[:-1] if len(states) > 1 else states
            continue
        row, label = step
        events.append({"event": "decide", "labels": {str(row): label}})
        labels.pop(row, None)
        skipped.discard(row)
        if label is None:
            skipped.add(row)
        else:
            labels[row] = label
        states.append((labels, skipped))
    state = replay(events)
    assert (state.labels, state.skipped) == states[-1]


def test_a_session_begins_as_a_whole(table, monkeypatch):
    """Killed before its settings are in place there is none, and it can be begun again."""
    folder = table.parent / "s"
    monkeypatch.setattr(Session, "_draw_held_out", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        begin(table, held_out=5)
    assert list(folder.iterdir()) == []
    with pytest.raises(ValueError, match="no session"):
        Session(folder)
    monkeypatch.undo()
    (folder / ".new-1").mkdir()  # left by a process that was killed
    (folder / JOURNAL).write_text('{"event": "decide", "labels": {"3": "red"}}\n')
    session = begin(table, held_out=5)
    assert len(session.state.held_out) == 5 and session.labels == {}
    names = {path.name for path in folder.iterdir()}
    assert names == {"settings.json", JOURNAL, f"{JOURNAL}.old"}  # labels without settings are kept
