"""What a notebook needs besides the module: a prepared data file, or hours.

Four rules follow from ``DATA`` and ``STORED`` in ``firal.companion.profiles``:

* A notebook whose prepared file is absent is not executed. Its committed outputs stay.
* A notebook that is stored from another profile than ``book`` takes hours. It is executed only
  when it is named, and nbval, which would execute it, leaves it out.
* Features of another network, or another draw of images, give other numbers. So nbval also leaves
  out a notebook whose prepared file is not the one that its stored outputs name by SHA-256.
* Whatever is left out is said in one line, with the reason and what to do about it.
"""

import json
import os
import re
from functools import cache
from pathlib import Path

from firal.companion import profiles
from firal.data.datasets import data_folder
from firal.data.files import sha256

# Kernels run in notebooks/; a relative folder is meant from where the command was given.
if os.environ.get("FIRAL_DATA"):
    os.environ["FIRAL_DATA"] = os.path.abspath(os.environ["FIRAL_DATA"])


def short(name):
    """``"e12"`` of ``"e12_mnist60k"``: the name used in ``companion.profiles``."""
    return Path(name).stem.split("_")[0]


def stored_profile(name):
    """The profile that the committed outputs of this notebook come from."""
    return profiles.STORED.get(short(name), "book")


def missing_data(name):
    """A sentence on the prepared file that this notebook needs and that is absent, or None."""
    data = profiles.DATA.get(short(name))
    if data is None or (data_folder() / f"{data}.npz").is_file():
        return None
    return f"{data}.npz is absent (make data NAME={data})"


def other_data(path):
    """A sentence when the prepared file is not the one of the stored outputs, or None."""
    data = profiles.DATA.get(short(path))
    if data is None or not Path(path).is_file():
        return None
    cells = json.loads(Path(path).read_text(encoding="utf8"))["cells"]
    texts = json.dumps([cell.get("outputs", []) for cell in cells])
    named = re.search(r"SHA-256 of the file:? ([0-9a-f]{16})", texts)
    if named is None or _digest(data_folder() / f"{data}.npz").startswith(named[1]):
        return None
    return f"its stored outputs come from another {data}.npz, SHA-256 {named[1]}.."


_digest = cache(sha256)  # asked for every cell


def cost(name):
    """A sentence on the hours that the stored profile of this notebook takes, or None."""
    if stored_profile(name) == "book":
        return None
    return (
        f"stored from profile {stored_profile(name)}, about {profiles.CPU_HOURS[short(name)]} "
        f"CPU hours (make book NB={short(name)})"
    )


def is_named(name, patterns):
    """True when one of the patterns means this notebook alone: ``e14`` does, ``e`` does not."""
    return any(pattern.startswith(short(name)) for pattern in patterns)


def why_not_checked(name):
    """Why nbval cannot execute this notebook here, or None."""
    if cost(name):
        return f"{short(name)} is not executed: {cost(name)}"
    reason = missing_data(name) or other_data(name)
    return f"{short(name)} is not executed: {reason}" if reason else None
