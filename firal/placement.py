"""Whether a table is held in memory or read block by block."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from firal.engine.homes import as_home, is_dask
from firal.engine.inputs import as_table
from firal.engine.passes import Home
from firal.picking import DEFAULT
from firal.selection.wide_sizes import is_wide

# A selection in memory makes about six copies of the features. Block by block none is made, and it
# is quicker: a million points of 20 features (160 MB) took 9.3 CPU s and 140 MB above the table, in
# memory 20.1 s and 1.1 GB; the objective was 0.05% worse. But greedy steps see candidates only.
STREAM_FROM = 2**25  # bytes of the features
HELD_FROM = 2**30  # the same for what blocks cannot do, or do with some of the points only


def largest_held(
    columns: int, n_classes: int, budget: int, strategy: str | Callable, given: bool
) -> int:
    """Size up to which a table is held in memory.

    Parameters
    ----------
    columns : int
        Features of the model.
    n_classes : int
        Classes among the labels.
    budget, strategy
        As in :func:`firal.next_batch`.
    given : bool
        Whether probabilities are given.

    Returns
    -------
    int
        Bytes of the features in float64.
    """
    wide = strategy == DEFAULT and is_wide(columns + 2 * budget, max(n_classes, 2))
    return HELD_FROM if wide or given or not isinstance(strategy, str) else STREAM_FROM


def is_held(n: int, d: int, most: int) -> bool:
    """Whether a table is held in memory.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    most : int
        From :func:`largest_held`.

    Returns
    -------
    bool
        False if it is read block by block.
    """
    return 8 * n * (d + 1) <= most


def whole_table(X: Any) -> np.ndarray | Home:
    """What was handed in.

    Parameters
    ----------
    X : array_like, data frame, path, Home or Dask array, of shape (n, d)
        A table.

    Returns
    -------
    np.ndarray or Home
        A home if it is not in memory.
    """
    elsewhere = isinstance(X, str | os.PathLike | Home) or is_dask(X)
    return as_home(X) if elsewhere else as_table(X)


def placed(table: np.ndarray | Home, X: Any, most: int) -> np.ndarray | Home:
    """The table where it is worked on.

    Parameters
    ----------
    table : np.ndarray or Home
        From :func:`whole_table`.
    X : object
        What was handed in.
    most : int
        From :func:`largest_held`.

    Returns
    -------
    np.ndarray or Home
        A home if it is to be read block by block.
    """
    if not is_held(*table.shape, most):
        return as_home(table)
    in_file = isinstance(X, str | os.PathLike)
    return table.rows(np.arange(len(table))) if in_file else table
