"""Rounding by FTRL: against the literal transcription, the paper's bounds, odd input."""

import numpy as np
import pytest
import reference_select as literal
from hypothesis import given, settings
from hypothesis import strategies as st

from firal.model.logistic import probabilities
from firal.selection.certificate import scale_to_sum
from firal.selection.ftrl import sparsify
from firal.selection.relaxation import relax
from firal.selection.rounding import prepare_rounding
from firal.selection.scoring import bordered_derivative
from firal.selection.structure import prepare_with_weights

SEEDS = st.integers(0, 10**6)
ETAS = st.floats(-2, 5).map(lambda power: float(10**power))


def weighted_problem(seed, **kwargs):
    """A tiny problem with random weights z, and its whitened matrices."""
    data = literal.tiny_problem(seed, **kwargs)
    rng = np.random.default_rng(seed)
    z = scale_to_sum(rng.uniform(0.05, 1, size=len(data[0])), data[3], False)
    H, H_p = literal.matrices(*data)
    return data, z, literal.whiten(H, z), H, H_p


@given(SEEDS, ETAS, st.booleans())
@settings(max_examples=100)
def test_same_picks_as_the_literal_transcription(seed, eta, replace):
    data, z, H_tilde, H, H_p = weighted_problem(seed)
    picks, gains, smallest = literal.select(H_tilde, data[3], eta, replace)
    result = sparsify(*data[:3], z, data[3], eta, replace=replace)
    assert result.indices.tolist() == picks.tolist()
    assert result.gains == pytest.approx(gains[np.arange(data[3]), picks], rel=1e-7, abs=1e-10)
    assert result.lambda_min == pytest.approx(smallest[-1], rel=1e-7, abs=1e-10)
    # Proposition 8, along the run
    size = H_tilde.shape[1]
    bound = np.cumsum(result.gains) - 2 * np.sqrt(size) / eta
    assert result.lower_bound == pytest.approx(bound, rel=1e-9, abs=1e-12)
    assert (result.lower_bound <= smallest + 1e-9).all()
    # the objective of the picks, and Proposition 7
    if smallest[-1] > 1e-8:
        value = np.trace(np.linalg.solve(H[picks].sum(axis=0), H_p))
        assert result.objective == pytest.approx(value, rel=1e-6)
        assert value <= literal.objective(H, H_p, z) / smallest[-1] * (1 + 1e-9)


@given(SEEDS, ETAS)
@settings(max_examples=40)
def test_same_picks_as_the_small_matrix_form_of_the_paper(seed, eta):
    (pool, labeled, theta, budget), z, H_tilde, H, _ = weighted_problem(seed)
    root = literal.power(np.tensordot(z, H, axes=1), -0.5)
    P_tilde = list(literal.thin_factors(pool, theta, root))
    D_tilde = H_tilde[0] - P_tilde[0] @ P_tilde[0].T
    picks = literal.printed_select(P_tilde, D_tilde, budget, eta)
    result = sparsify(pool, labeled, theta, z, budget, eta, replace=True)
    assert result.indices.tolist() == picks.tolist()


@given(SEEDS, ETAS)
@settings(max_examples=100)
def test_every_step_with_replacement_gains_enough(seed, eta):
    # sharper than Proposition 9: 1 / (b + eta sqrt(d~)), without the factor 1 - eta / (2 b)
    data, z, H_tilde, *_ = weighted_problem(seed)
    result = sparsify(*data[:3], z, data[3], eta, replace=True)
    assert result.gains.min() >= (1 - 1e-9) / (data[3] + eta * np.sqrt(H_tilde.shape[1]))


def test_distinct_points_and_repeated_points():
    data, z, *_ = weighted_problem(7)
    pool, labeled, theta, _ = data
    every = sparsify(pool, labeled, theta, scale_to_sum(z, len(pool), False), len(pool), 20.0)
    assert sorted(every.indices) == list(range(len(pool)))
    many = sparsify(pool, labeled, theta, 10 * z, 10 * data[3], 20.0, replace=True)
    assert many.indices.size == 10 * data[3] and np.unique(many.indices).size <= len(pool)


@given(SEEDS, st.booleans())
@settings(max_examples=40)
def test_invariance(seed, replace):
    (pool, labeled, theta, budget), z, *_ = weighted_problem(seed)
    rng = np.random.default_rng(seed)
    first = sparsify(pool, labeled, theta, z, budget, 9.0, replace=replace)
    order = rng.permutation(len(pool))
    moved = sparsify(pool[order], labeled, theta, z[order], budget, 9.0, replace=replace)
    assert order[moved.indices].tolist() == first.indices.tolist()
    full = np.vstack([theta, np.zeros(theta.shape[1])])[rng.permutation(len(theta) + 1)]
    swapped = sparsify(pool, labeled, full[:-1] - full[-1], z, budget, 9.0, replace=replace)
    assert swapped.indices.tolist() == first.indices.tolist()
    A = rng.normal(size=(pool.shape[1],) * 2) + 3 * np.eye(pool.shape[1])
    other = theta @ np.linalg.inv(A).T
    mapped = sparsify(pool @ A, labeled @ A, other, z, budget, 9.0, replace=replace)
    assert mapped.indices.tolist() == first.indices.tolist()
    assert mapped.gains == pytest.approx(first.gains, rel=1e-6)


