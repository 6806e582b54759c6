"""Routines without Python's lock against dense formulas, on parts of matrices, in threads."""

import threading
import time

import numpy as np
import pytest

from firal.common import linalg, nogil
from firal.common.threads import LARGEST_FOR_ONE_THREAD, blas, matrix_threads, one_thread


def matrices(size=7, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(size, size))
    S = A @ A.T + np.eye(size)
    return np.asfortranarray(A), S, np.asfortranarray(np.linalg.cholesky(S))


@pytest.mark.parametrize("size", [1, 2, 7, 130])
def test_factor_inverse_and_eigenvalues(size):
    _, S, C = matrices(size)
    room = S.copy(order="F")
    assert nogil.cholesky(room)
    assert np.tril(room) == pytest.approx(C, rel=1e-9, abs=1e-12)
    nogil.inverse_of_factored(room)
    assert np.tril(room) == pytest.approx(np.tril(np.linalg.inv(S)), rel=1e-6, abs=1e-9)
    values = nogil.eigenvalues(S.T.copy(order="F"))
    assert values == pytest.approx(np.linalg.eigvalsh(S), rel=1e-10)
    assert not nogil.cholesky(np.asfortranarray(-S))


def test_triangular_products_and_solutions_touch_their_part_only():
    A, _, C = matrices()
    part = slice(2, 5)
    for transposed in (False, True):
        B = A.copy(order="F")
        nogil.solve_triangular(C, B[:, part], transposed)
        assert (C.T if transposed else C) @ B[:, part] == pytest.approx(A[:, part], abs=1e-12)
        B[:, part] = A[:, part]
        assert np.array_equal(B, A)
    B = A.copy(order="F")
    nogil.multiply_triangular(B[part], C)
    assert B[part] == pytest.approx(A[part] @ C, rel=1e-12)
    B[part] = A[part]
    assert np.array_equal(B, A)
    nogil.multiply_transposed(C, B[:, part])
    assert B[:, part] == pytest.approx(C.T @ A[:, part], rel=1e-12)
    B[:, part] = A[:, part]
    assert np.array_equal(B, A)
    out = np.full((len(A), len(A)), np.nan, order="F")  # keep=0: what was there does not count
    nogil.add_gram(A[:, part], out, 1.0, keep=0.0)
    assert np.tril(out) == pytest.approx(np.tril(A[:, part] @ A[:, part].T), abs=1e-12)
    nogil.add_product(A[:, part], A[:, part].T, out, 0.5, keep=0.0)
    assert out == pytest.approx(A[:, part] @ A[:, part].T / 2, abs=1e-12)


def test_memory_in_another_order_is_refused():
    _, S, _ = matrices()
    with pytest.raises(AssertionError):
        nogil.cholesky(np.ascontiguousarray(S))
    with pytest.raises(KeyError):  # neither float64 nor float32
        nogil.cholesky(np.asfortranarray(S, dtype=np.int64))
    with pytest.raises(AssertionError):  # of two types
        nogil.multiply_triangular(np.asfortranarray(S), np.asfortranarray(S, dtype=np.float32))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_share_the_columns(threads):
    A, S, C = matrices(40)
    F, inverse = linalg.factor_of(S), np.linalg.inv(S + np.eye(40))
    f, M = linalg.trace_and_derivative(S + np.eye(40), F, threads)
    assert f == pytest.approx(np.trace(inverse @ S), rel=1e-12)
    assert M == pytest.approx(inverse @ S @ inverse, rel=1e-9)
    W = linalg.product_and_gram(inverse, C, threads)
    assert W == pytest.approx(inverse @ S @ inverse, rel=1e-9)


def test_parts_cover_all_and_results_keep_their_order():
    covered = np.concatenate([np.arange(10)[part] for part in nogil.parts(10, 3)])
    assert covered.tolist() == list(range(10))
    assert nogil.in_threads(lambda x: x * x, [3, 1, 2], 2) == [9, 1, 4]
    names = nogil.in_threads(lambda _: threading.current_thread().name, [0, 1], 1)
    assert set(names) == {threading.current_thread().name}


def test_python_goes_on_while_a_routine_runs():
    """Another thread counts on during an eigenvalue problem; with the lock held it stands still."""
    A = np.asfortranarray(matrices(700)[1])
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(1e-3)

    thread = threading.Thread(target=count)
    thread.start()
    with one_thread():
        begin = time.perf_counter()
        nogil.eigenvalues(A)
        end = time.perf_counter()
    done.set()
    thread.join()
    inside = [t for t in ticks if begin + 0.2 * (end - begin) < t < end - 0.2 * (end - begin)]
    assert len(inside) >= 2


def test_blas_has_one_thread_in_a_selection():
    assert matrix_threads(LARGEST_FOR_ONE_THREAD, 4) == 1
    assert matrix_threads(LARGEST_FOR_ONE_THREAD + 1, 4) == 4
    with one_thread():
        assert {library["num_threads"] for library in blas.info()} == {1}
