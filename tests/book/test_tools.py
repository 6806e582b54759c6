"""The notebook tools: what runs, in which order, what is kept, what changed."""

import json
import subprocess
import sys

import nbformat
import needs
import pytest
import reproduce
import run_notebooks
import small_tree
from conftest import ROOT
from needs import missing_data, missing_record, short, stored_profile, why_not_checked
from reproduce import compare
from run_notebooks import able_to_run, check_parameters, choose, clean, execute, run_all, to_refresh
from small_tree import add, write_notebook

from firal.companion import profiles, stored
from firal.companion.claims import Check
from firal.data.files import sha256
from firal.data.prepared import data_folder

TOOL = ROOT / "book" / "_tools" / "run_notebooks.py"


@pytest.fixture
def tree(tmp_path, monkeypatch):
    small_tree.without_real_tables(monkeypatch)
    return small_tree.make(tmp_path)


@pytest.fixture
def needy(tree, monkeypatch):
    """Three notebooks: t02 needs a prepared file, t03 another one. No data yet."""
    monkeypatch.setattr(profiles, "DATA", {"t02": "mnist60k", "t03": "imagenet50"})
    monkeypatch.setattr(profiles, "STORED", {"t03": "paper"})
    monkeypatch.setenv("FIRAL_DATA", str(tree / "data"))
    for name, profile in (("t01_x", "book"), ("t02_y", "book"), ("t03_z", "paper")):
        add(tree, name, "2", profile=profile)
    return tree


def prepared(tree, *names):
    (tree / "data").mkdir()
    for name in names:
        (tree / "data" / f"{name}.npz").write_bytes(b"")


def test_what_a_notebook_needs(needy):
    assert (stored_profile("t02_y"), stored_profile("t03_z")) == ("book", "paper")
    assert missing_data("t01_x") is None
    assert missing_data("t02_y") == "mnist60k.npz is absent (make data NAME=mnist60k)"
    assert why_not_checked("t01_x") is None
    assert why_not_checked("t02_y").startswith("t02 is not executed: mnist60k.npz is absent")
    prepared(needy, "mnist60k", "imagenet50")
    assert missing_data("t02_y") is missing_data("t03_z") is None
    assert why_not_checked("t02_y") is why_not_checked("t03_z") is None


def test_a_record_that_is_absent_or_incomplete_keeps_the_outputs(needy, monkeypatch, capsys):
    """``.partial.npz`` does not count; other profiles than the stored one need no record."""
    prepared(needy, "mnist60k", "imagenet50")
    record = "notebooks/data/t03.npz"
    monkeypatch.setattr(profiles, "INPUTS", {"t03": (record,), "t01": ("benchmarks/x.csv",)})
    monkeypatch.setattr(needs, "ROOT", needy)
    (needy / "notebooks" / "data").mkdir()
    (needy / "notebooks" / "data" / "t03.partial.npz").write_bytes(b"")
    notebook = needy / "notebooks" / "t03_z.ipynb"
    assert missing_record("t01_x") is None
    assert missing_record("t03_z").startswith(f"{record} is absent or incomplete")
    assert why_not_checked("t03_z").startswith(f"t03 is not executed: {record} is absent")
    assert able_to_run([notebook]) == []
    assert able_to_run([notebook], "paper") == []
    assert able_to_run([notebook], "smoke") == [notebook]
    assert to_refresh([notebook], force=True) == []
    assert "keeps its stored outputs" in capsys.readouterr().out
    (needy / record).write_bytes(b"")
    assert missing_record("t03_z") is None
    assert to_refresh([notebook], force=True) == [notebook]


def test_a_kernel_that_found_its_port_taken_is_started_again(monkeypatch):
    calls = []

    def fail(*_, **__):
        calls.append(1)
        if len(calls) < 3:
            raise RuntimeError("Kernel died before replying to kernel_info")
        return "executed"

    monkeypatch.setattr(run_notebooks.papermill, "execute_notebook", fail)
    assert run_notebooks.with_a_kernel(ROOT / "x.ipynb", {}) == "executed" and len(calls) == 3
    calls.clear()
    with pytest.raises(RuntimeError, match="kernel_info"):
        run_notebooks.with_a_kernel(ROOT / "x.ipynb", {}, tries=2)


