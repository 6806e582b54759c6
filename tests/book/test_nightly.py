"""What waits for ``make nightly``: slow notebooks, and tests that are marked."""

from types import SimpleNamespace

import conftest
import nightly
import pytest
from conftest import ROOT


def test_notebooks_that_take_long(tmp_path):
    table = tmp_path / "times.csv"
    table.write_text("notebook,smoke,book\nt01_a,90,25.0\nt02_b,1,25.1\ne03_c,9,\n")
    assert nightly.slow_notebooks(table) == ["t02_b"]
    names = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert set(nightly.slow_notebooks()) < names


def item(name):
    markers = []
    path = ROOT / "notebooks" / name
    return SimpleNamespace(path=path, add_marker=markers.append, markers=markers)


def test_they_are_marked_and_the_others_are_not(monkeypatch):
    monkeypatch.setattr(nightly, "slow_notebooks", lambda: ["t01_a"])
    items = [item("t01_a.ipynb"), item("t02_b.ipynb")]
    conftest.pytest_collection_modifyitems(items)
    assert [pytest.mark.nightly in i.markers for i in items] == [True, False]


@pytest.mark.parametrize(("given", "used"), [("", "not nightly"), ("nightly", "nightly")])
def test_marked_tests_wait_unless_they_are_asked_for(given, used):
    config = SimpleNamespace(
        addinivalue_line=lambda *_: None, option=SimpleNamespace(markexpr=given)
    )
    conftest.pytest_configure(config)
    assert config.option.markexpr == used


def test_make_runs_all_of_them():
    """What ``make test`` leaves out is run by ``make nightly``."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    assert "-m nightly tests notebooks" in makefile
    assert '-m "nightly or not nightly" tests/test_fuzz.py tests/faults' in makefile
    assert "nightly: smoke " in makefile
