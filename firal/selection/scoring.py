"""The score of every pool point, and the best of them.

A step of FIRAL's rounding and a forward step of BAIT ask the same question. With symmetric W1 and
W2 of size d~, G_i = diag(h_i) - h_i h_i^T and the k x k matrices Q1_i = [x_i^T W1_kl x_i] and
Q2_i = [x_i^T W2_kl x_i], which point has the largest ::

    s_i = trace[(I + G_i Q1_i)^{-1} G_i Q2_i] ?

The inverse of G is diag(1/h) + 1 1^T / h_c (h_c: probability of the reference class), so s_i is
the derivative at u = 0 of log|det| of the bordered matrix ::

    [ diag(1/h) + Q1 + u Q2     1  ]
    [          1^T            -h_c ]

taken along by symmetric elimination. All its pivots but the last are positive and the last is
negative, whatever h: nothing cancels, and neither eigenvectors nor factors of G are needed.

**Single precision screens, double precision decides.** Only the best point is wanted. So float32
computes an upper bound of every score first, at about half the price (``firal.selection.screen``
derives it), and float64 the scores of the points whose bound reaches the best score known. No other
point can be the best, so the pick is that of float64. Where too many points remain, all scores are
computed in float64. FTRL knows how large W2 can be beside W1. Then a much cheaper bound comes first
(``firal.selection.ratio_bound``).

**Memory is used again.** A run asks for the best point of one pool many times, and fresh memory
costs as much as the arithmetic in it. So a scorer owns its working memory. It also keeps the
products x_a x_b of the whole pool, if they take little space.
"""

from __future__ import annotations

import math

import numpy as np

from firal.common.nogil import in_threads
from firal.common.threads import matrix_threads
from firal.engine import memory
from firal.model import packing
from firal.selection import ratio_bound, screen
from firal.selection.bordered import bordered_derivative
from firal.selection.problem import Problem

BLOCK_BYTES = 16 * 2**20  # working memory of one block of points
PRODUCT_BYTES = 64 * 2**20  # products x_a x_b are kept up to this size
TIE = 1e-9  # scores within this relative distance of the best are ties: the lowest index wins
SCREEN_FROM = 5 * 10**6  # from this m d~^2 / 4 on, two passes are quicker than one in float64
SCREEN_SIZE = 48  # and d~ of at least this: below, the bounds cost as much as the scores
FIRST = 32  # points of the largest bounds, of which the best is the score to reach
PAUSE = 8  # steps without a screen after one that left too many points


