"""What students hand in for the eight assignments: right, in other styles than ours."""

import itertools

import numpy as np
from scipy import linalg, optimize, special, stats

SIDES = np.array([-1, 1])


def probabilities(x, theta):
    return special.softmax(np.append(theta @ x, 0.0))


def G(x, theta):
    h = probabilities(x, theta)[:-1]
    return np.diag(h) - np.outer(h, h)


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


def with_a_tiny_number(X, theta, truth):
    """Never the logarithm of zero, and no longer exactly zero at the truth."""
    p = special.softmax(np.column_stack([X @ truth.T, np.zeros(len(X))]), axis=1)
    q = special.softmax(np.column_stack([X @ theta.T, np.zeros(len(X))]), axis=1)
    return (p * np.log((p + 1e-300) / (q + 1e-12))).sum(1).mean()


def by_finite_differences(H, Hp, z):
    """The gradient is only as exact as a quotient of differences."""

    def f(z):
        return np.trace(np.linalg.solve(np.tensordot(z, H, 1), Hp))

    return f(z) ** 2 / (np.sum(z) * -optimize.approx_fprime(z, f, 1e-6).min())


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
        with_a_tiny_number,
    ],
    "a5": [
        by_multiplier,
        by_minimizer,
        lambda a, b: b * a**0.5 / sum(a**0.5),
        lambda a, b: [b * q**0.5 / sum(r**0.5 for r in a) for q in a],
    ],
    "a6": [
        by_vertices,
        by_finite_differences,
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