def test_ties_go_to_the_lowest_index():
    rng = np.random.default_rng(1)
    base = rng.normal(size=(8, 3))
    pool, theta = np.vstack([base, base, base]), rng.normal(size=(2, 3))
    z = np.full(24, 6 / 24)
    single = sparsify(base, None, theta, np.full(8, 6 / 8), 6, 15.0, replace=True)
    again = sparsify(pool, None, theta, z, 6, 15.0, replace=True)
    assert again.indices.tolist() == single.indices.tolist() and again.indices.max() < 8
    distinct = sparsify(pool, None, theta, z, 6, 15.0)
    for step, i in enumerate(distinct.indices):  # copies are used up from the lowest index
        assert set(range(i % 8, i, 8)) <= set(distinct.indices[:step].tolist())


@pytest.mark.parametrize("corners", range(3, 13))
def test_points_equal_by_symmetry_are_ties(corners):
    # the corners of a regular polygon at theta = 0 differ by rounding only
    angle = 2 * np.pi * np.arange(corners) / corners
    pool = np.column_stack([np.cos(angle), np.sin(angle)])
    result = sparsify(pool, None, np.zeros((2, 2)), np.full(corners, 3 / corners), 3, 7.0)
    assert result.indices[0] == 0


@given(st.integers(1, 6), SEEDS)
@settings(max_examples=60)
def test_bordered_elimination_against_dense_algebra(k, seed):
    rng = np.random.default_rng(seed)
    n = 5
    h = rng.dirichlet(np.full(k + 1, rng.choice([0.05, 1.0, 10.0])), size=n)
    roots = rng.normal(size=(2, n, k, k)) * rng.choice([0.1, 1.0, 10.0])
    Q1, Q2 = roots @ roots.transpose(0, 1, 3, 2)
    upper = np.triu_indices(k)
    packed = [np.ascontiguousarray(Q[:, *upper].T) for Q in (Q1, Q2)]
    found = bordered_derivative(*packed, h[:, :-1].T, h[:, -1])
    for i in range(n):
        G = np.diag(h[i, :-1]) - np.outer(h[i, :-1], h[i, :-1])
        dense = np.trace(np.linalg.solve(np.eye(k) + G @ Q1[i], G @ Q2[i]))
        assert found[i] == pytest.approx(dense, rel=1e-8, abs=1e-13)


