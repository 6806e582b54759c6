"""A notebook is stale when something it depends on changed, and only then."""

import ast
import json
import shutil

import pytest
import small_tree
from closure import Package, normalized, third_party
from conftest import ROOT
from freshness import (
    DISTRIBUTIONS,
    fingerprint,
    input_graph,
    is_current,
    pins,
    with_dependents,
)
from small_tree import add, edit, outputs, stamped

from firal.companion import profiles

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture
def tree(tmp_path, monkeypatch):
    small_tree.without_real_tables(monkeypatch)
    return small_tree.make(tmp_path)


@pytest.fixture
def path(tree):
    return add(tree, "t01_x", "import firal\nfiral.fit()")


def closure(tree, code):
    return Package(tree).closure([ast.parse(code)])


FITTING = {"firal.model", "firal.model.fitting", "firal.model.loss"}
OUTSIDE_COMPANION = {"firal", "firal.cli", "firal.loop", "firal.data", *FITTING}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import numpy", set()),
        ("import firal", set()),
        ("import firal\nfiral.fit()", FITTING),
        ("import firal as f\nf.cost()", {"firal.model", "firal.model.loss"}),
        ("from firal import fit", FITTING),
        ("from firal import loop", {"firal.loop", *FITTING}),
        ("from firal.model import loss", {"firal.model", "firal.model.loss"}),
        ("from firal.model.loss import loss", {"firal.model", "firal.model.loss"}),
        ("import firal.model.loss", {"firal.model", "firal.model.loss"}),
        ("import firal.model.loss as l", {"firal.model", "firal.model.loss"}),
        ("import firal\nfiral.model.loss.loss()", {"firal.model", "firal.model.loss"}),
        ("def f():\n    from firal import cli", {"firal.cli", "firal.loop", *FITTING}),
        ("import firal\nprint(firal.__version__)", {"firal"}),
        ("from firal.companion import plotting", {"firal.companion", "firal.companion.plotting"}),
        # what cannot be followed
        ("import firal\ngetattr(firal, 'f' + 'it')", OUTSIDE_COMPANION),
        ("import firal\nfiral.unheard_of()", OUTSIDE_COMPANION),
        ("from firal import *", OUTSIDE_COMPANION),
        ("from firal import unheard_of", OUTSIDE_COMPANION),
        ("from firal.unheard_of import x", OUTSIDE_COMPANION),
        # a name that only looks like the package
        ("def firal():\n    pass\n\n\nfiral()", set()),
    ],
)
def test_imports_are_followed(tree, code, found):
    assert closure(tree, code) == found


def test_relative_imports_of_a_package_are_its_own(tree):
    edit(tree / "firal" / "model" / "__init__.py", '"""A layer."""', "from . import fitting")
    assert closure(tree, "import firal.model") == FITTING
    edit(tree / "firal" / "model" / "loss.py", "def loss", "from .. import loop\n\n\ndef loss")
    assert closure(tree, "import firal.model.loss") == {"firal.loop", *FITTING}


def test_third_party_packages():
    code = "import os, sklearn.base\nfrom PIL import Image\nfind_spec('mlxtend')\nfrom . import x"
    assert third_party([ast.parse(code)]) == {"sklearn", "PIL", "mlxtend"}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("firal/model/loss.py", "return 1", "return 2"),
        ("firal/model/__init__.py", '"""A layer."""', "LAYER = 1"),
        ("firal/model/fitting.py", "np.abs", "np.fabs"),
        ("requirements.txt", "numpy==1", "numpy==2"),
        ("book/claims.yml", "t01_x, expected: holds", "t01_x, expected: differs"),
        ("notebooks/t01_x.ipynb", "firal.fit()", "firal.fit(1)"),
        ("notebooks/t01_x.ipynb", '"parameters"', '"parameters", "hide-input"'),
    ],
)
def test_a_change_makes_the_outputs_stale(tree, path, file, old, new):
    assert is_current(path, "book", tree)
    edit(tree / file, old, new)
    assert not is_current(path, "book", tree)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("firal/model/fitting.py", "# quickly", "# slowly"),
        ("firal/model/fitting.py", '"""Fit."""', '"""Fit the model."""'),
        ("firal/model/fitting.py", "return np.abs(loss())", "return np.abs( loss() )\n"),
        ("firal/model/loss.py", "return 1", "return 1\r\n"),
        ("firal/cli.py", "loop.rounds()", "2"),
        ("firal/data.py", "import sklearn", "import scipy"),
        ("firal/__init__.py", '"1"', '"2"'),
        ("firal/companion/plotting.py", "'small.mplstyle'", "''"),
        ("firal/companion/profiles.py", "", "x = 1"),
        ("requirements.txt", "sphinx==1", "sphinx==2"),
        ("requirements.txt", "scikit-learn==1", "scikit-learn==2"),
        ("book/claims.yml", "t02_y, expected: holds", "t02_y, expected: differs"),
    ],
)
def test_what_a_notebook_does_not_use_does_not_count(tree, path, file, old, new):
    edit(tree / file, old, new)
    assert is_current(path, "book", tree)


