"""One path: the same data give the same picks whichever door is used, and what next_batch says."""

import json
import logging
import tracemalloc
import warnings

import numpy as np
import pytest

import firal
from firal import cli, pipeline, placement
from firal.engine import passes, scaling
from firal.engine.homes import as_home
from firal.engine.passes import Home
from firal.engine.scaling import model_features
from firal.selection.penalized import GAP, fit_ridge, select_penalized
from firal.strategies import NEED_NO_MODEL

BUDGET = 5
SKACTIVEML = {"firal-ridge": "FIRAL", "firal": "PaperFIRAL", "bait": "BAIT"}


def awkward(c, seed=0):
    """A table with columns that scaling may trip over, its labels, and the rows with a label."""
    rng = np.random.default_rng(seed)
    n = 30 * c
    y = rng.permutation(np.arange(n) % c)
    X = rng.normal(size=(n, 3)) + 2 * rng.normal(size=(c, 3))[y]
    X = np.column_stack(
        [
            X * [1.0, 1e-7, 1e8],
            np.full(n, 0.1),  # constant, and its mean is not quite 0.1
            np.full(n, 1e9 / 3),
            3 + 1e-15 * rng.integers(2, size=n),  # constant but for the last bit
            1 + 1e-9 * rng.normal(size=n),  # nearly constant
            X[:, 0] - 2 * X[:, 1],  # collinear
            X[:, 0],
        ]
    )
    known = np.sort(np.concatenate([np.flatnonzero(y == k)[:2] for k in range(c)]))
    return X, y, known


def by_next_batch(X, y, strategy):
    return firal.next_batch(X, y, BUDGET, strategy=strategy).rows.tolist()


def by_frame(X, y, known, strategy):
    pandas = pytest.importorskip("pandas")
    labels = pandas.Series(y, dtype="Int64").where(np.isin(np.arange(len(y)), known))
    return by_next_batch(pandas.DataFrame(X), labels, strategy)


def by_command(capsys, *arguments):
    options = ("--budget", str(BUDGET), "--format", "json", "--quiet")
    assert cli.main(["select", *arguments, *options]) == 0
    return json.loads(capsys.readouterr().out)["rows"]


def by_table(capsys, X, y, known, strategy):
    with open("points.csv", "w") as file:
        print(*(f"x{k}" for k in range(X.shape[1])), "y", sep=",", file=file)
        for row, x in enumerate(X.tolist()):
            print(*map(repr, x), y[row] if row in known else "", sep=",", file=file)
    return by_command(capsys, "points.csv", "--label-column", "y", "--strategy", strategy)


def by_array_file(capsys, X, y, known, strategy):
    np.save("points.npy", np.asfortranarray(X))  # another order of the numbers in memory
    with open("labels.csv", "w") as file:
        print("row,label", *(f"{row},{y[row]}" for row in known), sep="\n", file=file)
    return by_command(capsys, "points.npy", "--labeled", "labels.csv", "--strategy", strategy)


def by_loop(X, y, known, strategy):
    rng = np.random.default_rng([0, len(known)])
    run = firal.active_learning(
        model_features(X, robust=True), y, known, strategy, rounds=1, batch=BUDGET, rng=rng
    )
    return run[1].picked.tolist()


def by_skactiveml(X, y, known, strategy):
    skactiveml = pytest.importorskip("firal.skactiveml", exc_type=ImportError)
    from skactiveml.classifier import ParzenWindowClassifier

    labels = np.full(len(y), np.nan)
    labels[known] = y[known]
    query = getattr(skactiveml, SKACTIVEML[strategy])(random_state=0)
    clf = ParzenWindowClassifier(classes=range(max(y) + 1))
    return query.query(X, labels, clf, batch_size=BUDGET).tolist()


