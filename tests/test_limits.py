"""Numbers as arguments: the first valid and the first invalid one of every function that checks."""

import numpy as np
import pytest

import firal
from firal.engine.homes import as_home
from firal.engine.regression import fit_by_blocks
from firal.engine.scaling import feature_map
from firal.model.separation import separating_direction
from firal.selection.adaptive import adaptive_sparsify, best_level
from firal.selection.penalized import select_penalized
from firal.selection.swap import swap
from firal.theory import bounds, designs, gaussian_design, orlicz, transforms

RNG = np.random.default_rng(0)
X, Y, THETA, Z = (
    RNG.normal(size=(12, 2)),
    np.arange(12) % 2,
    np.full((1, 2), 0.3),
    np.full(12, 0.25),
)
SMALL, FREE = 1e-3, {"probes": 2, "confidence": 0.5}  # positive; others of the same call
ONE = dict(size=1, sigma=SMALL, delta=0.5)


def rng():
    return np.random.default_rng(1)


def fit(**options):
    return firal.fit(X, Y, **{"n_classes": 2, "ridge": 0.5} | options)


def estimate(**options):
    return firal.estimate_fir(X, X, THETA, rng(), rows=[0, 1, 2], ridge=0.1, **FREE | options)


def penalized(**options):
    return select_penalized(X, X[:3], THETA, rng=rng(), **{"budget": 3} | options)


def select(**options):
    return firal.select(X, X, THETA, **{"budget": 3} | options)