def test_other_failures_of_a_kernel_are_not_tried_again(monkeypatch):
    calls = []

    def fail(*_, **__):
        calls.append(1)
        raise RuntimeError("something else")

    monkeypatch.setattr(run_notebooks.papermill, "execute_notebook", fail)
    with pytest.raises(RuntimeError, match="something else"):
        run_notebooks.with_a_kernel(ROOT / "x.ipynb", {})
    assert len(calls) == 1


def test_a_notebook_is_checked_on_the_data_of_its_outputs_only(needy):
    path = needy / "notebooks" / "t02_y.ipynb"
    prepared(needy, "mnist60k")
    own = sha256(data_folder() / "mnist60k.npz")
    for digest, checked in ((own, True), ("0" * 64, False)):
        table = {"name": "accuracy", "labels": [], "rows": [], "facts": {"data": digest}}
        small_tree.outputs(path, {"output_type": "execute_result", "data": {stored.MIME: table}})
        assert (why_not_checked(path) is None) == checked
    assert why_not_checked(path) == (
        "t02 is not executed: its stored outputs come from another mnist60k.npz, "
        "SHA-256 0000000000000000.."
    )


def refreshed(capsys, *patterns, force=True, folder):
    """Names that would be executed in place, and the lines about the others."""
    chosen = to_refresh(choose(list(patterns), folder), force=force)
    return [n.stem for n in chosen], capsys.readouterr().out.splitlines()


def test_in_place_only_what_can_run_here_is_executed(needy, capsys):
    folder = needy / "notebooks"
    absent = "  t02_y: not current, keeps its stored outputs: mnist60k.npz is absent (make data"
    names, lines = refreshed(capsys, folder=folder)
    assert names == ["t01_x"]
    assert len(lines) == 2 and lines[0].startswith(absent) and "imagenet50.npz" in lines[1]
    prepared(needy, "mnist60k")
    assert refreshed(capsys, "t01", "t02", folder=folder) == (["t01_x", "t02_y"], [])


def test_in_place_the_readers_of_what_is_executed_follow(needy, capsys, monkeypatch):
    """t02 and t03 read t01, which is stale; t03 lacks its data."""
    monkeypatch.setattr(profiles, "INPUTS", {"t02": ("t01",), "t03": ("t01",)})
    monkeypatch.setattr("run_notebooks.is_current", lambda path, _: path.stem != "t01_x")
    prepared(needy, "mnist60k")
    folder = needy / "notebooks"
    assert refreshed(capsys, force=False, folder=folder) == (["t01_x", "t02_y"], [])
    monkeypatch.setattr(profiles, "INPUTS", {})
    assert refreshed(capsys, force=False, folder=folder) == (["t01_x"], [])


def test_in_place_what_is_current_is_not_mentioned(needy, capsys, monkeypatch):
    monkeypatch.setattr("run_notebooks.is_current", lambda path, profile: True)
    assert refreshed(capsys, force=False, folder=needy / "notebooks") == ([], [])


def test_elsewhere_what_lacks_data_is_left_out_with_the_reason(needy, capsys):
    prepared(needy, "imagenet50")
    notebooks = choose([], needy / "notebooks")
    assert [n.stem for n in able_to_run(notebooks)] == ["t01_x", "t03_z"]
    assert capsys.readouterr().out == (
        "  t02_y: left out, mnist60k.npz is absent (make data NAME=mnist60k)\n"
    )


def test_inputs_are_executed_first(tree, monkeypatch):
    """The reader comes first by its name, and shows what the other one wrote."""
    monkeypatch.setattr(profiles, "INPUTS", {"a01": ("b01",)})
    note = str(tree / "note.txt")
    write = f"import time; time.sleep(1); open({note!r}, 'w').write('1')"
    write = write_notebook(tree / "notebooks" / "b01_w.ipynb", write)
    read = write_notebook(tree / "notebooks" / "a01_r.ipynb", f"open({note!r}).read()")
    assert run_all([read, write], profile="smoke", out=tree / "out") == {}


def test_the_readers_of_a_failed_notebook_are_not_executed(tree, monkeypatch):
    monkeypatch.setattr(profiles, "INPUTS", {"t02": ("t01",), "t03": ("t02",)})
    sources = {"t01_x": "1 / 0", "t02_y": "1", "t03_z": "1", "t04_u": "1"}
    paths = [write_notebook(tree / "notebooks" / f"{n}.ipynb", s) for n, s in sources.items()]
    failed = run_all(paths, profile="smoke", out=tree / "out")
    assert failed == {
        "t01_x": "cell 3: ZeroDivisionError: division by zero",
        "t02_y": "it reads t01_x, which failed",
        "t03_z": "it reads t02_y, which failed",
    }
    assert [path.name for path in (tree / "out").iterdir()] == ["t04_u.ipynb"]


def test_a_cycle_stops_before_anything_runs(tree, monkeypatch):
    monkeypatch.setattr(profiles, "INPUTS", {"t01": ("t02",), "t02": ("t01",)})
    paths = [write_notebook(tree / f"{name}.ipynb", "1") for name in ("t01_x", "t02_y")]
    with pytest.raises(ValueError, match="must not be cyclic"):
        run_all(paths, profile="smoke", out=tree / "out")
    assert not (tree / "out").exists()


def test_the_stored_profile_is_run_without_an_injected_cell(needy):
    source = needy / "notebooks" / "t03_z.ipynb"
    for profile, n_cells in ((None, 2), ("book", 3)):
        out = needy / f"out-{profile}"
        execute(source, out / source.name, profile, {})
        notebook = json.loads((out / "t03_z.ipynb").read_text())
        assert len(notebook["cells"]) == n_cells
        assert ("firal" in notebook["metadata"]) == (profile is None)
    assert notebook["cells"][1]["source"] == ["# Parameters\n", 'PROFILE = "book"\n']


def test_nbval_skips_with_the_reason_in_the_summary(tmp_path, monkeypatch):
    """Here with the real tables and no data, so that the hook in conftest.py is seen at work."""
    monkeypatch.setenv("FIRAL_DATA", str(tmp_path))
    paths = [path for path in choose([]) if short(path) in profiles.DATA]
    assert paths
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "--nbval-lax"]
        + ["-m", "nightly or not nightly", "tests/companion/test_profiles.py", *map(str, paths)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert run.returncode == 0, run.stdout
    skips = [line for line in run.stdout.splitlines() if line.startswith("SKIPPED")]
    assert len(skips) == len(paths), run.stdout
    for path, line in zip(paths, skips, strict=True):
        assert line.endswith(why_not_checked(path))


def test_a_failed_notebook_is_named_and_the_others_are_kept(tmp_path):
    good = write_notebook(tmp_path / "t01_good.ipynb", "print(PROFILE)")
    bad = write_notebook(tmp_path / "t02_bad.ipynb", "1 / 0")
    stored = bad.read_bytes()
    out = tmp_path / "out"
    failed = run_all([good, bad], profile="smoke", out=out)
    assert failed == {"t02_bad": "cell 3: ZeroDivisionError: division by zero"}
    assert bad.read_bytes() == stored
    assert not (out / "t02_bad.ipynb").exists()
    outputs = [c.get("outputs") for c in json.loads((out / "t01_good.ipynb").read_text())["cells"]]
    assert outputs[-1][0]["text"] == ["smoke\n"]


def test_two_runs_are_byte_identical(tmp_path):
    notebook = write_notebook(
        tmp_path / "t03.ipynb",
        "import numpy; numpy.random.default_rng(0).normal()",
    )
    for out in ("a", "b"):
        assert run_all([notebook], profile="smoke", out=tmp_path / out, jobs=1) == {}
    assert (tmp_path / "a" / "t03.ipynb").read_bytes() == (
        tmp_path / "b" / "t03.ipynb"
    ).read_bytes()


def test_clean_drops_what_changes_from_run_to_run():
    cell = nbformat.v4.new_code_cell("1", id="c")
    cell.metadata.update(
        tags=[], papermill={"duration": 1.0}, execution={"iopub.status.busy": "now"}
    )
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"papermill": {}})
    notebook.metadata["language_info"] = {"name": "python", "version": "3.11.7"}
    clean(notebook)
    assert notebook.cells[0].metadata == {}
    assert notebook.metadata == {"language_info": {"name": "python"}}


def test_clean_joins_what_was_printed_in_pieces():
    pieces = [("stdout", "a"), ("stdout", "b"), ("stderr", "c"), ("stdout", "d")]
    outputs = [nbformat.v4.new_output("stream", name=name, text=text) for name, text in pieces]
    cell = nbformat.v4.new_code_cell("1", id="c", outputs=outputs)
    clean(nbformat.v4.new_notebook(cells=[cell]))
    assert [o.text for o in cell.outputs] == ["ab", "c", "d"]


