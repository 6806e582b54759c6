"""The design without blocks: the same problem as with blocks, and its certificate."""

import numpy as np
import pytest

from firal.model.logistic import softmax
from firal.selection import penalized, reduced, wide, wide_forms, wide_sizes
from firal.selection.block_diagonal import prepare_blocks
from firal.selection.block_greedy import block_greedy
from firal.selection.block_rows import GroupedRows, grouped
from firal.selection.penalized import select_penalized
from firal.selection.reduced import FeaturesReduced, reduce_features
from firal.selection.wide import select_wide, span_problem
from firal.selection.wide_forms import WideProblem


def instance(seed=0, m=60, d=9, c=4, n0=5, budget=6, groups=0):
    rng = np.random.default_rng(seed)
    X, X0 = rng.normal(size=(m, d)), rng.normal(size=(n0, d))
    if groups:
        X, X0 = (
            np.hstack([A, 2.0 * np.eye(groups)[rng.integers(groups, size=len(A))]]) for A in (X, X0)
        )
    theta = rng.normal(size=(c - 1, X.shape[1]))
    p, p0 = softmax(X, theta), softmax(X0, theta)
    blocks = prepare_blocks(X, X0, None, budget, ridge=0.02, probabilities=(p, p0))

    def rows(A):
        if not groups:
            return A
        tail = A[:, d:]
        group = tail.argmax(axis=1)
        size = np.full(len(A), 2.0)
        return GroupedRows(np.ascontiguousarray(A[:, :d]), group, size, groups)

    g, g0 = (q * (1 - q) for q in (p, p0))
    return blocks, WideProblem(rows(X), g, rows(X0), g0, 0.02 * (n0 + budget), budget)


def silent(*_):
    pass


def objective(blocks, rows):
    z = np.zeros(len(blocks.X))
    z[rows] = 1
    return blocks.evaluator()(blocks.total_information(z))[0]


@pytest.mark.parametrize("groups", [0, 10])
@pytest.mark.parametrize("n0", [0, 5])
def test_same_picks_and_objective_as_with_blocks(groups, n0):
    blocks, problem = instance(groups=groups, n0=n0)
    seen = []
    found = select_wide(problem, silent, lambda i, scores: seen.append((i, scores)))
    sets = block_greedy(blocks)
    assert [i for i, _ in seen[: problem.budget]] == sets[0].tolist()
    assert found.objective == pytest.approx(min(objective(blocks, rows) for rows in sets), rel=1e-9)
    assert found.objective == pytest.approx(objective(blocks, found.indices), rel=1e-9)
    # the scores are what f loses
    i, scores = seen[0]
    before = objective(blocks, [])
    assert scores[i] == pytest.approx(before - objective(blocks, [i]), rel=1e-8)


@pytest.mark.parametrize(("factor", "row"), [(1 + 1e-10, 0), (1, 0), (1 - 1e-10, 0), (1 - 1e-6, 1)])
def test_backward_steps_must_gain_more_than_rounding(monkeypatch, factor, row):
    _, problem = instance(m=2, budget=1)
    twins = problem._replace(X=problem.X[[0, 0]], g=problem.g[[0, 0]])
    objective = wide._objective
    monkeypatch.setattr(wide, "block_greedy", lambda small: [np.array([1])])
    monkeypatch.setattr(wide, "_objective", lambda *args: factor * objective(*args))
    assert select_wide(twins, silent).indices.tolist() == [row]


def test_a_gap_that_is_met_exactly_is_met():
    _, problem = instance()
    gap = select_wide(problem, silent).relaxation.gap
    assert 0 < gap < 1
    assert select_wide(problem, silent, tol=gap).relaxation.converged
    assert not select_wide(problem, silent, tol=gap * (1 - 1e-9)).relaxation.converged


def test_certificate_is_below_the_optimum_of_the_weights():
    from firal.selection.solver import solve

    for seed in range(4):
        blocks, problem = instance(seed)
        found = select_wide(problem, silent)
        best = solve(blocks, True, "multiplicative", 1e-6, 5000)
        lower = found.relaxation.objective * (1 - found.relaxation.gap)
        assert 0.3 * best.objective < lower <= best.objective * (1 + 1e-9)
        assert found.ratio >= 1


