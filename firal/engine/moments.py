"""The map from columns to features, from passes over a table that is read block by block.

:func:`firal.engine.scaling.feature_map` reads an array four times: mean and deviation of the
columns, and again of their arsinh. Here every block gives its mean and its centered squares, and
two blocks are merged without loss of digits (Chan, Golub and LeVeque, 1979): one pass each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from firal.engine.categories import category_scale, levels_of
from firal.engine.columns import (
    check_map,
    check_numbers,
    drawn_in,
    inverse_deviation,
    principal_factor,
)
from firal.engine.passes import Home
from firal.engine.scaling import FeatureMap


class Moments(NamedTuple):
    """Mean and centered squares of some rows.

    Attributes
    ----------
    count : int
        Number of rows.
    mean : np.ndarray of shape (d,)
        Their mean.
    squares : np.ndarray of shape (d,) or (d, d)
        ``sum_i (x_i - mean)^2`` by columns, or ``sum_i (x_i - mean)(x_i - mean)^T``.
    """

    count: int
    mean: np.ndarray
    squares: np.ndarray

    def merged(self, other: Moments) -> Moments:
        """Moments of the rows of both.

        Parameters
        ----------
        other : Moments
            Of other rows.

        Returns
        -------
        Moments
            With ``n = n1 + n2`` and ``delta = mean2 - mean1``: the mean ``mean1 + delta n2/n``, and
            the squares of both plus those of delta times ``n1 n2/n``.
        """
        count = self.count + other.count
        delta = other.mean - self.mean
        cross = delta * delta if self.squares.ndim == 1 else np.outer(delta, delta)
        return Moments(
            count,
            self.mean + delta * (other.count / count),
            self.squares + other.squares + cross * (self.count * other.count / count),
        )


def streamed_feature_map(
    home: Home,
    *,
    standardize: bool = True,
    robust: bool = False,
    pca: int | None = None,
    intercept: bool = True,
    report: Callable[[str, int, int], None] | None = None,
) -> FeatureMap:
    """The map of :func:`firal.engine.scaling.feature_map`, for a table in any home.

    Parameters
    ----------
    home : Home
        The points that fix means and deviations.
    standardize, robust, pca, intercept
        As in :func:`firal.engine.scaling.model_features`.
    report : callable, optional
        Called as ``report("scale", done, total)``.

    Returns
    -------
    FeatureMap
        Equal to that of the array up to rounding, and the same bits for every home.

    Raises
    ------
    ValueError
        As in ``model_features``.

    Notes
    -----
    One pass, or two if ``robust``.
    """
    d = home.shape[1]
    check_map(standardize, robust, pca, intercept, d)
    passes = 2 if robust else 1

    def moments(number, tails, full):
        def step(done, total):
            if report is not None:
                report("scale", number * total + done, passes * total)

        return home.reduce(partial(_of_block, tails, full), _merged, step)

    raw, levels = moments(0, None, pca is not None and not robust)
    if not standardize and pca is None:
        return FeatureMap(np.zeros(d), None, intercept)
    tails, found, factor = None, raw, np.ones(d)
    if robust:
        factor = category_scale(levels, raw.count, d)
        tails = raw.mean, inverse_deviation(raw.mean, raw.squares / raw.count, raw.count)
        found, _ = moments(1, tails, pca is not None)
    mean, n = found.mean, found.count
    variance = (found.squares if pca is None else np.diag(found.squares)) / n
    if standardize:
        factor = factor * inverse_deviation(mean, variance, n)
    if pca is not None:
        factor = principal_factor(factor, found.squares / n, pca, standardize)
    return FeatureMap(mean, factor, intercept, tails)


def _merged(one, other):
    moments, levels = one[0].merged(other[0]), one[1]
    return moments, levels if levels is None else levels.merged(other[1])


def _of_block(tails, full, start, block):
    """Moments of one block, and its 0/1 columns if the numbers are raw: these are checked too."""
    levels = None
    if tails is None:
        check_numbers(block, start)
        levels = levels_of(block)
    else:
        block = drawn_in(block, tails)
    centered = block - block[0]  # 0 where a column is constant, which a sum of equals is not
    shift = centered.sum(axis=0) / len(block)
    mean = block[0] + shift
    centered -= shift
    squares = centered.T @ centered if full else np.einsum("ij,ij->j", centered, centered)
    return Moments(len(block), mean, squares), levels
