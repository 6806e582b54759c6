"""The relaxed problem: exact solutions, independent solvers, the certificate, odd input."""

import warnings

import numpy as np
import pytest
import reference_select as literal
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from firal.model.logistic import hessian
from firal.selection.certificate import CertifiedSearch, scale_to_sum
from firal.selection.problem import prepare_problem
from firal.selection.relaxation import relax

SEEDS = st.integers(0, 10**6)


def random_weights(rng, m, budget, capped):
    """A feasible z, anywhere from flat to concentrated."""
    return scale_to_sum(rng.gamma(rng.choice([0.1, 1.0, 10.0]), size=m) + 1e-12, budget, capped)


def search(problem_data, capped=True):
    return CertifiedSearch(prepare_problem(*problem_data), capped, tol=1e-2, max_iter=10)


@given(SEEDS, st.booleans())
@settings(max_examples=60)
def test_value_and_gradient_against_dense_formulas_and_differences(seed, capped):
    data = literal.tiny_problem(seed)
    H, H_p = literal.matrices(*data)
    rng = np.random.default_rng(seed)
    z = scale_to_sum(rng.uniform(0.2, 1, size=len(H)), data[3], capped)
    s = search(data, capped)
    f, a = s.evaluate(z)
    assert f == pytest.approx(literal.objective(H, H_p, z), rel=1e-9)
    gradient = -(a + s.constant)
    # f(z + e i) is not feasible, but the formula of the gradient is that of Sigma's linear form
    for i in range(len(H)):
        e = 1e-5 * np.eye(len(H))[i]
        slope = (literal.objective(H, H_p, z + e) - literal.objective(H, H_p, z - e)) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=1e-4, abs=1e-6 * np.abs(gradient).max())
    assert -gradient @ z == pytest.approx(f, rel=1e-9)  # homogeneous of degree -1


@given(SEEDS, st.booleans())
@settings(max_examples=60)
def test_every_gradient_bounds_every_feasible_value(seed, capped):
    data = literal.tiny_problem(seed)
    H, H_p = literal.matrices(*data)
    rng = np.random.default_rng(seed)
    s = search(data, capped)
    s.evaluate(random_weights(rng, len(H), data[3], capped))
    for _ in range(20):
        other = random_weights(rng, len(H), data[3], capped)
        assert s.lower <= literal.objective(H, H_p, other) * (1 + 1e-9)


@given(SEEDS, st.booleans())
@settings(max_examples=60)
def test_plain_step_never_increases_the_objective(seed, capped):
    data = literal.tiny_problem(seed)
    rng = np.random.default_rng(seed)
    s = search(data, capped)
    z = scale_to_sum(rng.uniform(0.01, 1, size=len(data[0])), data[3], capped)
    for _ in range(5):
        f, a = s.evaluate(z)
        z = s.feasible(z * np.sqrt(a))
        assert s.evaluate(z)[0] <= f * (1 + 1e-9)


