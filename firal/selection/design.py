"""From the features of the model to the data of a selection problem, for any block of points.

These are small objects that can be sent to another process: a pass applies them block by block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firal.engine.clusters import nearest_center
from firal.model.hessians import weighted_information
from firal.model.logistic import softmax
from firal.selection.block_rows import blocks


class Design(NamedTuple):
    """From features of the model to those of the design, and to class probabilities.

    Attributes
    ----------
    theta : np.ndarray of shape (c-1, d), or None
        Parameters; None means that two classes are equally probable everywhere.
    centers : np.ndarray of shape (k, d), or None
        Centers of clusters, each of which gets a column.
    size : float
        What stands in the column of a point's cluster.
    """

    theta: np.ndarray | None
    centers: np.ndarray | None = None
    size: float = 1.0

    def columns(self, X: np.ndarray) -> np.ndarray:
        """Features of the design.

        Parameters
        ----------
        X : np.ndarray of shape (n, d)
            Features of the model.

        Returns
        -------
        np.ndarray of shape (n, d + k)
            X itself without clusters.
        """
        if self.centers is None:
            return X
        out = np.zeros((len(X), X.shape[1] + len(self.centers)))
        out[:, : X.shape[1]] = X
        out[np.arange(len(X)), X.shape[1] + nearest_center(X, self.centers)] = self.size
        return out

    def projected(self, X: np.ndarray, map_: np.ndarray) -> np.ndarray:
        """Coordinates of the features of the design, which are not formed.

        Parameters
        ----------
        X : np.ndarray of shape (n, d)
            Features of the model.
        map_ : np.ndarray of shape (d + k, r)
            Coordinates.

        Returns
        -------
        np.ndarray of shape (n, r)
            ``columns(X) @ map_``.
        """
        d = X.shape[1]
        out = X @ map_[:d]
        if self.centers is not None:
            out += (self.size * map_[d:])[nearest_center(X, self.centers)]
        return out

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Class probabilities.

        Parameters
        ----------
        X : np.ndarray of shape (n, d)
            Features of the model.

        Returns
        -------
        np.ndarray of shape (n, c)
            Rows sum to 1.
        """
        return np.full((len(X), 2), 0.5) if self.theta is None else softmax(X, self.theta)


class FullData(NamedTuple):
    """From features of the model to the fields of a :class:`firal.selection.problem.Problem`.

    Attributes
    ----------
    design : Design
        Features and probabilities.
    map_ : np.ndarray of shape (d, r)
        Coordinates.
    classes : np.ndarray of int
        Classes that are kept besides the reference.
    reference : int
        The reference class.
    """

    design: Design
    map_: np.ndarray
    classes: np.ndarray
    reference: int

    def __call__(self, features: np.ndarray) -> dict[str, np.ndarray]:
        p = self.design.probabilities(features)
        return {
            "X": self.design.projected(features, self.map_),
            "h": np.ascontiguousarray(p[:, self.classes]),
            "reference": p[:, self.reference].copy(),
        }

    def information(self, X: np.ndarray, h: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """Sum of the information of some points.

        Parameters
        ----------
        X, h, reference : np.ndarray
            Of these points, as in ``Problem``.

        Returns
        -------
        np.ndarray of shape (d~, d~)
            The sum.
        """
        return weighted_information(X, h, np.ones(len(X)))


class BlockData(NamedTuple):
    """From features of the model to the fields of a ``BlockProblem``.

    Attributes
    ----------
    design : Design
        Features and probabilities.
    """

    design: Design

    def __call__(self, features: np.ndarray) -> dict[str, np.ndarray]:
        p = self.design.probabilities(features)
        return {"X": self.design.columns(features), "g": p * (1 - p)}

    def information(self, X: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Sum of the information of some points.

        Parameters
        ----------
        X, g : np.ndarray
            Of these points, as in ``BlockProblem``.

        Returns
        -------
        np.ndarray of shape (c, d, d)
            Blocks.
        """
        return blocks(X, g)
