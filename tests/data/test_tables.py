"""Features of a user: all formats give the same, and what is unclear is refused with a remedy."""

import gzip
import pickle

import numpy as np
import pytest

from firal.data.cells import TableError
from firal.data.labels import read_labels
from firal.data.tables import read_labeled_table, read_table

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
    assert read_table(tmp_path / "g.txt", ["p"])[1] == {"p": ["1", "-3", "0"]}
    named = write(tmp_path / "h.csv", 'ids,p,note,q,y\nu,1,"a, b",2.5,1\nv,-3,,4e-3,\nw,0,x,7,2\n')
    features, found, *_ = read_table(named, ["y", "ids"], ["note"])
    assert np.array_equal(features, X) and found == wanted


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"p": X[:, 0], "q": X[:, 1], "y": [1, None, 2], "id": ["u", "v", "w"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    for header in (None, True, False):  # it has names anyway
        features, found, *_ = read_table(tmp_path / "a.parquet", ["y", "id"], header=header)
        assert np.array_equal(features, X)
        assert found == {"y": ["1", None, "2"], "id": ["u", "v", "w"]}
    parquet.write_table(table.select(["y"]), tmp_path / "y.parquet")
    assert read_labels(tmp_path / "y.parquet", 3) == {0: "1", 2: "2"}
    with pytest.raises(TableError, match="column 'y' of a.parquet must hold numbers, got a blank"):
        read_table(tmp_path / "a.parquet", ["id"], confirmed=["y"])
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(ValueError, match="bad.parquet must be an intact .parquet"):
        read_table(tmp_path / "bad.parquet")


@pytest.mark.parametrize(
    ("text", "columns", "ignore", "header"),
    [
        ("1,2,3\n4,5,6\n", [], [], None),
        ("1,2,3,a\n4,5,6,b\n", ["3"], [], None),  # no header: columns are named by position
        ("1,2,3,3\n4,5,6,7\n", ["3"], [], None),  # a value that is also such a name
        ("a,b,c\n1,2,3\n4,5,6\n", [], [], None),
        (",a,b,c\n7,1,2,3\n8,4,5,6\n", [""], [], None),
        ("0,1,2\n1,2,3\n4,5,6\n", [], [], True),  # names as pandas makes them
        ("0,1,2,y\n1,2,3,a\n4,5,6,b\n", ["y"], [], True),
        ("400,410,420,y\n1,2,3,a\n4,5,6,b\n", ["y"], [], True),
        ("name,0,1,2,y\nu,1,2,3,a\nv,4,5,6,b\n", ["name"], ["y"], True),
        (",0,1,2\n7,1,2,3\n8,4,5,6\n", [], [""], True),
    ],
)
def test_header_or_point(tmp_path, text, columns, ignore, header):
    file = write(tmp_path / "x.csv", text)
    features, found, *_ = read_table(file, columns, ignore, header)
    assert features.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert [len(values) for values in found.values()] == [2] * len(columns)


def test_a_first_line_that_counts_is_a_point_on_request(tmp_path):
    file = write(tmp_path / "x.csv", "0,1\n1,0\n")
    assert read_table(file, header=False)[0].tolist() == [[0, 1], [1, 0]]
    assert read_table(file, header=True)[0].tolist() == [[1, 0]]
    one = write(tmp_path / "y.csv", "0\n1\n")  # one column: a zero is a number like any other
    assert read_table(one)[0].tolist() == [[0], [1]]


ROLES = ("label_column", "id_column", "ignore")
ENCODED = (*ROLES, "one_hot", "impute")


@pytest.mark.parametrize(
    ("text", "columns", "message", "remedies"),
    [
        # a header with numbers in it
        ("400,410,y\n1,2,a\n", ["y"], "names the column 'y' but also holds numbers", ("header",)),
        (",0,1\n7,1,2\n", [""], "names the column '' but also holds numbers", ("header",)),
        (
            "0,1,2\n1,2,3\n",
            [],
            "0, 1, 2, may be a header or a point: pass header=True",
            ("header",),
        ),
        ("0,1\n4,5\n", [], "0, 1, may be a header or a point", ("header",)),
        ("0,1,2\n1,2,a\n", ["2"], "may be a header or a point", ("header",)),
        (
            ",0,1\n7,1,2\n",
            [],
            "column '0' of x.csv must hold numbers, got a blank cell in line 1 .*: pass header=",
            ("header", *ENCODED),
        ),
        (
            "400,y\n1,a\n",
            [],
            "column '1' .*, got 'y' in line 1: pass header=",
            ("header", *ENCODED),
        ),
        (
            "1,NA\n4,5\n",
            [],
            "column '1' .*, got 'NA' in line 1 .*: pass header=",
            ("header", *ENCODED),
        ),
        # columns that are not numbers
        (
            "a,b\n1,2\n3,\n",
            [],
            "'b' of x.csv must hold numbers, got a blank cell in line 3",
            ENCODED,
        ),
        (
            "a,b\n1,k\n3,4\n",
            [],
            "'b' of x.csv must hold numbers, got 'k' in line 2: use it",
            ENCODED,
        ),
        (
            "a\n1\n\n3\n",
            [],
            "column 'a' of x.csv must hold numbers, got a blank cell in li",
            ENCODED,
        ),
        (
            "1,2\n3,k\n",
            [],
            "column '1' of x.csv must hold numbers, got 'k' in line 2: use it",
            ENCODED,
        ),
        # perhaps an index
        (",a,b\n0,1,2\n", [], "got '', which is perhaps the index", (*ROLES, "feature")),
        ("Unnamed: 0,a\n0,1\n", [], "got 'Unnamed: 0', which", (*ROLES, "feature")),
    ],
)
def test_what_the_caller_has_to_say(tmp_path, text, columns, message, remedies):
    with pytest.raises(TableError, match=message) as caught:
        read_table(write(tmp_path / "x.csv", text), columns)
    assert caught.value.remedies == remedies
    assert "--" not in str(caught.value)


def test_header_is_no_remedy_once_it_is_given(tmp_path):
    with pytest.raises(TableError, match="got 'y' in line 1: use it as") as caught:
        read_table(write(tmp_path / "x.csv", "400,y\n1,a\n"), header=False)
    assert caught.value.remedies == ENCODED


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.ods", b"", "must end in .npy, .npz, .csv"),
        ("x.npy", b"\x93NUMPY", "x.npy must be an intact .npy"),
        ("x.npy", pickle.dumps([1]), "x.npy must be an intact .npy"),
        ("x.npz", b"PK", "x.npz must be an intact .npz"),
        ("x.csv", b"\xff\xfe\x00", "text in UTF-8"),
        (
            "x.csv",
            b"a,b\n1,2\n3\n",
            "must have 2 cells in every line, as in its first, got 1 in line 3",
        ),
        ("x.csv", b"a,b\n", "x.csv has no rows"),
        (
            "x.npy",
            b"1 2 3, just text",
            "x.npy must be an intact .npy of plain values: it holds obj",
        ),
    ],
)
def test_files_that_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / name)


