"""From a scikit-learn model to the ``theta`` that firal works with."""

from __future__ import annotations

import numpy as np

from firal.logistic import softmax

AGREEMENT = 1e-6  # largest difference of probabilities that counts as the same model


def theta_from_sklearn(model):
    """``theta`` of a fitted logistic regression, with class ``model.classes_[-1]`` as reference.

    model: a fitted ``sklearn.linear_model.LogisticRegression``, or any other that has ``coef_``,
    ``intercept_``, ``classes_`` and probabilities that are the softmax of its linear scores.
    Returns (c-1, d), or (c-1, d+1) if the model has an intercept: then the last column belongs to
    it, and points need a 1 appended, ``numpy.column_stack([X, numpy.ones(len(X))])``.

    With scores w_k . x + a_k, only differences to the last class matter: row k of theta is
    (w_k - w_c, a_k - a_c). A model of two classes keeps one row, the score of the second class
    against the first: theta is minus that row.

    ValueError if the model's own ``predict_proba`` says otherwise, as with one-vs-rest.
    """
    for part in ("coef_", "intercept_", "classes_", "predict_proba"):
        if not hasattr(model, part):
            hint = (
                ": pass its last step, and the features after the steps before it"
                if hasattr(model, "steps")
                else ": is it fitted?"
            )
            raise ValueError(
                "model must be a fitted logistic regression with coef_, intercept_, classes_ and "
                f"predict_proba, got {type(model).__name__} without {part}{hint}"
            )
    w = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    if getattr(model, "fit_intercept", True):
        a = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), len(w))
        w = np.column_stack([w, a])
    theta = -w if len(model.classes_) == 2 else w[:-1] - w[-1]
    _require_same_probabilities(model, theta)
    return theta


def _require_same_probabilities(model, theta):
    """Compare with ``predict_proba`` at a few points where the classes compete."""
    d = np.atleast_2d(model.coef_).shape[1]
    points = np.random.default_rng(0).normal(size=(8, d))
    scale = np.abs(points @ theta[:, :d].T).max()
    points /= max(scale, 1e-12)  # logits of size 1, beside the intercept
    ones = np.ones((len(points), theta.shape[1] - d))
    ours = softmax(np.column_stack([points, ones]), theta)
    theirs = model.predict_proba(points)
    if ours.shape != theirs.shape or not np.abs(ours - theirs).max() <= AGREEMENT:
        raise ValueError(
            "model must have probabilities that are the softmax of its scores, got "
            f"{type(model).__name__} whose predict_proba differs: one-vs-rest? "
            "Use LogisticRegression with its default solver"
        )
