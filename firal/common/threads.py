"""How many threads BLAS may use.

Small products do not gain from a second thread, and on a busy machine threads that wait for each
other can make any routine ten times slower or worse. So small problems run on one thread, and a
selection runs on several only where each works on a part of its own: blocks of the pool, columns of
a matrix, learning rates. BLAS has one thread in each.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import scipy.linalg  # noqa: F401  (loads scipy's own BLAS, so that the controller finds it)
from threadpoolctl import ThreadpoolController

LARGEST_FOR_ONE_THREAD = 512  # up to this d~, a second BLAS thread costs more than it brings

blas = ThreadpoolController().select(user_api="blas")


def threads_for(size: int) -> AbstractContextManager:
    """Context with one BLAS thread if the problem is small, else with the user's setting.

    Parameters
    ----------
    size : int
        Number of parameters d~ = d(c-1).

    Returns
    -------
    context manager
        Restores the number of threads at its end.
    """
    return blas.limit(limits=1) if size <= LARGEST_FOR_ONE_THREAD else nullcontext()


def one_thread() -> AbstractContextManager:
    """Context with one BLAS thread.

    Returns
    -------
    context manager
        Restores the number of threads at its end.
    """
    return blas.limit(limits=1)


def matrix_threads(size: int, threads: int) -> int:
    """Number of threads that share the work on matrices.

    Parameters
    ----------
    size : int
        Order of the matrices.
    threads : int
        Number of threads allowed.

    Returns
    -------
    int
        1 for small matrices.
    """
    return 1 if size <= LARGEST_FOR_ONE_THREAD else threads


def allowed_threads() -> int:
    """Number of BLAS threads that the user allows at this moment.

    Returns
    -------
    int
        The largest number over the BLAS libraries in use; at least 1.
    """
    return max((library["num_threads"] for library in blas.info()), default=1)
