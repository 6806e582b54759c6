"""How many threads BLAS may use.

Small products do not gain from a second thread, and on a busy machine threads that wait for each
other can make them ten times slower or worse. So small problems run on one thread.
"""

from __future__ import annotations

from contextlib import nullcontext

import scipy.linalg  # noqa: F401  (loads scipy's own BLAS, so that the controller finds it)
from threadpoolctl import ThreadpoolController

SMALL = 512  # up to this d~, a second BLAS thread costs more than it brings

blas = ThreadpoolController().select(user_api="blas")


def threads_for(size):
    """Context with one BLAS thread when d~ = size is small, else with the user's setting."""
    return blas.limit(limits=1) if size <= SMALL else nullcontext()
