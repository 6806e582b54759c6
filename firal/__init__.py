"""FIRAL: active learning for multinomial logistic regression by the Fisher information ratio.

Features and labels in, the rows to label next out::

    batch = firal.next_batch(X, {0: "cat", 7: "dog"}, budget=10)
    batch.rows

The same by its parts::

    fit = firal.fit(X_labeled, y_labeled, n_classes, ridge=1e-3)
    selection = firal.select(pool, X_labeled, fit.theta, budget=10)
    selection.indices  # rows of the pool to label next
"""

# isort: off
from firal.common import start_up  # noqa: F401  first: Ctrl-C during all other imports
# isort: on

from firal.data.datasets import Pool, load_pool
from firal.data.embedding import spectral_embedding
from firal.information.fisher import fir, information, rho, sigma
from firal.information.risk import excess_risk
from firal.loop import active_learning
from firal.model.fitting import Fit, fit
from firal.model.from_sklearn import theta_from_sklearn
from firal.model.logistic import gradient, hessian, loss, probabilities
from firal.pipeline import Batch, next_batch
from firal.selection.bait import bait
from firal.selection.end_to_end import select
from firal.selection.fir_estimate import FirEstimate, estimate_fir
from firal.selection.ftrl import Selection, sparsify
from firal.selection.relaxation import Relaxation, relax
from firal.strategies import STRATEGIES

__version__ = "0.2.0"

__all__ = [
    "STRATEGIES",
    "ActiveLearner",
    "Batch",
    "FirEstimate",
    "Fit",
    "Pool",
    "Relaxation",
    "Selection",
    "active_learning",
    "bait",
    "estimate_fir",
    "excess_risk",
    "fir",
    "fit",
    "gradient",
    "hessian",
    "information",
    "load_pool",
    "loss",
    "next_batch",
    "probabilities",
    "relax",
    "rho",
    "select",
    "sigma",
    "sparsify",
    "spectral_embedding",
    "theta_from_sklearn",
]


def __getattr__(name):
    """The estimator, when it is asked for: scikit-learn's base class may load pandas."""
    if name == "ActiveLearner":
        from firal.learner import ActiveLearner

        return ActiveLearner
    raise AttributeError(f"module 'firal' has no attribute {name!r}")
