"""Block-diagonal information: against dense blocks, brute-force greedy and the full problem."""

import numpy as np
import pytest
from scipy import linalg

import firal
from firal.selection import block_diagonal
from firal.selection.block_diagonal import inverse_or_none, prepare_blocks
from firal.selection.block_greedy import _Greedy, block_greedy
from firal.selection.block_rounding import any_rounding
from firal.selection.penalized import LARGEST_FULL, select_penalized
from firal.selection.relaxation import solve
from firal.selection.summed_blocks import SummedBlocks, inner_product
from firal.selection.working_set import solve_on_working_set


def instance(seed=0, m=14, d=3, c=4, n0=2):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(c - 1, d))
    return rng.normal(size=(m, d)), rng.normal(size=(n0, d)), theta


def dense(pool, labeled, theta, budget, ridge):
    """Blocks g_ik x x^T of every point (m, c, d, d), H_p, and labeled information with penalty."""
    d, c = pool.shape[1], len(theta) + 1

    def each(X):
        p = firal.probabilities(X, theta)
        return np.einsum("ik,ia,ib->ikab", p * (1 - p), X, X)

    H, n = each(pool), len(labeled) + budget
    start = each(labeled).sum(axis=0) + n * ridge * (1 - 1 / c) * np.eye(d)
    return H, H.mean(axis=0), start


