"""Full matrices or blocks: all four functions against dense block-diagonal matrices; the choice."""

import numpy as np
import pytest
from scipy.linalg import block_diag

import firal
from firal.common import threads
from firal.selection import structure
from firal.selection.adaptive import adaptive_sparsify
from firal.selection.structure import StructureChosen, block_cost, choose, full_cost

BLOCKS = "block-diagonal"


def instance(seed=0, m=40, d=3, c=4, n0=3):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(c - 1, d))
    return rng.normal(size=(m, d)), rng.normal(size=(n0, d)), theta


def dense(pool, labeled, theta, budget, ridge):
    """One matrix of order c d per point, their mean, and what is known before."""
    d, c = pool.shape[1], len(theta) + 1

    def each(X):
        p = firal.probabilities(X, theta)
        return [
            block_diag(*[q * (1 - q) * np.outer(x, x) for q in P])
            for x, P in zip(X, p, strict=True)
        ]

    H, n = np.array(each(pool)), len(labeled) + budget
    return H, H.mean(axis=0), sum(each(labeled)) + n * ridge * (1 - 1 / c) * np.eye(c * d)


def root(S):
    v, E = np.linalg.eigh(S)
    return (E / np.sqrt(v)) @ E.T


def literal_ftrl(H, known, z, b, eta, step):
    """Rows by Algorithm 1 on dense matrices; ``step`` gives A^{-1/2} from the picked sum."""
    R = root(np.tensordot(z, H, axes=1) + known)
    F = np.array([R @ (h + known / b) @ R for h in H])
    S, rows = np.zeros_like(known), []
    for _ in range(b):
        A = step(S)
        gains = [-np.trace(np.linalg.inv(A + eta * f)) for f in F]
        gains = [g if i not in rows else -np.inf for i, g in enumerate(gains)]
        rows.append(int(np.argmax(gains)))
        S = S + F[rows[-1]]
    return rows, np.linalg.eigvalsh(S)[0]


@pytest.mark.parametrize("ridge", [0.0, 0.02])
def test_relax_and_sparsify_on_blocks_are_those_of_dense_matrices(ridge):
    pool, labeled, theta = instance(1)
    b, eta = 9, 15.0
    H, H_p, known = dense(pool, labeled, theta, b, ridge)
    found = firal.relax(pool, labeled, theta, b, ridge=ridge, structure=BLOCKS, tol=1e-3)
    S = np.tensordot(found.z, H, axes=1) + known
    assert found.objective == pytest.approx(firal.fir(S, H_p), rel=1e-9)
    assert found.structure == BLOCKS and found.gap <= 1e-3
    rng = np.random.default_rng(0)
    for _ in range(20):  # no other weights beat the certificate
        z = rng.dirichlet(np.full(len(pool), 0.3)) * b
        if z.max() <= 1:
            other = firal.fir(np.tensordot(z, H, axes=1) + known, H_p)
            assert other >= found.objective * (1 - found.gap)

    def step(S):
        values = np.linalg.eigvalsh(S)
        low, high = 1 - eta * values[0], np.sqrt(len(S)) - eta * values[0]
        for _ in range(200):
            nu = (low + high) / 2
            low, high = (nu, high) if np.sum((nu + eta * values) ** -2.0) > 1 else (low, nu)
        return nu * np.eye(len(S)) + eta * S

    rows, smallest = literal_ftrl(H, known, found.z, b, eta, step)
    options = dict(ridge=ridge, structure=BLOCKS)
    picked = firal.sparsify(pool, labeled, theta, found.z, b, eta, **options)
    assert picked.indices.tolist() == rows and picked.structure == BLOCKS
    assert picked.lambda_min == pytest.approx(smallest, rel=1e-7)
    assert picked.lambda_min >= picked.lower_bound[-1]
    S = H[rows].sum(axis=0) + known
    assert picked.objective == pytest.approx(firal.fir(S, H_p), rel=1e-8)
    best = firal.select(pool, labeled, theta, b, eta=eta, rounding="ftrl", **options)
    assert best.passes == best.relaxation.passes + b and best.structure == BLOCKS
    assert best.objective == pytest.approx(firal.fir(H[best.indices].sum(axis=0) + known, H_p))


