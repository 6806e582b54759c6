"""What the figures to play with show is what the module computes, checked another way."""

import numpy as np
import pytest
from matplotlib.path import Path

from firal.companion.play import (
    bounds as play_bounds,
)
from firal.companion.play import (
    ftrl as play_ftrl,
)
from firal.companion.play import (
    passes as play_passes,
)
from firal.companion.play import (
    pool as play_pool,
)
from firal.companion.play import (
    ridge as play_ridge,
)
from firal.companion.play import (
    rounds as play_rounds,
)
from firal.companion.play.axis import number
from firal.information.fisher import fir, information
from firal.information.risk import excess_risk
from firal.loop import accuracy
from firal.model.fitting import fit
from firal.model.logistic import probabilities
from firal.selection.ftrl import sparsify
from firal.selection.relaxation import relax
from firal.strategies import PAPER
from firal.theory import bounds, designs, gaussian_design


def test_bounds_use_the_constants_of_the_theorem(monkeypatch):
    monkeypatch.setattr(play_bounds, "SIGNALS", (2.0, 1.0))
    signals = play_bounds.compute(0, 4, n_test=2000)
    constants = gaussian_design.binary_gaussian(2.0)
    C3 = constants.K0 * constants.K1 * constants.K2
    for C, stored in zip((1.0, C3), signals[2.0].alpha, strict=True):
        wanted = bounds.alpha(700, 8, 1.0, constants.rho, play_bounds.DELTA, C)
        assert stored / np.sqrt(700) == pytest.approx(wanted)
    figure = play_bounds.figure(signals)
    here = signals[1.0].alpha[1] / np.sqrt(play_bounds.SIZES[12])
    assert f"α = {number(here, 3)}" in figure.says
    ratio = signals[1.0].risk[-1] * 2 * play_bounds.MEASURED[-1] / 8
    assert 0.4 < ratio < 2  # four runs: of the right size


@pytest.fixture(scope="module")
def pool():
    return play_pool.compute(1, 30, n_test=4000)


def test_the_ellipse_is_a_level_line(pool):
    shift = play_pool.ellipse(pool[1], n=50) - play_pool.THETA[0][:, None]
    np.testing.assert_allclose(
        50 * np.sum(shift * (pool[1] @ shift), axis=0), -2 * np.log(0.1), rtol=1e-9
    )


def test_places_are_fits_to_labels_at_the_moved_points(pool):
    rng = np.random.default_rng([1, 2])
    X = 2 * rng.standard_normal((4000, 2))
    base = 2 * rng.standard_normal((30, play_pool.N, 2))
    uniform = rng.random((30, play_pool.N))
    nu, tau, r = 2.0, 1.5, 7
    Z = np.sqrt(nu) * base[r] + tau / np.sqrt(2)
    y = np.where(uniform[r] < probabilities(Z, play_pool.THETA)[:, 0], 0, 1)
    place = pool[2][nu, tau]
    theta = fit(Z, y, 2).theta
    np.testing.assert_allclose(place.fits[r], theta[0], atol=1e-6)
    assert place.risk[r] == pytest.approx(excess_risk(theta, play_pool.THETA, X), rel=1e-6)
    Hq = information(np.sqrt(nu) * X + tau / np.sqrt(2), play_pool.THETA)
    assert place.terms.fir == pytest.approx(fir(Hq, pool[1]))
    np.testing.assert_allclose(place.H, Hq)


def test_the_share_of_fits_in_the_ellipse_is_near_90_percent(pool):
    inside = np.mean([np.nanmean(play_pool._inside(pool[2][1.0, tau])) for tau in (0.0, 1.0)])
    assert 0.75 < inside < 1


def test_the_pool_figure_is_light(pool):
    assert len(play_pool.figure(*pool).html) < 230_000


