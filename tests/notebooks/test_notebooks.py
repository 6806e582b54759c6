"""The committed notebooks: executed, in order, current, clean, by the common anatomy."""

import json
import re

import numpy as np
import pytest
from conftest import ROOT
from freshness import is_current
from needs import missing_data, missing_record, stored_profile

from firal.companion import profiles

PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MACHINE_PATH = re.compile(r"/(?:home|root|Users|work|tmp|usr|opt|var)/\w|[A-Z]:\\\\|site-packages")


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return json.loads(path.read_text(encoding="utf8"))


def code_cells(notebook):
    return [
        c for c in notebook["cells"] if c["cell_type"] == "code" and "".join(c["source"]).strip()
    ]


def test_there_are_notebooks():
    assert PATHS


def test_records_are_small_declared_and_described():
    folder = ROOT / "notebooks" / "data"
    files = {
        path.name.replace(".partial.npz", ".npz"): path
        for path in folder.iterdir()
        if path.name != "README.md"
    }
    inputs = {name for names in profiles.INPUTS.values() for name in names}
    declared = {n.split("/")[-1] for n in inputs if n.startswith("notebooks/data/")}
    described = re.findall(r"^\| `(.+?)` \|", (folder / "README.md").read_text(), re.M)
    assert set(files) == declared == set(described)
    for path in files.values():
        assert path.stat().st_size < 1e6
        if path.suffix == ".json":
            assert json.loads(path.read_text())["why"]
            continue
        if path.suffix == ".csv":
            assert len({line.count(",") for line in path.read_text().splitlines()}) == 1
            continue
        with np.load(path, allow_pickle=False) as file:
            assert {file[key].dtype.kind for key in file.files} <= set("iufU")


def test_outputs_are_current(path):
    current = is_current(path, stored_profile(path))
    reason = missing_data(path) or missing_record(path)
    if not current and reason:
        pytest.skip(f"not current, and {reason}")
    assert current, "something it depends on changed: run make book (or make restamp)"


def test_executed_in_order_without_errors(notebook):
    cells = code_cells(notebook)
    assert [c["execution_count"] for c in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        for output in cell["outputs"]:
            assert output["output_type"] != "error"
            assert output.get("name") != "stderr", "".join(output.get("text", ""))


def test_no_path_of_a_machine(notebook):
    for cell in notebook["cells"]:
        text = "".join(cell["source"]) + json.dumps(
            [
                {k: v for k, v in output.get("data", output).items() if not k.startswith("image/")}
                for output in cell.get("outputs", [])
            ]
        )
        assert not MACHINE_PATH.search(text), MACHINE_PATH.search(text)


def test_metadata_is_clean(notebook):
    assert set(notebook["metadata"]) == {"kernelspec", "language_info", "firal"}
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert "version" not in notebook["metadata"]["language_info"]
    for cell in notebook["cells"]:
        assert set(cell["metadata"]) <= {"tags", "mystnb"}, cell["metadata"]


def test_one_parameters_cell_comes_first_and_names_the_profile(path, notebook):
    cells = code_cells(notebook)
    tagged = [c for c in cells if "parameters" in c["metadata"].get("tags", [])]
    assert tagged == cells[:1]
    lines = [line for line in "".join(tagged[0]["source"]).splitlines() if not line.startswith("#")]
    assert lines[0] == f'PROFILE = "{stored_profile(path)}"'
    assert all(re.match(r"[A-Z_0-9]+ = None", line) for line in lines[1:] if line.strip())
    assert "profiles.load(" in "".join(cells[1]["source"])


def test_claims_are_checked_by_nbval(path, notebook):
    if path.stem.startswith("u"):
        return  # notebooks on using the module claim nothing about the paper
    headings = re.findall(
        r"^## (.+)$", "\n".join("".join(c["source"]) for c in notebook["cells"]), re.M
    )
    checking = [c for c in code_cells(notebook) if "claims.check(" in "".join(c["source"])]
    assert checking and "Claims" in headings
    for cell in checking:
        assert "nbval-check-output" in cell["metadata"].get("tags", [])


def test_figures_have_alternative_text(notebook):
    for cell in code_cells(notebook):
        if any("image/png" in output.get("data", {}) for output in cell["outputs"]):
            alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 20, "".join(cell["source"])[:80]


def too_long(text):
    return [line for line in text.splitlines() if len(line) > 88]


def test_lines_of_code_have_at_most_88_characters(notebook):
    assert too_long("x" * 89) and not too_long("x" * 88 + "\n" + "y" * 88)
    sources = [("".join(c["source"]), c["cell_type"]) for c in notebook["cells"]]
    code = [text for text, kind in sources if kind == "code"]
    code += [part for text, kind in sources if kind == "markdown" for part in fenced(text)]
    assert not [line for text in code for line in too_long(text)]


def fenced(text):
    """The Python code in a text: solutions of exercises."""
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize("page", sorted((ROOT / "book").glob("*.md")), ids=lambda p: p.stem)
def test_lines_of_code_of_a_chapter_have_at_most_88_characters(page):
    assert [line for part in fenced(page.read_text("utf8")) for line in too_long(part)] == []


def test_a_notebook_is_no_heavier_than_two_megabytes(path):
    assert path.stat().st_size < 2e6


def test_exercises_have_folded_solutions(notebook):
    prose = "\n".join(
        "".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown"
    )
    assert prose.count("<details>") == prose.count("</details>") >= 2