@pytest.mark.parametrize("c", [3, 12])  # from 11 classes on, text and numbers are sorted otherwise
@pytest.mark.parametrize("strategy", firal.STRATEGIES)
def test_every_door_gives_the_same_picks(strategy, c, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y, known = awkward(c)
    expected = by_next_batch(X, {row: y[row] for row in known}, strategy)
    assert len(set(expected) - set(known)) == BUDGET
    masked = [label if row in known else None for row, label in enumerate(y.tolist())]
    assert by_next_batch(X.tolist(), masked, strategy) == expected
    assert by_frame(X, y, known, strategy) == expected
    assert by_table(capsys, X, y, known, strategy) == expected
    assert by_array_file(capsys, X, y, known, strategy) == expected
    assert by_loop(X, y, known, strategy) == expected
    if strategy in SKACTIVEML:
        assert by_skactiveml(X, y, known, strategy) == expected


def test_constant_columns_change_nothing():
    X, y, known = awkward(3)
    labels = {row: y[row] for row in known}
    with_, without = (
        firal.next_batch(table, labels, BUDGET) for table in (X, np.delete(X, [3, 4], axis=1))
    )
    assert np.array_equal(with_.rows, without.rows)
    assert np.abs(with_.theta[:, [3, 4]]).max() < 1e-12


@pytest.mark.parametrize("without", [0, BUDGET])  # doors before the first label
@pytest.mark.parametrize("strategy", ["random", "kmeans", "firal-ridge"])
def test_every_door_gives_the_same_first_picks(strategy, without, tmp_path, monkeypatch, capsys):
    """No label at all, or labels of one class."""
    monkeypatch.chdir(tmp_path)
    X, y, known = awkward(3)
    known = known[y[known] == 1] if without else known[:0]
    expected = by_next_batch(X, {row: y[row] for row in known}, strategy)
    assert by_frame(X, y, known, strategy) == expected
    assert by_table(capsys, X, y, known, strategy) == expected
    assert by_loop(X, y, known, strategy) == expected
    if strategy == "random":
        return
    skactiveml = pytest.importorskip("firal.skactiveml", exc_type=ImportError)
    for name in ("FIRAL",) if strategy == "firal-ridge" else ("PaperFIRAL", "BAIT"):
        monkeypatch.setitem(SKACTIVEML, strategy, name)
        assert hasattr(skactiveml, name)
        with warnings.catch_warnings():  # the others say that K-means picks for them
            warnings.simplefilter("error" if name == "FIRAL" else "ignore", UserWarning)
            assert by_skactiveml(X, y, known, strategy) == expected


def labeled_in_words(names=("b", "a", "c")):
    """Features, labels in words of some rows, their codes and the rows: all that a batch needs."""
    X, y, known = awkward(3)
    known, names = known[:-1], np.array(names)
    order = names.argsort().argsort()[y]  # place of every label in the sorted names
    free = np.setdiff1d(np.arange(len(X)), known)
    labels = {row: names[y[row]] for row in known}
    return X, labels, order[known], known, free


def test_what_a_batch_holds():
    X, labels, codes, known, free = labeled_in_words()
    batch = firal.next_batch(X, labels, 4, strategy="firal", ridge=0.1)
    assert batch.strategy == "firal" and batch.note is None
    assert batch.classes == ("a", "b", "c")
    assert batch.counts.tolist() == np.bincount(codes).tolist()
    features = model_features(X, robust=True)
    theta = firal.fit(features[known], codes, 3, 0.1).theta
    assert np.array_equal(batch.theta, theta)
    selection = firal.select(features[free], features[known], theta, 4)
    assert batch.rows.tolist() == free[selection.indices].tolist()
    assert batch.selection.eta == selection.eta
    assert batch.selection.relaxation.gap <= 0.01


@pytest.mark.parametrize("ridge", [None, 0.1])
def test_what_a_batch_of_the_default_holds(ridge):
    X, labels, codes, known, free = labeled_in_words()
    batch = firal.next_batch(X, labels, 4, ridge=ridge, rng=np.random.default_rng(3))
    assert batch.strategy == "firal-ridge" and batch.note is None
    assert batch.classes == ("a", "b", "c")
    assert batch.counts.tolist() == np.bincount(codes).tolist()
    # the fit has the total penalty of the labels after the batch: 5 labels now, 9 then
    r, features = ridge or 0.01, model_features(X, robust=True)
    assert fit_ridge(r, 5, 4) == pytest.approx(r * 9 / 5)
    theta = firal.fit(features[known], codes, 3, r * 9 / 5, penalty="symmetric").theta
    assert np.allclose(batch.theta, theta, rtol=1e-12, atol=1e-12)
    rng = np.random.default_rng(3)
    want = select_penalized(features[free], features[known], theta, 4, rng, ridge=r)
    assert batch.rows.tolist() == free[want.indices].tolist()
    assert batch.selection.objective == pytest.approx(want.objective)
    relaxation = batch.selection.relaxation
    least = relaxation.objective * (1 - relaxation.gap)
    assert relaxation.gap <= GAP and relaxation.converged
    assert batch.selection.ratio == pytest.approx(batch.selection.objective / least)
    assert batch.selection.ratio >= 1


@pytest.mark.parametrize("seed", range(5))
def test_renaming_the_classes_changes_no_pick_of_the_default(seed):
    X, y, known = awkward(4, seed)
    picks = [
        by_next_batch(X, {row: names[y[row]] for row in known}, "firal-ridge")
        for names in ("abcd", "dcba", "cadb", (7, 12, 1, 3))
    ]
    assert picks == [picks[0]] * 4


def test_the_default_puts_a_penalty_and_heavy_tails_into_the_design():
    X, y, known = awkward(3)
    X, labels = X[:, :3] / [1.0, 1e-7, 1e8], {row: y[row] for row in known}
    X[:, 1] = np.sinh(2 * X[:, 1]) + 3  # heavy tails
    usual = firal.next_batch(X, labels, 6)
    assert np.array_equal(usual.rows, firal.next_batch(X, labels, 6, ridge=0.01).rows)
    assert np.array_equal(usual.rows, firal.next_batch(X, labels, 6, robust=True).rows)
    for change in ({"ridge": 1.0}, {"robust": False}, {"standardize": False}):
        other = firal.next_batch(X, labels, 6, **change)
        assert other.strategy == "firal-ridge"
        assert not np.array_equal(usual.rows, other.rows), change
    for strategy in ("firal", "bait", "entropy"):
        thetas = [
            firal.next_batch(X, labels, 6, strategy=strategy, ridge=ridge).theta
            for ridge in (None, 0.001, 0.01)
        ]
        assert np.array_equal(thetas[0], thetas[1]) and not np.array_equal(thetas[0], thetas[2])


def test_options_reach_their_place():
    X, y, known = awkward(3)
    X, labels = X[:, :3] / [1.0, 1e-7, 1e8], {row: y[row] for row in known}
    plain = dict(standardize=False, pca=2, intercept=False)
    batch = firal.next_batch(X, labels, 4, strategy="firal", eta=3.0, ridge=1e-2, **plain)
    features = model_features(X, **plain)
    assert np.array_equal(
        batch.theta, firal.fit(features[known], y[known], 3, 1e-2).theta
    ) and batch.theta.shape == (2, 2)
    assert batch.selection.eta == 3.0
    seen = []
    report = dict(progress=lambda *stage: seen.append(stage))
    firal.next_batch(X, labels, 2, strategy="firal", eta=3.0, **report)
    assert {stage for stage, _, _ in seen} == {"scale", "relax", "sparsify"}
    assert [call for call in seen if call[0] == "scale"][:2] == [("scale", 0, 2), ("scale", 1, 2)]
    seen.clear()
    firal.next_batch(X, labels, 2, **report)
    assert {stage for stage, _, _ in seen} == {"scale", "relax", "greedy"}
    draws = [firal.next_batch(X, None, 4, strategy="random").rows.tolist() for _ in range(2)]
    assert draws[0] == draws[1]
    rng = np.random.default_rng(1)
    drawn = firal.next_batch(X, None, 4, strategy="random", rng=rng).rows.tolist()
    assert drawn == np.random.default_rng(1).choice(len(X), 4, replace=False).tolist() != draws[0]


@pytest.mark.parametrize("strategy", firal.STRATEGIES)
@pytest.mark.parametrize(
    ("labels", "reason"),
    [(None, "no labels yet"), ({3: "a", 9: "a"}, "all labels are of one class")],
)
def test_without_a_model_k_means_picks_for_the_paper_s_strategies_and_a_note_says_so(
    strategy, labels, reason, caplog
):
    X, _, _ = awkward(3)
    with caplog.at_level(logging.INFO, "firal"):
        batch = firal.next_batch(X, labels, 4, strategy=strategy)
    assert batch.theta is None
    if strategy == "firal-ridge":
        said = f"{reason}: the design assumes that all classes are equally probable everywhere"
        assert batch.strategy == strategy and batch.note is None and caplog.messages[-1] == said
        assert batch.selection.objective > 0 and not set(batch.rows) & set(labels or ())
        return
    assert batch.selection is None
    if strategy in NEED_NO_MODEL:
        assert batch.strategy == strategy and batch.note is None
        return
    said = f"{reason}, so there is no model: K-means picks instead of {strategy}"
    assert batch.strategy == "kmeans" and batch.note == said and caplog.messages[-1] == said
    assert batch.classes == tuple(set((labels or {}).values()))
    assert batch.counts.tolist() == ([2] if labels else [])
    expected = firal.next_batch(X, labels, 4, strategy="kmeans").rows
    assert np.array_equal(batch.rows, expected) and not set(batch.rows) & set(labels or ())


def test_an_integer_seed_gives_other_random_points_in_every_round():
    """The same seed in every round would draw the same places of the pool again."""
    X, y, _ = awkward(3)
    labels, drawn = {}, []
    for _ in range(4):
        rows = firal.next_batch(X, labels, 6, strategy="random").rows
        free = np.setdiff1d(np.arange(90), list(labels))
        drawn.append(np.sort(np.searchsorted(free, rows)) / free.size)  # as shares of the pool
        labels |= {row: y[row] for row in rows}
    apart = [np.abs(a - b).max() for a, b in zip(drawn, drawn[1:], strict=False)]
    assert min(apart) > 0.05 and len(labels) == 24
    again = firal.next_batch(X, labels, 6, strategy="random", rng=0).rows
    assert np.array_equal(again, firal.next_batch(X, labels, 6, strategy="random").rows)
    assert not np.array_equal(again, firal.next_batch(X, labels, 6, strategy="random", rng=1).rows)
    rng = np.random.default_rng([0, 24])
    assert np.array_equal(again, firal.next_batch(X, labels, 6, strategy="random", rng=rng).rows)


@pytest.mark.parametrize("strategy", ["firal-ridge", "random", "kmeans", "entropy"])
def test_rows_that_are_out_are_never_picked(strategy):
    X, y, known = awkward(3)
    labels = {row: y[row] for row in known}
    seen = []
    for _ in range(3):  # three batches, and no label comes in
        rows = firal.next_batch(X, labels, 5, strategy=strategy, pending=seen).rows.tolist()
        seen += rows
    assert len(set(seen) | set(known)) == 15 + len(known)
    rows = firal.next_batch(X, labels, 84 - 15, strategy=strategy, exclude=seen).rows
    assert not set(rows) & {*seen, *known}
    with pytest.raises(ValueError, match="at most 69, the number of points left to choose from"):
        firal.next_batch(X, labels, 70, strategy=strategy, exclude=seen)
    some = firal.next_batch(X, labels, 5, strategy=strategy, pending=[*known, *seen[:1]]).rows
    assert not set(some) & {*known, seen[0]}  # a point with a label is not pending


def test_pending_points_are_known_to_the_design_and_not_to_the_fit():
    """As if they were labeled: the next batch looks elsewhere. The model stays the same."""
    X, y, known = awkward(3)
    labels = {row: y[row] for row in known}
    one = firal.next_batch(X, labels, 5)
    both = firal.next_batch(X, labels, 5, pending=one.rows)
    assert np.allclose(one.theta, both.theta)
    features = model_features(X, robust=True)
    free = np.setdiff1d(np.arange(90), [*known, *one.rows])
    design = features[np.concatenate([known, np.sort(one.rows)])]
    rng = np.random.default_rng([0, len(known)])
    want = select_penalized(features[free], design, one.theta, 5, rng).indices
    assert both.rows.tolist() == free[want].tolist()
    without = firal.next_batch(X, labels, 5, exclude=one.rows)
    assert both.rows.tolist() != without.rows.tolist()


def test_a_function_as_strategy():
    X, y, known = awkward(3)

    def lowest(pool, labeled, theta, budget, rng):
        assert pool.shape == (84, 10) and labeled.shape == (6, 10) and theta.shape == (2, 10)
        return np.arange(budget)

    labels = {row: y[row] for row in known}
    batch = firal.next_batch(X, labels, 4, strategy=lowest)
    assert batch.rows.tolist() == np.setdiff1d(np.arange(90), known)[:4].tolist()
    assert batch.strategy == "lowest" and batch.selection is None

    def selects(pool, labeled, theta, budget, rng):
        return firal.select(pool, labeled, theta, budget, eta=7.0)

    assert firal.next_batch(X, labels, 4, strategy=selects).selection.eta == 7.0
    with pytest.raises(ValueError, match="rows of <lambda> must be 4 distinct rows in 0..83"):
        firal.next_batch(X, labels, 4, strategy=lambda *_: [0, 1, 1, 2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": 85}, "budget must be at most 84, the number of points left to choose from, go"),
        ({"budget": 0}, "budget must be an integer >= 1, got 0"),
        ({"strategy": "best"}, "strategy must be one of random, .* got 'best'"),
        ({"strategy": ["firal"]}, r"strategy must be one of random, .* got \['firal'\]"),
        ({"strategy": "bait", "eta": 2.0}, "eta is an option of the strategy firal, got 2.0 for"),
        ({"eta": 2.0}, "eta is an option of the strategy firal, got 2.0 for firal-ridge"),
        ({"strategy": "firal", "eta": "best"}, 'eta must be None, "theory" or a positive number'),
        ({"ridge": 0}, "ridge must be a finite number > 0, got 0"),
        ({"pca": 10}, "pca must be an integer in 1..9, got 10"),
        ({"standardize": "no"}, "standardize must be True or False, got 'no'"),
        ({"robust": "no"}, "robust must be True or False, got 'no'"),
        ({"robust": True, "standardize": False}, "robust must be False without standardize"),
        ({"rng": -3}, "rng must be an integer >= 0, got -3"),
        ({"rng": None}, "rng must be an integer >= 0, got None"),
        ({"exclude": [90]}, "exclude must be distinct rows in 0..89"),
        ({"pending": [-1]}, "pending must be distinct rows in 0..89"),
        ({"X": np.ones(90)}, r"table of numbers .* got an array of shape \(90,\)"),
        ({"y": [None] * 89}, "one entry for each of the 90 points, .* got 89 entries"),
    ],
)
def test_arguments_are_checked(change, message):
    X, y, known = awkward(3)
    given = {"X": X, "y": {row: y[row] for row in known}, "budget": 4} | change
    with pytest.raises(ValueError, match=message):
        firal.next_batch(given.pop("X"), given.pop("y"), given.pop("budget"), **given)


@pytest.mark.parametrize(
    ("pca", "kind"), [(None, np.float32), (900, np.float32), (700, np.float64)]
)
def test_wide_features_stay_in_float32_narrow_ones_do_not(pca, kind, monkeypatch):
    """What counts is how many there are after the reduction: 800 with the clusters."""
    kinds = []

    def watched(pool, *_, **__):
        kinds.append(pool.dtype)
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "fit_and_pick", watched)
    X = np.random.default_rng(0).normal(size=(950, 910)).astype(np.float32)
    for table in (X, X.astype(np.float64)):
        with pytest.raises(KeyboardInterrupt):
            firal.next_batch(table, None, 3, pca=pca)
    assert kinds == [kind, np.float64]


