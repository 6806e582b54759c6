"""The ratio of the ridge estimator, and its guarantees: dense, literal, on small instances."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import firal
from firal.model.fitting import symmetric_penalty

ROUND = 1e-8
seeds = st.integers(0, 2**32 - 1)


def psd(rng, size, rank=None):
    factor = rng.normal(size=(size, rank or size)) * np.exp(rng.normal())
    return factor @ factor.T


def power(M, exponent):
    values, vectors = np.linalg.eigh(M)
    return vectors * values**exponent @ vectors.T


def value(total, Hp):
    return np.trace(np.linalg.solve(total, Hp))


def instance(seed, most_classes=4):
    """Points, pool, parameter, ridge and the matrices of the theorem."""
    rng = np.random.default_rng(seed)
    c, d = int(rng.integers(2, most_classes + 1)), int(rng.integers(1, 4))
    n = int(rng.integers(1, 12))
    points, pool = rng.normal(size=(n, d)), rng.normal(size=(15, d))
    theta, ridge = rng.normal(size=(c - 1, d)), np.exp(rng.uniform(-4, 1))
    P = np.kron(symmetric_penalty(c), np.eye(d))
    Hn, Hp = firal.information(points, theta), firal.information(pool, theta)
    return rng, c, d, n, points, pool, theta, ridge, P, Hn, Hp


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_variance_and_mean_bias_add_up_to_the_ratio(seed):
    _, _, _, n, _, _, theta, r, P, Hn, Hp = instance(seed)
    inverse = np.linalg.inv(Hn + r * P)
    variance = np.trace(inverse @ Hn @ inverse @ Hp) / n
    prior = np.linalg.inv(n * r * P)  # covariance of the parameter
    bias = r**2 * np.trace(P @ inverse @ Hp @ inverse @ P @ prior)
    f = value(n * Hn + n * r * P, Hp)
    assert variance + bias == pytest.approx(f, rel=1e-6)
    # for every parameter
    v = theta.ravel()
    one = r**2 * v @ P @ inverse @ Hp @ inverse @ P @ v
    sigma = np.linalg.eigvalsh(power(Hn + r * P, -0.5) @ Hp @ power(Hn + r * P, -0.5))[-1]
    assert variance <= f * (1 + ROUND)
    assert one <= sigma * r * v @ P @ v * (1 + ROUND)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_a_quarter_where_the_labels_cover_the_pool(seed):
    _, _, _, _, _, _, theta, r, P, Hn, _ = instance(seed)
    inverse, v = np.linalg.inv(Hn + r * P), theta.ravel()
    bias = r**2 * v @ P @ inverse @ Hn @ inverse @ P @ v
    assert bias <= r * v @ P @ v / 4 * (1 + ROUND)


@given(seeds, st.floats(0.01, 100))
@settings(max_examples=60, deadline=None)
def test_the_price_of_another_ridge(seed, factor):
    """With the prior precision tau the ridge tau/n is best, and the loss has a closed form."""
    _, _, _, n, _, _, _, best, P, Hn, Hp = instance(seed)
    tau, r = n * best, factor * best

    def risk(r, weight=2):
        inverse = np.linalg.inv(Hn + r * P)
        return np.trace(inverse @ (Hn / n + r**weight / tau * P) @ inverse @ Hp)

    inverse, B = np.linalg.inv(Hn + r * P), np.linalg.inv(Hn + best * P)
    extra = (r - best) ** 2 / tau * np.trace(inverse @ Hp @ inverse @ (P - best * P @ B @ P))
    assert risk(best) == pytest.approx(value(n * Hn + tau * P, Hp), rel=1e-6)
    assert risk(r) - risk(best) == pytest.approx(extra, rel=1e-4, abs=1e-9 * risk(r))
    assert extra >= -ROUND


@pytest.mark.parametrize("c", [2, 3, 7])
def test_the_symmetric_penalty(c):
    A = symmetric_penalty(c)
    corners = np.vstack([np.eye(c - 1), np.zeros(c - 1)])
    sides = corners[:, None] - corners[None]
    lengths = np.einsum("kli,ij,klj->kl", sides, np.linalg.inv(A), sides)
    np.testing.assert_allclose(np.linalg.inv(A), np.eye(c - 1) + 1)
    np.testing.assert_allclose(lengths, 2 * (1 - np.eye(c)), atol=1e-12)
    p = np.full(c - 1, 1 / c)
    np.testing.assert_allclose(np.diag(p) - np.outer(p, p), A / c)


@given(seeds, st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_curvature_against_the_penalty(seed, c):
    """Trace: the Gini index. Norm: at most one half, attained by two classes with one half each."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(c, 0.5))
    G, root = np.diag(p[:-1]) - np.outer(p[:-1], p[:-1]), power(symmetric_penalty(c), -0.5)
    values = np.linalg.eigvalsh(root @ G @ root)
    assert values.sum() == pytest.approx(1 - p @ p)
    assert values[-1] <= 0.5 + ROUND
    p = np.r_[0.5, 0.5, np.zeros(c - 2)]
    G = np.diag(p[:-1]) - np.outer(p[:-1], p[:-1])
    assert np.linalg.eigvalsh(root @ G @ root)[-1] == pytest.approx(0.5)


