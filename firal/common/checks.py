"""Checks of what a user passes in: one ValueError that names what came and what was expected.

Public functions call these once; everything below them trusts its input. A checked array comes
back as float64, or as float32 when it was given as float32.
"""

from __future__ import annotations

import numpy as np

# squares and sums of squares of features must not overflow
LARGEST = {np.dtype(np.float64): 1e50, np.dtype(np.float32): 1e15}


def floats(values, name):
    """Array of finite real numbers, of type float32 (if it was) or float64."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must have no masked entries, got {np.ma.count_masked(values)}")
    try:
        array = np.asarray(values)
        if array.dtype != np.float32:
            if array.dtype.kind not in "biuf":
                raise TypeError
            array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of real numbers, got {values!r:.80}") from None
    if not np.isfinite(array).all():
        bad = array.size - int(np.isfinite(array).sum())
        raise ValueError(f"{name} must be finite, got {bad} NaN or infinite entries")
    return array


def points(X, name="X", d=None):
    """(n, d) array with n >= 1 and d >= 1; ``d`` fixes the number of columns."""
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


def parameters(theta, d, name="theta"):
    """(c-1, d) array with c >= 2, for points with d columns."""
    theta = floats(theta, name)
    if theta.ndim != 2 or theta.shape[0] < 1 or theta.shape[1] != d:
        raise ValueError(
            f"{name} must have shape (c-1, d) with c >= 2 classes and d = {d} as in the points, "
            f"got shape {theta.shape}"
        )
    return theta


def labels(y, n, n_classes=None, name="y"):
    """(n,) integer labels in 0..n_classes-1; None: as many classes as the largest label says."""
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


def weights(w, n, name="weights"):
    """(n,) array of nonnegative weights."""
    w = floats(w, name)
    if w.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one per point, got shape {w.shape}")
    if w.min() < 0:
        raise ValueError(f"{name} must be nonnegative, got a smallest entry of {w.min():g}")
    return w


def symmetric(M, name, size=None):
    """(size, size) symmetric array."""
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


def integer(value, name, low, high=None):
    """An integer in low..high (a whole float is not accepted: it is usually a mistake)."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        wanted = f"an integer >= {low}" if high is None else f"an integer in {low}..{high}"
        raise ValueError(f"{name} must be {wanted}, got {value!r}")
    return int(value)


def number(value, name, low=None, high=None, strict=True):
    """A finite real number, above ``low`` and below ``high`` (or equal, if not strict)."""
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


def boolean(value, name):
    """True or False: any text would count as True."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def function(value, name):
    """None, or something that can be called."""
    if value is not None and not callable(value):
        raise ValueError(f"{name} must be None or a function, got {value!r}")
    return value


def generator(rng):
    """A numpy.random.Generator: no hidden global state."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(
            f"rng must be a numpy.random.Generator such as numpy.random.default_rng(0), got {rng!r}"
        )
    return rng