@pytest.mark.parametrize("scale", [1.0, 0.05])
@pytest.mark.parametrize("n0", [0, 5])
def test_the_bound_is_that_of_the_best_gradient(n0, scale):
    """Written out with dense matrices, after every forward step."""
    rng, (m, d, c, b) = np.random.default_rng(7), (40, 4, 3, 5)
    X, X0 = scale * rng.normal(size=(m, d)), scale * rng.normal(size=(n0, d))
    g, g0 = (q * (1 - q) for q in (rng.dirichlet(np.ones(c), size=n) for n in (m, n0)))
    problem = WideProblem(X, g, X0, g0, 0.02 * (n0 + b), b)
    picks, calls = [], []
    found = select_wide(problem, lambda *call: calls.append(call), lambda i, _: picks.append(i))
    steps = [("greedy", done, n0 + 2 * b) for done in range(1, n0 + 2 * b + 1)]
    assert calls == [("forms", 1, 1), *steps]
    H = np.einsum("ik,ia,ib->ikab", g, X, X)
    start = np.einsum("ik,ia,ib->kab", g0, X0, X0) + problem.level * np.eye(d)
    bounds, values = [], []
    for count in range(2 * b + 1):
        S = start + H[picks[:count]].sum(axis=0)
        M = np.linalg.inv(S) @ H.mean(axis=0) @ np.linalg.inv(S)
        a = np.einsum("ikab,kab->i", H, M)
        values.append(np.einsum("kab,kab->", S, M))
        bounds.append(values[-1] ** 2 / (np.sort(a)[-b:].sum() + np.vdot(start, M)))
    relaxation = found.relaxation
    assert relaxation.objective == pytest.approx(values[b], rel=1e-9, abs=0)
    lower = max(bounds) * (1 - 1e-9)
    assert relaxation.gap == pytest.approx(1 - lower / values[b], rel=1e-8, abs=0)
    assert relaxation.history.tolist() == [[relaxation.objective, pytest.approx(lower, rel=1e-9)]]
    assert np.flatnonzero(relaxation.z).tolist() == sorted(picks[:b])
    assert relaxation.z.sum() == b and relaxation.iterations == 2 * b
    assert relaxation.passes == 1 + 2 * (n0 + 2 * b)


def test_no_point_is_picked_twice():
    """One point is more worth than all others, also the second time."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 3)) * np.where(np.arange(8) == 5, 1.0, 1e-4)[:, None]
    problem = WideProblem(X, np.full((8, 2), 0.25), X[:0], np.zeros((0, 2)), 1e-3, 4)
    picks = []
    found = select_wide(problem, silent, lambda i, _: picks.append(i))
    assert picks[0] == 5 and sorted(picks) == list(range(8))
    assert len(set(found.indices.tolist())) == 4 and 5 in found.indices
    only = np.array([1, 2, 6, 7])
    assert sorted(select_wide(problem, silent, only=only).indices) == only.tolist()


def test_the_span_is_used_up_to_its_size(monkeypatch):
    _, problem = instance(n0=5, budget=6, c=4)
    made = []
    monkeypatch.setattr(wide, "span_problem", lambda *_: made.append(1) or span_problem(*_))
    for less in (0, 1):
        monkeypatch.setattr(wide, "SPAN_BYTES", 8 * 4 * (5 + 12) ** 2 - less)
        select_wide(problem, silent)
    assert len(made) == 1


def test_span_has_the_same_objective():
    blocks, problem = instance(d=40, m=50, n0=3, budget=4, seed=2)
    rows = np.array([3, 8, 20, 31, 44])
    small, constant = span_problem(problem, rows)
    assert small.mean_information.shape == (4, 8, 8) and constant > 0
    for picked in ([0, 2], [1, 3, 4]):
        inside = wide._objective(small, picked) + constant
        assert inside == pytest.approx(objective(blocks, rows[picked]), rel=1e-9)


def near_ties(seed=0, m=40, copies=12, d=25, c=5, n0=3, budget=8):
    """A pool in float32 with groups of points that differ in the last digits of float32 only."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(m, d)), copies, axis=0)
    X *= 1 + 2e-7 * rng.normal(size=X.shape)
    X, X0 = X.astype(np.float32), rng.normal(size=(n0, d)).astype(np.float32)
    theta = rng.normal(size=(c - 1, d))
    p, p0 = (softmax(A.astype(np.float64), theta) for A in (X, X0))
    return WideProblem(X, p * (1 - p), X0, p0 * (1 - p0), 0.02 * (n0 + budget), budget)


def picks_and_scores(problem):
    seen = []
    select_wide(problem, silent, lambda i, scores: seen.append((i, scores[i])))
    return [i for i, _ in seen], np.array([score for _, score in seen])


@pytest.mark.parametrize("seed", range(3))
def test_points_of_a_float32_pool_are_those_of_float64(seed, monkeypatch):
    problem = near_ties(seed)
    wanted = problem._replace(X=problem.X.astype(np.float64), labeled=problem.labeled.astype(float))
    rows, scores = picks_and_scores(problem)
    exact, exact_scores = picks_and_scores(wanted)
    assert rows == exact and np.array_equal(scores, exact_scores)
    # arithmetic in float32 cannot tell these points apart: the test can fail
    monkeypatch.setattr(wide_forms, "in_double", lambda X: X.astype(np.float32))
    assert picks_and_scores(problem)[0] != exact


