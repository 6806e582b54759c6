"""One table in every home, for tests."""

import os

import numpy as np

from firal.engine.homes import as_home


def all_homes(X, folder):
    """{name: home} of a table; files go to ``folder``."""
    import dask.array
    import pyarrow
    from pyarrow import parquet

    np.save(folder / "c.npy", X)
    np.save(folder / "f.npy", np.asfortranarray(X))
    columns = {f"column {j}": X[:, j] for j in range(X.shape[1])}
    parquet.write_table(pyarrow.table(columns), folder / "x.parquet", row_group_size=37)
    chunks = (max(1, len(X) // 3 - 1), max(1, X.shape[1] // 2))
    homes = {
        "memory": as_home(X),
        "Fortran order": as_home(np.asfortranarray(X)),
        "every other row": as_home(np.repeat(X, 2, axis=0)[::2]),
        "file": as_home(folder / "c.npy"),
        "file in Fortran order": as_home(str(folder / "f.npy")),
        "memory-mapped": as_home(np.load(folder / "c.npy", mmap_mode="r")),
        "Parquet": as_home(folder / "x.parquet"),
        "Dask": as_home(dask.array.from_array(X, chunks=chunks)),
    }
    if "MUTANT_UNDER_TEST" in os.environ:  # threads of Dask do not survive a fork
        del homes["Dask"]
    return homes
