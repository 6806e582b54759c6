"""When are the stored outputs of a notebook current?

As long as its code, the ``firal`` module, the profile, the pinned versions and the expected
statuses of its claims are those it was executed with. One content hash of all of these is stored
in the notebook's metadata when it is executed. (jupyter-cache hashes the code cells only, and
serves old results after the module has changed.)
"""

import hashlib
import json
from pathlib import Path

from firal import claims

ROOT = Path(__file__).resolve().parents[2]
KEY = "firal"


def _update(digest, label, content):
    digest.update(f"{label}:{len(content)}:".encode())
    digest.update(content)


def module_files(root=ROOT):
    folder = root / "firal"
    return sorted([*folder.rglob("*.py"), *folder.rglob("*.mplstyle")])


def fingerprint(notebook, name, profile, root=ROOT):
    """Hash of everything the outputs of ``notebook`` depend on.

    notebook  the parsed notebook: its code cells count, its prose does not
    name      file stem, which the registry uses to say whose claims these are
    """
    digest = hashlib.sha256()
    _update(digest, "profile", profile.encode())
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            _update(digest, "cell", "".join(cell["source"]).encode())
            _update(digest, "tags", json.dumps(cell["metadata"].get("tags", [])).encode())
    for file in [*module_files(root), root / "requirements.txt"]:
        text = file.read_bytes().replace(b"\r\n", b"\n")
        _update(digest, file.relative_to(root).as_posix(), text)
    registry = claims.registry(root / "book" / "claims.yml")
    expected = {i: e["expected"] for i, e in registry.items() if e.get("notebook") == name}
    _update(digest, "claims", json.dumps(expected, sort_keys=True).encode())
    return digest.hexdigest()[:16]


def stamp(notebook, name, profile, root=ROOT):
    """Store in the notebook what it was executed with."""
    notebook["metadata"][KEY] = {
        "profile": profile,
        "fingerprint": fingerprint(notebook, name, profile, root),
    }


def is_current(path, profile, root=ROOT):
    """True when the stored outputs are those a new execution would start from."""
    notebook = json.loads(Path(path).read_text(encoding="utf8"))
    stored = notebook["metadata"].get(KEY, {})
    return stored.get("profile") == profile and stored.get("fingerprint") == fingerprint(
        notebook, Path(path).stem, profile, root
    )