@pytest.mark.parametrize("dtype, rel", [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_bordered_elimination_with_certain_classes(dtype, rel):
    # probability exactly 0 or 1: the class drops out, the result is that of the others
    T, dT = np.array([[[2.0], [0.3], [1.5]], [[1.0], [0.2], [0.7]]], dtype)

    def derivative(rows, h, reference):
        h = np.array(h, dtype)[:, None]
        return bordered_derivative(T[rows].copy(), dT[rows].copy(), h, np.array([reference], dtype))

    with np.errstate(divide="raise", invalid="raise"):
        one_left = derivative(slice(0, 3), [0.0, 0.4], 0.6)
        assert one_left == pytest.approx(derivative(slice(2, 3), [0.4], 0.6), rel=rel)
        assert derivative(slice(0, 3), [0.0, 1.0], 0.0) == pytest.approx(0, abs=rel)


def test_tiny_probabilities_do_not_disturb():
    rng = np.random.default_rng(2)
    pool = np.column_stack([rng.normal(size=(40, 2)), np.ones(40)])
    labeled = np.column_stack([rng.normal(size=(5, 2)), np.ones(5)])
    # class 1 has probability about e^-250 everywhere; its information is a problem of its own scale
    theta = np.array([[0.5, -1.0, 0.3], [0.4, 0.2, -250.0]])
    z = np.full(40, 8 / 40)
    result = sparsify(pool, labeled, theta, z, 8, 20.0)
    assert np.isfinite(result.gains).all() and np.isfinite(result.lower_bound).all()
    # class 1 at probability p << 1 has information p x x^T: scaling p changes nothing
    theta[1, 2] = -60.0
    assert result.indices.tolist() == sparsify(pool, labeled, theta, z, 8, 20.0).indices.tolist()


@pytest.mark.parametrize("d", [2, 3, 4])
def test_too_few_points_for_full_rank(d):
    # rounding lets about every tenth of these singular matrices pass as positive definite
    for seed in range(40):
        rng = np.random.default_rng(seed)
        pool, theta = rng.normal(size=(30, d)), rng.normal(size=(1, d))
        result = sparsify(pool, None, theta, np.full(30, (d - 1) / 30), d - 1, 20.0)
        assert result.lambda_min < 1e-12 and result.objective == np.inf
        assert np.isfinite(result.gains).all()


@pytest.mark.parametrize(
    "change, message",
    [
        ({"eta": 0}, "eta must be a finite number > 0 .*, got 0"),
        ({"eta": 1e13}, "eta must be a finite number .*, got 1"),
        ({"eta": np.inf}, "eta must be a finite number"),
        ({"z": np.ones(5)}, "z must have shape"),
        ({"z": -np.ones(6)}, "z must be nonnegative"),
        ({"z": np.ones(6)}, "z must have sum 3, the budget, got sum 6"),
        ({"z": np.array([3.0, 0, 0, 0, 0, 0]), "labeled": None}, "singular Sigma"),
        ({"budget": 7, "z": np.full(6, 7 / 6)}, "pool size 6, got 7: set replace=True to allow"),
        ({"pool": np.ones((6, 2, 1))}, "pool must have shape"),
        ({"watch": 3}, "watch must be None or a function, got 3"),
        ({"replace": "no"}, "replace must be True or False, got 'no'"),
    ],
)
def test_bad_input_gets_one_clear_error(change, message):
    rng = np.random.default_rng(0)
    good = {
        "pool": rng.normal(size=(6, 2)),
        "labeled": rng.normal(size=(3, 2)),
        "theta": rng.normal(size=(2, 2)),
        "z": np.full(6, 0.5),
        "budget": 3,
        "eta": 10.0,
    } | change
    with pytest.raises(ValueError, match=message):
        sparsify(**good)


def test_float32_input_gives_the_same_picks_as_its_float64_copy():
    rng = np.random.default_rng(5)
    pool = rng.normal(size=(50, 4)).astype(np.float32)
    theta = rng.normal(size=(3, 4)).astype(np.float32)
    z = relax(pool, None, theta, 10).z
    narrow = sparsify(pool, None, theta, z, 10, 20.0)
    wide = sparsify(pool.astype(float), None, theta.astype(float), z, 10, 20.0)
    assert narrow.indices.tolist() == wide.indices.tolist()
    assert narrow.gains.dtype == np.float64


def test_one_thread_alone_and_eigenvalues_that_are_known():
    data = literal.tiny_problem(3)
    problem, z, _ = prepare_with_weights(*data[:3], relax(*data).z, data[3], False)
    rounding = prepare_rounding(problem._replace(threads=2), z)
    alone = rounding.alone()
    assert rounding.problem.threads == 2 and alone.problem.threads == 1
    assert alone.scorer is not rounding.scorer and alone.spectra is rounding.spectra
    first, second = rounding.picked(), alone.picked()
    assert first.spectrum_is_known()  # of no points
    for picked in (first, second):
        picked.add(1)
        picked.add(0)
    assert not second.spectrum_is_known()
    values = first.spectrum()
    assert second.spectrum_is_known() and second.spectrum() is values
    np.testing.assert_allclose(values, np.linalg.eigvalsh(first.white), atol=1e-12)


def test_a_rounding_where_only_the_first_points_may_be_picked():
    data = literal.tiny_problem(3)
    problem, z, _ = prepare_with_weights(*data[:3], relax(*data).z, data[3], False)
    rounding = prepare_rounding(problem, z)
    first = rounding.of_first(3)
    assert first.problem.n_points == 3 and rounding.problem.n_points == len(data[0]) > 3
    W = rounding.Sigma
    np.testing.assert_array_equal(first.scorer.all(W, W), rounding.scorer.all(W, W)[:3])


def test_probabilities_in_place_of_theta():
    pool, labeled, theta, budget = literal.tiny_problem(4, n_labeled=3)
    z = np.full(len(pool), budget / len(pool))
    given_p = (probabilities(pool, theta), probabilities(labeled, theta))
    expected = sparsify(pool, labeled, theta, z, budget, 5.0)
    found = sparsify(pool, labeled, None, z, budget, 5.0, probabilities=given_p)
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.gains == pytest.approx(expected.gains, rel=1e-9)


@pytest.mark.parametrize("eta", [1e-3, 0.5])
def test_small_learning_rates_are_valid(eta):
    data, z, H_tilde, *_ = weighted_problem(1)
    result = sparsify(*data[:3], z, data[3], eta)
    assert result.indices.tolist() == literal.select(H_tilde, data[3], eta, False)[0].tolist()
    with pytest.raises(ValueError, match="eta must be a finite number > 0"):
        sparsify(*data[:3], z, data[3], 0.0)