def test_progress_of_a_table_that_is_read_block_by_block():
    seen = []
    X, _, _ = awkward(3)
    firal.next_batch(as_home(X), None, 2, progress=lambda *call: seen.append(call))
    assert seen[0][0] == "scale" and len({done for stage, done, _ in seen if stage == "scale"}) > 1


@pytest.mark.parametrize("streamed", [False, True])
def test_a_mapped_file_is_never_copied_as_a_whole(tmp_path, monkeypatch, streamed):
    if not streamed:
        monkeypatch.setattr(placement, "STREAM_FROM", 2**30)
    for module in (scaling, passes):
        monkeypatch.setattr(module, "BLOCK_BYTES", 2**20)
    shape = (100_000, 60)
    made = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, shape)
    made[:] = np.random.default_rng(0).normal(size=(1, 60))
    made[::3, ::2] += 1
    made[::7] -= 2
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    y = np.full(len(X), np.nan)
    y[:10] = np.arange(10) % 2
    tracemalloc.start()
    batch = firal.next_batch(X, y, 3, strategy="entropy", pca=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(batch.rows) == 3
    assert peak < X.nbytes / 2  # 12 MB


def test_no_error_names_an_option_of_the_command():
    X, y, known = awkward(3)
    for change in ({"budget": 85}, {"pca": 10}, {"strategy": "bait", "eta": 2.0}):
        with pytest.raises(ValueError) as caught:
            firal.next_batch(X, {row: y[row] for row in known}, **({"budget": 4} | change))
        assert "--" not in str(caught.value)


def test_tables_are_read_block_by_block_from_a_size_on(monkeypatch, tmp_path):
    """Their features would be float64 with one more column, the intercept."""
    X = np.arange(60.0).reshape(20, 3)
    np.save(tmp_path / "X.npy", X)
    for given in (X, tmp_path / "X.npy", str(tmp_path / "X.npy")):
        table = placement.whole_table(given)
        assert np.array_equal(placement.placed(table, given, 8 * 20 * 4), X)
        home = placement.placed(table, given, 8 * 20 * 4 - 1)
        assert isinstance(home, Home) and home.shape == (20, 3)
        assert placement.placed(home, home, 8 * 20 * 4) is home


def places(monkeypatch, caplog, n=30, d=3, labels=2, **options):
    """Whether a table is read block by block where that begins with tables of its size."""
    X = np.random.default_rng(0).normal(size=(n, d))
    y = {row: row % labels for row in range(labels)}
    caplog.set_level("INFO", "firal")
    seen = []
    for name in ("STREAM_FROM", "HELD_FROM"):
        monkeypatch.setattr(placement, name, 8 * n * (d + 1) - 1)
        caplog.clear()
        refused = ""
        try:
            firal.next_batch(X, y, 3, **options)
        except ValueError as error:
            refused = str(error)
        assert not refused or "in memory" in refused
        seen.append("block by block" in caplog.text + refused)
    return seen


def test_what_blocks_cannot_do_is_held_longer(monkeypatch, caplog):
    """Beyond 1 GiB a function and probabilities are refused: the whole pool would be needed."""
    for strategy in ("firal-ridge", "firal", "bait", "kmeans", "entropy", "random"):
        assert places(monkeypatch, caplog, strategy=strategy) == [True, True], strategy
    monkeypatch.undo()
    P = np.full((30, 2), 0.5)
    first = lambda pool, labeled, theta, budget, rng: np.arange(budget)  # noqa: E731
    for options in ({"probabilities": P}, {"strategy": first}, {"d": 796}):
        assert places(monkeypatch, caplog, **options) == [False, True], options
        monkeypatch.undo()
    assert places(monkeypatch, caplog, d=796, pca=3) == [True, True]


def test_wide_features_in_float32_stay_so_for_the_default():
    """From order 801 on, d and one indicator per pick, no block is written."""
    single, double = (np.empty((1, 1), kind) for kind in (np.float32, np.float64))
    assert pipeline._kind(single, "firal-ridge", 790, 11) == np.float32
    assert pipeline._kind(single, "firal-ridge", 790, 10) == np.float64
    assert pipeline._kind(double, "firal-ridge", 790, 11) == np.float64
    assert pipeline._kind(single, "kmeans", 790, 11) == np.float64


def test_the_largest_ridge():
    pipeline._check_options("firal-ridge", 1e30, None)
    with pytest.raises(ValueError, match=r"ridge must be at most 1e\+30, got 1.1e\+30"):
        pipeline._check_options("firal-ridge", 1.1e30, None)


def test_columns_are_robust_where_they_are_standardized():
    X, y, known = awkward(3)
    labels = {row: y[row] for row in known}
    X = X[:, :2]

    def theta(**options):
        return firal.next_batch(X, labels, 4, strategy="entropy", **options).theta

    assert np.array_equal(theta(), theta(standardize=True, robust=True))
    assert not np.allclose(theta(), theta(robust=False))
    assert np.array_equal(theta(standardize=False), theta(standardize=False, robust=False))


def test_pending_rows_that_have_a_label_by_now_are_not_counted_twice():
    X, y, known = awkward(3)
    labels = {row: y[row] for row in known}
    waiting = np.setdiff1d(np.arange(len(X)), known)[:3]
    found, expected = (
        firal.next_batch(X, labels, 4, pending=rows)
        for rows in (np.concatenate([waiting, known[:2]]), waiting)
    )
    assert found.rows.tolist() == expected.rows.tolist()
    assert found.selection.objective == expected.selection.objective
    assert not set(found.rows) & set(waiting)
