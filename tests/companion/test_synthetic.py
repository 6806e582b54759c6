"""The experiment runner, against slow or exact references."""

import numpy as np
import pytest

from firal import excess_risk, fir, fit, information
from firal.companion import synthetic
from firal.theory import designs


@pytest.fixture(scope="module")
def setting():
    return synthetic.setting(3, 4, np.random.default_rng(0), n_test=2000)


@pytest.mark.parametrize("size", [1e-3, 0.1, 3.0, 300.0])
def test_quick_risk_equals_excess_risk(setting, size):
    theta = setting.theta + size * np.random.default_rng(1).standard_normal(setting.theta.shape)
    quick = synthetic.Risk(setting.theta, setting.points)(theta)
    assert quick == pytest.approx(excess_risk(theta, setting.theta, setting.points), rel=1e-8)


@pytest.mark.parametrize("c", [2, 3, 5])
def test_fit_from_finds_the_minimizer(c):
    rng = np.random.default_rng(c)
    theta = designs.simplex_theta(c, 5)
    for _ in range(8):
        X = synthetic.draw(600, 5, rng)
        y = designs.draw_labels(X, theta, rng)
        expected = fit(X, y, c, tol=1e-12).theta
        start = theta * rng.uniform(0.5, 1.2)
        np.testing.assert_allclose(synthetic.fit_from(X, y, start), expected, atol=1e-8)


def test_fit_from_says_when_there_is_no_minimizer():
    X = synthetic.draw(50, 3, np.random.default_rng(0))
    start = np.array([[1.0, 0.0, 0.0]])
    assert synthetic.fit_from(X, (X[:, 0] < 0).astype(int), start) is None
    assert synthetic.fit_from(X, np.zeros(50, dtype=int), start) is None  # a class without label


@pytest.mark.parametrize("operation", synthetic.OPERATIONS)
def test_amounts_have_the_wanted_ratio(setting, operation):
    targets = np.array([1.0, 3.0, 8.0])
    amounts = synthetic.amounts_for(setting, operation, targets)
    r = synthetic.ratios(setting, operation, amounts)
    np.testing.assert_allclose(r.fir / setting.theta.size, targets, rtol=1e-6)
    Hq = information(synthetic.move(setting.points, operation, amounts[1]), setting.theta)
    eigenvalues = np.linalg.eigvals(np.linalg.solve(Hq, setting.Hp)).real
    assert r.fir[1] == pytest.approx(eigenvalues.sum())
    assert r.sigma[1] == pytest.approx(eigenvalues.max())


def test_no_dilation_goes_below_the_smallest_ratio(setting):
    nu = synthetic.smallest_dilation(setting)
    least = synthetic.ratios(setting, "dilation", [nu]).fir[0]
    others = synthetic.ratios(setting, "dilation", np.geomspace(0.1, 150, 30)).fir
    assert least <= others.min() * 1.01
    with pytest.raises(ValueError, match="target must be at least"):
        synthetic.amounts_for(setting, "dilation", [0.2])


def test_sweep_is_the_literal_loop_and_ignores_the_workers(setting):
    amounts, sizes = [0.0, 8.0], [100, 300]
    sweep = synthetic.sweep(setting, "translation", amounts, sizes, 3, seed=5, workers=1)
    again = synthetic.sweep(setting, "translation", amounts, sizes, 3, seed=5, workers=2)
    np.testing.assert_array_equal(sweep.risk, again.risk)
    rng = np.random.default_rng(np.random.SeedSequence(5).spawn(3)[1])  # the second seed
    base, uniform = synthetic.draw(300, 4, rng), rng.random((300, 1))
    X = synthetic.move(base, "translation", 8.0)
    logits = np.column_stack([X @ setting.theta.T, np.zeros(300)])
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1)[:, :-1] < uniform).sum(axis=1)
    theta = fit(X[:100], y[:100], 3).theta
    expected = excess_risk(theta, setting.theta, setting.points)
    assert sweep.risk[1, 1, 0] == pytest.approx(expected, rel=1e-5)
    own = fir(information(X[:100], setting.theta), setting.Hp)
    assert sweep.own_fir[1, 1, 0] == pytest.approx(own)
    rows = list(sweep.records())
    assert len(rows) == 12
    assert rows[6].risk == sweep.risk[1, 1, 0] and rows[6].n == 100 and rows[6].amount == 8.0


def test_missing_runs_are_counted_and_never_lower_a_quantile():
    ratios = synthetic.Ratios(np.zeros(1), np.ones(1), np.ones(1))
    risk = np.array([1.0, 2.0, 3.0, np.nan, np.nan])[:, None, None]
    sweep = synthetic.Sweep(ratios, np.array([10]), risk, risk)
    assert sweep.missing.tolist() == [[2]]
    assert sweep.quantiles(0.5, 0.9).ravel().tolist() == [3.0, np.inf]


def test_curve_slope_recovers_a_power_law_and_leaves_out_empty_points():
    rng = np.random.default_rng(0)
    x = np.array([1.0, 2.0, 4.0, 8.0])
    risk = 0.1 * x**1.5 * rng.lognormal(0, 0.2, (200, 4))
    slope, low, high = synthetic.curve_slope(x, risk, rng)
    assert low < 1.5 < high and abs(slope - 1.5) < 0.1 and high - low < 0.2
    risk[:150, 3] = np.nan  # mostly missing, and the rest is misleading
    risk[150:, 3] = 1e6
    assert abs(synthetic.curve_slope(x, risk, rng)[0] - 1.5) < 0.1


def test_other_dimensions_and_laws_work_and_too_few_coordinates_do_not():
    for law in synthetic.LAWS:
        s = synthetic.setting(2, 16, np.random.default_rng(0), law=law, n_test=500)
        assert np.isfinite(synthetic.sweep(s, "dilation", [1.0], [800], 1, workers=1).risk).all()
    with pytest.raises(ValueError, match="needs d >= 7"):
        synthetic.setting(8, 4, np.random.default_rng(0))
    with pytest.raises(ValueError, match="unknown law 'cauchy'"):
        synthetic.draw(5, 2, np.random.default_rng(0), law="cauchy")
    with pytest.raises(ValueError, match="unknown operation 'rotation'"):
        synthetic.move(np.ones((3, 2)), "rotation", 1.0)
