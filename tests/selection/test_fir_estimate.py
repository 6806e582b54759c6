"""Estimated ratios: against dense matrices; coverage of error bars; the spectrum of the pair."""

import numpy as np
import pytest
from scipy import stats

import firal
from firal.selection import fir_estimate
from firal.selection.class_operator import pool_and_chosen
from firal.selection.fir_estimate import estimate_fir, pair_spectrum

B = 12


def instance(seed=0, m=80, d=3, c=5, n0=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=(n0, d)), rng.normal(size=(c - 1, d))


def dense(pool, labeled, theta, w, ridge):
    """Sigma and H_p of the model with a reference class."""
    d, c = pool.shape[1], len(theta) + 1
    P = np.kron(np.eye(c - 1) - 1 / c, np.eye(d))
    Sigma = firal.information(pool, theta, w) + (len(labeled) + w.sum()) * ridge * P
    if len(labeled):
        Sigma += firal.information(labeled, theta, np.ones(len(labeled)))
    return Sigma, firal.information(pool, theta)


def symmetric(data):
    """Sigma of all classes, dense, ordered by class; and its diagonal blocks."""
    d, c = data.X.shape[1], data.p.shape[1]
    Sigma = data.strength * np.kron(np.eye(c) - 1 / c, np.eye(d))
    for x, p, w in zip(data.X, data.p, data.weights, strict=True):
        Sigma += w * np.kron(np.diag(p) - np.outer(p, p), np.outer(x, x))
    return Sigma, Sigma * np.kron(np.eye(c), np.ones((d, d)))


def chosen(seed, kind, m):
    rng = np.random.default_rng(seed)
    if kind == "rows":
        rows = rng.choice(m, B, replace=False)
        return dict(rows=rows), np.bincount(rows, minlength=m).astype(float)
    weights = rng.dirichlet(np.ones(m)) * B
    return dict(weights=weights), weights


@pytest.mark.parametrize("kind", ["rows", "weights"])
@pytest.mark.parametrize("ridge", [0.0, 0.02])
def test_the_estimate_is_the_dense_ratio(kind, ridge):
    pool, labeled, theta = instance(1)
    which, w = chosen(1, kind, len(pool))
    exact = firal.fir(*dense(pool, labeled, theta, w, ridge))
    rng = np.random.default_rng(0)
    found = estimate_fir(pool, labeled, theta, rng, ridge=ridge, probes=400, **which)
    assert abs(found.value - exact) < 4 * found.error and found.error < 0.02 * exact
    assert found.low < exact < found.high and found.iterations < 100
    bare = estimate_fir(pool, None, theta, rng, ridge=0.02, **which)
    exact = firal.fir(*dense(pool, labeled[:0], theta, w, 0.02))
    assert abs(bare.value - exact) < 4 * bare.error


def test_the_operator_and_its_blocks_are_the_dense_ones():
    pool, labeled, theta = instance(2)
    options = dict(weights=None, ridge=0.03, probabilities=None)
    mean, data = pool_and_chosen(pool, labeled, theta, rows=[1, 5, 9], **options)
    Sigma, blocks = symmetric(data)
    V = np.random.default_rng(0).normal(size=(3, 5, 2))
    flat = V.transpose(1, 0, 2).reshape(15, 2)
    expected = (Sigma @ flat).reshape(5, 3, 2).transpose(1, 0, 2)
    np.testing.assert_allclose(data.times(V), expected, atol=1e-12)
    for k, block in enumerate(data.diagonal_blocks()):
        part = slice(3 * k, 3 * k + 3)
        np.testing.assert_allclose(block, blocks[part, part], atol=1e-12)
    # the pseudoinverse has the ratio of the model with a reference class
    w = np.bincount([1, 5, 9], minlength=len(pool)).astype(float)
    ratio = np.trace(np.linalg.pinv(Sigma, rcond=1e-10) @ symmetric(mean)[0])
    assert ratio == pytest.approx(firal.fir(*dense(pool, labeled, theta, w, 0.03)), rel=1e-8)


