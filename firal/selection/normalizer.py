"""The number nu of an FTRL step, without the eigenvalues of a large matrix.

For a symmetric B of order n, wanted is the nu with trace (B + nu I)^{-2} = 1 and B + nu I positive
definite. With all eigenvalues it is Newton's method on n numbers (:func:`from_eigenvalues`). For
large matrices they cost more than everything else in a step. Factors are cheaper: one Cholesky
factorization and the inverse give, at one x, ::

    h(x) = trace V_x    and    phi(x) = trace V_x^2 = -h'(x),    V_x = (B + x I)^{-1}.

**A small model.** In the inner product <F, G> = trace(F G), the matrix (B + x I)^{-1} is the
solution F of (B + x I) F = I. Galerkin's method solves it on the span of I and of the V_{x_i} that
are known. All it needs are the numbers above, because V_x V_y = (V_x - V_y) / (y - x): ::

    <V_i, V_j> = (h_i - h_j) / (x_j - x_i),   <V_i, V_i> = phi_i,   <I, V_i> = h_i,   <I, I> = n,
    <I, B I> = trace B,   <I, B V_i> = n - x_i h_i,   <V_i, B V_j> = h_j - x_i <V_i, V_j>.

The model has a few eigenvalues with weights in place of n eigenvalues with weight one. It meets h
and phi at every x_i, and its root is the next x. Two or three of them suffice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from firal.common.halves import inverse_below
from firal.common.linalg import from_lower
from firal.common.nogil import in_threads, parts

# Eigenvalues cost 2.0, 1.7, 1.7 and 2.5 inverses of order 300, 450, 600 and 900 (one thread), and
# more beyond; a step by factors needs one or two, and the traces at the last nu.
FROM = 600  # order from which on factors are quicker than eigenvalues
NEAR = 3e-7  # q p^2 from which on the root of the model is accurate to 1e-8, see `_is_near`
AT = 1e-6  # |phi - 1| from which on one step with the slope of the model is
SOUND = 1e-10  # largest relative rounding error of the model where it is used
MOST = 4  # factorizations; more cost as much as the eigenvalues


class Known(NamedTuple):
    """What is known at one x.

    Attributes
    ----------
    x : float
        The shift.
    h : float
        Trace of (B + x I)^{-1}.
    phi : float
        Trace of (B + x I)^{-2}.
    """

    x: float
    h: float
    phi: float


def from_eigenvalues(values: np.ndarray, weights: np.ndarray | float = 1.0) -> float:
    """Find nu with ``sum_j weights_j (nu + values_j)^{-2} = 1`` and all ``nu + values_j > 0``.

    Parameters
    ----------
    values : np.ndarray of shape (n,)
        Ascending.
    weights : np.ndarray of shape (n,) or float
        Positive.

    Returns
    -------
    float
        The number nu.

    Notes
    -----
    In u = nu + values_0 the function (sum_j weights_j (u + gap_j)^{-2})^{-1/2} is concave and
    increasing, and at most 1 at the start: Newton's method climbs to the root without overshooting.

    Examples
    --------
    >>> from_eigenvalues(np.array([0.0, 0.0, 0.0, 0.0]))
    2.0
    """
    gaps = values - values[0]
    u = float(np.sqrt(np.broadcast_to(weights, gaps.shape)[0]))
    for _ in range(100):
        inverse = 1 / (u + gaps)
        square = np.sum(weights * inverse**2)
        # Newton for square^{-1/2} = 1; its derivative in u is square^{-3/2} sum inverse^3
        move = (np.sqrt(square) - 1) * square / np.sum(weights * inverse**3)
        u += move
        if move <= 4e-16 * u:
            break
    return float(u - values[0])


def from_factors(
    A: np.ndarray,
    known: list[Known],
    miss: float = 0.0,
    threads: int = 1,
    scale: float = 1.0,
    room: np.ndarray | None = None,
) -> tuple[Known, float] | None:
    """Find nu with ``trace (B + nu I)^{-2} = 1`` by a few factorizations, where B = ``scale * A``.

    Parameters
    ----------
    A : np.ndarray of shape (n, n)
        Symmetric.
    known : list of Known
        At least one x at which B + x I is positive definite.
    miss : float
        What to add to the first guess; the next call in a sequence profits from the last one.
    threads : int
        Number of threads that share the matrices.
    scale : float
        Positive: B is never formed.
    room : np.ndarray of shape (n, n), optional
        In Fortran order. Overwritten.

    Returns
    -------
    tuple of Known and float, or None
        nu, to about 1e-8 of the smallest eigenvalue of B + nu I or better, with the trace h there;
        and by how much the first root of the model was too small. None if a guess was not positive
        definite, or ``MOST`` factorizations are not enough: eigenvalues are the better way then.

    Notes
    -----
    Cost of a factorization and inverse: about n^3 / 2 multiply-adds.

    Examples
    --------
    >>> B = np.diag([0.0, 0.0, 1.0])
    >>> known = Known(2.0, np.sum(1 / (2 + np.diag(B))), np.sum((2 + np.diag(B)) ** -2))
    >>> nu = from_factors(B, [known])[0].x
    >>> round(float(np.sum((nu + np.diag(B)) ** -2)), 9)
    1.0
    """
    known, trace = list(known), scale * float(np.trace(A))
    room = np.empty(A.shape, A.dtype, order="F") if room is None else room
    model = _Model(known, len(A), trace)
    first = model.root()
    guess = first + miss
    for _ in range(MOST):
        last = _evaluate(A, guess, threads, scale, room)
        if last is None:
            return None
        known.append(last)
        model = _Model(known, len(A), trace)
        if abs(last.phi - 1) <= AT:
            step = (1 - last.phi**-0.5) / model.slope(last.x)
            found = Known(last.x + step, last.h - step * (1 + last.phi) / 2, 1.0)
            return found, found.x - first
        guess = model.root()
        if _is_near(known) and model.meets(last):
            return Known(guess, model.h(guess), 1.0), guess - first
    return None


def _is_near(known):
    """Whether the root of the model is accurate enough to be nu.

    With q and p, the smallest two |phi - 1| that are known, its relative error is at most about
    0.03 q p^2: the model meets h and phi at both x. Measured on the spectra of the tests.
    """
    q, p = sorted(abs(one.phi - 1) for one in known)[:2]
    return q * p**2 <= NEAR


def _evaluate(A, x, threads, scale, room):
    """h and phi at x; None if B + x I is not positive definite."""

    def fill(part):
        np.multiply(A.T[:, part], scale, out=room[:, part])

    in_threads(fill, parts(len(A), threads), threads)
    room[np.diag_indices_from(room)] += x
    if not np.isfinite(x) or not inverse_below(room, threads):
        return None
    V = from_lower(room)
    return Known(x, float(np.trace(V)), float(np.vdot(V, V)))


class _Model:
    """A few eigenvalues with weights that meet all that is known of h."""

    def __init__(self, known, n, trace):
        x, h, phi = (np.array(column) for column in zip(*known, strict=True))
        with np.errstate(invalid="ignore", divide="ignore"):
            inner = (h - h[:, None]) / (x[:, None] - x)
        np.fill_diagonal(inner, phi)
        products = h - x[:, None] * inner
        gram = np.block([[np.full((1, 1), n), h[None]], [h[:, None], inner]])
        image = np.block(
            [[np.full((1, 1), trace), (n - x * h)[None]], [(n - x * h)[:, None], products]]
        )
        # an orthonormal basis of the span; directions that rounding has made are left out
        scale = 1 / np.sqrt(np.diag(gram))
        sizes, vectors = linalg.eigh(gram * scale * scale[:, None])
        kept = sizes > 1e-15 * sizes[-1]
        basis = scale[:, None] * vectors[:, kept] / np.sqrt(sizes[kept])
        small = basis.T @ ((image + image.T) / 2) @ basis
        values, vectors = linalg.eigh(small)
        weights = (vectors.T @ (basis.T @ gram[0])) ** 2
        kept = weights > 1e-12
        self.values, self.weights = values[kept], weights[kept]

    def root(self):
        return from_eigenvalues(self.values, self.weights)

    def h(self, x):
        return float(np.sum(self.weights / (x + self.values)))

    def phi(self, x):
        return float(np.sum(self.weights / (x + self.values) ** 2))

    def slope(self, x):
        """Derivative of phi^{-1/2}."""
        return np.sum(self.weights / (x + self.values) ** 3) * self.phi(x) ** -1.5

    def meets(self, known):
        """Whether rounding has left the model accurate; a huge trace of B may spoil it."""
        pairs = (self.h(known.x), known.h), (self.phi(known.x), known.phi)
        return all(abs(a - b) <= SOUND * b for a, b in pairs)
