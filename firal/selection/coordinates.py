"""Coordinates of the features in which a selection is computed.

Without a penalty every quantity of the method is unchanged by an invertible linear map of the
features, so any basis of their span will do (``whitened``). A penalty on the parameters is not
invariant: it belongs to the columns as they were given. ``penalized`` therefore only rotates and
stretches along the principal directions, and says what the penalty becomes there.
"""

from __future__ import annotations

import numpy as np

from firal.common.linalg import svd
from firal.engine import memory

WEAKEST = 1e10  # beyond, greedy steps lose all digits


def whitened(pool: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """Map to coordinates in which all points together have second moment I.

    Parameters
    ----------
    pool : np.ndarray of shape (m, d)
        Unlabeled points.
    labeled : np.ndarray of shape (n0, d)
        Labeled points; may be empty.

    Returns
    -------
    np.ndarray of shape (d, r)
        Columns are multiplied by it; r is the rank of the features.

    Raises
    ------
    ValueError
        If all points are zero.
    """
    return whitened_by(memory.triangular_factor(pool, labeled), len(pool) + len(labeled))


def whitened_by(R: np.ndarray, n: int) -> np.ndarray:
    """``whitened`` for points of which only a triangular factor is known.

    Parameters
    ----------
    R : np.ndarray of shape (r, d)
        With R^T R = sum_i x_i x_i^T.
    n : int
        Number of points.

    Returns
    -------
    np.ndarray of shape (d, r)
        As in ``whitened``.

    Raises
    ------
    ValueError
        If all points are zero.
    """
    d = R.shape[1]
    scale = np.linalg.norm(R, axis=0)
    scale[scale == 0] = 1
    _, s, Vt = svd(R / scale)
    rank = _rank(s, n, d)
    return (Vt[:rank] / s[:rank, None]).T * np.sqrt(n) / scale[:, None]


def penalized(pool: np.ndarray, labeled: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Map to coordinates in which the second moment plus ``ridge`` times the penalty is I.

    Parameters
    ----------
    pool : np.ndarray of shape (m, d)
        Unlabeled points.
    labeled : np.ndarray of shape (n0, d)
        Labeled points; may be empty.
    ridge : float
        Positive.

    Returns
    -------
    map_ : np.ndarray of shape (d, r)
        Columns are multiplied by it.
    penalty : np.ndarray of shape (r,)
        The diagonal of what ``|theta|^2`` becomes: parameters phi of the new coordinates have
        ``theta = map_ phi``, so ``|theta|^2 = sum_j penalty_j phi_j^2``.

    Raises
    ------
    ValueError
        If all points are zero.

    Notes
    -----
    With V the principal directions and v_j the second moments along them, column j of the map is
    ``V_j / sqrt(v_j + ridge)`` and ``penalty_j = 1 / (v_j + ridge)``. Directions outside the span
    of the points carry no information: the penalty alone decides there, and they are dropped
    without a change of any ratio.
    """
    n = len(pool) + len(labeled)
    return penalized_by(memory.triangular_factor(pool, labeled), n, ridge)


def penalized_by(R: np.ndarray, n: int, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """``penalized`` for points of which only a triangular factor is known.

    Parameters
    ----------
    R : np.ndarray of shape (r, d)
        With R^T R = sum_i x_i x_i^T.
    n : int
        Number of points.
    ridge : float
        Positive.

    Returns
    -------
    tuple of np.ndarray
        As in ``penalized``.

    Raises
    ------
    ValueError
        If all points are zero.
    """
    d = R.shape[1]
    _, s, Vt = svd(R)
    rank = _rank(s, n, d)
    stretch = 1 / np.sqrt(s[:rank] ** 2 / n + ridge)
    return Vt[:rank].T * stretch, stretch**2


def require_strong_ridge(pool: np.ndarray, strength: float) -> None:
    """Raise if a penalty is lost beside the features to rounding.

    Parameters
    ----------
    pool : np.ndarray of shape (m, d)
        Unlabeled points.
    strength : float
        Number of labels times the ridge.

    Raises
    ------
    ValueError
        If the mean squared norm of the points is more than ``WEAKEST`` times the strength.
    """
    require_strong_penalty(np.einsum("ij,ij->", pool, pool) / len(pool), strength)


def require_strong_penalty(square: float, strength: float) -> None:
    """Raise if a penalty is lost beside the features to rounding.

    Parameters
    ----------
    square : float
        Mean squared norm of the points.
    strength : float
        Number of labels times the ridge.

    Raises
    ------
    ValueError
        If the square is more than ``WEAKEST`` times the strength.
    """
    if square > WEAKEST * strength:
        raise ValueError(
            f"ridge must not be negligible against the features, got a total penalty of "
            f"{strength:g} for points of mean squared norm {square:g}: bring the features to mean "
            "square 1, or raise the ridge"
        )


def _rank(s, n, d):
    rank = int(np.sum(s > s[0] * max(n, d) * np.finfo(float).eps)) if s[0] > 0 else 0
    if rank == 0:
        raise ValueError("pool and labeled must hold a nonzero point, got only zeros")
    return rank
