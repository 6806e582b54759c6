"""What no few points can reach: against all subsets and eigenvalues, and where it is attained."""

from itertools import combinations

import numpy as np
import pytest
from test_wide import instance, objective, silent

from firal.selection.few_points import least_objective, squares_of
from firal.selection.wide import select_wide
from firal.selection.wide_forms import Forms, WideProblem


def forms_of(problem, rows=()):
    """The forms after the labeled points and some rows of the pool came."""
    state = Forms(problem, len(rows), 1, silent)
    for x, g in zip(problem.labeled, problem.labeled_g, strict=True):
        state.move(x, g)
    for i in rows:
        state.move(problem.X[i], problem.g[i])
    return state


def whitened(blocks, rows):
    """A_k^{-1/2} H_pk A_k^{-1/2}, and A_k^{-1/2}, densely."""
    z = np.zeros(len(blocks.X))
    z[list(rows)] = 1
    values, E = np.linalg.eigh(np.asarray(blocks.total_information(z)))
    roots = (E / np.sqrt(values)[:, None]) @ np.swapaxes(E, 1, 2)
    return roots @ blocks.mean_information @ roots, roots


@pytest.mark.parametrize("groups", [0, 9])
@pytest.mark.parametrize("seed", range(4))
def test_no_points_are_below_the_bound(seed, groups):
    blocks, problem = instance(seed, m=15, d=20, c=3, n0=2, budget=3, groups=groups)
    best = min(objective(blocks, list(rows)) for rows in combinations(range(15), 3))
    for rows in ((), (1,), (0, 4, 7)):  # also beside points that came
        bound = least_objective(forms_of(_rows_written_out(problem, groups), rows))
        assert 0 <= bound <= best
    found = select_wide(problem, silent)
    assert 0 < found.least_objective <= best
    assert found.ratio <= found.objective / found.least_objective * (1 + 1e-12)


def _rows_written_out(problem, groups):
    """Rows that can be iterated over."""
    if not groups:
        return problem
    X, X0 = (np.array([A[i] for i in range(len(A))]) for A in (problem.X, problem.labeled))
    return problem._replace(X=X, labeled=X0)


@pytest.mark.parametrize(("rows", "m"), [((), 60), ((3, 11), 60), ((), 14)])
def test_it_is_the_formula_with_eigenvalues(rows, m):
    b, D = 4, min(m, 18)  # fewer points than columns: so many directions
    blocks, problem = instance(5, m=m, d=18, c=3, n0=4, budget=b)
    H, roots = whitened(blocks, rows)
    state = forms_of(problem, rows)
    assert squares_of(state) == pytest.approx(np.sum(H**2, axis=(1, 2)), rel=1e-9)
    expected = 0.0
    for k, values in enumerate(np.linalg.eigvalsh(H)):
        norms = blocks.g[:, k] * np.sum((blocks.X @ roots[k]) ** 2, axis=1)
        t = np.sort(norms)[-b:].sum()
        p = t / (1 + t / b)
        assert p < D / 2
        values = values[-D:]  # the others are zero
        spread = np.sqrt(np.sum((values - values.mean()) ** 2))
        fall = values.mean() * p + spread * np.sqrt(p * (1 - p / D))
        expected += max(values.sum() - fall, 0)
    assert expected > 0
    assert least_objective(state) == pytest.approx(expected, rel=1e-7)


def orthogonal(sizes, level, budget):
    """Points along the axes with these squared norms, two classes of equal probability."""
    X = np.diag(np.sqrt(np.asarray(sizes, dtype=float)))
    g, nothing = np.full((len(X), 2), 0.25), np.empty((0, len(X)))
    return WideProblem(X, g, nothing, np.empty((0, 2)), 2 * level, budget)


def test_equal_directions_attain_it():
    D, b = 12, 3
    problem = orthogonal(np.full(D, 8.0), 0.5, b)
    # a class: D directions of 8/4/D against 1/2; a point adds 8/4 to its own
    value = 2 * ((D - b) * (2 / D) / 0.5 + b * (2 / D) / 2.5)
    below = value * (1 - 1e-9)  # the allowance for rounding
    assert least_objective(forms_of(problem)) == pytest.approx(below, rel=1e-11, abs=0)
    found = select_wide(problem, silent)
    assert found.objective == pytest.approx(value) and found.ratio == pytest.approx(1, rel=1e-4)


def test_few_large_directions_attain_it_in_the_limit():
    """As many as points: the second term is needed, and its square root is the right one."""
    D, b, level = 12, 3, 1e-3
    large, small = 4e6, 1e6
    problem = orthogonal([large] * b + [small] * (D - b), level, b)
    left = 2 * (D - b) * (small / 4 / D) / level  # the large ones are known after their points
    assert least_objective(forms_of(problem)) == pytest.approx(left, rel=1e-6)


def test_many_points_and_few_columns_leave_nothing_but_a_valid_bound():
    blocks, problem = instance(2, m=30, d=5, c=3, n0=2, budget=20)
    found = select_wide(problem, silent)
    assert 0 <= found.least_objective <= found.objective
    assert found.ratio >= 1


def test_rounding_of_the_forms_is_allowed_for():
    _, problem = instance(1, m=30, d=20, c=3, n0=2, budget=3)
    state = forms_of(problem)
    scale = squares_of(state)
    assert least_objective(state, 1e3 * scale) < least_objective(state) * (1 - 1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_some_steps_is_kept(seed):
    _, problem = instance(seed, m=40, d=30, c=3, n0=2, budget=5)
    added, scale = [], squares_of(Forms(problem, 0, 1, silent))
    found = select_wide(problem, silent, lambda i, _: added.append(i))
    bounds = [least_objective(forms_of(problem, added[:t]), scale) for t in (0, 1, 2, 4, 8)]
    assert found.least_objective == pytest.approx(max(bounds), rel=1e-9)
    assert max(bounds) > bounds[0] or max(bounds) > bounds[-1]
