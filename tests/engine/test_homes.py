"""Homes: every home gives the same bits, whatever the blocks; nothing is copied or lost."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from conftest import ROOT
from homes_of import all_homes
from hypothesis import given, settings
from hypothesis import strategies as st

from firal.engine import parquet as parquet_home
from firal.engine import passes
from firal.engine.homes import ArrayHome, as_home, file_home
from firal.engine.passes import as_block, block_rows

pytest.importorskip("dask")
pytest.importorskip("pyarrow")


def gram(start, block):
    """Something whose last bits depend on the order of the sums, and the rows that were seen."""
    return block.T @ block, np.arange(start, start + len(block))


def joined(a, b):
    return a[0] + b[0], np.concatenate([a[1], b[1]])


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 150),
    d=st.integers(1, 4),
    rows=st.integers(1, 60),
    single=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_all_homes_give_the_same_bits(n, d, rows, single, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32 if single else np.float64)
    wanted = rng.integers(n, size=7)
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "BLOCK_BYTES", 8 * d * rows)
        expected, seen = as_home(X).reduce(gram, joined)
        assert np.array_equal(seen, np.arange(n))
        np.testing.assert_allclose(expected, X.T.astype(float) @ X, rtol=1e-12, atol=1e-12)
        for name, home in all_homes(X, Path(folder)).items():
            assert home.shape == (n, d) and home.dtype == X.dtype, name
            assert home.block_rows == rows and home.n_blocks == -(-n // rows), name
            found, seen = home.reduce(gram, joined)
            assert np.array_equal(found, expected), name
            assert np.array_equal(seen, np.arange(n)), name
            got = home.rows(wanted)
            assert got.dtype == np.float64 and np.array_equal(got, X[wanted]), name


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_no_bit(threads, monkeypatch):
    X = np.random.default_rng(0).normal(size=(1000, 3))
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 3 * 10)
    home = as_home(X)
    home.threads = 1
    expected, _ = home.reduce(gram, joined)
    home.threads = threads
    found, seen = home.reduce(gram, joined)
    assert np.array_equal(found, expected) and np.array_equal(seen, np.arange(1000))


def test_blocks_are_float64_and_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 2 * 5)
    X, calls = np.arange(24, dtype=np.int16).reshape(12, 2), []
    for name, home in all_homes(X, tmp_path).items():
        kinds = home.reduce(lambda start, block: [block.dtype], lambda a, b: a + b)
        assert kinds == [np.dtype(float)] * 3, name
        home.reduce(gram, joined, lambda *call: calls.append(call))
        assert calls[-1] == (3, 3), name


def test_blocks_are_aligned():
    memory = np.zeros(8 * 12 + 3, dtype=np.uint8)
    rows = memory[3 : 3 + 8 * 12].view(np.float64).reshape(6, 2)  # as from a network
    assert not rows.flags.aligned and as_block(rows).flags.aligned
    for block in (rows, np.asfortranarray(rows), rows.astype(">f4"), rows[::2]):
        found = as_block(block)
        assert found.flags.aligned and found.flags.c_contiguous and found.dtype == float
        assert found.dtype.isnative and np.array_equal(found, block)


def test_block_rows():
    assert block_rows(1) == passes.BLOCK_BYTES // 8
    assert block_rows(10**9) == 1


def test_changes_of_a_private_mapping_are_kept(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((5, 2)))
    X = np.load(tmp_path / "x.npy", mmap_mode="c")
    X[3, 1] = 7  # in memory only: the page must not be given back
    home = as_home(X)
    assert home.reduce(lambda start, block: block.sum(), float.__add__) == 7
    assert home.kind == "memory" and X[3, 1] == 7


def test_pages_of_a_file_are_given_back(tmp_path):
    X = np.zeros((2**20, 8))  # 64 MiB, 16 blocks
    X[:, 0] = np.arange(2**20)
    np.save(tmp_path / "x.npy", X)
    code = f"""
