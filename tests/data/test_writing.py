"""Files that are written all or nothing, and what a process that was killed has left."""

import os

import pytest

from firal.data import writing
from firal.data.writing import remove_parts, replace_file, replacing

needs_locks = pytest.mark.skipif(writing.flock is None, reason="needs locks of POSIX")


def test_a_file_is_replaced_in_the_end(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old" and len(os.listdir(tmp_path)) == 2
    assert path.read_bytes() == b"new" and os.listdir(tmp_path) == ["x.csv"]


def test_after_an_error_all_is_as_it_was(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="no space"), replacing(path) as file:
        file.write(b"half of")
        raise OSError("no space")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["x.csv"]


def test_what_killed_processes_have_left_is_removed(tmp_path):
    path = tmp_path / "x[1].csv"
    left = [tmp_path / f"{path.name}.{token}.part" for token in ("0123abcd", "ffffffff")]
    others = ["x1.csv.0123abcd.part", "x[1].csv.part", "x[1].csv.mine.part", "x[1].csv.0123abcd"]
    for name in [*others, *(part.name for part in left)]:
        (tmp_path / name).write_bytes(b"half of")
    replace_file(path, b"new")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, path.name])


@needs_locks
def test_a_part_that_is_written_to_stays(tmp_path):
    path = tmp_path / "x.csv"
    with replacing(path) as file:
        file.write(b"slow")
        replace_file(path, b"quick")
        assert path.read_bytes() == b"quick"
    assert path.read_bytes() == b"slow" and os.listdir(tmp_path) == ["x.csv"]


@needs_locks
def test_a_part_that_was_removed_before_its_lock_is_made_anew(tmp_path, monkeypatch):
    path, lock, calls = tmp_path / "x.csv", writing._lock, []

    def late(file):
        calls.append(file.name)
        if len(calls) == 1:
            remove_parts(path)  # by another process; it locks the part, as it has no writer
        else:
            lock(file)

    monkeypatch.setattr(writing, "_lock", late)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new" and len(calls) == 3 and calls[0] == calls[1] != calls[2]


@needs_locks
def test_links_and_pipes_are_neither_followed_nor_removed(tmp_path, monkeypatch):
    """A folder that somebody sent may hold a link with the name of a part."""
    precious, path = tmp_path / "precious", tmp_path / "x.csv"
    precious.write_bytes(b"precious")
    os.symlink(precious, tmp_path / "x.csv.00000000.part")
    os.mkfifo(tmp_path / "x.csv.00000001.part")
    tokens = iter(["00000000", "00000001", "00000002"])
    monkeypatch.setattr(writing.secrets, "token_hex", lambda size: next(tokens))
    for _ in range(2):
        with pytest.raises(FileExistsError):
            replace_file(path, b"new")
    replace_file(path, b"new")
    assert path.read_bytes() == b"new" and precious.read_bytes() == b"precious"
    assert len(os.listdir(tmp_path)) == 4


def test_disks_without_locks(tmp_path, monkeypatch):
    def no_locks(file):
        raise OSError("no locks available")

    monkeypatch.setattr(writing, "_lock", no_locks)
    (tmp_path / "x.csv.0123abcd.part").write_bytes(b"of whom?")
    replace_file(tmp_path / "x.csv", b"new")
    assert sorted(os.listdir(tmp_path)) == ["x.csv", "x.csv.0123abcd.part"]


def test_systems_without_locks(tmp_path, monkeypatch):
    """As on Windows, which removes no file that is open."""
    monkeypatch.setattr(writing, "flock", None)
    (tmp_path / "x.csv.0123abcd.part").write_bytes(b"half of")
    replace_file(tmp_path / "x.csv", b"new")
    assert os.listdir(tmp_path) == ["x.csv"] and (tmp_path / "x.csv").read_bytes() == b"new"


def test_a_link_is_followed_and_its_mode_is_that_of_new_files(tmp_path):
    (tmp_path / "y.csv").write_bytes(b"old")
    (tmp_path / "x.csv").symlink_to("y.csv")
    replace_file(tmp_path / "x.csv", b"new")
    assert (tmp_path / "x.csv").is_symlink() and (tmp_path / "y.csv").read_bytes() == b"new"
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "y.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode
