"""The notebook tools: what is current, what runs, what is kept, what changed."""

import json
import subprocess
import sys

import nbformat
import pytest
from conftest import ROOT
from currency import fingerprint, is_current, stamp
from needs import is_named, missing_data, short, stored_profile, why_not_checked
from reproduce import compare, without_the_long_ones
from run_notebooks import able_to_run, check_parameters, choose, clean, execute, run_all, to_refresh

from firal.companion import profiles
from firal.companion.claims import Record
from firal.data.datasets import data_folder
from firal.data.files import sha256

TOOL = ROOT / "book" / "_tools" / "run_notebooks.py"


def write_notebook(path, *sources):
    cells = [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    cells[0].metadata["tags"] = ["parameters"]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path


@pytest.fixture
def tree(tmp_path):
    """A repository in miniature."""
    for folder in ("firal", "book", "notebooks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "firal" / "a.py").write_text("x = 1\n")
    (tmp_path / "requirements.txt").write_text("numpy==1\n")
    (tmp_path / "book" / "claims.yml").write_text(
        "- {id: prop-1, notebook: t01_x, expected: holds}\n"
        "- {id: prop-2, notebook: t02_y, expected: holds}\n"
    )
    path = write_notebook(tmp_path / "notebooks" / "t01_x.ipynb", 'PROFILE = "book"', "1 + 1")
    notebook = json.loads(path.read_text())
    stamp(notebook, "t01_x", "book", tmp_path)
    path.write_text(json.dumps(notebook))
    assert is_current(path, "book", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("firal/a.py", "x = 2\n"),
        ("firal/b.py", ""),
        ("firal/b.mplstyle", ""),
        ("requirements.txt", "numpy==2\n"),
        ("book/claims.yml", "- {id: prop-1, notebook: t01_x, expected: differs}\n"),
    ],
)
def test_a_change_makes_the_outputs_stale(tree, file, content):
    (tree / file).write_text(content)
    assert not is_current(tree / "notebooks" / "t01_x.ipynb", "book", tree)


def test_code_counts_prose_and_other_claims_do_not(tree):
    path = tree / "notebooks" / "t01_x.ipynb"
    notebook = json.loads(path.read_text())
    before = fingerprint(notebook, "t01_x", "book", tree)
    notebook["cells"].append({"cell_type": "markdown", "source": "prose", "metadata": {}})
    text = (tree / "book" / "claims.yml").read_text()
    (tree / "book" / "claims.yml").write_text(
        text.replace("t02_y, expected: holds", "t02_y, expected: differs")
    )
    assert fingerprint(notebook, "t01_x", "book", tree) == before
    notebook["cells"][1]["source"] = "1 + 2"
    assert fingerprint(notebook, "t01_x", "book", tree) != before


def test_of_the_sizes_only_its_own_at_its_profile_count(tree, monkeypatch):
    path = tree / "notebooks" / "t01_x.ipynb"
    monkeypatch.setattr(profiles, "SIZES", {"t01": {"n": (1, 2, 3)}, "t02": {"n": (1, 2, 3)}})
    stamped(path, "book", tree)
    (tree / "firal" / "profiles.py").write_text("")
    monkeypatch.setattr(profiles, "SIZES", {"t01": {"n": (7, 2, 7)}, "t02": {"n": (7, 7, 7)}})
    assert is_current(path, "book", tree)
    monkeypatch.setattr(profiles, "SIZES", {"t01": {"n": (1, 7, 3)}, "t02": {"n": (1, 2, 3)}})
    assert not is_current(path, "book", tree)


def test_tags_and_names_of_files_count_line_endings_do_not(tree):
    path = tree / "notebooks" / "t01_x.ipynb"
    module = tree / "firal" / "a.py"
    module.write_bytes(b"x = 1\r\n")
    assert is_current(path, "book", tree)
    module.rename(tree / "firal" / "b.py")
    assert not is_current(path, "book", tree)
    stamped(path, "book", tree)
    notebook = json.loads(path.read_text())
    notebook["cells"][1]["metadata"]["tags"] = ["hide-input"]
    path.write_text(json.dumps(notebook))
    assert not is_current(path, "book", tree)


def test_the_profile_counts(tree, monkeypatch):
    monkeypatch.setattr(profiles, "SIZES", {})  # not only by the sizes
    path = stamped(tree / "notebooks" / "t01_x.ipynb", "book", tree)
    assert is_current(path, "book", tree) and not is_current(path, "paper", tree)


def stamped(path, profile, root):
    notebook = json.loads(path.read_text())
    stamp(notebook, path.stem, profile, root)
    path.write_text(json.dumps(notebook))
    return path


@pytest.fixture
def needy(tree, monkeypatch):
    """Two notebooks more: t02 needs a prepared file, t03 another one and hours. No data yet."""
    monkeypatch.setattr(profiles, "DATA", {"t02": "mnist60k", "t03": "imagenet50"})
    monkeypatch.setattr(profiles, "STORED", {"t03": "paper"})
    monkeypatch.setattr(profiles, "CPU_HOURS", {"t03": 5})
    monkeypatch.setattr(profiles, "SIZES", {"t03": {"n": (1, 2, 3)}})
    monkeypatch.setenv("FIRAL_DATA", str(tree / "data"))
    for name, profile in (("t02_y", "book"), ("t03_z", "paper")):
        path = write_notebook(tree / "notebooks" / f"{name}.ipynb", f'PROFILE = "{profile}"', "2")
        stamped(path, profile, tree)
    return tree


def prepared(tree, *names):
    (tree / "data").mkdir()
    for name in names:
        (tree / "data" / f"{name}.npz").write_bytes(b"")


def test_a_notebook_that_took_hours_does_not_depend_on_the_module(needy):
    path = needy / "notebooks" / "t03_z.ipynb"
    (needy / "firal" / "a.py").write_text("x = 2\n")
    (needy / "requirements.txt").write_text("numpy==2\n")
    assert is_current(path, "paper", needy)
    assert not is_current(path, "book", needy)


def test_it_does_depend_on_its_code_its_claims_and_its_sizes(needy, monkeypatch):
    path = needy / "notebooks" / "t03_z.ipynb"
    notebook = json.loads(path.read_text())
    before = fingerprint(notebook, "t03_z", "paper", needy)
    text = (needy / "book" / "claims.yml").read_text()
    (needy / "book" / "claims.yml").write_text(
        text + "- {id: prop-3, notebook: t03_z, expected: differs}\n"
    )
    with_a_claim = fingerprint(notebook, "t03_z", "paper", needy)
    monkeypatch.setattr(profiles, "SIZES", {"t03": {"n": (1, 2, 4)}})
    with_a_size = fingerprint(notebook, "t03_z", "paper", needy)
    notebook["cells"][1]["source"] = "3"
    with_a_cell = fingerprint(notebook, "t03_z", "paper", needy)
    assert len({before, with_a_claim, with_a_size, with_a_cell}) == 4


def test_what_a_notebook_needs(needy):
    assert (stored_profile("t02_y"), stored_profile("t03_z")) == ("book", "paper")
    assert missing_data("t01_x") is None
    assert missing_data("t02_y") == "mnist60k.npz is absent (make data NAME=mnist60k)"
    assert why_not_checked("t01_x") is None
    assert why_not_checked("t02_y").startswith("t02 is not executed: mnist60k.npz is absent")
    prepared(needy, "mnist60k", "imagenet50")
    assert missing_data("t02_y") is missing_data("t03_z") is why_not_checked("t02_y") is None
    assert why_not_checked("t03_z") == (
        "t03 is not executed: stored from profile paper, about 5 CPU hours (make book NB=t03)"
    )
    assert is_named("t03_z", ["t03"]) and is_named("t03_z", ["t01", "t03_z"])
    assert not is_named("t03_z", ["t"]) and not is_named("t03_z", [])


def test_a_notebook_is_checked_on_the_data_of_its_outputs_only(needy):
    path = needy / "notebooks" / "t02_y.ipynb"
    prepared(needy, "mnist60k")
    own = sha256(data_folder() / "mnist60k.npz")[:16]
    for digest, checked in ((own, True), ("0" * 16, False)):
        output = {"output_type": "stream", "text": [f"SHA-256 of the file {digest}\n"]}
        cell = {"cell_type": "code", "source": [], "outputs": [output]}
        path.write_text(json.dumps({"cells": [cell]}), encoding="utf8")
        assert (why_not_checked(path) is None) == checked
    assert why_not_checked(path) == (
        "t02 is not executed: its stored outputs come from another mnist60k.npz, "
        "SHA-256 0000000000000000.."
    )


def refreshed(capsys, *patterns, force=True, folder):
    """Names that would be executed in place, and the lines about the others."""
    chosen = to_refresh(choose(list(patterns), folder), list(patterns), force=force)
    return [n.stem for n in chosen], capsys.readouterr().out.splitlines()


def test_in_place_only_what_can_run_here_is_executed(needy, capsys):
    folder = needy / "notebooks"
    absent = "  t02_y: not current, keeps its stored outputs: mnist60k.npz is absent (make data"
    hours = "  t03_z: not current, keeps its stored outputs: stored from profile paper, about 5"
    names, lines = refreshed(capsys, folder=folder)
    assert names == ["t01_x"]
    assert len(lines) == 2 and lines[0].startswith(absent) and lines[1].startswith(hours)
    names, lines = refreshed(capsys, "t03", folder=folder)
    assert names == [] and "imagenet50.npz is absent (make data NAME=imagenet50)" in lines[0]
    prepared(needy, "mnist60k", "imagenet50")
    names, lines = refreshed(capsys, "t", folder=folder)
    assert names == ["t01_x", "t02_y"] and len(lines) == 1 and lines[0].startswith(hours)
    assert refreshed(capsys, "t03", folder=folder) == (["t03_z"], [])


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
    assert [n.stem for n in without_the_long_ones(notebooks, ["t"])] == ["t01_x", "t02_y"]
    assert capsys.readouterr().out == (
        "  t03_z: left out, stored from profile paper, about 5 CPU hours (make book NB=t03)\n"
    )
    assert [n.stem for n in without_the_long_ones(notebooks, ["t03"])][-1] == "t03_z"


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
        + ["tests/test_profiles.py", *map(str, paths)],
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
    good = write_notebook(tmp_path / "t01_good.ipynb", 'PROFILE = "book"', "print(PROFILE)")
    bad = write_notebook(tmp_path / "t02_bad.ipynb", 'PROFILE = "book"', "1 / 0")
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
        'PROFILE = "smoke"',
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
    notebook = write_notebook(tmp_path / "t01_a.ipynb", 'PROFILE = "book"\nSEED = None')
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


def record(**changes):
    return Record("prop-1", "slope", 1.0, "<=", 2.0, False, True, True)._replace(**changes)


def test_reproduce_reports_numbers_and_verdicts():
    assert compare([record()], [record()]) == ([], False)
    lines, verdict = compare([record()], [record(measured=1.1)])
    assert lines == ["prop-1 | slope: measured 1 -> 1.1 (by +0.1, 10.00%)"]
    assert verdict is False
    lines, verdict = compare([record()], [record(measured=3.0, passed=False)])
    assert lines[0] == "prop-1 | slope: verdict holds -> fails"
    assert verdict is True
    assert compare([record()], [])[1] is True
    assert compare([], [record()])[1] is True