@pytest.mark.parametrize("ridge", [0.0, 0.02])
def test_probabilities_of_any_classifier_take_the_place_of_theta(ridge):
    pool, labeled, theta = instance(4)
    given = tuple(firal.probabilities(X, theta) for X in (pool, labeled))
    options = dict(rows=np.arange(0, 20, 2), ridge=ridge, probes=8)
    own = estimate_fir(pool, labeled, theta, np.random.default_rng(0), **options)
    other = estimate_fir(
        pool, labeled, None, np.random.default_rng(0), probabilities=given, **options
    )
    assert other.value == pytest.approx(own.value, rel=1e-9)
    assert other.error == pytest.approx(own.error, rel=1e-6)
    rows = np.arange(0, 20, 2)
    if ridge:
        ends = pair_spectrum(pool, labeled, theta, rows=rows, ridge=ridge)
        same = pair_spectrum(pool, labeled, None, rows=rows, ridge=ridge, probabilities=given)
        assert same == pytest.approx(ends, rel=1e-9)


@pytest.mark.parametrize("control", [True, False])
def test_error_bars_cover_as_often_as_they_say(monkeypatch, control):
    pool, labeled, theta = instance(3)
    which, w = chosen(3, "rows", len(pool))
    exact = firal.fir(*dense(pool, labeled, theta, w, 0.02))
    if not control:
        monkeypatch.setattr(fir_estimate, "CONTROL_WORK", 0)
    rng = np.random.default_rng(0)
    runs = [
        estimate_fir(pool, labeled, theta, rng, ridge=0.02, probes=16, **which) for _ in range(200)
    ]
    values, errors = np.array([(r.value, r.error) for r in runs]).T
    covered = np.mean([r.low <= exact <= r.high for r in runs])
    assert 0.90 <= covered <= 0.99
    assert np.mean(np.abs(values - exact) <= errors) < 0.8  # a third of the bars does not cover
    assert abs(values.mean() - exact) < 4 * values.std() / np.sqrt(200)
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(values.std(), rel=0.15)
    assert (runs[0].block_diagonal is not None) == control
    if control:  # what it is for
        monkeypatch.setattr(fir_estimate, "CONTROL_WORK", 0)
        bare = estimate_fir(pool, labeled, theta, rng, ridge=0.02, probes=400, **which)
        assert bare.error * np.sqrt(400 / 16) > 2 * errors.mean()


@pytest.mark.parametrize("classes", [2, 6])
def test_no_error_is_left_for_two_classes_and_equal_probabilities(classes):
    pool, labeled, theta = instance(4, c=classes)
    theta = theta if classes == 2 else 0 * theta
    w = np.ones(len(pool))
    exact = firal.fir(*dense(pool, labeled, theta, w, 0.01))
    found = estimate_fir(
        pool, labeled, theta, np.random.default_rng(0), weights=w, ridge=0.01, probes=3
    )
    assert found.value == pytest.approx(exact, rel=1e-8)
    assert found.error < 1e-8 * exact
    assert found.block_diagonal == pytest.approx(exact * classes / (classes - 1), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_spectrum_is_that_of_dense_matrices_and_bounds_the_ratio(seed):
    pool, labeled, theta = instance(seed, c=3 + seed)
    which, w = chosen(seed, "rows", len(pool))
    found = pair_spectrum(pool, labeled, theta, ridge=0.02, **which)
    options = dict(weights=None, ridge=0.02, probabilities=None)
    Sigma, blocks = symmetric(pool_and_chosen(pool, labeled, theta, **which, **options)[1])
    values = np.sort(np.linalg.eigvals(np.linalg.solve(blocks, Sigma)).real)
    assert np.all(np.abs(values[:3]) < 1e-10)  # d zeros
    assert found.smallest == pytest.approx(values[3], rel=1e-4)
    assert found.largest == pytest.approx(values[-1], rel=1e-4) and found.largest <= 2
    blocks = firal.select(pool, labeled, theta, B, ridge=0.02, structure="block-diagonal")
    ends = pair_spectrum(pool, labeled, theta, rows=blocks.indices, ridge=0.02)
    w = np.bincount(blocks.indices, minlength=len(pool)).astype(float)
    full = firal.fir(*dense(pool, labeled, theta, w, 0.02))
    slack = 1 + 1e-4
    assert blocks.objective <= full * ends.largest * slack
    assert full * ends.smallest <= blocks.objective * slack


def test_two_classes_have_one_eigenvalue():
    pool, labeled, theta = instance(5, c=2)
    ends = pair_spectrum(pool, labeled, theta, rows=range(10), ridge=0.1)
    assert ends.smallest == pytest.approx(2) and ends.largest == pytest.approx(2)


def test_what_is_refused(monkeypatch):
    pool, labeled, theta = instance()
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="either rows or weights .* got neither"):
        estimate_fir(pool, labeled, theta, rng)
    with pytest.raises(ValueError, match="got both"):
        estimate_fir(pool, labeled, theta, rng, rows=[1], weights=np.ones(80))
    with pytest.raises(ValueError, match="full rank in every class"):
        estimate_fir(pool, None, theta, rng, rows=[1, 2])
    with pytest.raises(ValueError, match="full rank in every class"):
        pair_spectrum(pool, None, theta, rows=[1, 2])
    with pytest.raises(ValueError, match="no point is chosen"):
        estimate_fir(pool, labeled, theta, rng, weights=np.zeros(80))
    monkeypatch.setattr(fir_estimate, "MOST_ITERATIONS", 2)
    with pytest.warns(RuntimeWarning, match="stopped after 2 iterations"):
        estimate_fir(pool, labeled, theta, rng, rows=range(20), ridge=0.01)


