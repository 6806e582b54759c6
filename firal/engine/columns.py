"""Columns of a table: checks, heavy tails, deviations, principal components.

What :mod:`firal.engine.scaling` and :mod:`firal.engine.moments` share. The first works on arrays,
the second on tables that live anywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks

LARGEST = checks.LARGEST[np.dtype(np.float64)]


def as_numbers(X: ArrayLike) -> np.ndarray:
    """X as an array of numbers with two dimensions; one that has a type is not copied.

    Parameters
    ----------
    X : array_like of shape (n, d)
        One row per point.

    Returns
    -------
    np.ndarray of shape (n, d)
        X itself, unless it had to be made an array first.

    Raises
    ------
    ValueError
        If it does not have two dimensions, is empty, is masked, or does not hold real numbers.
    """
    if not hasattr(X, "dtype"):
        X = np.asarray(X)
    if np.ma.is_masked(X):
        raise ValueError(
            f"features must have no masked entries, got {np.ma.count_masked(X)}: fill them first"
        )
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "biuf":
        raise ValueError(
            "features must be a table of numbers with one row per point, "
            f"got an array of shape {X.shape} and type {X.dtype}"
        )
    return X


def check_map(standardize: bool, robust: bool, pca: int | None, intercept: bool, d: int) -> None:
    """Check the options of a map.

    Parameters
    ----------
    standardize, robust : bool
        As in ``model_features``.
    pca : int or None
        As in ``model_features``.
    intercept : bool
        As in ``model_features``.
    d : int
        Number of columns.

    Raises
    ------
    ValueError
        If one is out of range.
    """
    checks.boolean(standardize, "standardize")
    checks.boolean(robust, "robust")
    checks.boolean(intercept, "intercept")
    if robust and not standardize:
        raise ValueError("robust must be False without standardize, got True: it scales columns")
    if pca is not None:
        checks.integer(pca, "pca", 1, d)


def check_numbers(numbers: np.ndarray, start: int = 0) -> None:
    """Refuse NaN, infinity and huge numbers.

    Parameters
    ----------
    numbers : np.ndarray of shape (k, d)
        A block of rows.
    start : int
        Number of its first row.

    Raises
    ------
    ValueError
        Names the first bad number.
    """
    if max(-numbers.min(), numbers.max()) <= LARGEST:  # False if one is NaN
        return
    row, column = np.argwhere(~(np.abs(numbers) <= LARGEST))[0]
    number = numbers[row, column]
    wanted = f"at most {LARGEST:g} in size" if np.isfinite(number) else "finite numbers"
    raise ValueError(
        f"features must be {wanted}, got {number} in row {start + row}, "
        f"column {column} (counted from 0)"
    )


def drawn_in(numbers: np.ndarray, tails: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
    """Draw heavy tails in.

    Parameters
    ----------
    numbers : np.ndarray of shape (k, d)
        Rows.
    tails : tuple of np.ndarray, or None
        As in :class:`firal.engine.scaling.FeatureMap`; None changes nothing.

    Returns
    -------
    np.ndarray of shape (k, d)
        ``arsinh((x - mean) * inverse)``.
    """
    return numbers if tails is None else np.arcsinh((numbers - tails[0]) * tails[1])


def inverse_deviation(mean: np.ndarray, variance: np.ndarray, n: int) -> np.ndarray:
    """Inverse standard deviation of every column.

    Parameters
    ----------
    mean : np.ndarray of shape (d,)
        Means.
    variance : np.ndarray of shape (d,)
        Mean squares of the centered columns.
    n : int
        Number of rows.

    Returns
    -------
    np.ndarray of shape (d,)
        0 where a column is constant to rounding.
    """
    spread = np.sqrt(variance)
    moving = spread > np.finfo(float).eps * np.abs(mean) * np.sqrt(n)
    return np.where(moving, 1 / np.where(moving, spread, 1), 0.0)


def principal_factor(
    factor: np.ndarray, covariance: np.ndarray, pca: int, standardize: bool
) -> np.ndarray:
    """What to multiply centered rows by to get their principal components.

    Parameters
    ----------
    factor : np.ndarray of shape (d,)
        Scales of the columns.
    covariance : np.ndarray of shape (d, d)
        Of the columns before they are scaled.
    pca : int
        Number of components.
    standardize : bool
        Whether the components get unit variance.

    Returns
    -------
    np.ndarray of shape (d, pca)
        The matrix.

    Raises
    ------
    ValueError
        If there are fewer components.
    """
    values, vectors = np.linalg.eigh(covariance * np.outer(factor, factor))
    values, vectors = values[::-1][:pca], vectors[:, ::-1][:, :pca]
    if values[-1] <= len(factor) * np.finfo(float).eps * values[0]:
        rank = int(np.sum(values > len(factor) * np.finfo(float).eps * values[0]))
        raise ValueError(f"pca must be at most {rank}, the rank of the features, got {pca}")
    return factor[:, None] * vectors / (np.sqrt(values) if standardize else 1.0)
