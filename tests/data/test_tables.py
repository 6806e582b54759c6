"""Tables of a user: all formats give the same, labels are read in every form, or refused."""

import pickle

import numpy as np
import pytest

from firal.data import tables
from firal.data.tables import as_text, check_ids, read_labels, read_table

X = np.array([[1.0, 2.5], [-3.0, 4e-3], [0.0, 7.0]])


def write(path, text):
    path.write_text(text, encoding="utf8")
    return path


def test_every_format_gives_the_same(tmp_path):
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "b.npz", features=X, ids=["u", "v", "w"], y=[1.0, np.nan, 2.0])
    np.savez(tmp_path / "c.npz", X)
    plain = "1.0,2.5\n-3,0.004\n0,7\n"
    files = [tmp_path / "a.npy", tmp_path / "b.npz", tmp_path / "c.npz"]
    files += [write(tmp_path / "d.csv", plain), write(tmp_path / "e.csv", "p,q\n" + plain)]
    files += [write(tmp_path / "f.TSV", plain.replace(",", "\t"))]
    files += [write(tmp_path / "g.txt", "\ufeffp;q\n" + plain.replace(",", ";") + "\n\n")]
    for file in files:
        assert np.array_equal(read_table(file)[0], X), file.name
    assert isinstance(read_table(tmp_path / "a.npy")[0], np.memmap)
    wanted = {"y": ["1", None, "2"], "ids": ["u", "v", "w"]}
    assert read_table(tmp_path / "b.npz", ["y", "ids"])[1] == wanted
    assert read_table(tmp_path / "g.txt", ["p"])[1] == {"p": ["1", "-3", "0"]}  # no mark in p
    named = write(tmp_path / "h.csv", 'ids,p,note,q,y\nu,1,"a, b",2.5,1\nv,-3,,4e-3,\nw,0,x,7,2\n')
    features, found = read_table(named, ["y", "ids"], ["note"])
    assert np.array_equal(features, X) and found == wanted


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"p": X[:, 0], "q": X[:, 1], "y": [1, None, 2], "id": ["u", "v", "w"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    features, found = read_table(tmp_path / "a.parquet", ["y", "id"])
    assert np.array_equal(features, X)
    assert found == {"y": ["1", None, "2"], "id": ["u", "v", "w"]}
    parquet.write_table(table.select(["y"]), tmp_path / "y.parquet")
    assert read_labels(tmp_path / "y.parquet", 3) == {0: "1", 2: "2"}
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(ValueError, match="bad.parquet must be an intact .parquet"):
        read_table(tmp_path / "bad.parquet")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    (tmp_path / "a.parquet").touch()
    with pytest.raises(ValueError, match="pip install pyarrow"):
        read_table(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (np.float32(2.5), "2.5"),
        (" cat ", "cat"),
        ("", None),
        ("  ", None),
        (None, None),
        (np.nan, None),
        (b"dog", "dog"),
        (True, "True"),
        ("1.0", "1"),
        ("-1.000", "-1"),
        ("007", "007"),
        ("1.50", "1.50"),
        (".0", ".0"),
        ("nan", None),
        (" NaN", None),
        ("NA", "NA"),
        ("None", "None"),
        ("null", "null"),
    ],
)
def test_text_of_a_cell(value, text):
    assert as_text(value) == text


@pytest.mark.parametrize(
    "text",
    [
        "row,label\n0,cat\n2,dog\n",
        "rank,row,note,label\n1,2,,dog\n2,0,x,cat\n3,1,,\n",
        "0,cat\n2,dog\n",
        "2\tdog\n0\tcat\n",
        "cat\n\ndog\n",
        "y\ncat\n\ndog\n",
        'anything\ncat\n""\ndog',
        "0.0,cat\n2.0,dog\n",
        "row,label\n0.0,cat\n2.0,dog\n1,nan\n",
        "Label\ncat\nNaN\ndog\n",
        "TARGET\ncat\n\ndog\n\n",
        ",row,label\n7,0,cat\n8,2,dog\n",
        "label,name\ncat,u\ndog,w\n",
        "row,name,label\n0,u,cat\n2,w,dog\n",
    ],
)
def test_every_form_of_labels(tmp_path, text):
    file = write(tmp_path / "labels.csv", text)
    assert read_labels(file, 3, ["u", "v", "w"], "name") == {0: "cat", 2: "dog"}


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("cat\ndog\ncat\n\n", {0: "cat", 1: "dog", 2: "cat"}),  # an empty last line
        ('species\ncat\ndog\n""\n', {0: "cat", 1: "dog"}),  # as pandas writes a last blank
        ("y\nn\ny\n", {0: "y", 1: "n", 2: "y"}),  # a class called y
        ("\n1.0\n\n\n", {1: "1"}),
    ],
)
def test_one_column_with_or_without_a_header(tmp_path, text, labels):
    assert read_labels(write(tmp_path / "y.csv", text), 3) == labels


