"""Prepared files, made here: points with and without images, kinds of features, damage."""

import hashlib
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from firal.data.datasets import load_pool
from firal.data.prepared import data_folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with a small cifar10.npz: 12 points, 8 of them with label-free features."""
    monkeypatch.setenv("FIRAL_DATA", str(tmp_path))
    rng = np.random.default_rng(0)
    np.savez_compressed(
        tmp_path / "cifar10.npz",
        embedding=rng.normal(size=(12, 2)).astype(np.float32),
        labels=np.arange(12, dtype=np.uint8) % 3,
        image_index=np.array([7, 2, 5, 0]),
        images=rng.integers(255, size=(4, 4, 4, 3)).astype(np.uint8),
        selfsup_index=np.array([5, 0, 2, 9, 7, 11, 1, 3]),
        embedding_selfsup=rng.normal(size=(8, 2)).astype(np.float32),
    )
    return tmp_path


def arrays_of(folder):
    with np.load(folder / "cifar10.npz") as file:
        return {key: file[key] for key in file.files}


def test_label_free_features_are_the_default(folder):
    arrays = arrays_of(folder)
    pool = load_pool("cifar10")
    assert pool.labels.tolist() == [1, 2, 2, 0]
    assert np.array_equal(pool.images, arrays["images"])
    expected = arrays["embedding_selfsup"][[4, 2, 0, 1]].astype(float) * np.sqrt(8)
    assert np.array_equal(pool.features, expected)
    whole = load_pool("cifar10", images_only=False)
    assert whole.images is None and len(whole.features) == 8
    assert whole.labels.tolist() == [5 % 3, 0, 2, 0, 1, 2, 1, 0]


def test_supervised_features_on_request(folder):
    arrays = arrays_of(folder)
    pool = load_pool("cifar10", features="supervised")
    assert np.array_equal(
        pool.features, arrays["embedding"][[7, 2, 5, 0]].astype(float) * np.sqrt(12)
    )
    assert len(load_pool("cifar10", features="supervised", images_only=False).labels) == 12
    with pytest.raises(ValueError, match="features of cifar10 must be one of selfsup, supervised"):
        load_pool("cifar10", features="pixels")


def test_names_of_classes_and_pixels(folder):
    arrays = arrays_of(folder)
    np.savez(folder / "imagenet50.npz", **arrays, names=np.array(["ant", "bee", "cat"]))
    assert load_pool("imagenet50").classes == ("ant", "bee", "cat")
    shutil.copy(folder / "cifar10.npz", folder / "mnist60k.npz")
    assert np.array_equal(
        load_pool("mnist60k").features, load_pool("cifar10", features="supervised").features
    )


def test_principal_components_keep_their_proportions(folder):
    arrays = arrays_of(folder)
    own = {k: arrays[k] for k in ("labels", "image_index", "images")}
    X = np.random.default_rng(1).normal(size=(12, 3)) * [9, 3, 1]
    np.savez(folder / "cifar100.npz", features=X.astype(np.float16), **own)
    pool = load_pool("cifar100", images_only=False)
    assert np.mean(pool.features**2) == pytest.approx(1)
    np.testing.assert_allclose(pool.features, X / np.sqrt(np.mean(X**2)), rtol=2e-3, atol=1e-4)
    assert np.array_equal(load_pool("cifar100").features, pool.features[[7, 2, 5, 0]])
    with pytest.raises(ValueError, match="features of cifar100 must be one of supervised"):
        load_pool("cifar100", features="selfsup")


def test_a_missing_file_is_named(folder):
    with pytest.raises(FileNotFoundError) as caught:
        load_pool("imagenet50")
    message = str(caught.value)
    assert f"no file imagenet50.npz in the data folder {folder}" in message
    assert "FIRAL_DATA" in message and "chapter Real data" in message
    assert "make" not in message.replace("made", "")  # a library knows no make targets


def test_missing_features_are_named(folder):
    arrays = arrays_of(folder)
    del arrays["embedding"]
    np.savez(folder / "cifar10.npz", **arrays)
    with pytest.raises(ValueError, match="must hold embedding for supervised features, got emb.*"):
        load_pool("cifar10", features="supervised")
    assert len(load_pool("cifar10").labels) == 4


def test_a_missing_array_is_named(folder):
    arrays = arrays_of(folder)
    del arrays["image_index"]
    np.savez(folder / "cifar10.npz", **arrays)
    with pytest.raises(ValueError, match="must hold labels, images, image_index, got"):
        load_pool("cifar10")


def test_images_without_features_are_refused(folder):
    arrays = arrays_of(folder)
    arrays["image_index"] = np.array([7, 4, 5, 0])
    np.savez(folder / "cifar10.npz", **arrays)
    with pytest.raises(
        ValueError, match="every image in .* must have selfsup features, got none for 1"
    ):
        load_pool("cifar10")


def test_sizes_that_do_not_agree_are_refused(folder):
    arrays = arrays_of(folder)
    arrays["embedding_selfsup"] = arrays["embedding_selfsup"][:-1]
    np.savez(folder / "cifar10.npz", **arrays)
    with pytest.raises(ValueError, match="must have one row per point, got shape"):
        load_pool("cifar10")


def test_checksums(folder):
    path = folder / "cifar10.npz"
    right = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{'0' * 64}  other.npz\n{right}  cifar10.npz\n")
    assert load_pool("cifar10").checksum == right
    (folder / "SHA256SUMS").write_text(f"{'0' * 64} *cifar10.npz\n")
    with pytest.raises(ValueError, match="must have SHA-256 0000.* as in SHA256SUMS, got"):
        load_pool("cifar10")


@pytest.mark.parametrize("key", ["embedding", "labels", "images"])
def test_damage_is_noticed_without_a_manifest(folder, key):
    path, arrays = folder / "cifar10.npz", arrays_of(folder)
    np.savez(path, **arrays)  # stored, not packed: the bytes of the array are in the file
    data = bytearray(path.read_bytes())
    data[data.index(arrays[key].tobytes()) + 3] ^= 0x01
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match="cifar10.npz must be an intact .npz"):
        load_pool("cifar10")
    path.write_bytes(bytes(data[: len(data) // 2]))
    with pytest.raises(ValueError, match="cifar10.npz must be an intact .npz"):
        load_pool("cifar10")


def test_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("FIRAL_DATA", "some/where")
    assert data_folder().as_posix() == "some/where"
    monkeypatch.setenv("FIRAL_DATA", "")
    assert data_folder().name == "firal"


@pytest.mark.skipif(sys.platform != "linux", reason="where Linux keeps caches")
def test_the_folder_on_linux(monkeypatch, tmp_path):
    monkeypatch.delenv("FIRAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "firal"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert data_folder() == Path.home() / ".cache" / "firal"