def test_more_refusals(tmp_path):
    for name in ("none.npy", "none.npz"):
        save = np.save if name.endswith("npy") else np.savez
        save(tmp_path / name, np.empty((0, 4)))
        with pytest.raises(ValueError, match=f"{name} has no rows"):
            read_table(tmp_path / name)
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(
        ValueError, match="x.npy has no column 'y', it has no header, so its columns are 0"
    ):
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
    with pytest.raises(ValueError, match="'z', it has no header, so its columns are 0, 1"):
        read_table(write(tmp_path / "x.csv", "3,2\n1,2\n"), ["z"])
    with pytest.raises(ValueError, match="must have columns of numbers besides a, b"):
        read_table(write(tmp_path / "x.csv", "a,b\n1,2\n"), ["a"], ["b"])


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("1,2,cat\n4,5,1.0\n", None),
        ("p,q,r\n1,2,cat\n4,5,1.0\n", None),
        ("0,1,y\n1,2,cat\n4,5,1.0\n", True),
        ("0,1,2\n1,2,cat\n4,5,1.0\n", True),
    ],
)
def test_the_label_last(tmp_path, text, header):
    features, labels = read_labeled_table(write(tmp_path / "x.csv", text), header)
    assert features.tolist() == [[1, 2], [4, 5]] and labels == ["cat", "1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,a\n3,x,b\n", "column '1' of x.csv must hold numbers, got 'x' in line 2"),
        ("1,,a\n3,2,b\n", "column '1' of x.csv must hold numbers, got a blank cell in line 1"),
        ("1,2,a\n3,2,\n4,5,b\n", "must have a label in every row, got '' in line 2"),
        ("1,2,a\n3,2,NaN\n4,5,b\n", "must have a label in every row, got 'NaN' in line 2"),
        ("0,1,y\n3,2,b\n", "0, 1, y, may be a header or a point: pass header=True or header=False"),
        (",p,q,y\n0,1,2,a\n1,3,4,b\n", r"a column '', perhaps the index .*index=False"),
        ("5\n6\n", "must have columns of numbers and the label last, got one"),
        ("a,b,label\n", "x.csv has no rows"),
    ],
)
def test_the_label_last_or_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_labeled_table(write(tmp_path / "x.csv", text))


