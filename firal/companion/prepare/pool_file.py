"""Make a prepared file for ``load_pool``: ``make data NAME=mnist60k`` and so on, see ``RECIPES``.

The command behind it::

    python -m firal.companion.prepare NAME [--images FOLDER] [--features SPEC]
                                 [--kind KIND] [--seed SEED] [--per-class N]

The name ``tables`` has no options: it downloads the package of tables
(``firal.companion.prepare.tables``).

For a pool there are four steps: read the images, compute features (raw pixels for MNIST), embed
them by Algorithm 3 with the paper's 256 neighbors (CIFAR-100: take principal components), write
the file and its checksum.
Unfinished work is in the folder ``NAME.work`` beside the file. Interrupted commands resume: run the
same command again. Exit code: 0 done, 1 failed, 2 wrong arguments, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from firal.common.progress import reporter
from firal.companion.prepare.features import checked, dino_resnet50, plugin
from firal.companion.prepare.images import OPENML, download, from_arrays, from_folder
from firal.companion.prepare.tables import download as download_tables
from firal.data.datasets import PAPER_NEIGHBORS
from firal.data.embedding import spectral_embedding
from firal.data.files import MANIFEST, read_npy, read_npz, sha256, verified_sha256
from firal.data.prepared import PREPARED, data_folder
from firal.data.writing import replacing

NEIGHBORS = PAPER_NEIGHBORS
CHUNK = 512  # images whose features are computed and stored at a time


class Recipe(NamedTuple):
    """What differs between the pools."""

    dim: int
    classes: int
    shown: int  # images per class in the file
    read_size: int  # pixels of the images that the network sees
    show_size: int  # pixels of the images in the file
    gray: bool = False
    components: bool = False  # principal components in place of Algorithm 3


RECIPES = {
    "mnist60k": Recipe(20, 10, 600, 28, 28, gray=True),
    "cifar10": Recipe(20, 10, 600, 32, 32),
    "imagenet50": Recipe(40, 50, 100, 224, 32),
    "cifar100": Recipe(256, 100, 50, 32, 32, components=True),
}


def main(argv=None):
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m firal.companion.prepare", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    names = (*RECIPES, "tables")
    parser.add_argument("name", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--images", help="folder with one sub-folder of images per class")
    parser.add_argument("--features", help="module:function, or a .npy with one row per image")
    parser.add_argument("--kind", choices=PREPARED["cifar10"], help="of --features")
    parser.add_argument("--seed", type=int, default=0, help="draws classes and images")
    parser.add_argument("--per-class", type=int, help="images per class (default: all)")
    options = parser.parse_args(argv)
    try:
        if options.name == "tables":
            print(_tables(options))
        else:
            make_pool_file(**vars(options), progress=True)
    except KeyboardInterrupt:
        print("\ninterrupted: run the same command again to resume", file=sys.stderr)
        return 130
    except (ValueError, ImportError, OSError, MemoryError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _tables(options):
    """Download the tables; ValueError if options were given that they do not have."""
    given = [key for key in ("images", "features", "kind", "per_class") if getattr(options, key)]
    if given or options.seed:
        raise ValueError("tables are downloaded as they are: give no other option")
    return download_tables()


def make_pool_file(
    name, *, images=None, features=None, kind=None, seed=0, per_class=None, progress=False
):
    """Write ``name``.npz and its line of SHA256SUMS into the data folder; returns its path.

    If the file exists, only a kind of features that it lacks is added.
    """
    recipe = RECIPES[name]
    kind = _kind(name, images, features, kind)
    folder = data_folder()
    path = folder / f"{name}.npz"
    key = "embedding_selfsup" if kind == "selfsup" else "embedding"
    key = "features" if recipe.components else key
    present, work = _present(path), folder / f"{name}.work"
    if key in present:
        if _is_done(work, kind):  # interrupted when the file was complete
            _list(path, sha256(path))
            _remove(work)
        _say(progress, f"{path} exists and has {kind} features: nothing to do")
        return path
    work.mkdir(parents=True, exist_ok=True)
    report, bar = reporter(progress)
    try:
        # 1. Images.
        if images is None:
            source = _downloaded(name, per_class, folder, work, report)
        else:
            source, paths = from_folder(images, recipe.classes, per_class, seed, gray=recipe.gray)
            _write_lines(work / "files.txt", paths)  # row order, for features computed elsewhere
        if present and not np.array_equal(present["labels"], source.labels):
            raise ValueError(
                f"{path.name} exists and was made of other images: give the same IMAGES, SEED "
                "and PER_CLASS as for that file, or remove it"
            )
        # 2. Features.
        listed = "" if images is None else sha256(work / "files.txt")
        _check_settings(work, dict(images=images, files=listed, features=features, kind=kind))
        X, origin = _features(recipe, source, features, kind, folder, work, report)
        # 3. Algorithm 3, or principal components.
        if recipe.components:
            made = principal_components(X, recipe.dim)
            how = f"unit rows, {made.shape[1]} principal components, not whitened"
        else:
            embedding = spectral_embedding(X, recipe.dim, NEIGHBORS, progress=report)
            # unit eigenvectors, as the format says
            made = (embedding / np.sqrt(len(embedding))).astype(np.float32)
            how = f"Algorithm 3, {NEIGHBORS} neighbors, {recipe.dim} unit eigenvectors"
    finally:
        if bar is not None:
            bar.close()
    # 4. The file.
    lines = [
        f"images: {source.source}",
        f"features ({kind}): {origin}",
        f"{key}: {how}",
    ]
    arrays = present or _shown(source, recipe, seed)
    known = arrays.get("source", np.array([])).tolist()
    arrays["source"] = np.array(known + [line for line in lines if line not in known])
    arrays[key] = made
    checksum = _publish(path, arrays)
    _remove(work)
    _say(progress, f"{path}\nSHA-256 {checksum}\n" + "\n".join(arrays["source"].tolist()))
    return path


def principal_components(X, most):
    """Principal components (N, min(most, D)) of rows of length 1, float16, largest first."""
    X = np.asarray(X, dtype=np.float32)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    X = X / np.where(lengths > 0, lengths, 1)
    X -= X.mean(axis=0)
    values, vectors = np.linalg.eigh((X.T @ X).astype(np.float64))
    return (X @ vectors[:, ::-1][:, :most].astype(np.float32)).astype(np.float16)


def _kind(name, images, features, kind):
    """Kind of the features that will be made; ValueError if the arguments do not fit."""
    if name == "mnist60k":
        if features or kind:
            raise ValueError("the features of mnist60k are its pixels: give no FEATURES, no KIND")
        return "pixels"
    if name not in OPENML and images is None:
        raise ValueError(
            f"the images of {name} cannot be downloaded: give IMAGES=folder, with one "
            "sub-folder of images per class"
        )
    if RECIPES[name].components:
        if features is None or kind != "supervised":
            raise ValueError(f"{name} has supervised features: give FEATURES and KIND=supervised")
        return kind
    if features is None and kind not in (None, "selfsup"):
        raise ValueError(f"the default network is selfsup: with KIND={kind} give FEATURES")
    if features is not None and kind is None:
        raise ValueError(
            "with FEATURES say what they are: KIND=selfsup if no label was used to train "
            "the network, KIND=supervised otherwise"
        )
    return kind or "selfsup"


def _present(path):
    """Arrays of the file, none if there is no file; the user must remove a damaged one."""
    if not path.is_file():
        return {}
    try:
        verified_sha256(path)
        return read_npz(path, required=("labels", "images", "image_index"))
    except ValueError as error:
        raise ValueError(f"{error}. Remove {path} to make it again") from error


def _downloaded(name, per_class, folder, work, report):
    """Step 1 without a folder of images: from OpenML, kept in ``work`` once it is checked."""
    if per_class is not None:
        raise ValueError(f"PER_CLASS needs IMAGES: all images of {name} are used")
    about = OPENML[name]
    report("download", 0, 1)
    stored = work / "images.npz"
    try:
        arrays = read_npz(stored, required=("images", "labels"))
    except ValueError:  # none, or damaged
        images, labels = download(name, folder)
        arrays = dict(images=images[: about.kept], labels=labels[: about.kept])
        _write(stored, lambda file: np.savez(file, **arrays))
    report("download", 1, 1)
    source = (
        f"data set {about.data_id} of OpenML, first {about.kept} of {about.rows} rows, "
        f"unordered SHA-256 {about.checksum}"
    )
    return from_arrays(arrays["images"], arrays["labels"], source)


def _check_settings(work, settings):
    """Record the settings; ValueError if there are features that were begun with others."""
    record = work / "settings.json"
    text = json.dumps(settings, sort_keys=True)
    begun = any(work.glob("features-*.npz"))
    if begun and record.is_file() and record.read_text(encoding="utf8") != f"{text}\n":
        raise ValueError(
            f"{work} holds features begun with other settings, "
            f"{record.read_text(encoding='utf8').strip()}: repeat those, or remove that folder"
        )
    _write_lines(record, [text])


def _is_done(work, kind):
    """Whether there is unfinished work, and it is about this kind of features."""
    record = work / "settings.json"
    if record.is_file():
        return json.loads(record.read_text(encoding="utf8"))["kind"] == kind
    return work.is_dir() and not any(work.iterdir())


def _remove(work):
    """Remove finished work, its settings last: they say whose it is."""
    for path in sorted(work.iterdir(), key=lambda path: path.name == "settings.json"):
        path.unlink()
    work.rmdir()


def _features(recipe, source, spec, kind, data, work, report):
    """Step 2: features (N, D) float32, and a line about their origin."""
    n = len(source.labels)
    if kind == "pixels":
        return source.read(np.arange(n), recipe.read_size).reshape(n, -1).astype(np.float32), kind
    if spec is not None and spec.endswith(".npy"):
        own = read_npy(spec)
        return checked(own, n, spec), f"{Path(spec).name}, SHA-256 {sha256(spec)}"
    if spec is None:
        function, origin = dino_resnet50(data / "weights")
    else:
        function, origin = plugin(spec)
    chunks = []
    for start in range(0, n, CHUNK):
        rows = np.arange(start, min(start + CHUNK, n))
        stored = work / f"features-{start:07d}.npz"
        try:
            chunk = read_npz(stored, required=("features",))["features"]
            chunk = checked(chunk, len(rows), stored.name)
        except ValueError:  # none, or damaged
            chunk = function(source.read(rows, recipe.read_size))
            chunk = checked(chunk, len(rows), spec or "the network")
            _write(stored, lambda file, chunk=chunk: np.savez(file, features=chunk))
        chunks.append(chunk)
        report("features", int(rows[-1]) + 1, n)
    return np.concatenate(chunks), origin


def _shown(source, recipe, seed):
    """Labels, and the images to show: the same number per class, drawn by ``seed``."""
    rng = np.random.default_rng(seed)
    count = min(recipe.shown, int(np.bincount(source.labels).min()))
    rows = [
        rng.choice(np.flatnonzero(source.labels == k), count, replace=False)
        for k in range(recipe.classes)
    ]
    rows = np.sort(np.concatenate(rows))
    arrays = dict(
        labels=source.labels, image_index=rows, images=source.read(rows, recipe.show_size)
    )
    if source.names is not None:
        arrays["names"] = np.array(source.names)
    return arrays


def _publish(path, arrays):
    """Write the file and its line of SHA256SUMS; returns the checksum.

    After an interruption in between, the file has no line, but never a wrong one.
    """
    _list(path, None)
    _write(path, lambda file: np.savez_compressed(file, **arrays))
    checksum = sha256(path)
    _list(path, checksum)
    return checksum


def _list(path, checksum):
    """Give a file its line of SHA256SUMS, or none."""
    manifest = path.with_name(MANIFEST)
    lines = manifest.read_text("utf8").splitlines() if manifest.is_file() else []
    others = [line for line in lines if line.split()[-1:] not in ([path.name], [f"*{path.name}"])]
    new = others if checksum is None else [*others, f"{checksum}  {path.name}"]
    if new != lines:
        _write_lines(manifest, new)


def _write_lines(path, lines):
    _write(path, lambda file: file.write("".join(f"{line}\n" for line in lines).encode()))


def _write(path, fill):
    """Write a file completely or not at all."""
    with replacing(path) as file:
        fill(file)


def _say(progress, text):
    if progress:
        print(text)
