"""CPU times of notebooks: noted by every run, taken into the table by hand."""

import subprocess
import sys

import notebook_times
import pytest
from conftest import ROOT

BUSY = "t = __import__('time'); [None for _ in iter(lambda: t.process_time() < 0.3, False)]"


def test_the_time_of_a_child_is_noted_unless_it_failed(tmp_path):
    with notebook_times.timed("t01", "smoke", tmp_path):
        subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert float((tmp_path / "smoke" / "t01").read_text()) >= 0.3
    with pytest.raises(RuntimeError), notebook_times.timed("t02", "smoke", tmp_path):
        raise RuntimeError
    assert not (tmp_path / "smoke" / "t02").exists()


def test_notes_replace_numbers_and_the_rest_stays(tmp_path):
    for name in ("t01", "t02", "t03"):
        (tmp_path / f"{name}.ipynb").touch()
    table = tmp_path / "times.csv"
    table.write_text("notebook,smoke,book\nt01,5.0,50.0\nt02,6.0,\ngone,1.0,1.0\n")
    for profile, name, seconds in (
        ("smoke", "t01", 7.5),
        ("book", "t02", 8.5),
        ("paper", "t03", 9),
    ):
        (tmp_path / profile).mkdir()
        (tmp_path / profile / name).write_text(f"{seconds}\n")
    notebook_times.merge(tmp_path, table, tmp_path)
    assert table.read_text() == "notebook,smoke,book\nt01,7.5,50.0\nt02,6.0,8.5\nt03,,\n"


def test_no_row_without_a_notebook():
    lines = notebook_times.TABLE.read_text(encoding="utf8").splitlines()[1:]
    names = [line.partition(",")[0] for line in lines]
    assert names and set(names) <= set(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
