"""The second-order prediction against finite differences, exact sums and simulation."""

import numpy as np
import pytest
from scipy import stats

from firal import information
from firal.theory.second_order import _derivatives, _fourth, second_order


def test_derivatives_against_finite_differences():
    rng = np.random.default_rng(1)
    X, theta, step = rng.standard_normal((30, 2)), rng.standard_normal((3, 2)), 1e-5
    T = _derivatives(X, theta)[1]
    A, B = (M @ M.T for M in rng.standard_normal((2, 6, 6)))
    slopes = []
    for j, e in enumerate(np.eye(6).reshape(6, 3, 2) * step):
        difference = information(X, theta + e) - information(X, theta - e)
        np.testing.assert_allclose(T[j], difference / (2 * step), atol=1e-9)
        slopes.append((_derivatives(X, theta + e)[1] - _derivatives(X, theta - e)[1]) / (2 * step))
    fourth = np.einsum("abcd,ab,cd", np.array(slopes), A, B)
    value, square = _fourth(X, theta, A, B)
    assert value == pytest.approx(fourth, rel=1e-6)
    H = [information(x[None], theta) for x in X]
    assert square == pytest.approx(np.mean([np.trace(B @ h @ A @ h) for h in H]))


def cumulant_tensors(X, theta):
    """Mean second, third and fourth cumulant of kron(label, x), over all outcomes of the label."""
    (n, d), k = X.shape, len(theta)
    H, T, Q = (np.zeros((k * d,) * order) for order in (2, 3, 4))
    for x in X:
        weights = np.append(np.exp(theta @ x), 1.0)
        h = weights / weights.sum()
        S, T3, Q4 = (np.zeros((k * d,) * order) for order in (2, 3, 4))
        for label, p in enumerate(h):
            e = np.kron((np.eye(k + 1)[label] - h)[:k], x)
            S += p * np.einsum("a,b->ab", e, e)
            T3 += p * np.einsum("a,b,c->abc", e, e, e)
            Q4 += p * np.einsum("a,b,c,d->abcd", e, e, e, e)
        pairs = ("ab,cd->abcd", "ac,bd->abcd", "ad,bc->abcd")
        Q4 -= sum(np.einsum(pair, S, S) for pair in pairs)
        H, T, Q = H + S / n, T + T3 / n, Q + Q4 / n
    return H, T, Q


def test_every_term_of_the_second_order():
    """The formula of the module's first page, with full tensors, to rounding."""
    rng = np.random.default_rng(3)
    theta = rng.standard_normal((2, 2))
    Xq, Xp = rng.standard_normal((25, 2)), 1.3 * rng.standard_normal((20, 2)) + 0.4
    H, T, Q = cumulant_tensors(Xq, theta)
    Hp, Tp, Qp = cumulant_tensors(Xp, theta)
    G = np.linalg.inv(H)
    M = G @ Hp @ G
    t = np.einsum("iab,ab->i", T, G)
    terms = [
        3 / 4 * np.einsum("abc,ai,bj,ck,ijk", T, M, G, G, T, optimize=True),
        1 / 8 * t @ M @ t,
        1 / 2 * np.einsum("iab,ab->i", T, M) @ G @ t,
        -1 / 2 * np.einsum("abcd,ab,cd", Q, M, G),
        -1 / 3 * np.einsum("abc,ai,bj,ck,ijk", Tp, G, G, G, T, optimize=True),
        -1 / 4 * np.einsum("iab,ab->i", Tp, G) @ G @ t,
        1 / 8 * np.einsum("abcd,ab,cd", Qp, G, G),
    ]
    Hs = [information(x[None], theta) for x in Xq]
    square = np.mean([np.trace(G @ h @ M @ h) for h in Hs])
    found = second_order(Xq, Xp, theta)
    assert min(map(abs, terms)) > 1e-2 * abs(sum(terms))  # every term counts
    assert found.fir == pytest.approx(np.trace(G @ Hp), rel=1e-11)
    assert found.labels == pytest.approx(sum(terms), rel=1e-10)
    assert found.design == pytest.approx((square - np.trace(G @ Hp)) / 2, rel=1e-10)
    fixed = second_order(Xq, Xp, theta, fixed_design=True)
    assert fixed == (found.fir, found.labels, 0.0)
    expected = found.fir / 14 + (found.labels + found.design) / 49
    assert found.predict(7) == pytest.approx(expected, rel=1e-13)
    assert found.predict([7, 9])[0] == found.predict(7)


