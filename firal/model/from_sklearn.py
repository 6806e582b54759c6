"""From a scikit-learn model to the ``theta`` that firal works with."""

from __future__ import annotations

import numpy as np

from firal.model.logistic import softmax

AGREEMENT = 1e-6  # largest difference of log-probabilities that counts as the same model
SMALLEST = 1e-100  # probabilities below count as equal: they may underflow


def theta_from_sklearn(model: object) -> np.ndarray:
    """Read ``theta`` from a fitted scikit-learn logistic regression.

    Parameters
    ----------
    model : sklearn.linear_model.LogisticRegression
        A fitted model, or any other that has ``coef_``, ``intercept_``, ``classes_`` and a
        ``predict_proba`` that is the softmax of its linear scores.

    Returns
    -------
    ndarray of shape (c-1, d) or (c-1, d+1)
        The reference class is ``model.classes_[-1]``. If the model has an intercept, the last
        column belongs to it, and points need a 1 appended:
        ``numpy.column_stack([X, numpy.ones(len(X))])``.

    Raises
    ------
    ValueError
        If the model is not fitted, is not a logistic regression, or if its own ``predict_proba``
        is not the softmax of its scores, as with one-vs-rest.

    Notes
    -----
    With scores ``w_k . x + a_k``, only differences to the last class matter: row k of theta is
    ``(w_k - w_c, a_k - a_c)``. A model of two classes keeps one row, the score of the second class
    against the first: theta is minus that row. The chapter *Use it on your own pool* has a complete
    example.

    Examples
    --------
    >>> import numpy as np
    >>> import firal
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = LogisticRegression().fit(X, ["no", "yes", "no", "yes"])
    >>> theta = firal.theta_from_sklearn(model)
    >>> p = firal.probabilities(np.column_stack([X, np.ones(4)]), theta)
    >>> np.allclose(p, model.predict_proba(X))
    True
    """
    for part in ("coef_", "intercept_", "classes_", "predict_proba"):
        if not hasattr(model, part):
            raise ValueError(
                "model must be a fitted logistic regression with coef_, intercept_, classes_ and "
                f"predict_proba, got {type(model).__name__} without {part}: {_advice(model)}"
            )
    w = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    if getattr(model, "fit_intercept", True):
        a = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), len(w))
        w = np.column_stack([w, a])
    theta = -w if len(model.classes_) == 2 else w[:-1] - w[-1]
    _require_same_probabilities(model, theta)
    return theta


def _advice(model):
    """What to pass in place of a model that is not a fitted logistic regression."""
    if hasattr(model, "steps"):
        return "pass its last step, and the features after the steps before it"
    if hasattr(model, "best_estimator_"):
        return "pass its best_estimator_"
    # scikit-learn's convention: fitting sets attributes that end with an underscore
    fitted = any(name.endswith("_") for name in getattr(model, "__dict__", ()))
    if hasattr(model, "fit") and not fitted:
        return "it is not fitted; call its fit method first"
    return "fit a sklearn.linear_model.LogisticRegression to the same data and pass that"


def _require_same_probabilities(model, theta):
    """Compare the logarithms of both probabilities at points where the scores are moderate."""
    d = np.atleast_2d(model.coef_).shape[1]
    points = _probes(np.atleast_2d(model.coef_), np.ravel(model.intercept_))
    ones = np.ones((len(points), theta.shape[1] - d))
    ours = softmax(np.column_stack([points, ones]), theta)
    theirs = np.asarray(model.predict_proba(points))
    if ours.shape != theirs.shape or not _log_distance(ours, theirs) <= AGREEMENT:
        raise ValueError(
            "model must have probabilities that are the softmax of its scores, got "
            f"{type(model).__name__} whose predict_proba differs: one-vs-rest? "
            "Use LogisticRegression with its default solver"
        )


def _probes(weights, intercept):
    """Points where the scores themselves, not only their differences, are between -1 and 3.

    One-vs-rest makes probabilities proportional to 1 / (1 + exp(-score)). Where all scores are
    far below 0 that is exp(score), the softmax. So some score must be above. With fewer features
    than classes not all scores can be chosen; then each class has a point where its score is 1.
    """
    weights = np.asarray(weights, dtype=np.float64)
    wanted = np.random.default_rng(0).uniform(-1, 3, size=(8, len(weights)))
    together = (wanted - intercept) @ np.linalg.pinv(weights, rcond=1e-10).T
    squares = np.sum(weights**2, axis=1, keepdims=True)
    apart = (1 - intercept)[:, None] * weights / np.where(squares > 0, squares, 1)
    return np.vstack([together, apart])


def _log_distance(p, q):
    """Largest difference of two logarithms of probabilities."""
    p, q = (np.log(np.maximum(values, SMALLEST)) for values in (p, q))
    return np.abs(p - q).max()
