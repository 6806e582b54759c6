"""Sizes of every notebook at the three profiles, in one place.

``smoke`` takes seconds and only shows that a notebook runs; ``book`` is what the committed
notebooks are executed with; ``paper`` is everything at the size of the paper.

A notebook has one cell tagged ``parameters`` with ``PROFILE`` and its own knobs, all ``None``
by default, and calls ``load`` right after it.
"""

from __future__ import annotations

from types import SimpleNamespace

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

IMAGE_POOLS = tuple("digits mnist60k cifar10 mnist cifar10-supervised imagenet50 cifar100".split())

NEVER = (False,) * 3
# knob -> (smoke, book, paper)
SIZES = {
    "t01": {
        "seed": (0, 0, 0),
        "n_instances": (5, 50, 500),
        "n_points": (200, 2000, 20000),
        "n_labels": (20_000, 400_000, 4_000_000),
    },
    "t02": {
        "seed": (0, 0, 0),
        "n_laws": (5, 40, 400),
        "n_sample": (1000, 40_000, 1_000_000),
        "n_trials": (2000, 100_000, 1_000_000),
    },
    "t03": {
        "seed": (0, 0, 0),
        "n_search": (2000, 200_000, 2_000_000),
        "n_segments": (10, 300, 3000),
        "n_points": (50, 200, 1000),
    },
    "t06": {
        "seed": (0, 0, 0),
        "n_instances": (8, 50, 500),
        "n_starts": (8, 12, 24),
    },
    "t07": {
        "seed": (0, 0, 0),
        "n_signals": (5, 13, 25),
        "n_radii": (150, 400, 800),
        "n_angles": (400, 1500, 3000),
        "n_points": (20_000, 200_000, 2_000_000),
    },
    "t08": {
        "seed": (0, 0, 0),
        "n_pool": (60, 300, 1000),
        "n_repeats": (30, 300, 3000),
        "sizes": (
            (50, 400),
            (25, 50, 100, 200, 400, 800, 1600),
            (25, 50, 100, 200, 400, 800, 1600, 3200),
        ),
    },
    "t04": {
        "seed": (0, 0, 0),
        "sample_sizes": ((100, 400), (50, 100, 200, 400, 800, 1600, 3200), (50, 800, 3200, 12800)),
        "n_repeats": (20, 120, 1000),
        "n_labelings": (1000, 5000, 50_000),
    },
    "t05": {
        "seed": (0, 0, 0),
        "n_repeats": (10, 40, 200),
        "sample_sizes": ((1000,), (500, 2000, 8000), (500, 1000, 2000, 4000, 8000, 16000)),
        "n_risk": (4000, 20_000, 50_000),
        "dimensions": ((20, 80), (20, 40, 80, 160), (20, 40, 80, 160, 320)),
    },
    "t09": {
        "seed": (0, 0, 0),
        "n_pairs": (200, 5000, 100_000),
        "n_pools": (4, 20, 100),
        "n_subsets": (20, 100, 500),
    },
    "t10": {
        "seed": (0, 0, 0),
        "n_pool": (80, 300, 3000),
        "n_instances": (3, 30, 300),
        "steps": ((10, 40), (10, 30, 100, 300, 1000), (10, 30, 100, 300, 1000, 3000)),
        "pool_sizes": ((400, 1600), (400, 1600, 6400, 25_600), (400, 1600, 6400, 25_600, 102_400)),
    },
    "t11": {
        "seed": (0, 0, 0),
        "n_games": (20, 200, 3000),
        "n_steps": (20, 60, 200),
        "n_pool": (60, 300, 1000),
    },
    "t12": {
        "seed": (0, 0, 0),
        "n_instances": (200, 3000, 30_000),
        "n_pool": (40, 150, 500),
        "n_runs": (3, 20, 100),
    },
    "t13": {
        "seed": (0, 0, 0),
        "n_pool": (220, 300, 1000),
        "budgets": ((10, 40), (6, 12, 25, 50, 100, 200), (6, 12, 25, 50, 100, 200, 400)),
        "n_small": (3, 20, 200),
    },
    "t14": {
        "seed": (0, 0, 0),
        "n_instances": (5, 40, 400),
        "n_rounds": (3, 8, 15),
        "n_labelings": (20, 300, 3000),
    },
    "t15": {
        "seed": (0, 0, 0),
        "n_instances": (2, 12, 200),
        "n_pool": (200, 200, 1000),
        "n_fresh": (5, 5, 50),
    },
    "t17": {
        "seed": (0, 0, 0),
        "n_instances": (24, 360, 3600),
        "n_pointwise": (12, 90, 900),
        "n_pools": (15, 60, 600),
    },
    "t18": {
        "seed": (0, 0, 0),
        "n_instances": (2000, 20_000, 200_000),
        "n_pool": (100, 200, 1000),
        "n_runs": (4, 12, 100),
        "budgets": ((40, 80), (40, 80, 160, 320), (40, 80, 160, 320, 640)),
    },
    "t19": {
        "seed": (0, 0, 0),
        "n_instances": (30, 300, 3000),
        "n_draws": (40, 150, 4000),
        "n_labelings": (40, 100, 4000),
    },
    "t20": {
        "seed": (0, 0, 0),
        "n_instances": (40, 300, 3000),
        "n_pools": (8, 40, 400),
        "n_trials": (60, 150, 2000),
    },
    "t21": {
        "seed": (0, 0, 0),
        "n_laws": (10, 40, 400),
        "n_pools": (20, 60, 600),
        "n_runs": (150, 400, 4000),
    },
    "e01": {
        "seed": (0, 0, 0),
        "d": (8, 8, 8),
        "classes": ((2, 3), (2, 3, 5, 8), (2, 3, 5, 8)),
        "n_test": (4000, 50_000, 50_000),
        "n_amounts": (7, 21, 41),
    },
    "e02": {
        "seed": (0, 0, 0),
        "d": (8, 8, 8),
        "classes": ((2, 8), (2, 3, 5, 8), (2, 3, 5, 8)),
        "sizes": (
            (400, 1600, 3200, 6400),
            (400, 800, 1600, 3200, 6400),
            (400, 800, 1600, 3200, 6400, 12_800),
        ),
        "dimensions": ((8, 64), (8, 16, 32, 64), (8, 16, 32, 64, 128)),
        "n_seeds": (10, 20, 100),
        "n_targets": (4, 7, 9),
        "n_test": (4000, 50_000, 50_000),
    },
    "e03": {
        "seed": (0, 0, 0),
        "dimensions": ((4, 8), (4, 8, 16), (4, 8, 16)),
        "sizes": (
            (400, 1600, 6400),
            (400, 800, 1600, 3200, 6400),
            (400, 800, 1600, 3200, 6400, 12_800),
        ),
        "df": (5.0, 5.0, 5.0),
        "n_seeds": (10, 30, 100),
        "n_targets": (3, 6, 8),
        "n_test": (4000, 50_000, 50_000),
    },
    "e04": {
        "seed": (0, 0, 0),
        "d": (8, 8, 8),
        "classes": ((2, 3), (2, 3, 5), (2, 3, 5, 8)),
        "sizes": (
            (400, 1600, 3200),
            (200, 400, 800, 1600, 3200, 6400),
            (200, 400, 800, 1600, 3200, 6400, 12_800),
        ),
        "n_seeds": (6, 24, 200),
        "n_targets": (3, 6, 8),
        "n_test": (4000, 20_000, 50_000),
    },
    "t16": {"seed": (0, 0, 0)},
    "e10": {
        "seed": (0, 0, 0),
        "dim": (8, 20, 20),
        "trials": (3, 20, 50),
        "rounds": (2, 3, 6),
        "batch": (10, 10, 10),
        "ridge_trials": (2, 3, 20),
    },
    "e11": {
        "seed": (0, 0, 0),
        "dim": (20, 20, 20),
        "per_class": (30, 300, 300),
        "trials": (2, 20, 50),
        "rounds": (2, 3, 6),
        "batch": (10, 10, 10),
        "digits_trials": (2, 4, 50),
    },
    "e12": {
        "seed": (0, 0, 0),
        "dim": (20, 20, 20),
        "per_class": (30, 300, 300),
        "trials": (2, 20, 50),
        "rounds": (2, 3, 6),
        "batch": (10, 10, 10),
        "other_trials": (2, 4, 20),
    },
    "e13": {
        "seed": (0, 0, 0),
        "dim": (8, 20, 20),
        "per_class": (40, 300, 300),
        "trials": (2, 20, 50),
        "rounds": (2, 3, 6),
        "batch": (10, 10, 10),
        "supervised_trials": (2, 4, 50),
    },
    "e14": {
        "seed": (0, 0, 0),
        "n_classes": (6, 10, 50),
        "per_class": (20, 60, 100),
        "dim": (6, 10, 40),
        "batch": (6, 10, 50),
        "trials": (3, 20, 20),
        "rounds": (2, 3, 4),
        "leaking_trials": (2, 4, 2),
        "leaking_rounds": (1, 1, 1),
        "complete": (False, False, False),
    },
    "e15": {
        "seed": (0, 0, 0),
        "dim": (8, 20, 20),
        "per_class": (30, 100, 300),
        "start_trials": (3, 20, 50),
        "trials": (2, 8, 20),
        "bought": (10, 40, 40),
    },
    "e16": {},  # reads what e12, e13 and e14 hold
    "e17": {
        "seed": (0, 0, 0),
        "pools": (("digits",), ("digits",), ("digits", "mnist", "mnist60k", "cifar10")),
        "dim": (8, 20, 20),
        "trials": (2, 4, 20),
        "rounds": (3, 3, 9),
        "long_trials": (2, 2, 20),
        "long_rounds": (3, 5, 19),
        "rounding_trials": (2, 2, 8),
        "complete": (False, False, False),
    },
    "e18": {"seed": (0,) * 3, "points": (60, 200, 500), "starts": (2, 4, 20), "complete": NEVER},
    "e21": {"seed": (0,) * 3, "trials": (2, 4, 20), "complete": NEVER},
    "e20": {
        "seed": (0, 0, 0),
        "pools": (("digits",), ("digits",), IMAGE_POOLS),
        "dim": (8, 20, 20),
        "trials": (2, 4, 20),
        "rounds": (3, 3, 3),
        "complete": (False, False, False),
    },
    "u02": {
        "seed": (0, 0, 0),
        "pool_seed": (1, 1, 1),
        "n_fits": (4, 20, 100),
        "n_runs": (20, 400, 2000),
        "n_trials": (2, 20, 100),
    },
    "u01": {"seed": (0, 0, 0), "trials": (3, 20, 100), "rounds": (2, 4, 6)},
    "u04": {"checked": (1, 2, 10), "complete": (False, False, False)},
    "u03": {
        "seed": (0, 0, 0),
        "points": (3000, 20_000, 1_000_000),
        "sizes": ((500, 3000), (1000, 10_000, 100_000), (1000, 10_000, 100_000, 1_000_000)),
    },
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