def test_choose_by_prefix(tmp_path):
    for name in ("t01_a", "t02_b", "e01_c"):
        write_notebook(tmp_path / f"{name}.ipynb", "1")
    assert [n.stem for n in choose(["t01", "e"], tmp_path)] == ["e01_c", "t01_a"]
    with pytest.raises(ValueError, match="no notebook starts with 'x'.*e01_c, t01_a, t02_b"):
        choose(["x"], tmp_path)


def test_unknown_parameters_are_refused_before_anything_runs(tmp_path):
    notebook = write_notebook(tmp_path / "t01_a.ipynb", parameters='PROFILE = "book"\nSEED = None')
    check_parameters([notebook], {"SEED": 1})
    with pytest.raises(ValueError, match="t01_a has no parameter SEEDS: it has PROFILE, SEED"):
        check_parameters([notebook], {"SEEDS": 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--profile", "huge", "--out", "x"],
            "unknown profile 'huge': expected one of smoke, book, paper",
        ),
        (["--nb", "nothing"], "no notebook starts with 'nothing'"),
        (["--profile", "paper"], "give --out"),
    ],
)
def test_the_command_line_refuses_clearly(arguments, message):
    run = subprocess.run(
        [sys.executable, str(TOOL), *arguments], capture_output=True, text=True, cwd=ROOT
    )
    assert run.returncode == 2
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def check(**changes):
    return Check("prop-1", "slope", 1.0, "<=", 2.0, False, True, True)._replace(**changes)


def test_reproduce_reports_numbers_and_verdicts():
    assert compare([check()], [check()]) == ([], False)
    lines, verdict = compare([check()], [check(measured=1.1)])
    assert lines == ["prop-1 | slope: measured 1 -> 1.1 (by +0.1, 10.00%)"]
    assert verdict is False
    lines, verdict = compare([check()], [check(measured=3.0, passed=False)])
    assert lines[0] == "prop-1 | slope: verdict holds -> fails"
    assert verdict is True
    assert compare([check()], [])[1] is True
    assert compare([], [check()])[1] is True


@pytest.mark.parametrize(("moved", "strict", "code"), [(0, 1, 0), (1, 0, 0), (1, 1, 1)])
def test_a_number_that_moved_is_reported(tmp_path, monkeypatch, moved, strict, code):
    """The weekly job is strict: it fails and leaves the text of an issue."""
    old = Check("prop-1", "gap", 1.0, "<", 2.0, False, True, True)
    new = {True: [old._replace(measured=1.5)], False: [old]}[bool(moved)]
    monkeypatch.setattr(reproduce, "OUT", tmp_path)
    monkeypatch.setattr(reproduce, "choose", lambda _: [ROOT / "t01_x.ipynb"])
    monkeypatch.setattr(reproduce, "able_to_run", lambda found: found)
    monkeypatch.setattr(reproduce, "run_all", lambda *_, **__: {})
    recorded = {tmp_path: new, ROOT: [old]}
    monkeypatch.setattr(reproduce.claims, "recorded", lambda path: recorded[path.parent])
    monkeypatch.setattr(sys, "argv", ["reproduce.py"] + ["--strict"] * strict)
    monkeypatch.setenv("FIRAL_CLAIMS", "")
    assert reproduce.main() == code
    report = (tmp_path / "report.md").read_text()
    assert ("measured 1 -> 1.5" in report) == bool(moved)
    assert "1 recorded checks compared" in report and "numpy" in report


def test_a_figure_that_is_shown_is_not_stored_twice():
    record, picture = "application/papermill.record/", {"image/png": "a", "image/svg+xml": "b"}
    glued = {
        "data": {record + mime: v for mime, v in picture.items()} | {record + "text/plain": ""}
    }
    glued = {**glued, "output_type": "display_data", "metadata": {"scrapbook": {"name": "fig-a"}}}
    shown = {"data": picture, "output_type": "display_data", "metadata": {}}
    outputs = [nbformat.from_dict(output) for output in (glued, shown)]
    run_notebooks.store_once(outputs)
    assert list(outputs[0].data) == [record + "text/plain"] and outputs[1].data == picture
    # two figures are shown: which one is meant nobody can tell
    outputs = [nbformat.from_dict(output) for output in (glued, shown, shown)]
    run_notebooks.store_once(outputs)
    assert len(outputs[0].data) == 3
