"""The penalty in the design: against dense formulas, enumeration, and problems that must agree."""

import warnings
from itertools import combinations

import numpy as np
import pytest
import reference_select as literal
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import firal
from firal.selection.adaptive import adaptive_sparsify
from firal.selection.problem import prepare_problem
from firal.selection.ties import AllPointsTie


def penalty(c, d):
    """P of the penalty: sum over all c classes of the squared parameters minus their mean."""
    center = np.eye(c) - np.full((c, c), 1 / c)
    rows = np.eye(c)[:, : c - 1]  # the reference's parameters are 0
    return np.kron(rows.T @ center @ rows, np.eye(d))


def dense(pool, labeled, theta, budget, ridge):
    """H(x_i), H_p, and what is known before the batch: labels and penalty."""
    H = np.array([literal.hessian(x, theta) for x in pool])
    known = sum((literal.hessian(x, theta) for x in labeled), np.zeros_like(H[0]))
    n = len(labeled) + budget
    return H, H.mean(axis=0), known + n * ridge * penalty(len(theta) + 1, pool.shape[1])


def value(H, H_p, start, rows):
    return np.trace(np.linalg.solve(start + H[list(rows)].sum(axis=0), H_p))


def instance(seed, m=12, d=3, c=3, n0=2):
    rng = np.random.default_rng(seed)
    pool, labeled = rng.normal(size=(m, d)), rng.normal(size=(n0, d))
    return pool, labeled, rng.normal(size=(c - 1, d)) * rng.choice([0.3, 2.0]), rng


