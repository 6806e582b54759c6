"""A repository in miniature, for the tests of the tools that execute and stamp notebooks."""

import json

import nbformat
from freshness import KEY, stamp

from firal.companion import profiles

MODULES = {
    "__init__": '"""Public names."""\n\nfrom firal.model.fitting import fit\n'
    "from firal.model.loss import loss as cost\nfrom firal.data import load\n\n"
    '__version__ = "1"\n',
    "cli": "from firal import loop\n\n\ndef main():\n    return loop.rounds()\n",
    "loop": "from firal.model import fitting\n\n\ndef rounds():\n    return fitting.fit()\n",
    "model/__init__": '"""A layer."""\n',
    "model/fitting": "import numpy as np\n\nfrom .loss import loss\n\n\ndef fit():\n"
    '    """Fit."""\n    return np.abs(loss())  # quickly\n',
    "model/loss": "def loss():\n    return 1\n",
    "data": "import sklearn\n\n\ndef load():\n    import pandas\n\n    return pandas, sklearn\n",
    "companion/__init__": "",
    "companion/profiles": "",
    "companion/plotting": "import matplotlib\n\nSTYLE = 'small.mplstyle'\n",
}
PINS = ("numpy==1", "scikit-learn==1", "pandas==1", "matplotlib==1", "sphinx==1")
CLAIMS = """\
- {id: prop-1, notebook: t01_x, expected: holds}
- {id: prop-2, notebook: t02_y, expected: holds}
"""


def make(root):
    """Modules, pins and claims; no notebook yet."""
    for name, code in MODULES.items():
        file = root / "firal" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code)
    (root / "firal" / "companion" / "small.mplstyle").write_text("a: 1\n")
    (root / "requirements.txt").write_text("\n".join(PINS))
    for folder in ("book", "notebooks"):
        (root / folder).mkdir()
    (root / "book" / "claims.yml").write_text(CLAIMS)
    return root


def write_notebook(path, *sources, parameters='PROFILE = "book"'):
    """A notebook with a parameters cell and these code cells, not executed."""
    sources = (parameters, *sources)
    cells = [nbformat.v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    cells[0].metadata["tags"] = ["parameters"]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path


def add(root, name, *sources, profile="book"):
    """A stamped notebook of the tree."""
    path = root / "notebooks" / f"{name}.ipynb"
    write_notebook(path, *sources, parameters=f'PROFILE = "{profile}"')
    return stamped(path, root, profile)


def stamped(path, root, profile="book"):
    """Stamp a notebook as it is now."""
    notebook = json.loads(path.read_text())
    notebook["metadata"][KEY] = stamp(notebook, path.stem, profile, root)
    path.write_text(json.dumps(notebook))
    return path


def outputs(path, *outputs):
    """Give the last cell these outputs, and its execution count."""
    notebook = json.loads(path.read_text())
    notebook["cells"][-1].update(outputs=list(outputs), execution_count=2)
    path.write_text(json.dumps(notebook))
    return path


def edit(file, old, new):
    """Replace a text that must be there."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def without_real_tables(monkeypatch):
    """The tables of ``profiles`` are about the real notebooks."""
    for table in ("SIZES", "INPUTS", "DATA", "STORED"):
        monkeypatch.setattr(profiles, table, {})
