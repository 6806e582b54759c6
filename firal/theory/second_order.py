"""The excess risk of maximum likelihood to second order in 1/n.

The Fisher information ratio gives the first term of ::

    E[R_p(theta_n)] = FIR / (2n) + B / n^2 + ...

Here B is computed. For a fixed design the Hessian of the loss does not depend on the labels, and
the score is a sum of independent terms whose cumulants are the derivatives of the log-partition
function. So all expectations over the labels have closed forms in the derivatives of order 2, 3, 4
of L_q and L_p at theta_*: H, T, Q and Hp, Tp, Qp. With G = H^{-1} and M = G Hp G, collecting the
terms of order n^{-2} of R_p at theta_* + Delta, where Delta solves the likelihood equation,
gives ::

    B_labels = 3/4 T(M,G,G)T + 1/8 t'Mt + 1/2 T[M]'Gt - 1/2 Q[M,G]
             - 1/3 Tp(G,G,G)T - 1/4 Tp[G]'Gt + 1/8 Qp[G,G],              t = T[G].

T[A] contracts two indices of T with the matrix A, T(A,B,C)T contracts each index of one T with the
same index of the other. For n random points from q the mean of trace(Hn^{-1} Hp) is
FIR + (E trace(G H(x) M H(x)) - FIR) / n + ..., which adds B_design = (that bracket) / 2.

The expansion is formal: E[R_p] itself is infinite (separable labels), so it describes the
mean over the labels for which the fit exists, as n grows. B needs fourth moments of the points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.blocks import pool_blocks
from firal.information.fisher import fir
from firal.model.hessians import curvature, quadratic_forms, weighted_information
from firal.model.logistic import softmax

BLOCK_BYTES = 32 * 2**20


class SecondOrder(NamedTuple):
    """Coefficients of the expansion; ``predict(n)`` adds them up.

    Attributes
    ----------
    fir : float
        The Fisher information ratio, ``trace(Hq^{-1} Hp)``.
    labels : float
        B_labels.
    design : float
        B_design; 0 for a fixed design.
    """

    fir: float
    labels: float
    design: float

    def predict(self, n: ArrayLike) -> np.ndarray | float:
        """Predict the excess risk of a fit to n labels.

        Parameters
        ----------
        n : array_like
            Sample sizes.

        Returns
        -------
        float or ndarray
            ``fir / (2n) + (labels + design) / n^2``.
        """
        return self.fir / (2 * np.asarray(n)) + (self.labels + self.design) / np.asarray(n) ** 2


def second_order(
    points_q: ArrayLike, points_p: ArrayLike, theta: ArrayLike, *, fixed_design: bool = False
) -> SecondOrder:
    """Compute the excess risk of maximum likelihood to second order in 1/n.

    Parameters
    ----------
    points_q : array_like of shape (m, d)
        A large sample of q, from which n points will be drawn. With ``fixed_design`` the m = n
        points themselves.
    points_p : array_like of shape (N, d)
        A sample of p, where the risk is measured.
    theta : array_like of shape (c-1, d)
        The parameter that labels are drawn from.
    fixed_design : bool, default False
        Whether the points are fixed and only labels are random.

    Returns
    -------
    SecondOrder
        ``fir``, ``labels`` and ``design``.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is not finite, or the information of q is singular.

    Notes
    -----
    Costs ``(m + N) d~^3`` multiply-adds and the memory of ``d~^3`` numbers, where d~ = d(c-1). The
    chapter *Synthetic experiments* compares the prediction with measured risks.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.theory.second_order import second_order
    >>> risk = second_order(np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1)), fixed_design=True)
    >>> round(risk.fir, 9), round(risk.labels, 9)
    (1.0, 0.75)
    >>> float(risk.predict(100).round(9))
    0.005075
    """
    Xq, Xp = checks.points(points_q), checks.points(points_p)
    theta = checks.parameters(theta, Xq.shape[1])
    checks.points(points_p, "points_p", Xq.shape[1])
    Hq, T = _derivatives(Xq, theta)
    Hp, Tp = _derivatives(Xp, theta)
    ratio = fir(Hq, Hp)  # the error for a singular matrix
    G = np.linalg.inv(Hq)
    M = G @ Hp @ G
    G, M = (G + G.T) / 2, (M + M.T) / 2

    TG = np.einsum("iab,ab->i", T, G)
    TM = np.einsum("iab,ab->i", T, M)
    TpG = np.einsum("iab,ab->i", Tp, G)
    T_white = np.einsum("iab,ac,bd->icd", T, G, G, optimize=True)
    fourth_q, square = _fourth(Xq, theta, M, G)
    fourth_p, _ = _fourth(Xp, theta, G, G)
    labels = (
        3 / 4 * np.sum(np.tensordot(M, T, 1) * T_white)
        + TG @ M @ TG / 8
        + TM @ G @ TG / 2
        - fourth_q / 2
        - np.sum(np.tensordot(G, Tp, 1) * T_white) / 3
        - TpG @ G @ TG / 4
        + fourth_p / 8
    )
    design = 0.0 if fixed_design else (square - ratio) / 2
    return SecondOrder(ratio, float(labels), float(design))


def _derivatives(X, theta):
    """Second (d~, d~) and third (d~, d~, d~) derivative of the mean loss."""
    (n, d), k = X.shape, len(theta)
    H = np.zeros((k * d, k * d))
    T = np.zeros((k**3, d**3))
    for block in pool_blocks(n, 8 * (k**3 + d**3), BLOCK_BYTES):
        x = X[block]
        p = softmax(x, theta)
        h = p[:, :-1]
        m = len(x)
        H += weighted_information(x, h, np.full(m, 1 / n))
        # third cumulant of the one-hot label: E[e e e] for the centered e
        G = curvature(h)
        third = -np.einsum("nab,nc->nabc", G, h) - np.einsum("nbc,na->nabc", G, h)
        a = np.arange(k)
        third[:, a, :, a] += np.moveaxis(G, 1, 0)  # the label is equal to its square
        cubes = (x[:, :, None] * x[:, None, :]).reshape(m, -1)[:, :, None] * x[:, None, :]
        T += third.reshape(m, -1).T @ cubes.reshape(m, -1)
    T = (T / n).reshape(k, k, k, d, d, d).transpose(0, 3, 1, 4, 2, 5)
    return H, T.reshape(k * d, k * d, k * d)


def _fourth(X, theta, A, B):
    """Means over the points of Q_i[A, B] and of ``trace(B H_i A H_i)``."""
    n, k = len(X), len(theta)
    total = np.zeros(2)
    for block in pool_blocks(n, 64 * k * k, BLOCK_BYTES):
        p = softmax(X[block], theta)
        h, C = p[:, :-1], curvature(p[:, :-1])
        forms = [quadratic_forms(X[block], W, k) for W in (A, B)]
        values = []  # e'Ae and e'Be for every outcome of the centered label e
        for F in forms:
            Fh = np.einsum("nab,nb->na", F, h)
            hFh = np.sum(Fh * h, axis=1, keepdims=True)
            own = np.diagonal(F, axis1=1, axis2=2) - 2 * Fh
            values.append(np.concatenate([own, np.zeros_like(hFh)], axis=1) + hFh)
        means = [np.sum(p * v, axis=1) for v in values]
        CA, CB = C @ forms[0], C @ forms[1]
        square = np.einsum("nab,nba->n", CA, CB)
        fourth = np.sum(p * values[0] * values[1], axis=1) - means[0] * means[1] - 2 * square
        total += fourth.sum(), square.sum()
    return total / n