def value(H, H_p, start, rows):
    S = start + H[list(rows)].sum(axis=0)
    return sum(np.trace(np.linalg.solve(a, b)) for a, b in zip(S, H_p, strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_greedy_steps_are_the_best_single_changes(seed):
    pool, labeled, theta = instance(seed)
    H, H_p, start = dense(pool, labeled, theta, 3, 0.02)
    added = []
    for _ in range(6):
        rest = [i for i in range(len(pool)) if i not in added]
        added.append(min(rest, key=lambda i: value(H, H_p, start, [*added, i])))
    left = list(added)
    while len(left) > 3:
        left.remove(min(left, key=lambda i: value(H, H_p, start, [j for j in left if j != i])))
    problem = prepare_blocks(pool, labeled, theta, 3, ridge=0.02)
    watched = []
    forward, kept = block_greedy(problem, watch=lambda i, decrease: watched.append((i, decrease)))
    assert forward.tolist() == added[:3] and sorted(kept) == sorted(left)
    assert [i for i, _ in watched] == added
    for step, (i, decrease) in enumerate(watched):
        before = value(H, H_p, start, added[:step])
        after = value(H, H_p, start, [*added[:step], i])
        assert decrease[i] == pytest.approx(before - after, rel=1e-8)
    found = firal.select(pool, labeled, theta, 3, ridge=0.02, structure="block-diagonal")
    least = min(value(H, H_p, start, forward), value(H, H_p, start, kept))
    assert found.objective == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("capped", [True, False])
def test_relaxed_weights_and_their_certificate(capped):
    pool, labeled, theta = instance(3, m=2500)
    problem = prepare_blocks(pool, labeled, theta, 20, ridge=0.01)
    full = solve(problem, capped, "multiplicative", 1e-4, 3000)
    found = solve_on_working_set(problem, capped, 0.01, 1000)
    H, H_p, start = dense(pool, labeled, theta, 20, 0.01)
    S = start + np.tensordot(found.z, H, axes=1)
    f = sum(np.trace(np.linalg.solve(a, b)) for a, b in zip(S, H_p, strict=True))
    assert found.objective == pytest.approx(f, rel=1e-9)
    assert found.objective * (1 - found.gap) <= full.objective * (1 + 1e-12)
    assert full.objective * (1 - full.gap) <= found.objective and found.gap <= 0.01
    # no greedy choice beats the certificate
    picked = firal.select(pool, labeled, theta, 20, ridge=0.01, structure="block-diagonal")
    assert picked.objective >= found.objective * (1 - found.gap) and picked.ratio < 2
    assert picked.objective <= picked.relaxation.objective / picked.lambda_min * (1 + 1e-9)


def test_before_the_first_label_it_is_the_full_problem():
    pool, labeled, _ = instance(4, m=40)
    theta = np.zeros((3, 3))
    full = firal.select(pool, labeled, theta, 5, ridge=0.01, rounding="greedy")
    blocks = firal.select(pool, labeled, theta, 5, ridge=0.01, structure="block-diagonal")
    assert blocks.indices.tolist() == full.indices.tolist()
    assert blocks.objective == pytest.approx(full.objective * 4 / 3, rel=1e-9)  # c / (c - 1)


def test_renaming_the_classes_changes_nothing():
    pool, labeled, theta = instance(5, m=60)
    p, p0 = firal.probabilities(pool, theta), firal.probabilities(labeled, theta)
    order = [2, 0, 3, 1]
    options = dict(ridge=0.01, structure="block-diagonal")
    one = firal.select(pool, labeled, None, 5, probabilities=(p, p0), **options)
    two = firal.select(pool, labeled, None, 5, probabilities=(p[:, order], p0[:, order]), **options)
    assert one.indices.tolist() == two.indices.tolist()


def test_many_classes_take_the_blocks():
    rng = np.random.default_rng(0)
    c, d = 80, 20
    assert d * (c - 1) > LARGEST_FULL
    pool, theta = rng.normal(size=(300, d)), rng.normal(size=(c - 1, d)) / 3
    found = select_penalized(
        pool, pool[:5], theta, 6, np.random.default_rng(0), clusters=0, typical=1
    )
    same = firal.select(pool, pool[:5], theta, 6, ridge=0.01, structure="block-diagonal", tol=0.1)
    assert found.indices.tolist() == same.indices.tolist()


def test_folded_changes_change_nothing_and_a_pass_is_exact(monkeypatch):
    pool, labeled, theta = instance(6, m=300)
    problem = prepare_blocks(pool, labeled, theta, 12, ridge=0.02)
    plain = block_greedy(problem)
    monkeypatch.setattr("firal.selection.block_greedy.PENDING_BYTES", 0)
    monkeypatch.setattr("firal.selection.block_greedy.FEWEST_PENDING", 5)
    folded = block_greedy(problem)
    assert [rows.tolist() for rows in folded] == [rows.tolist() for rows in plain]
    M = problem.evaluator()(problem.labeled_information)[1]
    exact = problem.contract(M)
    dense_M = np.einsum("ik,ia,kab,ib->i", problem.g, pool, M, pool)
    np.testing.assert_allclose(exact, dense_M, rtol=1e-11)


def test_the_certificate_of_a_choice_is_that_of_dense_matrices():
    pool, labeled, theta = instance(10, m=25)
    problem = prepare_blocks(pool, labeled, theta, 4, ridge=0.02)
    H, H_p, start = dense(pool, labeled, theta, 4, 0.02)
    z = np.random.default_rng(1).dirichlet(np.ones(25)) * 4 * (np.arange(25) % 3 > 0)
    rows = np.array([2, 9, 11, 20])
    Sigma, S = start + np.tensordot(z, H, axes=1), start + H[rows].sum(axis=0)
    smallest = min(linalg.eigh(a, b, eigvals_only=True)[0] for a, b in zip(S, Sigma, strict=True))
    found = any_rounding(problem, z).quality(rows)
    assert found == pytest.approx((smallest, value(H, H_p, start, rows)), rel=1e-9, abs=0)
    alone = any_rounding(problem._replace(labeled_information=0 * start), z)
    assert alone.quality(rows[:2]) == (pytest.approx(0, abs=1e-12), np.inf)


def test_what_blocks_report_while_they_are_computed():
    pool, labeled, theta = instance(m=40)
    calls = []
    options = dict(
        ridge=0.02, structure="block-diagonal", progress=lambda *call: calls.append(call)
    )
    firal.select(pool, labeled, theta, 3, **options)
    assert [call for call in calls if call[0] == "information"] == [
        ("information", done, 4) for done in range(1, 5)
    ]


def test_vectors_are_kept_up_to_their_size(monkeypatch):
    pool, labeled, theta = instance(m=40)
    problem = prepare_blocks(pool, labeled, theta, 3, ridge=0.02)
    for size, moves, room in [(20, 50, 20), (20, 7, 7), (3, 50, 16), (3, 7, 7)]:
        monkeypatch.setattr("firal.selection.block_greedy.PENDING_BYTES", size * 16 * 4 * 3)
        state = _Greedy(problem, moves)
        assert state.v.shape == state.u.shape == (4, room, 3) and state.s.shape == (4, room)


@pytest.mark.parametrize("sign", [1, -1])
def test_matrices_and_forms_after_moves_are_those_of_the_inverse(sign):
    """Before and after what the moves changed is written into the blocks."""
    pool, labeled, theta = instance(8, m=30)
    problem = prepare_blocks(pool, labeled, theta, 6, ridge=0.05)
    H, H_p, start = dense(pool, labeled, theta, 6, 0.05)
    rows = [4, 17, 9, 21, 4]
    if sign < 0:  # points go that were there
        start = start + H[rows].sum(axis=0)
        problem = problem._replace(labeled_information=start)
    state = _Greedy(problem, 9)
    for count, row in enumerate(rows, 1):
        state.move(row, sign)
        if count == 3:
            state.fold()
        W = np.linalg.inv(start + sign * H[rows[:count]].sum(axis=0))
        B = W @ H_p @ W
        close = dict(rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(state.q1, np.einsum("ia,kab,ib->ik", pool, W, pool), **close)
        np.testing.assert_allclose(state.q2, np.einsum("ia,kab,ib->ik", pool, B, pool), **close)
        if count == 3:
            np.testing.assert_allclose(state.W, W, **close)
            np.testing.assert_allclose(state.B, B, **close)


def test_blocks_that_are_not_stored_change_nothing(monkeypatch):
    """Each class is summed anew where it is used: the same weights, points and certificate."""
    pool, labeled, theta = instance(7, m=2600)
    options = dict(ridge=0.01, structure="block-diagonal", tol=0.02)

    def runs():
        yield firal.select(pool, labeled, theta, 15, candidates="support", **options)
        yield firal.select(pool[:80], labeled, theta, 6, rounding="ftrl", eta=20.0, **options)
        yield firal.bait(pool[:80], labeled, theta, 6, ridge=0.01, structure="block-diagonal")

    stored = list(runs())
    monkeypatch.setattr("firal.selection.summed_blocks.STORED_BYTES", 0)
    problem = prepare_blocks(pool, labeled, theta, 15, ridge=0.01)
    assert isinstance(problem.labeled_information, SummedBlocks)
    for one, two in zip(stored[:2], list(runs())[:2], strict=True):
        assert one.indices.tolist() == two.indices.tolist()
        assert two.objective == pytest.approx(one.objective, rel=1e-12)
        assert two.lambda_min == pytest.approx(one.lambda_min, rel=1e-9)
        assert two.relaxation.gap == pytest.approx(one.relaxation.gap, rel=1e-6)
    assert list(runs())[2].tolist() == stored[2].tolist()
    # against the dense sums
    _, _, start = dense(pool[:3], labeled, theta, 15, 0.01)
    np.testing.assert_allclose(np.asarray(problem.labeled_information), start, rtol=1e-12)
    z = np.where(np.arange(2600) < 40, 0.3, 0.0)
    H = dense(pool[:40], labeled, theta, 15, 0.01)[0]
    Sigma, M = problem.total_information(z), problem.mean_information
    np.testing.assert_allclose(np.asarray(Sigma), start + 0.3 * H.sum(axis=0), rtol=1e-11)
    np.testing.assert_allclose(Sigma[2], np.asarray(Sigma)[2], rtol=1e-12)
    assert np.asarray(Sigma).dtype == np.float64
    assert np.asarray(Sigma, dtype=np.float32).dtype == np.float32
    assert inner_product(Sigma, M) == pytest.approx(np.vdot(np.asarray(Sigma), M), rel=1e-12)
    assert Sigma.shape == M.shape and len(list(Sigma)) == len(M)


def test_three_sets_of_blocks_are_held_at_most(monkeypatch):
    """H_p, and two at a time: what decides whether a thousand classes fit in memory."""
    import tracemalloc

    c, d, m = 60, 200, 2100
    pool, labeled, theta = instance(9, m=m, d=d, c=c, n0=20)
    theta /= 4
    monkeypatch.setattr("firal.selection.summed_blocks.STORED_BYTES", 0)
    tracemalloc.start()
    try:
        firal.select(
            pool,
            labeled,
            theta,
            4,
            ridge=0.02,
            structure="block-diagonal",
            rounding="greedy",
            candidates="support",
            tol=0.3,
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    one_set, points = 8 * c * d * d, 8 * m * (d + 3 * c)
    assert peak < 3.5 * one_set + points
    assert peak > 2.9 * one_set  # the test measures what it says


def test_equal_weights_are_no_support():
    """Under a strong penalty equal weights are good, and few points have nearly as good ones."""
    pool, labeled, theta = instance(8, m=9000)
    options = dict(ridge=30.0, structure="block-diagonal", rounding="greedy", tol=0.1)
    found = firal.select(pool, labeled, theta, 10, candidates="support", **options)
    H, H_p, start = dense(pool, labeled, theta, 10, 30.0)
    equal = start + 10 * H_p
    f = sum(np.trace(np.linalg.solve(a, b)) for a, b in zip(equal, H_p, strict=True))
    relaxation = found.relaxation
    assert relaxation.history[0, 0] == pytest.approx(f, rel=1e-9)
    assert 1 - relaxation.history[0, 1] / f < 0.1  # equal weights would do
    assert np.count_nonzero(relaxation.z) < 2000 and len(relaxation.candidates) < 4000
    assert relaxation.gap <= 0.1 and relaxation.converged and relaxation.passes == 2
    S = start + np.tensordot(relaxation.z, H, axes=1)
    f = sum(np.trace(np.linalg.solve(a, b)) for a, b in zip(S, H_p, strict=True))
    assert relaxation.objective == pytest.approx(f, rel=1e-9)
    assert relaxation.gap == pytest.approx(1 - relaxation.history[-1, 1] / f, rel=1e-6)
    everything = firal.select(pool, labeled, theta, 10, candidates="all", **options)
    assert found.objective <= everything.objective * 1.02


def test_what_is_refused():
    pool, labeled, theta = instance()
    with pytest.raises(ValueError, match='rounding must be "ftrl" with ridge=0'):
        firal.select(pool, labeled, theta, 2, structure="block-diagonal", rounding="greedy")
    with pytest.raises(ValueError, match="structure must be one of"):
        firal.select(pool, labeled, theta, 2, structure="diagonal")
    with pytest.raises(ValueError, match="full rank in every class"):
        firal.relax(pool, None, 500 * theta, 3, structure="block-diagonal")
    with pytest.raises(ValueError, match="must fit in 8 GiB, got"):
        prepare_blocks(np.ones((2, 3000)), None, np.zeros((199, 3000)), 1, ridge=0.1)


def test_of_equal_losses_the_point_added_last_goes_first():
    """Two points twice: the copies come after the points, and go before them."""
    pool, p = np.repeat(np.eye(2), 2, axis=0), np.full((4, 2), 0.5)
    problem = prepare_blocks(pool, None, None, 2, ridge=0.1, probabilities=(p, None))
    added = []
    first, left = block_greedy(problem, watch=lambda i, _: added.append(i))
    assert added == [0, 2, 1, 3]
    assert first.tolist() == left.tolist() == [0, 2]


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_a_block_is_singular_by_its_digits_and_not_by_its_size(scale):
    def block(gap):  # the last pivot is gap of the entry
        return scale * np.array([[1.0, 1.0], [1.0, 1.0 + gap]])

    good = block(1e-13)
    np.testing.assert_allclose(inverse_or_none(good) @ good, np.eye(2), atol=1e-2)
    assert inverse_or_none(block(2.0**-52)) is None  # two roundings at the order 2 are lost
    assert inverse_or_none(block(-1e-3)) is None and inverse_or_none(0 * good) is None


@pytest.mark.parametrize(("off", "singular"), [(2.0**-51, True), (2.0**-50, False)])
def test_a_pivot_of_as_many_roundings_as_columns_is_none(off, singular):
    S = np.eye(4)
    S[0, 1] = S[1, 0] = 1 - off  # the second pivot is 2 off
    assert (inverse_or_none(S) is None) == singular


def test_four_arrays_of_blocks_must_fit(monkeypatch):
    needed = 4 * 8 * 3 * 5**2
    monkeypatch.setattr(block_diagonal, "MOST_BYTES", needed)
    block_diagonal.require_room(3, 5)
    monkeypatch.setattr(block_diagonal, "MOST_BYTES", needed - 1)
    with pytest.raises(ValueError, match="3 blocks of 5 x 5 must fit"):
        block_diagonal.require_room(3, 5)
