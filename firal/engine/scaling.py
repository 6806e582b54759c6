"""Features as the model wants them: columns of one scale, few of them, and a constant one.

FIRAL and BAIT pick the same points after any invertible linear map of the features, if theta is
mapped along. But theta comes from a fit with a penalty, and K-means measures distances: both depend
on the scale, and so does everything that has the penalty in it. All work is done in blocks of rows,
so that a memory-mapped file of any length needs room for the result only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.blocks import pool_blocks

BLOCK_BYTES = 32 * 2**20
LARGEST = checks.LARGEST[np.dtype(np.float64)]


class FeatureMap(NamedTuple):
    """The map from columns to features, fixed by the points it was made from.

    Attributes
    ----------
    shift : np.ndarray of shape (d,)
        Subtracted from every row.
    factor : np.ndarray of shape (d,) or (d, r), or None
        What the shifted rows are multiplied by: one number per column, or a matrix.
    intercept : bool
        Whether a column of ones is appended.
    tails : tuple of np.ndarray, or None
        Mean and inverse deviation of every column, if heavy tails are drawn in first: x becomes
        arsinh((x - mean) * inverse).
    """

    shift: np.ndarray
    factor: np.ndarray | None
    intercept: bool
    tails: tuple[np.ndarray, np.ndarray] | None = None

    def apply(self, X: ArrayLike) -> np.ndarray:
        """Features of the rows of X: these may be other points than the map was made from.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Points with the same columns. A memory-mapped array is read in blocks.

        Returns
        -------
        np.ndarray of shape (n, r) or (n, r + 1)
            Features, float64.
        """
        X = as_numbers(X)
        r = len(self.shift) if self.factor is None else self.factor.shape[-1]
        out = np.ones((len(X), r + self.intercept))
        for block in _blocks(X):
            centered = _numbers(X, block, self.tails) - self.shift
            if self.factor is not None:
                one_each = self.factor.ndim == 1
                centered = centered * self.factor if one_each else centered @ self.factor
            out[block, :r] = centered
        return out


def model_features(
    X: ArrayLike,
    *,
    standardize: bool = True,
    robust: bool = False,
    pca: int | None = None,
    intercept: bool = True,
) -> np.ndarray:
    """Bring the columns of a table to one scale, reduce them, and append an intercept.

    Parameters
    ----------
    X : array_like of shape (n, d)
        One row per point; may be memory-mapped.
    standardize : bool, default True
        Subtract the mean of every column and divide by its standard deviation. A column that is
        constant to rounding becomes 0.
    robust : bool, default False
        Draw heavy tails in: take arsinh of the standardized columns, and standardize again. Values
        near the mean hardly change; an outlier at 100 deviations comes to about 5. Needs
        ``standardize``.
    pca : int, optional
        Keep that many principal components of the (standardized) columns, ``1 <= pca <= d``. With
        ``standardize`` they are given unit variance too.
    intercept : bool, default True
        Append a column of ones.

    Returns
    -------
    np.ndarray of shape (n, r) or (n, r + 1)
        Features, float64, with ``r = d`` or ``r = pca``.

    Raises
    ------
    ValueError
        If X is not a table of finite numbers, or has fewer independent columns than ``pca``.

    Notes
    -----
    Cost: ``n d`` for the scaling, ``n d^2 + d^3`` for the components. The chapter *Use it on your
    own pool* says why the scale matters.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.engine.scaling import model_features
    >>> model_features(np.array([[1.0, 0.1], [3.0, 0.1], [2.0, 0.1], [2.0, 0.1]]))
    array([[-1.41421356,  0.        ,  1.        ],
           [ 1.41421356,  0.        ,  1.        ],
           [ 0.        ,  0.        ,  1.        ],
           [ 0.        ,  0.        ,  1.        ]])
    """
    return feature_map(
        X, standardize=standardize, robust=robust, pca=pca, intercept=intercept
    ).apply(X)


def feature_map(
    X: ArrayLike,
    *,
    standardize: bool = True,
    robust: bool = False,
    pca: int | None = None,
    intercept: bool = True,
) -> FeatureMap:
    """The map behind ``model_features``, for points that are not rows of X.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Points that fix the means and deviations.
    standardize, robust, intercept : bool
        As in ``model_features``.
    pca : int, optional
        As in ``model_features``.

    Returns
    -------
    FeatureMap
        ``feature_map(X).apply(X)`` equals ``model_features(X)``.

    Raises
    ------
    ValueError
        As in ``model_features``.
    """
    X = as_numbers(X)
    d = X.shape[1]
    checks.boolean(standardize, "standardize")
    robust = checks.boolean(robust, "robust")
    intercept = checks.boolean(intercept, "intercept")
    if robust and not standardize:
        raise ValueError("robust must be False without standardize, got True: it scales columns")
    if pca is not None:
        pca = checks.integer(pca, "pca", 1, d)
    mean, tails = _mean(X), None  # checks that all numbers are finite and not huge
    if not standardize and pca is None:
        return FeatureMap(np.zeros(d), None, intercept)
    if robust:
        tails = mean, _inverse_deviation(X, mean)
        mean = _mean(X, tails)
    return FeatureMap(mean, _factor(X, mean, standardize, pca, tails), intercept, tails)


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


def _inverse_deviation(X, mean, tails=None):
    """1 / standard deviation of every column; 0 where it is constant to rounding."""
    spread = np.sqrt(_centered_mean(X, mean, lambda A: (A * A).sum(axis=0), tails))
    moving = spread > np.finfo(float).eps * np.abs(mean) * np.sqrt(len(X))
    return np.where(moving, 1 / np.where(moving, spread, 1), 0.0)


def _factor(X, mean, standardize, pca, tails=None):
    """What to multiply the centered rows by: a number per column (d,), or a matrix (d, pca)."""
    factor = _inverse_deviation(X, mean, tails) if standardize else np.ones(mean.size)
    if pca is None:
        return factor
    covariance = _centered_mean(X, mean, lambda A: A.T @ A, tails)
    values, vectors = np.linalg.eigh(covariance * np.outer(factor, factor))
    values, vectors = values[::-1][:pca], vectors[:, ::-1][:, :pca]
    if values[-1] <= len(mean) * np.finfo(float).eps * values[0]:
        rank = int(np.sum(values > len(mean) * np.finfo(float).eps * values[0]))
        raise ValueError(f"pca must be at most {rank}, the rank of the features, got {pca}")
    return factor[:, None] * vectors / (np.sqrt(values) if standardize else 1.0)


def _mean(X, tails=None):
    total = np.zeros(X.shape[1])
    for block in _blocks(X):
        numbers = _numbers(X, block, tails)
        if not max(-numbers.min(), numbers.max()) <= LARGEST:  # also if it is NaN
            _refuse_the_first_bad_number(numbers, block.start)
        total += numbers.sum(axis=0)
    return total / len(X)


def _centered_mean(X, mean, total, tails=None):
    """``total(rows - mean)`` added up over blocks of rows, divided by the number of rows."""
    return sum(total(_numbers(X, block, tails) - mean) for block in _blocks(X)) / len(X)


def _refuse_the_first_bad_number(numbers, start):
    row, column = np.argwhere(~(np.abs(numbers) <= LARGEST))[0]
    number = numbers[row, column]
    wanted = f"at most {LARGEST:g} in size" if np.isfinite(number) else "finite numbers"
    raise ValueError(
        f"features must be {wanted}, got {number} in row {start + row}, "
        f"column {column} (counted from 0)"
    )


def _blocks(X):
    return pool_blocks(len(X), 8 * X.shape[1], BLOCK_BYTES)


def _numbers(X, block, tails=None):
    """Rows in float64 and in C order: sums have one order however the table is stored."""
    numbers = np.ascontiguousarray(X[block], dtype=np.float64)
    return numbers if tails is None else np.arcsinh((numbers - tails[0]) * tails[1])