def test_labels_as_an_array(tmp_path):
    for name, values in {"a": ["cat", "", "dog"], "b": [1, -1, 2], "c": [1, np.nan, 2]}.items():
        np.save(tmp_path / f"{name}.npy", values)
    assert read_labels(tmp_path / "a.npy", 3) == {0: "cat", 2: "dog"}
    assert read_labels(tmp_path / "b.npy", 3) == {0: "1", 1: "-1", 2: "2"}
    assert read_labels(tmp_path / "c.npy", 3) == {0: "1", 2: "2"}


def test_a_first_label_that_is_blank(tmp_path):
    assert read_labels(write(tmp_path / "y.csv", "\ncat\n\n"), 3) == {1: "cat"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row,label\n3,cat\n", r"row numbers in y.csv must be in 0..2, got '3' in its row 0"),
        ("row,label\n-1,cat\n", "must be in 0..2, got '-1'"),
        ("row,label\n1.5,cat\n", "must be in 0..2, got '1.5'"),
        ("row,label\n,cat\n", "must be in 0..2, got None"),
        ("row,label\n1,cat\n1,dog\n", "row 1 has two labels, 'cat' and 'dog'"),
        ("point,class\n1,cat\n", r"must have the columns row \(or name\) and label.*point, class"),
        ("name,label\nx,cat\n", "y.csv has the name 'x', which no point has"),
        ("row,name,label\n0,w,cat\n", "row 0 has the name 'u', got 'w'"),
        ("cat\ndog\n", r"one entry for each of the 3 points, got shape \(2,\)"),
        ("label\ncat\ndog\n", r"one entry for each of the 3 points, got shape \(2,\)"),
        ("y\ncat\ndog\ncat\ncat\n", r"each of the 3 points, got shape \(4,\)"),
        ("cat\ndog\ncat\ncat\n", r"each of the 3 points, got shape \(4,\)"),
        ("cat\ndog\nbird\n\n", "got 4: either 'cat' is a header, .* remove the empty last line"),
        ("row,label\n1,cat,x\n", "must have 2 cells per line, got 3 in row 0"),
        ("row,row,label\n1,1,x\n", "distinct column names"),
        ("", "y.csv is empty"),
    ],
)
def test_labels_that_are_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_labels(write(tmp_path / "y.csv", text), 3, ["u", "v", "w"], "name")


