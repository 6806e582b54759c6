"""Commands that die at any moment lose nothing, leave no half of a file, and finish when run again.

``FIRAL_FAULTS`` is the number of faults of each kind, by default few; ``make nightly`` has more.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

TRIALS = int(os.environ.get("FIRAL_FAULTS", "0"))  # 0 is few
SCENARIOS = ["next", "label", "answers", "init", "select", "report"]
SCENARIOS += ["prepare", "records", "tables", "compare"]
QUICK = ["label", "init", "records", "tables"]
ON_DISK = ["label", "records"]


def nightly_but(quick):
    """All scenarios; only these are run by ``make test``."""
    others = [name for name in [*SCENARIOS, "notebooks"] if name not in quick]
    return [*quick, *(pytest.param(name, marks=pytest.mark.nightly) for name in others)]


pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def harness(name, fault, trials, folder, seed=1, before=()):
    command = [sys.executable, Path(__file__).parent / "harness.py", name, fault, trials, seed]
    done = subprocess.run(
        [*before, *map(str, command), str(folder / "faults")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1].split("> ")[-1])


@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_before_any_change_of_the_disk(name, tmp_path):
    """All of them in ``make nightly``, else the first ones."""
    few = 18 if name == "init" else 9 if name in QUICK else 3  # of init, all
    trials = 400 if TRIALS else few
    found = harness(name, "each step", trials, tmp_path)
    assert found["hits"] >= 3 and found["wrong"] == []


@pytest.mark.parametrize("name", nightly_but(QUICK))
def test_random_moments(name, tmp_path):
    found = harness(name, "kill,interrupt,large file", TRIALS or 6, tmp_path)
    assert found["hits"] >= 2 and found["wrong"] == []


def private_mounts():
    """The command in front of which a process may mount disks that nobody else sees, or None."""
    for command in (["unshare", "-m"], ["unshare", "-r", "-m"]):
        try:
            probe = [*command, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
            if subprocess.run(probe, capture_output=True).returncode == 0:
                return command
        except FileNotFoundError:
            return None
    return None


@pytest.mark.parametrize("name", nightly_but(ON_DISK))
def test_a_full_disk(name, tmp_path):
    """No space left on the device, at a random byte; then there is room again."""
    before = private_mounts()
    if before is None:
        pytest.skip("no right to mount a disk")
    found = harness(name, "full disk", TRIALS or 6, tmp_path, before=before)
    assert found["hits"] >= 2 and found["wrong"] == []


BREAK = """
import io
import sys
from contextlib import contextmanager
sys.argv[0] = {harness!r}
sys.path.insert(0, {folder!r})
import harness
from firal.companion import records


@contextmanager
def in_place(path):  # a file that is written where it is read, in two pieces
    out = io.BytesIO()
    yield out
    content = out.getvalue()
    open(path, "wb").write(content[:200])
    open(path, "ab").write(content[200:])


records.replacing = in_place
harness.main("records", "each step", 5, 1, {place!r})
"""


LEAVE = """
import sys
sys.argv[0] = {harness!r}
sys.path.insert(0, {folder!r})
import harness
from firal.data import writing

writing.remove_parts = lambda path: None
harness.main("records", "each step", 5, 1, {place!r})
"""


@pytest.mark.parametrize(("code", "message"), [(BREAK, "after code -9"), (LEAVE, "is left")])
def test_what_is_wrong_is_noticed(code, message, tmp_path):
    """The harness sees half a file where it is written in place, and parts that nobody removes."""
    folder = str(Path(__file__).parent)
    code = code.format(harness="harness.py", folder=folder, place=str(tmp_path / "faults"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    wrong = json.loads(done.stdout.splitlines()[-1])["wrong"]
    assert wrong and message in wrong[-1], done.stderr[-2000:]


HALF_A_BUILD = """#!/bin/sh
cat _build/html/*.html
mkdir -p _build/html
printf 'half of' > _build/html/index.html
if test -e killed; then printf ' a page' >> _build/html/index.html; exit 0; fi
touch killed
kill -9 $PPID $$
"""


def test_pages_of_a_build_that_was_killed_are_written_again(tmp_path):
    """Sphinx compares times only: half a page is newer than its source."""
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text(encoding="utf8"))
    for name in ("requirements.txt", "book/requirements-data.txt", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    builder = tmp_path / ".venv" / "bin" / "jupyter-book"
    builder.write_text(HALF_A_BUILD)
    builder.chmod(0o755)
    (tmp_path / ".venv" / ".installed").write_text("")
    pages = tmp_path / "_build" / "html" / "index.html"

    def build():
        return subprocess.run(["make", "html"], cwd=tmp_path, capture_output=True, text=True)

    assert build().returncode != 0 and pages.read_text() == "half of"
    again = build()
    assert again.returncode == 0 and "half of" not in again.stdout, again.stderr
    assert pages.read_text() == "half of a page"
    assert "half of a page" in build().stdout  # what is finished stays
