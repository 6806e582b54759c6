"""Checks of single values that a user passes in: numbers, switches, functions, generators.

Every check returns the value, or raises a ValueError that says what came and what was expected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


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
