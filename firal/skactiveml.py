"""FIRAL, penalized or as in the paper, and BAIT as query strategies of scikit-activeml.

scikit-activeml is an optional dependency.

To pick ten points of X::

    from firal.skactiveml import FIRAL

    strategy = FIRAL(random_state=0)
    rows = strategy.query(X, y, clf, batch_size=10)  # y holds missing labels

**The model.** Both strategies measure information in a multinomial logistic regression. If ``clf``
is a ``SklearnClassifier`` around scikit-learn's ``LogisticRegression``, or around a pipeline that
ends in one, that model is used: its coefficients, and the features as its last step sees them.
Any other classifier is only asked for its classes. A regression is then fitted to the labeled
points as in :func:`firal.next_batch`, with the same picks: columns standardized over X and
heavy tails drawn in, a column of ones appended, ``ridge`` as there. An integer as ``random_state``
is the seed of ``next_batch(..., rng=random_state)``, which advances with the labels known.

**The pool** is the candidates: the new labels are to serve them, and the picks are among them.

**Cold start.** ``FIRAL`` needs no labels. The others have no model without labels of two classes:
the points nearest to the centers of ``batch_size`` clusters (K-means on standardized columns) are
picked then, with a warning.

**Utilities.** Row t holds the worth of every candidate when pick t was made: largest at the pick,
NaN at points that are labeled, are not candidates, or were picked in an earlier row.
``PaperFIRAL``: the gain in the bound of Proposition 8. ``FIRAL`` and ``BAIT``: the decrease of the
objective in the forward step that added the pick; a point that the backward steps removed later has
0 there, since the set has it already. Cold start by K-means: minus the distance to center t.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from firal.model.fitting import fit
from firal.pipeline import RIDGE
from firal.selection import penalized
from firal.selection.bait import bait
from firal.selection.end_to_end import select
from firal.skactiveml_base import MISSING_LABEL, InformationStrategy
from firal.skactiveml_utilities import watched


class FIRAL(InformationStrategy):
    """Query strategy: penalized FIRAL, the default of :func:`firal.next_batch`.

    Parameters
    ----------
    ridge : float
        Penalty of the regression, > 0; it takes part in the design.
    missing_label : object
        What stands in y for no label.
    random_state : int or RandomState, optional
        Of the clusters; nothing else is random.
    """

    _needs_no_labels = True

    def __init__(
        self,
        ridge: float = penalized.RIDGE,
        missing_label: Any = MISSING_LABEL,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.ridge = ridge

    def _fit(self, labeled, codes, n_classes, budget):
        ridge = penalized.fit_ridge(self.ridge, len(labeled), budget)
        return fit(labeled, codes, n_classes, ridge, penalty="symmetric").theta

    def _pick(self, model, samples, budget, with_worth, y):
        problem = model.features(samples), model.labeled, model.theta
        rng = self._generator(y)

        def run(watch):
            return penalized.select_penalized(
                *problem, budget, rng, ridge=self.ridge, watch=watch
            ).indices

        return watched(run, with_worth)


class PaperFIRAL(InformationStrategy):
    """Query strategy: Algorithm 1 of the FIRAL paper, :func:`firal.select`.

    Parameters
    ----------
    eta : float, "theory" or None
        As in ``firal.select``; None takes the best of a grid.
    ridge : float
        Penalty of the regression, > 0; used only if ``clf`` is not a logistic regression.
    missing_label : object
        What stands in y for no label.
    random_state : int or RandomState, optional
        Decides nothing but the cold start.
    """

    def __init__(
        self,
        eta: float | str | None = None,
        ridge: float = RIDGE,
        missing_label: Any = MISSING_LABEL,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.eta = eta
        self.ridge = ridge

    def _pick(self, model, samples, budget, with_worth, y):
        problem = model.features(samples), model.labeled, model.theta
        best = select(*problem, budget, eta=self.eta)
        if not with_worth:
            return best.indices, None
        steps = []
        # The best run once more, now watched. Points that were no candidates gained nothing.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said by the first run
            select(
                *problem,
                budget,
                eta=best.eta,
                watch=lambda row, gains: steps.append(np.nan_to_num(gains, nan=0.0)),
            )
        return best.indices, np.array(steps)


class BAIT(InformationStrategy):
    """Query strategy: greedy forward and backward steps, :func:`firal.selection.bait.bait`.

    Parameters
    ----------
    prior : float
        Weight of the pool's mean information, > 0, as in ``bait``.
    ridge : float
        Penalty of the regression, > 0; used only if ``clf`` is not a logistic regression.
    missing_label : object
        What stands in y for no label.
    random_state : int or RandomState, optional
        Decides nothing but the cold start.
    """

    def __init__(
        self,
        prior: float = 1.0,
        ridge: float = RIDGE,
        missing_label: Any = MISSING_LABEL,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.prior = prior
        self.ridge = ridge

    def _pick(self, model, samples, budget, with_worth, y):
        problem = model.features(samples), model.labeled, model.theta
        return watched(
            lambda watch: bait(*problem, budget, prior=self.prior, watch=watch), with_worth
        )