def test_compressed_and_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write("p,q\n1,2.5\n-3,4e-3\n0,7\n")
    book = openpyxl.Workbook()
    for line in (["p", "q"], *X.tolist()):
        book.active.append(line)
    book.save(tmp_path / "a.xlsx")
    for name in ("a.csv.gz", "a.xlsx"):
        table = read_table(tmp_path / name)
        assert np.array_equal(table.features, X) and table.names == ["p", "q"], name
    (tmp_path / "bad.csv.gz").write_bytes(b"no gzip")
    with pytest.raises(ValueError, match="must be an intact .gz"):
        read_table(tmp_path / "bad.csv.gz")


def test_true_and_false_are_numbers(tmp_path):
    file = write(tmp_path / "x.csv", "p,q\nTrue,1\nFALSE,2\n")
    assert read_table(file).features.tolist() == [[1, 1], [0, 2]]


ROWS = "".join(f"{k % 7},{k * k % 11},{k % 3}\n" for k in range(12))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("target,size,age", "'target', which is named like a label"),
        ("size,age,Class", "'Class', which is named like a label"),
        ("size,age,Y", "'Y', which is named like a label"),
        ("ID,age,size", "'ID', which is named like an id"),
        ("PassengerId,age,size", "'PassengerId', which is named like an id"),
        ("size,customer_id,age", "'customer_id', which is named like an id"),
        ("size,rank,age", "'rank', which is named like an id"),
    ],
)
def test_columns_named_like_labels_and_ids_are_refused(tmp_path, header, message):
    file = write(tmp_path / "x.csv", f"{header}\n{ROWS}")
    with pytest.raises(TableError, match=message) as caught:
        read_table(file)
    assert caught.value.remedies == (*ROLES, "feature")
    name = message.split("'")[1]
    table = read_table(file, confirmed=[name])
    assert table.features.shape == (12, 3) and name in table.names
    assert read_table(file, ignore=[name]).names == [n for n in header.split(",") if n != name]


@pytest.mark.parametrize("names", ["width,height,depth", "grid,yield,side", "valid,paid,humid"])
def test_other_names_are_features(tmp_path, names):
    assert read_table(write(tmp_path / "x.csv", f"{names}\n{ROWS}")).names == names.split(",")


def test_a_column_that_counts_the_rows_is_refused_in_every_format(tmp_path):
    counted = np.column_stack([np.sqrt(np.arange(9)), np.arange(3, 12)])
    np.save(tmp_path / "x.npy", counted)
    text = "".join(f"{a:.3f},{b:g}\n" for a, b in counted)
    for name in ("x.npy", write(tmp_path / "x.csv", text).name):
        with pytest.raises(TableError, match="got '1', which counts the rows"):
            read_table(tmp_path / name)
        assert read_table(tmp_path / name, ["1"]).features.shape == (9, 1)
        assert read_table(tmp_path / name, ["1"]).found["1"][0] == "3"
        assert read_table(tmp_path / name, confirmed=["1"]).features.shape == (9, 2)
    with pytest.raises(TableError, match="got 'case', which counts the rows"):
        read_table(write(tmp_path / "y.csv", "size,case\n" + text))


def test_wavelengths_in_the_first_line_are_asked_about(tmp_path):
    """A header of numbers would become a point and shift every label by one row."""
    rows = "".join(f"{k % 5},{k % 3},{k % 7},{k % 3}\n" for k in range(3, 15))
    file = write(tmp_path / "x.csv", f"400,402,405,409\n{rows}")
    with pytest.raises(TableError, match="400, 402, 405, 409, may be a header or a po") as caught:
        read_table(file)
    assert caught.value.remedies == ("header",)
    assert read_table(file, header=True).names == ["400", "402", "405", "409"]
    assert len(read_table(file, header=False).features) == 13
    rising = "".join(f"{k},{k + 3 + k % 2},{k + 9}\n" for k in (5, 3, 8, 1, 7, 2) * 3)
    assert len(read_table(write(tmp_path / "y.csv", rising)).features) == 18  # all lines go up


def test_stray_quotes_are_found(tmp_path):
    good = [f"{k},{k % 3},{'MB'[k % 2]}" for k in (5, 3, 8, 1, 7, 2, 9, 4)]
    text = "\n".join(["a,b,kind", *good]) + "\n"
    assert len(read_table(write(tmp_path / "x.csv", text), ["kind"]).features) == 8
    one = text.replace("1,1,B", '1,1,"B', 1)
    with pytest.raises(ValueError, match="x.csv has a quote that is not closed, .* in line 5"):
        read_table(write(tmp_path / "x.csv", one), ["kind"])
    two = one.replace("9,0,B", '9,0,B"', 1)  # a pair: the syntax is right, and three rows are lost
    for columns, ignore in ((["kind"], []), ([], ["kind"])):
        with pytest.raises(ValueError, match="quote in line 5 of x.csv takes the 3 lines after"):
            read_table(write(tmp_path / "x.csv", two), columns, ignore)
    note = 'a,note\n1,"two\nlines"\n2,one\n'  # in a column that nobody reads
    assert read_table(write(tmp_path / "y.csv", note), ignore=["note"]).features.tolist() == [
        [1],
        [2],
    ]
    with pytest.raises(ValueError, match="'note' of y.csv goes over several lines, from line 2 on"):
        read_table(tmp_path / "y.csv", ["note"])


