"""Anything that holds numbers, as an array: with one clear error and its remedy for what does not.

Tensors, sparse matrices and arrays of objects are what people pass besides arrays. None of their
packages is imported here: they are known by their attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def real_array(values: Any, name: str) -> np.ndarray:
    """Return the real numbers of an array, a tensor, a data frame or nested lists.

    Parameters
    ----------
    values : object
        What the user passed. A tensor may require a gradient: that is left behind.
    name : str
        What the error calls it.

    Returns
    -------
    np.ndarray
        Of booleans, integers or floating-point numbers, not copied if it was one.

    Raises
    ------
    ValueError
        If it is sparse, masked, or holds something else; the message says what to pass.

    Examples
    --------
    >>> real_array([[1, 2.5]], "X")
    array([[1. , 2.5]])
    >>> real_array([[1, "red"]], "X")
    Traceback (most recent call last):
    ...
    ValueError: X must hold real numbers, got the text 'red' at (0, 1): encode it as numbers
    """
    if values is None:
        raise ValueError(f"{name} must be an array of real numbers, got None")
    if np.ma.is_masked(values):
        count = np.ma.count_masked(values)
        raise ValueError(f"{name} must have no masked entries, got {count}: fill them first")
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise ValueError(
            f"{name} must be a dense array, got a sparse matrix of shape {values.shape}: pass "
            f"{name}.toarray(), or reduce it first by sklearn.decomposition.TruncatedSVD"
        )
    if hasattr(values, "detach") and hasattr(values, "numpy"):
        values = _of_tensor(values, name)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be an array of real numbers, got {type(values).__name__} whose rows "
            "have different lengths, or that is no array"
        ) from None
    if array.dtype.kind in "biuf":
        return array
    raise ValueError(f"{name} must hold real numbers, got {_what(values, array, name)}")


def first_not_finite(array: np.ndarray, name: str) -> str:
    """Say where the first NaN or infinity stands.

    Parameters
    ----------
    array : np.ndarray
        Numbers, at least one of which is not finite.
    name : str
        What the message calls it.

    Returns
    -------
    str
        The message.
    """
    places = np.argwhere(~np.isfinite(array))
    place = tuple(places[0].tolist())
    where = f"row {place[0]}, column {place[1]}" if array.ndim == 2 else f"{place}"
    return (
        f"{name} must be finite, got {len(places)} NaN or infinite entries, the first, "
        f"{array[place]}, in {where}: fill them in or remove these rows"
    )


def _of_tensor(values, name):
    values = values.detach()
    if hasattr(values, "cpu"):
        values = values.cpu()
    try:
        return values.numpy()
    except (TypeError, RuntimeError):
        raise ValueError(
            f"{name} must hold numbers that NumPy knows, got {values.dtype}: pass {name}.float()"
        ) from None


def _what(values, array, name):
    """What an array of something else holds, and what to do."""
    if array.dtype.kind == "c":
        return f"complex numbers: pass {name}.real if the imaginary part is zero"
    if array.dtype.kind in "mM":
        return f"dates or durations ({array.dtype}): pass a number, such as the days since a date"
    objects = np.asarray(values, dtype=object)
    for place, value in np.ndenumerate(objects):
        where = f" at {tuple(place)}" if place else ""
        if isinstance(value, str | bytes):
            return f"the text {value!r:.40}{where}: encode it as numbers"
        if value is None or str(value) in ("<NA>", "NaT"):
            return f"a missing value, {value},{where}: fill it in"
        if not isinstance(value, bool | int | float | np.number):
            return f"an object of type {type(value).__name__}{where}: pass an array of numbers"
    return f"numbers in an array of type {array.dtype}: pass {name}.astype(float)"