# (called with a number, the first valid ones, the first that are not)
LIMITS = {
    "fit n_classes": (lambda n: firal.fit(X, Y * (n > 1), n, ridge=0.5), [2], [1]),
    "fit ridge": (lambda v: fit(ridge=v), [0.0, SMALL], [-SMALL]),
    "fit tol": (lambda v: fit(tol=v), [1e-9, 0.5], [0.0]),
    "fit max_iter": (lambda n: fit(max_iter=n, tol=1e3), [1], [0]),
    "separation n_classes": (lambda n: separating_direction(X, Y, n), [2], [1]),
    "blocks n_classes": (lambda n: fit_by_blocks(as_home(X), Y, n, 0.5), [2], [1]),
    "blocks ridge": (lambda v: fit_by_blocks(as_home(X), Y, 2, v), [SMALL], [0.0]),
    "pca": (lambda n: feature_map(X, pca=n), [1, 2], [0, 3]),
    "relax tol": (lambda v: firal.relax(X, X, THETA, 3, tol=v), [SMALL, 0.999], [0.0, 1.0]),
    "relax budget": (lambda n: firal.relax(X, X, THETA, n), [1, 12], [0, 13]),
    "select tol": (lambda v: select(tol=v), [SMALL, 0.999], [0.0, 1.0]),
    "select eta": (lambda v: select(eta=v), [SMALL, 1e12 * (1 - 1e-9)], [0.0, 1.01e12]),
    "select ridge": (lambda v: select(ridge=v), [0.0, SMALL], [-SMALL]),
    "sparsify eta": (
        lambda v: firal.sparsify(X, X, THETA, Z, 3, v),
        [SMALL, 1e12 * (1 - 1e-9)],
        [0.0, 1.01e12],
    ),
    "bait ridge": (lambda v: firal.bait(X, X, THETA, 3, ridge=v), [0.0, SMALL], [-SMALL]),
    "bait prior": (lambda v: firal.bait(X, X, THETA, 3, prior=v), [SMALL], [0.0]),
    "bait prior, ridge": (
        lambda v: firal.bait(X, X, THETA, 3, prior=v, ridge=0.1),
        [0.0, SMALL],
        [-SMALL],
    ),
    "level": (lambda v: adaptive_sparsify(X, X, THETA, Z, 3, level=v), [SMALL], [0.0]),
    "best_level size": (lambda n: best_level(n, 4), [1], [0]),
    "best_level budget": (lambda n: best_level(1, n), [1], [0]),
    "lift": (lambda v: swap(X, X, THETA, Z, 3, lift=v), [SMALL], [0.0]),
    "penalized budget": (lambda n: penalized(budget=n), [1, 12], [0, 13]),
    "penalized ridge": (lambda v: penalized(ridge=v), [SMALL], [0.0]),
    "penalized clusters": (lambda v: penalized(clusters=v), [0.0, SMALL], [-SMALL]),
    "penalized typical": (lambda v: penalized(typical=v), [SMALL, 1.0], [0.0, 1.001]),
    "probes": (lambda n: estimate(probes=n), [2], [1]),
    "confidence": (lambda v: estimate(confidence=v), [SMALL, 0.999], [0.0, 1.0]),
    "nu": (lambda v: transforms.dilate(X, v), [SMALL], [0.0]),
    "target": (lambda v: transforms.solve_dilation(X, 0 * THETA, v), [SMALL], [0.0]),
    "t": (gaussian_design.binary_gaussian, [0.0, SMALL], [-SMALL]),
    "alpha n": (lambda v: bounds.alpha(v, rho=SMALL, **ONE), [SMALL], [0.0]),
    "alpha C3": (lambda v: bounds.alpha(5, rho=SMALL, C3=v, **ONE), [SMALL], [0.0]),
    "alpha rho": (lambda v: bounds.alpha(5, rho=v, **ONE), [SMALL], [0.0]),
    "alpha size": (lambda n: bounds.alpha(5, n, 1.0, 1.0, 0.5), [1], [0]),
    "alpha sigma": (lambda v: bounds.alpha(5, 1, v, 1.0, 0.5), [SMALL], [0.0]),
    "alpha delta": (lambda v: bounds.alpha(5, 1, 1.0, 1.0, v), [SMALL, 0.999], [0.0, 1.0]),
    "sample d": (lambda n: bounds.sample_bounds(n, 2, 1.0, 1.0, 0.5), [1], [0]),
    "sample c": (lambda n: bounds.sample_bounds(1, n, 1.0, 1.0, 0.5), [2], [1]),
    "sample C1": (lambda v: bounds.sample_bounds(1, 2, 1.0, 1.0, 0.5, C1=v), [SMALL], [0.0]),
    "sample C2": (lambda v: bounds.sample_bounds(1, 2, 1.0, 1.0, 0.5, C2=v), [SMALL], [0.0]),
    "whitened_length": (lambda v: bounds.domain_constants(v, 2), [SMALL], [0.0]),
    "domain c": (lambda n: bounds.domain_constants(1.0, n), [2], [1]),
    "bounded n": (lambda v: bounds.bounded_domain(v, 1, 1.0, 0.5, 1.0, 1.0, 1.0), [SMALL], [0.0]),
    "bounded size": (lambda n: bounds.bounded_domain(9, n, 1.0, 0.5, 1.0, 1.0, 1.0), [1], [0]),
    "bounded sigma": (lambda v: bounds.bounded_domain(9, 1, v, 0.5, 1.0, 1.0, 1.0), [SMALL], [0.0]),
    "bounded delta": (
        lambda v: bounds.bounded_domain(9, 1, 1.0, v, 1.0, 1.0, 1.0),
        [SMALL, 0.999],
        [0.0, 1.0],
    ),
    "bounded L1": (lambda v: bounds.bounded_domain(9, 1, 1.0, 0.5, v, 1.0, 1.0), [SMALL], [0.0]),
    "bounded L2": (lambda v: bounds.bounded_domain(9, 1, 1.0, 0.5, 1.0, v, 1.0), [SMALL], [0.0]),
    "bounded L3": (lambda v: bounds.bounded_domain(9, 1, 1.0, 0.5, 1.0, 1.0, v), [SMALL], [0.0]),
    "df": (lambda v: designs.student_t(2, [0.0], [[1.0]], rng(), v), [SMALL], [0.0]),
    "n": (lambda n: designs.gaussian(n, [0.0], [[1.0]], rng()), [1], [0]),
    "simplex c": (lambda n: designs.simplex_theta(n, 1), [2], [1]),
    "simplex d": (lambda n: designs.simplex_theta(2, n), [1], [0]),
    "psi_norm order": (lambda n: orlicz.psi_norm(X[:, 0], n), [1, 2], [0, 3]),
    "psi_norm_density order": (
        lambda n: orlicz.psi_norm_density(np.abs, lambda u: -(u**2), n),
        [1, 2],
        [0, 3],
    ),
}


@pytest.mark.filterwarnings("ignore")  # for odd numbers there are good reasons to warn
@pytest.mark.parametrize("name", LIMITS)
def test_the_first_valid_and_the_first_invalid_numbers(name):
    call, valid, invalid = LIMITS[name]
    for number in valid:
        call(number)
    for number in invalid:
        with pytest.raises(ValueError):
            call(number)
