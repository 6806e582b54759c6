"""Shared by all tests: where things are, how hypothesis runs, what waits for ``make nightly``."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT / "book" / "_tools", ROOT / "book" / "_ext", ROOT / "tests"):
    sys.path.insert(0, str(folder))

# No deadline: a busy machine is slow, not wrong. Derandomized: CI fails the same way twice.
settings.register_profile(
    "firal", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
# `make mutants` only asks whether something fails: the smallest example that does costs minutes.
settings.register_profile(
    "mutants", settings.get_profile("firal"), phases=[Phase.explicit, Phase.generate]
)
settings.load_profile("mutants" if "MUTANT_UNDER_TEST" in os.environ else "firal")


def pytest_configure(config):
    """Leave out what is marked ``nightly``, unless an option ``-m`` says what to run."""
    config.addinivalue_line("markers", "nightly: takes long, `make nightly` runs it")
    config.option.markexpr = config.option.markexpr or "not nightly"


def pytest_collection_modifyitems(items):
    """Mark the slow notebooks; skip, with the reason, those that cannot be executed here.

    pytest gives every collected item to this hook, also those of ``notebooks/``, as long as
    ``tests`` is among its arguments (it is in ``make test`` and by default). A conftest.py in
    ``notebooks/`` would hide this one from ``from conftest import ROOT``.
    """
    from needs import why_not_checked
    from nightly import slow_notebooks

    slow = set(slow_notebooks())
    for item in items:
        if item.path.stem in slow:
            item.add_marker(pytest.mark.nightly)
        if item.path.suffix == ".ipynb" and (reason := why_not_checked(item.path)):
            item.add_marker(pytest.mark.skip(reason=reason))
