"""The logistic regression inside a classifier of scikit-activeml: its features and its theta."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from firal.model.from_sklearn import theta_from_sklearn


def is_logistic_regression(estimator: Any) -> bool:
    """Tell whether it is a LogisticRegression, or a pipeline that ends in one.

    Parameters
    ----------
    estimator : object
        What a ``SklearnClassifier`` wraps.

    Returns
    -------
    bool
        False for anything else, None included.
    """
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    return isinstance(model, LogisticRegression)


def features_and_theta(
    X: np.ndarray, y: np.ndarray, clf: Any, fit_clf: bool
) -> tuple[Callable, np.ndarray] | None:
    """Features and parameters of the logistic regression in a classifier.

    Parameters
    ----------
    X : np.ndarray of shape (n, d)
        Samples.
    y : np.ndarray of shape (n,)
        Labels, some of them missing.
    clf : skactiveml.classifier.SklearnClassifier
        Around a logistic regression, or a pipeline that ends in one.
    fit_clf : bool
        Whether to fit it.

    Returns
    -------
    features : callable
        From samples to what the last step of a pipeline sees, and a 1 if it has an intercept.
    theta : np.ndarray of shape (c-1, r)
        Parameters. The whole result is None if the classifier cannot be fitted.
    """
    # a copy even without a fit: asking whether it is fitted may change it
    clf = clone(clf).fit(X, y) if fit_clf else deepcopy(clf)
    check_is_fitted(clf)
    if not clf.is_fitted_:  # scikit-activeml has warned, and fits nothing
        return None
    steps, model = [], clf.estimator_
    if isinstance(model, Pipeline):
        steps, model = model[:-1], model[-1]
    theta = theta_from_sklearn(model)

    def features(samples):
        Z = np.asarray(steps.transform(samples), dtype=np.float64) if len(steps) else samples
        return np.column_stack([Z, np.ones((len(Z), theta.shape[1] - Z.shape[1]))])

    return features, theta
