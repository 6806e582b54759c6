"""The history of a session: on the disk before it is acknowledged, one process at a time."""

import os
import threading

import pytest

from firal.session.journal import Journal

fcntl = pytest.importorskip("fcntl")


def test_an_event_is_on_the_disk_when_append_returns(tmp_path, monkeypatch):
    seen, fsync = [], os.fsync

    def watched(number):
        seen.append(os.pread(number, 1000, 0))
        fsync(number)

    monkeypatch.setattr(os, "fsync", watched)
    journal = Journal(tmp_path / "journal.jsonl")
    for count in (1, 2):
        journal.append({"event": "undo"})
        assert len(seen) == count and seen[-1] == journal.path.read_bytes()


@pytest.mark.parametrize("other", [fcntl.LOCK_EX, fcntl.LOCK_SH])
def test_nobody_else_writes_at_the_same_time(other, tmp_path):
    """An append cuts a torn line off: two at a time could cut what the other one has written."""
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append({"event": "undo"})
    before = journal.path.read_bytes()
    thread = threading.Thread(target=journal.append, args=({"event": "undo"},))
    with open(journal.path, "ab") as file:
        fcntl.flock(file, other)
        thread.start()
        thread.join(0.3)
        assert thread.is_alive() and journal.path.read_bytes() == before
    thread.join(10)
    assert not thread.is_alive() and len(journal.read()) == 2


@pytest.mark.parametrize("torn", [b'{"event"', b"x" * 10_000, b""])
def test_a_torn_line_is_cut_off_and_no_more(torn, tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    events = [journal.append({"event": "undo", "n": n}) for n in range(2)]
    with open(journal.path, "ab") as file:
        file.write(torn)
    assert journal.read() == events
    events.append(journal.append({"event": "undo", "n": 2}))
    assert journal.read() == events
    journal.path.write_bytes(torn)  # nothing but a torn line
    assert journal.read() == [] and journal.append(events[0])["n"] == 0
    assert len(journal.read()) == 1
