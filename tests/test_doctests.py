"""The examples in docstrings run, and what `import firal` gives has one."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import firal

MODULES = [m.name for m in pkgutil.walk_packages(firal.__path__, "firal.")]
MODULES = [name for name in MODULES if "companion" not in name and "__main__" not in name]


@pytest.mark.parametrize("name", ["firal", *MODULES])
def test_examples_run(name):
    if name in ("firal.skactiveml", "firal.skactiveml_base"):
        pytest.importorskip("skactiveml", reason="scikit-activeml is not installed")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", firal.__all__)
def test_public_functions_have_an_example(name):
    thing = getattr(firal, name)
    if inspect.isfunction(thing):
        assert ">>> " in thing.__doc__


def test_a_wrong_example_is_found():
    def wrong():
        """
        >>> 1 + 1
        3
        """

    runner = doctest.DocTestRunner(verbose=False)
    (test,) = doctest.DocTestFinder().find(wrong, "wrong", globs={})
    assert runner.run(test, out=lambda text: None).failed == 1
