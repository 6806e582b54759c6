"""The points of a table that have no label, as the features of the model, in any home.

Points of the pool are counted 0..m-1 in the order of the table, labeled rows left out. A pass
turns every block of raw rows into features and forgets them again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from firal.engine.passes import Home
from firal.engine.scaling import FeatureMap


class FeaturePool:
    """Features of the rows without a label.

    Parameters
    ----------
    home : Home
        The table, labeled rows included.
    feature_map : FeatureMap
        From its columns to features.
    known : np.ndarray of shape (n0,)
        Rows with a label, ascending.
    """

    def __init__(self, home: Home, feature_map: FeatureMap, known: np.ndarray):
        self.home, self.map, self.known = home, feature_map, known
        self.n_points, self.n_features = len(home) - len(known), feature_map.width

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
        # known[j] - j unlabeled rows come before the j-th labeled one
        before = self.known - np.arange(self.known.size)
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
        return self.map.apply(self.home.rows(self.table_rows(indices)))

    def labeled(self) -> np.ndarray:
        """Features of the labeled rows.

        Returns
        -------
        np.ndarray of shape (n0, r)
            In the order of the rows.
        """
        if self.known.size == 0:
            return np.empty((0, self.n_features))
        return self.map.apply(self.home.rows(self.known))

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
        work = _OnFeatures(self.map, self.known, function)
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
        work = _OnFeatures(self.map, self.known, _Values(function))
        for values in self.home.parts(work, _IfAny(_joined), report):
            if values is not None:
                out[done : done + len(values)] = values
                done += len(values)
        return out


class _OnFeatures:
    """From raw rows to the result of a function of features; None if all have labels."""

    def __init__(self, feature_map, known, function):
        self.map, self.known, self.function = feature_map, known, function

    def __call__(self, start, block):
        low, high = np.searchsorted(self.known, [start, start + len(block)])
        if low < high:
            block = np.delete(block, self.known[low:high] - start, axis=0)
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
