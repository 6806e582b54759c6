"""What no few points can reach: a lower bound on the objective from two sums per class.

Let A_k be what is known in the block of class k, W_k = A_k^{-1}, and H'_k = A_k^{-1/2} H_pk
A_k^{-1/2}. A set T of b points changes A_k to A_k^{1/2} (I + N_k) A_k^{1/2}, where N_k has at most
the rank b, and the trace sum_T g_ik x_i^T W_k x_i. So f falls by ::

    sum_k <H'_k, P_k>,    P_k = N_k (I + N_k)^{-1},

and few points cannot make P_k large. If t_k is the largest trace of N_k, the trace of P_k is at
most p_k = t_k / (1 + t_k / b). Of H'_k the trace and the sum of squares are known wherever the two
quadratic forms of all points are::

    trace(H'_k) = mean_i g_ik x_i^T W_k x_i,    |H'_k|^2 = mean_i g_ik x_i^T W_k H_pk W_k x_i.

With the part of H'_k that is no multiple of the identity this gives ::

    <H'_k, P_k> <= T_k p_k / D + sqrt((F_k^2 - T_k^2 / D) (p_k - p_k^2 / D)),

T_k the trace, F_k^2 the sum of squares, D the number of columns. A_k may contain picked points: T
beside them is better than T alone. The chapter *Wide features* has the proof.
"""

from __future__ import annotations

import numpy as np

from firal.selection.wide_forms import Forms

ROUNDING = 1e-9  # of the bound; and of the first sum of squares, from which the others are taken


def least_objective(forms: Forms, first_squares: np.ndarray | float = 0.0) -> float:
    """What no ``budget`` distinct points can beat.

    Parameters
    ----------
    forms : Forms
        The quadratic forms of all points, after the labeled points and perhaps some others came.
    first_squares : np.ndarray of shape (c,), optional
        ``squares_of`` before any point came: the scale of its rounding errors.

    Returns
    -------
    float
        A lower bound on f of the labeled points and any others, at least 0. Cost: a few m c.
    """
    g, b = forms.problem.g, forms.problem.budget
    m, D = len(g), min(forms.problem.X.shape)
    own = g * forms.q1
    T = own.mean(axis=0)
    F2 = squares_of(forms) + ROUNDING * first_squares
    # 1. The largest trace of N_k, and of P_k.
    t = np.partition(own, m - b, axis=0)[m - b :].sum(axis=0)
    p = t / (1 + t / b)
    # 2. What f can fall by; beyond D / 2 the root would fall again, so its maximum is taken.
    uneven = np.sqrt(np.maximum(F2 - T**2 / D, 0))
    q = np.minimum(p, D / 2)
    fall = T * p / D + uneven * np.sqrt(q * (1 - q / D))
    return float(np.maximum(T - fall, 0).sum()) * (1 - ROUNDING)


def squares_of(forms: Forms) -> np.ndarray:
    """Sum of the squares of H'_k, for every class.

    Parameters
    ----------
    forms : Forms
        The quadratic forms of all points.

    Returns
    -------
    np.ndarray of shape (c,)
        ``|H'_k|^2``.
    """
    return np.einsum("ik,ik->k", forms.problem.g, np.maximum(forms.q2, 0)) / len(forms.q2)
