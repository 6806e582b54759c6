"""Features as the model wants them: columns of one scale, few of them, and a constant one.

FIRAL and BAIT pick the same points after any invertible linear map of the features, if theta is
mapped along. But theta comes from a fit with a penalty, and K-means measures distances: both
depend on the scale. All work is done in blocks of rows, so that a memory-mapped file of any length
needs room for the result only.
"""

from __future__ import annotations

import numpy as np

from firal.common import checks
from firal.model.hessians import pool_blocks

BLOCK_BYTES = 32 * 2**20
LARGEST = checks.LARGEST[np.dtype(np.float64)]


def model_features(X, *, standardize=True, pca=None, intercept=True):
    """(n, r) float64 features made of the (n, d) array X, which may be memory-mapped.

    standardize   subtract the mean of every column and divide by its standard deviation (a
                  constant column becomes 0)
    pca           keep that many principal components of the (standardized) columns,
                  1 <= pca <= d; with standardize they are given unit variance too
    intercept     append a column of ones

    Cost: n d for the scaling, n d^2 + d^3 for the components.
    """
    n, d = _shape(X)
    checks.boolean(standardize, "standardize")
    checks.boolean(intercept, "intercept")
    if pca is not None:
        pca = checks.integer(pca, "pca", 1, d)
    if standardize or pca is not None:
        shift, map_ = _affine_map(X, standardize, pca)
    else:
        _mean(X)  # checks that all numbers are finite and not huge
        shift, map_ = np.zeros(d), None
    r = d if map_ is None or map_.ndim == 1 else map_.shape[1]
    out = np.ones((n, r + intercept))
    for block in _blocks(X):
        centered = _numbers(X, block) - shift
        if map_ is not None:
            centered = centered * map_ if map_.ndim == 1 else centered @ map_
        out[block, :r] = centered
    return out


def _affine_map(X, standardize, pca):
    """Shift (d,), and what to multiply by: a factor per column (d,), or a matrix (d, pca)."""
    mean = _mean(X)
    spread = np.sqrt(_centered_mean(X, mean, lambda A: (A * A).sum(axis=0)))
    factor = np.ones(mean.size)
    if standardize:
        moving = spread > np.finfo(float).eps * np.abs(mean) * np.sqrt(len(X))
        factor = np.where(moving, 1 / np.where(moving, spread, 1), 0.0)
    if pca is None:
        return mean, factor
    covariance = _centered_mean(X, mean, lambda A: A.T @ A)
    values, vectors = np.linalg.eigh(covariance * np.outer(factor, factor))
    values, vectors = values[::-1][:pca], vectors[:, ::-1][:, :pca]
    if values[-1] <= len(mean) * np.finfo(float).eps * values[0]:
        rank = int(np.sum(values > len(mean) * np.finfo(float).eps * values[0]))
        raise ValueError(f"pca must be at most {rank}, the rank of the features, got {pca}")
    return mean, factor[:, None] * vectors / (np.sqrt(values) if standardize else 1.0)


def _mean(X):
    total = np.zeros(X.shape[1])
    for block in _blocks(X):
        numbers = _numbers(X, block)
        if not max(-numbers.min(), numbers.max()) <= LARGEST:  # also if it is NaN
            _refuse_the_first_bad_number(numbers, block.start)
        total += numbers.sum(axis=0)
    return total / len(X)


def _centered_mean(X, mean, total):
    """``total(rows - mean)`` added up over blocks of rows, divided by the number of rows."""
    return sum(total(_numbers(X, block) - mean) for block in _blocks(X)) / len(X)


def _refuse_the_first_bad_number(numbers, start):
    row, column = np.argwhere(~(np.abs(numbers) <= LARGEST))[0]
    number = numbers[row, column]
    wanted = f"at most {LARGEST:g} in size" if np.isfinite(number) else "finite numbers"
    raise ValueError(
        f"features must be {wanted}, got {number} in row {start + row}, "
        f"column {column} (counted from 0)"
    )


def _shape(X):
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "biuf":
        raise ValueError(
            "features must be a table of numbers with one row per point, "
            f"got an array of shape {X.shape} and type {X.dtype}"
        )
    return X.shape


def _blocks(X):
    return pool_blocks(len(X), 8 * X.shape[1], BLOCK_BYTES)


def _numbers(X, block):
    return np.asarray(X[block], dtype=np.float64)