def widest(points, inverse, c):
    """R: the largest |(e_k - e_l) (x) x| in the norm of a matrix."""
    corners = np.vstack([np.eye(c - 1), np.zeros(c - 1)])
    sides = [corners[k] - corners[j] for k in range(c) for j in range(k)]
    return np.sqrt(max(np.kron(e, x) @ inverse @ np.kron(e, x) for e in sides for x in points))


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_the_radius(seed):
    _, c, _, _, points, _, _, r, P, Hn, _ = instance(seed)
    inverse = np.linalg.inv(Hn + r * P)
    R, df = widest(points, inverse, c), np.trace(inverse @ Hn)
    longest = np.linalg.norm(points, axis=1).max()
    assert R**2 <= 2 * longest**2 / r * (1 + ROUND)
    assert R**2 >= 2 * c / (c - 1) * df * (1 - ROUND)
    assert df <= (1 - 1 / c) * longest**2 / r * (1 + ROUND)


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_the_risk_is_between_its_two_bounds_for_every_labeling(seed):
    """The deterministic core of the theorem: from the gradient at the truth to the risk."""
    rng, c, _, n, points, pool, theta, r, P, Hn, Hp = instance(seed, most_classes=3)
    theta = 0.3 * theta
    Hn, Hp = firal.information(points, theta), firal.information(pool, theta)
    Hr = Hn + r * P
    inverse, root = np.linalg.inv(Hr), power(Hr, -0.5)
    R = widest(np.vstack([points, pool]), inverse, c)
    sigma = np.linalg.eigvalsh(root @ Hp @ root)[-1]
    y = rng.integers(c, size=n)
    u = firal.gradient(points, y, theta).ravel() + r * P @ theta.ravel()
    size = np.sqrt(u @ inverse @ u)
    longest = np.linalg.norm(np.vstack([points, pool]), axis=1).max()
    limit = min(np.sqrt(2 * np.log(c) / r), np.sqrt(2) * longest / r)
    always = np.sqrt(2) * longest * (limit + np.sqrt(theta.ravel() @ P @ theta.ravel()))
    S = min(always, -np.log(1 - R * size) if R * size < 1 else np.inf)
    fitted = firal.fit(points, y, c, ridge=r, penalty="symmetric").theta
    change = np.column_stack([np.vstack([points, pool]) @ (fitted - theta).T, np.zeros(n + 15)])
    assert np.ptp(change, axis=1).max() <= S * (1 + 1e-6)
    assert fitted.ravel() @ P @ fitted.ravel() <= limit**2 * (1 + 1e-6)
    kappa = S / (1 - np.exp(-S)) - 1
    main, rest = np.sqrt(u @ inverse @ Hp @ inverse @ u), kappa * np.sqrt(sigma) * size
    risk = firal.excess_risk(fitted, theta, pool)
    upper = (np.exp(S) - S - 1) / S**2 * (main + rest) ** 2
    lower = (np.exp(-S) + S - 1) / S**2 * max(0, main - rest) ** 2
    assert lower * (1 - 1e-5) - 1e-12 <= risk <= upper * (1 + 1e-5) + 1e-12