@given(st.integers(0, 10**6), st.sampled_from([1e-4, 1e-2, 1.0]), st.integers(0, 3))
@settings(deadline=None, max_examples=40)
def test_objectives_are_the_dense_formula(seed, ridge, n0):
    pool, labeled, theta, rng = instance(seed, n0=n0)
    H, H_p, start = dense(pool, labeled, theta, 4, ridge)
    relaxed = firal.relax(pool, labeled, theta, 4, ridge=ridge, tol=1e-3)
    Sigma = start + np.tensordot(relaxed.z, H, axes=1)
    assert relaxed.objective == pytest.approx(np.trace(np.linalg.solve(Sigma, H_p)), rel=1e-9)
    picked = firal.select(pool, labeled, theta, 4, ridge=ridge)
    assert picked.objective == pytest.approx(value(H, H_p, start, picked.indices), rel=1e-9)
    for eta in (5.0, 500.0):
        run = firal.sparsify(pool, labeled, theta, relaxed.z, 4, eta, ridge=ridge)
        assert run.objective == pytest.approx(value(H, H_p, start, run.indices), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_no_set_beats_the_certificate_and_the_best_set_is_near(seed):
    pool, labeled, theta, _ = instance(seed, m=9)
    H, H_p, start = dense(pool, labeled, theta, 3, 0.01)
    best = min(value(H, H_p, start, rows) for rows in combinations(range(9), 3))
    found = firal.select(pool, labeled, theta, 3, ridge=0.01, tol=1e-3)
    assert best * (1 + 1e-9) >= found.relaxation.objective * (1 - found.relaxation.gap)
    assert best <= found.objective * (1 + 1e-9) and found.objective <= found.ratio * best
    assert found.objective <= 1.1 * best
    # without the penalty in the design the same picks do not have this objective
    assert firal.select(pool, labeled, theta, 3).objective != pytest.approx(found.objective)


@pytest.mark.parametrize("seed", range(6))
def test_literal_ftrl_picks_the_same_points(seed):
    pool, labeled, theta, _ = instance(seed)
    b, ridge, eta = 4, 0.05, 30.0
    H, _, start = dense(pool, labeled, theta, b, ridge)
    z = firal.relax(pool, labeled, theta, b, ridge=ridge, capped=False).z
    white = literal.whiten(H + start / b, z)
    picks, gains, smallest = literal.select(white, b, eta, replace=False)
    found = firal.sparsify(pool, labeled, theta, z, b, eta, ridge=ridge)
    assert found.indices.tolist() == picks.tolist()
    assert found.lambda_min == pytest.approx(smallest[-1], rel=1e-6)
    assert found.gains == pytest.approx(gains[range(b), picks], rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_greedy_is_forward_and_backward_on_the_dense_objective(seed):
    import reference_bait as slow

    pool, labeled, theta, _ = instance(seed)
    H, H_p, start = dense(pool, labeled, theta, 3, 0.02)
    rows = slow.backward(H, H_p, start, slow.forward(H, H_p, start, 6), 3)
    assert firal.bait(pool, labeled, theta, 3, ridge=0.02).tolist() == rows
    greedy = firal.select(pool, labeled, theta, 3, ridge=0.02, rounding="greedy")
    assert greedy.indices.tolist() == rows and greedy.eta is None


@given(st.integers(0, 10**6), st.integers(3, 5), st.integers(0, 3))
@settings(deadline=None, max_examples=30)
def test_before_the_first_label_the_small_problem_is_the_full_one(seed, c, n0):
    pool, labeled, _, _ = instance(seed, m=15, c=c, n0=n0)
    theta, b, ridge = np.zeros((c - 1, 3)), 4, 0.03
    small = prepare_problem(pool, labeled, theta, b, ridge=ridge)
    full = prepare_problem(pool, labeled, theta, b, ridge=ridge, factorize=False)
    assert (small.size, small.parameters, full.size) == (3, 3 * (c - 1), 3 * (c - 1))
    H, H_p, start = dense(pool, labeled, theta, b, ridge)
    relaxed = firal.relax(pool, labeled, theta, b, ridge=ridge, tol=1e-4)
    Sigma = start + np.tensordot(relaxed.z, H, axes=1)
    assert relaxed.objective == pytest.approx(np.trace(np.linalg.solve(Sigma, H_p)), rel=1e-9)
    # the rounding, with the same eta, against the literal one on the full matrices
    white = literal.whiten(H + start / b, relaxed.z)
    picks, gains, smallest = literal.select(white, b, 25.0, replace=False)
    found = firal.sparsify(pool, labeled, theta, relaxed.z, b, 25.0, ridge=ridge)
    assert found.gains == pytest.approx(gains[range(b), found.indices], rel=1e-6)
    assert found.lambda_min == pytest.approx(smallest[-1], rel=1e-6)
    assert found.indices.tolist() == picks.tolist()
    assert found.objective == pytest.approx(value(H, H_p, start, found.indices), rel=1e-9)
    adaptive = adaptive_sparsify(pool, labeled, theta, relaxed.z, b, ridge=ridge)
    assert adaptive.objective == pytest.approx(value(H, H_p, start, adaptive.indices), rel=1e-9)


def test_one_point_and_no_label():
    """The total penalty of one label is the ridge itself."""
    pool, labeled, theta, _ = instance(2, n0=0)
    for parameters in (theta, np.zeros_like(theta)):
        H, H_p, start = dense(pool, labeled, parameters, 1, 0.03)
        found = firal.select(pool, None, parameters, 1, ridge=0.03)
        assert found.objective == pytest.approx(value(H, H_p, start, found.indices), rel=1e-9)
        assert found.objective == pytest.approx(min(value(H, H_p, start, [i]) for i in range(12)))


def test_labeled_points_that_know_more_than_the_pool_need_the_full_problem():
    """Probabilities are even over the pool, but not at the labeled points."""
    pool, labeled, theta, _ = instance(3)
    even, p0 = np.full((12, 3), 1 / 3), firal.probabilities(labeled, 3 * theta)
    found = firal.select(pool, labeled, None, 4, ridge=0.02, probabilities=(even, p0))
    H, H_p, start = dense(pool, labeled[:0], np.zeros_like(theta), 4, 0.02)
    for x in labeled:  # two labels more, in the penalty too
        start += literal.hessian(x, 3 * theta)
    start += 2 * 0.02 * penalty(3, 3)
    assert found.objective == pytest.approx(value(H, H_p, start, found.indices), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_renaming_the_classes_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    c, X = 4, rng.normal(size=(40, 3))
    y = np.arange(40) % c
    rename = rng.permutation(c)
    picks = []
    for labels in (y, rename[y]):
        theta = firal.fit(X[:12], labels[:12], c, 0.01, penalty="symmetric").theta
        picks.append(firal.select(X[12:], X[:12], theta, 5, ridge=0.01).indices.tolist())
    assert picks[0] == picks[1]


def test_the_given_coordinates_count_and_rotations_do_not():
    pool, labeled, theta, rng = instance(3, m=60)
    options = dict(budget=5, ridge=0.1)
    start = firal.select(pool, labeled, theta, **options)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turned = firal.select(pool @ Q, labeled @ Q, theta @ Q, **options)
    assert turned.indices.tolist() == start.indices.tolist()
    assert turned.objective == pytest.approx(start.objective, rel=1e-9)
    stretch = np.diag([1.0, 1.0, 0.01])  # the third column hardly matters to a penalized fit
    other = firal.select(pool @ stretch, labeled @ stretch, theta / np.diag(stretch), **options)
    assert other.objective < 0.9 * start.objective


def test_dependent_and_badly_scaled_columns():
    pool, labeled, theta, rng = instance(5, m=30)
    mix = np.array([[1.0, 0, 0, 1e-6, 1], [0, 1, 0, 0, 1], [0, 0, 1e4, 0, 0]])
    wide, known = pool @ mix, labeled @ mix
    parameters = rng.normal(size=(2, 5)) * [1, 1, 1e-4, 1, 1]
    H, H_p, start = dense(wide, known, parameters, 4, 0.01)
    found = firal.select(wide, known, parameters, 4, ridge=0.01)
    assert found.objective == pytest.approx(value(H, H_p, start, found.indices), rel=1e-6)


def test_a_class_without_probability_drops_out_exactly():
    pool, labeled, theta, _ = instance(7, m=30, c=3)
    p = np.column_stack([firal.probabilities(pool, theta), np.zeros(30)])
    p0 = np.column_stack([firal.probabilities(labeled, theta), np.zeros(2)])
    with_it = firal.select(pool, labeled, None, 4, ridge=0.01, probabilities=(p, p0))
    without = firal.select(pool, labeled, theta, 4, ridge=0.01)
    assert with_it.indices.tolist() == without.indices.tolist()
    assert with_it.objective == pytest.approx(without.objective, rel=1e-9)
    # the full problem with a class of tiny probability tends to the same number
    tiny = 1e-9
    p, p0 = (np.column_stack([(1 - tiny) * q[:, :3], np.full(len(q), tiny)]) for q in (p, p0))
    near = firal.relax(pool, labeled, None, 4, ridge=0.01, probabilities=(p, p0))
    exact = firal.relax(pool, labeled, theta, 4, ridge=0.01)
    assert near.objective == pytest.approx(exact.objective, rel=1e-4)


def test_probabilities_stand_in_for_theta():
    pool, labeled, theta, _ = instance(9, m=30)
    given_ = firal.probabilities(pool, theta), firal.probabilities(labeled, theta)
    for ridge in (0.0, 0.01):
        by_theta = firal.select(pool, labeled, theta, 4, ridge=ridge)
        found = firal.select(pool, labeled, None, 4, ridge=ridge, probabilities=given_)
        assert found.indices.tolist() == by_theta.indices.tolist()


def test_errors_say_what_came_and_what_to_do():
    pool, labeled, theta, _ = instance(1)
    p, p0 = firal.probabilities(pool, theta), firal.probabilities(labeled, theta)
    with pytest.raises(ValueError, match="theta must be given, or probabilities"):
        firal.select(pool, labeled, None, 2)
    with pytest.raises(ValueError, match="got both"):
        firal.select(pool, labeled, theta, 2, probabilities=(p, p0))
    with pytest.raises(ValueError, match=r"probabilities\[1\] must have shape \(2, 3\)"):
        firal.select(pool, labeled, None, 2, probabilities=(p, p0[:1]))
    with pytest.raises(ValueError, match="sums from"):
        firal.select(pool, labeled, None, 2, probabilities=(2 * p, p0))
    with pytest.raises(ValueError, match="ridge must be a finite number >= 0"):
        firal.relax(pool, labeled, theta, 2, ridge=-1)
    with pytest.raises(ValueError, match='rounding must be "ftrl" with ridge=0'):
        firal.select(pool, labeled, theta, 2, rounding="greedy")


@pytest.mark.parametrize("c", [2, 3, 5])
def test_the_symmetric_fit_is_that_of_scikit_learn(c):
    rng = np.random.default_rng(c)
    X, ridge = rng.normal(size=(60, 4)), 0.02
    y = np.argmax(X @ rng.normal(size=(4, c)) + rng.normal(size=(60, c)), axis=1)
    # with two classes scikit-learn penalizes the difference, whose square counts half here
    C = (2 if c == 2 else 1) / (60 * ridge)
    model = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=10**4).fit(X, y)
    theta = firal.fit(X, y, c, ridge, penalty="symmetric").theta
    assert np.abs(firal.probabilities(X, theta) - model.predict_proba(X)).max() < 1e-5
    other = firal.fit(X, y, c, ridge).theta
    assert np.abs(firal.probabilities(X, other) - model.predict_proba(X)).max() > 1e-4


def test_equal_points_are_said_to_tie_and_wide_ones_are_not():
    theta = np.array([[1.0, -1.0]])
    with pytest.warns(AllPointsTie, match="same features"):
        firal.select(np.ones((5, 2)), None, theta, 2, ridge=0.01)
    wide = np.random.default_rng(0).normal(size=(6, 9))  # fewer points than features
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        firal.select(wide, None, np.zeros((1, 9)), 2, ridge=0.01)
        firal.bait(wide, None, None, 2, ridge=0.01, probabilities=(np.full((6, 2), 0.5), None))
    with pytest.warns(AllPointsTie, match="linearly independent"):
        firal.bait(wide, None, np.zeros((1, 9)), 2)


@pytest.mark.parametrize("scale, ridge", [(1.0, 1e-11), (255.0, 1e-9), (1e6, 1e-2), (1.0, 1e-300)])
def test_a_ridge_that_is_lost_to_rounding_is_refused(scale, ridge):
    pool = scale * np.random.default_rng(0).normal(size=(50, 6))
    for run in (
        lambda: firal.select(pool, None, np.zeros((1, 6)), 3, ridge=ridge),
        lambda: firal.bait(pool, None, np.zeros((2, 6)), 3, ridge=ridge),
        lambda: firal.select(
            pool, None, np.zeros((1, 6)), 3, ridge=ridge, structure="block-diagonal"
        ),
    ):
        with pytest.raises(ValueError, match="negligible against the features"):
            run()


@pytest.mark.parametrize("ridge", [1e-8, 1e-7])
def test_a_weak_ridge_and_few_points_do_not_break_the_backward_steps(ridge):
    for seed in range(10):
        pool = np.random.default_rng(seed).normal(size=(60, 8))
        for c in (2, 4):
            theta = np.random.default_rng(seed).normal(size=(c - 1, 8))
            assert len(set(firal.select(pool, None, theta, 2, ridge=ridge).indices)) == 2


def test_the_ratio_is_about_distinct_points():
    pool = np.array([(10, 0), (0, 0.1), (0, 0.1), (0.1, 0.1), *[(0.01, 0.01)] * 5])
    found = firal.select(pool, None, np.zeros((1, 2)), 3, ridge=0.1, replace=True)
    assert np.isnan(found.ratio) or len(set(found.indices)) == 3
    assert firal.select(pool, None, np.zeros((1, 2)), 3, ridge=0.1).ratio >= 1
    with pytest.raises(ValueError, match="eta must be None with"):
        firal.select(pool, None, np.zeros((1, 2)), 3, ridge=0.1, rounding="greedy", eta=3.0)


def test_only_classes_without_any_probability_are_dropped():
    from firal.selection.problem import kept_classes

    assert kept_classes(np.array([2.0, 1e-12, 0.0, 5e-324]))[0].tolist() == [1, 3]


def test_the_better_of_forward_and_backward_steps_is_kept_however_close_they_are():
    """The forward steps are better by 4e-5 here: more than rounding."""
    rng = np.random.default_rng(159)
    pool, labeled, theta = (
        scale * rng.normal(size=(n, 2)) for scale, n in ((1, 14), (1, 3), (0.92, 2))
    )
    P, steps = np.kron(np.eye(2) - 1 / 3, np.eye(2)), []

    def objective(rows):
        Sigma = firal.information(pool[rows], theta, np.ones(len(rows)))
        Sigma += firal.information(labeled, theta, np.ones(3)) + (3 + 4) * 0.02 * P
        return firal.fir(Sigma, firal.information(pool, theta))

    found = firal.select(
        pool,
        labeled,
        theta,
        4,
        ridge=0.02,
        rounding="greedy",
        watch=lambda i, _: steps.append(i),
    )
    backward = list(steps)
    while len(backward) > 4:
        rest = {i: objective([j for j in backward if j != i]) for i in backward}
        backward.remove(min(rest, key=rest.get))
    assert 1e-5 < objective(backward) / objective(steps[:4]) - 1 < 1e-4
    assert sorted(found.indices) == sorted(steps[:4])
    assert found.objective == pytest.approx(objective(steps[:4]), rel=1e-10)


def test_as_many_candidates_as_picks_are_all_picked():
    rng = np.random.default_rng(0)
    pool, theta = rng.normal(size=(20, 2)), rng.normal(size=(2, 2))
    options = dict(ridge=0.1, rounding="greedy")
    found = firal.select(pool, None, theta, 4, candidates=[9, 1, 7, 5], **options)
    assert sorted(found.indices.tolist()) == [1, 5, 7, 9]
    with pytest.raises(ValueError, match="candidates must be at least 4 rows, the budget, got 3"):
        firal.select(pool, None, theta, 4, candidates=[9, 1, 7], **options)


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_copies_of_one_point_tie_whatever_is_labeled(copies):
    pool, labeled = np.tile([1.0, 2.0], (copies, 1)), np.array([[0.0, 1.0], [3.0, 0.0]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        firal.bait(pool, labeled, np.array([[1.0, -1.0]]), 1, ridge=0.01)
    assert any(w.category is AllPointsTie for w in caught) == (copies > 1)


def test_relax_with_probabilities_and_with_more_picks_than_points():
    rng = np.random.default_rng(0)
    pool, labeled, theta = rng.normal(size=(9, 2)), rng.normal(size=(3, 2)), rng.normal(size=(2, 2))
    given = tuple(firal.probabilities(X, theta) for X in (pool, labeled))
    for ridge in (0.0, 0.1):
        by_theta = firal.relax(pool, labeled, theta, 4, ridge=ridge)
        by_given = firal.relax(pool, labeled, None, 4, ridge=ridge, probabilities=given)
        assert by_given.objective == pytest.approx(by_theta.objective, rel=1e-10)
    assert firal.relax(pool, None, theta, 20, capped=False).z.sum() == pytest.approx(20)
    with pytest.raises(ValueError, match="at most the pool size 9, got 20: set capped=False to"):
        firal.relax(pool, None, theta, 20)
