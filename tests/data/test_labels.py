"""Labels of a user: every form is read, one rule says what is a header, the rest is refused."""

import numpy as np
import pytest

from firal.data.cells import TableError
from firal.data.labels import merge, read_answers, read_labels, read_rows
from firal.data.point_names import check_ids


def write(path, text):
    path.write_text(text, encoding="utf8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "row,label\n0,cat\n2,dog\n",
        "rank,row,note,label\n1,2,,dog\n2,0,x,cat\n3,1,,\n",
        "Row,Label\n0,cat\n2,dog\n",
        "index;LABEL\n0;cat\n2;dog\n",
        "cat\n\ndog\n",
        "y\ncat\n\ndog\n",
        'anything\ncat\n""\ndog',
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
    ("text", "header", "labels"),
    [
        # n entries: no header
        ("y\nn\ny\n", None, {0: "y", 1: "n", 2: "y"}),
        ("\ncat\n\n", None, {1: "cat"}),
        ("1\n2\n1\n", None, {0: "1", 1: "2", 2: "1"}),
        # n + 1 entries: a header
        ("y\n1\n2\n1\n", None, {0: "1", 1: "2", 2: "1"}),
        ('species\ncat\ndog\n""\n', None, {0: "cat", 1: "dog"}),  # as pandas writes a last blank
        ("species\ncat\ndog\nbird\n\n\n", None, {0: "cat", 1: "dog", 2: "bird"}),
        # a blank is no header, so what is too much is the empty end
        ("\n1.0\n\n\n", None, {1: "1"}),
        # the caller says
        ("cat\ndog\nbird\n\n", False, {0: "cat", 1: "dog", 2: "bird"}),
        ("cat\ndog\nbird\n\n", True, {0: "dog", 1: "bird"}),
        ("0\n5\n6\n5\n", True, {0: "5", 1: "6", 2: "5"}),
        ("cat\ndog\ncat\ncat\n", True, {0: "dog", 1: "cat", 2: "cat"}),
        ("label\ncat\ndog\n", False, {0: "label", 1: "cat", 2: "dog"}),
        ("row,label,2024\n0,cat,1\n2,dog,2\n", True, {0: "cat", 2: "dog"}),
    ],
)
def test_header_or_label(tmp_path, text, header, labels):
    assert read_labels(write(tmp_path / "y.csv", text), 3, header=header) == labels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat\ndog\nbird\n\n", "4 entries for 3 points, the last of them empty: pass header=True"),
        ("cat\ndog\nbird\n\n\n", "has 5 entries for 3 points, the last of them empty"),
        ("cat\ndog\ncat\ncat\n", "4 entries for 3 points, and the first, 'cat', is also a label"),
        ("0\n5\n6\n5\n", "4 entries for 3 points, and the first is 0: pass header=True if it is a"),
        ("label\ncat\ndog\n", "has 3 entries for 3 points, and the first is 'label': pass header="),
        ("row,label,2024\n0,cat,1\n", "two columns, row and label, if it has no header, got 3 col"),
    ],
)
def test_what_the_caller_has_to_say(tmp_path, text, message):
    with pytest.raises(TableError, match=message) as caught:
        read_labels(write(tmp_path / "y.csv", text), 3)
    assert caught.value.remedies == ("header",)


def test_labels_as_an_array(tmp_path):
    for name, values in {"a": ["cat", "", "dog"], "b": [1, -1, 2], "c": [1, np.nan, 2]}.items():
        np.save(tmp_path / f"{name}.npy", values)
    assert read_labels(tmp_path / "a.npy", 3) == {0: "cat", 2: "dog"}
    assert read_labels(tmp_path / "b.npy", 3) == {0: "1", 1: "-1", 2: "2"}
    assert read_labels(tmp_path / "c.npy", 3, header=True) == {0: "1", 2: "2"}
    with pytest.raises(ValueError, match=r"each of the 4 points, got shape \(3,\)"):
        read_labels(tmp_path / "c.npy", 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row,label\n3,cat\n", r"row numbers in y.csv must be in 0..2, got '3' in line 2"),
        ("row,label\n-1,cat\n", "must be in 0..2, got '-1'"),
        ("row,label\n1.5,cat\n", "must be in 0..2, got '1.5'"),
        (
            "1.5,cat\n",
            "unknown name '1.5' in line 1 of y.csv: the points have ids such as u, v, w$",
        ),
        (
            "0,cat\n",
            "unknown name '0' in line 1 .*; if these are rows, give the file the header row",
        ),
        ("row,index,label\n0,0,cat\n", "must have one column of rows, got row, index, label"),
        ('name,label\n"u\n",cat\n', "'name' of y.csv goes over several lines, from line 2 on"),
        ("row,label\n,cat\n", "must be in 0..2, got a blank"),
        ("row,label\n1,cat\n1,dog\n", "row 1 has two labels, 'cat' and 'dog'"),
        ("point,class\n1,cat\n", r"must have the columns name \(or row\) and label.*point, class"),
        (
            "name,label\nx,cat\n",
            "unknown name 'x' in line 2 of y.csv: the points have ids such as u, v, w$",
        ),
        ("row,name,label\n0,w,cat\n", "row 0 has the name 'u', got 'w'"),
        ("cat\ndog\n", "one entry for each of the 3 points, got 2$"),
        ("y\ncat\ndog\ncat\ncat\n", "one entry for each of the 3 points, got 5$"),
        ("1\n2\n1\n2\n1\n", "one entry for each of the 3 points, got 5$"),
        (
            "row,label\n1,cat,x\n",
            "must have 2 cells in every line, as in its first, got 3 in line 2",
        ),
        ("row,row,label\n1,1,x\n", "distinct column names"),
        ("", "y.csv is empty"),
    ],
)
def test_labels_that_are_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_labels(write(tmp_path / "y.csv", text), 3, ["u", "v", "w"], "name")


