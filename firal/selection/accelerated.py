"""Fewer and cheaper gradients of the relaxed problem where matrices are large.

From an order of ``LARGE_MATRICES`` on, a gradient of ``firal.selection.solver`` costs seconds. Two
things make them fewer and cheaper; neither touches the certificate, which is that of a gradient in
float64 at the weights that are returned.

**Anderson's method.** The optimality conditions are a fixed point: a point with a weight between 0
and 1 has the mean sensitivity, a_i = mean. With u = log z, the step u + POWER (log a - log mean) is
therefore short near the optimum. Of the last steps, the combination with the smallest
log a - log mean is known by linear regression, each point counted by its weight, and the next step
starts from there. Where f grows, all is forgotten, and the square-root step follows, which never
increases f.

**Single precision first.** Weights need not be exact, they are certified afterward. So the search
begins in float32, at half the price, and ends in float64, mostly with one gradient.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from firal.selection.certificate import CertifiedSearch
from firal.selection.problem import Problem

LARGE_MATRICES = 600  # order from which on this is used; below, gradients are cheap
POWER = 2.0  # of a in a step; the square root is monotone, this is bold
MEMORY = 5  # steps that are combined
GROWTH = 1e-3  # relative growth of f that is let pass: it is noise in float32
DEEPEST = 60.0  # logarithms of weights are at most this far below the largest
ENOUGH = 0.9  # part of the wanted gap that float32 is to reach
FINEST = 2e-3  # smallest gap that float32 is asked for
MOST_SINGLE = 50  # gradients in float32


def is_large(problem: Problem) -> bool:
    """Whether a gradient is so expensive that this module is worth it.

    Parameters
    ----------
    problem : Problem
        The prepared data, or a ``BlockProblem``, whose matrices are never large.

    Returns
    -------
    bool
        By the order of the matrices.
    """
    return problem.mean_information.ndim == 2 and len(problem.mean_information) >= LARGE_MATRICES


def rough_weights(search: CertifiedSearch, w: np.ndarray) -> np.ndarray:
    """Find weights that should do, in float32; nothing is certified.

    Parameters
    ----------
    search : CertifiedSearch
        The search in float64. Its history gets one row per gradient, with the lower bound 0, and
        at least one gradient is left to it.
    w : np.ndarray of shape (m,)
        Weights to start from.

    Returns
    -------
    np.ndarray of shape (m,)
        Weights to go on from; w itself if float32 is not enough for them.
    """
    most = min(MOST_SINGLE, search.max_iter - 1)
    if most < 1:
        return w
    report: Callable[[int, int], None] | None = None
    if search.report is not None:

        def report(done, _):
            search.report(done, search.max_iter)

    tol = max(ENOUGH * search.tol, FINEST)
    single = CertifiedSearch(search.problem.single(), search.capped, tol, most, report)
    found = anderson(single, w)
    search.history.extend((f, 0.0) for f, _ in single.history)
    return w if single.z is None else found


def anderson(search: CertifiedSearch, w: np.ndarray) -> np.ndarray:
    """Search by Anderson's method on the logarithms of the weights.

    Parameters
    ----------
    search : CertifiedSearch
        Keeps what is found.
    w : np.ndarray of shape (m,)
        Weights to start from.

    Returns
    -------
    np.ndarray of shape (m,)
        The weights of the last gradient.
    """
    f, a = search.evaluate(w)
    points, residuals = [], []
    while a is not None and not search.finished:
        # 1. How far every point is from the mean sensitivity.
        a = np.maximum(a.astype(np.float64), np.finfo(float).tiny)
        residual = np.log(a) - np.log(np.vdot(w, a) / w.sum())
        points, residuals = points[-MEMORY:], residuals[-MEMORY:]
        points.append(np.log(w))
        residuals.append(residual)
        # 2. The next weights.
        u = _combined(np.array(points), np.array(residuals), w)
        trial = search.feasible(np.exp(np.maximum(u - u.max(), -DEEPEST)))
        f_trial, a_trial = search.evaluate(trial)
        # 3. If f grew, forget, and take the monotone step.
        if not f_trial <= f * (1 + GROWTH) and not search.finished:
            points, residuals = [], []
            trial = search.feasible(w * np.sqrt(a / a.max()))
            f_trial, a_trial = search.evaluate(trial)
        w, f, a = trial, f_trial, a_trial
    return w


def _combined(points, residuals, w):
    """A step from the combination of the last points that has the smallest residual."""
    u, r = points[-1], residuals[-1]
    if len(points) > 1:
        du, dr = np.diff(points, axis=0), np.diff(residuals, axis=0)
        gram = (dr * w) @ dr.T
        gram[np.diag_indices_from(gram)] += 1e-8 * np.trace(gram) + np.finfo(float).tiny
        part = np.linalg.solve(gram, (dr * w) @ r)
        u, r = u - part @ du, r - part @ dr
    return u + POWER * r
