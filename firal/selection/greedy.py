"""The greedy loop that FTRL rounding, adaptive rounding and BAIT's forward steps share.

All three pick one point at a time. They differ only in the two matrices by which a step scores the
points, and in what they record about a pick: that is the *rule*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from firal.selection.scoring import PoolScorer


class Rule(Protocol):
    """What a greedy algorithm has to say about its steps.

    Attributes
    ----------
    ratio : float
        The matrix W2 of this step is at most ``ratio * W1``; inf if that is not known.
    """

    ratio: float

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Matrices of the next step; called once per step.

        Returns
        -------
        tuple of np.ndarray
            W1 and W2 (d~, d~) for ``PoolScorer.best``.
        """

    def add(self, i: int, score: float) -> None:
        """Take a point in; called once per step.

        Parameters
        ----------
        i : int
            Its row.
        score : float
            Its score at the matrices of this step.
        """


def greedy(
    rule: Rule,
    scorer: PoolScorer,
    steps: int,
    *,
    replace: bool = False,
    watch: Callable[[int, np.ndarray], None] | None = None,
    report: Callable[[int, int], None] | None = None,
) -> list[int]:
    """Pick points one by one, each time the one with the largest score.

    Parameters
    ----------
    rule : Rule
        Gives the matrices of every step, and is told what was picked.
    scorer : PoolScorer
        Scores the pool.
    steps : int
        Number of points to pick.
    replace : bool
        Whether a point may be picked again.
    watch : callable, optional
        Called at every step as ``watch(i, scores)`` with the row and the scores (m,) of all points.
    report : callable, optional
        Called after every step as ``report(done, steps)``.

    Returns
    -------
    list of int
        The rows, in the order they were picked.
    """
    allowed = np.ones(len(scorer.problem.X), dtype=bool)
    rows = []
    for step in range(steps):
        # 1. The matrices of this step.
        W1, W2 = rule.weights()
        # 2. One pass over the pool: the allowed point with the largest score.
        i, score = scorer.best(W1, W2, allowed, rule.ratio)
        if watch is not None:
            watch(i, scorer.all(W1, W2))
        # 3. Take it in.
        rows.append(i)
        allowed[i] = replace
        rule.add(i, score)
        if report is not None:
            report(step + 1, steps)
    return rows