@pytest.mark.parametrize("eta", [0.2, 16.0, 1000.0])
def test_the_steps_are_those_of_sparsify(eta):
    rng = np.random.default_rng(5)
    pool, theta = rng.standard_normal((15, 3)), rng.standard_normal((2, 3))
    z = relax(pool, None, theta, 9).z
    steps = play_ftrl.steps(pool, theta, z, 9, eta)
    wanted = sparsify(pool, None, theta, z, 9, eta)
    assert steps[-1].picked == tuple(wanted.indices) and steps[-1].pick is None
    gains = [step.gains[step.pick] for step in steps[:-1]]
    np.testing.assert_allclose(gains, wanted.gains, rtol=1e-6, atol=1e-9)
    assert steps[-1].information[0] == pytest.approx(wanted.lambda_min, abs=1e-9)
    for step in steps:
        assert step.A.sum() == pytest.approx(1)
        assert np.all(np.diff(step.A) <= 1e-12)  # the weakest direction first
        assert np.isnan(step.gains[list(step.picked)]).all()


def test_the_ftrl_figure_names_the_pick():
    pool, z, runs = play_ftrl.compute(1)
    assert z.sum() == pytest.approx(play_ftrl.BUDGET)
    figure = play_ftrl.figure(pool, z, runs)
    assert f"Next is point {runs[16.0][3].pick} " in figure.says


@pytest.mark.parametrize("seed", range(5))
def test_names_stand_beside_their_points_and_apart(seed):
    points = play_ftrl.compute(seed)[0]
    names = play_ftrl._beside(points, 0.36)
    assert np.allclose(np.linalg.norm(names - points, axis=1), 0.36)
    apart = np.linalg.norm(names[:, None] - names, axis=2) + np.eye(len(names))
    assert apart.min() > 0.25  # a number is about 0.25 wide
    near = np.linalg.norm(names[:, None] - points, axis=2)
    assert near.min() > 0.2  # nor does it cover a point


def test_regions_are_where_the_class_is_most_probable():
    rng = np.random.default_rng(2)
    theta = rng.standard_normal((3, 3))
    points = rng.uniform(-play_rounds.HALF, play_rounds.HALF, (500, 2))
    best = probabilities(np.column_stack([np.ones(500), points]), theta).argmax(axis=1)
    area = 0.0
    for k in range(4):
        x, y = play_rounds.region(theta, k)
        inside = Path(np.column_stack([x, y])).contains_points(points) if x.size else best < 0
        np.testing.assert_array_equal(inside, best == k)
        area += 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    assert area == pytest.approx((4 * play_rounds.HALF) ** 2)
    assert play_rounds.region(np.array([[5.0, 0, 0], [0, 0, 0], [0, 0, 0]]), 1).size == 0


def test_rounds_share_the_start_and_add_a_batch_each():
    pool, labels, runs = play_rounds.compute(0, 2)
    assert list(runs) == list(PAPER)
    start = runs["random"][0].known[0]
    assert sorted(labels[start]) == [0, 1, 2, 3]
    for trials in runs.values():
        run = trials[0]
        assert len(trials) == 2 and len(run.accuracy) == play_rounds.ROUNDS + 1
        for r, known in enumerate(run.known):
            assert set(known[:4]) == set(start) and len(set(known)) == 4 + 3 * r
            assert run.accuracy[r] == accuracy(pool, labels, run.theta[r])
            assert set(run.picked[r]) == set(known[4:][3 * r - 3 :] if r else [])
        p = probabilities(pool[run.picked[5]], run.theta[4])
        top = p.max(axis=1)
        second = np.where(p == top[:, None], 0, p).max(axis=1)
        assert run.margin[5] == pytest.approx(np.mean(top - second))
    # variation ratios picks the smallest margins, K-means does not look at them
    assert runs["var-ratios"][0].margin[5] < runs["kmeans"][0].margin[5]
    figure = play_rounds.figure(pool, labels, runs)
    assert f"accuracy {runs['firal'][0].accuracy[3]:.3f}" in figure.says


