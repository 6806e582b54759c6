"""Every strategy on a pool that is read block by block, from every home."""

import numpy as np
import pytest
from homes_of import all_homes

import firal
from firal import picking, streaming
from firal.engine import passes
from firal.engine.clusters import nearest_distinct
from firal.engine.homes import as_home
from firal.engine.pool import FeaturePool
from firal.engine.scaling import feature_map
from firal.selection import penalized, wide_sizes
from firal.strategies import entropy, kmeans, var_ratios
from firal.streaming import largest_points, nearest_points

N, D, B = 900, 5, 6


def table(n=N, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    groups = rng.integers(4, size=n)
    X = 2 * rng.normal(size=(4, D))[groups] + rng.standard_t(4, size=(n, D))
    X[:, 3] = 7.1  # constant
    X[:, 4] = X[:, 0]
    labels = {int(row): f"group {groups[row]}" for row in rng.choice(n, 24, replace=False)}
    return X.astype(dtype), labels


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * D * 13)


def test_the_rate_that_is_asked_for(small_blocks):
    X, y = table()
    for eta in (3.0, 40.0):
        found = firal.next_batch(as_home(X), y, B, strategy="firal", eta=eta)
        assert found.selection.eta == eta


@pytest.mark.parametrize("strategy", firal.STRATEGIES)
@pytest.mark.parametrize("labeled", [True, False])
def test_picks_are_those_of_the_array(strategy, labeled, small_blocks):
    X, y = table()
    y = y if labeled else None
    expected = firal.next_batch(X, y, B, strategy=strategy)
    found = firal.next_batch(as_home(X), y, B, strategy=strategy)
    assert found.rows.tolist() == expected.rows.tolist()
    assert found.strategy == expected.strategy and found.note == expected.note
    assert found.classes == expected.classes
    assert (found.selection is None) == (expected.selection is None)
    if found.selection is not None:
        np.testing.assert_allclose(found.selection.objective, expected.selection.objective)
        free = np.setdiff1d(np.arange(N), sorted(y or ()))
        assert np.array_equal(free[found.selection.indices], found.rows)


@pytest.mark.parametrize("strategy", ["bait", "firal", "firal-ridge"])
def test_pending_rows_are_known_to_the_design_as_in_memory(strategy, small_blocks):
    X, y = table()
    plain = firal.next_batch(X, y, B, strategy=strategy)
    options = dict(strategy=strategy, pending=plain.rows, exclude=np.arange(5, 40))
    expected, found = (firal.next_batch(one, y, B, **options) for one in (X, as_home(X)))
    assert found.rows.tolist() == expected.rows.tolist()
    assert not set(found.rows) & {*plain.rows, *range(5, 40)}
    np.testing.assert_allclose(found.theta, plain.theta, rtol=1e-9, atol=1e-12)  # not to the fit
    if found.selection is not None:
        np.testing.assert_allclose(found.selection.objective, expected.selection.objective)
        assert found.selection.objective < plain.selection.objective  # more points are known


@pytest.mark.parametrize("labeled", [True, False])
def test_picks_with_block_diagonal_information(labeled, small_blocks, monkeypatch):
    monkeypatch.setattr(penalized, "LARGEST_FULL", 5)
    X, y = table()
    y = y if labeled else None
    expected, found = (firal.next_batch(one, y, B) for one in (X, as_home(X)))
    assert found.rows.tolist() == expected.rows.tolist()
    np.testing.assert_allclose(found.selection.objective, expected.selection.objective)
    np.testing.assert_allclose(found.selection.lambda_min, expected.selection.lambda_min)


def test_the_first_batch_of_many_columns_has_blocks(small_blocks, monkeypatch):
    structures, prepare = [], streaming.prepare_streamed

    def prepared(*arguments, **options):
        structures.append(options["structure"])
        return prepare(*arguments, **options)

    monkeypatch.setattr(streaming, "prepare_streamed", prepared)
    X, _ = table(300)
    for largest in (penalized.LARGEST_FIRST, 5):  # as select_penalized does
        monkeypatch.setattr(penalized, "LARGEST_FIRST", largest)
        expected, found = (firal.next_batch(one, None, B) for one in (X, as_home(X)))
        assert found.rows.tolist() == expected.rows.tolist()
    assert structures == ["full", "block-diagonal"]


