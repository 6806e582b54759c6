"""The scikit-activeml strategies: the same picks as firal's own functions, and the contract of
scikit-activeml (indices, utilities, missing labels, candidates, an untouched classifier)."""

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
import reference_bait
import reference_select
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import firal
from firal import skactiveml_base
from firal.engine.clusters import cluster_centers
from firal.model.from_sklearn import theta_from_sklearn
from firal.pipeline import RIDGE
from firal.selection import relaxation, solver, support, typical_first
from firal.selection.bait import bait
from firal.selection.penalized import select_penalized
from firal.strategies import kmeans

skactiveml = pytest.importorskip("skactiveml", reason="scikit-activeml is not installed")

from skactiveml.classifier import ParzenWindowClassifier, SklearnClassifier  # noqa: E402

from firal.skactiveml import BAIT, FIRAL, PaperFIRAL  # noqa: E402
from firal.skactiveml_utilities import largest_at_pick  # noqa: E402

ALL = pytest.mark.parametrize("strategy", [FIRAL, PaperFIRAL, BAIT])
PAPER = pytest.mark.parametrize("strategy", [PaperFIRAL, BAIT])
FLOWERS, SPECIES = load_iris(return_X_y=True)
FIRST = [0, 20, 60, 80, 110, 130]  # two rows of each species


def iris(first=FIRST, n=150):
    """Features, and labels that are NaN but for the rows of ``first``."""
    y = np.full(n, np.nan)
    y[first] = SPECIES[first]
    return FLOWERS[:n], y


def regression(**options):
    return SklearnClassifier(LogisticRegression(max_iter=1000), classes=[0, 1, 2], **options)


def by_hand(strategy, pool, labeled, theta, budget):
    """Rows of the pool from firal's own functions."""
    if strategy is FIRAL:
        n_labels = 0 if labeled is None else len(labeled)
        rng = np.random.default_rng([0, n_labels])  # as next_batch makes it of a seed
        return select_penalized(pool, labeled, theta, budget, rng).indices
    if strategy is PaperFIRAL:
        return firal.select(pool, labeled, theta, budget).indices
    return bait(pool, labeled, theta, budget)


def own_fit(strategy, Z, y, budget):
    """theta of the regression that a strategy fits itself."""
    if strategy is FIRAL:  # the total penalty of n0 + budget labels, on n0; all classes alike
        return firal.fit(Z, y, 3, 0.01 * (len(Z) + budget) / len(Z), penalty="symmetric").theta
    return firal.fit(Z, y, 3, RIDGE).theta


def robust(X):
    """Columns of one scale, heavy tails drawn in, as in the command."""
    once = np.arcsinh(StandardScaler().fit_transform(X))
    return StandardScaler().fit_transform(once)


def with_ones(X):
    return np.column_stack([X, np.ones(len(X))])


@ALL
def test_picks_are_those_of_the_logistic_regression_that_is_given(strategy):
    X, y = iris()
    model = LogisticRegression(max_iter=1000).fit(X[FIRST], SPECIES[FIRST])
    scores = np.column_stack([model.coef_, model.intercept_])
    theta = scores[:-1] - scores[-1]  # the last class is the reference
    unlabeled = np.flatnonzero(np.isnan(y))
    expected = by_hand(strategy, with_ones(X[unlabeled]), with_ones(X[FIRST]), theta, 5)
    rows = strategy(random_state=0).query(X, y, regression(), batch_size=5)
    assert rows.tolist() == unlabeled[expected].tolist()


@ALL
def test_without_an_intercept_and_two_classes(strategy):
    X, y = iris([0, 20, 60, 80], n=100)
    clf = SklearnClassifier(LogisticRegression(fit_intercept=False))
    theta = -LogisticRegression(fit_intercept=False).fit(X[[0, 20, 60, 80]], [0, 0, 1, 1]).coef_
    unlabeled = np.flatnonzero(np.isnan(y))
    expected = by_hand(strategy, X[unlabeled], X[[0, 20, 60, 80]], theta, 4)
    rows = strategy(random_state=0).query(X, y, clf, batch_size=4)
    assert np.array_equal(rows, unlabeled[expected])