def test_ids_that_repeat_are_refused(tmp_path):
    with pytest.raises(ValueError, match="the column 'name' must hold distinct ids, got 'v' twice"):
        check_ids(["u", "v", "w", "v"], "name")
    with pytest.raises(ValueError, match="must hold distinct ids, got 'u' twice"):
        read_labels(write(tmp_path / "y.csv", "id,label\nu,1\n"), 3, ["u", "u", "w"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.xlsx", b"", "must end in .npy, .npz, .csv"),
        ("x.npy", b"\x93NUMPY", "x.npy must be an intact .npy"),
        ("x.npy", pickle.dumps([1]), "x.npy must be an intact .npy"),
        ("x.npz", b"PK", "x.npz must be an intact .npz"),
        ("x.csv", b"\xff\xfe\x00", "text in UTF-8"),
        ("x.csv", b"a,b\n1,2\n3,\n", "column 'b' of x.csv must hold numbers, got a blank cell in"),
        ("x.csv", b"a,b\n1,2\n3,k\n", "column 'b' of x.csv must hold numbers, got 'k' in row 1"),
        ("x.csv", b"a,b\n1,2\n3\n", "must have 2 cells per line, got 1 in row 1"),
        ("x.csv", b"a\n1\n\n3\n", "column 'a' of x.csv must hold numbers, got a blank cell in row"),
        ("x.csv", b"1,,3\n4,5,6\n", "column '1' of x.csv must hold numbers, got a blank cell in r"),
        ("x.csv", b"1,NA,3\n4,5,6\n", "column '1' of x.csv must hold numbers, got 'NA' in row 0"),
        ("x.csv", b"0,1\n4,5\n", "got 0,1, which may be either: give the columns names"),
        ("x.csv", b",a,b\n0,1,2\n", "got a column '', perhaps the index .* --ignore '' leaves it"),
        ("x.csv", b",0,1,2\n0,1,2,3\n", "perhaps the index of a data frame"),
        ("x.csv", b"Unnamed: 0,a\n0,1\n", "got a column 'Unnamed: 0', perhaps the index"),
        ("x.csv", b"a,b\n", "x.csv has no rows"),
        (
            "x.npy",
            b"1 2 3, just text",
            "x.npy must be an intact .npy of plain values: it holds obj",
        ),
    ],
)
def test_features_that_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "columns", "ignore"),
    [
        ("0,1,2\n1,2,3\n4,5,6\n", [], []),  # names as pandas makes them
        ("0,1,2,y\n1,2,3,a\n4,5,6,b\n", ["y"], []),
        ("400,410,420,y\n1,2,3,a\n4,5,6,b\n", ["y"], []),
        ("1,2,3,a\n4,5,6,b\n", ["3"], []),  # no header, and the columns are counted
        ("name,0,1,2,y\nu,1,2,3,a\nv,4,5,6,b\n", ["name"], ["y"]),
        (",0,1,2\n7,1,2,3\n8,4,5,6\n", [], [""]),
        (",a,b,c\n7,1,2,3\n8,4,5,6\n", [""], []),
        ("1,2,3\n4,5,6\n", [], []),
    ],
)
def test_a_header_is_told_from_a_point(tmp_path, text, columns, ignore):
    features, found = read_table(write(tmp_path / "x.csv", text), columns, ignore)
    assert features.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert [len(values) for values in found.values()] == [2] * len(columns)


def test_more_refusals(tmp_path):
    with pytest.raises(ValueError, match=f"must end in .npy, .*, got the folder {tmp_path}"):
        read_table(tmp_path)
    for name in ("none.npy", "none.npz"):
        save = np.save if name.endswith("npy") else np.savez
        save(tmp_path / name, np.empty((0, 4)))
        with pytest.raises(ValueError, match=f"{name} has no rows"):
            read_table(tmp_path / name)
        (tmp_path / name).unlink()
    with pytest.raises(ValueError, match="ends in .npy, .csv, .tsv, .txt, .parquet, got y.npz"):
        np.savez(tmp_path / "y.npz", y=[1])
        read_labels(tmp_path / "y.npz", 1)
    with pytest.raises(ValueError, match="no file"):
        read_table(tmp_path / "none.npy")
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match="x.npy has no named columns, got y"):
        read_table(tmp_path / "x.npy", ["y"])
    np.save(tmp_path / "objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="objects.npy must be an intact .npy of plain values"):
        read_table(tmp_path / "objects.npy")
    np.savez(tmp_path / "objects.npz", features=np.array([{}, 1], dtype=object))
    with pytest.raises(ValueError, match="intact .npz of plain arrays: it holds objects or an"):
        read_table(tmp_path / "objects.npz")
    np.savez(tmp_path / "two.npz", a=X, b=X, y=[1, 2])
    with pytest.raises(ValueError, match="an array named features, got a, b, y"):
        read_table(tmp_path / "two.npz")
    np.savez(tmp_path / "short.npz", features=X, y=[1, 2])
    with pytest.raises(ValueError, match=r"y in short.npz must have shape \(3,\)"):
        read_table(tmp_path / "short.npz", ["y"])
    with pytest.raises(ValueError, match="has no array 'z', it has features, y"):
        read_table(tmp_path / "short.npz", ["z"])
    with pytest.raises(ValueError, match="has no column 'z', it has a, b"):
        read_table(write(tmp_path / "x.csv", "a,b\n1,2\n"), ["z"])