def test_counts_are_after_the_header(tmp_path):
    with pytest.raises(ValueError, match="each of the 3 points, got 2 after the header"):
        read_labels(write(tmp_path / "y.csv", "label\ncat\ndog\n"), 3, header=True)
    with pytest.raises(ValueError, match="each of the 3 points, got 4$"):
        read_labels(write(tmp_path / "y.csv", "y\ncat\ndog\ncat\n"), 3, header=False)


def test_ids_that_repeat_are_refused(tmp_path):
    with pytest.raises(ValueError, match="the column 'name' must hold distinct ids, got 'v' twice"):
        check_ids(["u", "v", "w", "v"], "name")
    with pytest.raises(ValueError, match="must hold distinct ids, got 'u' twice"):
        read_labels(write(tmp_path / "y.csv", "id,label\nu,1\n"), 3, ["u", "u", "w"])


def test_formats_and_parts(tmp_path):
    np.savez(tmp_path / "y.npz", y=[1])
    with pytest.raises(
        ValueError, match="ends in .npy, .csv, .tsv, .txt, .parquet, .xlsx, got y.npz"
    ):
        read_labels(tmp_path / "y.npz", 1)
    assert merge([{0: "a"}, {}, {1: "b", 0: "a"}]) == {0: "a", 1: "b"}
    with pytest.raises(ValueError, match="row 0 has two labels, 'a' and 'b'"):
        merge([{0: "a"}, {0: "b"}])


@pytest.mark.parametrize("text", ["0,cat\n2,dog\n", "2\tdog\n0\tcat\n", "0.0,cat\n2.0,dog\n"])
def test_without_a_header_and_without_ids_the_first_column_is_the_row(tmp_path, text):
    assert read_labels(write(tmp_path / "y.csv", text), 3) == {0: "cat", 2: "dog"}


def test_ids_win_over_rows(tmp_path):
    """With ids 2, 1, 0 the line 2,cat is about the first point and not about row 2."""
    file = write(tmp_path / "y.csv", "2,cat\n0,dog\n")
    assert read_labels(file, 3, ["2", "1", "0"], "name") == {0: "cat", 2: "dog"}
    assert read_labels(file, 3) == {2: "cat", 0: "dog"}


def test_points_of_a_batch_without_a_label_are_pending(tmp_path):
    batch = write(tmp_path / "a.csv", "rank,row,label\n1,2,cat\n2,0,\n3,1,nan\n")
    assert read_answers(batch, 3) == ({2: "cat"}, [0, 1])
    table = write(tmp_path / "b.csv", "row,label\n2,cat\n0,\n1,\n")  # a table of all points
    assert read_answers(table, 3) == ({2: "cat"}, [])
    assert read_answers(write(tmp_path / "c.csv", "cat\n\n\n"), 3, header=False).pending == []


def test_lists_of_points(tmp_path):
    assert read_rows(write(tmp_path / "a.csv", "rank,row\n1,2\n2,0\n"), 3) == [2, 0]
    assert read_rows(write(tmp_path / "b.csv", "2\n0\n"), 3) == [2, 0]
    assert read_rows(write(tmp_path / "c.csv", "points\n2\n0\n"), 3) == [2, 0]
    ids = ["u", "v", "w"]
    assert read_rows(write(tmp_path / "d.csv", "w\nu\n"), 3, ids, "name") == [2, 0]
    file = write(tmp_path / "e.csv", "case\nw\nu\n")
    assert read_rows(file, 3, ids, "name", header=True) == [2, 0]
    with pytest.raises(ValueError, match="unknown name 'case'"):
        read_rows(file, 3, ids, "name")
    assert read_rows(write(tmp_path / "f.csv", "name,x\nw,1\nu,1\n"), 3, ids, "name") == [2, 0]
    np.save(tmp_path / "g.npy", [2, 0])
    assert read_rows(tmp_path / "g.npy", 3) == [2, 0]
    with pytest.raises(ValueError, match="row numbers in b.csv must be in 0..1, got '2'"):
        read_rows(tmp_path / "b.csv", 2)
    with pytest.raises(ValueError, match="unknown name 'w'"):
        read_rows(tmp_path / "d.csv", 2, ids[:2], "name")
    with pytest.raises(ValueError, match="must have a column row, got a, b"):
        read_rows(write(tmp_path / "h.csv", "a,b\n2,1\n"), 3)
