"""Cells of a file: separators, byte order mark, empty lines, the rule for headers, parquet."""

import pytest

from firal.data import formats
from firal.data.cells import TableError, read_cells
from firal.data.table_files import existing_table


def write(path, text):
    path.write_text(text, encoding="utf8")
    return path


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        ("a,b", True),
        ("a,", True),
        (" a , b ", True),
        ("1,2", False),
        ("a,1", False),
        ("-1e-3,b", False),
        (" 7 ,b", False),
        ("400,402", False),
        ("nan,b", False),  # a number for NumPy
    ],
)
def test_the_first_line_is_a_header_if_no_cell_is_a_number(tmp_path, first, is_header):
    file = write(tmp_path / "x.csv", first + "\n5,6\n")
    names = [cell.strip() for cell in first.split(",")]
    found = read_cells(file)
    assert found.has_header == is_header
    assert found.names == (names if is_header else ["0", "1"])
    assert [len(column) for column in found.columns] == [1 if is_header else 2] * 2
    # and who knows better says so
    told = read_cells(file, header=True)
    assert told.names == names and told.columns == [("5",), ("6",)]
    told = read_cells(file, header=False)
    assert told.names == ["0", "1"] and [column[-1] for column in told.columns] == ["5", "6"]
    assert [column[0] for column in told.columns] == first.split(",")


def test_header_is_true_or_false(tmp_path):
    with pytest.raises(ValueError, match="header must be True or False, got 'no'"):
        read_cells(write(tmp_path / "x.csv", "a\n1\n"), header="no")


def test_separators_empty_lines_and_quotes(tmp_path):
    file = write(tmp_path / "a.txt", "\ufeffp;q\n1;'2,5'\n\n3;4\n")
    assert read_cells(file).columns == [("1", "3"), ("'2,5'", "4")]
    assert read_cells(file).names == ["p", "q"]  # no mark in p
    file = write(tmp_path / "b.tsv", 'p\tq\n"a\tb"\t4\n')
    assert read_cells(file).columns == [("a\tb",), ("4",)]
    file = write(tmp_path / "c.csv", 'p\n1\n\n""\n')  # an empty line is a cell of one column
    assert read_cells(file).columns == [("1", None, "")]
    assert read_cells(write(tmp_path / "d.csv", "p,q\n")).columns == [(), ()]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\x00", "x.csv must be text in UTF-8"),
        (b"", "x.csv is empty"),
        (
            b"a,b\n1,2\n3\n",
            "must have 2 cells in every line, as in its first, got 1 in line 3: '3'",
        ),
        (
            b"1,2\n\n3,4,5\n",
            "must have 2 cells in every line, as in its first, got 3 in line 3: '3,4,5'",
        ),
        (b"a,b,a\n1,2,3\n", "must have distinct column names, got 'a' twice among a, b, a"),
    ],
)
def test_files_that_are_refused(tmp_path, content, message):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_cells(tmp_path / "x.csv")


def test_paths_that_are_refused(tmp_path):
    with pytest.raises(ValueError, match=f"must end in .npy, .*, got the folder {tmp_path}"):
        existing_table(tmp_path)
    with pytest.raises(ValueError, match="must end in .npy, .npz, .csv, .*, got x.ods"):
        existing_table(tmp_path / "x.ods")
    with pytest.raises(ValueError, match="no file .*none.npy"):
        existing_table(str(tmp_path / "none.npy"))


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    (tmp_path / "a.parquet").touch()
    with pytest.raises(ValueError, match="pip install pyarrow"):
        read_cells(tmp_path / "a.parquet")


def test_an_error_carries_its_remedies():
    error = TableError("what came", ["header"])
    assert isinstance(error, ValueError) and error.remedies == ("header",)
    assert str(error) == "what came" and TableError("other").remedies == ()
