"""What one round of labeling is given: its generator, rows that are out, tables that must agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks


def round_generator(seed: int, n_labels: int) -> np.random.Generator:
    """Make the generator of a round from a seed and the number of labels that are known.

    Parameters
    ----------
    seed : int
        At least 0.
    n_labels : int
        Number of labels.

    Returns
    -------
    numpy.random.Generator
        ``numpy.random.default_rng([seed, n_labels])``: the same for the same labels, another one in
        every round. Before the first label it is ``numpy.random.default_rng(seed)``.

    Notes
    -----
    A generator with the same seed in every round would draw the same places of the pool again, and
    a baseline of random points would hardly leave the first batch.

    Examples
    --------
    >>> draws = [round_generator(0, n).integers(1000) for n in (0, 10, 10)]
    >>> draws[0] == np.random.default_rng(0).integers(1000), draws[1] == draws[2]
    (np.True_, np.True_)
    >>> bool(draws[0] == draws[1])
    False
    """
    return np.random.default_rng([checks.integer(seed, "rng", 0), n_labels])


def optional_rows(rows: ArrayLike | None, n: int, name: str) -> np.ndarray:
    """Check rows of a table, of which there may be none.

    Parameters
    ----------
    rows : array_like of int, optional
        The rows; one may be named several times.
    n : int
        Number of points.
    name : str
        What the error calls it.

    Returns
    -------
    np.ndarray of int
        Distinct and ascending.
    """
    if rows is None or np.size(rows) == 0:
        return np.empty(0, dtype=np.intp)
    return checks.rows(np.unique(rows), n, name)


def check_budget(budget: Any, most: int) -> None:
    """Check that there are as many points as are to be picked.

    Parameters
    ----------
    budget : int
        Number of points to pick.
    most : int
        Number of points to choose from.
    """
    checks.integer(budget, "budget", 1)
    if budget > most:
        none = ", because every point has a label, is pending or is left out" if most == 0 else ""
        raise ValueError(
            f"budget must be at most {most}, the number of points left to choose from, got "
            f"{budget}{none}"
        )


def same_columns(X: Any, other: Any, names: tuple[str, str] = ("pool", "labeled")) -> None:
    """Check that two data frames have the same columns in the same order.

    Parameters
    ----------
    X, other : object
        Anything; only objects with ``columns`` are compared.
    names : tuple of str
        What the error calls them.
    """
    first, second = (getattr(table, "columns", None) for table in (X, other))
    if first is None or second is None:
        return
    first, second = list(map(str, first)), list(map(str, second))
    if first != second:
        raise ValueError(
            f"{names[1]} must have the columns of {names[0]} in their order, {first!r:.60}, got "
            f"{second!r:.60}: pass {names[1]}[{names[0]}.columns]"
        )
