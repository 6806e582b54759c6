"""nu of an FTRL step: by factors as by eigenvalues, also for spectra that are hard to model."""

import numpy as np
import pytest
import reference_select as literal
from hypothesis import given, settings
from hypothesis import strategies as st

from firal.selection import ftrl, normalizer
from firal.selection.ftrl import sparsify
from firal.selection.normalizer import Known, from_eigenvalues, from_factors
from firal.selection.relaxation import relax
from firal.selection.rounding import prepare_rounding
from firal.selection.structure import prepare_with_weights

SEEDS = st.integers(0, 10**6)


def known_at(x, values):
    return Known(x, float(np.sum(1 / (x + values))), float(np.sum((x + values) ** -2.0)))


def rotated(values, seed):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values),) * 2))[0]
    B = (Q * values) @ Q.T
    return (B + B.T) / 2


SPECTRA = {
    "one value": lambda rng, n: np.full(n, 3.0),
    "rank deficient": lambda rng, n: np.concatenate([np.zeros(n // 2), rng.uniform(0, 50, n // 2)]),
    "clusters": lambda rng, n: rng.choice([0.0, 1.0, 40.0], n) + 1e-9 * rng.uniform(size=n),
    "one far below": lambda rng, n: np.concatenate([[0.0], rng.uniform(500, 600, n - 1)]),
    "even": lambda rng, n: np.linspace(0, 100, n),
    "24 decades": lambda rng, n: 10.0 ** rng.uniform(-12, 12, n),
}


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30))
def test_eigenvalues_solve_the_equation(values):
    values = np.sort(values)
    nu = from_eigenvalues(values)
    shifted = (nu + values[0]) + (values - values[0])
    assert shifted[0] >= 1 - 1e-12 and shifted[0] <= np.sqrt(values.size) + 1e-9 * (1 + values[0])
    assert np.sum(shifted**-2.0) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("kind", SPECTRA)
@given(SEEDS, st.floats(-1, 1), st.integers(1, 2))
@settings(max_examples=30, deadline=None)
def test_factors_agree_with_eigenvalues_or_give_up(kind, seed, start, threads):
    rng = np.random.default_rng(seed)
    values = np.sort(SPECTRA[kind](rng, 40))
    nu = from_eigenvalues(values)
    u = nu + values[0]  # smallest eigenvalue of B + nu I
    first = nu + (10.0**start - 1) * u + 0.1 * u  # on both sides of nu
    # of 24 decades, a rotation would leave 12 to rounding
    B = np.diag(values) if kind == "24 decades" else rotated(values, seed)
    found = from_factors(B, [known_at(first, values)], threads=threads)
    if found is None:
        assert kind in ("one far below", "24 decades", "even", "rank deficient", "clusters")
        return
    (x, h, phi), miss = found
    assert abs(x - nu) <= 1e-8 * u
    assert h == pytest.approx(np.sum(1 / (nu + values)), rel=1e-8)
    assert phi == 1 and np.isfinite(miss)


def test_factors_succeed_where_a_run_needs_them(monkeypatch):
    """Values like those of a run, with the start of the last step: two factorizations."""
    calls, evaluate = [], normalizer._evaluate
    monkeypatch.setattr(normalizer, "_evaluate", lambda *a: calls.append(a[1]) or evaluate(*a))
    values = np.sort(np.random.default_rng(0).gamma(2.0, 10.0, 120))
    nu = from_eigenvalues(values)
    found, miss = from_factors(np.diag(values), [known_at(nu + 1.0, values)])
    assert len(calls) <= 2 and abs(found.x - nu) <= 1e-9 * (nu + values[0])
    # what was missed before helps: the next call starts at the root
    calls.clear()
    again, _ = from_factors(np.diag(values), [known_at(nu + 1.0, values)], miss)
    assert len(calls) == 1 and abs(again.x - nu) <= 1e-9 * (nu + values[0])


def test_a_guess_at_the_root_is_improved_by_one_step():
    values = np.linspace(0.0, 30.0, 40)
    nu = from_eigenvalues(values)
    known = [known_at(nu + 0.05, values)]
    first = normalizer._Model(known, 40, values.sum()).root()
    slope = 2 * np.sum((nu + values) ** -3.0)  # of 1 - phi
    for distance in (9e-7, -9e-7):
        guess = nu + distance / slope
        found, miss = from_factors(np.diag(values), known, guess - first)
        assert found.x == pytest.approx(nu, rel=3e-11) and found.phi == 1
        assert found.h == pytest.approx(np.sum(1 / (nu + values)), rel=1e-11)
        assert miss == pytest.approx(nu - first, rel=1e-8)


def test_the_model_meets_what_is_known_and_knows_its_slope():
    values = np.array([0.0, 0.3, 2.0])
    model = normalizer._Model([known_at(x, values) for x in (0.5, 1.0, 4.0)], 3, values.sum())
    for x in (0.02, 0.7, 3.0, 50.0):  # three values, so the model is exact; h from 0.06 to 53
        exact = known_at(x, values)
        assert model.h(x) == pytest.approx(exact.h, rel=1e-9)
        assert model.phi(x) == pytest.approx(exact.phi, rel=1e-9)
        step = 1e-5 * x
        difference = (model.phi(x + step) ** -0.5 - model.phi(x - step) ** -0.5) / (2 * step)
        assert model.slope(x) == pytest.approx(difference, rel=1e-7)
        right = Known(x, model.h(x), model.phi(x))
        for wrong in (right._replace(h=right.h * 1.01), right._replace(phi=right.phi * 1.01)):
            assert not model.meets(wrong)
        for factor, met in ((0.9, True), (1.1, False)):
            off = 1 + factor * normalizer.SOUND
            assert model.meets(right._replace(h=right.h * off)) == met
            assert model.meets(right._replace(phi=right.phi * off)) == met


def worst_root(limit):
    """Largest error of the model's root where q p^2 is ``limit``, as in ``_is_near``."""
    errors = []
    for kind in ("even", "rank deficient", "one far below"):
        values = np.sort(SPECTRA[kind](np.random.default_rng(0), 200))
        nu = from_eigenvalues(values)
        slope = 2 * np.sum((nu + values) ** -3.0)  # of 1 - phi
        for p in (-0.3, -0.1, -0.02, 0.02, 0.1):
            for sign in (-1, 1):
                known = [known_at(nu - miss / slope, values) for miss in (p, sign * limit / p**2)]
                model = normalizer._Model(known, len(values), values.sum())
                if model.meets(known[1]):
                    errors.append(abs(model.root() - nu) / (nu + values[0]))
    return max(errors)


def test_near_means_an_error_of_1e_8():
    assert worst_root(normalizer.NEAR) <= 1e-8
    assert worst_root(10 * normalizer.NEAR) > 1e-8  # and not much less would do
    known = [Known(1.0, 1.0, 1 + phi) for phi in (0.02, -7e-4, 0.5)]
    assert normalizer._is_near(known)
    assert not normalizer._is_near([known[0]._replace(phi=1.03), *known[1:]])
    assert not normalizer._is_near([known[0], known[1]._replace(phi=1 - 9e-4), known[2]])


def test_a_guess_that_is_not_definite_is_given_up():
    values = np.arange(20.0)
    assert from_factors(np.diag(values), [known_at(3.0, values)], miss=-50.0) is None


@given(SEEDS, st.floats(-1, 3), st.booleans())
@settings(max_examples=25, deadline=None)
def test_runs_by_factors_and_by_eigenvalues_pick_the_same(seed, power, replace):
    data = literal.tiny_problem(seed)
    z = relax(*data, capped=False, tol=0.1).z
    run = (*data[:3], z, data[3], 10.0**power)
    expected = sparsify(*run, replace=replace)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normalizer, "FROM", 1)
        found = sparsify(*run, replace=replace)
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.gains == pytest.approx(expected.gains, rel=1e-7, abs=1e-10)
    assert found.lambda_min == pytest.approx(expected.lambda_min, rel=1e-9, abs=1e-12)


def test_what_the_last_step_knows_about_the_next():
    """Woodbury's formula against the inverse; without the correction it is another number."""
    data = literal.tiny_problem(3)
    problem, z, _ = prepare_with_weights(*data[:3], relax(*data).z, data[3], False)
    rule = ftrl._FtrlRule(prepare_rounding(problem, z), 7.0)
    for row in (2, 0):
        rule.weights()
        rule.add(row, 0.0)
        known = rule._at_last()
        values = np.linalg.eigvalsh(7.0 * rule.picked.white)
        assert known == pytest.approx(known_at(known.x, values), rel=1e-9)
        assert known.h != pytest.approx(rule.last[3], rel=1e-3)
