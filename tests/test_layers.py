"""The architecture: imports go one way, every import is declared, `import firal` stays light."""

import ast
import re
import subprocess
import sys
import tomllib

import pytest
from conftest import ROOT

# From the bottom to the top; modules in one group may import each other. "firal" is firal/__init__.
LAYERS = (
    {"common"},
    {"model"},
    {"information"},
    {"engine"},
    {"selection"},
    {"simple_strategies"},
    {"strategies"},
    {"streaming"},
    {"given_probabilities"},
    {"picking"},
    {"placement"},
    {"pipeline"},
    {"work"},
    {"estimate", "learner"},
    {"measures"},
    {"trial"},
    {"loop"},
    {"theory"},
    {"data"},
    {"session"},
    {"firal"},
    {"cli_progress", "cli_output"},
    {"cli_arguments", "cli_labeling", "skactiveml_models", "skactiveml_utilities"},
    {"skactiveml_base"},
    {"skactiveml"},
    {"cli_announce"},
    {"cli_options", "cli_rounds", "cli_select"},
    {"cli_session"},
    {"cli", "__main__"},
    {"companion"},
)

RANK = {name: k for k, group in enumerate(LAYERS) for name in group}

# Import names that differ from the name of the package.
PACKAGES = {
    "IPython": "ipython",
    "PIL": "pillow",
    "skactiveml": "scikit-activeml",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
# Extras that a module may use besides the dependencies: anywhere, or only inside functions.
EXTRAS = {
    "firal.skactiveml": {"skactiveml"},
    "firal.skactiveml_base": {"skactiveml"},
    "firal.companion": {"notebook"},
}
INSIDE_FUNCTIONS = {
    "firal.data.streams": {"parquet", "dask"},
    "firal.engine.parquet": {"parquet"},
    "firal.engine.dask_home": {"dask"},
    "firal.data.formats": {"xlsx"},
    "firal.data.parquet_files": {"parquet"},
    "firal.data.output": {"parquet", "xlsx"},
    "firal.companion.prepare": {"features"},
}

LONGEST = 370  # lines of a file, half of which is documentation; about 250 is the aim

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))


def module_files(root):
    """{module: file} of the package below ``root``."""
    found = {}
    for file in sorted((root / "firal").rglob("*.py")):
        *folders, name = file.relative_to(root).with_suffix("").parts
        found[".".join(folders if name == "__init__" else [*folders, name])] = file
    return found


def imports(module, file, modules):
    """(name, whether inside a function) of what a module imports, names in full."""
    tree = ast.parse(file.read_text(encoding="utf8"))
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    inside = {id(node) for function in functions for node in ast.walk(function)}
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *filter(None, [node.module])])
            full = [f"{base}.{alias.name}" for alias in node.names]
            names = [name if name in modules else base for name in full]
        yield from ((name, id(node) in inside) for name in names)


def rank(module):
    return RANK[module.split(".")[1] if "." in module else module]


def upward_imports(root):
    """(module, imported) wherever a module imports from a layer above its own."""
    modules = module_files(root)
    return [
        (module, name)
        for module, file in modules.items()
        for name, _ in imports(module, file, modules)
        if name.split(".")[0] == "firal" and rank(name) > rank(module)
    ]


def declared(extra=None):
    """Names of the packages in the dependencies, or in one extra, as far as it spells them out."""
    project = PROJECT["project"]
    lines = project["dependencies"] if extra is None else project["optional-dependencies"][extra]
    return {re.match(r"[\w.-]+", line)[0].lower() for line in lines}


def extras(table, module):
    return {
        extra
        for name, known in table.items()
        if f"{module}.".startswith(f"{name}.")
        for extra in known
    }


def undeclared_imports(root):
    """(module, imported) wherever an import needs a package that is not declared for the module."""
    modules = module_files(root)
    found = []
    for module, file in modules.items():
        anywhere = declared().union(*map(declared, extras(EXTRAS, module)))
        in_functions = anywhere.union(*map(declared, extras(INSIDE_FUNCTIONS, module)))
        for name, inside in imports(module, file, modules):
            top = name.split(".")[0]
            if top != "firal" and top not in sys.stdlib_module_names:
                if PACKAGES.get(top, top) not in (in_functions if inside else anywhere):
                    found.append((module, top))
    return found


def test_imports_go_one_way():
    assert upward_imports(ROOT) == []


def test_every_import_is_declared():
    assert undeclared_imports(ROOT) == []


@pytest.fixture
def made_up(tmp_path):
    """A small package with every kind of wrong import."""
    files = {
        "__init__.py": "from firal.data.pools import load\n",
        "common/__init__.py": "",
        "common/checks.py": "import os\nimport numpy as np\nimport firal\n",
        "model/__init__.py": "from ..common import checks\nfrom .. import cli\n",
        "model/fit.py": "from . import checks\ndef f():\n    from firal.selection import ftrl\n",
        "selection/__init__.py": "",
        "selection/ftrl.py": "from firal.model.fit import f\nfrom firal import cli\n",
        "data/__init__.py": "",
        "data/pools.py": "import firal.companion.plots\nimport pandas\nfrom firal import load\n",
        "data/output.py": "import pyarrow\ndef f():\n    import pyarrow, torch\n",
        "cli.py": "import firal\nfrom firal.skactiveml import FIRAL\nimport yaml\n",
        "skactiveml.py": "try:\n    from skactiveml import A\nexcept ImportError:\n    raise\n",
        "companion/__init__.py": "",
        "companion/plots.py": "import matplotlib.pyplot as plt, firal.cli\nimport sphinx\n",
        "companion/prepare/__init__.py": "import torch\ndef f():\n    import torch, PIL\n",
    }
    for name, text in files.items():
        file = tmp_path / "firal" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_imports_upwards_are_found(made_up):
    assert sorted(upward_imports(made_up)) == [
        ("firal.common.checks", "firal"),
        ("firal.data.pools", "firal"),
        ("firal.data.pools", "firal.companion.plots"),
        ("firal.model", "firal.cli"),
        ("firal.model.fit", "firal.selection.ftrl"),
        ("firal.selection.ftrl", "firal.cli"),
    ]


def test_undeclared_imports_are_found(made_up):
    assert sorted(undeclared_imports(made_up)) == [
        ("firal.cli", "yaml"),
        ("firal.companion.plots", "sphinx"),
        ("firal.companion.prepare", "torch"),
        ("firal.data.output", "pyarrow"),
        ("firal.data.output", "torch"),
        ("firal.data.pools", "pandas"),
    ]


def test_every_package_is_shipped():
    folders = {file.parent for file in (ROOT / "firal").rglob("*.py")}
    packages = sorted(".".join(folder.relative_to(ROOT).parts) for folder in folders)
    assert sorted(PROJECT["tool"]["setuptools"]["packages"]) == packages
    assert all((folder / "__init__.py").is_file() for folder in folders)


def loaded(code):
    """Names of the modules that Python holds after running ``code``."""
    code += "\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


HEAVY = {
    "matplotlib",
    "pandas",
    "yaml",
    "IPython",
    "openpyxl",
    "pyarrow",
    "dask",
    "skactiveml",
    "firal.companion",
}


def test_import_firal_is_light():
    assert loaded("import firal") & HEAVY == set()
    assert loaded("import firal, firal.companion.plotting") & HEAVY >= {
        "matplotlib",
        "pandas",
        "firal.companion",
    }


def test_files_are_short():
    lines = {
        m: len(f.read_text(encoding="utf8").splitlines()) for m, f in module_files(ROOT).items()
    }
    assert {module: count for module, count in lines.items() if count > LONGEST} == {}
