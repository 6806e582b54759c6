"""Features as the model wants them: columns of one scale, few of them, and a constant one.

FIRAL and BAIT pick the same points after any invertible linear map of the features, if theta is
mapped along. But theta comes from a fit with a penalty, and K-means measures distances: both depend
on the scale, and so does everything that has the penalty in it. All work is done in blocks of rows,
so that a memory-mapped file of any length needs room for the result only.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common.blocks import pool_blocks
from firal.engine.categories import Levels, category_scale, levels_of
from firal.engine.columns import (
    as_numbers,
    check_map,
    check_numbers,
    drawn_in,
    inverse_deviation,
    principal_factor,
)

BLOCK_BYTES = 32 * 2**20


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

    def apply(self, X: ArrayLike, dtype: type = np.float64) -> np.ndarray:
        """Features of the rows of X: these may be other points than the map was made from.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Points with the same columns. A memory-mapped array is read in blocks.
        dtype : type, default float64
            Of the result; blocks are computed in float64.

        Returns
        -------
        np.ndarray of shape (n, r) or (n, r + 1)
            Features.
        """
        X = as_numbers(X)
        r = self.width - self.intercept
        out = np.ones((len(X), self.width), dtype)
        for block in _blocks(X):
            centered = _numbers(X, block, self.tails) - self.shift
            if self.factor is not None:
                one_each = self.factor.ndim == 1
                centered = centered * self.factor if one_each else centered @ self.factor
            out[block, :r] = centered
        return out

    @property
    def width(self) -> int:
        """Number of features that ``apply`` gives."""
        r = len(self.shift) if self.factor is None else self.factor.shape[-1]
        return r + self.intercept


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
        near the mean hardly change; an outlier at 100 deviations comes to about 5. And let 0/1
        columns that exclude each other, the levels of one category, weigh as at most two columns
        (:mod:`firal.engine.categories`). Needs ``standardize``.
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
    check_map(standardize, robust, pca, intercept, d)
    mean, tails = _mean(X), None  # checks that all numbers are finite and not huge
    if not standardize and pca is None:
        return FeatureMap(np.zeros(d), None, intercept)
    factor = np.ones(d)
    if robust:
        levels = reduce(Levels.merged, (levels_of(_numbers(X, block)) for block in _blocks(X)))
        tails = mean, _inverse_deviation(X, mean)
        mean = _mean(X, tails)
        factor = category_scale(levels, len(X), d)
    if standardize:
        factor = factor * _inverse_deviation(X, mean, tails)
    if pca is not None:
        covariance = _centered_mean(X, mean, lambda A: A.T @ A, tails)
        factor = principal_factor(factor, covariance, pca, standardize)
    return FeatureMap(mean, factor, intercept, tails)


def _inverse_deviation(X, mean, tails=None):
    """1 / standard deviation of every column; 0 where it is constant to rounding."""
    variance = _centered_mean(X, mean, lambda A: (A * A).sum(axis=0), tails)
    variance[_is_constant(X)] = 0  # also where the mean of equal numbers is not that number
    return inverse_deviation(mean, variance, len(X))


def _is_constant(X):
    """Whether all numbers of a column are the same (d,)."""
    first = _numbers(X, slice(0, 1))
    return np.logical_and.reduce([(_numbers(X, b) == first).all(axis=0) for b in _blocks(X)])


def _mean(X, tails=None):
    total = np.zeros(X.shape[1])
    for block in _blocks(X):
        numbers = _numbers(X, block, tails)
        check_numbers(numbers, block.start)
        total += numbers.sum(axis=0)
    return total / len(X)


def _centered_mean(X, mean, total, tails=None):
    """``total(rows - mean)`` added up over blocks of rows, divided by the number of rows."""
    return sum(total(_numbers(X, block, tails) - mean) for block in _blocks(X)) / len(X)


def _blocks(X):
    return pool_blocks(len(X), 8 * X.shape[1], BLOCK_BYTES)


def _numbers(X, block, tails=None):
    """Rows in float64 and in C order: sums have one order however the table is stored."""
    return drawn_in(np.ascontiguousarray(X[block], dtype=np.float64), tails)
