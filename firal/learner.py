"""An active learner in the habit of scikit-learn: fit, query, teach, predict.

The estimator is the path of :func:`firal.next_batch` with a memory for the labeled points: scaling,
intercept and penalty are inside, and labels may be words. It works from the first label on, and
before it. Any pipeline step may come before it, and ``score``, ``cross_val_score`` and
``GridSearchCV`` see a classifier like any other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from firal.common.rounds import optional_rows
from firal.engine.scaling import feature_map
from firal.model.fitting import fit
from firal.model.logistic import softmax
from firal.pipeline import DEFAULT, RIDGE, Batch, next_batch
from firal.selection import penalized

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6

    def validate_data(estimator, *data, **options):
        """Check data, and keep the number and names of their columns."""
        return estimator._validate_data(*data, **options)


class ActiveLearner(ClassifierMixin, BaseEstimator):
    """Logistic regression that says which points to label next.

    Parameters
    ----------
    strategy : str or function, default "firal-ridge"
        As in :func:`firal.next_batch`.
    ridge : float, optional
        Penalty of the fit; by default 0.01 for "firal-ridge" and 0.001 for the others.
    standardize, robust, pca, intercept
        How columns become features, as in :func:`firal.next_batch`.
    random_state : int, default 0
        Seed; it advances with the number of labels.

    Attributes
    ----------
    classes_ : np.ndarray of shape (c,)
        The classes among the labels, sorted.
    theta_ : np.ndarray of shape (c-1, r)
        Parameters of the model; the last class is the reference.
    batch_ : Batch
        What the last ``query`` knows about its picks, with the certificate.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    The scale of the columns is that of all points of the last ``query``, labeled or not; without
    one it is that of the labeled points.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> import firal
    >>> pool, answers = load_wine(return_X_y=True)
    >>> names = np.array(["red", "white", "rose"])[answers]
    >>> learner = firal.ActiveLearner()
    >>> for _ in range(3):
    ...     rows = learner.query(pool, 8)
    ...     _ = learner.teach(pool[rows], names[rows])  # ask your annotators
    ...     pool, names = np.delete(pool, rows, axis=0), np.delete(names, rows)
    >>> learner.score(pool, names) > 0.9
    True
    """

    def __init__(
        self,
        strategy: str | Callable = DEFAULT,
        ridge: float | None = None,
        standardize: bool = True,
        robust: bool | None = None,
        pca: int | None = None,
        intercept: bool = True,
        random_state: int = 0,
    ) -> None:
        self.strategy = strategy
        self.ridge = ridge
        self.standardize = standardize
        self.robust = robust
        self.pca = pca
        self.intercept = intercept
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> ActiveLearner:
        """Fit the model to labeled points, and forget all earlier ones.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Labeled points.
        y : array_like of shape (n,)
            Their labels.

        Returns
        -------
        ActiveLearner
            Itself.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.X_, self.y_ = X, y
        self.map_ = self._map(X)
        return self._refit()

    def teach(self, X: ArrayLike, y: ArrayLike) -> ActiveLearner:
        """Add labeled points, and fit the model to all of them.

        Parameters
        ----------
        X : array_like of shape (n, d)
            New points, usually those that ``query`` picked.
        y : array_like of shape (n,)
            Their labels.

        Returns
        -------
        ActiveLearner
            Itself.
        """
        if not hasattr(self, "X_"):
            mapped = getattr(self, "map_", None)
            self.fit(X, y)
            if mapped is not None:  # of the pool, which says more about the columns
                self.map_ = mapped
                self._refit()
            return self
        X, y = validate_data(self, X, y, dtype=np.float64, reset=False)
        check_classification_targets(y)
        self.X_, self.y_ = np.vstack([self.X_, X]), np.concatenate([self.y_, y])
        return self._refit()

    def query(
        self, pool: ArrayLike, budget: int = 1, *, pending: ArrayLike | None = None
    ) -> np.ndarray:
        """Pick the points of a pool to label next.

        Parameters
        ----------
        pool : array_like of shape (m, d)
            Points without a label. The learner may have none yet.
        budget : int, default 1
            How many.
        pending : array_like of int, optional
            Rows of the pool that were picked before and wait for a label.

        Returns
        -------
        np.ndarray of shape (budget,)
            Rows of the pool.

        Raises
        ------
        ValueError
            As in :func:`firal.next_batch`.
        """
        fresh = not hasattr(self, "X_")
        pool = validate_data(self, pool, dtype=np.float64, reset=fresh)
        known = np.empty((0, pool.shape[1])) if fresh else self.X_
        table = np.vstack([known, pool])
        # as codes: to next_batch a class that is called "nan" or "" would be no label
        classes, codes = ((), []) if fresh else np.unique(self.y_, return_inverse=True)
        n0 = len(known)
        batch = next_batch(
            table,
            dict(enumerate(codes)),
            budget,
            strategy=self.strategy,
            ridge=self.ridge,
            standardize=self.standardize,
            robust=self.robust,
            pca=self.pca,
            intercept=self.intercept,
            pending=optional_rows(pending, len(pool), "pending") + n0,
            rng=self.random_state,
        )
        self.batch_: Batch = batch._replace(classes=tuple(classes))
        self.map_ = self._map(table)
        if not fresh:
            self._refit()
        return self.batch_.rows - n0

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Points.

        Returns
        -------
        np.ndarray of shape (n, c)
            In the order of ``classes_``.
        """
        check_is_fitted(self, "classes_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self.theta_ is None:  # one class
            return np.ones((len(X), 1))
        return softmax(self.map_.apply(X), self.theta_)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Most probable classes.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Points.

        Returns
        -------
        np.ndarray of shape (n,)
            Labels.
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def _map(self, X):
        return feature_map(
            X,
            standardize=self.standardize,
            robust=self.standardize if self.robust is None else self.robust,
            pca=self.pca,
            intercept=self.intercept,
        )

    def _refit(self):
        self.classes_, codes = np.unique(self.y_, return_inverse=True)
        ridge = self.ridge
        if ridge is None:
            ridge = penalized.RIDGE if self.strategy == DEFAULT else RIDGE
        self.theta_ = None
        if len(self.classes_) > 1:
            Z = self.map_.apply(self.X_)
            self.theta_ = fit(Z, codes, len(self.classes_), ridge, penalty="symmetric").theta
        return self