@ALL
def test_a_pipeline_is_seen_from_its_last_step(strategy):
    X, y = iris()
    steps = make_pipeline(StandardScaler(), PCA(2, random_state=0), LogisticRegression())
    query = strategy(random_state=0)
    rows = query.query(X, y, SklearnClassifier(steps), batch_size=4)
    fitted = clone(steps).fit(X[FIRST], SPECIES[FIRST])
    Z = fitted[:-1].transform(X)
    inner = SklearnClassifier(fitted[-1])
    assert np.array_equal(rows, query.query(Z, y, inner, fit_clf=False, batch_size=4))
    bare = make_pipeline(LogisticRegression(max_iter=1000))
    rows = query.query(X, y, SklearnClassifier(bare), batch_size=4)
    assert np.array_equal(rows, query.query(X, y, regression(), batch_size=4))


@ALL
@pytest.mark.parametrize(
    "clf", [ParzenWindowClassifier(classes=[0, 1, 2]), SklearnClassifier(GaussianNB())]
)
def test_any_other_classifier_gets_a_ridge_regression(strategy, clf):
    X, y = iris()
    Z = with_ones(robust(X))
    theta = own_fit(strategy, Z[FIRST], SPECIES[FIRST], 5)
    unlabeled = np.flatnonzero(np.isnan(y))
    expected = unlabeled[by_hand(strategy, Z[unlabeled], Z[FIRST], theta, 5)]
    query = strategy(random_state=0)
    assert np.array_equal(query.query(X, y, clf, batch_size=5), expected)
    units = np.array([1e3, 1e-3, 1.0, 7.0])  # units of the columns do not matter
    assert np.array_equal(query.query(X * units + 5, y, clf, batch_size=5), expected)
    soft = strategy(ridge=10.0, random_state=0).query(X, y, clf, batch_size=5)
    assert not np.array_equal(soft, expected)


def test_the_fit_of_penalized_firal_has_the_total_penalty_after_the_batch():
    """Seen in the first utilities, which change with theta even where the picks do not."""
    X, y = iris()
    unlabeled = np.flatnonzero(np.isnan(y))
    Z, first = with_ones(robust(X)), []
    theta = own_fit(FIRAL, Z[FIRST], SPECIES[FIRST], 5)
    select_penalized(
        Z[unlabeled],
        Z[FIRST],
        theta,
        5,
        np.random.default_rng([0, len(FIRST)]),
        watch=lambda row, decrease: first.append((row, decrease.copy())),
    )
    clf = ParzenWindowClassifier(classes=[0, 1, 2])
    rows, utilities = FIRAL(random_state=0).query(X, y, clf, batch_size=5, return_utilities=True)
    steps = [unlabeled[row] for row, _ in first]
    k = min(range(len(rows)), key=lambda k: steps.index(rows[k]))  # that was added first
    at = steps.index(rows[k])
    open_ = np.setdiff1d(unlabeled, [*rows[:k], *steps[: at + 1]])
    want = np.nan_to_num(first[at][1])[np.searchsorted(unlabeled, open_)]
    np.testing.assert_allclose(utilities[k, open_], want, rtol=1e-6)


@ALL
def test_a_class_without_a_label_takes_part_if_the_classifier_names_it(strategy):
    X, y = iris([0, 20, 60, 80])
    query, rows = strategy(random_state=0), {}
    for c in (2, 3):
        clf = ParzenWindowClassifier(classes=range(c))
        rows[c] = query.query(X, y, clf, batch_size=6).tolist()
    assert rows[2] != rows[3]


