"""Synthetic designs: where points and labels come from, and the true parameter.

Points have one of three distributions with a mean and a scale matrix. The chapter *Synthetic
experiments* uses them; ``firal.theory.transforms`` makes q from p.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from firal.common import checks
from firal.model.logistic import softmax


def gaussian(n: int, mean: ArrayLike, scale: ArrayLike, rng: np.random.Generator) -> np.ndarray:
    """Draw points from the normal distribution N(mean, scale).

    Parameters
    ----------
    n : int
        Number of points.
    mean : array_like of shape (d,)
        Mean.
    scale : array_like of shape (d, d)
        Covariance, positive semidefinite.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n, d)
        Points.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is not finite, or the scale is not positive semidefinite.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.theory import designs
    >>> designs.gaussian(5, [0.0, 0.0], np.eye(2), np.random.default_rng(0)).shape
    (5, 2)
    """
    mean, root = _location_and_root(n, mean, scale, rng)
    return mean + rng.standard_normal((n, mean.size)) @ root.T


def laplace(n: int, mean: ArrayLike, scale: ArrayLike, rng: np.random.Generator) -> np.ndarray:
    """Draw points from the symmetric multivariate Laplace distribution.

    Parameters
    ----------
    n : int
        Number of points.
    mean : array_like of shape (d,)
        Mean.
    scale : array_like of shape (d, d)
        Covariance, positive semidefinite.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n, d)
        Points.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is not finite, or the scale is not positive semidefinite.

    Notes
    -----
    A normal vector times the square root of an independent standard exponential variable; its
    one-dimensional marginals are Laplace. Sub-exponential, not sub-Gaussian.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.theory import designs
    >>> designs.laplace(5, [0.0, 0.0], np.eye(2), np.random.default_rng(0)).shape
    (5, 2)
    """
    mean, root = _location_and_root(n, mean, scale, rng)
    z = rng.standard_normal((n, mean.size)) @ root.T
    return mean + np.sqrt(rng.standard_exponential((n, 1))) * z


def student_t(
    n: int, mean: ArrayLike, scale: ArrayLike, rng: np.random.Generator, df: float
) -> np.ndarray:
    """Draw points from the multivariate t distribution.

    Parameters
    ----------
    n : int
        Number of points.
    mean : array_like of shape (d,)
        Mean.
    scale : array_like of shape (d, d)
        Scale matrix, positive semidefinite; not the covariance.
    rng : numpy.random.Generator
        Source of randomness.
    df : float
        Degrees of freedom, positive.

    Returns
    -------
    ndarray of shape (n, d)
        Points.

    Raises
    ------
    ValueError
        If the shapes disagree, a value is not finite, or the scale is not positive semidefinite.

    Notes
    -----
    The covariance is ``df / (df - 2) * scale``; it needs df > 2.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.theory import designs
    >>> designs.student_t(5, [0.0, 0.0], np.eye(2), np.random.default_rng(0), df=4).shape
    (5, 2)
    """
    mean, root = _location_and_root(n, mean, scale, rng)
    df = checks.number(df, "df", 0)
    z = rng.standard_normal((n, mean.size)) @ root.T
    return mean + z * np.sqrt(df / rng.chisquare(df, (n, 1)))


def draw_labels(X: ArrayLike, theta: ArrayLike, rng: np.random.Generator) -> np.ndarray:
    """Draw one label per point from ``p(y | x, theta)``.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Points.
    theta : array_like of shape (c-1, d)
        Parameters.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n,)
        Labels, integers 0..c-1.

    Raises
    ------
    ValueError
        If the shapes disagree or a value is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from firal.theory import designs
    >>> designs.draw_labels([[50.0], [-50.0]], [[1.0]], np.random.default_rng(0))
    array([0, 1])
    """
    X = checks.points(X)
    theta = checks.parameters(theta, X.shape[1])
    checks.generator(rng)
    cumulative = np.cumsum(softmax(X, theta), axis=1)
    y = (cumulative < rng.random((X.shape[0], 1))).sum(axis=1)
    return np.minimum(y, len(theta))  # the last sum may be below 1 by rounding


def simplex_theta(c: int, d: int) -> np.ndarray:
    """Make a theta with rows of length 1 that treats all classes alike.

    Parameters
    ----------
    c : int
        Number of classes.
    d : int
        Number of features, at least c-1.

    Returns
    -------
    ndarray of shape (c-1, d)
        Rows of length 1.

    Raises
    ------
    ValueError
        If d is below c-1.

    Notes
    -----
    The rows and the origin (the reference class) are the corners of a regular simplex with edge 1,
    in the first c-1 coordinates. Permuting classes is then a rotation or reflection of the points.
    So every class has probability exactly 1/c under any p that these leave unchanged, such as
    N(0, I).

    Examples
    --------
    >>> from firal.theory import designs
    >>> designs.simplex_theta(3, 4).round(3)
    array([[1.   , 0.   , 0.   , 0.   ],
           [0.5  , 0.866, 0.   , 0.   ]])
    """
    c = checks.integer(c, "c", 2)
    d = checks.integer(d, "d", 1)
    if d < c - 1:
        raise ValueError(
            f"a regular simplex of c={c} classes needs d >= {c - 1} coordinates, got d={d}"
        )
    theta = np.zeros((c - 1, d))
    # unit vectors with inner products 1/2: all distances, also to the origin, are 1
    theta[:, : c - 1] = np.linalg.cholesky((np.eye(c - 1) + 1) / 2)
    return theta


def _location_and_root(n, mean, scale, rng):
    """Checked mean, and R with ``R R^T = scale``."""
    checks.integer(n, "n", 1)
    checks.generator(rng)
    mean = checks.floats(mean, "mean").astype(np.float64, copy=False)
    if mean.ndim != 1 or mean.size == 0:
        raise ValueError(f"mean must have shape (d,), got shape {mean.shape}")
    scale = checks.symmetric(scale, "scale", mean.size).astype(np.float64, copy=False)
    eigenvalues, vectors = np.linalg.eigh(scale)
    if eigenvalues[0] < -1e-12 * max(eigenvalues[-1], 0.0) or eigenvalues[-1] < 0:
        raise ValueError(
            f"scale must be positive semidefinite, got an eigenvalue of {eigenvalues[0]:.3g}"
        )
    return mean, vectors * np.sqrt(np.maximum(eigenvalues, 0))
