"""What single precision proves: upper bounds of the scores of ``firal.selection.scoring``.

A point has the score s = trace[Z Q2], Z = (A + 1 1^T / h_c)^{-1}, A = diag(1/h) + Q1, with positive
semidefinite Q1 and Q2. In the order of symmetric matrices it falls when A grows and rises when Q2
grows. So float32 computes the score for A made smaller and Q2 made larger by more than all rounding
errors, and adds what the elimination itself may lose: no score is above the result. With u = 2^-24,
n roundings have a relative error of at most g(n) = 1.01 n u.

1. *Forms.* Rounded x and W, products x_a x_b and a sum of d(d+1)/2 terms in any order miss Q by E
   with ``|E_kl| <= g |x|^T |W_kl| |x| <= g beta_kl sum_a w_a x_a^2``, for any w > 0, where
   beta_kl^2 is the largest row sum times the largest column sum of ``|W_kl,ab| / sqrt(w_a w_b)``. A
   symmetric E is at most ``diag(sum_l |E_kl| v_l / v_k)`` for any v > 0. With v = sqrt(h) classes
   count as they are probable.
2. *Factors.* The elimination finds L with L L^T = A + E and ``|E_jl| <= g sqrt(A_jj A_ll)``: E is
   at most k g diag(A).
3. *Derivatives.* It finds B with L B^T + B L^T = Q2 + E and
   ``|E_jl| <= g (|L_j| |B_l| + |B_j| |L_l|)`` for the rows of L and B. If steps 1 and 2 changed A
   by at most t diag(1/h), this, the border and the last sums change the score by at most
   5 g tau S (k tau + 2) / (1 - 2 t), where tau^2 = k + sum_j h_j Q1_jj, and S adds up the pivots'
   parts.

The chapter *What it costs* proves each step. Where a requirement fails, the bound is inf.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firal.model import packing
from firal.selection.bordered import SMALLEST, bordered_derivative

UNIT = 2.0**-24  # largest relative error of one operation in float32
SPARE = 1.02  # for the roundings of the bounds themselves, and for those of float64
LARGEST = 1e15  # entry of W1, and square of a feature
TINY = 1e-16  # more than what leaves the range of float32 can do; W2 is at most 1


class Slack(NamedTuple):
    """What makes float32 scores upper bounds.

    Attributes
    ----------
    betas : np.ndarray of shape (2, k, k)
        g times beta of step 1, for W1 and for W2.
    weights : np.ndarray of shape (2, d)
        Their w.
    """

    betas: np.ndarray
    weights: np.ndarray

    def upper_bounds(
        self,
        forms: np.ndarray,
        products: np.ndarray,
        h: np.ndarray,
        reference: np.ndarray,
        room: np.ndarray,
    ) -> np.ndarray:
        """Bound the scores of some points, all in float32.

        Parameters
        ----------
        forms : np.ndarray of shape (k(k+1), n)
            Packed Q1, then packed Q2; changed in place.
        products : np.ndarray of shape (d(d+1)/2, n)
            The products of the features.
        h : np.ndarray of shape (k, n)
            Probabilities of all classes but the reference.
        reference : np.ndarray of shape (n,)
            Probability of the reference class.
        room : np.ndarray of shape (2, k, k+1, n)
            Memory to overwrite.

        Returns
        -------
        np.ndarray of shape (n,)
            inf or NaN where nothing is proved.
        """
        k, pairs = len(h), len(forms) // 2
        diagonal = np.flatnonzero(packing.is_diagonal(k))
        h = np.maximum(h, SMALLEST[h.dtype])
        squares = self.weights @ products[packing.is_diagonal(self.weights.shape[1])]
        g = np.float32(SPARE * roundings(k + 20))
        # 1. and 2. A smaller, Q2 larger.
        root, Q = np.sqrt(h), forms[diagonal]
        loss, gain = self.betas @ root
        hQ = h * Q
        loss *= root
        loss *= squares[0]
        loss += k * g * (hQ + 1)
        forms[diagonal] = Q - loss / h
        gain /= root
        gain *= squares[1]
        forms[pairs + diagonal] += gain + np.float32(TINY)
        upper = bordered_derivative(forms[:pairs], forms[pairs:], h, reference, room)
        # 3. What the elimination loses.
        S = sum(2 * np.abs(b[j] / a[j]) for j, (a, b) in enumerate(zip(*room, strict=True)))
        tau = np.sqrt(k + np.abs(hQ).sum(axis=0))
        factor = g * tau / np.maximum(1 - 2 * loss.max(axis=0), 0)
        upper += 5 * factor * S * (k * tau + 2) + np.float32(TINY)
        upper[~(factor <= 0.01)] = np.inf
        return upper


def slack_of(W1: np.ndarray, W2: np.ndarray, mean: np.ndarray) -> Slack | None:
    """Bound the roundings of all forms.

    Parameters
    ----------
    W1, W2 : np.ndarray of shape (d~, d~)
        Symmetric and positive semidefinite.
    mean : np.ndarray of shape (k,)
        Mean probabilities of the classes.

    Returns
    -------
    Slack or None
        For W1, and for W2 divided by its largest entry; None if numbers are too large or sums too
        long to prove anything.
    """
    k, d = len(mean), len(W1) // len(mean)
    terms = packing.triangle(d) + 8  # and the roundings of x, W, their products, and the diagonal
    if not (terms * UNIT <= 0.005 and W1.diagonal().max() <= LARGEST):
        return None
    betas, weights = [], []
    for W, largest in ((W1, 1.0), (W2, power_of_two(W2))):
        w = mean @ W.diagonal().reshape(k, d) / largest
        if not w.max() > 0:
            return None
        w = np.maximum(w, 1e-30 * w.max())
        sums = (np.abs(W).reshape(-1, d) @ (1 / np.sqrt(w))).reshape(k, d, k) / largest
        sums = np.max(sums / np.sqrt(w)[:, None], axis=1)
        betas.append(SPARE * roundings(terms) * np.sqrt(sums * sums.T))
        weights.append(w)
    return Slack(np.array(betas, np.float32), np.array(weights, np.float32))


def power_of_two(W: np.ndarray) -> float:
    """A power of two by which W can be divided to have entries of at most 1.

    Parameters
    ----------
    W : np.ndarray of shape (d~, d~)
        Positive semidefinite: the largest entry is on the diagonal.

    Returns
    -------
    float
        Division by it is exact.
    """
    return 2.0 ** np.ceil(np.log2(max(W.diagonal().max(), 1e-300)))


def roundings(n: int) -> float:
    """Bound the relative error of n roundings.

    Parameters
    ----------
    n : int
        How many; n u <= 0.005.

    Returns
    -------
    float
        ``1.01 n u``, at least ``n u / (1 - n u)``.
    """
    return 1.01 * n * UNIT
