"""When are the stored outputs of a notebook current?

As long as everything they depend on is as it was when the notebook was executed:

* its code cells and their tags;
* the code of the ``firal`` modules that it uses, directly or through other modules
  (``closure.py``); comments and docstrings do not count;
* its own sizes at the profile;
* the pinned versions of the packages that it and these modules import;
* the expected statuses of its claims;
* the files and the outputs of other notebooks that ``profiles.INPUTS`` declares for it.

One content hash of all of these is stored in the notebook's metadata when it is executed.
(jupyter-cache hashes the code cells only, and serves old results after the module has changed.)
"""

import hashlib
import json
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from closure import Package, files_beside, normalized, parse, third_party
from IPython.core.inputtransformer2 import TransformerManager
from needs import short

from firal.companion import checkout, claims, profiles

ROOT = Path(__file__).resolve().parents[2]
KEY = "firal"
# hashed by the sizes of one notebook, not as code
OWN_SIZES_ONLY = ("firal.companion.profiles", "firal.companion.sizes")

# import name -> name in requirements.txt, where dashes for underscores are not enough
DISTRIBUTIONS = {
    "PIL": "pillow",
    "skactiveml": "scikit-activeml",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


def fingerprint(notebook, name, profile, root=ROOT):
    """Hash of everything the outputs of ``notebook`` depend on.

    notebook  the parsed notebook: its code cells count, its prose does not
    name      file stem, which the registry uses to say whose claims these are
    """
    parts = [("profile", profile)]
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        parts.append(("cell", "".join(cell["source"])))
        parts.append(("tags", cell["metadata"].get("tags", [])))
    parts.append(("sizes", sizes(name, profile)))
    trees = [_tree("".join(cell["source"])) for cell in cells]
    parts += _code(trees, root)
    registry = claims.registry(root / "book" / "claims.yml")
    expected = {i: e["expected"] for i, e in registry.items() if e.get("notebook") == name}
    parts.append(("claims", expected))
    parts += [(f"input {i}", _content(i, root)) for i in profiles.INPUTS.get(short(name), ())]
    return _digest(json.dumps(parts, sort_keys=True).encode())[:16]


def sizes(name, profile):
    """The notebook's knobs at this profile."""
    column = profiles.PROFILES.index(profile)
    return {knob: values[column] for knob, values in profiles.SIZES.get(short(name), {}).items()}


def _tree(source):
    """The syntax of a cell; IPython's own commands, such as ``%timeit``, become calls."""
    try:
        return parse(source)
    except SyntaxError:
        return parse(TransformerManager().transform_cell(source))


def _code(trees, root):
    """(label, content) of the modules that the cells use, the files these need, and the pins."""
    package = Package(root)
    parts, modules = [], []
    for module in sorted(package.closure(trees)):
        tree = package.tree(module)
        modules.append(tree)
        if module not in OWN_SIZES_ONLY:
            parts.append((module, _digest(normalized(tree).encode())))
            for file in files_beside(tree, package.files[module]):
                parts.append((file.relative_to(root).as_posix(), _digest(_text(file))))
    return [*parts, ("pins", pins(third_party([*trees, *modules]), root))]


def pins(imported, root=ROOT):
    """The lines of requirements.txt for these import names."""
    wanted = {_plain(DISTRIBUTIONS.get(name, name)) for name in imported}
    text = (root / "requirements.txt").read_text(encoding="utf8")
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return sorted(line for line in lines if _plain(re.split(r"[=<>!~;\[ ]", line)[0]) in wanted)


def _plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def is_notebook(name):
    """Of the declared inputs, ``e12`` is a notebook and ``benchmarks/cost.csv`` a file."""
    return "/" not in name


def _content(name, root):
    """Hash of a declared input: the outputs of a notebook, or a file. ``absent`` without one."""
    if not is_notebook(name):
        return _digest(_text(root / name)) if (root / name).is_file() else "absent"
    return _digest(
        json.dumps(
            [
                [_joined(output) for output in cell.get("outputs", ())]
                for cell in checkout.cells(checkout.notebook_path(name, root))
            ],
            sort_keys=True,
        ).encode()
    )


def _joined(value):
    """Without execution counts, and with every text in one piece: files split it into lines."""
    if isinstance(value, dict):
        return {key: _joined(item) for key, item in value.items() if key != "execution_count"}
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "".join(value)
    return value


def _text(file):
    return file.read_bytes().replace(b"\r\n", b"\n")


def _digest(content):
    return hashlib.sha256(content).hexdigest()


def stamp(notebook, name, profile, root=ROOT):
    """What an execution of this notebook stores in its metadata under ``KEY``."""
    return {"profile": profile, "fingerprint": fingerprint(notebook, name, profile, root)}


def is_current(path, profile, root=ROOT):
    """True when the stored outputs are those a new execution would start from."""
    notebook = json.loads(Path(path).read_text(encoding="utf8"))
    stored = notebook["metadata"].get(KEY, {})
    return stored == stamp(notebook, Path(path).stem, profile, root)


def input_graph(notebooks):
    """{notebook: those of its inputs that are among ``notebooks``}; refuses a cycle."""
    by_name = {short(notebook): notebook for notebook in notebooks}
    graph = {
        notebook: {by_name[i] for i in profiles.INPUTS.get(short(notebook), ()) if i in by_name}
        for notebook in notebooks
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle = " reads ".join(short(notebook) for notebook in reversed(error.args[1]))
        raise ValueError(f"profiles.INPUTS must not be cyclic, got {cycle}") from None
    return graph


def with_dependents(stale, notebooks):
    """The stale notebooks and, of ``notebooks``, those that read them, directly or not."""
    graph = input_graph(notebooks)
    found = set(stale)
    for notebook in TopologicalSorter(graph).static_order():
        if graph[notebook] & found:
            found.add(notebook)
    return [notebook for notebook in notebooks if notebook in found]
