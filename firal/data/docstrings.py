"""A pool with hundreds of classes that every machine can make: docstrings, classified by module.

The documentation strings of the scientific packages that are installed beside ``firal`` are real
text, and the module that a text stands in is its class. The sources are parsed and never imported
or executed. Given the versions of the packages, texts and classes are the same everywhere; their
SHA-256 says which ones they are.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

PACKAGES = ("matplotlib", "numpy", "pandas", "scipy", "sklearn")
FEWEST_WORDS = 8  # of a docstring
FEWEST_TEXTS = 15  # of a module that is a class
DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
KINDS = ("components", "words")
COMPONENTS = 100
HASHED = 2048
# of the texts and classes with the versions that requirements.txt pins
PINNED_SHA256 = "5a67c1cb3518d190d87551d1f4a55340892b7578ae3ffeb18c2d129b9629a6f1"


def docstring_texts(packages: Sequence[str] = PACKAGES) -> tuple[list[str], list[str]]:
    """Collect the docstrings of the functions and classes of some packages.

    Parameters
    ----------
    packages : sequence of str
        Names to import; the packages must be installed. Folders of tests are left out.

    Returns
    -------
    texts : list of str
        Docstrings of at least ``FEWEST_WORDS`` words, each text once.
    modules : list of str
        The module of every text, such as "numpy.linalg._linalg". Each has at least
        ``FEWEST_TEXTS``.

    Raises
    ------
    ImportError
        If a package is not installed.

    Examples
    --------
    >>> texts, modules = docstring_texts(["tqdm"])
    >>> sorted(set(modules))
    ['tqdm.std']
    """
    found: dict[str, str] = {}
    for package in packages:
        for module, source in _sources(package):
            for text in _documented(source):
                if len(text.split()) >= FEWEST_WORDS:
                    found.setdefault(text, module)
    sizes = Counter(found.values())
    kept = [(text, m) for text, m in found.items() if sizes[m] >= FEWEST_TEXTS]
    return [text for text, _ in kept], [module for _, module in kept]


def docstring_checksum(texts: Sequence[str], modules: Sequence[str]) -> str:
    """SHA-256 of texts and their modules.

    Parameters
    ----------
    texts, modules : sequence of str
        As :func:`docstring_texts` gives them.

    Returns
    -------
    str
        In hexadecimal digits.
    """
    digest = hashlib.sha256()
    for pair in zip(modules, texts, strict=True):
        for part in pair:
            digest.update(part.encode("utf8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def text_features(texts: Sequence[str], kind: str = KINDS[0]) -> np.ndarray:
    """Numbers for texts, from the frequencies of their words.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    kind : {"components", "words"}
        "words": frequencies of words and of pairs of words, sorted into 2,048 columns by a hash,
        weighted by how rare they are, each text of length 1. "components": the 100 leading singular
        directions of the same frequencies before hashing.

    Returns
    -------
    np.ndarray of shape (n, 2048) or (n, 100)
        float32, with mean square 1 as a whole.

    Raises
    ------
    ValueError
        If there is no such kind.
    """
    # importing these takes longer than the rest of the module
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import (
        HashingVectorizer,
        TfidfTransformer,
        TfidfVectorizer,
    )

    if kind not in KINDS:
        raise ValueError(f"features of docstrings must be one of {', '.join(KINDS)}, got {kind!r}")
    words = dict(token_pattern=r"[A-Za-z]{2,}", ngram_range=(1, 2), dtype=np.float32)
    if kind == "words":
        counts = HashingVectorizer(n_features=HASHED, norm=None, **words).transform(texts)
        X = TfidfTransformer(smooth_idf=True).fit_transform(counts).toarray()
    else:
        table = TfidfVectorizer(min_df=3, sublinear_tf=True, **words).fit_transform(texts)
        size = min(COMPONENTS, min(table.shape) - 1)
        X = TruncatedSVD(size, n_iter=4, random_state=0).fit_transform(table)
    return (X / np.sqrt(np.mean(X**2))).astype(np.float32, copy=False)


def _sources(package: str) -> Iterator[tuple[str, str]]:
    """Name and text of every module of a package, in the order of their paths."""
    spec = find_spec(package)  # of a package at the top: finds it and runs nothing
    if spec is None or spec.origin is None:
        raise ImportError(
            f'the pool "docstrings" is made from {", ".join(PACKAGES)}, and {package} is not '
            f'installed: pip install "firal[notebook]"'
        )
    folder = Path(spec.origin).parent
    paths = [path.relative_to(folder.parent) for path in folder.rglob("*.py")]
    for path in sorted(paths, key=lambda path: path.parts):
        if not {"test", "tests"} & set(path.parts):
            yield ".".join(path.with_suffix("").parts), (folder.parent / path).read_text("utf8")


def _documented(source: str) -> Iterator[str]:
    """Docstrings of the functions and classes of a module, from top to bottom."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED):
            text = ast.get_docstring(node)
            if text:
                yield text
