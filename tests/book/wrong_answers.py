"""What students hand in for the eight assignments: typically wrong."""

import itertools

import numpy as np
from right_answers import (
    RIGHT,
    SIDES,
    G,
    bound,
    by_bregman,
    by_eigenvalues,
    by_multiplier,
    by_perceptron,
    by_root,
    interval,
    probabilities,
)
from scipy import linalg, optimize, special, stats
from sklearn.linear_model import LogisticRegression


def overflowing(x, theta):
    e = np.exp(theta @ x)
    h = e / (1 + e.sum())
    return np.kron(np.diag(h) - np.outer(h, h), np.outer(x, x))


def strictly(X, y):
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X))
    zero = np.zeros(signed.shape[1])
    margins = {"A_ub": -signed, "b_ub": -np.ones(len(X)), "bounds": (None, None)}
    return optimize.linprog(zero, **margins).success


def with_intercept(X, y):
    return by_perceptron(np.column_stack([X, np.ones(len(X))]), y)


def along_axes(X, y):
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X))
    axes = np.eye(signed.shape[1])
    return any(min(signed @ w) >= 0 < max(signed @ w) for w in (*axes, *-axes))


def diagonal_bound(H, Hp, z):
    diagonals = np.array([np.diag(np.diag(h)) for h in H])
    return bound(diagonals, np.diag(np.diag(Hp)), z, "sharper")


def clipped(S, eta):
    """Newton's nu kept positive."""
    values, vectors = np.linalg.eigh(S)
    nus = np.linspace(1e-6, 10, 20_001)
    nu = nus[np.argmin(abs(((nus[:, None] + eta * values) ** -2.0).sum(1) - 1))]
    return (vectors * (nu + eta * values) ** -2.0) @ vectors.T


def with_default_bounds(X, y):
    """linprog takes every variable as not negative unless it is told."""
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X))
    found = optimize.linprog(-signed.sum(0), A_ub=-signed, b_ub=np.zeros(len(X)), bounds=(0, 1))
    return -found.fun > 1e-9


def by_a_perfect_fit(X, y):
    """Does a hardly penalized fit get every label right?"""
    fit = LogisticRegression(C=1e6, fit_intercept=False).fit(X, y) if len(set(y)) > 1 else None
    return fit is None or fit.score(X, y) == 1


def without_the_reference(X, theta, truth):
    p, q = special.softmax(X @ truth.T, axis=1), special.softmax(X @ theta.T, axis=1)
    return special.rel_entr(p, q).sum(1).mean()


def clipped_logits(x, theta):
    e = np.exp(np.clip(theta @ x, -500, 500))
    h = e / (1 + e.sum())
    return np.kron(np.diag(h) - np.outer(h, h), np.outer(x, x))


def signs_only(X, y):
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X))
    return any(
        min(signed @ w) >= 0 < max(signed @ w)
        for w in itertools.product([-1, 0, 1], repeat=signed.shape[1])
    )


def terms(X, theta, truth):
    """The terms of the divergence, with whatever division by zero gives."""
    p = np.array([probabilities(x, truth) for x in X])
    return p * np.log(p / np.array([probabilities(x, theta) for x in X]))


def support_only(H, Hp, z):
    """The points that have a weight are alike at the optimum, but the others count too."""
    return bound(H[z > 0], Hp, z[z > 0], "sharper")


def turned(S, eta, back):
    """Into the eigenvectors, and out again by the wrong one of the two."""
    values, vectors = np.linalg.eigh(S)
    A = by_root(np.diag(values), eta)
    return vectors.T @ A @ vectors if back else vectors @ A @ vectors


def exponential_weights(S, eta):
    A = linalg.expm(-eta * S)
    return A / np.trace(A)


