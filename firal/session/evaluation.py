"""Are these labels enough? Accuracy on held-out points, and whether predictions still change.

**Learning curve.** After every round the model is fitted to the labels there were, and predicts the
held-out points, which were drawn at random and never train. So the share that is right is an honest
estimate of the accuracy on the pool, and the interval of Wilson says how sure it is.

**Stability.** No held-out labels are needed to see whether new labels still change anything: the
models of two successive rounds predict the whole pool, and Cohen's kappa says how far they agree
beyond chance. The rule to stop, after Bloodgood and Vijay-Shanker (2009): the last ``WINDOW``
kappas are all at least ``STABLE``. It is no promise: the notebook *When to stop labeling* has what
it did on seven pools, with a pool on which it stops too early and one on which it never does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firal.session.fitted_model import features_of, fitted, ridge_of
from firal.session.session import Session

STABLE = 0.97
WINDOW = 2
NORMAL = 1.959964  # of an interval of 95 %


class After(NamedTuple):
    """What was known after a round.

    Attributes
    ----------
    round : int
        Its number; 0 is before the first one.
    labels : int
        Number of labels to train.
    right, tested : int
        Held-out points that were predicted right, and that have a label.
    kappa : float or None
        Agreement with the model of the round before.
    """

    round: int
    labels: int
    right: int
    tested: int
    kappa: float | None


def learning_curve(session: Session, features: np.ndarray | None = None) -> list[After]:
    """Accuracy on the held-out points and stability, round by round.

    Parameters
    ----------
    session : Session
        The session.
    features : np.ndarray of shape (n, r), optional
        Those of :func:`firal.session.fitted_model.features_of`, if they are at hand.

    Returns
    -------
    list of After
        One entry per round after which there was a model.
    """
    features = features_of(session) if features is None else features
    state, ridge = session.state, ridge_of(session)
    tested = sorted(row for row in state.held_out if row in state.labels)
    truth = np.array([state.labels[row] for row in tested])
    place = {row: batch.number for batch in state.rounds for row in batch.rows if batch.number}
    found, before = [], None
    for number in range(max((batch.number for batch in state.rounds), default=0) + 1):
        labels = {row: y for row, y in state.training.items() if place.get(row, 0) <= number}
        model = fitted(features, labels, ridge)
        if model is None:
            continue
        if found and len(labels) == found[-1].labels:
            continue  # a round without a label yet
        now = model.predict(features)
        right = int((now[tested] == truth).sum()) if tested else 0
        kappa = None if before is None else cohen_kappa(before, now)
        found.append(After(number, len(labels), right, len(tested), kappa))
        before = now
    return found


def wilson(right: int, tested: int) -> tuple[float, float]:
    """Interval of 95 % for a share.

    Parameters
    ----------
    right, tested : int
        How many of how many.

    Returns
    -------
    tuple of float
        Its ends, between 0 and 1.

    Examples
    --------
    >>> low, high = wilson(45, 50)
    >>> round(low, 3), round(high, 3)
    (0.786, 0.957)
    """
    p, z2 = right / tested, NORMAL**2
    middle = (p + z2 / (2 * tested)) / (1 + z2 / tested)
    half = NORMAL * np.sqrt(p * (1 - p) / tested + z2 / (4 * tested**2)) / (1 + z2 / tested)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def cohen_kappa(one: np.ndarray, two: np.ndarray) -> float:
    """Agreement of two predictions beyond chance.

    Parameters
    ----------
    one, two : np.ndarray of shape (n,)
        Predicted classes.

    Returns
    -------
    float
        1 if they are equal, 0 if they agree as often as by chance.

    Examples
    --------
    >>> float(cohen_kappa(np.array(["a", "a", "b", "b"]), np.array(["a", "a", "b", "a"])))
    0.5
    """
    agree = np.mean(one == two)
    names = np.union1d(one, two)
    chance = sum(np.mean(one == name) * np.mean(two == name) for name in names)
    return 1.0 if chance == 1 else float((agree - chance) / (1 - chance))


def advice(curve: list[After]) -> str:
    """Say whether to go on.

    Parameters
    ----------
    curve : list of After
        Of :func:`learning_curve`.

    Returns
    -------
    str
        One sentence with its reason.
    """
    kappas = [point.kappa for point in curve if point.kappa is not None][-WINDOW:]
    if len(kappas) < WINDOW:
        return (
            f"It is too early to say whether the labels are enough: {WINDOW + 1} rounds are needed."
        )
    shown = ", ".join(f"{kappa:.2f}" for kappa in kappas)
    if min(kappas) >= STABLE:
        return (
            f"The predictions hardly change any more (kappa {shown}): you may stop, if a few "
            "points of accuracy do not matter."
        )
    return f"The predictions still change from round to round (kappa {shown}): go on."