def test_the_adaptive_rule_on_blocks():
    pool, labeled, theta = instance(2)
    b = 30
    z = firal.relax(pool, None, theta, b, structure=BLOCKS, capped=False).z
    found = adaptive_sparsify(pool, None, theta, z, b, structure=BLOCKS, replace=True)
    assert found.level == pytest.approx(2 * np.sqrt(12 * b))
    assert found.lambda_min >= found.guarantee[-1] >= found.guarantee[0]
    H, _, _ = dense(pool, labeled, theta, b, 0.0)
    R = root(np.tensordot(z, H, axes=1))
    smallest = np.linalg.eigvalsh(R @ H[found.indices].sum(axis=0) @ R)[0]
    assert found.lambda_min == pytest.approx(smallest, rel=1e-7)


@pytest.mark.parametrize(("ridge", "prior"), [(0.0, 1.0), (0.02, 0.0)])
def test_bait_on_blocks_takes_the_best_single_changes(ridge, prior):
    pool, labeled, theta = instance(3, m=16)
    b = 3
    H, H_p, known = dense(pool, labeled, theta, b, ridge)
    start, added = known + prior * H_p, []

    def value(rows):
        return firal.fir(start + H[rows].sum(axis=0), H_p)

    for _ in range(2 * b):
        rest = [i for i in range(len(pool)) if i not in added]
        added.append(min(rest, key=lambda i: value([*added, i])))
    while len(added) > b:
        added.remove(min(added, key=lambda i: value([j for j in added if j != i])))
    rows = firal.bait(pool, labeled, theta, b, ridge=ridge, structure=BLOCKS)
    assert rows.tolist() == added


def test_without_a_ridge_blocks_do_not_depend_on_the_units():
    pool, labeled, theta = instance(4, m=60)
    A = np.random.default_rng(1).normal(size=(3, 3))
    p = firal.probabilities(pool, theta), firal.probabilities(labeled, theta)
    options = dict(probabilities=p, structure=BLOCKS, eta=20.0)
    one = firal.select(pool, labeled, None, 8, **options)
    two = firal.select(pool @ A, labeled @ A, None, 8, **options)
    assert one.indices.tolist() == two.indices.tolist()
    assert one.objective == pytest.approx(two.objective, rel=1e-8)
    flat = np.hstack([pool, pool[:, :1]]), np.hstack([labeled, labeled[:, :1]])  # rank 3 of 4
    three = firal.select(*flat, None, 8, **options)
    assert three.objective == pytest.approx(one.objective, rel=1e-8)


def test_too_few_points_for_full_rank_and_rates_in_threads(monkeypatch):
    pool, _, theta = instance(6, d=6)
    found = firal.select(pool, None, theta, 4, structure=BLOCKS)
    assert found.objective == np.inf and found.lambda_min < 1e-12 and len(found.tried) == 7
    monkeypatch.setattr(threads, "LARGEST_FOR_ONE_THREAD", 0)
    prepare = structure.blocks_of
    monkeypatch.setattr(
        structure, "blocks_of", lambda *a, **k: prepare(*a, **k)._replace(threads=3)
    )
    again = firal.select(pool, None, theta, 4, structure=BLOCKS)
    assert again.indices.tolist() == found.indices.tolist()


def test_a_class_that_never_occurs_has_no_block():
    pool, labeled, theta = instance(5)
    p, p0 = firal.probabilities(pool, theta), firal.probabilities(labeled, theta)
    more, more0 = (np.insert(q, 1, 0.0, axis=1) for q in (p, p0))
    one = firal.relax(pool, labeled, None, 5, probabilities=(p, p0), structure=BLOCKS)
    two = firal.relax(pool, labeled, None, 5, probabilities=(more, more0), structure=BLOCKS)
    assert one.objective == pytest.approx(two.objective, rel=1e-12)


