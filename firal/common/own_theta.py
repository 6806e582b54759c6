"""Is theta given with one row too many? Asked where a user passes it to a selection.

theta has c-1 rows, one per class but the last. Other libraries keep a row for every class:
scikit-learn's ``coef_``, the weight of a layer of torch. Read as c-1 rows these describe one class
more than there is, and the picks are wrong without a sign of it. A penalty or a gradient method
makes such rows sum to zero, and so they are recognized.

But parameters that sum to zero can be right: those of a class in the center of the others. So
nothing but a selection asks, and it does not ask about a theta that firal itself has fitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks

_OWN = ContextVar("theta is of a fit of firal", default=False)


@contextmanager
def own_theta() -> Iterator[None]:
    """Within this context theta comes from a fit of firal, and has the right number of rows.

    Yields
    ------
    None
        Nothing.
    """
    token = _OWN.set(True)
    try:
        yield
    finally:
        _OWN.reset(token)


def selection_parameters(theta: ArrayLike, d: int) -> np.ndarray:
    """Check the parameters that a user passes to a selection.

    Parameters
    ----------
    theta : array_like of shape (c-1, d)
        The parameters.
    d : int
        Number of columns of the points.

    Returns
    -------
    np.ndarray of shape (c-1, d)
        The parameters.

    Raises
    ------
    ValueError
        If the shape is another one, or theta seems to have a row for every class.

    Examples
    --------
    >>> rows = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]
    >>> with own_theta():
    ...     selection_parameters(rows, 2).shape  # outside of it, these would be refused
    (3, 2)
    """
    layer = type(theta).__module__.startswith("torch.nn") and "Parameter" in type(theta).__name__
    theta = checks.parameters(theta, d)
    if not _OWN.get() and (layer or _sums_to_zero(theta)):
        why = "is the weight of a layer" if layer else "sums to zero over its rows"
        raise ValueError(
            f"theta must have c-1 rows, one per class but the last, got {len(theta)} rows, and "
            f"it {why}, so it seems to have a row for every class: pass theta[:-1] - theta[-1], or "
            "theta_from_sklearn(model); if the last class really is in the center of the others, "
            "pass the probabilities of the classes in place of theta"
        )
    return theta


def _sums_to_zero(theta):
    """Whether three or more rows sum to zero, and are not all zero."""
    total, size = np.abs(theta.sum(axis=0)).max(), np.abs(theta).max()
    return len(theta) >= 3 and size > 0 and total <= 1e-6 * size