def test_a_new_module_counts_only_where_it_is_used(tree, path):
    other = add(tree, "t02_y", "import firal\ndir(firal)")
    (tree / "firal" / "more.py").write_text("x = 1\n")
    assert is_current(path, "book", tree) and not is_current(other, "book", tree)


def test_a_public_name_that_moves_makes_its_users_stale(tree, path):
    edit(tree / "firal" / "__init__.py", "firal.model.fitting import fit", "firal.loop import fit")
    assert not is_current(path, "book", tree)


def test_files_that_a_module_names_count(tree):
    path = add(tree, "t01_x", "from firal.companion import plotting")
    (tree / "firal" / "companion" / "other.mplstyle").write_text("a: 1\n")
    assert is_current(path, "book", tree)
    (tree / "firal" / "companion" / "small.mplstyle").write_text("a: 2\n")
    assert not is_current(path, "book", tree)


def test_docstrings_count_where_they_are_read():
    plain, reads = ('"""A."""\nx = 1', '"""A."""\nprint(__doc__)')
    assert normalized(ast.parse(plain)) == normalized(ast.parse(plain.replace("A.", "B.")))
    assert normalized(ast.parse(reads)) != normalized(ast.parse(reads.replace("A.", "B.")))


@pytest.mark.parametrize(
    ("one", "other"),
    [("f(1)", "f(2)"), ("x = 1", "x = True"), ("x = None", "x = ()"), ("x = 'a'", "x = b'a'")],
)
def test_normalized_code_keeps_the_difference(one, other):
    assert normalized(ast.parse(one)) != normalized(ast.parse(other))


def test_commands_of_ipython_are_no_obstacle(tree):
    path = add(tree, "t01_x", "%matplotlib inline\nimport firal\nfiral.fit()")
    edit(tree / "firal" / "model" / "loss.py", "return 1", "return 2")
    assert not is_current(path, "book", tree)


def test_prose_does_not_count(tree, path):
    notebook = json.loads(path.read_text())
    before = fingerprint(notebook, "t01_x", "book", tree)
    notebook["cells"].append({"cell_type": "markdown", "source": "prose", "metadata": {}})
    assert fingerprint(notebook, "t01_x", "book", tree) == before


def test_of_the_sizes_only_its_own_at_its_profile_count(tree, path, monkeypatch):
    monkeypatch.setattr(profiles, "SIZES", {"t01": {"n": (1, 2, 3)}, "t02": {"n": (1, 2, 3)}})
    stamped(path, tree)
    monkeypatch.setattr(profiles, "SIZES", {"t01": {"n": (7, 2, 7)}, "t02": {"n": (7, 7, 7)}})
    assert is_current(path, "book", tree)
    monkeypatch.setattr(profiles, "SIZES", {"t01": {"n": (1, 7, 3)}, "t02": {"n": (1, 2, 3)}})
    assert not is_current(path, "book", tree)


def test_the_profile_counts(tree, path):
    assert is_current(path, "book", tree) and not is_current(path, "paper", tree)


def text(content, count=1):
    """The value of a cell; files split it into lines."""
    lines = content.splitlines(keepends=True)
    return {"output_type": "execute_result", "data": {"text/plain": lines}, "metadata": {}} | {
        "execution_count": count
    }


def test_the_outputs_of_a_declared_notebook_count(tree, monkeypatch):
    monkeypatch.setattr(profiles, "INPUTS", {"t02": ("t01",)})
    source = outputs(add(tree, "t01_x", "1"), text("0.71\n0.72"))
    reader, other = add(tree, "t02_y", "2"), add(tree, "t03_z", "3")
    outputs(source, text("0.71\n0.72", count=5) | {"data": {"text/plain": "0.71\n0.72"}})
    assert is_current(reader, "book", tree)  # another execution count, and text in one piece
    stamped(source, tree)
    assert is_current(reader, "book", tree)  # the stamp is no output
    outputs(source, text("0.71\n0.73"))
    assert not is_current(reader, "book", tree)
    assert is_current(other, "book", tree)


def test_a_declared_file_counts(tree, monkeypatch):
    monkeypatch.setattr(profiles, "INPUTS", {"t01": ("benchmarks/cost.csv",)})
    path = add(tree, "t01_x", "1")
    (tree / "benchmarks").mkdir()
    file = tree / "benchmarks" / "cost.csv"
    file.write_text("1\n")
    assert not is_current(path, "book", tree)  # it was absent
    stamped(path, tree)
    file.write_bytes(b"1\r\n")
    assert is_current(path, "book", tree)
    file.write_text("2\n")
    assert not is_current(path, "book", tree)


def test_a_declared_notebook_must_exist(tree, monkeypatch):
    monkeypatch.setattr(profiles, "INPUTS", {"t01": ("t09",)})
    with pytest.raises(ValueError, match=r"expected one notebook t09_\*.ipynb .* got 0"):
        add(tree, "t01_x", "1")


