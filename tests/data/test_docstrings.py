"""The pool of docstrings: what is collected, and the features of texts."""

import sys

import numpy as np
import pytest

from firal.data import datasets, docstrings
from firal.data.docstrings import docstring_checksum, docstring_texts, text_features

LONG = "one two three four five six seven eight"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with three modules and tests; importing it would be an error."""
    folder = tmp_path / "somewhere" / "textpack"
    (folder / "tests").mkdir(parents=True)
    function = 'def f{0}():\n    """{1} {0}."""\n'
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (folder / "b.py").write_text(
        f'"""Of the module: {LONG}."""\n'
        + "".join(function.format(i, LONG) for i in range(20))
        + 'class A:\n    """Short."""\n    async def g(self):\n'
        + f'        """{LONG}, in a class."""\n'
    )
    (folder / "a.py").write_text("".join(function.format(i, LONG) for i in range(19)))
    (folder / "c.py").write_text("".join(function.format(i + 99, LONG) for i in range(14)))
    (folder / "tests" / "d.py").write_text(
        "".join(function.format(i + 50, LONG) for i in range(40))
    )
    monkeypatch.syspath_prepend(str(folder.parent))
    return "textpack"


def test_what_is_collected(package, monkeypatch):
    monkeypatch.setattr(docstrings, "FEWEST_TEXTS", 2)
    texts, modules = docstring_texts([package])
    assert package not in sys.modules
    # 19 texts are in two modules, and stay with the first; the module's own text is no member's
    assert modules == ["textpack.a"] * 19 + ["textpack.b"] * 2 + ["textpack.c"] * 14
    assert texts[19:21] == [f"{LONG} 19.", f"{LONG}, in a class."]
    assert len(set(texts)) == len(texts)
    monkeypatch.setattr(docstrings, "FEWEST_TEXTS", 15)
    assert set(docstring_texts([package])[1]) == {"textpack.a"}


def test_checksum_sees_every_part():
    same = docstring_checksum(["a", "b"], ["m", "n"])
    assert same == docstring_checksum(["a", "b"], ["m", "n"])
    for texts, modules in ((["a", "c"], ["m", "n"]), (["a", "b"], ["m", "o"]), (["ab"], ["mn"])):
        assert docstring_checksum(texts, modules) != same


def test_features_of_texts():
    topics = ("matrix inverse product", "figure axes color", "random sample law")
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.permutation((topics[i % 3] + " the of and").split())) for i in range(60)]
    for kind in docstrings.KINDS:
        X = text_features(texts, kind)
        assert X.dtype == np.float32 and np.mean(X**2) == pytest.approx(1, rel=1e-4)
        assert np.array_equal(X, text_features(texts, kind))
        near = np.argsort(np.sum((X[:, None] - X) ** 2, axis=2), axis=1)[:, 1:4]
        assert np.mean(near % 3 == np.arange(60)[:, None] % 3) > 0.9
    with pytest.raises(ValueError, match="features of docstrings must be one of components, words"):
        text_features(texts, "letters")


def test_load_pool(package, monkeypatch):
    monkeypatch.setattr(docstrings, "FEWEST_TEXTS", 14)
    monkeypatch.setattr(datasets, "docstring_texts", lambda: docstring_texts([package]))
    pool = datasets.load_pool("docstrings", features="words")
    assert pool.features.shape == (33, 2048) and pool.features.dtype == np.float64
    assert pool.classes == ("textpack.a", "textpack.c") and pool.images is None
    assert pool.labels.tolist() == [0] * 19 + [1] * 14
    assert pool.checksum == docstring_checksum(*docstring_texts([package]))


def test_missing_package():
    with pytest.raises(ImportError, match=r"no_such_package is not installed: pip install"):
        docstring_texts(["no_such_package"])