def test_the_second_order_does_not_depend_on_blocks(monkeypatch):
    rng = np.random.default_rng(4)
    X, theta = rng.standard_normal((25, 2)), rng.standard_normal((2, 2))
    expected = second_order(X, X + 1, theta)
    monkeypatch.setattr("firal.theory.second_order.BLOCK_BYTES", 1000)
    np.testing.assert_allclose(second_order(X, X + 1, theta), expected, rtol=1e-11)


def test_second_order_against_an_exact_sum():
    """Constant feature, two classes: the mean over all labelings is a binomial sum."""
    theta, n = np.array([[0.8]]), 20_000
    p = 1 / (1 + np.exp(-0.8))
    k = np.arange(1, n)
    kl = p * np.log(p * n / k) + (1 - p) * np.log((1 - p) * n / (n - k))
    exact = n**2 * (stats.binom.pmf(k, n, p) @ kl - 1 / (2 * n))
    B = second_order(np.ones((1, 1)), np.ones((1, 1)), theta, fixed_design=True)
    assert B.labels == pytest.approx(exact, rel=1e-3)
    assert B.fir == pytest.approx(1) and B.design == 0


def test_second_order_with_p_different_from_q_against_an_exact_sum():
    """Two groups of points, x = 1 and x = 2, one parameter, labels summed exactly; p sits at 2."""
    theta = np.array([[0.6]])
    half = 400
    Xq, Xp = np.array([[1.0], [2.0]]), np.array([[2.0]])
    prediction = second_order(Xq, Xp, theta, fixed_design=True)
    p1, p2 = 1 / (1 + np.exp(-0.6)), 1 / (1 + np.exp(-1.2))
    k = np.arange(half + 1)
    total = (k[:, None] + 2 * k[None, :]) / (2 * half)  # sufficient statistic of (k1, k2)
    weight = stats.binom.pmf(k, half, p1)[:, None] * stats.binom.pmf(k, half, p2)
    fitted = np.full_like(total, 0.6)
    for _ in range(60):  # Newton for all outcomes; extreme ones have weight zero
        a, b = 1 / (1 + np.exp(-fitted)), 1 / (1 + np.exp(-2 * fitted))
        slope = (a + 2 * b) / 2 - total
        fitted = np.clip(fitted - slope / ((a * (1 - a) + 4 * b * (1 - b)) / 2), -4, 4)
    b = 1 / (1 + np.exp(-2 * fitted))
    kl = p2 * np.log(p2 / b) + (1 - p2) * np.log((1 - p2) / (1 - b))
    n = 2 * half
    exact = n**2 * (np.sum(weight * kl) - prediction.fir / (2 * n))
    assert prediction.labels == pytest.approx(exact, rel=0.03)


def test_random_design_term_against_simulation():
    rng = np.random.default_rng(0)
    theta = np.array([[1.0, 0.5]])
    Xq, Xp = rng.standard_normal((40, 2)), rng.standard_normal((50, 2)) + 1
    Hp, n = information(Xp, theta), 400
    Hs = np.array([information(x[None], theta) for x in Xq])
    counts = rng.multinomial(n, np.full(40, 1 / 40), size=20_000)
    Hn = np.einsum("sk,kab->sab", counts / n, Hs)
    own = np.trace(np.linalg.solve(Hn, np.broadcast_to(Hp, Hn.shape)), axis1=1, axis2=2)
    prediction = second_order(Xq, Xp, theta)
    measured = n * (own.mean() - prediction.fir) / 2
    error = n * own.std() / np.sqrt(len(own)) / 2
    assert abs(measured - prediction.design) < 4 * error + 0.05 * abs(prediction.design)
    assert abs(prediction.design) > 8 * error  # the test can see the term
