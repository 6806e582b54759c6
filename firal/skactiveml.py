"""FIRAL and BAIT as query strategies of scikit-activeml, an optional dependency.

    from firal.skactiveml import FIRAL
    strategy = FIRAL(random_state=0)
    rows = strategy.query(X, y, clf, batch_size=10)     # y holds missing labels

**The model.** Both strategies measure information in a multinomial logistic regression. If ``clf``
is a ``SklearnClassifier`` around scikit-learn's ``LogisticRegression``, or around a pipeline that
ends in one, that model is used: its coefficients, and the features as its last step sees them.
Any other classifier is only asked for its classes, and a regression is fitted here to the labeled
points: columns standardized over X, a column of ones appended, ``ridge`` as in ``firal.fit``.

**The pool** is the candidates: the new labels are to serve them, and the picks are among them.

**Cold start.** No label yet, or labels of one class only: there is no model, and the points nearest
to the centers of ``batch_size`` clusters (K-means on standardized columns) are picked, with a
warning. Nothing else is random.

**Utilities.** Row t holds the worth of every candidate when pick t was made, largest at the pick,
NaN at points that are labeled, no candidates, or picked in an earlier row. FIRAL: the gain in the
bound of Proposition 8. BAIT: the decrease of F(S) in the forward step that added the pick; a point
of S that the backward steps removed later has 0 there, since S has it already. Cold start:
minus the distance to center t.
"""

from __future__ import annotations

import warnings
from copy import deepcopy

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from firal.common import checks
from firal.loop import RIDGE
from firal.model.fitting import fit
from firal.model.from_sklearn import theta_from_sklearn
from firal.selection.bait import bait
from firal.selection.end_to_end import select
from firal.selection.ftrl import sparsify
from firal.strategies import cluster_centers, nearest_distinct

try:
    from skactiveml.base import SingleAnnotatorPoolQueryStrategy, SkactivemlClassifier
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.utils import (
        MISSING_LABEL,
        ExtLabelEncoder,
        check_equal_missing_label,
        check_scalar,
        check_type,
        is_labeled,
    )
except ImportError as error:
    raise ImportError(
        "firal.skactiveml needs scikit-activeml: pip install 'scikit-activeml>=1.0,<1.1'"
    ) from error


class _InformationStrategy(SingleAnnotatorPoolQueryStrategy):
    """What FIRAL and BAIT share: everything but ``_pick``."""

    def query(
        self,
        X,
        y,
        clf,
        fit_clf=True,
        candidates=None,
        batch_size=1,
        return_utilities=False,
    ):
        """Rows to label next, and if asked for their utilities.

        X (n, d), y (n,) labels or ``missing_label``; clf a ``SkactivemlClassifier``, left as it is.
        ``fit_clf=False`` takes its logistic regression as it has been fitted; True fits a copy to
        the labeled points. ``candidates``: None for the unlabeled rows of X, or some of these rows,
        or new samples (m, d). A batch larger than the pool is cut, with a warning.

        Returns (batch_size,) rows of X, or of ``candidates`` if these are samples; and with
        ``return_utilities=True`` also (batch_size, n) or (batch_size, m) utilities.
        """
        X, y, candidates, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, check_X_dict={"dtype": np.float64}
        )
        checks.points(X)
        _refuse_negative_rows(candidates)
        check_type(clf, "clf", SkactivemlClassifier)
        check_equal_missing_label(clf.missing_label, self.missing_label_)
        check_scalar(fit_clf, "fit_clf", bool)
        checks.number(self.ridge, "ridge", 0)
        pool, rows = self._transform_candidates(candidates, X, y, allow_only_unlabeled=True)
        width = len(X)
        if rows is None:
            width, rows = len(pool), np.arange(len(pool))
        if batch_size == 0:  # nothing left to pick: the base class has warned
            picks, worth = np.empty(0, dtype=int), np.empty((0, len(pool)))
        else:
            picks, worth = self._batch(X, y, clf, fit_clf, pool, batch_size, return_utilities)
        if not return_utilities:
            return rows[picks]
        utilities = np.full((batch_size, width), np.nan)
        utilities[:, rows] = _largest_at_pick(worth, picks)
        return rows[picks], utilities

    def _batch(self, X, y, clf, fit_clf, pool, batch_size, with_worth):
        """Rows of the pool, and (batch_size, m) what every point was worth, if asked for."""
        known = is_labeled(y, self.missing_label_)
        model = _model(X, y, known, clf, fit_clf, self.missing_label_, self.ridge)
        if model is None:
            seen = "no label yet" if not known.any() else "labels of one class only"
            warnings.warn(
                f"{seen}, so there is no model: this batch is chosen by K-means", stacklevel=3
            )
            rng = np.random.default_rng(self.random_state_.randint(2**31 - 1))
            return _cold_start(pool, batch_size, rng)
        features, theta = model
        labeled = features(X[known]) if known.any() else None
        return self._pick(features(pool), labeled, theta, batch_size, with_worth)


