"""Other systems, as far as they can be imitated: names of files, encodings, what Windows lacks."""

import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

from firal import cli

DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
POSIX_ONLY = "fcntl termios tty pwd grp resource syslog".split()


def tracked():
    run = subprocess.run(["git", "ls-files", "-s"], capture_output=True, text=True, cwd=ROOT)
    return [line.split(None, 3) for line in run.stdout.splitlines()]


def test_names_of_files_suit_every_system():
    """No sign that Windows forbids, no two names that differ in case only, no link."""
    files = tracked()
    assert len(files) > 400
    names = [name for *_, name in files]
    assert not [name for name in names if re.search(r'[<>:"|?*\\]|[ .](/|$)', name)]
    assert not [name for name in names if DEVICES.match(name.rpartition("/")[2].lower())]
    assert len({name.lower() for name in names}) == len(names) and max(map(len, names)) < 100
    assert all(mode != "120000" for mode, *_ in files)


@pytest.mark.parametrize("module", ["None", "types.ModuleType(name)"])
def test_the_module_works_without_those_of_posix(module, tmp_path):
    """Windows has none of them, nor ``os.fork``; Jupyter in a browser has empty ones."""
    code = f"""
import os, pkgutil, sys, types
from pathlib import Path
import numpy as np, joblib, pandas, matplotlib, IPython, yaml
for name in {POSIX_ONLY!r}:
    sys.modules[name] = {module}
for name in ("sysconf", "fork", "register_at_fork", "geteuid", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
import firal
for found in pkgutil.walk_packages(firal.__path__, "firal."):
    if not found.name.endswith((".__main__", ".skactiveml")):
        __import__(found.name)
X = np.random.default_rng(0).normal(size=(40, 3))
assert len(firal.next_batch(X, {{}}, 4).rows) == 4
from firal.session.journal import Journal
Journal(Path("journal")).append({{"event": "skip"}})
assert len(Journal(Path("journal")).read()) == 1
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert run.returncode == 0, run.stderr


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Runs a command whose output a shell of Windows redirects: other letters, other line ends."""
    monkeypatch.chdir(tmp_path)

    def run(line):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", newline="\r\n")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            assert cli.main(line.split()) == 0
        stream.flush()
        return stream.buffer.getvalue()

    return run


def points(path):
    """Twelve points with names that cp1252 does not have."""
    values = np.random.default_rng(0).normal(size=(12, 2)).round(3).tolist()
    lines = [f"猫{row},{x},{y}" for row, (x, y) in enumerate(values)]
    path.write_bytes("\n".join(["name,width,height", *lines, ""]).encode())


def test_what_is_redirected_can_be_read_again(shell, tmp_path):
    points(tmp_path / "points.csv")
    picked = shell("select points.csv --id-column name --budget 4")
    header, *lines = picked.decode().splitlines()
    answers = [f"{line},{'ab'[k % 2]}" for k, line in enumerate(lines)]
    text = "\n".join([f"{header},label", *answers, ""])
    assert "猫" in text and b"\r" not in picked
    (tmp_path / "labeled.csv").write_bytes(text.encode())
    shell("select points.csv --id-column name --labeled labeled.csv --budget 2")


def test_a_session_speaks_utf8(shell, tmp_path):
    points(tmp_path / "points.csv")
    shell("init points.csv --id-column name --hold-out 0")
    assert shell("next 4") == (tmp_path / "firal-session/round-01.csv").read_bytes()
    lines = ["row,label", *(f"{row},狗{row % 2}" for row in range(6))]
    (tmp_path / "answers.csv").write_bytes("\r\n".join(lines).encode())
    shell("label answers.csv")
    assert "狗0" in shell("status").decode()
    assert shell("export -").decode().count("狗") == 6


def test_a_session_on_another_drive_than_its_table(shell, tmp_path, monkeypatch):
    def other_drive(path, start):
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    points(tmp_path / "points.csv")
    monkeypatch.setattr(os.path, "relpath", other_drive)
    shell("init points.csv --id-column name --hold-out 0")
    settings = json.loads((tmp_path / "firal-session/settings.json").read_text("utf8"))
    assert settings["features"] == (tmp_path / "points.csv").as_posix()
    assert shell("next 3").count(b"\n") == 4