@pytest.mark.parametrize("piece", [30, 7])
@pytest.mark.parametrize("control", [True, False])
def test_the_estimate_is_that_of_its_probes(monkeypatch, control, piece):
    """Every number of the result from the same normal numbers, by dense matrices."""
    pool, labeled, theta = instance(6, m=30)
    m, d, c, s = 30, 3, 5, 4
    monkeypatch.setattr(fir_estimate, "POINT_BYTES", 24 * c * s * piece)
    if not control:
        monkeypatch.setattr(fir_estimate, "CONTROL_WORK", m * c * d**2 - 1)
    rows = np.arange(0, 30, 2)
    found = estimate_fir(
        pool,
        labeled,
        theta,
        np.random.default_rng(7),
        rows=rows,
        ridge=0.02,
        probes=s,
        confidence=0.8,
    )
    options = dict(weights=None, ridge=0.02, probabilities=None)
    mean, data = pool_and_chosen(pool, labeled, theta, rows=rows, **options)
    (Sigma, blocks), (H, diagonal) = symmetric(data), symmetric(mean)
    e = np.random.default_rng(7).normal(size=(m, c, s))
    values, p = [], firal.probabilities(pool, theta)
    for t in range(s):
        w = np.zeros(c * d)
        for i, x in enumerate(pool):
            root = np.sqrt(p[i])
            label = root * (e[i, :, t] - root * (root @ e[i, :, t]))  # covariance diag(p) - p p^T
            w += np.kron(label, x) / np.sqrt(m)
        value = w @ np.linalg.pinv(Sigma, rcond=1e-10) @ w
        if control:
            exact = np.trace(np.linalg.solve(blocks, diagonal))
            value -= (1 - 1 / c) * (w @ np.linalg.solve(blocks, w) - exact)
        values.append(value)
    error = np.std(values, ddof=1) / 2
    half = stats.t(3).ppf(0.9) * error
    assert found.value == pytest.approx(np.mean(values), rel=1e-8)
    assert found.error == pytest.approx(error, rel=1e-7)
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))
    assert found.high - found.low == pytest.approx(2 * half, rel=1e-7)
    assert found.probes == s and np.trace(H) > 0
    if control:
        assert found.block_diagonal == pytest.approx(exact, rel=1e-11)
    else:
        assert found.block_diagonal is None


def test_the_spectrum_is_the_same_every_time():
    pool, labeled, theta = instance(7)
    first, second = (pair_spectrum(pool, labeled, theta, rows=range(12), ridge=0.02) for _ in "ab")
    assert first == second


@pytest.mark.parametrize(("probes", "confidence"), [(2, 0.5), (2, 0.95), (7, 0.8)])
def test_the_bar_is_that_of_students_distribution(probes, confidence):
    pool, labeled, theta = instance(7)
    found = estimate_fir(
        pool,
        labeled,
        theta,
        np.random.default_rng(0),
        rows=range(12),
        ridge=0.02,
        probes=probes,
        confidence=confidence,
    )
    assert 0 < found.error < np.inf  # of two probes too
    factor = stats.t.ppf((1 + confidence) / 2, probes - 1)
    assert found.high - found.value == pytest.approx(factor * found.error, rel=1e-9)
    assert found.value - found.low == pytest.approx(factor * found.error, rel=1e-9)
