"""The points of a table that may be picked, as the features of the model, in any home.

Points of the pool are counted 0..m-1 in the order of the table, all other rows left out. A pass
turns every block of raw rows into features and forgets them again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from firal.engine.passes import Home
from firal.engine.scaling import FeatureMap


class FeaturePool:
    """Features of the rows that may be picked.

    Parameters
    ----------
    home : Home
        The table, all rows included.
    feature_map : FeatureMap
        From its columns to features.
    left_out : np.ndarray of int
        Distinct rows that are not in the pool, such as those with a label, ascending.
    """

    def __init__(self, home: Home, feature_map: FeatureMap, left_out: np.ndarray):
        self.home, self.map, self.left_out = home, feature_map, left_out
        self.n_points, self.n_features = len(home) - len(left_out), feature_map.width

    def __len__(self) -> int:
        return self.n_points

    def table_rows(self, indices: np.ndarray) -> np.ndarray:
        """Rows of the table that points of the pool are.

        Parameters
        ----------
        indices : np.ndarray of int
            Points, 0..m-1.

        Returns
        -------
        np.ndarray of int
            Their rows. Cost: no list of all rows is made.
        """
        # left_out[j] - j points of the pool come before the j-th row that is left out
        before = self.left_out - np.arange(self.left_out.size)
        return np.asarray(indices) + np.searchsorted(before, indices, side="right")

    def features(self, indices: np.ndarray) -> np.ndarray:
        """Features of some points.

        Parameters
        ----------
        indices : np.ndarray of int, shape (k,)
            Points, 0..m-1.

        Returns
        -------
        np.ndarray of shape (k, r)
            Their features.
        """
        return self.of_rows(self.table_rows(indices))

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Features of some rows of the table, also of those that are not in the pool.

        Parameters
        ----------
        rows : np.ndarray of int, shape (k,)
            Rows of the table; may be empty.

        Returns
        -------
        np.ndarray of shape (k, r)
            Their features.
        """
        if len(rows) == 0:
            return np.empty((0, self.n_features))
        return self.map.apply(self.home.rows(rows))

    def sample(self, most: int, rng: np.random.Generator) -> np.ndarray:
        """Features of points drawn without replacement; of all points if there are few.

        Parameters
        ----------
        most : int
            Largest number of points.
        rng : numpy.random.Generator
            Source of randomness, not used if all points are taken.

        Returns
        -------
        np.ndarray of shape (k, r)
            Features, in the order of the table.
        """
        if self.n_points <= most:
            return self.features(np.arange(self.n_points))
        return self.features(np.sort(rng.choice(self.n_points, size=most, replace=False)))

    def reduce(
        self,
        function: Callable[[int, np.ndarray], Any],
        combine: Callable[[Any, Any], Any],
        report: Callable[[int, int], None] | None = None,
    ) -> Any:
        """Make a pass over the features of all points.

        Parameters
        ----------
        function : callable
            Called as ``function(first, features)``: the number of the first point, and features
            (k, r) of the k >= 1 points from there on.
        combine, report : callable
            As in :meth:`firal.engine.passes.Home.reduce`.

        Returns
        -------
        object
            The combined result.
        """
        work = _OnFeatures(self.map, self.left_out, function)
        return self.home.reduce(work, _IfAny(combine), report)

    def values(
        self,
        function: Callable[[np.ndarray], np.ndarray],
        report: Callable[[int, int], None] | None = None,
    ) -> np.ndarray:
        """Make a pass that gives one number per point.

        Parameters
        ----------
        function : callable
            From features (k, r) to numbers (k,).
        report : callable, optional
            As in :meth:`firal.engine.passes.Home.reduce`.

        Returns
        -------
        np.ndarray of shape (m,)
            The numbers: 8 bytes per point, all that is ever held of the whole pool.
        """
        out, done = np.empty(self.n_points), 0
        work = _OnFeatures(self.map, self.left_out, _Values(function))
        for values in self.home.parts(work, _IfAny(_joined), report):
            if values is not None:
                out[done : done + len(values)] = values
                done += len(values)
        return out


class _OnFeatures:
    """From raw rows to the result of a function of features; None if all are left out."""

    def __init__(self, feature_map, left_out, function):
        self.map, self.left_out, self.function = feature_map, left_out, function

    def __call__(self, start, block):
        low, high = np.searchsorted(self.left_out, [start, start + len(block)])
        if low < high:
            block = np.delete(block, self.left_out[low:high] - start, axis=0)
        return self.function(int(start - low), self.map.apply(block)) if len(block) else None


class _Values:
    """A function of features as one of a block."""

    def __init__(self, function):
        self.function = function

    def __call__(self, first, features):
        return self.function(features)


def _joined(a, b):
    return np.concatenate([a, b])


class _IfAny:
    """``combine`` where None is nothing."""

    def __init__(self, combine):
        self.combine = combine

    def __call__(self, a, b):
        return b if a is None else a if b is None else self.combine(a, b)
