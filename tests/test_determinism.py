"""Same picks: threads, types of numbers, kernels of BLAS, another BLAS, other versions of Python.

    python tests/test_determinism.py     writes tests/picks.json, after a change of a strategy

Points whose scores agree to 1e-9 are ties (``firal.selection.scoring.TIE``), and the lowest row
wins. So what rounds in the last digits decides nothing, unless two scores are closer than their
rounding and farther apart than that.
"""

import json
import os
import platform
import subprocess
import sys

import numpy as np
import other_blas
import pytest
from conftest import ROOT

import firal
from firal.common.threads import allowed_threads, blas
from firal.engine import memory

STORED = ROOT / "tests" / "picks.json"
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
DEBIAN = ":".join(f"{LIBRARIES}/{name}" for name in ("blas64", "lapack64", "blas", "lapack"))
PROCESSORS = ("Nehalem", "Haswell")  # SSE alone, and AVX2 with fused products


def problem(n=700, d=7, c=4, seed=0):
    """Points around centers, with twins, in float32 values; a label for every ninth."""
    rng = np.random.default_rng(seed)
    y = rng.integers(c, size=n)
    X = (2 * rng.normal(size=(c, d))[y] + rng.normal(size=(n, d))).astype(np.float32)
    X[n // 2 : n // 2 + 40] = X[:40]
    return X, {int(row): int(y[row]) for row in range(0, n, 9)}


def picks(X, y, strategy):
    return firal.next_batch(X, y, 9, strategy=strategy, rng=3).rows.tolist()


@pytest.mark.parametrize("strategy", sorted(firal.STRATEGIES))
def test_one_thread_and_two(strategy, monkeypatch):
    monkeypatch.setattr(memory, "POINTS_PER_THREAD", 100)
    X, y = problem()
    found = []
    for threads in (1, 2):
        with blas.limit(limits=threads):
            assert allowed_threads() == threads
            found.append(picks(X, y, strategy))
    assert found[0] == found[1]


def test_one_thread_and_two_with_large_matrices(monkeypatch):
    """More than 512 parameters: threads share the matrices, too."""
    monkeypatch.setattr(memory, "POINTS_PER_THREAD", 100)
    X, y = problem(400, 53, 11)
    X, rows, found = X.astype(np.float64), list(y), []
    theta = firal.fit(X[rows], np.array([y[row] for row in rows]), 11, ridge=0.1).theta
    for threads in (1, 2):
        with blas.limit(limits=threads):
            chosen = firal.select(X, X[rows], theta, 4, ridge=0.1, structure="full")
            found.append(chosen.indices.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("strategy", sorted(firal.STRATEGIES))
def test_float64_and_mapped_float32_of_the_same_values(strategy, tmp_path):
    X, y = problem()
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert mapped.dtype == np.float32
    assert picks(mapped, y, strategy) == picks(X.astype(np.float64), y, strategy)


CODE = """
import json, sys
sys.path[:0] = [{tests!r}]
import firal
from firal.common.threads import blas
from test_determinism import picks, problem

X, y = problem()
found = {{s: picks(X, y, s) for s in sorted(firal.STRATEGIES)}}
print(json.dumps([sorted({{i.get("architecture") for i in blas.info()}}, key=str), found]))
"""


def test_the_stored_picks():
    """Those of every machine and version of Python; the workflow runs this with all of them."""
    X, y = problem()
    assert {s: picks(X, y, s) for s in sorted(firal.STRATEGIES)} == json.loads(STORED.read_text())


def picks_in_another_process(**environment):
    """Architectures of the BLAS libraries, and the picks of every strategy."""
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(tests=str(ROOT / "tests"))],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="kernels of x86")
def test_other_processors():
    """OpenBLAS with the kernels of an old and of a newer processor: other roundings, same picks."""
    found = [picks_in_another_process(OPENBLAS_CORETYPE=name) for name in PROCESSORS]
    if [name for (name,), _ in found] != list(PROCESSORS):
        pytest.skip(f"BLAS has one set of kernels here: {found[0][0]}")
    assert found[0][1] == found[1][1]


@pytest.mark.nightly
@pytest.mark.skipif(platform.machine() != "x86_64", reason="jumps of x86")
def test_another_blas(tmp_path):
    """BLAS and LAPACK of the distribution below numpy and scipy, where they are installed.

    ``FIRAL_OTHER_BLAS`` names the folders in which they are, by default those of Debian.
    """
    library = other_blas.make(tmp_path, os.environ.get("FIRAL_OTHER_BLAS", DEBIAN).split(":"))
    if library is None:
        pytest.skip("needs gcc, libblas3, liblapack3, libblas64-3 and liblapack64-3")
    draw = "import numpy; x = numpy.random.default_rng(0).normal(size=(99, 99))"
    product = f"{draw}; print((x @ x).tobytes())"
    bits = [
        subprocess.run([sys.executable, "-c", product], capture_output=True, env=e).stdout
        for e in (os.environ, {**os.environ, "LD_PRELOAD": str(library)})
    ]
    other = all(bits) and len(set(bits)) == 2
    assert other, "the products have the same bits: is it the BLAS of the wheels again?"
    assert picks_in_another_process(LD_PRELOAD=str(library))[1] == json.loads(STORED.read_text())


if __name__ == "__main__":
    text = json.dumps({s: picks(*problem(), s) for s in sorted(firal.STRATEGIES)})
    STORED.write_text(text.replace("], ", "],\n ") + "\n")