def slsqp(H, H_p, budget, capped):
    """The optimum by a general-purpose solver with dense derivatives."""
    m = len(H)

    def value(z):
        return literal.objective(H, H_p, z)

    def slope(z):
        inverse = np.linalg.inv(np.tensordot(z, H, axes=1))
        return -np.einsum("nij,ij->n", H, inverse @ H_p @ inverse)

    found = optimize.minimize(
        value,
        np.full(m, budget / m),
        jac=slope,
        method="SLSQP",
        bounds=[(1e-12, 1.0 if capped else None)] * m,
        constraints={"type": "eq", "fun": lambda z: z.sum() - budget, "jac": np.ones_like},
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return found.fun


@pytest.mark.parametrize("capped", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_agrees_with_a_general_purpose_solver(seed, capped):
    data = literal.tiny_problem(seed)
    H, H_p = literal.matrices(*data)
    result = relax(*data, capped=capped, tol=1e-6, max_iter=20000)
    best = slsqp(H, H_p, data[3], capped)
    assert result.converged and result.gap <= 1e-6
    assert result.objective == pytest.approx(literal.objective(H, H_p, result.z), rel=1e-9)
    assert result.objective * (1 - result.gap) <= best * (1 + 1e-9)  # the certificate is true
    assert result.objective <= best * (1 + 2e-6)
    assert result.objective == pytest.approx(best, rel=2e-5)  # and SLSQP came as far


@given(SEEDS, st.booleans(), st.sampled_from(["multiplicative", "mirror"]))
@settings(max_examples=60)
def test_feasible_certified_and_better_than_random_weights(seed, capped, method):
    data = literal.tiny_problem(seed)
    H, H_p = literal.matrices(*data)
    result = relax(*data, capped=capped, method=method, tol=5e-2, max_iter=20000)
    assert result.converged and 0 <= result.gap <= 5e-2
    assert result.z.min() >= 0 and result.z.sum() == pytest.approx(data[3], rel=1e-9)
    if capped:
        assert result.z.max() <= 1 + 1e-12
    rng = np.random.default_rng(seed)
    for _ in range(10):
        value = literal.objective(H, H_p, random_weights(rng, len(H), data[3], capped))
        assert result.objective * (1 - result.gap) <= value * (1 + 1e-9)


def test_one_parameter_takes_the_most_informative_points():
    # c = 2, d = 1: f = H_p / (sum z_i v_i + labeled) with v_i = h_i (1 - h_i) x_i^2
    x = np.array([[0.5], [2.0], [-1.0], [3.0], [0.1]])
    h = 1 / (1 + np.exp(-0.7 * x[:, 0]))
    v = h * (1 - h) * x[:, 0] ** 2
    known = 0.2 * np.exp(0.14) / (1 + np.exp(0.14)) ** 2 * 0.2
    capped = relax(x, [[0.2]], [[0.7]], 2, tol=1e-9, max_iter=10**5)
    free = relax(x, [[0.2]], [[0.7]], 2, capped=False, tol=1e-9, max_iter=10**5)
    assert capped.objective == pytest.approx(v.mean() / (np.sort(v)[-2:].sum() + known), rel=1e-8)
    assert free.objective == pytest.approx(v.mean() / (2 * v.max() + known), rel=1e-8)
    assert np.argmax(free.z) == np.argmax(v)


def test_orthogonal_points_have_the_square_root_rule():
    # c = 2, theta = 0, points s_j e_j: f = sum_j p_j / (z_j q_j), so z_j ~ sqrt(p_j / q_j)
    scales = np.array([1.0, 2.0, 0.5])
    pool = np.diag(scales).repeat([1, 2, 3], axis=0)
    p = scales**2 * np.array([1, 2, 3]) / 6
    best = np.sum(np.sqrt(p / scales**2)) ** 2 / 5
    result = relax(pool, None, np.zeros((1, 3)), 5, capped=False, tol=1e-9, max_iter=10**5)
    weight = np.bincount([0, 1, 1, 2, 2, 2], result.z)
    assert result.objective == pytest.approx(best, rel=1e-8)
    assert weight == pytest.approx(5 * np.sqrt([1, 2, 3]) / np.sqrt([1, 2, 3]).sum(), rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_mirror_is_algorithm_2_step_by_step(seed):
    data = literal.tiny_problem(seed)
    H, H_p = literal.matrices(*data)
    kappa, values = np.full(len(H), 1 / len(H)), []
    for t in range(1, 21):
        kappa, value = literal.relax_step(kappa, t, H, H_p)
        values.append(value / data[3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        result = relax(*data, capped=False, method="mirror", tol=1e-12, max_iter=20)
    assert result.history[:, 0] == pytest.approx(values, rel=1e-8)


def test_the_best_iterate_is_kept():
    pool, labeled, theta, _ = literal.tiny_problem(0)
    s = search((pool, labeled, theta, 2))
    good, _ = s.evaluate(relax(pool, labeled, theta, 2).z + 1e-6)
    z, lower = s.z, s.lower
    bad, _ = s.evaluate(np.where(np.arange(len(pool)) < 2, 1.0, 1e-3))
    assert bad > good and s.objective == good and s.z is z
    assert s.lower == lower and s.history == [(good, lower), (bad, lower)]


@given(st.lists(st.floats(1e-12, 1e3), min_size=1, max_size=20), st.integers(1, 20), st.booleans())
def test_scaling_is_the_entropic_projection(w, total, capped):
    w = np.array(w)
    total = min(total, w.size)
    z = scale_to_sum(w, total, capped)
    assert z.sum() == pytest.approx(total, rel=1e-9)
    if not capped:
        assert z / w == pytest.approx(np.full(w.size, total / w.sum()), rel=1e-9)
        return
    # optimality for min sum z log(z/w): one ratio below the cap, a smaller one at the cap
    inside = z < 1
    if inside.any() and not inside.all():
        assert (z / w)[~inside].max() <= (z / w)[inside].min() * (1 + 1e-9)
    if inside.any():
        assert (z / w)[inside].max() == pytest.approx((z / w)[inside].min(), rel=1e-6)


def changed_reference(theta, order):
    """theta of the same model when its classes are listed in another order."""
    full = np.vstack([theta, np.zeros(theta.shape[1])])[order]
    return full[:-1] - full[-1]


@given(SEEDS, st.booleans())
@settings(max_examples=40)
def test_invariance(seed, capped):
    pool, labeled, theta, budget = literal.tiny_problem(seed)
    rng = np.random.default_rng(seed)
    first = relax(pool, labeled, theta, budget, capped=capped, tol=1e-3, max_iter=20000)
    order = rng.permutation(len(pool))
    moved = relax(pool[order], labeled, theta, budget, capped=capped, tol=1e-3, max_iter=20000)
    assert moved.objective == pytest.approx(first.objective, rel=1e-6)
    assert moved.z == pytest.approx(first.z[order], abs=1e-5)
    swapped = changed_reference(theta, rng.permutation(len(theta) + 1))
    again = relax(pool, labeled, swapped, budget, capped=capped, tol=1e-3, max_iter=20000)
    assert again.z == pytest.approx(first.z, abs=1e-5)
    A = rng.normal(size=(pool.shape[1],) * 2) + 3 * np.eye(pool.shape[1])
    A[:, 0] *= 1e6  # badly scaled features are no other problem
    other = theta @ np.linalg.inv(A).T
    mapped = relax(pool @ A, labeled @ A, other, budget, capped=capped, tol=1e-3, max_iter=20000)
    assert mapped.objective == pytest.approx(first.objective, rel=1e-5)
    assert mapped.z == pytest.approx(first.z, abs=1e-4)


def test_deficient_features_are_handled_on_their_span():
    rng = np.random.default_rng(3)
    pool, labeled, theta = (
        rng.normal(size=(30, 2)),
        rng.normal(size=(4, 2)),
        rng.normal(size=(2, 2)),
    )
    embed = rng.normal(size=(2, 5))
    wide = theta @ np.linalg.pinv(embed).T
    for known in (labeled, None):
        small = relax(pool, known, theta, 5, tol=1e-4)
        large = relax(pool @ embed, None if known is None else known @ embed, wide, 5, tol=1e-4)
        assert large.objective == pytest.approx(small.objective, rel=1e-8)
        assert large.z == pytest.approx(small.z, abs=1e-6)


def test_labeled_points_outside_the_span_of_the_pool():
    rng = np.random.default_rng(4)
    flat = np.column_stack([rng.normal(size=(20, 2)), np.zeros(20)])
    theta = rng.normal(size=(2, 3))
    result = relax(flat, rng.normal(size=(3, 3)), theta, 4, tol=1e-4)
    assert np.isfinite(result.objective) and result.converged


def test_a_class_without_probability_is_dropped():
    rng = np.random.default_rng(5)
    # the last column is 1 everywhere, so class 1 has the logit -2000
    pool = np.column_stack([rng.normal(size=(25, 2)), np.ones(25)])
    three = np.array([[0.5, -1.0, 0.3], [0.0, 0.0, -2000.0]])
    without = relax(pool, None, [[0.5, -1.0, 0.3]], 6, tol=1e-4)
    for theta in (three, changed_reference(three, [0, 2, 1])):
        result = relax(pool, None, theta, 6, tol=1e-4)
        assert result.objective == pytest.approx(without.objective, rel=1e-8)
        assert result.z == pytest.approx(without.z, abs=1e-6)


def test_nearly_dependent_features_change_nothing():
    rng = np.random.default_rng(9)
    pool, labeled, theta = (rng.normal(size=(n, 4)) for n in (40, 6, 2))
    left, right = (np.linalg.qr(rng.normal(size=(4, 4)))[0] for _ in range(2))
    A = left @ np.diag([1, 1e-2, 1e-5, 1e-7]) @ right
    first = relax(pool, labeled, theta, 8, tol=1e-4)
    mapped = relax(pool @ A, labeled @ A, theta @ np.linalg.inv(A).T, 8, tol=1e-4)
    assert mapped.objective == pytest.approx(first.objective, rel=1e-6)
    assert mapped.z == pytest.approx(first.z, abs=1e-5)


def test_points_that_say_nothing_about_a_direction():
    # the second feature only comes with a logit of 2000: its information is zero
    pool = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    with pytest.raises(ValueError, match="full rank on the span .* 0 or 1 to rounding"):
        relax(pool, None, [[0.1, 2000.0]], 2)


@pytest.mark.parametrize("scale", [30, 100, 300])
def test_sharp_probabilities_give_an_answer_or_one_clear_error(scale):
    rng = np.random.default_rng(6)
    pool, theta = rng.normal(size=(200, 3)), scale * rng.normal(size=(3, 3))
    try:
        result = relax(pool, None, theta, 10, max_iter=5000)
    except ValueError as error:
        assert "full rank" in str(error)
    else:
        assert np.isfinite(result.objective) and np.isfinite(result.z).all()
        assert 0 <= result.gap <= 1e-2


def test_whole_pool_is_the_only_choice():
    pool, labeled, theta, _ = literal.tiny_problem(8)
    result = relax(pool, labeled, theta, len(pool))
    assert result.z == pytest.approx(np.ones(len(pool)))
    assert result.gap == pytest.approx(0, abs=1e-12) and result.iterations == 1


def test_stopping_early_is_said():
    data = literal.tiny_problem(11)
    with pytest.warns(RuntimeWarning, match="certified gap"):
        result = relax(*data, tol=1e-9, max_iter=3)
    assert not result.converged and result.gap > 1e-9 and result.iterations == 3
    assert result.history.shape == (3, 2)


@pytest.mark.parametrize("capped", [True, False])
def test_default_needs_fewer_gradients_than_mirror_descent_and_plain_steps(capped):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(300, 4)), rng.normal(size=(5, 4)), rng.normal(size=(3, 4)), 8
    fast = relax(*data, capped=capped, tol=1e-3, max_iter=3000)
    slow = relax(*data, capped=capped, tol=1e-3, max_iter=3000, method="mirror")
    plain = CertifiedSearch(prepare_problem(*data), capped, tol=1e-3, max_iter=3000)
    w = plain.start()
    while not plain.finished:
        _, a = plain.evaluate(w)
        w = plain.feasible(w * np.sqrt(a))
    assert fast.converged and slow.converged and plain.converged
    assert fast.iterations < min(slow.iterations, len(plain.history)) / 1.5
    assert abs(fast.objective / slow.objective - 1) <= 1e-3
    assert abs(fast.objective / plain.objective - 1) <= 1e-3


@pytest.mark.parametrize("seed", range(10))
def test_a_trial_that_grows_is_taken_back(seed):
    data = literal.tiny_problem(seed)
    f = relax(*data, capped=False, tol=1e-5, max_iter=20000).history[:, 0]
    for j in np.flatnonzero(np.diff(f) > 1e-9 * f[:-1])[:-1]:
        assert f[j + 2] <= f[j] * (1 + 1e-9)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"budget": 0}, "budget must be an integer >= 1, got 0"),
        ({"budget": 2.0}, "budget must be an integer"),
        ({"budget": 7}, "at most the pool size 6, got 7: set capped=False to allow"),
        ({"method": "newton"}, "method must be one of"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"pool": np.zeros((6, 2)), "labeled": None}, "nonzero point"),
        ({"pool": np.zeros((6, 2))}, "pool must carry information, got none: all its points are"),
        ({"pool": 1e5 * np.eye(2), "theta": np.ones((1, 2)), "budget": 1}, "pool must carry info"),
        ({"pool": np.full((6, 2), np.nan)}, "pool must be finite"),
        ({"pool": np.full((6, 2), 2e50)}, "pool must be at most 1e[+]50 in size .*got 2e[+]50"),
        ({"labeled": np.full((3, 2), -2e50)}, "labeled must be at most 1e[+]50 in size"),
        ({"pool": np.ma.masked_equal(np.eye(6, 2), 1)}, "pool must have no masked entries, got 2"),
        ({"capped": 1}, "capped must be True or False, got 1"),
        ({"pool": np.ones(6)}, "pool must have shape"),
        ({"labeled": np.ones((3, 1))}, "labeled must have 2 columns"),
        ({"theta": np.ones((2, 3))}, "theta must have shape"),
        ({"theta": np.full((1, 2), 1e5)}, "information is zero"),
    ],
)
def test_bad_input_gets_one_clear_error(change, message):
    rng = np.random.default_rng(0)
    good = {
        "pool": 1 + rng.uniform(size=(6, 2)),
        "labeled": 1 + rng.uniform(size=(3, 2)),
        "theta": rng.normal(size=(2, 2)),
        "budget": 3,
    } | change
    data = [good.pop(name) for name in ("pool", "labeled", "theta", "budget")]
    with pytest.raises(ValueError, match=message):
        relax(*data, **good)