def test_small_problems_are_full_and_large_ones_say_why():
    pool, labeled, theta = instance()
    found = firal.select(pool, labeled, theta, 4)
    assert found.structure == "full" and found.relaxation.structure == "full"
    assert "matrices of order 9" in found.why
    paper = dict(
        digits=(1600, 20, 10, 10), mnist=(60_000, 20, 10, 100), imagenet=(5000, 40, 50, 50)
    )
    for m, d, c, b in paper.values():
        for task in ("relax", "sparsify", "select", "bait"):
            assert choose("auto", task, m, d, c, b, memory=8 * 10**9).structure == "full"
    large = choose("auto", "select", 50_000, 383, 1000, 200, memory=24 * 10**9)
    assert large.structure == BLOCKS and "order 382617" in large.why and "24 GB" in large.why
    slow = choose("auto", "select", 5000, 40, 101, 50, memory=10**12)
    assert slow.structure == BLOCKS and "on one core" in slow.why
    assert choose("auto", "relax", 5000, 40, 101, 50, memory=10**12).structure == "full"


def test_full_refuses_at_once_what_cannot_fit(monkeypatch):
    pool, labeled, theta = instance(m=200)
    need = full_cost("select", 200, 3, 4, 5)[2]
    monkeypatch.setattr(structure, "total_memory", lambda: need)
    firal.select(pool, labeled, theta, 5, structure="full")
    monkeypatch.setattr(structure, "total_memory", lambda: need - 1)
    monkeypatch.setattr(structure, "problem_of", None)  # must not be reached
    z = np.full(200, 5 / 200)
    for call in (
        lambda **o: firal.select(pool, labeled, theta, 5, ridge=0.1, **o),
        lambda **o: firal.relax(pool, labeled, theta, 5, **o),
        lambda **o: firal.sparsify(pool, labeled, theta, z, 5, 10.0, ridge=0.1, **o),
        lambda **o: firal.bait(pool, labeled, theta, 5, **o),
    ):
        with pytest.raises(ValueError, match=r"matrices of order 9, at least .* this machine has"):
            call(structure="full")
        with pytest.warns(StructureChosen, match="full matrices of order 9 would take"):
            call()
    with pytest.warns(StructureChosen):
        found = firal.select(pool, labeled, theta, 5, ridge=0.1)
    assert found.structure == BLOCKS and found.eta is None and "would take" in found.why


def test_before_the_first_label_auto_is_the_small_full_problem(monkeypatch):
    monkeypatch.setattr(structure, "MOST_WORK", full_cost("select", 40, 3, 3, 4)[0])
    found = firal.select(instance()[0], None, np.zeros((9, 3)), 4, ridge=0.01)
    assert found.structure == "full"
    with pytest.warns(StructureChosen):
        firal.select(*instance(c=10), 4, ridge=0.01)


def test_passes_are_counted():
    pool, labeled, theta = instance(m=50)
    b, z = 4, np.full(50, 4 / 50)
    assert firal.sparsify(pool, labeled, theta, z, b, 10.0).passes == b + 2
    assert firal.sparsify(pool, labeled, theta, z, b, 10.0, candidates="support").passes == 1
    tuned = firal.select(pool, labeled, theta, b)
    assert tuned.passes == tuned.relaxation.passes + b * len(tuned.tried)
    greedy = firal.select(pool, labeled, theta, b, ridge=0.1, rounding="greedy")
    assert greedy.passes == greedy.relaxation.passes + 2 * b
    few = firal.select(pool, labeled, theta, b, candidates="support")
    assert few.passes == few.relaxation.passes


def test_every_function_estimates_its_own_task(monkeypatch):
    seen, choose_ = [], structure.choose
    monkeypatch.setattr(structure, "choose", lambda *a: seen.append(a[1:]) or choose_(*a))
    rng = np.random.default_rng(0)
    pool, theta, z = rng.normal(size=(20, 2)), rng.normal(size=(2, 2)), np.full(20, 0.2)
    firal.relax(pool, None, theta, 4)
    found = firal.sparsify(pool, None, theta, z, 4, 10.0)
    firal.select(pool, None, theta, 4)
    firal.bait(pool, None, theta, 4)
    sizes = (20, 2, 3, 4)
    assert seen == [(task, *sizes) for task in ("relax", "sparsify", "select", "bait")]
    seen.clear()  # one run of FTRL, or one of greedy steps
    firal.select(pool, None, theta, 4, eta=10.0)
    firal.select(pool, None, theta, 4, ridge=0.1, rounding="greedy")
    firal.select(pool, None, theta, 4, ridge=0.1)
    assert seen == [(task, *sizes) for task in ("sparsify", "sparsify", "select")]
    assert found.why and found.why == choose_("auto", "sparsify", *sizes).why