@pytest.fixture(scope="module")
def ridges():
    few = pytest.MonkeyPatch()
    few.setattr(play_ridge, "RIDGES", (1e-3, 1e-2, 1.0))
    few.setattr(play_ridge, "LABELS", (0, 3, 24))
    few.setattr(play_ridge, "BATCHES", (1, 2, 3, 4))
    yield play_ridge.compute(0)
    few.undo()


def test_the_penalized_ratio_is_that_of_select_and_its_parts_add_up(ridges):
    pool, labels, order, designs = ridges
    for (ridge, n0, batch), one in designs.items():
        assert not set(one.picked) & set(order[:n0]) and len(set(one.picked)) == batch
        assert np.all(np.diff(one.ratio) < 0) and one.bound <= one.ratio[-1] * (1 + 1e-9)
        np.testing.assert_allclose(one.shares.sum(axis=0), 1)
        assert np.all(one.shares[1] == 0) == (n0 == 0)
        theta = np.zeros((2, 3))
        if n0:
            r = ridge * (n0 + batch) / n0
            theta = fit(pool[order[:n0]], labels[order[:n0]], 3, r, penalty="symmetric").theta
        rest = np.sort(order[n0:])
        # written out: labeled and picked information, and n r A (x) I
        A = np.eye(2) - np.ones((2, 2)) / 3
        Sigma = (n0 + batch) * ridge * np.kron(A, np.eye(3))
        for row in [*order[:n0], *one.picked]:
            Sigma = Sigma + information(pool[[row]], theta)
        wanted = fir(Sigma, information(pool[rest], theta))
        assert one.ratio[-1] == pytest.approx(wanted, rel=1e-9)


def test_a_large_ridge_leaves_less_to_choose(ridges):
    designs = ridges[3]

    def better(ridge):  # than random
        return designs[ridge, 0, 4].random[-1] / designs[ridge, 0, 4].ratio[-1]

    assert 1 < better(1.0) < 2 < 5 < better(1e-3)
    assert designs[1.0, 0, 4].shares[0].min() > designs[1e-3, 0, 4].shares[0].max()


def test_the_ridge_figure_says_its_numbers(ridges):
    figure = play_ridge.figure(*ridges)
    one = ridges[3][1e-2, 24, 4]
    assert f"from {one.ratio[0]:.3g} to {one.ratio[-1]:.3g}" in figure.says


def test_passes_are_those_of_the_solver_and_end_at_the_gap():
    pool, runs = play_passes.compute(0)
    whole = {}
    for (b, taken), run in runs.items():
        assert run[-1].gap <= play_passes.TOL < run[-2].gap
        if b not in whole:
            theta = np.column_stack([np.zeros(2), designs.simplex_theta(3, 2)])
            whole[b] = relax(pool, None, theta, b, method="multiplicative", tol=1e-4)
        assert run[-1].value == pytest.approx(whole[b].objective, rel=2e-3)
        lower = whole[b].objective * (1 + 1e-9)
        for k, one in enumerate(run):
            assert one.lower <= lower
            assert one.lower >= (run[k - 1].lower if k else 0)
            assert len(one.rows) == len(one.z) and (one.z.sum() == pytest.approx(b) or k == 0)
            if k and k + 1 < len(run):  # what the pass says is taken in
                top = np.argsort(-one.scores)[:taken]
                assert np.isin(top, run[k + 1].rows).all()
        # the last pass: the b largest sensitivities are b f / b, up to the gap
        assert np.sort(run[-1].scores)[-b:].mean() == pytest.approx(1, abs=3e-3)
    figure = play_passes.figure(pool, runs)
    assert figure.says.startswith(f"Pass 2: {len(runs[6, 20][1].rows)} points")


def test_the_last_class_is_the_reference_in_draw_labels():
    """The pool figure draws labels itself; both ways have the same probabilities."""
    rng = np.random.default_rng(0)
    y = designs.draw_labels(np.tile([3.0, 0.0], (2000, 1)), play_pool.THETA, rng)
    assert np.mean(y == 0) == pytest.approx(1 / (1 + np.exp(-3)), abs=0.03)