WRONG = {
    "a1": {
        "factors in the other order": lambda x, t: np.kron(np.outer(x, x), G(x, t)),
        "without the outer product": lambda x, t: np.kron(
            np.diag(np.diag(G(x, t))), np.outer(x, x)
        ),
        "overflow": overflowing,
        "clipped logits": clipped_logits,
        "classes that do not compete": lambda x, t: np.kron(
            np.diag(special.expit(t @ x) * special.expit(-t @ x)), np.outer(x, x)
        ),
        "all classes": lambda x, t: np.kron(np.eye(len(t) + 1), np.outer(x, x)),
    },
    "a2": {
        "strict margins only": strictly,
        "an intercept": with_intercept,
        "directions of the axes only": along_axes,
        "axes and diagonals only": signs_only,
        "default bounds": with_default_bounds,
        "a perfect fit": by_a_perfect_fit,
        "always": lambda X, y: True,
        "never": lambda X, y: False,
    },
    "a3": {
        "the other one inverted": lambda Q, P: by_eigenvalues(P, Q),
        "quotient of eigenvalues": lambda Q, P: (
            np.trace(np.linalg.solve(Q, P)),
            np.linalg.eigvalsh(P)[-1] / np.linalg.eigvalsh(Q)[0],
        ),
        "quotient of traces": lambda Q, P: (np.trace(P) / np.trace(Q), by_eigenvalues(Q, P)[1]),
        "smallest eigenvalue": lambda Q, P: (
            by_eigenvalues(Q, P)[0],
            linalg.eigh(P, Q, eigvals_only=True)[0],
        ),
    },
    "a4": {
        "arguments exchanged": lambda X, t, s: RIGHT["a4"][0](X, s, t),
        "sum for mean": lambda X, t, s: len(X) * RIGHT["a4"][0](X, t, s),
        "nan is zero, infinity is large": lambda X, t, s: (
            np.nan_to_num(terms(X, t, s)).sum(1).mean()
        ),
        "what is not finite is left out": lambda X, t, s: (
            np.where(np.isfinite(terms(X, t, s)), terms(X, t, s), 0).sum(1).mean()
        ),
        "logarithm of zero": lambda X, t, s: np.mean(
            [
                (probabilities(x, s) * np.log(probabilities(x, s) / probabilities(x, t))).sum()
                for x in X
            ]
        ),
        "cross-entropy": lambda X, t, s: np.mean(
            [-(probabilities(x, s) * np.log(probabilities(x, t) + 1e-300)).sum() for x in X]
        ),
        "without the reference class": without_the_reference,
        "mean over the classes too": lambda X, t, s: by_bregman(X, t, s) / (len(t) + 1),
        "squared difference": lambda X, t, s: np.mean((X @ t.T - X @ s.T) ** 2) / 8,
    },
    "a5": {
        "in proportion": lambda a, b: b * np.array(a) / np.sum(a),
        "equally": lambda a, b: np.full(len(a), b / len(a)),
        "square roots, not scaled": lambda a, b: np.sqrt(a),
        "whole labels": lambda a, b: np.round(by_multiplier(a, b)),
        "cube roots": lambda a, b: b * np.cbrt(a) / np.cbrt(a).sum(),
        "zero over zero": lambda a, b: b / np.sqrt(a / a[:, None]).sum(1),
        "all on one": lambda a, b: b * np.eye(len(a))[np.argmax(a)],
    },
    "a6": {
        kind: lambda H, P, z, kind=kind: bound(H, P, z, kind)
        for kind in ("value", "mean", "no budget", "zero")
    }
    | {
        "diagonals only": diagonal_bound,
        "only points with a weight": support_only,
        "the gap": lambda H, P, z: bound(H, P, z, "value") - bound(H, P, z, "linear"),
        "nearest for farthest": lambda H, P, z: bound(H, P, z, "smallest gain"),
    },
    "a7": {
        "power minus one": lambda S, eta: np.linalg.inv(np.eye(len(S)) * len(S) + eta * S),
        "nu kept positive": clipped,
        "exponential weights": exponential_weights,
        "nu is one": lambda S, eta: np.linalg.matrix_power(
            np.linalg.inv(np.eye(len(S)) + eta * S), 2
        ),
        "divided by its trace": lambda S, eta: (lambda A: A / np.trace(A))(
            np.linalg.matrix_power(np.linalg.inv(np.eye(len(S)) + eta * S), 2)
        ),
        "diagonal only": lambda S, eta: by_root(np.diag(np.diag(S)), eta),
        "eigenvectors transposed": lambda S, eta: turned(S, eta, True),
        "eigenvectors not transposed": lambda S, eta: turned(S, eta, False),
        "losses with the other sign": lambda S, eta: by_root(-S, eta),
        "rate left out": lambda S, eta: by_root(S, 1.0),
        "rate squared": lambda S, eta: by_root(S, eta**2),
    },
    "a8": {
        "not paired": lambda a, b, level=0.95: interval(a, b, level, paired=False),
        "around the median": lambda a, b, level=0.95: (
            interval(a, b, level) - np.mean(a - b) + np.median(a - b)
        ),
        "degrees of freedom of the example": lambda a, b, level=0.95: interval(
            a, b, level, quantile=stats.t.ppf(0.5 + level / 2, 2)
        ),
        "shorter in proportion": lambda a, b, level=0.95: (
            np.mean(a - b) + (interval(a, b) - np.mean(a - b)) * level / 0.95
        ),
        "n in the variance": lambda a, b, level=0.95: interval(a, b, level, ddof=0),
        "normal quantile": lambda a, b, level=0.95: interval(a, b, level, quantile=1.96),
        "the other sign": lambda a, b, level=0.95: interval(a, b, level, sign=-1),
        "n degrees of freedom": lambda a, b, level=0.95: interval(
            a, b, level, quantile=stats.t.ppf(0.5 + level / 2, len(a))
        ),
        "standard deviation for error": lambda a, b, level=0.95: (
            np.mean(a - b)
            + np.std(a - b, ddof=1) * stats.t.ppf(0.5 + level / 2, len(a) - 1) * SIDES
        ),
        "one side only": lambda a, b, level=0.95: interval(a, b, 2 * level - 1),
        "level left out": lambda a, b, level=0.95: interval(a, b),
    },
}
