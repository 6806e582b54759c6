"""What a notebook needs besides the module: a prepared data file, or the record of a long run.

Three rules follow from ``DATA`` and ``INPUTS`` in ``firal.companion.profiles``:

* A notebook whose prepared file or record is absent is not executed at the profile of its stored
  outputs. These outputs stay.
* Features of another network, or another draw of images, give other numbers. So nbval leaves out
  a notebook whose prepared file is not the one that its stored outputs name by SHA-256.
* Each notebook that is left out is listed in one line, with the reason and what to do about it.
"""

import os
from functools import cache
from pathlib import Path

from firal.companion import checkout, profiles, stored
from firal.data.files import sha256
from firal.data.prepared import data_folder

ROOT = Path(__file__).resolve().parents[2]
RECORDS = "notebooks/data/"

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


def missing_record(name):
    """A sentence on the record of a long run that this notebook reads and that is absent."""
    for file in profiles.INPUTS.get(short(name), ()):
        if file.startswith(RECORDS) and not (ROOT / file).is_file():
            return f"{file} is absent or incomplete ({RECORDS}README.md says how to make it)"
    return None


def other_data(path):
    """A sentence when the prepared file is not the one of the stored outputs, or None."""
    data = profiles.DATA.get(short(path))
    if data is None or not Path(path).is_file():
        return None
    facts = (content["facts"] for content in checkout.displayed(path, stored.MIME))
    used = {fact["data"] for fact in facts if "data" in fact}
    if not used or used == {_digest(data_folder() / f"{data}.npz")}:
        return None
    return f"its stored outputs come from another {data}.npz, SHA-256 {min(used)[:16]}.."


_digest = cache(sha256)  # asked for every cell


def why_not_checked(name):
    """Why nbval cannot execute this notebook here, or None."""
    reason = missing_data(name) or missing_record(name) or other_data(name)
    return f"{short(name)} is not executed: {reason}" if reason else None