import numpy as np
from firal.engine import homes
from firal.engine.homes import as_block, as_home
def resident():
    fields = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(fields["RssFile"].split()[0])
home = as_home({str(tmp_path / "x.npy")!r})
before = resident()
seen = home.reduce(lambda start, block: [resident()], lambda a, b: a + b)
peaks = []
homes.as_block = lambda rows: (peaks.append(resident()), as_block(rows))[1]
home.rows(np.random.default_rng(0).permutation(2**20)[:20_000])
print(max(seen) - before, len(seen), max(peaks) - before, len(peaks))
"""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs Linux")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    most, blocks, gathered, chunks = map(int, run.stdout.split())
    assert blocks == 16 and most < 40_000  # kB; the file has 65,536
    assert chunks == 2500 and gathered < 40_000  # scattered rows map the pages around them


SLOW_PASS = """
import signal
import time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
import numpy as np
from firal.engine import passes
from firal.engine.homes import as_home
passes.BLOCK_BYTES = 800
X = np.zeros((10**6, 10))
if {dask}:
    import dask.array
    X = dask.array.from_array(X, chunks=(10**5, 10))
def slow(start, block):
    time.sleep(0.05)
print("ready", flush=True)
as_home(X).reduce(slow, lambda a, b: None)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("dask", [False, True])
def test_ctrl_c_ends_a_pass(dask):
    command = [sys.executable, "-c", SLOW_PASS.format(dask=dask)]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, cwd=ROOT) as run:
        try:
            assert run.stdout.readline() == "ready\n"
            time.sleep(1)
            run.send_signal(signal.SIGINT)
            _, err = run.communicate(timeout=20)
            assert "KeyboardInterrupt" in err
        finally:
            run.kill()


def test_errors_of_a_block_come_through(tmp_path):
    def fails(start, block):
        raise ValueError(f"bad rows from {start} on")

    for home in all_homes(np.ones((9, 2)), tmp_path).values():
        with pytest.raises(ValueError, match="bad rows from 0 on"):
            home.reduce(fails, joined)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "absent.npy", "no file"),
        (lambda folder: folder / "text.csv", "must be a .npy or .parquet file"),
        (lambda folder: folder / "damaged.npy", "must be an intact .npy"),
        (lambda folder: folder / "damaged.parquet", "must be an intact .parquet"),
        (lambda folder: folder / "words.parquet", "must be numbers, got name of another type"),
        (lambda folder: folder / "empty.parquet", "must have rows and columns"),
        (lambda folder: np.ones(3), r"a table of numbers .* got an array of shape \(3,\)"),
        (lambda folder: np.empty((0, 3)), "a table of numbers"),
        (lambda folder: np.array([["a"]]), "a table of numbers"),
    ],
)
def test_what_is_no_table(make, message, tmp_path):
    import pyarrow
    from pyarrow import parquet

    (tmp_path / "text.csv").write_text("1,2\n")
    (tmp_path / "damaged.npy").write_text("no numbers")
    (tmp_path / "damaged.parquet").write_text("no numbers")
    words = pyarrow.table({"x": [1.0], "name": ["u"]})
    parquet.write_table(words, tmp_path / "words.parquet")
    parquet.write_table(words.slice(0, 0).drop(["name"]), tmp_path / "empty.parquet")
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        as_home(make(tmp_path))


def test_blank_cells_of_parquet_are_refused(tmp_path):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"x": [1.0, None]}), tmp_path / "x.parquet")
    home = as_home(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="column 'x' of x.parquet must hold numbers, got 1 blank"):
        home.reduce(gram, joined)


def test_columns_of_parquet(tmp_path):
    import pyarrow
    from pyarrow import parquet

    from firal.engine.parquet import ParquetHome

    table = pyarrow.table({"x": [1, 2], "name": ["u", "v"], "y": [0.5, 0.25]})
    parquet.write_table(table, tmp_path / "x.parquet")
    home = ParquetHome(tmp_path / "x.parquet", ["y", "x"])
    assert home.rows(np.array([1, 0])).tolist() == [[0.25, 2.0], [0.5, 1.0]]
    with pytest.raises(ValueError, match="no column 'z'"):
        ParquetHome(tmp_path / "x.parquet", ["z"])