@pytest.mark.parametrize("groups", [0, 10])
@pytest.mark.parametrize("threads", [1, 3])
def test_pieces_and_threads_change_nothing(groups, threads, monkeypatch):
    blocks, problem = instance(groups=groups)
    monkeypatch.setattr(wide_forms, "ROWS", 7)
    state = wide_forms.Forms(problem, 2, threads, silent)
    alone = wide_forms.Forms(problem, 2, 1, silent)
    for i in (4, 50):
        state.move(problem.X[i], problem.g[i])
        alone.move(problem.X[i], problem.g[i])
    assert np.array_equal(state.q2, alone.q2) and np.array_equal(state.q1, alone.q1)
    # against dense blocks; the labeled points did not come here
    X = np.array([blocks.X[i] for i in range(len(blocks.X))])
    chosen = np.einsum("ik,ia,ib->kab", blocks.g[[4, 50]], X[[4, 50]], X[[4, 50]])
    W = np.linalg.inv(chosen + problem.level * np.eye(X.shape[1]))
    np.testing.assert_allclose(state.q1, np.einsum("ia,kab,ib->ik", X, W, X), rtol=1e-9)
    B = W @ blocks.mean_information @ W
    np.testing.assert_allclose(state.q2, np.einsum("ia,kab,ib->ik", X, B, X), rtol=1e-9)
    assert state.f == pytest.approx(np.einsum("kab,kba->", W, blocks.mean_information), rel=1e-9)


def test_no_backward_steps_where_the_span_is_large(monkeypatch):
    blocks, problem = instance()
    monkeypatch.setattr(wide, "SPAN_BYTES", 0)
    found = select_wide(problem, silent)
    assert found.indices.tolist() == block_greedy(blocks)[0].tolist()
    assert found.objective == pytest.approx(objective(blocks, found.indices), rel=1e-9)


def flat_pool(seed=4, m=400, d=40, rank=5, c=6, noise=0.0):
    """Groups of points in a space of few directions, a theta, labeled points."""
    rng = np.random.default_rng(seed)
    inside = rng.normal(size=(9, rank))[rng.integers(9, size=m)] * 2 + rng.normal(size=(m, rank))
    pool = inside @ rng.normal(size=(rank, d)) / 2 + noise * rng.normal(size=(m, d))
    return pool[20:], pool[:20], rng.normal(size=(c - 1, d)) / 8


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_features_are_reduced_where_vectors_do_not_fit(kind, monkeypatch):
    """Directions that hold everything lose nothing; fewer lose what the warning says."""
    pool, labeled, theta = (A.astype(kind) for A in flat_pool())
    monkeypatch.setattr(penalized, "LARGEST_FULL", 0)
    monkeypatch.setattr(wide_sizes, "LARGEST_ORDER", 36)
    options = dict(typical=1.0, clusters=3.0)
    rng = np.random.default_rng
    whole = select_penalized(pool, labeled, theta, 7, rng(0), **options)
    assert whole.why == ""
    monkeypatch.setattr(wide_sizes, "MOST_BYTES", 1000)
    with pytest.warns(FeaturesReduced, match="40 features are replaced by 22 .* with 100.0 % of"):
        found = select_penalized(pool, labeled, theta, 7, rng(0), **options)
    assert found.why.startswith("40 features") and found.structure == "block-diagonal"
    assert sorted(found.indices) == sorted(whole.indices)
    assert found.objective == pytest.approx(
        whole.objective, rel=1e-5 if kind == np.float32 else 1e-9
    )
    # with noise in all columns something is lost, and that is what is said
    pool, labeled, theta = flat_pool(noise=1.0)
    _, singular, axes = np.linalg.svd(pool)
    share = np.sum(singular[:22] ** 2) / np.sum(singular**2)
    with pytest.warns(FeaturesReduced, match=f"with {100 * share:.1f} % of") as said:
        found = select_penalized(pool, labeled, theta, 7, rng(0), **options)
    assert len(said) == 1 and 0.5 < share < 0.999
    inside = reduce_features(pool, labeled, 22)
    np.testing.assert_allclose(np.abs(inside.pool), np.abs(pool @ axes[:22].T), atol=1e-8)
    known = labeled @ axes[:22].T
    np.testing.assert_allclose(inside.labeled @ inside.labeled.T, known @ known.T, atol=1e-8)


