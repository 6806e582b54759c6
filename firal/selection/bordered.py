"""Elimination of small bordered matrices, for many points at once.

The score of a point is the derivative of the logarithm of such a determinant
(``firal.selection.scoring``).
"""

from __future__ import annotations

import numpy as np

SMALLEST = {np.dtype(np.float64): 1e-290, np.dtype(np.float32): 1e-35}  # probability that counts


def bordered_derivative(
    T: np.ndarray,
    dT: np.ndarray,
    h: np.ndarray,
    reference: np.ndarray,
    room: np.ndarray | None = None,
) -> np.ndarray:
    """Derivative of the logarithm of a bordered determinant, for many points at once.

    It is d/ds log|det [[diag(1/h) + T + s dT, 1], [1^T, -reference]]| at s = 0.

    Parameters
    ----------
    T, dT : np.ndarray of shape (k(k+1)/2, n)
        Pairs (0,0), (0,1), .., (1,1), .. of symmetric k x k matrices.
    h : np.ndarray of shape (k, n)
        Probabilities of all classes but the reference.
    reference : np.ndarray of shape (n,)
        Probability of the reference class.
    room : np.ndarray of shape (2, k, k+1, n), optional
        Memory to overwrite.

    Returns
    -------
    np.ndarray of shape (n,)
        One derivative per point.

    Notes
    -----
    Row j of the elimination starts as row j of the matrix, from the diagonal on, and loses ::

        sum_{p<j} a_p[j] a_p    and, its derivative,
        sum_{p<j} (a_p[j] b_p + b_p[j] a_p)

    where a_p = t / sqrt(t_0) and b_p = (dt - t dt_0 / (2 t_0)) / sqrt(t_0) if row p ended as t with
    derivative dt. The pivot t_0 adds dt_0 / t_0 to the result. The border is the last column.
    """
    (k, n), dtype = h.shape, T.dtype
    smallest = SMALLEST[dtype]  # a class of probability 0 drops out
    A, B = np.empty((2, k, k + 1, n), dtype) if room is None else room
    total, start = np.zeros(n, dtype), 0
    for j in range(k):
        # 1. Row j of the matrix and its derivative.
        t, dt = A[j, j:], B[j, j:]
        t[:-1], t[-1] = T[start : start + k - j], 1
        dt[:-1], dt[-1] = dT[start : start + k - j], 0
        t[0] += 1 / np.maximum(h[j], smallest)
        start += k - j
        # 2. Eliminate the rows above.
        if j:
            t -= np.einsum("pn,psn->sn", A[:j, j], A[:j, j:])
            dt -= np.einsum("pn,psn->sn", A[:j, j], B[:j, j:])
            dt -= np.einsum("pn,psn->sn", B[:j, j], A[:j, j:])
        # 3. Add the pivot's part, and scale the row by its root.
        ratio, scale = dt[0] / t[0], 1 / np.sqrt(t[0])
        total += ratio
        t *= scale
        dt *= scale
        dt -= t * (ratio / 2)
    a, b = A[:, k], B[:, k]
    corner = reference + np.einsum("pn,pn->n", a, a)
    return total + 2 * np.einsum("pn,pn->n", a, b) / corner