def test_all_columns_that_are_not_numbers_are_named_at_once(tmp_path):
    text = "a;b;c;d;e\n1;39,1;red;1,000;\n2;3;red;2;NA\n3;4;blue;3;5\n"
    with pytest.raises(TableError) as caught:
        read_table(write(tmp_path / "x.csv", text))
    message = str(caught.value)
    assert message.startswith("4 columns of x.csv must hold numbers, got ")
    assert "'b': '39,1' in line 2, a decimal comma" in message
    assert "'c': 'red' in line 2, one of 2 different values" in message
    assert "'d': '1,000' in line 2, a comma within a number" in message
    assert "'e': a blank cell in line 2 (2 such), a missing value" in message


def test_categories_and_gaps_become_features_on_request(tmp_path):
    text = "size,color,age\n1,red,30\n,blue,NA\n3,,50\n8,red,90\n"
    file = write(tmp_path / "x.csv", text)
    with pytest.raises(TableError, match="3 columns of x.csv must hold numbers"):
        read_table(file)
    table = read_table(file, one_hot=["color"], impute=True)
    assert table.names == ["size", "color=blue", "color=red", "age"]
    want = [[1, 0, 1, 30], [3, 1, 0, 50], [3, 0, 0, 50], [8, 0, 1, 90]]
    assert table.features.tolist() == want
    with pytest.raises(TableError, match="column 'color' .* got 'red'"):
        read_table(file, impute=True)  # a word is not a gap
    with pytest.raises(ValueError, match="no column 'hue'"):
        read_table(file, one_hot=["hue"])
    np.save(tmp_path / "x.npy", [[1.0, np.nan], [2.0, 5.0], [4.0, 7.0]])
    assert read_table(tmp_path / "x.npy", impute=True).features.tolist() == [[1, 6], [2, 5], [4, 7]]
    many = "".join(f"{k * k % 97},word {k}\n" for k in range(101))
    with pytest.raises(ValueError, match="must have 1..100 categories .* got 101"):
        read_table(write(tmp_path / "y.csv", "a,b\n" + many), one_hot=["b"])
    with pytest.raises(ValueError, match="'b' must hold a number somewhere, got none"):
        read_table(write(tmp_path / "z.csv", "a,b\n1,\n2,NA\n"), impute=True)


def test_a_column_of_vectors_is_a_column_per_entry(tmp_path):
    """As embeddings stand in a .parquet."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    vectors = [[3.0, 1.0], [4.0, 1.5], [-5.0, 9.0]]
    pq.write_table(pa.table({"name": list("uvw"), "emb": vectors}), tmp_path / "x.parquet")
    table = read_table(tmp_path / "x.parquet", columns=["name"])
    assert table.features.tolist() == vectors and table.names == ["emb[0]", "emb[1]"]
    vectors[1] = [4.0]
    pq.write_table(pa.table({"name": list("uvw"), "emb": vectors}), tmp_path / "x.parquet")
    with pytest.raises(TableError, match="column 'emb' of x.parquet must hold numbers"):
        read_table(tmp_path / "x.parquet", columns=["name"])
    vectors[1] = [4.0, None]
    pq.write_table(pa.table({"name": list("uvw"), "emb": vectors}), tmp_path / "x.parquet")
    table = read_table(tmp_path / "x.parquet", columns=["name"], impute=True)
    assert table.features.tolist() == [[3.0, 1.0], [4.0, 5.0], [-5.0, 9.0]]


def test_a_workbook_of_several_sheets_says_which_is_read(tmp_path, caplog):
    book = pytest.importorskip("openpyxl").Workbook()
    for line in (["a", "b"], [1, 2], [3, 5]):
        book.active.append(line)
    book.save(tmp_path / "x.xlsx")
    with caplog.at_level("INFO", "firal"):
        read_table(tmp_path / "x.xlsx")
        assert caplog.text == ""
        book.create_sheet("remarks").append(["none"])
        book.save(tmp_path / "x.xlsx")
        assert read_table(tmp_path / "x.xlsx").features.tolist() == [[1, 2], [3, 5]]
    assert "only the first sheet is read, 'Sheet' of 2" in caplog.text
