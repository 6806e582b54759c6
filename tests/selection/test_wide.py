"""The design without blocks: the same problem as with blocks, and its certificate."""

import numpy as np
import pytest

from firal.model.logistic import softmax
from firal.selection import penalized, wide
from firal.selection.block_diagonal import prepare_blocks
from firal.selection.block_greedy import block_greedy
from firal.selection.block_rows import GroupedRows, grouped
from firal.selection.penalized import select_penalized
from firal.selection.wide import WideProblem, select_wide, span_problem


def instance(seed=0, m=60, d=9, c=4, n0=5, budget=6, groups=0, kind=np.float64):
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
            return A.astype(kind)
        tail = A[:, d:]
        group = tail.argmax(axis=1)
        size = np.full(len(A), 2.0, kind)
        return GroupedRows(A[:, :d].astype(kind), group, size, groups)

    g, g0 = ((q * (1 - q)).astype(kind) for q in (p, p0))
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


def test_certificate_is_below_the_optimum_of_the_weights():
    from firal.selection.solver import solve

    for seed in range(4):
        blocks, problem = instance(seed)
        found = select_wide(problem, silent)
        best = solve(blocks, True, "multiplicative", 1e-6, 5000)
        lower = found.relaxation.objective * (1 - found.relaxation.gap)
        assert 0.3 * best.objective < lower <= best.objective * (1 + 1e-9)
        assert found.ratio >= 1


def test_span_has_the_same_objective():
    blocks, problem = instance(d=40, m=50, n0=3, budget=4, seed=2)
    rows = np.array([3, 8, 20, 31, 44])
    small, constant = span_problem(problem, rows)
    assert small.mean_information.shape == (4, 8, 8) and constant > 0
    for picked in ([0, 2], [1, 3, 4]):
        inside = wide._objective(small, picked) + constant
        assert inside == pytest.approx(objective(blocks, rows[picked]), rel=1e-9)


def test_float32_stays_float32_and_agrees():
    exact = select_wide(instance(groups=10)[1], silent)
    problem = instance(groups=10, kind=np.float32)[1]
    made = []
    original = wide._Forms._inverse

    def watched(self, A):
        out = original(self, A)
        made.append((A.dtype, out.dtype))
        return out

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wide._Forms, "_inverse", watched)
        found = select_wide(problem, silent)
    assert {kind for pair in made for kind in pair} == {np.dtype(np.float32)}
    assert found.objective == pytest.approx(exact.objective, rel=1e-4)


def test_no_backward_steps_where_the_span_is_large(monkeypatch):
    blocks, problem = instance()
    monkeypatch.setattr(wide, "SPAN_BYTES", 0)
    found = select_wide(problem, silent)
    assert found.indices.tolist() == block_greedy(blocks)[0].tolist()
    assert found.objective == pytest.approx(objective(blocks, found.indices), rel=1e-9)


def test_vectors_that_cannot_fit_are_refused(monkeypatch):
    monkeypatch.setattr(wide, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="4 classes times 17 points times 9 columns must fit"):
        select_wide(instance()[1], silent)


@pytest.mark.parametrize("labels", [False, True])
def test_select_penalized_picks_the_same_without_blocks(labels, monkeypatch):
    rng = np.random.default_rng(3)
    pool = np.repeat(rng.normal(size=(12, 30)) * 3, 20, axis=0) + rng.normal(size=(240, 30))
    theta = rng.normal(size=(4, 30)) / 8 if labels else None
    labeled = pool[::40] + 0.1 if labels else None
    monkeypatch.setattr(penalized, "LARGEST_FULL", 0)
    monkeypatch.setattr(penalized, "LARGEST_FIRST", 0)
    with_blocks = select_penalized(pool, labeled, theta, 8, np.random.default_rng(0))
    stages = []
    monkeypatch.setattr(penalized, "LARGEST_ORDER", 20)
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
    monkeypatch.setattr(penalized, "LARGEST_ORDER", 30)
    narrow = firal.next_batch(X, y, 5)
    exact = firal.next_batch(X.astype(np.float64), y, 5)
    assert kinds == [(np.float32,) * 2, (np.float64,) * 2]
    assert narrow.selection.objective == pytest.approx(exact.selection.objective, rel=1e-3)


def test_an_interruption_ends_it_at_the_next_step():
    def interrupt(stage, done, total):
        if stage == "greedy" and done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        select_wide(instance()[1], interrupt)
