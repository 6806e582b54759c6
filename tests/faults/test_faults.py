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

TRIALS = int(os.environ.get("FIRAL_FAULTS", "0"))
SCENARIOS = ["next", "label", "init", "select", "prepare", "records", "tables", "compare"]
QUICK = ["label", "init", "records", "tables"]
SLOW = pytest.mark.skipif(not TRIALS, reason="make nightly")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def harness(name, fault, trials, folder, seed=1):
    command = [sys.executable, Path(__file__).parent / "harness.py", name, fault, trials, seed]
    done = subprocess.run(
        [*map(str, command), str(folder / "faults")],
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
    trials = 400 if TRIALS else 9 if name in QUICK else 3
    found = harness(name, "each step", trials, tmp_path)
    assert found["hits"] >= 3 and found["wrong"] == []


@pytest.mark.parametrize(
    "name",
    [*QUICK, *(pytest.param(n, marks=SLOW) for n in [*SCENARIOS, "notebooks"] if n not in QUICK)],
)
def test_random_moments(name, tmp_path):
    found = harness(name, "kill,interrupt,full disk", TRIALS or 6, tmp_path)
    assert found["hits"] >= 2 and found["wrong"] == []


BREAK = """
import sys
sys.argv[0] = {harness!r}
sys.path.insert(0, {folder!r})
import harness
from firal.companion import records


def in_place(part, path):  # a file that is written where it is read, in two pieces
    content = open(part, "rb").read()
    open(path, "wb").write(content[:200])
    open(path, "ab").write(content[200:])


records.os = type("os", (), {{"replace": staticmethod(in_place)}})
harness.main("records", "each step", 5, 1, {place!r})
"""


def test_a_file_that_is_written_in_place_is_noticed(tmp_path):
    """The harness sees half a file when there is one."""
    folder = str(Path(__file__).parent)
    code = BREAK.format(harness="harness.py", folder=folder, place=str(tmp_path / "faults"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert json.loads(done.stdout.splitlines()[-1])["wrong"], done.stderr[-2000:]