@pytest.mark.parametrize("strategy", firal.STRATEGIES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_home_gives_the_same_picks(strategy, dtype, small_blocks, tmp_path):
    X, y = table(dtype=dtype)
    batches = {
        name: firal.next_batch(home, y, B, strategy=strategy)
        for name, home in all_homes(X, tmp_path).items()
    }
    expected = batches.pop("memory")
    for name, batch in batches.items():
        assert batch.rows.tolist() == expected.rows.tolist(), name
        if expected.theta is not None:
            assert np.array_equal(batch.theta, expected.theta), name
        if expected.selection is not None:  # the certificate too, to the last bit
            one, other = batch.selection, expected.selection
            assert (one.objective, one.lambda_min) == (other.objective, other.lambda_min), name
            assert one.relaxation.gap == other.relaxation.gap, name


@pytest.mark.parametrize(
    ("n", "d", "budget"), [(1, 1, 1), (2, 1, 2), (13, 1, 13), (14, 3, 2), (40, 60, 3)]
)
@pytest.mark.parametrize("strategy", ["random", "kmeans", "firal-ridge"])
def test_awkward_shapes(n, d, budget, strategy, monkeypatch, tmp_path):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * d * 13)
    X = np.random.default_rng(1).normal(size=(n, d))
    expected = firal.next_batch(X, None, budget, strategy=strategy).rows.tolist()
    for name, home in all_homes(X, tmp_path).items():
        found = firal.next_batch(home, None, budget, strategy=strategy).rows.tolist()
        assert sorted(found) == sorted(expected), name


def test_large_tables_stream_and_small_ones_do_not(monkeypatch, tmp_path, caplog):
    X, y = table()
    np.save(tmp_path / "x.npy", X)
    inputs = (X, np.load(tmp_path / "x.npy", mmap_mode="r"), tmp_path / "x.npy")
    caplog.set_level("INFO", "firal")
    small = [firal.next_batch(one, y, B, strategy="entropy").rows.tolist() for one in inputs]
    assert "block by block" not in caplog.text
    monkeypatch.setattr("firal.placement.STREAM_FROM", 8 * N * (D + 1) - 1)
    large = [firal.next_batch(one, y, B, strategy="entropy").rows.tolist() for one in inputs]
    assert caplog.text.count("read block by block from memory") == 1
    assert caplog.text.count("read block by block from file") == 2
    assert small == [small[0]] * 3 == large


def test_a_path_that_is_no_table(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file"):
        firal.next_batch(str(tmp_path / "absent.npy"), None, 2)


def test_functions_are_refused_with_the_remedy():
    def own(pool, labeled, theta, budget, rng):
        return np.arange(budget)

    X, y = table()
    with pytest.raises(ValueError, match="got the function own: pass an array that fits in memory"):
        firal.next_batch(as_home(X), y, B, strategy=own)


@pytest.mark.parametrize("strategy", ["firal-ridge", "entropy"])
def test_very_many_labels_are_fitted_by_blocks(strategy, monkeypatch):
    X, y = table()
    expected = firal.next_batch(X, y, B, strategy=strategy)
    monkeypatch.setattr(picking, "MANY", len(y))
    monkeypatch.setattr(picking, "fit", None)  # not called
    found = firal.next_batch(X, y, B, strategy=strategy)
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-6)
    assert found.rows.tolist() == expected.rows.tolist()


