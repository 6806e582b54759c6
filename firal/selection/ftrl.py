"""From weights to points: follow-the-regularized-leader rounding (lines 3-11 of Algorithm 1).

Given weights z with sum b, let Sigma = Sigma(z) and D = (1/b) sum_labeled H, and measure every
point in the geometry of Sigma: H~_i = Sigma^{-1/2} (H(x_i) + D) Sigma^{-1/2}. Then
sum_i z_i H~_i = I. One point is picked per step t = 1..b. With the points picked so far, ::

    A_t^{-1/2} = nu_t I + eta sum_{l<t} H~_{i_l},     trace(A_t) = 1,
    i_t maximizes the gain (1/eta) trace[A_t^{1/2} - (A_t^{-1/2} + eta H~_i)^{-1}].

Proposition 8: lambda_min(sum_l H~_{i_l}) >= -2 sqrt(d~)/eta + sum of the gains. If that smallest
eigenvalue is at least tau, then the picked points have f <= f(z) / tau (Proposition 7).

**No matrix per point.** In the original coordinates, let K = nu Sigma + eta sum_l (H_{i_l} + D).
Then ::

    W1 = (K + eta D)^{-1}    and    W2 = W1 Sigma W1

meet a point only through the k x k matrices Q1 = [x^T W1_kl x] and Q2 = [x^T W2_kl x], and
the gain is a constant plus the score trace[(I + eta G Q1)^{-1} G Q2] with G = diag(h) - h h^T.
``firal.selection.scoring`` finds the point with the largest one. It helps that W2 is at most W1
divided by the smallest eigenvalue of A_t^{-1/2} + eta C^{-1} D C^{-T}, which is at least nu, and 1.

**nu.** ``firal.selection.normalizer`` solves trace(A_t) = 1: by the eigenvalues of sum_l H~_{i_l},
or by a few factorizations of A_t^{-1/2} where eigenvalues are expensive. There the last step helps:
its W1 and a correction of rank c - 1 give the traces of the new matrix at the last nu.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.nogil import in_threads, parts
from firal.common.threads import matrix_threads, one_thread
from firal.selection import normalizer
from firal.selection.block_rounding import BlockRounding, any_rounding
from firal.selection.greedy import greedy
from firal.selection.picked import cached_rows
from firal.selection.rounding import Rounding
from firal.selection.solver import Relaxation
from firal.selection.structure import prepare_with_weights
from firal.selection.support import check_candidates, of_pool, on_support, spread

LARGEST_ETA = 1e12  # A^{-1/2} >= I is a difference of numbers of size eta: beyond, rounding decides


class Selection(NamedTuple):
    """The picked points and what is known about them.

    Attributes
    ----------
    indices : np.ndarray of shape (b,)
        Rows of the pool, in the order they were picked.
    eta : float or None
        Learning rate; None for greedy steps.
    lambda_min : float
        Smallest eigenvalue of the picked information against Sigma(z). The objective is at most
        that of z, divided by this number.
    lower_bound : np.ndarray of shape (b,)
        Right-hand side of Proposition 8 after every step; empty for greedy steps.
    gains : np.ndarray of shape (b,)
        What every step added to it; empty for greedy steps.
    objective : float
        f of the picked points; inf if their information is singular.
    relaxation : Relaxation or None
        The relaxed solution, if it was computed here (``select``).
    tried : tuple
        ((eta, lambda_min), ..) of every eta tried (``select``).
    passes : int
        How often the whole pool was read, for H_p, for the weights, and by steps that score all
        points. The check of the input and the coordinates are not counted.
    structure : str
        "full" or "block-diagonal".
    why : str
        Why that structure.
    least_objective : float
        What no b distinct points can beat, proved apart from the relaxed problem; 0 if nothing was.
    """

    indices: np.ndarray
    eta: float | None
    lambda_min: float
    lower_bound: np.ndarray
    gains: np.ndarray
    objective: float
    relaxation: Relaxation | None = None
    tried: tuple = ()
    passes: int = 0
    structure: str = "full"
    why: str = ""
    least_objective: float = 0.0

    @property
    def ratio(self) -> float:
        """Certified: no b distinct points have an objective below ``objective / ratio``.

        NaN without a relaxed solution, and where points repeat.
        """
        if self.relaxation is None or len(set(self.indices.tolist())) < len(self.indices):
            return np.nan
        lower = self.relaxation.objective * (1 - self.relaxation.gap)
        return self.objective / max(lower, self.least_objective)

    def __repr__(self):
        rows = np.array2string(self.indices, separator=", ", threshold=10)
        rule = "greedy" if self.eta is None else f"eta={self.eta:.4g}"
        return (
            f"Selection(indices={rows}, {rule}, lambda_min={self.lambda_min:.4g}, "
            f"objective={self.objective:.6g})"
        )


def sparsify(
    pool: ArrayLike,
    labeled: ArrayLike | None,
    theta: ArrayLike | None,
    z: ArrayLike,
    budget: int,
    eta: float,
    *,
    ridge: float = 0.0,
    probabilities: tuple[ArrayLike, ArrayLike | None] | None = None,
    structure: str = "auto",
    candidates: str = "all",
    replace: bool = False,
    watch: Callable[[int, np.ndarray], None] | None = None,
) -> Selection:
    """Pick points whose information is close to that of the weights z from below.

    Parameters
    ----------
    pool : array_like of shape (m, d)
        Unlabeled points.
    labeled : array_like of shape (n0, d) or None
        Points that already have a label.
    theta : array_like of shape (c-1, d)
        Parameters; the last class is the reference.
    z : array_like of shape (m,)
        Nonnegative weights with sum ``budget``, for example from ``relax``.
    budget : int
        Number of points to pick.
    eta : float
        Learning rate, 0 < eta < 1e12. ``select`` tunes it.
    ridge : float, default 0.0
        Penalty of the fit that the labels are for: the information of n0 + budget labels has
        ``(n0 + budget) * ridge`` times the penalty added, in the given coordinates. 0 is the paper.
    probabilities : tuple of array_like, optional
        Class probabilities of the pool (m, c) and of the labeled points (n0, c) from any
        classifier; theta must be None then.
    structure : {"full", "block-diagonal", "auto"}
        "block-diagonal" keeps one block of size d per class of all information
        (:mod:`firal.selection.block_diagonal`): quick for many classes. "auto" is full where that
        is feasible, and says so in a warning where it is not (:mod:`firal.selection.structure`).
    candidates : {"all", "support"}
        "all" is Algorithm 1. "support" picks among the points with weight: the theorem holds for
        them, and with few of them it is much quicker.
    replace : bool, default False
        True may pick a point again, which is what Theorem 10 is about; False picks distinct points.
    watch : callable, optional
        Called at every step as ``watch(i, gains)`` with the picked row and the gains (m,) of all
        points; NaN stands for points that are no candidates.

    Returns
    -------
    Selection
        The picked rows and their certificate.

    Raises
    ------
    ValueError
        If shapes disagree, a value is not finite, the sum of z is not ``budget``, Sigma(z) is
        singular, or there are fewer than ``budget`` distinct points.

    Notes
    -----
    Deterministic. Scores equal to rounding are ties, and the lowest row wins. Cost per step:
    m d~^2 / 2 multiply-adds for the pool and m c^3 / 2 for the eliminations, both in float32, and
    13/6 d~^3 for nu, W1 and W2. With blocks: 2 m c d^2 for the pool and about 5 c d^3. The chapter
    *From weights to points* derives the steps, *What it costs* counts them.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> rng = np.random.default_rng(0)
    >>> pool, theta = rng.normal(size=(100, 3)), rng.normal(size=(2, 3))
    >>> z = firal.relax(pool, None, theta, budget=12).z
    >>> selection = firal.sparsify(pool, None, theta, z, budget=12, eta=20.0)
    >>> len(set(selection.indices)), bool(selection.lambda_min >= selection.lower_bound[-1])
    (12, True)
    """
    eta = checks.number(eta, "eta", 0, LARGEST_ETA)
    checks.function(watch, "watch")
    check_candidates(candidates)
    problem, z, choice = prepare_with_weights(
        pool,
        labeled,
        theta,
        z,
        budget,
        replace,
        structure=structure,
        ridge=ridge,
        probabilities=probabilities,
        factorize=True,
    )
    with one_thread():
        small, rows, passes = problem, None, 2 + problem.budget  # H_p, Sigma and every step
        if candidates == "support":
            small, z, rows = on_support(problem, z, replace)
            passes = 1
        watch = spread(watch, rows, problem.n_points)
        found = run_ftrl(any_rounding(small, z), eta, replace, watch=watch)
        return of_pool(found, rows)._replace(
            passes=passes, structure=choice.structure, why=choice.why
        )


def run_ftrl(
    rounding: Rounding | BlockRounding,
    eta: float,
    replace: bool,
    report: Callable[[int, int], None] | None = None,
    watch: Callable[[int, np.ndarray], None] | None = None,
) -> Selection:
    """Run ``sparsify`` on prepared data.

    Parameters
    ----------
    rounding : Rounding or BlockRounding
        What all runs on one z share.
    eta : float
        Learning rate.
    replace : bool
        Whether a point may be picked again.
    report : callable, optional
        Called after every step as ``report(done, total)``.
    watch : callable, optional
        As in ``sparsify``.

    Returns
    -------
    Selection
        The picked rows and their certificate.
    """
    # Copies of one problem share their spectrum: the rate of one copy keeps trace(A_t) = 1.
    rule = _FtrlRule(rounding, eta / np.sqrt(rounding.problem.copies))
    b = rounding.problem.budget
    gains_of_all = None
    if watch is not None:

        def gains_of_all(i, scores):
            watch(i, rule.constant + scores)

    rows = greedy(rule, rounding.scorer, b, replace=replace, watch=gains_of_all, report=report)
    gains = np.array(rule.gains)
    return Selection(
        indices=np.array(rows),
        eta=eta,
        lambda_min=rule.picked.lambda_min(),
        lower_bound=np.cumsum(gains) - 2 * np.sqrt(rounding.problem.parameters) / eta,
        gains=gains,
        objective=rule.picked.objective(),
    )


class _FtrlRule:
    """W1 and W2 of the next FTRL step; the gain of a point is ``constant`` plus its score."""

    def __init__(self, rounding, eta):
        self.rounding, self.eta = rounding, eta
        self.picked, self.gains, self.constant = rounding.picked(), [], 0.0
        self.ratio = np.inf
        self.last, self.misses, self.by_factors = None, [0.0, 0.0], rounding.Sigma.ndim == 2
        # W1, and what `score_matrices` needs besides: fresh memory in every step would cost a tenth
        self.K = np.empty_like(rounding.Sigma)
        self.room = [np.empty_like(rounding.factor) for _ in range(2)] if self.by_factors else []

    def weights(self):
        Sigma, eta, K = self.rounding.Sigma, self.eta, self.K
        found = self._normalizer()

        def fill(rows):
            np.add(self.picked.information[rows], self.rounding.labeled_per_pick[rows], out=K[rows])
            K[rows] *= eta
            K[rows] += found.x * Sigma[rows]

        threads = matrix_threads(len(K), self.rounding.problem.threads)
        in_threads(fill, list(cached_rows(len(K))), threads)
        W1, W2 = self.rounding.score_matrices(K, *self.room)
        known = np.vdot(W1, Sigma)
        self.constant = (found.h - known) / eta
        self.last = found.x, W1, W2, known
        self.ratio = 1 / (eta * max(found.x, 1.0))  # trace(A) = 1, so A^{-1/2} is at least I
        return eta * W1, W2

    def add(self, i, score):
        self.gains.append(self.constant + score)
        self.picked.add(i)

    def _normalizer(self):
        """nu, and the trace of A^{1/2}: by factors if the matrices are large, else by eigenvalues.

        A large eta makes one eigenvalue decide. Then factors need more steps than they are worth,
        and in the steps after this one, too.
        """
        picked, size = self.picked, len(self.rounding.Sigma)
        if self.by_factors and size >= normalizer.FROM and not picked.spectrum_is_known():
            threads = matrix_threads(size, self.rounding.problem.threads)
            # misses lie about on a line
            seen = self.misses[-4:]
            miss = np.polyval(np.polyfit(np.arange(-len(seen), 0), seen, 1), 0)
            found = normalizer.from_factors(
                picked.white, [self._at_last()], miss, threads, self.eta, self.room[0]
            )
            if found is not None:
                self.misses.append(found[1])
                return found[0]
            self.by_factors = False
        spectrum = self.eta * picked.spectrum()
        nu = normalizer.from_eigenvalues(spectrum)
        return normalizer.Known(nu, float(np.sum(1 / (nu + spectrum))), 1.0)

    def _at_last(self):
        """What is known at the last nu: of W = (W1^{-1} + eta H_i)^{-1}, i the last pick.

        trace(W Sigma) and trace(W Sigma W Sigma), by Woodbury's formula W = W1 - Y S Y^T.
        """
        nu, W1, W2, known = self.last
        Sigma = self.rounding.Sigma
        i, root_eta = self.picked.rows[-1], np.sqrt(self.eta)
        U = root_eta * self.picked.root(i)
        Y, Z = (root_eta * self.picked.times_root(W, i) for W in (W1, W2))
        S = np.linalg.inv(np.eye(U.shape[1]) + U.T @ Y)
        inner = S @ (U.T @ Z)  # Y^T Sigma Y = U^T W2 U
        threads = matrix_threads(len(Sigma), self.rounding.problem.threads)
        rows = parts(len(Sigma), threads)
        by_rows = in_threads(lambda part: (Sigma[part] @ Y).T @ Z[part], rows, threads)
        square = np.vdot(S, sum(by_rows))  # Y^T Sigma W1 Sigma Y
        phi = np.vdot(W2, Sigma) - 2 * square + np.vdot(inner, inner.T)
        return normalizer.Known(nu, float(known - np.trace(inner)), float(phi))
