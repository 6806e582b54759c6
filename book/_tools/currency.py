"""When are the stored outputs of a notebook current?

As long as its code, its sizes, the ``firal`` module, the profile, the pinned versions and the
expected statuses of its claims are those it was executed with. One content hash of all of these
is stored in the notebook's metadata when it is executed. (jupyter-cache hashes the code cells
only, and serves old results after the module has changed.)

A notebook stored from another profile than ``book`` took hours. The module changes every day, and
no one would repeat these hours for an edit elsewhere: with the module in its hash the notebook
would be stale for ever, and staleness would mean nothing. So its hash leaves out the module and
the pins. That the module still runs it is shown by its
smoke run, and its numbers are those of the day it was executed.
"""

import hashlib
import json
from pathlib import Path

from needs import short, stored_profile

from firal.companion import claims, profiles

ROOT = Path(__file__).resolve().parents[2]
KEY = "firal"


def _update(digest, label, content):
    digest.update(f"{label}:{len(content)}:".encode())
    digest.update(content)


def module_files(root=ROOT):
    """What every notebook depends on. Of profiles.py it is only its own sizes, hashed apart."""
    folder = root / "firal"
    files = [*folder.rglob("*.py"), *folder.rglob("*.mplstyle")]
    return sorted(file for file in files if file.name != "profiles.py")


def sizes(name, profile):
    """The notebook's knobs at this profile."""
    column = profiles.PROFILES.index(profile)
    return {knob: values[column] for knob, values in profiles.SIZES.get(short(name), {}).items()}


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
    _update(digest, "sizes", json.dumps(sizes(name, profile), sort_keys=True).encode())
    files = [*module_files(root), root / "requirements.txt"]
    for file in files if stored_profile(name) == "book" else ():
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