def test_costs_by_hand():
    """m = 100, d = 3, c = 5, b = 7: order 12, 3 copies of the pool, constants of the module."""
    pool = 8 * 100 * 3 * 3
    memory = (pool + 8 * 12 * 144, pool + 8 * 4 * 144)
    work = {
        "relax": 25 * 100 * 144 + 100 * 12**3,
        "bait": 3.5 * 7 * 100 * 144 + 10 * 12**3,
        "sparsify": 3 * 7 * 100 * 144 + 7 * 20 * 12**3,
        "select": 7 * (3 * 7 * 100 * 144 + 7 * 20 * 12**3),
    }
    for task, expected in work.items():
        assert full_cost(task, 100, 3, 5, 7) == (pytest.approx(expected, rel=1e-14), *memory)
    gradients = 50 * 5 * (100 * 9 + 3 * 27)
    ftrl = 3 * 2 * 100 * 5 * 9 + 20 * 5 * 27
    memory = (pool + 32 * 100 * 5 + 4 * 8 * 45, pool + 4 * 8 * 45)
    work = {
        "relax": gradients,
        "bait": gradients + 7 * 3.5 * 4 * 100 * 5 * 3,
        "sparsify": gradients + 7 * ftrl,
        "select": gradients + 7 * 7 * ftrl,
    }
    for task, expected in work.items():
        assert block_cost(task, 100, 3, 5, 7) == (pytest.approx(expected, rel=1e-14), *memory)


def test_the_choice_is_exactly_at_its_limits(monkeypatch):
    work, held, least = full_cost("select", 100, 3, 5, 7)
    for memory, expected in ((held / 0.8 + 1, "full"), (held / 0.8 - 1, BLOCKS)):
        assert choose("auto", "select", 100, 3, 5, 7, memory=memory).structure == expected
    assert choose("full", "select", 100, 3, 5, 7, memory=least) == ("full", "as asked for")
    with pytest.raises(ValueError, match='set structure="block-diagonal"'):
        choose("full", "select", 100, 3, 5, 7, memory=least - 1)
    assert choose(BLOCKS, "select", 100, 3, 5, 7, memory=1).structure == BLOCKS
    monkeypatch.setattr(structure, "total_memory", lambda: None)  # unknown: only work counts
    for limit, expected in ((work, "full"), (work * (1 - 1e-12), BLOCKS)):
        monkeypatch.setattr(structure, "MOST_WORK", limit)
        assert choose("auto", "select", 100, 3, 5, 7).structure == expected
    assert choose("full", "select", 10**9, 10**4, 10**4, 7).structure == "full"


def test_the_sum_of_the_weights_may_be_off_by_rounding_only():
    pool, labeled, theta = instance()
    z = np.full(40, 4 / 40)
    firal.sparsify(pool, labeled, theta, z * (1 + 9e-7), 4, 10.0)
    for factor in (1 + 1.1e-6, 1 - 1.1e-6):
        with pytest.raises(ValueError, match="z must have sum 4, the budget, got sum"):
            firal.sparsify(pool, labeled, theta, z * factor, 4, 10.0)


def test_rows_as_candidates_need_no_word_for_the_rounding_with_blocks_and_a_ridge():
    pool, labeled, theta = instance()
    rows = np.arange(5, 20)
    found = firal.select(pool, labeled, theta, 4, ridge=0.01, structure=BLOCKS, candidates=rows)
    asked = firal.select(
        pool, labeled, theta, 4, ridge=0.01, structure=BLOCKS, candidates=rows, rounding="greedy"
    )
    assert found.indices.tolist() == asked.indices.tolist() and set(found.indices) <= set(rows)
    with pytest.raises(ValueError, match="candidates must be a word unless"):
        firal.select(pool, labeled, theta, 4, ridge=0.01, structure="full", candidates=rows)
