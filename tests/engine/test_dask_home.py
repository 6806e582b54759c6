"""A table on a Dask cluster: same bits, and a worker that dies loses nothing."""

import os

import numpy as np
import pytest
from hard_instances import instance

import firal
from firal.engine import passes
from firal.engine.dask_home import DaskHome, on_dask
from firal.engine.homes import as_home

array = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

D, ROWS = 4, 20  # columns, rows of a block; a part has 16 blocks
KILL = 9  # the module signal has no name for it on Windows


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process of its own; the default client inside this module."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * D * ROWS)


def table(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, D)) * [1, 10, 0.1, 3] + rng.integers(3, size=(n, 1))


def gram_of(home, before=lambda start: None):
    def gram(start, block):
        before(start)
        return block.T @ block

    return home.reduce(gram, lambda a, b: a + b)


def test_a_cluster_gives_the_bits_of_memory(client):
    X = table()
    home = as_home(array.from_array(X, chunks=(700, 3)))
    assert len(home._parts) == 10
    assert np.array_equal(gram_of(home), gram_of(as_home(X)))
    rows = np.array([2999, 0, 1234, 1])
    assert np.array_equal(home.rows(rows), X[rows])


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_workers_read_a_file_themselves(client, tmp_path, suffix):
    X, path = table(), tmp_path / f"x.{suffix}"
    if suffix == "npy":
        np.save(path, X)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        columns = {f"c{j}": X[:, j] for j in range(D)}
        parquet.write_table(pyarrow.table(columns), path, row_group_size=450)
    home = on_dask(path)
    assert home.kind == "Dask" and home.shape == X.shape
    assert np.array_equal(gram_of(home), gram_of(as_home(X)))


def test_a_worker_that_dies_in_a_pass_loses_nothing(client, tmp_path):
    X, flag = table(), str(tmp_path / "died")

    def die_once(start):
        if start == 1600 and not os.path.exists(flag):
            open(flag, "w").close()
            os.kill(os.getpid(), KILL)

    home = as_home(array.from_array(X, chunks=(500, D)))
    assert np.array_equal(gram_of(home, die_once), gram_of(as_home(X)))
    assert os.path.exists(flag)


def test_a_selection_survives_the_death_of_a_worker(client):
    X, killed = table(6000), []
    y = {row: row % 3 for row in range(0, 6000, 300)}
    expected = firal.next_batch(as_home(X), y, 5)
    client.wait_for_workers(2)

    def kill_one(stage, done, total):
        if stage == "pass 1" and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], KILL)

    batch = firal.next_batch(array.from_array(X, chunks=(800, D)), y, 5, progress=kill_one)
    assert killed and batch.rows.tolist() == expected.rows.tolist()
    assert batch.selection.objective == expected.selection.objective
    assert batch.selection.relaxation.gap == expected.selection.relaxation.gap


def test_a_hard_pool_has_the_certificate_of_memory(client, monkeypatch):
    """Near ties, extreme probabilities and bad scales at once: the same bits."""
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 3 * ROWS)
    X, p = instance("all", m=2400)
    y = {row: int(p[row].argmax()) for row in range(0, 2400, 60)}
    found = []
    for table in (as_home(X), array.from_array(X, chunks=(310, 2))):
        batch = firal.next_batch(table, y, 5, strategy="firal")
        relaxation = batch.selection.relaxation
        found.append((batch.rows.tolist(), relaxation.objective, relaxation.gap))
        assert 0 <= relaxation.gap <= 0.01
    assert found[0] == found[1]


def test_errors_of_a_worker_come_through(client):
    X = table()
    X[1500, 2] = np.nan
    with pytest.raises(ValueError, match="finite numbers, got nan in row 1500, column 2"):
        firal.next_batch(array.from_array(X, chunks=(500, D)), None, 5)


def test_what_is_no_table():
    X = array.ones((6, 2), chunks=2)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        DaskHome(X[X[:, 0] > 0])
    with pytest.raises(ValueError, match="Dask array of 1 dimensions"):
        as_home(array.ones(6))
    with pytest.raises(ValueError, match="of 2 dimensions and type complex128"):
        as_home(X.astype(complex))
    with pytest.raises(ValueError, match=r"got shape \(0, 2\)"):
        as_home(X[:0])


def test_a_frame_is_refused():
    pytest.importorskip("pandas")
    frame = pytest.importorskip("dask.dataframe")
    import pandas

    table = frame.from_pandas(pandas.DataFrame({"x": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(ValueError, match="to_dask_array"):
        as_home(table)