class PoolScorer:
    """Scores all points of one problem, as often as asked, in working memory of its own.

    Parameters
    ----------
    problem : Problem
        The prepared data.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        data = problem.X, problem.h, problem.reference, problem.threads
        self._single, self._double = _Pass(*data, np.float32), _Pass(*data, np.float64)
        self._mean, self._pauses = None, {"ratio": 0, "single": 0}

    def best(
        self, W1: np.ndarray, W2: np.ndarray, allowed: np.ndarray, ratio: float = np.inf
    ) -> tuple[int, float]:
        """Find the allowed point with the largest score.

        Parameters
        ----------
        W1, W2 : np.ndarray of shape (d~, d~)
            Symmetric, positive semidefinite.
        allowed : np.ndarray of shape (m,)
            True where a point may be picked.
        ratio : float, default inf
            W2 is at most ``ratio * W1`` in the order of symmetric matrices; inf: not known.

        Returns
        -------
        tuple of int and float
            Its row and its score in float64. Rows within ``TIE`` of the largest score are equal,
            and the lowest of them is returned.

        Notes
        -----
        Cost: m d~^2 / 2 multiply-adds for the pool and m c^3 / 2 for the eliminations, in float32;
        m d d~ if ``ratio`` leaves few points.
        """
        coefficients = self._coefficients(W1, W2)
        rows, exact = self._few(W1, W2, coefficients, allowed, ratio)
        if rows is None:
            rows = np.flatnonzero(allowed)
            exact = self._double(coefficients)[rows]
        ties = np.flatnonzero(exact >= exact.max() * (1 - TIE))
        return int(rows[ties[0]]), float(exact[ties[0]])

    def all(self, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
        """Score every point.

        Parameters
        ----------
        W1, W2 : np.ndarray of shape (d~, d~)
            Symmetric.

        Returns
        -------
        np.ndarray of shape (m,)
            Scores in float64.
        """
        return self._double(self._coefficients(W1, W2))

    def _is_large(self):
        m, size = len(self.problem.X), self.problem.size
        # with fewer points than parameters, the bounds of W1 and W2 cost as much as the scores
        return m >= size >= SCREEN_SIZE and m * size**2 / 4 >= SCREEN_FROM

    def _coefficients(self, W1, W2):
        """Coefficients of the products x_a x_b, of the forms of W1 and then of W2."""
        d, k = self.problem.X.shape[1], self.problem.h.shape[1]
        threads = matrix_threads(len(W1), self.problem.threads)
        return np.vstack(
            in_threads(lambda W: packing.packed_coefficients(W, d, k), [W1, W2], threads)
        )

    def _few(self, W1, W2, coefficients, allowed, ratio):
        """As ``_reaching``, by the cheapest bounds that leave few points."""
        if not self._is_large():
            return None, None
        known = np.isfinite(ratio) and self.problem.h.shape[1] >= ratio_bound.FROM
        for way in ("ratio", "single") if known else ("single",):
            if self._pauses[way]:
                self._pauses[way] -= 1
                continue
            if way == "ratio":
                upper = ratio_bound.ratio_bounds(self.problem, W1, ratio)
                rows, exact = self._reaching(upper, coefficients, allowed)
            else:
                rows, exact = self._screen(W1, W2, coefficients, allowed)
            if rows is not None:
                return rows, exact
            self._pauses[way] = PAUSE
        return None, None

    def _screen(self, W1, W2, coefficients, allowed):
        """As ``_reaching``, by upper bounds in float32."""
        upper = self._upper_bounds(W1, W2, coefficients)
        return (None, None) if upper is None else self._reaching(upper, coefficients, allowed)

    def _reaching(self, upper, coefficients, allowed):
        """Ascending rows that may be the best and their float64 scores; (None, None) if many."""
        # 1. A score to reach, in float64.
        upper[~allowed] = -np.inf
        first = np.argpartition(-upper, min(FIRST, len(upper) - 1))[:FIRST]
        best = self._some(coefficients, first[allowed[first]]).max()
        # 2. In float64 all points that may reach it.
        rows = np.flatnonzero(upper >= best * (1 - TIE))
        if not best > 0 or 4 * len(rows) > len(upper):
            return None, None
        return rows, self._some(coefficients, rows)

    def _some(self, coefficients, rows):
        """float64 scores of some points."""
        p = self.problem
        few = p.X[rows], p.h[rows], p.reference[rows], p.threads
        return _Pass(*few, np.float64)(coefficients)

    def _upper_bounds(self, W1, W2, coefficients):
        """No score is above these; inf where float32 proves nothing, None if nowhere."""
        if self._mean is None:
            if np.abs(self.problem.X).max() ** 2 > screen.LARGEST:
                return None
            self._mean = self.problem.h.mean(axis=0)
        slack = screen.slack_of(W1, W2, self._mean)
        if slack is None:
            return None
        largest, pairs = screen.power_of_two(W2), len(coefficients) // 2
        narrow = np.empty(coefficients.shape, np.float32)
        narrow[:pairs] = coefficients[:pairs]
        np.divide(coefficients[pairs:], largest, out=narrow[pairs:], casting="same_kind")
        upper = self._single(narrow, slack).astype(np.float64) * largest
        upper[np.isnan(upper)] = np.inf
        return upper


class _Pass:
    """All scores of some points in one precision: one matrix product, then elimination."""

    def __init__(self, X, h, reference, threads, dtype):
        self.X, self.h, self.reference, self.threads = X, h, reference, threads
        self.dtype = np.dtype(dtype)
        m, d = X.shape
        self.keep_products = self.dtype.itemsize * m * d * d // 2 <= PRODUCT_BYTES
        self.workspaces = {}  # worker -> _Workspace

    def __call__(self, coefficients, slack=None):
        """Scores, or with ``slack`` (of float32) upper bounds of them."""
        X, h, reference, dtype = self.X, self.h, self.reference, self.dtype
        (m, d), k = X.shape, h.shape[1]
        pairs, scores = len(coefficients) // 2, np.empty(m, dtype)

        def fill(worker, block):
            workspace = self.workspaces.setdefault(worker, _Workspace(dtype))
            products = self._products(workspace, block)
            n = products.shape[1]
            forms = np.matmul(coefficients, products, out=workspace.forms.take(2 * pairs, n))
            points = h[block].T.astype(dtype, copy=False), reference[block].astype(dtype)
            room = workspace.rows.take(2, k, k + 1, n)
            if slack is None:
                scores[block] = bordered_derivative(forms[:pairs], forms[pairs:], *points, room)
            else:
                # in the thread itself: threads do not inherit it
                with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                    scores[block] = slack.upper_bounds(forms, products, *points, room)

        bytes_per_point = dtype.itemsize * (d * d // 2 + 6 * pairs)
        memory.by_blocks(m, self.threads, bytes_per_point, BLOCK_BYTES, fill)
        return scores

    def _products(self, workspace, block):
        """The products x_a x_b of the points of a block, from the last pass if they were kept."""
        products = workspace.products.get(block.start)
        if products is None:
            products = packing.packed_products(self.X[block].astype(self.dtype, copy=False))
            if self.keep_products:
                workspace.products[block.start] = products
        return products


class _Workspace:
    """Memory of one worker: products by the start of their block, and two arrays to overwrite."""

    def __init__(self, dtype):
        self.products = {}
        self.forms, self.rows = _Buffer(dtype), _Buffer(dtype)


class _Buffer:
    """Uninitialized memory that grows to the largest array asked for."""

    def __init__(self, dtype):
        self.flat = np.empty(0, dtype)

    def take(self, *shape):
        size = math.prod(shape)
        if self.flat.size < size:
            self.flat = np.empty(size, self.flat.dtype)
        return self.flat[:size].reshape(shape)
