"""What students hand in for the eight assignments: right in other styles, and typically wrong."""

import itertools

import numpy as np
from scipy import linalg, optimize, special, stats
from sklearn.linear_model import LogisticRegression

SIDES = np.array([-1, 1])


def probabilities(x, theta):
    return special.softmax(np.append(theta @ x, 0.0))


def by_loops(x, theta):
    d, h = len(x), probabilities(x, theta)
    H = np.zeros((d * len(theta),) * 2)
    for k, m in itertools.product(range(len(theta)), repeat=2):
        for i, j in itertools.product(range(d), repeat=2):
            H[k * d + i, m * d + j] = h[k] * ((k == m) - h[m]) * x[i] * x[j]
    return H


def by_alternative(X, y):
    """No weights > 0 on the signed points sum to zero: Stiemke's alternative."""
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X, dtype=float))
    found = optimize.linprog(np.zeros(len(signed)), A_eq=signed.T, b_eq=-signed.sum(0))
    return found.status == 2  # there are none


def by_multiplier(needs, budget):
    a = np.asarray(needs)

    def rest(m):
        return np.sqrt(a / m).sum() - budget

    return tuple(np.sqrt(a / optimize.brentq(rest, 1e-9, 1e9, xtol=1e-14)))


def by_whitening(Hq, Hp):
    L = np.linalg.cholesky(Hq)
    M = linalg.solve_triangular(L, linalg.solve_triangular(L, Hp, lower=True).T, lower=True)
    return np.trace(M), linalg.svdvals(M)[0]


def by_eigenvalues(Hq, Hp):
    values = linalg.eigh(Hp, Hq, eigvals_only=True)
    return [values.sum(), values[-1]]


def by_root(S, eta):
    k = len(S)

    def excess(nu):
        return np.trace(np.linalg.matrix_power(np.linalg.inv(nu * np.eye(k) + eta * S), 2)) - 1

    least = -eta * np.linalg.eigvalsh(S)[0]
    nu = optimize.brentq(excess, least + 1e-6, least + k + 1)
    return np.linalg.matrix_power(np.linalg.inv(nu * np.eye(k) + eta * S), 2)


def by_perceptron(X, y):
    """Feasibility of strict margins for one point at a time."""
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X))
    return any(
        optimize.linprog(
            np.zeros(signed.shape[1]),
            A_ub=-signed,
            b_ub=-np.eye(len(X))[k],
            bounds=(None, None),
        ).success
        for k in range(len(X))
    )


def bound(H, Hp, z, kind):
    inverse = np.linalg.inv(np.tensordot(z, H, 1))
    f, gain = np.trace(inverse @ Hp), np.array([np.trace(inverse @ h @ inverse @ Hp) for h in H])
    b = np.sum(z)
    return {
        "linear": 2 * f - b * gain.max(),
        "value": f,
        "mean": f * f / (b * gain.mean()),
        "no budget": f * f / gain.max(),
        "smallest gain": 2 * f - b * gain.min(),
        "zero": 0.0,
        "sharper": max(2 * f - b * gain.max(), f * f / (b * gain.max())),
    }[kind]


def interval(a, b, level=0.95, *, paired=True, ddof=1, quantile=None, sign=1):
    d = sign * (np.array(a) - np.array(b))
    n = len(d)
    spread = d.var(ddof=ddof) if paired else np.var(a, ddof=1) + np.var(b, ddof=1)
    half = (quantile or stats.t.ppf(0.5 + level / 2, n - 1)) * np.sqrt(spread / n)
    return np.array([d.mean() - half, d.mean() + half])


def by_scores(x, theta):
    """The covariance of the gradient, over the classes that the label may have."""
    p = probabilities(x, theta)
    scores = [np.kron(e[:-1] - p[:-1], x) for e in np.eye(len(p))]
    return sum(share * np.outer(s, s) for share, s in zip(p, scores, strict=True))


def by_least_squares(X, y):
    """Weights of at least one on the signed points that sum to zero, sought by least squares."""
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X))
    return int(optimize.nnls(signed.T, -signed.sum(0))[1] > 1e-9)