def factor(spent, b):
    """b / (b - df + 1), or b / (b - df^2 / 4) for an effective dimension below two."""
    return b / (b - spent + 1) if spent >= 2 else b / (b - spent**2 / 4)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_existence_with_the_effective_dimension(seed):
    """Some multiset is within the factor whenever b is at least the effective dimension."""
    rng = np.random.default_rng(seed)
    size, m, b = int(rng.integers(1, 4)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    own = np.array([psd(rng, size, int(rng.integers(1, size + 1))) for _ in range(m)])
    prior, Q = np.exp(rng.uniform(-4, 2)) * psd(rng, size) + 1e-3 * np.eye(size), psd(rng, size)
    z = rng.exponential(size=m)
    z *= b / z.sum()
    new = np.tensordot(z, own, axes=1)
    spent = np.trace(np.linalg.solve(prior + new, new))
    if b < spent:
        return
    picks = np.array(list(combinations_with_replacement(range(m), b)))
    values = [value(prior + own[list(rows)].sum(axis=0), Q) for rows in picks]
    assert min(values) <= factor(spent, b) * value(prior + new, Q) * (1 + 1e-6)


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_greedy_picks_from_nothing(seed):
    """From no label at all: the bound with N, and the one without dimension."""
    rng = np.random.default_rng(seed)
    c, d, b, m = int(rng.integers(2, 5)), int(rng.integers(1, 6)), int(rng.integers(1, 6)), 12
    pool, theta = rng.normal(size=(m, d)), rng.normal(size=(c - 1, d))
    tau = np.exp(rng.uniform(-4, 2))
    H, P = (
        np.array([firal.hessian(x, theta) for x in pool]),
        np.kron(symmetric_penalty(c), np.eye(d)),
    )
    Hp, root = H.mean(axis=0), power(tau * P, -0.5)
    relaxed = firal.relax(pool, None, theta, b, ridge=tau / b, tol=1e-4, max_iter=5000)
    norms = np.linalg.norm(root @ H @ root, ord=2, axis=(1, 2))
    longest = np.linalg.norm(pool, axis=1).max()
    N = b + relaxed.z @ norms
    assert N <= b * (1 + longest**2 / (2 * tau)) * (1 + ROUND)
    total, free, f = tau * P, list(range(m)), []
    f0 = value(total, Hp)
    for _ in range(b):
        i = min(free, key=lambda i: value(total + H[i], Hp))
        free.remove(i)
        total = total + H[i]
        f.append(value(total, Hp))
    best = relaxed.objective  # the theorem holds for any capped weights, with their own value
    left = (1 - 1 / N) ** np.arange(1, b + 1)
    assert np.all(best / np.array(f) >= 1 - (1 - best / f0) * left - 1e-7)
    share = 1 / (1 + longest**2 / (2 * tau))
    assert f[-1] <= best / (1 - np.exp(-share)) * (1 + 1e-7)


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_the_first_batch_is_a_problem_of_size_d(seed):
    rng = np.random.default_rng(seed)
    c, d, b = int(rng.integers(2, 6)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
    X, pool, tau = rng.normal(size=(b, d)), rng.normal(size=(9, d)), np.exp(rng.uniform(-4, 2))
    zero, P = np.zeros((c - 1, d)), np.kron(symmetric_penalty(c), np.eye(d))
    full = value(
        firal.information(X, zero, np.ones(b)) + tau * P,
        firal.information(pool, zero),
    )
    small = (c - 1) * value(X.T @ X + c * tau * np.eye(d), pool.T @ pool / 9)
    assert full == pytest.approx(small, rel=1e-8)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_another_number_of_classes_or_parameter(seed):
    """A factor at a guess of c is one at c, and a factor at zero is one at theta."""
    rng = np.random.default_rng(seed)
    d, b, m = int(rng.integers(1, 4)), int(rng.integers(1, 4)), 6
    pool, tau = rng.normal(size=(m, d)), np.exp(rng.uniform(-3, 1))
    picks = [list(t) for t in combinations_with_replacement(range(m), b)]
    V = pool.T @ pool / m

    def small(rows, c):
        return value(pool[rows].T @ pool[rows] + c * tau * np.eye(d), V)

    c, guess = int(rng.integers(2, 8)), int(rng.integers(2, 8))
    by_guess = min(picks, key=lambda rows: small(rows, guess))
    best = min(small(rows, c) for rows in picks)
    assert small(by_guess, c) <= max(c / guess, guess / c) * best * (1 + ROUND)
    # theta
    c = int(rng.integers(2, 4))
    theta, P = rng.normal(size=(c - 1, d)), np.kron(symmetric_penalty(c), np.eye(d))
    H = np.array([firal.hessian(x, theta) for x in pool])
    logits = np.column_stack([pool @ theta.T, np.zeros(m)])
    u = np.exp(np.ptp(logits, axis=1).max())
    omega = ((c - 1) * u + 1) ** 2 / (c * (2 * u + c - 2))

    def at_theta(rows):
        return value(H[rows].sum(axis=0) + tau * P, H.mean(axis=0))

    at_zero = min(picks, key=lambda rows: small(rows, c))
    assert at_theta(at_zero) <= omega**2 * min(map(at_theta, picks)) * (1 + ROUND)


def test_a_noise_direction_gets_labels_only_above_a_threshold():
    """Two axes, the second shrunk by eps: weights of the relaxed problem in closed form."""
    pool = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    b = 10
    for eps, ridge in [(0.5, 0.01), (0.3, 0.02), (0.1, 0.01), (0.05, 0.001)]:
        scaled = pool * [1.0, eps]
        tau = b * ridge
        expected = max(0.0, (b - 2 * tau * (1 / eps**2 - 1)) / 2)
        found = firal.relax(
            scaled, None, np.zeros((1, 2)), b, ridge=ridge, capped=False, tol=1e-8, max_iter=50_000
        )
        assert found.z[2:].sum() == pytest.approx(expected, abs=0.02)
        without = firal.relax(scaled, None, np.zeros((1, 2)), b, capped=False, tol=1e-8)
        assert without.z[2:].sum() == pytest.approx(b / 2, abs=0.02)


def effective(total, prior):
    return np.trace(np.linalg.solve(total, total - prior))


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_removing_points(seed):
    """From k points to b, each time the one whose loss hurts least."""
    rng = np.random.default_rng(seed)
    size, k = int(rng.integers(1, 4)), int(rng.integers(2, 9))
    own = np.array([psd(rng, size, int(rng.integers(1, size + 1))) for _ in range(k)])
    prior, Q = np.exp(rng.uniform(-3, 3)) * psd(rng, size) + 1e-2 * np.eye(size), psd(rng, size)
    total, left = prior + own.sum(axis=0), list(range(k))
    D, start = effective(total, prior), value(total, Q)
    while len(left) > 1:
        before, j = value(total, Q), len(left)
        now = effective(total, prior)
        assert now <= D * (1 + ROUND)
        i = min(left, key=lambda i: value(total - own[i], Q))
        left.remove(i)
        total = total - own[i]
        if j > now:
            assert value(total, Q) <= before * (1 + 1 / (j - now)) * (1 + 1e-6)
        b = len(left)
        if D < b + 1:
            assert value(total, Q) <= start * (k - D + 1) / (b - D + 1) * (1 + 1e-6)


def test_removing_equal_points_attains_the_bound():
    """One axis, hardly any prior: k/b, and D is one."""
    prior, k, b = 1e-9, 12, 5
    total = prior + k
    D = k / total
    assert (total / (prior + b)) == pytest.approx((k - D + 1) / (b - D + 1), rel=1e-6)


def water_filling(values, rank, trace):
    """min sum values / (1 + n) over n >= 0 of sum ``trace``, at most ``rank`` of them positive."""
    values = np.sort(values)[::-1]
    for active in range(min(rank, len(values)), 0, -1):
        roots = np.sqrt(values[:active])
        level = (active + trace) / roots.sum()
        if roots[-1] * level >= 1:
            return roots.sum() / level + values[active:].sum()
    return values.sum()


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_no_few_points_do_better_than_rank_and_trace_allow(seed):
    rng = np.random.default_rng(seed)
    size, m, b = int(rng.integers(1, 6)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    ranks = rng.integers(1, size + 1, size=m)
    own = np.array([psd(rng, size, int(k)) for k in ranks])
    prior, Q = psd(rng, size) + 1e-2 * np.eye(size), psd(rng, size)
    white = power(prior, -0.5)
    traces = np.tensordot(own, np.linalg.inv(prior), axes=2)
    bound = water_filling(
        np.linalg.eigvalsh(white @ Q @ white), int(b * ranks.max()), b * traces.max()
    )
    for rows in combinations_with_replacement(range(m), b):
        assert value(prior + own[list(rows)].sum(axis=0), Q) >= bound * (1 - 1e-6)
    # water filling is the minimum: no random split does better
    values, rank, trace = rng.exponential(size=5), 3, 2.0
    least = water_filling(values, rank, trace)
    for _ in range(50):
        n = np.zeros(5)
        n[rng.permutation(5)[:rank]] = rng.dirichlet(np.ones(rank)) * trace
        assert np.sum(values / (1 + n)) >= least * (1 - ROUND)


def test_existence_is_attained_by_a_family():
    """Strong points that are all needed once, and a weak one: the factor with a tiny prior."""
    for size, b in [(3, 4), (3, 6), (4, 5)]:
        scales = np.array([1e8] * (size - 1) + [1.0])
        z = b / np.sqrt(scales) / np.sum(1 / np.sqrt(scales))
        own = np.array([np.diag(scales * (np.arange(size) == j)) for j in range(size)])
        prior, new = 1e-7 * np.eye(size), np.tensordot(z, own, axes=1)
        picks = combinations_with_replacement(range(size), b)
        best = min(value(prior + own[list(rows)].sum(axis=0), np.eye(size)) for rows in picks)
        bound = factor(effective(prior + new, prior), b) * value(prior + new, np.eye(size))
        assert 0.99 * bound <= best <= bound * (1 + ROUND)


@pytest.mark.parametrize("S", [0.5, 2.0])
def test_the_mean_hessian_on_a_steep_segment_attains_kappa(S):
    """Two classes, logits far from zero: curvature falls by e^{-S} along the segment."""
    logits = 12 + np.linspace(0, S, 2001)
    curvature = 1 / (2 + 2 * np.cosh(logits))
    mean = np.trapezoid(curvature, logits) / S
    assert curvature[0] / mean - 1 == pytest.approx(S / (1 - np.exp(-S)) - 1, rel=1e-3)


def test_large_logits_leave_the_ridge_estimator_far_above_the_lower_bound():
    """The example beside the inequality of van Trees: one number, two classes, three labels."""
    n, x, tau, P = 3, 2.0, 0.02, symmetric_penalty(2)[0, 0]
    theta = np.linspace(-100, 100, 20_001)
    prior = np.exp(-tau * P * theta**2 / 2)
    prior /= prior.sum()
    chance = 1 / (1 + np.exp(-x * theta))
    bound = 1 / (prior @ (n * x**2 * chance * (1 - chance)) + tau * P)
    ridge = posterior = total = 0.0
    for k, ways in enumerate((1, 3, 3, 1)):  # labels of class 0, whose logit is x theta
        weight = ways * chance**k * (1 - chance) ** (n - k) * prior
        y = [0] * k + [1] * (n - k)
        fitted = firal.fit(np.full((n, 1), x), y, 2, tau / n, penalty="symmetric").theta[0, 0]
        ridge += weight @ (fitted - theta) ** 2
        posterior += weight @ (weight @ theta / weight.sum() - theta) ** 2
        total += weight.sum()
    assert total == pytest.approx(1)
    assert (ridge, posterior) == pytest.approx((64.0, 33.0), abs=0.05)
    assert bound == pytest.approx(4.03, abs=0.01)
