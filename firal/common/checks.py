"""Checks of what a user passes in: one ValueError that names what came and what was expected.

Public functions call these once; everything below them trusts its input. A checked array comes
back as float64, or as float32 when it was given as float32. Every check raises ValueError. Arrays
are checked here, single values in :mod:`firal.common.values`; both are called ``checks.name``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from firal.common.arrays import first_not_finite, real_array
from firal.common.values import boolean, function, generator, integer, number

__all__ = [
    "boolean",
    "floats",
    "function",
    "generator",
    "integer",
    "labels",
    "number",
    "parameters",
    "points",
    "rows",
    "symmetric",
    "weights",
]

# squares and sums of squares of features must not overflow
LARGEST = {np.dtype(np.float64): 1e50, np.dtype(np.float32): 1e15}


def floats(values: ArrayLike, name: str) -> np.ndarray:
    """Check for finite real numbers.

    Parameters
    ----------
    values : array_like
        Any shape.
    name : str
        What the error calls it.

    Returns
    -------
    np.ndarray
        float32 if it was, else float64.
    """
    array = real_array(values, name)
    if array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise ValueError(first_not_finite(array, name))
    return array


def points(X: ArrayLike, name: str = "X", d: int | None = None) -> np.ndarray:
    """Check points: finite, not huge, at least one row and one column.

    Parameters
    ----------
    X : array_like of shape (n, d)
        The points.
    name : str
        What the error calls it.
    d : int, optional
        The number of columns it must have.

    Returns
    -------
    np.ndarray of shape (n, d)
        The points.
    """
    X = floats(X, name)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"{name} must have shape (n, d) with n, d >= 1, got shape {X.shape}")
    if d is not None and X.shape[1] != d:
        raise ValueError(f"{name} must have {d} columns, got shape {X.shape}")
    largest, limit = max(-X.min(), X.max()), LARGEST[X.dtype.newbyteorder("=")]
    if largest > limit:
        raise ValueError(
            f"{name} must be at most {limit:g} in size for {X.dtype}, got {largest:g}: "
            "use other units"
        )
    return X


def parameters(theta: ArrayLike, d: int, name: str = "theta") -> np.ndarray:
    """Check parameters of at least two classes.

    Parameters
    ----------
    theta : array_like of shape (c-1, d)
        The parameters.
    d : int
        Number of columns of the points.
    name : str
        What the error calls it.

    Returns
    -------
    np.ndarray of shape (c-1, d)
        The parameters.
    """
    theta = floats(theta, name)
    if theta.ndim != 2 or theta.shape[0] < 1 or theta.shape[1] != d:
        raise ValueError(
            f"{name} must have shape (c-1, d) with c >= 2 classes and d = {d} as in the points, "
            f"got shape {theta.shape}"
        )
    return theta


def labels(y: ArrayLike, n: int, n_classes: int | None = None, name: str = "y") -> np.ndarray:
    """Check labels: integers from 0.

    Parameters
    ----------
    y : array_like of shape (n,)
        The labels; whole floats are accepted.
    n : int
        Number of points.
    n_classes : int, optional
        Labels must be below it.
    name : str
        What the error calls it.

    Returns
    -------
    np.ndarray of shape (n,)
        The labels.
    """
    y = np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one label per point, got shape {y.shape}")
    last = "c-1" if n_classes is None else n_classes - 1
    if y.dtype.kind not in "iu":
        if y.dtype.kind not in "bf" or not np.array_equal(y, np.round(y)):
            example = f" with {y[y != np.round(y)][0]}" if y.dtype.kind == "f" else ""
            raise ValueError(f"{name} must hold integers 0..{last}, got type {y.dtype}{example}")
    if y.min() < 0 or (n_classes is not None and y.max() >= n_classes):
        raise ValueError(
            f"{name} must hold labels 0..{last} for {n_classes or 'c'} classes, "
            f"got labels from {y.min()} to {y.max()}"
        )
    return y.astype(np.intp)


def rows(values: ArrayLike, m: int, name: str, count: int | None = None) -> np.ndarray:
    """Check distinct rows of a pool.

    Parameters
    ----------
    values : array_like of shape (count,)
        Integers in 0..m-1.
    m : int
        Number of points.
    name : str
        What the error calls it.
    count : int, optional
        How many there must be; by default at least one.

    Returns
    -------
    np.ndarray of shape (count,)
        The rows.
    """
    array = np.asarray(values)
    wanted = "distinct rows" if count is None else f"{count} distinct rows"
    fits = array.ndim == 1 and array.size > 0 and array.dtype.kind in "iu"
    fits = fits and (count is None or array.size == count)
    if not fits or array.min() < 0 or array.max() >= m or np.unique(array).size != array.size:
        raise ValueError(f"{name} must be {wanted} in 0..{m - 1}, got {array!r:.80}")
    return array.astype(np.intp)


def weights(w: ArrayLike, n: int, name: str = "weights") -> np.ndarray:
    """Check nonnegative weights.

    Parameters
    ----------
    w : array_like of shape (n,)
        The weights.
    n : int
        Number of points.
    name : str
        What the error calls it.

    Returns
    -------
    np.ndarray of shape (n,)
        The weights.
    """
    w = floats(w, name)
    if w.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one per point, got shape {w.shape}")
    if w.min() < 0:
        raise ValueError(f"{name} must be nonnegative, got a smallest entry of {w.min():g}")
    return w


def symmetric(M: ArrayLike, name: str, size: int | None = None) -> np.ndarray:
    """Check a symmetric matrix.

    Parameters
    ----------
    M : array_like of shape (size, size)
        The matrix.
    name : str
        What the error calls it.
    size : int, optional
        The number of rows it must have.

    Returns
    -------
    np.ndarray of shape (size, size)
        The matrix.
    """
    M = floats(M, name)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or M.shape[0] == 0:
        raise ValueError(f"{name} must be a square matrix, got shape {M.shape}")
    if size is not None and M.shape[0] != size:
        raise ValueError(f"{name} must have shape ({size}, {size}), got {M.shape}")
    largest = np.abs(M).max()
    skew = np.abs(M - M.T).max()
    if skew > 1e3 * np.finfo(M.dtype).eps * largest:
        raise ValueError(
            f"{name} must be symmetric, got entries that differ from the transpose by {skew:.3g} "
            f"(largest entry {largest:.3g})"
        )
    return M