def by_power_iteration(Hq, Hp):
    M, v, last = np.linalg.inv(Hq) @ Hp, np.ones(len(Hp)), 0.0
    while abs(np.linalg.norm(M @ v) / np.linalg.norm(v) - last) > 1e-6:
        last = np.linalg.norm(M @ v) / np.linalg.norm(v)
        v = M @ v / np.linalg.norm(M @ v)
    return np.diag(M).sum(), last


def by_bregman(X, theta, truth):
    """The divergence of the log-partition function."""
    found = []
    for x in X:
        t, s = np.append(theta @ x, 0), np.append(truth @ x, 0)
        slope = special.softmax(s)
        found.append(special.logsumexp(t) - special.logsumexp(s) - slope @ (t - s))
    return sum(found) / len(found)


def by_minimizer(needs, budget):
    """A general solver, with the precision that it has by default."""
    found = optimize.minimize(
        lambda z: (needs / z).sum(),
        np.full(len(needs), budget / len(needs)),
        bounds=[(1e-6, budget)] * len(needs),
        constraints={"type": "eq", "fun": lambda z: z.sum() - budget},
    )
    return found.x


def by_vertices(H, Hp, z):
    """Convexity: the tangent at z, at each vertex of the feasible weights."""
    inverse = np.linalg.inv(np.tensordot(z, H, 1))
    slope = -np.array([np.sum(h * (inverse @ Hp @ inverse).T) for h in H])
    vertices = np.eye(len(z)) * np.sum(z)
    return np.trace(inverse @ Hp) + min(slope @ (vertex - z) for vertex in vertices)


def by_polynomial(S, eta):
    """The largest root of the polynomial that the trace condition is."""
    values, vectors = np.linalg.eigh(S)
    factors = [np.polynomial.Polynomial([eta * v, 1.0]) ** 2 for v in values]
    product = np.prod(factors)
    rest = sum(np.prod([f for j, f in enumerate(factors) if j != i]) for i in range(len(factors)))
    roots = (product - rest).roots()
    nu = roots[abs(roots.imag) < 1e-6].real.max()
    return sum(np.outer(u, u) / (nu + eta * v) ** 2 for v, u in zip(values, vectors.T, strict=True))


RIGHT = {
    "a1": [
        by_loops,
        by_scores,
        lambda x, t: np.block([[g * np.outer(x, x) for g in row] for row in G(x, t)]),
        lambda x, t: np.einsum("kl,i,j->kilj", G(x, t), x, x).reshape(x.size * len(t), -1).tolist(),
    ],
    "a2": [by_perceptron, by_alternative, by_least_squares],
    "a3": [
        by_whitening,
        by_power_iteration,
        by_eigenvalues,
        lambda Q, P: (np.trace(P @ np.linalg.inv(Q)), by_eigenvalues(Q, P)[1]),
    ],
    "a4": [
        lambda X, t, s: np.mean(
            [special.rel_entr(probabilities(x, s), probabilities(x, t) + 1e-300).sum() for x in X]
        ),
        by_bregman,
    ],
    "a5": [
        by_multiplier,
        by_minimizer,
        lambda a, b: b * a**0.5 / sum(a**0.5),
        lambda a, b: [b * q**0.5 / sum(r**0.5 for r in a) for q in a],
    ],
    "a6": [
        by_vertices,
        lambda H, P, z: bound(H, P, z, "linear"),
        lambda H, P, z: bound(H, P, z, "sharper"),
    ],
    "a7": [by_root, by_polynomial],
    "a8": [
        lambda a, b, level=0.95: stats.t.interval(
            level, a.size - 1, loc=np.mean(a - b), scale=stats.sem(a - b)
        ),
        lambda a, b, level=0.95: stats.ttest_rel(a, b).confidence_interval(level),
        interval,
    ],
}


def G(x, theta):
    h = probabilities(x, theta)[:-1]
    return np.diag(h) - np.outer(h, h)


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
        "all classes": lambda x, t: np.kron(np.eye(len(t) + 1), np.outer(x, x)),
    },
    "a2": {
        "strict margins only": strictly,
        "an intercept": with_intercept,
        "directions of the axes only": along_axes,
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
        "rate left out": lambda S, eta: by_root(S, 1.0),
        "rate squared": lambda S, eta: by_root(S, eta**2),
    },
    "a8": {
        "not paired": lambda a, b, level=0.95: interval(a, b, level, paired=False),
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
