"""Certificates where rounding is hard: near ties, extreme probabilities, bad scales, 10^6 points.

Of the working set: its lower bound is below what a solver of the whole pool reaches. Of the homes:
every reduction adds in one order, so objective and gap are the same bits wherever the pool lives.
"""

import warnings

import numpy as np
import pytest
from hard_instances import KINDS, instance
from homes_of import all_homes

import firal
from firal.engine import passes
from firal.engine.homes import as_home
from firal.selection import working_set
from firal.selection.certificate import largest_sum
from firal.selection.problem import prepare_problem
from firal.selection.solver import solve
from firal.selection.working_set import solve_on_working_set


def check(problem, capped, tol=1e-3, pieces=1e-4):
    found = solve_on_working_set(problem, capped, tol, 3000)
    full = solve(problem, capped, "multiplicative", pieces, 5000)
    assert len(found.history) == found.passes - 1  # it did not solve the whole pool at once
    assert found.converged and found.gap <= tol and full.gap <= 2 * tol
    assert found.objective * (1 - found.gap) <= full.objective * (1 + 1e-9)
    assert full.objective * (1 - full.gap) <= found.objective * (1 + 1e-9)
    assert np.all(found.history[:, 1] <= full.objective * (1 + 1e-9))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("capped", [True, False])
def test_the_working_set_proves_nothing_wrong(kind, capped, monkeypatch):
    monkeypatch.setattr(working_set, "FROM", 0)
    monkeypatch.setattr(working_set, "TAKEN", 8)
    X, p = instance(kind)
    check(prepare_problem(X, None, None, 4, probabilities=(p, None)), capped)


@pytest.mark.parametrize("kind", KINDS)
def test_a_bound_that_is_too_large_is_noticed(kind, monkeypatch):
    """The certificate divides by the largest sum of all points: some of them are not enough."""
    monkeypatch.setattr(working_set, "FROM", 0)
    monkeypatch.setattr(working_set, "TAKEN", 8)
    smaller = {
        "a tenth is lost": lambda a, b, capped: 0.9 * largest_sum(a, b, capped),
        "a quarter is not seen": lambda a, b, capped: largest_sum(np.sort(a)[:180], b, capped),
    }
    X, p = instance(kind)
    problem = prepare_problem(X, None, None, 4, probabilities=(p, None))
    for function in smaller.values():
        monkeypatch.setattr(working_set, "largest_sum", function)
        with pytest.raises(AssertionError):
            check(problem, True)


@pytest.mark.nightly
def test_a_million_points():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(10**6, 2))
    X[500_000:] = X[:500_000] * (1 + 1e-7)
    check(prepare_problem(X, None, rng.normal(size=(2, 2)), 5), True)


@pytest.mark.parametrize("kind", KINDS)
def test_every_home_has_the_same_certificate(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 3 * 50)
    X, p = instance(kind, m=420)
    labels = p.argmax(axis=1)
    y = {int(row): int(labels[row]) for row in range(0, 420, 11)}
    found = {}
    for name, home in all_homes(X, tmp_path).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            batch = firal.next_batch(home, y, 5, strategy="firal")
        chosen = batch.selection
        found[name] = (
            batch.rows.tolist(),
            chosen.objective,
            chosen.lambda_min,
            chosen.relaxation.objective,
            chosen.relaxation.gap,
        )
        assert np.isfinite(found[name][1:]).all()
    assert all(one == found["memory"] for one in found.values()), found
    # in another order the sums have other bits: the comparison above can fail
    monkeypatch.setattr(passes, "BLOCK_BYTES", 8 * 3 * 35)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        other = firal.next_batch(as_home(X), y, 5, strategy="firal").selection
    assert (other.objective, other.relaxation.gap) != (found["memory"][1], found["memory"][4])
