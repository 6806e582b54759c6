"""FIRAL by the letter: slow, dense, and as close to the paper's Algorithms 1 and 2 as can be.

Every H(x_i) is formed as a d~ x d~ matrix, square roots come from full eigendecompositions, and a
point is chosen by the trace of Eq. (select-direct) itself, not by the small-matrix form. Nothing
here is shared with the module under test. ``relax_step`` and ``ftrl_step`` are single steps, so
that a benchmark can time one of them.
"""

import numpy as np


def hessian(x, theta):
    """H(x, theta) = (diag(h) - h h^T) (x) x x^T, the vec of theta stacking its rows."""
    logits = np.append(theta @ x, 0.0)
    p = np.exp(logits - logits.max())
    h = (p / p.sum())[:-1]
    return np.kron(np.diag(h) - np.outer(h, h), np.outer(x, x))


def matrices(pool, labeled, theta, budget):
    """H(x_i) of every pool point with its share of the labeled information, and H_p."""
    plain = np.array([hessian(x, theta) for x in pool])
    known = sum((hessian(x, theta) for x in labeled), np.zeros_like(plain[0]))
    return plain + known / budget, plain.mean(axis=0)


def objective(H, H_p, z):
    """f(z) = trace(Sigma(z)^{-1} H_p)."""
    return np.trace(np.linalg.solve(np.tensordot(z, H, axes=1), H_p))


def relax_step(kappa, t, H, H_p):
    """Lines 3-7 of Algorithm 2, with beta_t = sqrt(log m / t) / max |g|; returns (kappa, f)."""
    Sigma = sum(weight * matrix for weight, matrix in zip(kappa, H, strict=True))
    inverse = np.linalg.inv(Sigma)
    middle = inverse @ H_p @ inverse
    g = -np.array([np.sum(matrix * middle) for matrix in H])
    kappa = kappa * np.exp(-np.sqrt(np.log(len(H)) / t) / np.abs(g).max() * g)
    return kappa / kappa.sum(), np.trace(inverse @ H_p)


def relax_solve(H, H_p, budget, steps):
    """Algorithm 2; the best iterate is returned as (z, f(z))."""
    kappa = np.full(len(H), 1 / len(H))
    best = (None, np.inf)
    for t in range(1, steps + 1):
        following, value = relax_step(kappa, t, H, H_p)
        if value < best[1]:
            best = (kappa, value)
        kappa = following
    return budget * best[0], best[1] / budget


def power(A, exponent):
    """A^exponent for a symmetric positive definite A."""
    values, vectors = np.linalg.eigh(A)
    return vectors @ np.diag(values**exponent) @ vectors.T


def whiten(H, z):
    """H~(x_i) = Sigma^{-1/2} H(x_i) Sigma^{-1/2}."""
    root = power(np.tensordot(z, H, axes=1), -0.5)
    return np.array([root @ matrix @ root for matrix in H])


def normalizer(S, eta):
    """nu with trace (nu I + eta S)^{-2} = 1, by bisection on the eigenvalues of S."""
    values = eta * np.linalg.eigvalsh(S)
    low, high = -values[0], np.sqrt(len(values)) - values[0]
    for _ in range(200):
        nu = (low + high) / 2
        low, high = (nu, high) if np.sum((nu + values) ** -2.0) > 1 else (low, nu)
    return (low + high) / 2


def ftrl_step(S, H_tilde, eta):
    """Gain (1/eta) Tr[A^{1/2} - (A^{-1/2} + eta H~_i)^{-1}] of every point, given the sum S."""
    size = len(S)
    A_minus_half = normalizer(S, eta) * np.eye(size) + eta * S
    start = np.trace(power(A_minus_half, -1.0))
    traces = [np.trace(power(A_minus_half + eta * F, -1.0)) for F in H_tilde]
    return (start - np.array(traces)) / eta


def select(H_tilde, budget, eta, replace):
    """Picks, gains of all points at every step, smallest eigenvalue after every step."""
    S = np.zeros_like(H_tilde[0])
    picks, gains, smallest = [], [], []
    for _ in range(budget):
        gain = ftrl_step(S, H_tilde, eta)
        gains.append(gain)
        masked = gain.copy()
        if not replace:
            masked[picks] = -np.inf
        picks.append(int(np.argmax(masked)))
        S = S + H_tilde[picks[-1]]
        smallest.append(np.linalg.eigvalsh(S)[0])
    return np.array(picks), np.array(gains), np.array(smallest)


def thin_factors(pool, theta, root):
    """Lines 3-4 of Algorithm 1: P~_i = Sigma^{-1/2} ((V_i Lambda_i^{1/2}) (x) x_i) for every point.

    The paper writes the Kronecker product the other way round; with the rows of theta stacked, as
    in its Eq. (setup-hessian), x_i comes second.
    """
    for x in pool:
        logits = np.append(theta @ x, 0.0)
        p = np.exp(logits - logits.max())
        h = (p / p.sum())[:-1]
        values, vectors = np.linalg.eigh(np.diag(h) - np.outer(h, h))
        yield root @ np.kron(vectors * np.sqrt(np.maximum(values, 0)), x[:, None])


def printed_scores(P_tilde, B_half, eta):
    """The right-hand side of Eq. (select-new) for every point."""
    B = B_half @ B_half
    scores = []
    for P in P_tilde:
        small = np.eye(P.shape[1]) + eta * P.T @ B_half @ P
        scores.append(np.sum(np.linalg.inv(small) * (P.T @ B @ P)))
    return np.array(scores)


def printed_update(S, D_tilde, eta):
    """Lines 8-10 of Algorithm 1: B^{1/2} of the next step from S = sum_s H~(x_{i_s})."""
    values, vectors = np.linalg.eigh(eta * S)
    nu = normalizer(S, eta)
    A_minus_half = vectors @ np.diag(nu + values) @ vectors.T
    return np.linalg.inv(A_minus_half + eta * D_tilde)


def printed_select(P_tilde, D_tilde, budget, eta):
    """Lines 5-11 of Algorithm 1 as printed: picks, with replacement."""
    size = len(D_tilde)
    B_half = np.linalg.inv(np.sqrt(size) * np.eye(size) + eta * D_tilde)
    S, picks = np.zeros((size, size)), []
    for _ in range(budget):
        picks.append(int(np.argmax(printed_scores(P_tilde, B_half, eta))))
        S = S + D_tilde + P_tilde[picks[-1]] @ P_tilde[picks[-1]].T
        B_half = printed_update(S, D_tilde, eta)
    return np.array(picks)


def tiny_problem(seed, *, n_labeled=None):
    """(pool, labeled, theta, budget) of random shape: d <= 3, c <= 4, m <= 12, flat to sharp h."""
    rng = np.random.default_rng(seed)
    d, c, m = rng.integers(1, 4), rng.integers(2, 5), rng.integers(4, 13)
    n_labeled = rng.integers(0, 6) if n_labeled is None else n_labeled
    theta = rng.normal(size=(c - 1, d)) * rng.choice([0.3, 1.0, 3.0])
    pool, labeled = rng.normal(size=(m, d)), rng.normal(size=(n_labeled, d))
    return pool, labeled, theta, int(rng.integers(1, m + 1))
