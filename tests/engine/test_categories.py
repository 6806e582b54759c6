"""Categories among the columns: found exactly, weighed as at most two columns, in every home."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firal.engine import categories
from firal.engine.categories import Levels, category_scale, levels_of
from firal.engine.homes import as_home
from firal.engine.moments import streamed_feature_map
from firal.engine.scaling import feature_map, model_features


def one_hot(codes, k):
    return np.eye(k)[codes]


def literal_groups(X):
    """Runs of neighboring 0/1 columns of which at most one is 1 in any row, from left to right."""
    groups, run = [], []
    for j in range(X.shape[1]):
        if not set(X[:, j].tolist()) <= {0.0, 1.0}:
            run = []
            continue
        if run and run[-1] == j - 1 and X[:, [*run, j]].sum(axis=1).max() <= 1:
            run.append(j)
        else:
            run = [j]
            groups.append(run)
    return groups


def literal_scale(X):
    scale = np.ones(X.shape[1])
    for group in literal_groups(X):
        inside = X[:, group]
        counts = [*inside.sum(axis=0), np.sum(inside.sum(axis=1) == 0)]
        effective = 1 / sum((count / len(X)) ** 2 for count in counts)
        if effective > 2:
            scale[group] = np.sqrt(2 / effective)
    return scale


tables = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(tables)
def test_the_scale_is_that_of_the_literal_rule_however_the_rows_are_cut(rng):
    parts = []
    for _ in range(rng.integers(1, 5)):
        k, n = int(rng.integers(1, 6)), 40
        kind = rng.integers(3)
        if kind == 0:
            parts.append(one_hot(rng.integers(k, size=n), k))
        elif kind == 1:
            parts.append((rng.random((n, k)) < 0.1).astype(float))
        else:
            parts.append(rng.integers(0, 3, size=(n, k)).astype(float))
    X = np.column_stack(parts)
    cuts = np.sort(rng.integers(1, len(X), size=3))
    levels = None
    for rows in np.split(X, np.unique(cuts)):
        found = levels_of(rows)
        levels = found if levels is None else levels.merged(found)
    scale = category_scale(levels, len(X), X.shape[1])
    np.testing.assert_allclose(scale, literal_scale(X), rtol=1e-13)


def test_a_category_weighs_as_two_columns_and_numbers_stay_as_they_are():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(3000, 3))
    X = np.column_stack([numbers, one_hot(np.arange(3000) % 15, 15)])
    features = model_features(X, robust=True, intercept=False)
    alone = model_features(numbers, robust=True, intercept=False)
    weight = features[:, 3:].var(axis=0).sum()
    np.testing.assert_allclose(weight, 2.0, rtol=1e-12)
    np.testing.assert_allclose(features[:, :3], alone, rtol=1e-12)
    # negative control: without the rule they weigh as fifteen
    plain = model_features(X, intercept=False)
    np.testing.assert_allclose(plain[:, 3:].var(axis=0).sum(), 15.0, rtol=1e-12)


def test_rare_words_and_columns_that_overlap_are_no_category():
    rng = np.random.default_rng(1)
    words = np.zeros((500, 5))
    words[np.arange(5) * 7, np.arange(5)] = 1  # five words, each once, never in one text
    assert (category_scale(levels_of(words), 500, 5) > 0.99).all()
    flags = (rng.random((500, 6)) < 0.5).astype(float)
    assert (category_scale(levels_of(flags), 500, 6) == 1).all()
    apart = np.column_stack([np.eye(4)[:, :2], np.arange(4) / 3, np.eye(4)[:, 2:]])
    assert len(categories._categories(levels_of(apart))) == 2


def test_two_categories_side_by_side_are_told_apart():
    rng = np.random.default_rng(2)
    X = np.column_stack(
        [one_hot(rng.integers(4, size=400), 4), one_hot(rng.integers(8, size=400), 8)]
    )
    scale = category_scale(levels_of(X), 400, 12)
    assert len(np.unique(scale[:4])) == len(np.unique(scale[4:])) == 1
    assert 0.69 < scale[0] < 0.72
    assert 0.49 < scale[4] < 0.52


def test_very_many_columns_of_0_and_1_are_left_alone(monkeypatch):
    monkeypatch.setattr(categories, "MOST", 9)
    X = one_hot(np.arange(100) % 10, 10)
    assert (category_scale(levels_of(X), 100, 10) == 1).all()
    assert (category_scale(levels_of(X[:, :9]), 100, 9) < 1).all()


def test_what_counts_as_very_many_does_not_depend_on_the_blocks(monkeypatch):
    """Columns that are 0 or 1 in one block, and counts in another, are counts."""
    monkeypatch.setattr(categories, "MOST", 9)
    counts = np.zeros((100, 20))
    counts[-1] = 2
    X = np.column_stack([one_hot(np.arange(100) % 8, 8), counts])
    parts = [levels_of(block) for block in np.split(X, 10)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merged(part)
    scale = category_scale(merged, 100, 28)
    assert (scale[:8] < 1).all() and (scale[8:] == 1).all()
    np.testing.assert_array_equal(scale, category_scale(levels_of(X), 100, 28))


def test_a_level_that_is_missing_in_a_block_joins_the_category_later():
    X = one_hot(np.sort(np.arange(60) % 6), 6)  # sorted: every block has one level
    blocks = [levels_of(block) for block in np.split(X, 6)]
    merged = blocks[0]
    for block in blocks[1:]:
        merged = merged.merged(block)
    assert isinstance(merged, Levels)
    np.testing.assert_allclose(category_scale(merged, 60, 6), np.sqrt(2 / 6))


@pytest.mark.parametrize("pca", [None, 3])
def test_a_table_in_blocks_gets_the_map_of_the_array(pca):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.standard_t(3, size=(900, 3)), one_hot(rng.integers(7, size=900), 7)])
    streamed = streamed_feature_map(as_home(X), robust=True, pca=pca)
    array = feature_map(X, robust=True, pca=pca)
    np.testing.assert_allclose(
        np.abs(streamed.apply(X)), np.abs(array.apply(X)), rtol=1e-9, atol=1e-9
    )


def test_the_last_one_before_each_column_that_a_row_shares():
    found = levels_of(np.array([[1.0, 5.0, 1.0, 0.0], [0.0, 6.0, 1.0, 1.0], [0.0, 7.0, 0.0, 0.0]]))
    assert found.columns.tolist() == [0, 2, 3] and found.ones.tolist() == [1.0, 2.0, 1.0]
    assert found.before.tolist() == [-1, 0, 2]
