"""Prepared files: pools of the paper's size, one checked .npz each, in the data folder.

A prepared file ``<name>.npz`` holds

- ``embedding`` (N, d): unit eigenvectors of Algorithm 3 over all its N points;
- ``embedding_selfsup``: the same for features from a network that never saw a label, for the rows
  ``selfsup_index`` if that array is there, else for all N. One of the two embeddings is enough;
- in their place, for many classes and wide features, ``features`` (N, d): principal components of
  the features of a network, the largest first;
- ``labels`` (N,): integers;
- ``images`` (K, h, w) or (K, h, w, 3) uint8, and their rows ``image_index`` (K,);
- perhaps the ``names`` of the classes, and ``source``: lines of text about its origin.

The chapter *Real data* says how such a file is made. How files are checked is in
``firal.data.files``.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import platformdirs

from firal.data.files import read_npz, verified_sha256

# name -> kinds of features, the default first: label-free ones wherever they exist
PREPARED = {
    "mnist60k": ("pixels",),
    "cifar10": ("selfsup", "supervised"),
    "imagenet50": ("selfsup", "supervised"),
    "cifar100": ("supervised",),
}
COMPONENTS = ("cifar100",)  # pools that hold principal components, no eigenvectors of a graph


def data_folder() -> Path:
    """Return the folder of the prepared files; it may not exist yet.

    Returns
    -------
    Path
        What the environment variable FIRAL_DATA names; by default ``firal`` in the user's cache
        folder (on Linux ``~/.cache/firal``).
    """
    if os.environ.get("FIRAL_DATA"):
        return Path(os.environ["FIRAL_DATA"])
    return platformdirs.user_cache_path("firal", appauthor=False, opinion=False)


def read_prepared(
    name: str, features: str | None = None, images_only: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None, str]:
    """Read the prepared file of a pool.

    Parameters
    ----------
    name : str
        One of the names in ``PREPARED``.
    features : str, optional
        Kind of features; by default the first that ``PREPARED`` lists for this name.
    images_only : bool
        True gives only the points that have an image, False all points, without images.

    Returns
    -------
    features : np.ndarray of shape (m, d)
        Columns over all points of the file have mean square 1, as ``spectral_embedding`` gives;
        principal components keep their proportions, and have mean square 1 as a whole.
    labels : np.ndarray of shape (m,)
        Integers as in the file.
    images : np.ndarray or None
        (m, h, w) or (m, h, w, 3) uint8, if ``images_only``.
    names : np.ndarray or None
        Name of each class, if the file has them.
    checksum : str
        SHA-256 of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file in the data folder.
    ValueError
        If the file is damaged, is not the one in SHA256SUMS, or lacks what was asked for.
    """
    kinds = PREPARED[name]
    features = kinds[0] if features is None else features
    if features not in kinds:
        raise ValueError(f"features of {name} must be one of {', '.join(kinds)}, got {features!r}")
    path = data_folder() / f"{name}.npz"
    if not path.is_file():
        raise FileNotFoundError(
            f"no file {path.name} in the data folder {path.parent}: if it is elsewhere, set the "
            "environment variable FIRAL_DATA to its folder; the chapter Real data of the book says "
            "how it is made"
        )
    checksum = verified_sha256(path)
    key = "embedding_selfsup" if features == "selfsup" else "embedding"
    key = "features" if name in COMPONENTS else key
    arrays = read_npz(path, required=("labels", "images", "image_index"))
    if key not in arrays:
        raise ValueError(
            f"{path.name} must hold {key} for {features} features, got "
            f"{', '.join(sorted(arrays))}: ask for other features, or add these to the file as the "
            "chapter Real data of the book says"
        )
    X, y = arrays[key], arrays["labels"]
    # row of the labels for every row of the features
    own_rows = key == "embedding_selfsup" and "selfsup_index" in arrays
    source = arrays["selfsup_index"] if own_rows else None
    source = np.arange(len(X)) if source is None else source
    if X.ndim != 2 or len(X) != len(source) or source.max() >= len(y):
        raise ValueError(
            f"{key} in {path.name} must have one row per point, got shape {X.shape} "
            f"for {len(source)} points"
        )
    X = X.astype(np.float64)
    X *= np.sqrt(len(X)) if key != "features" else 1 / np.sqrt(np.mean(X**2))  # mean square 1
    rows, images = np.arange(len(X)), None
    if images_only:
        rows = _rows_with_image(arrays["image_index"], source, features, path)
        images = arrays["images"]
    return X[rows], y[source[rows]], images, arrays.get("names"), checksum


def _rows_with_image(image_index, source, features, path):
    """Row of the features for every image; ValueError if an image has none."""
    place = {row: position for position, row in enumerate(source.tolist())}
    missing = [row for row in image_index.tolist() if row not in place]
    if missing:
        raise ValueError(
            f"every image in {path.name} must have {features} features, "
            f"got none for {len(missing)} of them"
        )
    return np.array([place[row] for row in image_index.tolist()])
