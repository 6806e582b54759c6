"""Penalized FIRAL with cluster effects, against the same thing written out literally."""

import warnings

import numpy as np
import pytest
import reference_select as literal
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import firal
from firal.selection import penalized, typical_first, wide_sizes
from firal.selection.penalized import GAP, fit_ridge, select_penalized


def seeded(seed=0):
    return np.random.default_rng(seed)


def instance(seed, m=40, d=3, c=3, n0=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=(n0, d)), rng.normal(size=(c - 1, d))


def widened(pool, labeled, n_clusters, seed, scale=typical_first.EARLY["clusters"]):
    """Pool and labeled points, each followed by the indicator of its cluster: point by point."""
    state = int(seeded(seed).integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        centers = KMeans(n_clusters, n_init=1, random_state=state).fit(pool).cluster_centers_
    size = scale * np.sqrt(np.mean([x**2 for row in pool for x in row]))

    def wide(x):
        indicator = np.zeros(n_clusters)
        indicator[np.argmin([np.linalg.norm(x - center) for center in centers])] = size
        return [*x, *indicator]

    return np.array([wide(x) for x in pool]), np.array([wide(x) for x in labeled])


def dense_objective(pool, labeled, theta, rows, ridge):
    """trace(Sigma^{-1} H_p) by the matrices of single points; the effects themselves are 0."""
    theta = np.pad(theta, [(0, 0), (0, pool.shape[1] - theta.shape[1])])
    H = np.array([literal.hessian(x, theta) for x in pool])
    c, d = len(theta) + 1, pool.shape[1]
    n = len(labeled) + len(rows)
    Sigma = H[rows].sum(axis=0) + n * ridge * np.kron(np.eye(c - 1) - 1 / c, np.eye(d))
    Sigma += sum((literal.hessian(x, theta) for x in labeled), np.zeros_like(Sigma))
    return np.trace(np.linalg.solve(Sigma, H.mean(axis=0)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize(("n0", "n_clusters"), [(0, 5), (2, 7), (5, 10), (9, 10)])
def test_the_design_is_that_of_points_with_indicators(seed, c, n0, n_clusters):
    """As many clusters as labels after the batch, but at most twice the batch."""
    pool, labeled, theta = instance(seed, c=c, n0=n0)
    found = select_penalized(pool, labeled, theta, 5, seeded(seed), ridge=0.02, typical=1)
    wide, known = widened(pool, labeled, n_clusters, seed)
    p = firal.probabilities(pool, theta)
    p0 = firal.probabilities(labeled, theta) if n0 else None
    design = dict(ridge=0.02, probabilities=(p, p0), rounding="greedy", tol=GAP)
    want = firal.select(wide, known, None, 5, **design)
    assert found.indices.tolist() == want.indices.tolist()
    assert found.objective == pytest.approx(want.objective, rel=1e-12)
    dense = dense_objective(wide, known, theta, found.indices, 0.02)
    assert found.objective == pytest.approx(dense, rel=1e-8)
    # other numbers of clusters are another design
    for other in (n_clusters - 1, n_clusters + 1):
        wide, known = widened(pool, labeled, other, seed)
        objective = firal.select(wide, known, None, 5, **design).objective
        assert objective != pytest.approx(found.objective, rel=1e-6)


def test_no_more_clusters_than_points():
    pool, labeled, theta = instance(1, m=6, n0=9)
    found = select_penalized(pool, labeled, theta, 4, seeded(1))
    wide, known = widened(pool, labeled, 6, 1)
    dense = dense_objective(wide, known, theta, found.indices, 0.01)
    assert found.objective == pytest.approx(dense, rel=1e-8)


def test_one_labeled_number_counts_and_an_empty_list_is_none():
    pool, theta = np.random.default_rng(0).normal(size=(30, 1)), np.array([[1.0]])
    alone, empty, known = (
        select_penalized(pool, labeled, theta, 3, seeded(), clusters=0, typical=1)
        for labeled in (None, [], [[2.0]])
    )
    assert empty.objective == alone.objective
    dense = dense_objective(pool, np.array([[2.0]]), theta, known.indices, 0.01)
    assert known.objective == pytest.approx(dense, rel=1e-8) and known.objective < alone.objective


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_the_size_of_the_effects(scale):
    pool, labeled, theta = instance(2)
    found = select_penalized(pool, labeled, theta, 4, seeded(2), clusters=scale)
    wide, known = widened(pool, labeled, 8, 2, scale)
    dense = dense_objective(wide, known, theta, found.indices, 0.01)
    assert found.objective == pytest.approx(dense, rel=1e-8)


def plain(pool, labeled, theta, budget, ridge=0.01):
    return firal.select(pool, labeled, theta, budget, ridge=ridge, rounding="greedy", tol=GAP)


def test_without_clusters_it_is_select():
    pool, labeled, theta = instance(3)
    rng = seeded()
    found = select_penalized(pool, labeled, theta, 5, rng, clusters=0, typical=1)
    want = plain(pool, labeled, theta, 5)
    assert found.indices.tolist() == want.indices.tolist()
    assert found.objective == pytest.approx(want.objective, rel=1e-12)
    assert rng.random() == seeded().random()  # nothing was drawn
    other = select_penalized(pool, labeled, theta, 5, rng)
    assert other.objective != pytest.approx(found.objective)


def test_matrices_that_would_be_too_large_have_no_clusters(monkeypatch):
    pool, labeled, theta = instance(4)  # d = 3, 5 + 4 clusters, 2 free classes: order 24
    usual = select_penalized(pool, labeled, theta, 5, seeded(), typical=1)
    monkeypatch.setattr(penalized, "LARGEST_SIZE", 24)
    same = select_penalized(pool, labeled, theta, 5, seeded(), typical=1)
    assert same.objective == usual.objective
    monkeypatch.setattr(penalized, "LARGEST_SIZE", 23)
    small = select_penalized(pool, labeled, theta, 5, seeded(), typical=1)
    want = plain(pool, labeled, theta, 5).objective
    assert small.objective == pytest.approx(want, rel=1e-12) != usual.objective


def circle(groups=8, per_group=12, spread=0.05, seed=0):
    """Tight groups on a circle, and the group of every point: a plane cannot tell them apart."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), per_group)
    angle = 2 * np.pi * group / groups
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    points += spread * rng.normal(size=points.shape)
    return np.column_stack([points, np.ones(len(points))]), group


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("known", [(), (0, 1), (0, 3, 5), (2, 3, 4, 5)])
def test_the_batch_goes_to_the_groups_without_a_label(known, seed):
    X, group = circle(seed=seed)
    known = np.array(known, dtype=int)
    start = np.array([np.flatnonzero(group == k)[0] for k in known], dtype=int)
    free = np.setdiff1d(np.arange(len(X)), start)
    theta = None
    if known.size:
        codes = np.arange(known.size) % 2
        ridge = fit_ridge(0.01, known.size, 8 - known.size)
        theta = firal.fit(X[start], codes, 2, ridge, penalty="symmetric").theta
    for parameters in (None, theta):
        for scale, missed in ((3.0, 0), (1.0, 2)):
            data = (X[free], X[start], parameters, 8 - known.size, seeded(seed))
            rows = select_penalized(*data, clusters=scale).indices
            assert len({*known, *group[free[rows]]}) >= 8 - missed


def test_without_the_effects_groups_are_missed():
    """The negative control of the test above."""
    X, group = circle()
    rows = select_penalized(X, None, None, 8, seeded(), clusters=0).indices
    assert len(set(group[rows])) < 8


@pytest.mark.parametrize("n0", [0, 6])
@pytest.mark.parametrize("share", [0.25, 0.5])
def test_only_typical_points_of_every_cluster_are_picked(share, n0):
    """The same points as by ``select`` among rows that are found point by point."""
    pool, labeled, theta = instance(7, m=90, n0=n0)
    found = select_penalized(pool, labeled, theta, 5, seeded(1), typical=share, clusters=0)
    state = int(seeded(1).integers(2**31))
    group = KMeans(min(n0 + 5, 10), n_init=1, random_state=state).fit(pool).labels_
    distance = [np.mean(np.sort(np.linalg.norm(pool - x, axis=1))[1:11]) for x in pool]
    rows = []
    for k in set(group):
        own = sorted(np.flatnonzero(group == k), key=lambda i: distance[i])
        rows += own[: int(np.ceil(share * len(own)))]
    options = dict(ridge=0.01, rounding="greedy", tol=GAP)
    want = firal.select(pool, labeled, theta, 5, candidates=rows, **options)
    assert found.indices.tolist() == want.indices.tolist()
    assert found.objective == pytest.approx(want.objective, rel=1e-12)
    assert set(want.indices) <= set(rows)
    every = firal.select(pool, labeled, theta, 5, **options)  # the control: outliers are preferred
    assert not set(every.indices) <= set(rows)


def test_an_outlier_is_not_picked():
    rng = seeded(3)
    pool = np.vstack([rng.normal(size=(200, 3)), 5 * np.eye(3)])
    typical = select_penalized(pool, None, None, 5, seeded()).indices
    assert typical.max() < 200
    assert select_penalized(pool, None, None, 5, seeded(), typical=1).indices.max() >= 200


def test_few_labels_ask_for_typical_points_and_one_class_or_many_for_all():
    pool, _, theta = instance(11, m=120)
    many = np.random.default_rng(0).normal(size=(24, 3))
    for n0, parameters, options in (
        (0, None, typical_first.EARLY),
        (1, None, typical_first.LATER),  # labels of one class
        (4, theta, typical_first.EARLY),
        (23, theta, typical_first.EARLY),
        (24, theta, typical_first.LATER),  # eight of three classes each
    ):
        data = (pool, many[:n0], parameters, 5)
        found = select_penalized(*data, seeded())
        want = select_penalized(*data, seeded(), **options)
        assert found.indices.tolist() == want.indices.tolist()
        assert found.objective == want.objective
        (other,) = (o for o in (typical_first.EARLY, typical_first.LATER) if o != options)
        assert select_penalized(*data, seeded(), **other).objective != found.objective


def test_a_small_pool_keeps_all_its_points():
    pool, labeled, theta = instance(8, m=18)
    all_points = select_penalized(pool, labeled, theta, 5, seeded(), typical=1)
    some = select_penalized(pool, labeled, theta, 5, seeded(), typical=0.25)
    assert some.indices.tolist() == all_points.indices.tolist()
    assert select_penalized(pool, labeled, theta, 18, seeded()).indices.size == 18


def test_typical_points_of_a_large_pool_are_sought_in_a_part_of_it(monkeypatch):
    monkeypatch.setattr(typical_first, "TYPICAL_SAMPLE", 60)
    pool, labeled, theta = instance(9, m=241)
    rows = select_penalized(pool, labeled, theta, 5, seeded()).indices
    assert np.isin(rows, np.linspace(0, 240, 60).astype(int)).all()


@pytest.mark.parametrize("share", [0, -0.5, 1.5, np.nan])
def test_a_share_that_is_none(share):
    pool, labeled, theta = instance(0)
    with pytest.raises(ValueError, match="typical must be"):
        select_penalized(pool, labeled, theta, 5, seeded(), typical=share)


@pytest.mark.parametrize("n0", [0, 3])
def test_no_model_is_the_model_that_knows_nothing(n0):
    pool, labeled, _ = instance(5, n0=n0)
    usual = {"clusters": 1.0, "typical": 0.5}
    found = select_penalized(pool, labeled, None, 5, seeded(), **usual)
    for two in (None if n0 == 0 else labeled, labeled):
        zeros = select_penalized(pool, two, np.zeros((1, 3)), 5, seeded(), **usual)
        assert found.indices.tolist() == zeros.indices.tolist()
        assert found.objective == zeros.objective
    # c classes: the same problem with c/2 times the ridge, c - 1 times
    for c in (3, 6):
        many = select_penalized(
            pool, labeled, np.zeros((c - 1, 3)), 5, seeded(), ridge=0.02, **usual
        )
        one = select_penalized(pool, labeled, None, 5, seeded(), ridge=0.02 * c / 2, **usual)
        assert many.indices.tolist() == one.indices.tolist()
        assert many.objective == pytest.approx((c - 1) * one.objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_what_changes_nothing(seed):
    pool, labeled, theta = instance(seed, m=60)
    found = select_penalized(pool, labeled, theta, 5, seeded(seed))
    again = select_penalized(pool, labeled, theta, 5, seeded(seed))
    assert found.indices.tolist() == again.indices.tolist() and found.objective == again.objective
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    zeros = [(0, 0), (0, 2)]
    permuted = [2, 0, 1]
    same = (
        [A.tolist() for A in (pool, labeled, theta)],
        (np.asfortranarray(pool), labeled, theta),
        (pool @ Q, labeled @ Q, theta @ Q),
        (pool[:, permuted], labeled[:, permuted], theta[:, permuted]),
        [np.pad(A, zeros) for A in (pool, labeled, theta)],  # constant columns become zeros
        (pool, labeled, np.array([-theta[1], theta[0] - theta[1]])),  # another reference class
    )
    for given in same:
        other = select_penalized(*given, 5, seeded(seed))
        assert other.indices.tolist() == found.indices.tolist()
        assert other.objective == pytest.approx(found.objective, rel=1e-8)
    # other units for all columns, and the penalty in these units
    scaled = select_penalized(
        1e3 * pool, 1e3 * labeled, theta / 1e3, 5, seeded(seed), ridge=0.01 * 1e6
    )
    assert scaled.indices.tolist() == found.indices.tolist()
    assert scaled.objective == pytest.approx(found.objective, rel=1e-8)


def test_what_changes_the_picks():
    pool, labeled, theta = instance(6, m=200)
    usual = select_penalized(pool, labeled, theta, 8, seeded()).indices.tolist()
    seeds = [select_penalized(pool, labeled, theta, 8, seeded(s)).indices for s in range(6)]
    assert len({tuple(rows) for rows in seeds}) > 1
    for change in ({"ridge": 10.0}, {"clusters": 0}, {"clusters": 30.0}):
        rows = select_penalized(pool, labeled, theta, 8, seeded(), **change).indices
        assert rows.tolist() != usual, change
    assert select_penalized(pool, None, theta, 8, seeded()).indices.tolist() != usual


@pytest.mark.parametrize("n0", [0, 3])
@pytest.mark.parametrize("c", [2, 4])
def test_the_whole_pool(c, n0):
    pool, labeled, theta = instance(7, m=9, c=c, n0=n0)
    for parameters in (theta, None):
        found = select_penalized(pool, labeled, parameters, 9, seeded())
        assert sorted(found.indices) == list(range(9))
        assert found.ratio == pytest.approx(1, abs=1e-6)
    assert select_penalized(pool[:1], labeled, theta, 1, seeded()).indices.tolist() == [0]


@pytest.mark.filterwarnings("ignore::firal.selection.ties.AllPointsTie")
@pytest.mark.parametrize("distinct", [1, 2, 5])
@pytest.mark.parametrize("n0", [0, 4])
def test_copies_of_a_few_points(distinct, n0):
    pool, labeled, theta = instance(8, m=distinct, n0=n0)
    copies = np.tile(pool, (10, 1))
    for parameters in (theta, None):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            rows = select_penalized(copies, labeled, parameters, 6, seeded()).indices
        assert np.unique(rows).size == 6
        if not n0:  # every point once, before any is asked for again
            counts = np.bincount(rows % distinct, minlength=distinct)
            assert counts.max() - counts.min() <= 1


def test_labeled_points_that_are_also_in_the_pool():
    pool, _, theta = instance(9)
    rows = select_penalized(pool, pool[:6], theta, 5, seeded()).indices
    assert not set(rows) & set(range(6))


def test_certificate_and_what_is_reported():
    pool, labeled, theta = instance(10, m=300)
    stages, watched = set(), []
    found = select_penalized(
        pool,
        labeled,
        theta,
        6,
        seeded(),
        progress=lambda stage, *_: stages.add(stage),
        watch=lambda row, decrease: watched.append((row, decrease.shape)),
    )
    assert found.relaxation.gap <= GAP and found.relaxation.converged
    least = found.relaxation.objective * (1 - found.relaxation.gap)
    assert 1 <= found.ratio and found.ratio == pytest.approx(found.objective / least)
    assert stages == {"relax", "greedy"}
    assert set(found.indices) <= {row for row, _ in watched}
    assert {shape for _, shape in watched} == {(300,)}


@pytest.mark.parametrize("labels", ["none", "one class", "a rare class", "two labels"])
@pytest.mark.parametrize("seed", range(3))
def test_ugly_tables_do_not_stop_it(labels, seed):
    """Heavy tails, rare and constant columns, copies, classes with a single label."""
    rng = np.random.default_rng(seed)
    n = 150
    X = np.column_stack(
        [
            rng.standard_cauchy(size=(n, 2)) ** 3,
            np.exp(5 * rng.normal(size=n)),
            np.arange(n) == 7,  # one point is different
            rng.random(size=(n, 2)) < 0.02,
            np.full(n, 3.7),
            rng.normal(size=n),
        ]
    ).astype(float)
    X = np.column_stack([X, X[:, 0]])
    X[100:120] = X[100]
    y = {
        "none": {},
        "one class": {3: "a", 4: "a", 5: "a"},
        "a rare class": dict.fromkeys(range(30), "a") | {60: "b"} | dict.fromkeys((70, 71), "c"),
        "two labels": {7: 0, 9: 1},
    }[labels]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch = firal.next_batch(X, y, 12, rng=rng)
    assert batch.strategy == "firal-ridge" and np.unique(batch.rows).size == 12
    assert not set(batch.rows) & set(y)
    assert 0 < batch.selection.objective < np.inf


def test_one_class_only_is_like_no_model_but_knows_the_points():
    X, group = circle()
    labels = {int(np.flatnonzero(group == k)[0]): "only" for k in range(3)}
    batch = firal.next_batch(X, labels, 5)
    assert batch.theta is None and batch.classes == ("only",)
    assert sorted(group[batch.rows]) == [3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": 41}, "budget must be an integer in 1..40, got 41"),
        ({"budget": 0}, "budget must be an integer in 1..40, got 0"),
        ({"ridge": 0}, "ridge must be a finite number > 0, got 0"),
        ({"ridge": -1.0}, "ridge must be a finite number > 0, got -1.0"),
        ({"clusters": -1}, "clusters must be a finite number >= 0, got -1"),
        ({"rng": 3}, "rng must be a numpy.random.Generator"),
        ({"rng": None}, "rng must be a numpy.random.Generator"),
        ({"theta": np.ones((2, 4))}, "theta must have shape"),
        ({"labeled": np.ones((2, 4))}, "labeled must have 3 columns"),
        ({"labeled": np.full((2, 3), np.nan)}, "labeled must be finite"),
        ({"pool": np.full((40, 3), np.inf)}, "pool must be finite"),
        ({"pool": np.zeros((40, 3)), "theta": None}, "pool must carry information, got none"),
    ],
)
def test_refusals(change, message):
    pool, labeled, theta = instance(0)
    names = dict(pool=pool, labeled=labeled, theta=theta, budget=5, rng=seeded())
    with pytest.raises(ValueError, match=message):
        select_penalized(**(names | change))


def test_the_total_penalty_stays():
    for n0, budget in ((1, 1), (3, 10), (50, 7)):
        assert n0 * fit_ridge(0.3, n0, budget) == pytest.approx((n0 + budget) * 0.3)


def test_rows_among_which_typical_points_are_sought():
    rows = typical_first.spread_rows
    assert rows(10_000, 5).tolist() == list(range(10_000))
    assert len(rows(10_001, 5)) == 10_000 and rows(10_001, 5)[[0, -1]].tolist() == [0, 10_000]
    assert len(rows(20_000, 1200)) == 12_000  # ten times the budget


def test_too_few_typical_points_leave_all():
    pool = np.random.default_rng(0).normal(size=(40, 2))
    centers = np.zeros((1, 2))
    found = typical_first.typical_candidates(pool, centers, 10, 0.5)
    assert len(found) == 20  # just twice the budget
    assert typical_first.typical_candidates(pool, centers, 11, 0.5) is None


def test_no_block_is_written_beyond_an_order_that_counts_the_indicators(monkeypatch):
    pool, labeled, theta = instance(0)
    called = []
    monkeypatch.setattr(penalized, "_select_wide", lambda *_: called.append(1))
    monkeypatch.setattr(penalized, "LARGEST_FULL", 0)
    for clusters, order in ((1.0, 3 + 9), (0.0, 3)):  # 3 features; 4 labeled and 5 picked points
        for limit in (order - 1, order):
            monkeypatch.setattr(wide_sizes, "LARGEST_ORDER", limit)
            called.clear()
            select_penalized(pool, labeled, theta, 5, seeded(), clusters=clusters, typical=1.0)
            assert bool(called) == (limit < order)


def test_wide_features_in_float32_are_not_copied_to_float64(monkeypatch):
    pool, labeled, theta = instance(0)
    kinds = []
    monkeypatch.setattr(penalized, "LARGEST_FULL", 0)
    monkeypatch.setattr(
        penalized, "_select_wide", lambda *a: kinds.append({part.dtype for part in a[:2]})
    )
    monkeypatch.setattr(penalized, "select", lambda *a, **_: kinds.append({a[0].dtype}))
    for limit in (3 + 9 - 1, 3 + 9):
        monkeypatch.setattr(wide_sizes, "LARGEST_ORDER", limit)
        for kind in (np.float32, np.float64):
            select_penalized(pool.astype(kind), labeled, theta, 5, seeded(), typical=1.0)
    assert kinds == [{np.dtype(kind)} for kind in (np.float32, np.float64, np.float64, np.float64)]


def test_what_is_wide():
    """By the order of a block, or by the bytes of four of them for every class."""
    assert not penalized.is_wide(800, 2) and penalized.is_wide(801, 2)
    assert not penalized.is_wide(256, 1024) and penalized.is_wide(256, 1025)
    assert penalized.is_wide(257, 1024)


@pytest.mark.parametrize("limit", ["LARGEST_FULL", "LARGEST_FIRST", "LARGEST_SIZE"])
def test_full_matrices_are_used_up_to_their_order(limit, monkeypatch):
    """3 features and 2 free classes; 8 clusters for 4 labeled and 4 picked points."""
    pool, labeled, theta = instance(0)
    seen = []
    monkeypatch.setattr(penalized, "select", lambda *a, **o: seen.append((a, o)))
    order = {"LARGEST_FULL": 6, "LARGEST_FIRST": 3 + 8, "LARGEST_SIZE": 2 * (3 + 8)}[limit]
    for most in (order, order - 1):
        monkeypatch.setattr(penalized, limit, most)
        known = None if limit == "LARGEST_FIRST" else theta
        select_penalized(pool, labeled, known, 4, seeded(), clusters=1.0, typical=1.0)
    (within, options), (beyond, others) = seen
    assert options["structure"] == "full" and within[0].shape[1] == 3 + 8
    if limit == "LARGEST_SIZE":  # no effects
        assert others["structure"] == "full" and beyond[0].shape[1] == 3
    else:
        assert others["structure"] == "block-diagonal" and beyond[0].shape[1] == 3 + 8


def test_given_probabilities_have_one_class_more_than_parameters(monkeypatch):
    """3 features and 3 classes: matrices of order 6, as with a theta."""
    pool, labeled, theta = instance(0)
    given = tuple(firal.probabilities(X, theta) for X in (pool, labeled))
    seen = []
    monkeypatch.setattr(penalized, "select", lambda *a, **o: seen.append(o["structure"]))
    for most in (6, 5):
        monkeypatch.setattr(penalized, "LARGEST_FULL", most)
        select_penalized(pool, labeled, None, 4, seeded(), probabilities=given, typical=1.0)
    assert seen == ["full", "block-diagonal"]


@pytest.mark.parametrize("wide", [False, True])
def test_clusters_come_from_a_single_start(wide, monkeypatch):
    """The book measured it so; K-means as a strategy has more."""
    seen, find = [], penalized.cluster_centers

    def watched(pool, count, rng, **options):
        seen.append((count, options))
        return find(pool, count, rng, **options)

    monkeypatch.setattr(penalized, "cluster_centers", watched)
    if wide:
        monkeypatch.setattr(penalized, "LARGEST_FIRST", 0)
        monkeypatch.setattr(wide_sizes, "LARGEST_ORDER", 3)
    pool = np.random.default_rng(0).normal(size=(60, 4))
    select_penalized(pool, None, None, 5, np.random.default_rng(1))
    assert seen == [(5, {"starts": 1})]