def test_the_steps_are_those_of_the_documented_momentum():
    """The first gradients, against the rule written out; another constant gives other numbers."""

    def written_out(H, H_p, known, b, steps, constant):
        w = previous = np.full(len(H), b / len(H))
        values, age = [], 0

        def at(w):
            S = np.linalg.inv(np.tensordot(w, H, axes=1) + known)
            M = S @ H_p @ S
            values.append(np.trace(S @ H_p))
            return values[-1], np.einsum("iab,ab->i", H, M)

        f, a = at(w)
        while len(values) < steps:
            step = w * np.sqrt(a)
            step *= b / step.sum()
            trial = step * (step / previous) ** (age / (age + constant)) if age else step
            trial *= b / trial.sum()
            f_trial, a_trial = at(trial)
            if age and f_trial > f:
                trial, age = step, 0
                f_trial, a_trial = at(trial)
            w, f, a, previous, age = trial, f_trial, a_trial, step, age + 1
        return np.array(values[:steps])

    rng = np.random.default_rng(5)
    pool, labeled, theta = (
        rng.normal(size=(40, 3)),
        rng.normal(size=(8, 3)),
        rng.normal(size=(2, 3)),
    )
    options = dict(method="multiplicative", capped=False, tol=1e-12, max_iter=9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nine gradients are not enough
        found = relax(pool, labeled, theta, 6, **options).history[:, 0]
    H = np.array([literal.hessian(x, theta) for x in pool])
    known = sum(literal.hessian(x, theta) for x in labeled)
    np.testing.assert_allclose(found, written_out(H, H.mean(axis=0), known, 6, 9, 3), rtol=1e-7)
    assert np.abs(found / written_out(H, H.mean(axis=0), known, 6, 9, 4) - 1).max() > 1e-5


def scaled(w, b, capped):
    """min(1, s w), or s w, with the sum b; s by bisection."""
    low, high = 0.0, 1e12
    for _ in range(200):
        s = np.sqrt(low * high) if low else high / 2
        z = np.minimum(1, s * w) if capped else s * w
        low, high = (s, high) if z.sum() < b else (low, s)
    return z


@pytest.mark.parametrize("capped", [True, False])
@pytest.mark.parametrize("method", ["multiplicative", "mirror"])
def test_every_step_is_that_of_the_formula(method, capped):
    rng = np.random.default_rng(4)
    pool, labeled, theta, b = *(rng.normal(size=s) for s in ((15, 2), (3, 2), (2, 2))), 6
    H, H_p = literal.matrices(pool, labeled, theta, b)
    D = sum(hessian(x, theta) for x in labeled) / b

    def measured(w):
        Sigma = np.tensordot(w, H, axes=1)
        M = np.linalg.solve(Sigma, np.linalg.solve(Sigma, H_p).T)
        return (
            np.trace(np.linalg.solve(Sigma, H_p)),
            np.einsum("ikl,kl->i", H - D, M),
            np.vdot(D, M),
        )

    w, expected, lower, age, last = np.full(15, b / 15), [], 0.0, 0, None
    f, a, constant = measured(w)
    for t in range(1, 10):
        best = np.sort(a)[-b:].sum() if capped else b * a.max()
        lower = max(lower, f * f / (best + b * constant))
        expected.append((f, lower))
        if method == "mirror":
            g = a + constant
            w = scaled(w * np.exp(np.sqrt(np.log(15) / t) * g / g.max()), b, capped)
            f, a, constant = measured(w)
            continue
        step = scaled(w * np.sqrt(a), b, capped)
        w = scaled(step * (step / last) ** (age / (age + 3)), b, capped) if age else step
        f_new, a, constant = measured(w)
        assert f_new <= f  # else the solver would take the plain step
        f, last, age = f_new, step, age + 1
    with pytest.warns(RuntimeWarning, match="relax stopped after 9 gradients"):
        found = relax(pool, labeled, theta, b, capped=capped, method=method, tol=1e-12, max_iter=9)
    np.testing.assert_allclose(found.history, expected, rtol=1e-10)
    assert found.iterations == 9 and found.passes == 19 and not found.converged
    assert found.objective == found.history[:, 0].min()
    assert found.gap == pytest.approx(1 - lower / found.objective, rel=1e-9)
