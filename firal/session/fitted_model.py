"""The model of a session: its features, its penalty, and the fit to some of its labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from firal.engine.inputs import encode_labels
from firal.engine.scaling import model_features
from firal.model.fitting import fit
from firal.model.logistic import softmax
from firal.pipeline import DEFAULT, RIDGE, why_no_model
from firal.selection import penalized
from firal.session.session import Session


class Model(NamedTuple):
    """A fitted model.

    Attributes
    ----------
    classes : tuple
        Its classes, as text.
    theta : np.ndarray of shape (c-1, r)
        Its parameters.
    """

    classes: tuple
    theta: np.ndarray

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """Class probabilities.

        Parameters
        ----------
        features : np.ndarray of shape (n, r)
            Points.

        Returns
        -------
        np.ndarray of shape (n, c)
            Rows sum to 1.
        """
        return softmax(features, self.theta)

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Most probable classes.

        Parameters
        ----------
        features : np.ndarray of shape (n, r)
            Points.

        Returns
        -------
        np.ndarray of shape (n,)
            Labels as text.
        """
        names = np.array([str(name) for name in self.classes])
        return names[self.probabilities(features).argmax(axis=1)]


def features_of(session: Session) -> np.ndarray:
    """Features of all points as the session's model wants them.

    Parameters
    ----------
    session : Session
        The session.

    Returns
    -------
    np.ndarray of shape (n, r)
        As ``firal.next_batch`` makes them.
    """
    model = session.settings["model"]
    standardize = model.get("standardize", True)
    robust = model.get("robust")
    return model_features(
        session.points.features,
        standardize=standardize,
        robust=standardize if robust is None else robust,
        pca=model.get("pca"),
        intercept=model.get("intercept", True),
    )


def fitted(
    features: np.ndarray, labels: Mapping[int, str], ridge: float = penalized.RIDGE
) -> Model | None:
    """Fit the model to labels.

    Parameters
    ----------
    features : np.ndarray of shape (n, r)
        All points.
    labels : mapping
        From row to label.
    ridge : float
        Penalty.

    Returns
    -------
    Model or None
        None if the labels are not of two classes.
    """
    known, codes, classes = encode_labels(dict(labels), len(features))
    if why_no_model(codes) is not None:
        return None
    theta = fit(features[known], codes, len(classes), ridge, penalty="symmetric").theta
    return Model(tuple(map(str, classes)), theta)


def ridge_of(session: Session) -> float:
    """Penalty of the session's model.

    Parameters
    ----------
    session : Session
        The session.

    Returns
    -------
    float
        As in ``firal.next_batch``.
    """
    model = session.settings["model"]
    default = penalized.RIDGE if model.get("strategy", DEFAULT) == DEFAULT else RIDGE
    return model.get("ridge") or default