@pytest.mark.parametrize("points", [39, 30])
def test_directions_of_a_sample_where_there_are_more_columns(points, monkeypatch):
    pool, labeled, _ = flat_pool()
    exact = reduce_features(pool, labeled, 4)
    monkeypatch.setattr(reduced, "MOST_POINTS", points)
    sampled = reduce_features(pool, labeled, 4)
    # directions of so few points are not quite the best ones, and never say that they are
    assert 0.98 * exact.kept < sampled.kept <= exact.kept * (1 + 1e-12)
    monkeypatch.setattr(reduced, "MOST_POINTS", 40)  # as many as columns: all points are read
    assert np.array_equal(reduce_features(pool, labeled, 4).pool, exact.pool)
    monkeypatch.setattr(reduced, "MOST_POINTS", points)
    every = reduce_features(pool, labeled, 22)
    assert every.pool.shape == (380, 5) and every.kept == pytest.approx(1)  # the rank
    np.testing.assert_allclose(every.pool @ every.labeled.T, pool @ labeled.T, atol=1e-8)


def test_sizes_of_reduced_designs_fit():
    # 504 and 503 columns have room: at least half of them are directions
    assert wide_sizes.reduced_sizes(2048, 264, 2000, 400) == (252, 252)
    assert wide_sizes.reduced_sizes(2048, 265, 2000, 400) == (252, 251)
    assert all(type(n) is int for n in wide_sizes.reduced_sizes(2048, 264, 2000, 400))
    assert wide_sizes.vector_bytes(3, 5, 7) == 840
    for d, c, n, clusters in [(2048, 264, 2000, 200), (383, 1000, 1400, 400), (900, 50, 20_000, 0)]:
        columns, left = wide_sizes.reduced_sizes(d, c, n, clusters)
        assert not wide_sizes.is_wide(columns + left, c)
        assert wide_sizes.is_wide(columns + left + 2, c) or columns == d
        assert columns >= left and left <= clusters


@pytest.mark.parametrize("zeros", [0, 25])  # columns of zeros, which are no features
@pytest.mark.parametrize("labels", [False, True])
def test_select_penalized_picks_the_same_without_blocks(labels, zeros, monkeypatch):
    rng = np.random.default_rng(3)
    pool = np.repeat(rng.normal(size=(12, 30)) * 3, 20, axis=0) + rng.normal(size=(240, 30))
    pool = np.hstack([pool, np.zeros((240, zeros))])
    theta = rng.normal(size=(4, 30 + zeros)) / 8 if labels else None
    labeled = pool[::40] + 0.1 * pool.any(axis=0) if labels else None
    monkeypatch.setattr(penalized, "LARGEST_FULL", 0)
    monkeypatch.setattr(penalized, "LARGEST_FIRST", 0)
    with_blocks = select_penalized(pool, labeled, theta, 8, np.random.default_rng(0))
    stages = []
    monkeypatch.setattr(wide_sizes, "LARGEST_ORDER", 20)
    without = select_penalized(
        pool,
        labeled,
        theta,
        8,
        np.random.default_rng(0),
        progress=lambda stage, done, total: stages.append(stage),
    )
    assert list(dict.fromkeys(stages)) == ["cluster", "forms", "greedy"]
    assert sorted(without.indices) == sorted(with_blocks.indices)
    assert without.objective == pytest.approx(with_blocks.objective, rel=1e-9)
    assert without.relaxation.objective * (1 - without.relaxation.gap) <= (
        with_blocks.relaxation.objective * (1 + 1e-9)
    )


def test_grouped_rows_of_the_pool_are_those_of_the_blocks():
    blocks, problem = instance(groups=10)
    assert isinstance(blocks.X, GroupedRows)
    assert np.array_equal(grouped(wide._written_out(problem.X)).x, blocks.X.x)


def test_next_batch_makes_no_float64_copy_of_a_wide_float32_pool(monkeypatch):
    import firal

    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 40)).astype(np.float32)
    y = {row: row % 3 for row in range(12)}
    kinds = []

    def watched(problem, *arguments, **options):
        kinds.append((problem.X.x.dtype, problem.g.dtype))
        return select_wide(problem, *arguments, **options)

    monkeypatch.setattr(penalized, "select_wide", watched)
    monkeypatch.setattr(penalized, "LARGEST_FULL", 0)
    monkeypatch.setattr(wide_sizes, "LARGEST_ORDER", 30)
    narrow = firal.next_batch(X, y, 5)
    exact = firal.next_batch(X.astype(np.float64), y, 5)
    assert kinds == [(np.float32, np.float64), (np.float64, np.float64)]
    assert narrow.selection.objective == pytest.approx(exact.selection.objective, rel=1e-6)


def test_an_interruption_ends_it_at_the_next_step():
    def interrupt(stage, done, total):
        if stage == "greedy" and done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        select_wide(instance()[1], interrupt)
