"""Prepared problems for the tests of this folder."""

import numpy as np

from firal.selection.problem import prepare_problem


def prepared(seed, m, d, c, spread=2.0):
    """c Gaussian classes around random means; a large spread gives soft probabilities."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(c, d))
    pool = means[rng.integers(c, size=m)] + rng.normal(size=(m, d))
    return prepare_problem(pool, means, (means[:-1] - means[-1]) / spread, 4), rng