def test_readers_of_stale_notebooks_are_executed_too(tree, monkeypatch):
    monkeypatch.setattr(profiles, "INPUTS", {"t02": ("t01", "a/b.csv"), "t03": ("t02",)})
    paths = [tree / f"t0{k}_x.ipynb" for k in range(1, 5)]
    assert with_dependents(paths[:1], paths) == paths[:3]
    assert with_dependents(paths[1:2], paths) == paths[1:3]
    assert with_dependents(paths[3:], paths) == paths[3:]
    assert with_dependents(paths[:1], [paths[0], paths[2]]) == paths[:1]


def test_a_cycle_is_refused(tree, monkeypatch):
    monkeypatch.setattr(profiles, "INPUTS", {"t01": ("t03",), "t02": ("t01",), "t03": ("t02",)})
    paths = [tree / f"t0{k}_x.ipynb" for k in range(1, 4)]
    with pytest.raises(ValueError, match="must not be cyclic, got t0. reads t0. reads t0. reads"):
        input_graph(paths)
    assert input_graph(paths[:2]) == {paths[0]: set(), paths[1]: {paths[0]}}


# The real tree


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """What the fingerprints of the real notebooks depend on, with all notebooks stamped."""
    root = tmp_path_factory.mktemp("copy")
    for folder in ("firal", "notebooks"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("requirements.txt", "book/claims.yml", "benchmarks/cost.csv"):
        (root / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, root / file)
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        stamped(path, root)
    return root


def stale(root):
    paths = sorted((root / "notebooks").glob("*.ipynb"))
    assert len(paths) == len(NOTEBOOKS)
    return [path.stem for path in paths if not is_current(path, "book", root)]


@pytest.fixture
def edited(copy):
    """``edited(file, change)`` applies a change to a file of the copy; undone after the test."""
    kept = {}

    def apply(name, change):
        file = copy / name
        kept[file] = file.read_text(encoding="utf8")
        file.write_text(change(kept[file]), encoding="utf8")
        return stale(copy)

    yield apply
    for file, content in kept.items():
        file.write_text(content, encoding="utf8")


def test_a_comment_makes_nothing_stale(edited):
    assert edited("firal/cli.py", lambda text: f"# a comment\n{text}") == []


def test_sizes_of_other_notebooks_make_nothing_stale(edited):
    assert edited("firal/companion/profiles.py", lambda text: f"{text}\nNEW = 1\n") == []


def test_code_of_the_command_makes_one_notebook_stale(edited):
    assert edited("firal/cli.py", lambda text: f"{text}\nNEW = 1\n") == ["u01_your_pool"]


def test_the_checks_of_the_input_make_nearly_all_stale(edited):
    found = edited("firal/common/checks.py", lambda text: f"{text}\nNEW = 1\n")
    assert len(found) == len(NOTEBOOKS) - 1 and "e16_three_data_sets" not in found


def test_the_style_of_figures_makes_all_stale(edited):
    found = edited("firal/companion/firal.mplstyle", lambda text: f"{text}\nfont.size: 7\n")
    assert len(found) == len(NOTEBOOKS)


def test_changed_outputs_make_the_notebook_that_reads_them_stale(edited):
    def change(content):
        notebook = json.loads(content)
        cell = next(c for c in notebook["cells"] if c.get("outputs"))
        cell["outputs"][0]["text"][0] += " more"
        return json.dumps(notebook)

    e12 = next(p for p in NOTEBOOKS if p.stem.startswith("e12_"))
    assert edited(f"notebooks/{e12.name}", change) == ["e16_three_data_sets"]


def test_a_measured_table_makes_its_reader_stale(edited):
    assert edited("benchmarks/cost.csv", lambda text: f"{text}m,1,1,1\n") == ["t16_cost"]


def test_pins_that_matter(copy):
    text = (copy / "requirements.txt").read_text()
    found = pins({"numpy", "sklearn", "skactiveml", "myst_nb", "yaml", "PIL"}, copy)
    names = [line.split("==")[0].lower() for line in found]
    assert names[:1] == ["pyyaml"] and {"myst-nb", "numpy", "scikit-learn"} <= set(names)
    for name in DISTRIBUTIONS.values():
        assert f"\n{name}==" in text.lower(), f"{name} is not pinned"


def test_every_package_that_a_notebook_imports_is_pinned():
    package = Package(ROOT)
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf8"))["cells"]
        trees = [ast.parse("".join(c["source"])) for c in cells if c["cell_type"] == "code"]
        modules = [package.tree(name) for name in package.closure(trees)]
        imported = third_party([*trees, *modules])
        assert len(pins(imported)) == len(imported), (path.stem, imported, pins(imported))


def test_nothing_prints_docstrings_or_sources():
    """They do not count, so no output may show them."""
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf8"))["cells"]
        code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        for node in ast.walk(ast.parse(code)):
            name = getattr(node, "attr", getattr(node, "id", ""))
            assert name not in {"__doc__", "help", "inspect", "getsource", "getdoc"}, path.stem


def test_declared_inputs_exist():
    names = {path.stem.split("_")[0] for path in NOTEBOOKS}
    input_graph(NOTEBOOKS)
    for reader, inputs in profiles.INPUTS.items():
        assert reader in names
        for name in inputs:
            assert name in names or (ROOT / name).is_file() or name.startswith("notebooks/data/")