def test_a_regression_that_cannot_be_fitted_is_replaced():
    X, y = iris()
    objects = np.array([None if np.isnan(v) else int(v) for v in y], dtype=object)
    with pytest.warns(UserWarning, match="could not be fitted"):  # scikit-learn wants plain ints
        query = FIRAL(missing_label=None, random_state=0)
        rows = query.query(X, objects, regression(missing_label=None))
    expected = FIRAL(random_state=0).query(X, y, SklearnClassifier(GaussianNB()))
    assert np.array_equal(rows, expected)


@ALL
@pytest.mark.parametrize(
    ("missing", "names", "kind"),
    [
        (np.nan, [0.0, 1.0, 2.0], float),
        (-1, [0, 1, 2], int),
        (99, [5, 7, 9], int),
        (None, ["setosa", "versicolor", "virginica"], object),
        ("unlabeled", ["a", "b", "c"], "U9"),
        ("", ["a", "b", "c"], str),
    ],
)
def test_every_convention_for_labels_gives_the_same_rows(strategy, missing, names, kind):
    X, y = iris()
    labels = np.array([missing if np.isnan(v) else names[int(v)] for v in y], dtype=kind)
    for clf in (SklearnClassifier(LogisticRegression(max_iter=1000)), ParzenWindowClassifier()):
        expected = strategy(random_state=0).query(X, y, clf, batch_size=4)
        clf = clone(clf).set_params(missing_label=missing, classes=names)
        query = strategy(missing_label=missing, random_state=0)
        rows = query.query(X, labels, clf, batch_size=4)
        assert np.array_equal(rows, expected)


@ALL
def test_the_classifier_must_use_the_same_missing_label(strategy):
    X, y = iris()
    with pytest.raises((TypeError, ValueError)):
        strategy(missing_label=-1).query(X, np.where(np.isnan(y), -1, y), regression())


@ALL
@pytest.mark.parametrize("fit_clf", [True, False])
def test_the_classifier_is_left_as_it_is_and_the_answer_repeats(strategy, fit_clf):
    X, y = iris()
    clf = regression()
    if not fit_clf:
        clf = SklearnClassifier(LogisticRegression(max_iter=1000).fit(X[FIRST], SPECIES[FIRST]))
    before, query = set(vars(clf)), strategy(random_state=1)
    answers = [
        query.query(X, y, clf, fit_clf=fit_clf, batch_size=3, return_utilities=True)
        for _ in range(2)
    ]
    assert set(vars(clf)) == before
    np.testing.assert_array_equal(answers[0][0], answers[1][0])
    np.testing.assert_array_equal(answers[0][1], answers[1][1])
    assert clone(query).get_params() == query.get_params()