def test_a_model_is_fitted_by_blocks_while_its_matrix_is_small(monkeypatch):
    X, y = table()
    fitted, by_blocks = [], picking.fit_by_blocks
    monkeypatch.setattr(
        picking, "fit_by_blocks", lambda *a, **o: fitted.append(1) or by_blocks(*a, **o)
    )
    monkeypatch.setattr(picking, "MANY", len(y))
    size = firal.next_batch(X, y, B).theta.size
    for largest, count in ((size, 1), (size - 1, 0)):
        fitted.clear()
        monkeypatch.setattr(picking, "MEDIUM_SYSTEM", largest)
        firal.next_batch(X, y, B)
        assert len(fitted) == count


def test_progress(small_blocks):
    X, y = table(5000)
    stages = []
    firal.next_batch(as_home(X), y, B, progress=lambda stage, *_: stages.append(stage))
    assert {"scale", "coordinates", "information", "relax", "greedy"} <= set(stages)
    assert "pass 1" in stages


@pytest.mark.parametrize("strategy", ["kmeans", "entropy", "var-ratios"])
def test_the_pass_that_picks_is_reported_by_the_name_of_the_strategy(strategy, small_blocks):
    X, y = table(5000)
    stages = []
    options = dict(strategy=strategy, rng=0, progress=lambda stage, *_: stages.append(stage))
    firal.next_batch(as_home(X), y, B, **options)
    assert stages[-1] == strategy


def test_clusters_of_a_sample(monkeypatch, small_blocks):
    monkeypatch.setattr(streaming, "SAMPLE", 100)
    X, y = table()
    for strategy in ("kmeans", "firal-ridge"):
        rows = [firal.next_batch(as_home(X), y, B, strategy=strategy).rows for _ in range(2)]
        assert len(set(rows[0])) == B and np.array_equal(*rows)


def pool_of(X):
    map_ = feature_map(X, standardize=False, intercept=False)
    return FeaturePool(as_home(X), map_, np.empty(0, dtype=int))


def test_ties_go_to_the_lower_row(small_blocks):
    X = np.repeat(np.arange(4.0), 50)[:, None] * np.ones(D)
    pool, theta = pool_of(X), np.ones((1, D))
    for score, strategy in ((streaming._entropy, entropy), (streaming._uncertainty, var_ratios)):
        found = largest_points(pool, lambda F, score=score: streaming._score(score, theta, F), 70)
        assert found.tolist() == strategy(X, None, theta, 70).tolist()
    centers = np.array([[1.0] * D, [1.0] * D, [3.0] * D])
    assert nearest_points(pool, centers).tolist() == [50, 51, 150]


def test_nearest_points_are_those_of_kmeans(small_blocks):
    X = np.random.default_rng(3).normal(size=(300, D))
    expected = kmeans(X, None, None, 20, np.random.default_rng(0))
    from firal.engine.clusters import cluster_centers

    centers = cluster_centers(X, 20, np.random.default_rng(0))
    assert nearest_points(pool_of(X), centers).tolist() == expected.tolist()


def test_nearest_points_far_from_zero(small_blocks):
    """Half of the squared distance is a difference of large numbers there."""
    X = np.zeros((60, D))
    X[:, 0] = np.linspace(999.4, 999.6, 60)
    X[40, 0] = 1000.0
    center = np.array([[1000.0, 0, 0, 0, 0]])
    assert nearest_distinct(X, center).tolist() == nearest_points(pool_of(X), center).tolist()
    assert nearest_points(pool_of(X), center).tolist() == [40]


