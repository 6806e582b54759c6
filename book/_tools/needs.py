"""What a notebook needs besides the module: a prepared data file, or hours.

Three rules follow from ``firal.profiles.DATA`` and ``STORED``, and all tools use these functions:

* A notebook whose prepared file is absent is not executed. Its committed outputs stay.
* A notebook that is stored from another profile than ``book`` takes hours. It is executed only
  when it is named, and nbval, which would execute it, leaves it out.
* Whatever is left out is said in one line, with the reason and what to do about it.
"""

import os
from pathlib import Path

from firal import profiles
from firal.datasets import data_folder

# Kernels run in notebooks/; a relative folder is meant from where the command was given.
if os.environ.get("FIRAL_DATA"):
    os.environ["FIRAL_DATA"] = os.path.abspath(os.environ["FIRAL_DATA"])


def short(name):
    """``"e12"`` of ``"e12_mnist60k"``: the name that the tables of ``firal.profiles`` use."""
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
    if missing_data(name):
        return f"{short(name)} is not executed: {missing_data(name)}"
    return None
