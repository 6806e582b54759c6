"""One selection problem, checked and brought to good coordinates once.

The data are a pool (m, d), the points already labeled (n0, d), a parameter theta (c-1, d), a budget
b and a ridge. The ridge is the penalty of the fit that the labels are for: with n = n0 + b labels,
the mean loss plus ridge/2 times the squares of Theta - mean is minimized, where Theta (c, d) has
one row per class and their mean is subtracted (scikit-learn's penalty; theta_k is row k of Theta
minus the last row). In theta this is ``ridge/2 trace(theta^T A theta)`` with A = I - 1 1^T / c, and
the second derivative of the total loss is the information of the labels plus n ridge P, P = A (x)
I. So the penalty enters the method as labeled information that is always there. ridge = 0 is the
paper.

Without a ridge every quantity of the method is unchanged by an invertible linear map of the
features. With one it is unchanged by rotations only, as is the fit. Another choice of the reference
class changes nothing in both cases. ``prepare_problem`` uses that freedom:

- features are replaced by coordinates on the span of all points in which their second moment (plus
  the ridge) is the identity, and the penalty is carried along (``firal.selection.coordinates``);
- classes that have probability zero at every point carry no information and are dropped, and the
  class that is most probable over all points becomes the reference.

What remains is the exact problem on the range of the information, of effective size
d~ = rank(features) * (kept classes - 1). If the information is singular even there (saturated
probabilities, and no ridge), the method has no answer, and one ValueError says so.

**Before the first label** theta is 0, all points have the class part A / c, and with a ridge all
matrices are (A / c) (x) (a matrix of size d): Sigma = (A/c) (x) (sum x x^T + c n ridge I). Then the
problem of two classes with c/2 times the ridge has the same solutions, and c - 1 times its
objective is the full one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common.linalg import factor_of, reciprocal_condition, trace_and_derivative
from firal.common.threads import allowed_threads, matrix_threads, one_thread
from firal.engine import memory
from firal.model.fitting import symmetric_penalty
from firal.model.hessians import weighted_information
from firal.selection import coordinates
from firal.selection.inputs import Inputs, checked_inputs


class Problem(NamedTuple):
    """The prepared data of one selection.

    Attributes
    ----------
    X : np.ndarray of shape (m, r)
        Pool, in coordinates in which its second moment (plus the ridge) is the identity; r is the
        rank of the features.
    h : np.ndarray of shape (m, k)
        Probabilities of all kept classes but the reference.
    reference : np.ndarray of shape (m,)
        Probability of the reference class.
    labeled_information : np.ndarray of shape (size, size)
        Sum of the information of the labeled points, and of the penalty; size = r k.
    mean_information : np.ndarray of shape (size, size)
        H_p: mean information over the pool.
    budget : int
        Number of points to pick.
    threads : int
        Number of threads allowed.
    copies : int
        How often the problem stands in the full one: c - 1 before the first label, else 1.
    """

    X: np.ndarray
    h: np.ndarray
    reference: np.ndarray
    labeled_information: np.ndarray
    mean_information: np.ndarray
    budget: int
    threads: int
    copies: int = 1

    @property
    def n_points(self) -> int:
        """Number of points m of the pool."""
        return len(self.X)

    @property
    def size(self) -> int:
        """Order of the matrices."""
        return self.mean_information.shape[0]

    @property
    def parameters(self) -> int:
        """Number of parameters d~ of the full problem."""
        return self.copies * self.size

    def target(self) -> np.ndarray:
        """Factor the information of the full problem.

        Returns
        -------
        np.ndarray of shape (size, size)
            F with F F^T = copies H_p, so trace(Sigma^{-1} F F^T) is the full objective.
        """
        F = factor_of(self.mean_information)
        return F if self.copies == 1 else np.sqrt(self.copies) * F

    def restricted(self, rows: np.ndarray) -> Problem:
        """The same problem with fewer candidates; H_p stays that of the pool.

        Parameters
        ----------
        rows : np.ndarray of int
            Rows of the pool.

        Returns
        -------
        Problem
            Of these rows.
        """
        return self._replace(X=self.X[rows], h=self.h[rows], reference=self.reference[rows])

    def single(self) -> Problem:
        """The same problem in float32.

        Returns
        -------
        Problem
            H_p and its factor are computed in float64 nevertheless.
        """
        X, h, known = (A.astype(np.float32) for A in (self.X, self.h, self.labeled_information))
        return self._replace(X=X, h=h, labeled_information=known)

    def total_information(self, z: np.ndarray) -> np.ndarray:
        """Sigma(z): labeled points, penalty, and the pool with weights z.

        Parameters
        ----------
        z : np.ndarray of shape (m,)
            Weights.

        Returns
        -------
        np.ndarray of shape (size, size)
            Cost: m d~^2 / 4 multiply-adds, or less if few points have weight.
        """
        X, h, held = self.X, self.h, z > 0
        z = z.astype(X.dtype, copy=False)
        if 2 * np.count_nonzero(held) < held.size:  # else the copy costs more than it saves
            X, h, z = X[held], h[held], z[held]
        return memory.information(X, h, z, self.threads) + self.labeled_information

    def evaluator(self) -> Callable[[np.ndarray], tuple[float, np.ndarray | None]]:
        """Function from Sigma to f and M = Sigma^{-1} H_p Sigma^{-1}.

        Returns
        -------
        callable
            Returns (inf, None) if Sigma is singular to rounding. Cost of a call: about 2 d~^3.
        """
        target = self.target().astype(self.X.dtype, copy=False)
        threads = matrix_threads(self.size, self.threads)
        return lambda Sigma: trace_and_derivative(Sigma, target, threads)

    def contract(self, M: np.ndarray) -> np.ndarray:
        """<H(x_i), M> of every point.

        Parameters
        ----------
        M : np.ndarray of shape (size, size)
            Symmetric.

        Returns
        -------
        np.ndarray of shape (m,)
            Cost: m d~^2 / 4 multiply-adds.
        """
        return memory.contract(self.X, self.h, M, self.threads)


def prepare_problem(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    budget: int,
    *,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    if_too_large: str | None = None,
    factorize: bool = True,
) -> Problem:
    """Check the data of a selection, and bring them to good coordinates.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label; may have no rows.
    theta : array_like of shape (c-1, d)
        Parameters; the last class is the reference. None if ``probabilities`` are given.
    budget : int
        Number of points to pick.
    ridge : float, default 0.0
        Penalty of the fit.
    probabilities : tuple of array_like, optional
        Probabilities of the classes at the points of the pool (m, c) and at the labeled ones
        (n0, c), from any classifier, in place of theta.
    if_too_large : str, optional
        What to do about a budget above the pool size; the error says so. By default there is no
        such limit.
    factorize : bool, default True
        Whether to use the smaller problem before the first label.

    Returns
    -------
    Problem
        What all algorithms work on.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the budget is too large, or the points have no
        information of full rank on the span of their features and there is no ridge.

    Notes
    -----
    Cost: m d^2 for the coordinates and m d~^2 / 4 for the mean information; memory m (d + c).
    """
    data = checked_inputs(
        pool,
        labeled,
        theta,
        budget,
        ridge=ridge,
        probabilities=probabilities,
        if_too_large=if_too_large,
    )
    return problem_of(data, factorize=factorize)


def problem_of(data: Inputs, factorize: bool = True) -> Problem:
    """Bring checked data to good coordinates.

    Parameters
    ----------
    data : Inputs
        The checked data.
    factorize : bool, default True
        Whether to use the smaller problem before the first label.

    Returns
    -------
    Problem
        As in ``prepare_problem``.
    """
    pool, labeled, p, p0, budget, ridge = data
    m = len(pool)
    # 1. Coordinates of features and classes.
    if ridge:
        coordinates.require_strong_ridge(pool, data.strength)
        map_, penalty = coordinates.penalized(pool, labeled, ridge)
    else:
        map_ = coordinates.whitened(pool, labeled)
    classes, reference = kept_classes(p.sum(axis=0) + p0.sum(axis=0))
    n_classes, copies = len(classes) + 1, 1
    if factorize and n_classes > 2 and is_flat(data):
        copies, ridge = n_classes - 1, ridge * n_classes / 2
        p, p0, classes, reference = np.full((m, 2), 0.5), np.full((len(labeled), 2), 0.5), [0], 1
        n_classes = 2
    # 2. Information of the pool and of the labeled points.
    threads = allowed_threads()
    h, reference_of_pool = np.ascontiguousarray(p[:, classes]), p[:, reference].copy()
    del p, data  # X takes as much memory as the pool
    X = pool @ map_
    mean = memory.information(X, h, np.full(m, 1 / m), threads)
    if not mean.any():
        raise ValueError(
            "pool must carry information, got none: all its points are zero, or all have "
            "probabilities of 0 and 1"
        )
    known = weighted_information(labeled @ map_, p0[:, classes], np.ones(len(labeled)))
    if ridge:
        strength = (len(labeled) + budget) * ridge
        known += np.kron(symmetric_penalty(n_classes), np.diag(strength * penalty))
    require_definite(mean + known / budget)
    return Problem(X, h, reference_of_pool, known, mean, budget, threads, copies)


def is_flat(data: Inputs) -> bool:
    """Whether all classes are equally probable everywhere, and there is a ridge.

    Parameters
    ----------
    data : Inputs
        The checked data.

    Returns
    -------
    bool
        True before the first label: the problem of two classes has the same solutions.
    """
    first = data.p[0, 0]
    return bool(data.ridge) and (data.p == first).all() and (data.p0 == first).all()


def kept_classes(total: np.ndarray) -> tuple[np.ndarray, int]:
    """Choose the reference class, and drop the classes that have no probability.

    Parameters
    ----------
    total : np.ndarray of shape (c,)
        Probabilities of the classes, added up over all points.

    Returns
    -------
    classes : np.ndarray of int
        The classes kept besides the reference.
    reference : int
        The most probable class.

    Raises
    ------
    ValueError
        If one class has probability 1 everywhere.
    """
    reference = int(np.argmax(total))
    kept = np.flatnonzero(total > 0)
    if kept.size < 2:
        raise ValueError(
            f"class probabilities must leave some uncertainty, got 1 for class {reference} at "
            "every point: their information is zero"
        )
    return kept[kept != reference], reference


def require_definite(total: np.ndarray) -> None:
    """Require the information of all points to be positive definite, whatever its scaling.

    Parameters
    ----------
    total : np.ndarray of shape (d~, d~)
        The information.

    Raises
    ------
    ValueError
        If it is singular to rounding.
    """
    with one_thread():
        rcond = reciprocal_condition(total)
    if not rcond > len(total) * np.finfo(float).eps:
        raise ValueError(
            "pool and labeled must have information of full rank on the span of their features, "
            f"got a reciprocal condition number of {rcond:.2g}: too few points, or probabilities "
            "that are 0 or 1 to rounding (a fit with a larger ridge gives softer ones)"
        )
