"""The notebook tools: what is current, what runs, what is kept, what changed."""

import json
import subprocess
import sys

import nbformat
import pytest
from conftest import ROOT
from currency import fingerprint, is_current, stamp
from reproduce import compare
from run_notebooks import check_parameters, choose, clean, run_all

from firal.claims import Record

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


def test_the_profile_counts(tree):
    assert not is_current(tree / "notebooks" / "t01_x.ipynb", "paper", tree)


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
