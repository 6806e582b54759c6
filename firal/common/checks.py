"""Checks of what a user passes in: one ValueError that names what came and what was expected.

Public functions call these once; everything below them trusts its input. A checked array comes
back as float64, or as float32 when it was given as float32. Every check raises ValueError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from firal.common.arrays import first_not_finite, real_array

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
    layer = type(theta).__module__.startswith("torch.nn") and "Parameter" in type(theta).__name__
    theta = floats(theta, name)
    if theta.ndim != 2 or theta.shape[0] < 1 or theta.shape[1] != d:
        raise ValueError(
            f"{name} must have shape (c-1, d) with c >= 2 classes and d = {d} as in the points, "
            f"got shape {theta.shape}"
        )
    if layer or _has_a_row_per_class(theta):
        why = "is the weight of a layer" if layer else "sums to zero over its rows"
        raise ValueError(
            f"{name} must have c-1 rows, one per class but the last, got {len(theta)} rows, and "
            f"it {why}, so it seems to have a row for every class: pass theta[:-1] - theta[-1], or "
            "theta_from_sklearn(model)"
        )
    return theta


def _has_a_row_per_class(theta):
    """Whether parameters are those of a symmetric softmax: c rows whose sum is zero.

    A penalty or a gradient method makes the rows of scikit-learn's ``coef_`` sum to zero. Read as
    c-1 rows they would describe one class more than there is.
    """
    total, size = np.abs(theta.sum(axis=0)).max(), np.abs(theta).max()
    return len(theta) >= 3 and size > 0 and total <= 1e-6 * size


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


def integer(value: Any, name: str, low: int, high: int | None = None) -> int:
    """Check an integer; a whole float is not accepted, because it is usually a mistake.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        What the error calls it.
    low : int
        Smallest value.
    high : int, optional
        Largest value.

    Returns
    -------
    int
        The integer.
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        wanted = f"an integer >= {low}" if high is None else f"an integer in {low}..{high}"
        raise ValueError(f"{name} must be {wanted}, got {value!r}")
    return int(value)


def number(
    value: Any, name: str, low: float | None = None, high: float | None = None, strict: bool = True
) -> float:
    """Check a finite real number.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        What the error calls it.
    low : float, optional
        Lower limit.
    high : float, optional
        Upper limit.
    strict : bool
        Whether the limits themselves are excluded.

    Returns
    -------
    float
        The number.
    """
    try:
        # float("5") and float(True) are numbers, but a caller who passes these means something else
        out = np.nan if isinstance(value, str | bytes | bool | np.bool_) else float(value)
    except (TypeError, ValueError):
        out = np.nan
    too_low = low is not None and (out < low or (strict and out == low))
    too_high = high is not None and (out > high or (strict and out == high))
    if not np.isfinite(out) or too_low or too_high:
        above, below = (">", "<") if strict else (">=", "<=")
        limits = [f"{above} {low:g}"] if low is not None else []
        limits += [f"{below} {high:g}"] if high is not None else []
        wanted = " ".join(["a finite number", " and ".join(limits)]).strip()
        raise ValueError(f"{name} must be {wanted}, got {value!r}")
    return out


def boolean(value: Any, name: str) -> bool:
    """Check for True or False; other values would count as one of them silently.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        What the error calls it.

    Returns
    -------
    bool
        The value.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def function(value: Any, name: str) -> Callable | None:
    """Check for None or something that can be called.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        What the error calls it.

    Returns
    -------
    callable or None
        The value.
    """
    if value is not None and not callable(value):
        raise ValueError(f"{name} must be None or a function, got {value!r}")
    return value


def generator(rng: Any) -> np.random.Generator:
    """Check for a numpy.random.Generator: there is no hidden global state.

    Parameters
    ----------
    rng : object
        What the user passed.

    Returns
    -------
    np.random.Generator
        The generator.
    """
    if not isinstance(rng, np.random.Generator):
        raise ValueError(
            f"rng must be a numpy.random.Generator such as numpy.random.default_rng(0), got {rng!r}"
        )
    return rng