def test_nearest_points_that_differ_in_their_last_digits(small_blocks):
    """The lowest of them, also if another one is nearer by rounding."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, D))
    X[100:] = np.tile(X[:100], (2, 1)) * (1 + 1e-14 * rng.normal(size=(200, D)))
    for b in (1, 20):
        centers = np.concatenate([rng.normal(size=(b - b // 2, D)), X[100 : 100 + b // 2]])
        expected = nearest_distinct(X, centers)
        assert nearest_points(pool_of(X), centers).tolist() == expected.tolist()
        assert (expected < 100).sum() > b / 2


@pytest.mark.parametrize("labeled", [True, False])
def test_wide_features_are_picked_among_a_sample(labeled, small_blocks, monkeypatch, caplog):
    monkeypatch.setattr(penalized, "LARGEST_FULL", 2)
    monkeypatch.setattr(penalized, "LARGEST_FIRST", 0)
    monkeypatch.setattr(wide_sizes, "LARGEST_ORDER", 3)
    X, y = table()
    y = y if labeled else None
    expected, found = (firal.next_batch(one, y, B) for one in (X, as_home(X)))
    # all points fit into the sample: the same picks up to the rounding of float32
    assert len(set(found.rows) & set(expected.rows)) >= B - 1
    np.testing.assert_allclose(found.selection.objective, expected.selection.objective, rtol=2e-5)
    monkeypatch.setattr(streaming, "WIDE_SAMPLE", 300)
    with caplog.at_level("INFO", logger="firal"):
        some = firal.next_batch(as_home(X), y, B)
    assert "features are wide: the design is made for 300 points of" in caplog.text
    free = np.setdiff1d(np.arange(N), sorted(y or ()))
    spread = free[np.linspace(0, free.size - 1, 300).astype(int)]
    assert set(some.rows) <= set(spread) and len(set(some.rows)) == B


class Prepared(Exception):
    """The design is known: nothing more is to be done."""


@pytest.mark.parametrize(
    ("limit", "least", "labeled", "expected"),
    [  # 6 features, 3 free classes, 12 clusters; with no label one class part, 6 clusters
        ("LARGEST_FULL", 18, True, ("full", 12, 1.0)),
        ("LARGEST_FULL", 17, True, ("block-diagonal", 12, 1.0)),
        ("LARGEST_SIZE", 54, True, ("full", 12, 1.0)),
        ("LARGEST_SIZE", 53, True, ("full", 0, 1.0)),
        ("LARGEST_FIRST", 12, False, ("full", 6, 1.0)),
        ("LARGEST_FIRST", 11, False, ("block-diagonal", 6, 1.0)),
    ],
)
def test_the_design_follows_the_limits(limit, least, labeled, expected, monkeypatch):
    seen = []

    def prepared(pool, known, design, budget, **options):
        clusters = 0 if design.centers is None else len(design.centers)
        seen.append((options["structure"], clusters, options["effects"], options["ridge"]))
        raise Prepared

    monkeypatch.setattr(streaming, "prepare_streamed", prepared)
    monkeypatch.setattr(penalized, limit, least)
    X, y = table()
    with pytest.raises(Prepared):
        firal.next_batch(as_home(X), y if labeled else None, B, ridge=0.03)
    assert seen == [(*expected, 0.03)]


def test_what_is_asked_about_wide_features(small_blocks, monkeypatch, caplog):
    asked = []
    monkeypatch.setattr(streaming, "is_wide", lambda *sizes: asked.append(sizes) or True)
    monkeypatch.setattr(penalized, "LARGEST_FULL", 5)
    X, y = table()
    with caplog.at_level("INFO", logger="firal"):
        found = firal.next_batch(as_home(X), y, B)
    assert asked == [(6 + 12, 4)] and "features are wide" not in caplog.text
    assert found.selection.relaxation is None
    monkeypatch.setattr(streaming, "WIDE_SAMPLE", 3)
    some = firal.next_batch(as_home(X), y, B)  # twice as many as are picked
    free = np.setdiff1d(np.arange(N), sorted(y))
    assert set(some.rows) <= set(free[np.linspace(0, free.size - 1, 2 * B).astype(int)])


@pytest.mark.parametrize("rows", [13, 2000])
def test_of_equal_scores_the_lower_point_is_first(rows, monkeypatch):
    """In blocks of many points too, where other ways to sort change the order of equals."""
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * D * rows)
    X = np.random.default_rng(0).integers(3, size=(N, D)).astype(float)
    found = largest_points(pool_of(X), lambda features: features[:, 0], 400)
    assert found.tolist() == sorted(range(N), key=lambda i: (-X[i, 0], i))[:400]
