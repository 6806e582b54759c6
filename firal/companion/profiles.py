"""The three profiles of every notebook, what it reads, and what its knobs are set to.

``smoke`` takes seconds and only shows that a notebook runs; ``book`` is what the committed
notebooks are executed with; ``paper`` is everything at the size of the paper.

A notebook has one cell tagged ``parameters`` with ``PROFILE`` and its own knobs, all ``None``
by default, and calls ``load`` right after it.
"""

from __future__ import annotations

from types import SimpleNamespace

from firal.companion.sizes import SIZES

PROFILES = ("smoke", "book", "paper")

# notebook -> the prepared file it needs (``firal.data.datasets``), absent on a fresh machine
DATA = {"e12": "mnist60k", "e13": "cifar10", "e14": "imagenet50"}

# notebook -> profile of the committed outputs, where it is not ``book``
STORED = {"e14": "paper", "e17": "paper", "e18": "paper", "e20": "paper", "e21": "paper"}

RECORDS = "e20_default.npz e17_penalized.npz e14_imagenet50.npz e18_tables.npz halves.json".split()

# notebook -> what it reads: other notebooks (their stored outputs), and files of the repository.
# ``stored`` refuses to read anything else. Changed inputs make a notebook stale, and inputs are
# executed first.
INPUTS = {
    "e11": ("e10",),
    "e14": ("notebooks/data/e14_imagenet50.npz",),
    "e16": ("e12", "e13", "e14"),
    "e17": ("notebooks/data/e17_penalized.npz",),
    "e18": ("notebooks/data/e18_tables.npz", "notebooks/data/halves.json"),
    "e20": tuple(f"notebooks/data/{name}" for name in RECORDS),
    "e21": ("notebooks/data/e21_many_classes.npz",),
    "t16": ("benchmarks/cost.csv",),
    "u03": ("benchmarks/homes.csv",),
    "u04": ("notebooks/data/u04_stopping.csv",),
}

_PLAIN = (bool, int, float, str, list, tuple, dict, type(None))
_IPYTHON = {"In", "Out"}


def check_profile(name):
    """Return the profile's name, or refuse it with the list of known ones."""
    if name not in PROFILES:
        raise ValueError(f"unknown profile {name!r}: expected one of {', '.join(PROFILES)}")
    return name


def load(notebook, namespace):
    """Sizes for one notebook: the profile's values, overridden by the knobs that are not None.

    notebook   short name such as ``"t01"``
    namespace  ``globals()`` of the notebook, straight after its ``parameters`` cell

    Every plain value in the namespace has to be ``PROFILE`` or a knob of this notebook, in
    capitals. papermill injects unknown parameters without a word; here they are refused.
    Returns a namespace with one lower-case attribute per knob, and ``profile``.
    """
    if notebook not in SIZES:
        raise ValueError(f"no sizes for notebook {notebook!r}: known are {', '.join(SIZES)}")
    knobs = SIZES[notebook]
    given = {
        name: value
        for name, value in namespace.items()
        if isinstance(value, _PLAIN) and not name.startswith("_") and name not in _IPYTHON
    }
    if "PROFILE" not in given:
        raise ValueError("the notebook has no PROFILE: its parameters cell must set one")
    profile = check_profile(given.pop("PROFILE"))
    known = {knob.upper(): knob for knob in knobs}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(
            f"unknown parameter {', '.join(unknown)} for {notebook}: "
            f"known are PROFILE, {', '.join(sorted(known))}"
        )
    column = PROFILES.index(profile)
    sizes = {knob: values[column] for knob, values in knobs.items()}
    for name, value in given.items():
        if value is not None:
            sizes[known[name]] = _checked(name, value, sizes[known[name]])
    return SimpleNamespace(profile=profile, **sizes)


def _checked(name, value, default):
    """The override, if it has the type of the value it replaces (an int may stand for a float)."""
    wanted = type(default)
    if isinstance(value, list) and wanted is tuple:
        value = tuple(value)  # papermill and YAML know lists only
    right_type = type(value) is wanted or (wanted is float and type(value) is int)
    if not right_type:
        raise ValueError(
            f"parameter {name} = {value!r} is of type {type(value).__name__}: "
            f"expected {wanted.__name__}, like the profile's {default!r}"
        )
    return wanted(value)