def test_a_home_is_its_own_home():
    home = ArrayHome(np.ones((2, 1)))
    assert as_home(home) is home and len(home) == 2


def test_what_is_reported_after_every_part(monkeypatch, tmp_path):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 2 * 3)
    X = np.arange(234.0).reshape(117, 2)  # 39 blocks: two parts of 16, and the rest
    for name, home in all_homes(X, tmp_path).items():
        calls = []
        home.reduce(gram, joined, lambda *call, calls=calls: calls.append(call))
        assert calls == [(16, 39), (32, 39), (39, 39)], name


def test_many_scattered_rows_of_every_home(tmp_path):
    X = np.random.default_rng(0).normal(size=(90, 3))
    wanted = np.random.default_rng(1).integers(90, size=37)  # a file gives eight at a time
    for name, home in all_homes(X, tmp_path).items():
        assert np.array_equal(home.rows(wanted), X[wanted]), name


@pytest.mark.parametrize("rows", [1, 3, 5, 7, 40])
def test_blocks_of_parquet_do_not_depend_on_what_is_decoded_at_once(rows, monkeypatch, tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 2))
    home = all_homes(X, tmp_path)["Parquet"]
    monkeypatch.setattr(passes, "BLOCK_BYTES", 16 * rows)
    monkeypatch.setattr(parquet_home, "READ_ROWS", 6)
    blocks = [load() for load in home.loaders()]
    assert [len(block) for block in blocks] == [len(X[k : k + rows]) for k in range(0, 100, rows)]
    assert np.array_equal(np.vstack(blocks), X)


def test_types_of_parquet(tmp_path):
    import pyarrow
    from pyarrow import parquet

    columns = {"a": np.float32([1, 2]), "b": np.int16([3, 4]), "c": np.array([True, False])}
    parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
    home = as_home(tmp_path / "x.parquet")
    assert home.dtype == np.float32 and home.rows(np.arange(2)).tolist() == [[1, 3, 1], [2, 4, 0]]
    assert parquet_home.ParquetHome(tmp_path / "x.parquet", ["c", "b"]).dtype == np.int16


def test_a_file_is_known_by_its_ending_in_any_case(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    (tmp_path / "x.npy").rename(tmp_path / "X.NPY")
    home = as_home(tmp_path / "X.NPY")
    assert home.kind == "file" and home.shape == (3, 2)
    with pytest.raises(ValueError, match="must be a .npy or .parquet file"):
        file_home(tmp_path / "X.NPY", ["x"])  # columns are those of Parquet
    (tmp_path / "text.npy").write_text("no numbers")
    with pytest.raises(ValueError, match="text.npy .* it holds objects or another format"):
        as_home(tmp_path / "text.npy")
    (tmp_path / "short.npy").write_bytes((tmp_path / "X.NPY").read_bytes()[:-8])
    with pytest.raises(ValueError, match="short.npy must be an intact .npy of numbers: (?!it)"):
        as_home(tmp_path / "short.npy")


@pytest.mark.parametrize(
    ("mode", "kind"), [("r", "file"), ("r+", "file"), ("w+", "file"), ("c", "memory")]
)
def test_where_a_mapped_array_lives(mode, kind, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((6, 2)))
    shape = {"shape": (6, 2)} if mode == "w+" else {}
    X = np.lib.format.open_memmap(tmp_path / "x.npy", mode, **shape)
    for array in (X, X[1:], X.T):
        assert ArrayHome(array).kind == kind
    assert ArrayHome(np.array(X)).kind == "memory"
    assert ArrayHome(np.asarray(X)).kind == "memory"  # not known to be a mapping: nothing goes back