class FIRAL(_InformationStrategy):
    """Query strategy: Algorithm 1 of the FIRAL paper, :func:`firal.select`.

    ``eta``: None for the best of a grid, "theory", or a positive number, as in ``firal.select``.
    ``ridge`` > 0: penalty of the regression, used only if ``clf`` is not a logistic regression.
    ``missing_label``, ``random_state``: as everywhere in scikit-activeml; the latter decides
    nothing but the cold start.
    """

    def __init__(self, eta=None, ridge=RIDGE, missing_label=MISSING_LABEL, random_state=None):
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.eta = eta
        self.ridge = ridge

    def _pick(self, pool, labeled, theta, budget, with_worth):
        best = select(pool, labeled, theta, budget, eta=self.eta)
        if not with_worth:
            return best.indices, None
        steps = []
        sparsify(  # the best run of ``select`` once more, now watched
            pool,
            labeled,
            theta,
            best.relaxation.z,
            budget,
            best.eta,
            watch=lambda row, gains: steps.append(gains),
        )
        return best.indices, np.array(steps)


class BAIT(_InformationStrategy):
    """Query strategy: greedy forward and backward steps, :func:`firal.selection.bait.bait`.

    ``prior`` > 0: weight of the pool's mean information, as in ``firal.bait``. ``ridge`` > 0:
    penalty of the regression, used only if ``clf`` is not a logistic regression.
    ``missing_label``, ``random_state``: as everywhere in scikit-activeml; the latter decides
    nothing but the cold start.
    """

    def __init__(self, prior=1.0, ridge=RIDGE, missing_label=MISSING_LABEL, random_state=None):
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.prior = prior
        self.ridge = ridge

    def _pick(self, pool, labeled, theta, budget, with_worth):
        if not with_worth:
            return bait(pool, labeled, theta, budget, prior=self.prior), None
        added, steps = [], []

        def watch(row, decrease):
            decrease[added] = 0.0  # adding a point of the set again leaves the set as it is
            added.append(row)
            steps.append(decrease)

        picks = bait(pool, labeled, theta, budget, prior=self.prior, watch=watch)
        return picks, np.array([steps[added.index(row)] for row in picks])


def _refuse_negative_rows(candidates):
    """They would count from the end, and come back as other rows."""
    if candidates is not None and candidates.ndim == 1 and np.min(candidates, initial=0) < 0:
        raise ValueError(f"candidates must be rows >= 0 of X, got {np.min(candidates)}")


def _model(X, y, known, clf, fit_clf, missing_label, ridge):
    """(function from samples to features, theta), or None if there is no model."""
    codes = np.empty(0, dtype=int)
    if known.any():
        encoder = ExtLabelEncoder(classes=clf.classes, missing_label=missing_label)
        codes = encoder.fit_transform(y)[known]
    enough = len(np.unique(codes)) >= 2
    if _has_logistic_regression(clf) and (enough or not fit_clf):
        # a copy even without a fit: asking whether it is fitted may change it
        clf = clone(clf).fit(X, y) if fit_clf else deepcopy(clf)
        check_is_fitted(clf)
        if clf.is_fitted_:  # if not, scikit-activeml has warned, and fits nothing
            return _their_fit(clf.estimator_)
    return _own_fit(X, known, codes, len(encoder.classes_), ridge) if enough else None


def _has_logistic_regression(clf):
    """Is it a wrapper of a LogisticRegression, or of a pipeline that ends in one?"""
    if not isinstance(clf, SklearnClassifier):
        return False
    model = clf.estimator[-1] if isinstance(clf.estimator, Pipeline) else clf.estimator
    return isinstance(model, LogisticRegression)


def _their_fit(model):
    """The features are what the last step of a pipeline sees, and a 1 if it has an intercept."""
    steps = []
    if isinstance(model, Pipeline):
        steps, model = model[:-1], model[-1]
    theta = theta_from_sklearn(model)

    def features(samples):
        Z = np.asarray(steps.transform(samples), dtype=np.float64) if len(steps) else samples
        return np.column_stack([Z, np.ones((len(Z), theta.shape[1] - Z.shape[1]))])

    return features, theta


def _own_fit(X, known, codes, n_classes, ridge):
    """Ridge regression on the labeled points: standardized columns and a column of ones."""
    mean, deviation = _moments(X)

    def features(samples):
        return np.column_stack([(samples - mean) / deviation, np.ones(len(samples))])

    return features, fit(features(X[known]), codes, n_classes, ridge).theta


def _cold_start(pool, batch_size, rng):
    """The points nearest to cluster centers, and minus the distance of every point to each."""
    mean, deviation = _moments(pool)
    Z = (pool - mean) / deviation
    centers = cluster_centers(Z, batch_size, rng)
    worth = np.array([-np.linalg.norm(Z - center, axis=1) for center in centers])
    return nearest_distinct(Z, centers), worth


def _moments(X):
    """Mean and standard deviation of every column; 1 for the deviation of a constant one."""
    deviation = X.std(axis=0)
    return X.mean(axis=0), np.where(deviation > 0, deviation, 1.0)


def _largest_at_pick(worth, picks):
    """NaN at what earlier rows picked; among equals to rounding, the pick becomes the largest."""
    worth = np.array(worth, dtype=np.float64)
    for step, row in enumerate(picks):
        worth[step, picks[:step]] = np.nan
        if np.nanargmax(worth[step]) != row:
            worth[step, row] = np.nextafter(np.nanmax(worth[step]), np.inf)
    return worth