@ALL
def test_without_a_fit_the_given_coefficients_count(strategy):
    X, y = iris()
    soft = LogisticRegression(C=1e-3).fit(X[FIRST], SPECIES[FIRST])
    query = strategy(random_state=0)
    rows = query.query(X, y, SklearnClassifier(soft), fit_clf=False, batch_size=5)
    assert not np.array_equal(rows, query.query(X, y, regression(), batch_size=5))
    # the model is enough: no label of this pool is needed then
    nothing = np.full(len(y), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = query.query(X, nothing, SklearnClassifier(soft), fit_clf=False, batch_size=5)
    expected = by_hand(strategy, with_ones(X), None, theta_from_sklearn(soft), 5)
    assert np.array_equal(found, expected)
    with pytest.raises(NotFittedError):
        query.query(X, y, regression(), fit_clf=False)


@PAPER
@pytest.mark.parametrize(("first", "said"), [([], "no labels yet"), ([0, 20], "of one class")])
@pytest.mark.parametrize("clf", [regression(), ParzenWindowClassifier(classes=[0, 1, 2])])
def test_cold_start_of_the_paper_s_is_k_means_on_scaled_columns(strategy, first, said, clf):
    X, y = iris(first)
    unlabeled = np.flatnonzero(np.isnan(y))
    Z = robust(X)[unlabeled]
    with pytest.warns(UserWarning, match=said):
        rows, utilities = strategy(random_state=0).query(
            X, y, clf, batch_size=6, return_utilities=True
        )
    check_contract(rows, utilities, unlabeled, len(X))
    nearest = kmeans(with_ones(Z), None, None, 6, np.random.default_rng([0, len(first)]))
    assert np.array_equal(rows, unlabeled[nearest])
    # each pick is the nearest to its center: close to the best that K-means finds with any seed
    spread = within(Z, np.searchsorted(unlabeled, rows))
    others = [within(Z, kmeans(Z, None, None, 6, np.random.default_rng(s))) for s in range(5)]
    assert spread <= 1.1 * np.median(others)
    random = [within(Z, np.random.default_rng(s).permutation(len(Z))[:6]) for s in range(20)]
    assert spread < min(random)
    with pytest.warns(UserWarning, match=said):  # units do not matter
        again = strategy(random_state=0).query(X * [1, 100, 1, 0.01], y, clf, batch_size=6)
    assert np.array_equal(again, rows)


@pytest.mark.parametrize("first", [[], [0, 20]])  # no label, or labels of one class
@pytest.mark.parametrize("clf", [regression(), ParzenWindowClassifier(classes=[0, 1, 2])])
def test_penalized_firal_needs_no_labels(first, clf):
    X, y = iris(first)
    unlabeled = np.flatnonzero(np.isnan(y))
    Z = with_ones(robust(X))
    want = by_hand(FIRAL, Z[unlabeled], Z[first] if first else None, None, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows, utilities = FIRAL(random_state=0).query(
            X, y, clf, batch_size=6, return_utilities=True
        )
        again = FIRAL(random_state=0).query(X * [1, 100, 1, 0.01], y, clf, batch_size=6)
    check_contract(rows, utilities, unlabeled, len(X))
    assert np.array_equal(rows, unlabeled[want]) and np.array_equal(again, rows)
    assert set(SPECIES[rows]) == {0, 1, 2}


@ALL
def test_what_random_state_decides(strategy):
    """A seed is that of next_batch; a RandomState gives one; None may give another every time."""
    X, y = iris([0, 20])  # without a model: K-means of the paper's strategies is random too
    clf = ParzenWindowClassifier(classes=[0, 1, 2])

    def picks(random_state):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return strategy(random_state=random_state).query(X, y, clf, batch_size=8).tolist()

    name = "firal-ridge" if strategy is FIRAL else "kmeans"
    for seed in (0, np.int64(3)):
        batch = firal.next_batch(X, {0: 0, 20: 0}, 8, strategy=name, rng=int(seed))
        assert picks(seed) == batch.rows.tolist()
    state = np.random.RandomState(5)
    assert picks(state) == picks(state) == picks(np.random.RandomState(5))  # it is copied
    assert len({tuple(picks(seed)) for seed in range(6)}) > 1
    assert len(set(picks(None))) == 8


def within(Z, rows):
    """Mean distance of a point to the nearest picked one."""
    return np.linalg.norm(Z[:, None] - Z[rows], axis=2).min(axis=1).mean()


def check_contract(rows, utilities, candidates, width):
    """Distinct candidates; NaN where there is nothing to pick; largest at the pick."""
    assert np.unique(rows).size == len(rows)
    assert np.isin(rows, candidates).all()
    assert utilities.shape == (len(rows), width)
    for step, row in enumerate(rows):
        open_ = np.setdiff1d(candidates, rows[:step])
        assert np.array_equal(np.flatnonzero(~np.isnan(utilities[step])), open_)
        assert np.nanargmax(utilities[step]) == row


@given(st.integers(0, 2**32 - 1), st.sampled_from([FIRAL, PaperFIRAL, BAIT]), st.booleans())
def test_contract_of_indices_and_utilities(seed, strategy, own):
    rng = np.random.default_rng(seed)
    n, d, c = rng.integers(8, 25), rng.integers(1, 4), rng.integers(2, 4)
    X = np.round(rng.normal(size=(n, d)), int(rng.integers(0, 3)))  # rounded: equal rows occur
    X[:c] += 3 * np.eye(c, d)
    y = np.full(n, np.nan)
    known = int(rng.integers(c, n - 1))
    y[:known] = np.append(np.arange(c), rng.integers(0, c, known - c))
    clf = ParzenWindowClassifier() if own else SklearnClassifier(LogisticRegression())
    batch = int(rng.integers(1, n - known + 1))
    query = strategy(random_state=0)
    rows, utilities = query.query(X, y, clf, batch_size=batch, return_utilities=True)
    assert len(rows) == batch
    check_contract(rows, utilities, np.arange(known, n), n)
    assert np.array_equal(rows, query.query(X, y, clf, batch_size=batch))


def tiny(seed):
    """Small features, labels, an intercept-free regression, and what it says."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(14, 2)), np.full(14, np.nan)
    y[:6] = [0, 1, 2, 0, 1, 2]
    model = LogisticRegression(fit_intercept=False).fit(X[:6], y[:6])
    return X, y, model, model.coef_[:-1] - model.coef_[-1]


@pytest.mark.parametrize("seed", range(3))
def test_utilities_of_the_paper_s_firal_are_the_gains_of_every_point(seed):
    X, y, model, theta = tiny(seed)
    rows, utilities = PaperFIRAL(eta=4.0).query(
        X, y, SklearnClassifier(model), fit_clf=False, batch_size=5, return_utilities=True
    )
    z = firal.relax(X[6:], X[:6], theta, 5).z
    H, _ = reference_select.matrices(X[6:], X[:6], theta, 5)
    picks, gains, _ = reference_select.select(reference_select.whiten(H, z), 5, 4.0, False)
    assert (rows - 6).tolist() == picks.tolist()
    found = utilities[:, 6:]
    seen = ~np.isnan(found)
    assert np.array_equal(seen.sum(axis=1), [8, 7, 6, 5, 4])
    np.testing.assert_allclose(found[seen], gains[seen], rtol=1e-6)


def test_on_large_pools_the_run_that_is_watched_is_that_of_the_picks(monkeypatch):
    """Only candidates may be picked there, the second time too."""
    monkeypatch.setattr(relaxation, "LARGE", 100)
    monkeypatch.setattr(support, "LARGE", 100)
    monkeypatch.setattr(solver, "NEAR", 1)
    largest = []

    def spy(worth, picks):
        for step, row in enumerate(picks):
            others = np.delete(worth[step], picks[:step])
            largest.append(worth[step, row] - others.max())
        return largest_at_pick(worth, picks)

    monkeypatch.setattr(skactiveml_base, "largest_at_pick", spy)
    for seed, budget in ((49, 2), (21, 5)):  # other points of the pool would gain more
        rng = np.random.default_rng(seed)
        X, y = rng.standard_t(4, size=(3000, 3)), np.full(3000, np.nan)
        y[:6] = [0, 1, 2, 0, 1, 2]
        model = LogisticRegression(fit_intercept=False).fit(X[:6], y[:6])
        PaperFIRAL().query(
            X, y, SklearnClassifier(model), fit_clf=False, batch_size=budget, return_utilities=True
        )
    assert len(largest) == 7 and min(largest) > -1e-9


@pytest.mark.parametrize(("seed", "early"), [(0, False), (1, False), (22, True), (36, True)])
def test_utilities_of_bait_are_the_decreases_of_its_objective(seed, early):
    X, y, model, theta = tiny(seed)
    rows, utilities = BAIT(prior=0.5).query(
        X, y, SklearnClassifier(model), fit_clf=False, batch_size=3, return_utilities=True
    )
    H, H_p, start = reference_bait.setting(X[6:], X[:6], theta, 0.5)
    order = reference_bait.forward(H, H_p, start, 6)
    kept = reference_bait.backward(H, H_p, start, order, 3)
    assert (rows - 6).tolist() == kept
    assert (kept != order[:3]) == early  # is a pick removed that came before one that stays?
    check_decreases(utilities, kept, order, H, H_p, start)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("first", [False, True])
def test_utilities_of_penalized_firal_are_the_decreases_of_its_objective(seed, first, monkeypatch):
    """With the penalty and the cluster effects, from the first label on and before."""
    monkeypatch.setattr(typical_first, "EARLY", typical_first.LATER)  # all points may be picked
    X, y, model, theta = tiny(seed)
    query, n0 = FIRAL(ridge=0.05, random_state=seed), 6
    if first:
        y[:] = np.nan
        X, y, n0, theta = X[6:], y[6:], 0, np.zeros((1, 3))
        rows, utilities = query.query(
            X, y, ParzenWindowClassifier(classes=[0, 1]), batch_size=3, return_utilities=True
        )
        X = with_ones(robust(X))
    else:
        rows, utilities = query.query(
            X, y, SklearnClassifier(model), fit_clf=False, batch_size=3, return_utilities=True
        )
    pool = X[n0:]
    rng = np.random.default_rng([seed, n0])
    centers = cluster_centers(pool, 6 if n0 else 3, rng, starts=1)
    size = 3 * np.sqrt(np.mean(pool**2))
    nearest = [int(np.argmin(np.sum((x - centers) ** 2, axis=1))) for x in X]
    wide = np.column_stack([X, size * np.eye(len(centers))[nearest]])
    c, k = len(theta) + 1, wide.shape[1]
    theta = np.column_stack([theta, np.zeros((c - 1, len(centers)))])  # a fit without effects
    H = np.array([reference_select.hessian(x, theta) for x in wide[n0:]])
    known = sum((reference_select.hessian(x, theta) for x in wide[:n0]), np.zeros_like(H[0]))
    start = known + (n0 + 3) * 0.05 * np.kron(np.eye(c - 1) - 1 / c, np.eye(k))
    H_p = H.mean(axis=0)
    order = reference_bait.forward(H, H_p, start, 6)
    kept = reference_bait.backward(H, H_p, start, order, 3)
    sets = [reference_bait.value(H, H_p, start, rows) for rows in (kept, order[:3])]
    kept = kept if sets[0] <= sets[1] * (1 + 1e-9) else order[:3]
    assert (rows - n0).tolist() == kept
    check_decreases(utilities[:, n0:], kept, order, H, H_p, start)


def check_decreases(utilities, kept, order, H, H_p, start):
    """Row t: the decrease by each point when pick t was added, 0 for those added before."""
    utilities = utilities[:, -len(H) :]
    for step, row in enumerate(kept):
        before = order[: order.index(row)]
        now = reference_bait.value(H, H_p, start, before)
        for point in range(len(H)):
            if point in kept[:step]:
                assert np.isnan(utilities[step, point])
                continue
            after = reference_bait.value(H, H_p, start, sorted({*before, point}))
            assert utilities[step, point] == pytest.approx(now - after, rel=1e-6, abs=1e-12)


@ALL
def test_candidates_as_rows_or_as_samples(strategy):
    X, y = iris()
    some = np.arange(1, 150, 7)
    some = some[np.isnan(y[some])]
    query = strategy(random_state=0)
    rows, utilities = query.query(X, y, regression(), True, some, 4, True)
    check_contract(rows, utilities, some, 150)
    found, worth = query.query(X, y, regression(), True, X[some], 4, True)
    check_contract(found, worth, np.arange(len(some)), len(some))
    assert np.array_equal(some[found], rows)
    np.testing.assert_allclose(worth, utilities[:, some])
    with pytest.raises(ValueError, match="labeled"):
        query.query(X, y, regression(), candidates=[1, 2, FIRST[0]])
    with pytest.raises(ValueError, match="feature"):
        query.query(X, y, regression(), candidates=X[:5, :2])
    with pytest.raises(ValueError, match="candidates must be rows >= 0 of X, got -2"):
        query.query(X, y, regression(), candidates=[3, -2])
    with pytest.raises(ValueError, match="X must be at most 1e[+]50 in size"):
        query.query(X * 1e60, y, regression())


@PAPER
@pytest.mark.parametrize("return_utilities", [False, True])
def test_more_features_than_points_are_warned_about_once(strategy, return_utilities):
    X = np.random.default_rng(0).normal(size=(10, 20))
    y = np.array([0, 1, 2] + [np.nan] * 7)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        strategy().query(X, y, regression(), batch_size=2, return_utilities=return_utilities)
    (warning,) = [w for w in seen if issubclass(w.category, RuntimeWarning)]
    assert "10 points with 21 features are linearly independent" in str(warning.message)


@ALL
def test_a_batch_larger_than_the_pool_is_cut_with_a_warning(strategy):
    X, y = iris()
    y[5:] = SPECIES[5:]
    with pytest.warns(UserWarning, match="larger than number of"):
        rows, utilities = strategy().query(X, y, regression(), True, None, 9, True)
    check_contract(rows, utilities, [1, 2, 3, 4], 150)
    with pytest.warns(UserWarning, match="batch_size=0"):
        rows, utilities = strategy().query(X, SPECIES * 1.0, regression(), return_utilities=True)
    assert rows.shape == (0,) and utilities.shape == (0, 150)


@pytest.mark.parametrize(
    "strategy",
    [PaperFIRAL(eta=-1), PaperFIRAL(ridge=0), FIRAL(ridge=0), BAIT(prior=0), BAIT(ridge=-1)],
)
def test_bad_settings_are_refused(strategy):
    X, y = iris()
    with pytest.raises(ValueError, match="eta|ridge|prior"):
        strategy.query(X, y, regression())


@ALL
def test_a_short_loop_labels_one_new_point_at_a_time(strategy):
    X, y = iris([])
    clf = SklearnClassifier(make_pipeline(StandardScaler(), LogisticRegression()), classes=range(3))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        start = strategy(random_state=1).query(X, y, clf, batch_size=6)
    said = [str(w.message) for w in seen if "no labels yet" in str(w.message)]
    assert len(said) == (strategy is not FIRAL)
    y[start] = SPECIES[start]
    for labeled in range(6, 16):
        row = strategy(random_state=1).query(X, y, clf)
        assert np.isnan(y[row]).all()
        y[row] = SPECIES[row]
        assert np.count_nonzero(~np.isnan(y)) == labeled + 1
    assert clf.fit(X, y).score(X, SPECIES) > 0.85


def test_without_scikit_activeml_there_is_one_clear_error_and_firal_still_imports():
    code = (
        "import sys; sys.modules['skactiveml'] = None\n"
        "import firal\n"
        "try:\n    import firal.skactiveml\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "firal.skactiveml needs scikit-activeml: pip install 'scikit-activeml>=1.0,<1.1'"
    )


def test_points_that_are_equal_to_rounding_do_not_hide_the_pick():
    above = 1 + 1e-12  # the lowest row of a tie is picked, and rounding may favor another
    found = largest_at_pick([[0.5, 1.0, above], [0.5, 9.0, 0.7]], np.array([1, 2]))
    assert np.nanargmax(found, axis=1).tolist() == [1, 2]
    np.testing.assert_allclose(found, [[0.5, 1.0, 1.0], [0.5, np.nan, 0.7]], rtol=1e-11)


def test_the_examples_of_the_book_run_as_they_stand():
    text = (ROOT / "book" / "use.md").read_text(encoding="utf8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    names = {}
    for block in blocks:
        exec(block, names)
    assert len(names["batch"].rows) == 10 and not set(names["batch"].rows) & set(names["labels"])
    assert len(names["picked"]) == 10 and not set(names["picked"]) & set(names["labeled"])
    assert np.array_equal(names["rows"], names["picked"])
