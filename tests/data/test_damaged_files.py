"""Files that are damaged or made up: one error that names the file and says what is wrong.

Each of these once ended in "this should not happen", in an error that said nothing, in a wrong
answer, or took all memory.
"""

import gzip
import io
import time
import zipfile

import numpy as np
import pytest

from firal.data import unpacking
from firal.data.points import read_points
from firal.engine.homes import as_home

X = np.round(np.random.default_rng(0).normal(size=(40, 3)), 3)
TABLE = b"a,b,c\n" + b"".join(b"%.3f,%.3f,%.3f\n" % tuple(row) for row in X)


NUMBERS = X.tobytes()


def npy(shape=(40, 3), content=NUMBERS, header=None):
    """Bytes of a .npy file with this shape, or with this header."""
    out = io.BytesIO()
    fields = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, fields)
    start = out.getvalue()
    if header is not None:
        start = b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header
    return start + content


def npz(first=None, **changed):
    """Bytes of a .npz file; ``changed`` are bytes of the zip, in its directory and before it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("features.npy", first or npy())
    content = bytearray(out.getvalue())
    directory = content.find(b"PK\x01\x02")
    for name, place in (("flag", 6), ("method", 8)):
        if name in changed:
            content[place] = content[directory + place + 2] = changed[name]
    return bytes(content)


def sparse(**changed):
    """Bytes of a sparse matrix as scipy writes it."""
    parts = dict(format=np.array(b"coo"), shape=np.array([40, 3]), data=np.ones(5))
    parts |= dict(row=np.arange(5), col=np.zeros(5, int))
    out = io.BytesIO()
    np.savez(out, **{**parts, **changed})
    return out.getvalue()


def xlsx(change=lambda sheet: sheet, far=None):
    """Bytes of a workbook whose sheet, as XML, was changed."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    for row in X.tolist():
        book.active.append(row[:2])
    if far:
        book.active[far] = 1
    out, made = io.BytesIO(), io.BytesIO()
    book.save(out)
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content) if name.endswith("sheet1.xml") else content)
    return made.getvalue()


def parquet(columns):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out, write_page_checksum=True, compression="none")
    return out.getvalue()


def flipped_parquet():
    content = bytearray(parquet({"a": X[:, 0], "b": X[:, 1]}))
    place = content.find(X[:4, 0].tobytes())
    content[place] ^= 1
    return bytes(content)


def flipped(content, place):
    return content[:place] + b"xxxx" + content[place + 4 :]


ENTITIES = b'<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">' + b"".join(
    b'<!ENTITY %c "%s">' % (98 + k, b"&%c;" % (97 + k) * 10) for k in range(9)
)
CELL = b"<sheetData><row r='50'><c r='A50' t='inlineStr'><is><t>&%s;</t></is></c></row>"


def with_entity(definition, name):
    return lambda sheet: (
        definition + b"]>" + sheet.split(b"?>")[-1].replace(b"<sheetData>", CELL % name)
    )


