"""Long tables from files, and the command on them."""

import csv
import io

import numpy as np
import pytest

from firal import cli
from firal.data import points, streams
from firal.data.streams import dask_client, is_long, stream_table
from firal.data.tables import read_table

pyarrow = pytest.importorskip("pyarrow")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table with labels of every tenth point and ids, as .parquet; its features as .npy."""
    from pyarrow import parquet

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    X = rng.normal(size=(400, 3)) + 3 * np.eye(3)[y]
    np.save("x.npy", X)
    columns = {name: X[:, j] for j, name in enumerate("abc")}
    columns["kind"] = [f"kind {k}" if row % 10 == 0 else None for row, k in enumerate(y)]
    columns["name"] = [f"point {row}" for row in range(400)]
    columns["notes"] = ["?"] * 400
    parquet.write_table(pyarrow.table(columns), "x.parquet", row_group_size=90)
    return tmp_path


OPTIONS = ("--label-column", "kind", "--id-column", "name", "--ignore", "notes", "--budget", "5")


def picks(capsys, *arguments):
    code = cli.main(["select", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, [row["row"] for row in csv.DictReader(io.StringIO(out))], err


def test_a_streamed_table_is_the_table(folder):
    read, text, names, header = read_table("x.parquet", ["kind", "name"], ["notes"])
    home, *others = stream_table("x.parquet", ["kind", "name"], ["notes"])
    assert others == [text, names, header]
    assert np.array_equal(home.rows(np.arange(400)), read)
    assert np.array_equal(stream_table("x.npy")[0].rows(np.arange(400)), read)


def test_which_files_are_long(folder):
    assert is_long("x.parquet", 8 * 400 * 6 - 1) and not is_long("x.parquet", 8 * 400 * 6)
    assert not is_long("x.npy", 0) and not is_long("absent.parquet", 0)
    (folder / "damaged.parquet").write_text("no table")
    assert not is_long("damaged.parquet", 0)


def test_what_cannot_be_streamed(folder):
    with pytest.raises(ValueError, match="must end in .npy or .parquet, got x.csv"):
        stream_table("x.csv")
    with pytest.raises(ValueError, match="has no column 'nobody'"):
        stream_table("x.parquet", ["nobody"])
    with pytest.raises(ValueError, match="has no named columns"):
        stream_table("x.npy", ["kind"])
    (folder / "damaged.parquet").write_text("no table")
    with pytest.raises(ValueError, match="must be an intact .parquet"):
        stream_table("damaged.parquet")


def test_the_command_streams_a_long_file(folder, capsys, monkeypatch):
    code, rows, err = picks(capsys, "x.parquet", *OPTIONS)
    assert code == 0 and len(rows) == 5 and "block by block" not in err
    monkeypatch.setattr(points, "HELD_FROM", 1000)
    code, streamed, err = picks(capsys, "x.parquet", *OPTIONS)
    assert code == 0 and streamed == rows and "read block by block from file" in err


LABEL_LIKE = {
    "target": (np.arange(400) % 2, "'target', which is named like a label"),
    "PatientId": (np.arange(400) % 7, "'PatientId', which is named like an id"),
    "case": (7 + np.arange(400), "'case', which counts the rows"),
    "__index_level_0__": (np.arange(400) % 9, "which is perhaps the index of a data frame"),
}


@pytest.mark.parametrize("name", LABEL_LIKE)
def test_labels_and_ids_are_named_before_a_long_table_is_read(folder, capsys, monkeypatch, name):
    from pyarrow import parquet

    column, reason = LABEL_LIKE[name]
    table = parquet.read_table("x.parquet").append_column(name, pyarrow.array(column))
    parquet.write_table(table, "x.parquet")
    monkeypatch.setattr(points, "HELD_FROM", 1000)
    monkeypatch.setattr(streams, "FIRST", 50)
    code, _, err = picks(capsys, "x.parquet", *OPTIONS)
    assert code == 2 and reason in err and "--feature" in err and "block by block" not in err
    for remedy in ("--feature", "--ignore"):
        code, rows, err = picks(capsys, "x.parquet", *OPTIONS, remedy, name)
        assert code == 0 and len(rows) == 5 and "block by block" in err
    code, _, err = picks(capsys, "x.parquet", *OPTIONS, "--feature", name, "--feature", "absent")
    assert code == 2 and "no column 'absent'" in err


def test_a_column_that_counts_is_seen_in_a_long_array_too(folder):
    X = np.load("x.npy")
    np.save("counted.npy", np.column_stack([X, np.arange(400)]))
    with pytest.raises(ValueError, match="'3', which counts the rows"):
        stream_table("counted.npy")
    assert stream_table("counted.npy", confirmed=["3"]).features.shape == (400, 4)


def test_the_command_on_a_cluster(folder, capsys):
    distributed = pytest.importorskip("distributed")
    code, rows, _ = picks(capsys, "x.parquet", *OPTIONS)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        code, found, err = picks(capsys, "x.parquet", *OPTIONS, "--dask", address)
    assert code == 0 and found == rows and "read block by block from Dask" in err


def test_no_scheduler(folder, capsys, monkeypatch):
    distributed = pytest.importorskip("distributed")

    def nobody(address, timeout):
        raise OSError("timed out")

    monkeypatch.setattr(distributed, "Client", nobody)
    code, _, err = picks(capsys, "x.npy", "--budget", 2, "--dask", "tcp://127.0.0.1:1")
    assert code == 2
    assert "--dask must name a scheduler that answers, got tcp://127.0.0.1:1" in err
    with dask_client(None) as client:
        assert client is None
