"""What a user passes in: tables of several kinds, labels in several forms."""

from types import SimpleNamespace

import numpy as np
import pytest

from firal.engine import inputs
from firal.engine.inputs import as_table, encode_labels

pandas = pytest.importorskip("pandas")
X = np.arange(12.0).reshape(4, 3)


class LikePolars:
    """The part of a polars frame that is used: no ``items``, and types without ``kind``."""

    def __init__(self, columns):
        self.columns, self._columns = list(columns), [LikePolarsSeries(c) for c in columns.values()]
        self.shape = (4, len(self.columns))

    def get_columns(self):
        return self._columns

    def __len__(self):
        return 4


class LikePolarsSeries:
    dtype = "Float64"

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


class LikeOldPandas:
    """Integers with a mask, as pandas 2 gives them to NumPy."""

    dtype = pandas.Int64Dtype()

    def __array__(self, dtype=None, copy=None):
        return np.array([1, pandas.NA], dtype=object)

    def to_numpy(self, dtype, na_value):
        return np.array([1, na_value], dtype)


def test_an_array_stays_as_it_is(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert as_table(X) is X and as_table(mapped) is mapped
    assert np.array_equal(as_table(X.tolist()), X)


def test_frames():
    frame = pandas.DataFrame(X, columns=list("aab"))  # equal names are no obstacle
    assert np.array_equal(as_table(frame), X)
    mixed = pandas.DataFrame(
        {
            "int": pandas.array([1, None, 3, 4], dtype="Int64"),
            "bool": [True, False, True, True],
            "small": np.float32([0.5, 1, 2, 3]),
        }
    )
    got = as_table(mixed)
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, [[1, 1, 0.5], [np.nan, 0, 1], [3, 1, 2], [4, 1, 3]])
    old = SimpleNamespace(columns=["a"], items=lambda: [("a", LikeOldPandas())])
    np.testing.assert_array_equal(as_table(old), [[1], [np.nan]])
    like = LikePolars({"a": [1, 2, 3, 4], "b": [0.5, 0, 0, 1]})
    assert np.array_equal(as_table(like), [[1, 0.5], [2, 0], [3, 0], [4, 1]])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            pandas.DataFrame({"a": [1], "name": ["x"], "day": pandas.to_datetime(["2026"])}),
            "name, day",
        ),
        (LikePolars({"a": [1, 2, 3, 4], "name": list("wxyz")}), "got name of another type"),
        (pandas.DataFrame({"kind": pandas.Categorical(["u", "v"])}), "got kind of another type"),
        (pandas.DataFrame(index=range(3)), r"shape \(3, 0\)"),
        (np.ma.masked_less(X, 1), "features must have no masked entries, got 1"),
        ([["a", "b"]], "features must hold real numbers, got the text"),
        (X[0], r"shape \(3,\)"),
        (3.0, r"shape \(\)"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        as_table(table)


@pytest.mark.parametrize(
    "y",
    [
        ["cat", None, "dog", "cat", None],
        ["cat", "", "dog", "cat", "  "],
        ["cat", np.nan, "dog", "cat", pandas.NA],
        ["cat", pandas.NaT, "dog", "cat", np.float32("nan")],
        np.array(["cat", "", "dog", "cat", ""]),
        np.array(["cat", np.nan, "dog", "cat", np.nan]),  # NumPy writes the text "nan"
        np.array(["cat", None, "dog", "cat", np.nan], dtype=object),
        pandas.Series(["cat", None, "dog", "cat", None], index=range(5, 0, -1)),
        pandas.Series(["cat", None, "dog", "cat", None], dtype="category"),
        pandas.Series(["cat", None, "dog", "cat", None], dtype="string"),
        np.ma.masked_equal(np.array(["cat", "?", "dog", "cat", "?"]), "?"),
        {3: "cat", 0: "cat", 2: "dog"},
        {np.int64(3): "cat", 0: np.str_("cat"), 2: b"dog", 4: None},
    ],
)
def test_labels_that_are_words(y):
    known, codes, classes = encode_labels(y, 5)
    assert known.tolist() == [0, 2, 3] and codes.tolist() == [0, 1, 0]
    assert [str(np.array(name).astype(str)) for name in classes] == ["cat", "dog"]


@pytest.mark.parametrize(
    "y",
    [
        [10, None, 9, 10],
        np.array([10, np.nan, 9, 10]),
        np.array([10, np.nan, 9, 10], dtype=np.float32),
        pandas.Series([10, None, 9, 10]),
        pandas.Series([10, None, 9, 10], dtype="Int64"),
        np.ma.masked_equal([10, -1, 9, 10], -1),
        {0: 10, 2: 9.0, 3: np.int8(10)},
    ],
)
def test_whole_numbers_are_sorted_as_numbers(y):
    known, codes, classes = encode_labels(y, 4)
    assert known.tolist() == [0, 2, 3] and codes.tolist() == [1, 0, 1]
    assert classes == (9, 10) and all(type(name) is int for name in classes)


def test_classes_are_compared_as_text_and_keep_their_first_form():
    assert encode_labels(["10", 10, "9.0", 9], 4).classes == ("9.0", "10")
    assert encode_labels(["10", 10, "9.0", 9], 4).codes.tolist() == [1, 1, 0, 0]
    assert encode_labels([10, "9", "x"], 3).classes == (10, "9", "x")  # a word: sorted as text
    assert encode_labels([-1, 2, -10], 3).classes == (-10, -1, 2)
    assert encode_labels(["nat", "None", "-"], 3).classes == ("-", "None", "nat")
    assert encode_labels([True, False], 2).classes == (False, True)
    assert encode_labels([0.5, 2.0], 2).classes == (0.5, 2)
    assert encode_labels([7, "07"], 2).classes == ("07", 7)  # whatever came first


@pytest.mark.parametrize("y", [None, {}, [None] * 4, np.full(4, np.nan)])
def test_no_labels(y):
    known, codes, classes = encode_labels(y, 4)
    assert known.shape == codes.shape == (0,) and known.dtype == np.intp and classes == ()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2], "one entry for each of the 4 points, .* got 2 entries"),
        ("abcd", "got 'abcd'"),
        (np.ones((4, 1)), "one entry for each of the 4 points"),
        (pandas.DataFrame({"y": range(4)}), "one entry for each of the 4 points"),
        ({4: "a"}, r"y must name rows in 0..3, got 4"),
        ({-1: "a"}, r"y must name rows in 0..3, got -1"),
        ({"0": "a"}, r"y must name rows in 0..3, got '0'"),
        ({True: "a"}, r"y must name rows in 0..3, got True"),
    ],
)
def test_labels_that_do_not_fit_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        encode_labels(y, 4)


def test_sparse_matrices_become_dense_up_to_a_size(monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    for make in (sparse.csr_array, sparse.csc_matrix):
        monkeypatch.setattr(inputs, "LARGEST_DENSE", 8 * 12)
        assert np.array_equal(as_table(make(X)), X)
        monkeypatch.setattr(inputs, "LARGEST_DENSE", 8 * 12 - 1)
        with pytest.raises(ValueError, match="features must"):
            as_table(make(X))


def test_at_most_twelve_columns_are_named():
    frame = pandas.DataFrame({f"word{k}": ["x"] for k in range(14)})
    with pytest.raises(ValueError, match="got word0, word1, .*, word11 of another type"):
        as_table(frame)