DAMAGED = {
    "one number.npy": (lambda: npy((), b"\0" * 8), "must have rows and columns, got a single"),
    "a shape below zero.npy": (lambda: npy((4, -10)), "must be an intact .npy"),
    "a shape of yes and no.npy": (lambda: npy((True, 3)), "must be an intact .npy"),
    "a header of parentheses.npy": (lambda: npy(header=b"(" * 9000), "must be an intact .npy"),
    "code in the header.npy": (lambda: npy(header=b"print(1)" * 9), "must be an intact .npy"),
    "parentheses.npz": (lambda: npz(npy(header=b"(" * 9000)), "must be an intact .npz"),
    "a password.npz": (lambda: npz(flag=1), "password required"),
    "an unknown packing.npz": (lambda: npz(method=99), "compression method is not supported"),
    "two kinds.npz": (lambda: sparse(format=np.array([b"coo", b"csr"])), "must be of the kind csr"),
    "a shape of words.npz": (lambda: sparse(shape=np.array(["a", "b"])), "list of whole numbers"),
    "a shape of one.npz": (lambda: sparse(shape=np.array(40)), "shape must be a list of whole"),
    "half rows.npz": (lambda: sparse(row=np.arange(5) + 0.5), "row must be a list of whole"),
    "rows below zero.npz": (lambda: sparse(row=np.arange(5) - 1), "intact sparse matrix"),
    "damaged.csv.gz": (lambda: flipped(gzip.compress(TABLE), 60), "must be an intact .gz"),
    "NUL.csv": (lambda: TABLE.replace(b"\n", b"\0\n", 3), "got a NUL byte in line 1"),
    "NUL at the end.csv": (lambda: TABLE + b"\0" * 99, "got a NUL byte in line 42"),
    "UTF-16 without a mark.csv": (lambda: TABLE.decode().encode("utf-16-le"), "UTF-16; save it as"),
    "a long cell.csv": (lambda: TABLE + b"1" * 200_000, "a very long cell, .* in line 42"),
    "half of the XML.xlsx": (lambda: xlsx(lambda sheet: sheet[:900]), "must be an intact .xlsx"),
    "no XML.xlsx": (lambda: xlsx(lambda sheet: b""), "must be an intact .xlsx"),
    "a billion laughs.xlsx": (lambda: xlsx(with_entity(ENTITIES, b"j")), "must be an intact .xlsx"),
    "another file.xlsx": (
        lambda: xlsx(with_entity(b'<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">', b"x")),
        "must be an intact .xlsx: undefined entity",
    ),
    "no rows.parquet": (lambda: parquet({"a": X[:0, 0]}), "has no rows"),
    "no columns.parquet": (lambda: parquet({}), "must have columns of numbers, got none"),
    "a flipped bit.parquet": (flipped_parquet, "must be an intact .parquet: .*CRC"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_one_clear_error(name, tmp_path):
    make, message = DAMAGED[name]
    path = tmp_path / name
    path.write_bytes(make())
    with pytest.raises(ValueError, match=message) as raised:
        read_points(path)
    assert name in str(raised.value)


@pytest.mark.parametrize("name", [name for name in DAMAGED if name.endswith(".npy")][1:])
def test_streams_too(name, tmp_path):
    (tmp_path / name).write_bytes(DAMAGED[name][0]())
    with pytest.raises(ValueError, match="must be an intact .npy of numbers"):
        as_home(tmp_path / name)


def test_a_cell_far_away(tmp_path, monkeypatch):
    """openpyxl fills all rows and columns before it: 137 GB."""
    monkeypatch.setattr(unpacking, "HARMLESS", 10**6)
    path = tmp_path / "far.xlsx"
    path.write_bytes(xlsx(far="XFD1048576"))
    with pytest.raises(ValueError, match="far.xlsx must unpack to at most"):
        read_points(path)
    monkeypatch.undo()
    path.write_bytes(xlsx(far="A60"))
    with pytest.raises(ValueError, match="row 40 is blank in all columns"):
        read_points(path)


def test_the_same_files_undamaged(tmp_path):
    for name, content in (
        ("x.npy", npy()),
        ("x.npz", npz()),
        ("x.csv", TABLE),
        ("x.csv.gz", gzip.compress(TABLE)),
        ("s.npz", sparse()),
        ("x.xlsx", xlsx()),
        ("x.parquet", parquet({"a": X[:, 0], "b": X[:, 1]})),
    ):
        (tmp_path / name).write_bytes(content)
        assert len(read_points(tmp_path / name).features) == 40


def test_many_columns_take_time_in_proportion(tmp_path):
    """Eight times as many columns: 8 times as long, not 64 times."""
    seconds = []
    for columns in (3000, 24_000):
        lines = [",".join(f"a{k}" for k in range(columns))]
        lines += [",".join(f"{(7 * k + 3 * i) % 11}.5" for k in range(columns)) for i in range(3)]
        (tmp_path / "x.csv").write_text("\n".join(lines))
        taken = []
        for _ in range(2):
            start = time.process_time()
            assert read_points(tmp_path / "x.csv").features.shape == (3, columns)
            taken.append(time.process_time() - start)
        seconds.append(min(taken))
    assert seconds[1] < 25 * seconds[0]
