"""What the query strategies for scikit-activeml share: candidates, the model, a cold start."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.common.own_theta import own_theta
from firal.common.rounds import round_generator, same_columns
from firal.engine.scaling import feature_map
from firal.model.fitting import fit
from firal.pipeline import why_no_model
from firal.skactiveml_models import features_and_theta, is_logistic_regression
from firal.skactiveml_utilities import cold_start, largest_at_pick

try:
    from skactiveml.base import SingleAnnotatorPoolQueryStrategy, SkactivemlClassifier
    from skactiveml.utils import (
        MISSING_LABEL,  # noqa: F401  (the strategies take it from here, behind this message)
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


class InformationStrategy(SingleAnnotatorPoolQueryStrategy):
    """What all strategies share: everything but ``_pick``.

    Parameters
    ----------
    missing_label : object
        What stands in y for no label.
    random_state : int or RandomState, optional
        Source of randomness.
    """

    _needs_no_labels = False

    def _fit(self, labeled, codes, n_classes, budget):
        return fit(labeled, codes, n_classes, self.ridge).theta

    def query(
        self,
        X: ArrayLike,
        y: ArrayLike,
        clf: SkactivemlClassifier,
        fit_clf: bool = True,
        candidates: ArrayLike | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Pick the samples to label next.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Samples, with or without a label.
        y : array_like of shape (n,)
            Labels, ``missing_label`` where there is none.
        clf : SkactivemlClassifier
            The classifier to be trained; it is left as it is.
        fit_clf : bool, default True
            Fit a copy of ``clf`` to the labeled samples. False takes its logistic regression as it
            has been fitted.
        candidates : array_like, optional
            None for the unlabeled rows of X; or some of these rows; or new samples of shape (m, d).
        batch_size : int, default 1
            Number of samples to pick. A batch larger than the pool is cut, with a warning.
        return_utilities : bool, default False
            Return the utilities too.

        Returns
        -------
        rows : np.ndarray of shape (batch_size,)
            Rows of X, or of ``candidates`` if these are samples.
        utilities : np.ndarray of shape (batch_size, n) or (batch_size, m)
            Only if asked for.

        Raises
        ------
        ValueError
            If a value is not finite, a candidate has a label, or a setting is out of range.

        Examples
        --------
        >>> import numpy as np
        >>> from firal.skactiveml import BAIT, FIRAL
        >>> from skactiveml.classifier import ParzenWindowClassifier
        >>> X = np.array([[0.0], [1.0], [5.0], [6.0], [9.0]])
        >>> y = np.array([0, np.nan, 1, np.nan, np.nan])
        >>> clf = ParzenWindowClassifier(classes=[0, 1])
        >>> FIRAL().query(X, y, clf).tolist(), BAIT().query(X, y, clf).tolist()
        ([1], [1])
        """
        same_columns(X, candidates, ("X", "candidates"))
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
        width, table = len(X), X
        if rows is None:  # the candidates are samples of their own
            width, table, rows = len(pool), pool, np.arange(len(pool))
        if batch_size == 0:  # nothing left to pick: the base class has warned
            picks, worth = np.empty(0, dtype=int), np.empty((0, len(pool)))
        else:
            model = self._model(X, y, clf, fit_clf, batch_size)
            if model is None:
                Z = feature_map(table, robust=True).apply(pool)
                picks, worth = cold_start(Z, batch_size, self._generator(y))
            else:
                with own_theta():
                    picks, worth = self._pick(model, pool, batch_size, return_utilities, y)
        if not return_utilities:
            return rows[picks]
        utilities = np.full((batch_size, width), np.nan)
        utilities[:, rows] = largest_at_pick(worth, picks)
        return rows[picks], utilities

    def _generator(self, y):
        """Of a seed the generator that ``firal.next_batch`` would have; else one drawn."""
        seed = self.random_state
        if not isinstance(seed, Integral):
            return np.random.default_rng(self.random_state_.randint(2**31 - 1))
        return round_generator(int(seed), int(is_labeled(y, self.missing_label_).sum()))

    def _model(self, X, y, clf, fit_clf, batch_size):
        """The model to use; None, with a warning, if the labels are not enough for one."""
        known = is_labeled(y, self.missing_label_)
        codes, n_classes = _codes(y, known, clf, self.missing_label_)
        reason = why_no_model(codes)
        found = None
        wrapped = getattr(clf, "estimator", None)  # of a SklearnClassifier
        if is_logistic_regression(wrapped) and (reason is None or not fit_clf):
            found = features_and_theta(X, y, clf, fit_clf)
        if found is None and reason is not None and not self._needs_no_labels:
            warnings.warn(f"{reason}, so there is no model: K-means picks this batch", stacklevel=3)
            return None
        if found is None:
            features, theta = feature_map(X, robust=True).apply, None
            if reason is None:
                theta = self._fit(features(X[known]), codes, n_classes, batch_size)
            found = features, theta
        features, theta = found
        return Model(features, features(X[known]) if known.any() else None, theta)


class Model(NamedTuple):
    """A logistic regression, and how its features are made.

    Attributes
    ----------
    features : callable
        From samples to features.
    labeled : np.ndarray of shape (n0, r) or None
        Features of the labeled samples.
    theta : np.ndarray of shape (c-1, r) or None
        Its parameters; None: no labels of two classes yet.
    """

    features: Callable
    labeled: np.ndarray | None
    theta: np.ndarray | None


def _refuse_negative_rows(candidates):
    """They would count from the end, and come back as other rows."""
    if candidates is not None and candidates.ndim == 1 and np.min(candidates, initial=0) < 0:
        raise ValueError(f"candidates must be rows >= 0 of X, got {np.min(candidates)}")


def _codes(y, known, clf, missing_label):
    """Labels of the known samples as 0..c-1, and c: the classes of ``clf``, or those that occur."""
    if not known.any():
        return np.empty(0, dtype=int), 0
    encoder = ExtLabelEncoder(classes=clf.classes, missing_label=missing_label)
    codes = encoder.fit_transform(y)[known]
    return codes, len(encoder.classes_)
