"""The assignments: right solutions of other styles pass, typical wrong ones fail."""

import importlib.util
import itertools
import re

import assignments
import numpy as np
import pytest
from scipy import linalg, optimize, special, stats

ALL = {a.name[:2]: a for a in assignments.all_assignments()}


def module(short):
    """A source file as a module: its solution and its tests."""
    path = assignments.SOURCES / f"{ALL[short].name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def failures(short, function):
    """Names of the tests that a student's function does not pass."""
    loaded, failed = module(short), []
    for name, _, _ in ALL[short].tests:
        try:
            with np.errstate(all="ignore"):
                getattr(loaded, name)(function)
        except Exception:
            failed.append(name)
    return failed


def probabilities(x, theta):
    return special.softmax(np.append(theta @ x, 0.0))


def by_loops(x, theta):
    d, h = len(x), probabilities(x, theta)
    H = np.zeros((d * len(theta),) * 2)
    for k, m in itertools.product(range(len(theta)), repeat=2):
        for i, j in itertools.product(range(d), repeat=2):
            H[k * d + i, m * d + j] = h[k] * ((k == m) - h[m]) * x[i] * x[j]
    return H


def by_alternative(X, y):
    """No weights > 0 on the signed points sum to zero: Stiemke's alternative."""
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X, dtype=float))
    found = optimize.linprog(np.zeros(len(signed)), A_eq=signed.T, b_eq=-signed.sum(0))
    return found.status == 2  # there are none


def by_multiplier(needs, budget):
    a = np.asarray(needs)

    def rest(m):
        return np.sqrt(a / m).sum() - budget

    return tuple(np.sqrt(a / optimize.brentq(rest, 1e-9, 1e9, xtol=1e-14)))


def by_whitening(Hq, Hp):
    L = np.linalg.cholesky(Hq)
    M = linalg.solve_triangular(L, linalg.solve_triangular(L, Hp, lower=True).T, lower=True)
    return np.trace(M), linalg.svdvals(M)[0]


def by_eigenvalues(Hq, Hp):
    values = linalg.eigh(Hp, Hq, eigvals_only=True)
    return [values.sum(), values[-1]]


def by_root(S, eta):
    k = len(S)

    def excess(nu):
        return np.trace(np.linalg.matrix_power(np.linalg.inv(nu * np.eye(k) + eta * S), 2)) - 1

    least = -eta * np.linalg.eigvalsh(S)[0]
    nu = optimize.brentq(excess, least + 1e-6, least + k + 1)
    return np.linalg.matrix_power(np.linalg.inv(nu * np.eye(k) + eta * S), 2)


def by_perceptron(X, y):
    """Feasibility of strict margins for one point at a time."""
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X))
    return any(
        optimize.linprog(
            np.zeros(signed.shape[1]),
            A_ub=-signed,
            b_ub=-np.eye(len(X))[k],
            bounds=(None, None),
        ).success
        for k in range(len(X))
    )


def bound(H, Hp, z, kind):
    inverse = np.linalg.inv(np.tensordot(z, H, 1))
    f, gain = np.trace(inverse @ Hp), np.array([np.trace(inverse @ h @ inverse @ Hp) for h in H])
    b = np.sum(z)
    return {
        "linear": 2 * f - b * gain.max(),
        "value": f,
        "mean": f * f / (b * gain.mean()),
        "no budget": f * f / gain.max(),
        "zero": 0.0,
        "sharper": max(2 * f - b * gain.max(), f * f / (b * gain.max())),
    }[kind]


def interval(a, b, level=0.95, *, paired=True, ddof=1, quantile=None, sign=1):
    d = sign * (np.array(a) - np.array(b))
    n = len(d)
    spread = d.var(ddof=ddof) if paired else np.var(a, ddof=1) + np.var(b, ddof=1)
    half = (quantile or stats.t.ppf(0.5 + level / 2, n - 1)) * np.sqrt(spread / n)
    return np.array([d.mean() - half, d.mean() + half])


RIGHT = {
    "a1": [
        by_loops,
        lambda x, t: np.block([[g * np.outer(x, x) for g in row] for row in G(x, t)]),
        lambda x, t: np.einsum("kl,i,j->kilj", G(x, t), x, x).reshape(x.size * len(t), -1).tolist(),
    ],
    "a2": [by_perceptron, by_alternative],
    "a3": [
        by_whitening,
        by_eigenvalues,
        lambda Q, P: (np.trace(P @ np.linalg.inv(Q)), by_eigenvalues(Q, P)[1]),
    ],
    "a4": [
        lambda X, t, s: np.mean(
            [special.rel_entr(probabilities(x, s), probabilities(x, t) + 1e-300).sum() for x in X]
        )
    ],
    "a5": [by_multiplier, lambda a, b: [b * q**0.5 / sum(r**0.5 for r in a) for q in a]],
    "a6": [lambda H, P, z: bound(H, P, z, "linear"), lambda H, P, z: bound(H, P, z, "sharper")],
    "a7": [by_root],
    "a8": [
        lambda a, b, level=0.95: stats.ttest_rel(a, b).confidence_interval(level),
        interval,
    ],
}


def G(x, theta):
    h = probabilities(x, theta)[:-1]
    return np.diag(h) - np.outer(h, h)


def overflowing(x, theta):
    e = np.exp(theta @ x)
    h = e / (1 + e.sum())
    return np.kron(np.diag(h) - np.outer(h, h), np.outer(x, x))


def strictly(X, y):
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X))
    zero = np.zeros(signed.shape[1])
    margins = {"A_ub": -signed, "b_ub": -np.ones(len(X)), "bounds": (None, None)}
    return optimize.linprog(zero, **margins).success


def with_intercept(X, y):
    return by_perceptron(np.column_stack([X, np.ones(len(X))]), y)


def along_axes(X, y):
    signed = np.where(np.asarray(y)[:, None] == 1, X, -np.asarray(X))
    axes = np.eye(signed.shape[1])
    return any(min(signed @ w) >= 0 < max(signed @ w) for w in (*axes, *-axes))


def diagonal_bound(H, Hp, z):
    diagonals = np.array([np.diag(np.diag(h)) for h in H])
    return bound(diagonals, np.diag(np.diag(Hp)), z, "sharper")


def clipped(S, eta):
    """Newton's nu kept positive."""
    values, vectors = np.linalg.eigh(S)
    nus = np.linspace(1e-6, 10, 20_001)
    nu = nus[np.argmin(abs(((nus[:, None] + eta * values) ** -2.0).sum(1) - 1))]
    return (vectors * (nu + eta * values) ** -2.0) @ vectors.T


WRONG = {
    "a1": {
        "factors in the other order": lambda x, t: np.kron(np.outer(x, x), G(x, t)),
        "without the outer product": lambda x, t: np.kron(
            np.diag(np.diag(G(x, t))), np.outer(x, x)
        ),
        "overflow": overflowing,
        "all classes": lambda x, t: np.kron(np.eye(len(t) + 1), np.outer(x, x)),
    },
    "a2": {
        "strict margins only": strictly,
        "an intercept": with_intercept,
        "directions of the axes only": along_axes,
        "always": lambda X, y: True,
        "never": lambda X, y: False,
    },
    "a3": {
        "the other one inverted": lambda Q, P: by_eigenvalues(P, Q),
        "quotient of eigenvalues": lambda Q, P: (
            np.trace(np.linalg.solve(Q, P)),
            np.linalg.eigvalsh(P)[-1] / np.linalg.eigvalsh(Q)[0],
        ),
        "quotient of traces": lambda Q, P: (np.trace(P) / np.trace(Q), by_eigenvalues(Q, P)[1]),
        "smallest eigenvalue": lambda Q, P: (
            by_eigenvalues(Q, P)[0],
            linalg.eigh(P, Q, eigvals_only=True)[0],
        ),
    },
    "a4": {
        "arguments exchanged": lambda X, t, s: RIGHT["a4"][0](X, s, t),
        "sum for mean": lambda X, t, s: len(X) * RIGHT["a4"][0](X, t, s),
        "logarithm of zero": lambda X, t, s: np.mean(
            [
                (probabilities(x, s) * np.log(probabilities(x, s) / probabilities(x, t))).sum()
                for x in X
            ]
        ),
        "cross-entropy": lambda X, t, s: np.mean(
            [-(probabilities(x, s) * np.log(probabilities(x, t) + 1e-300)).sum() for x in X]
        ),
        "squared difference": lambda X, t, s: np.mean((X @ t.T - X @ s.T) ** 2) / 8,
    },
    "a5": {
        "in proportion": lambda a, b: b * np.array(a) / np.sum(a),
        "equally": lambda a, b: np.full(len(a), b / len(a)),
        "square roots, not scaled": lambda a, b: np.sqrt(a),
        "all on one": lambda a, b: b * np.eye(len(a))[np.argmax(a)],
    },
    "a6": {
        kind: lambda H, P, z, kind=kind: bound(H, P, z, kind)
        for kind in ("value", "mean", "no budget", "zero")
    }
    | {"diagonals only": diagonal_bound},
    "a7": {
        "power minus one": lambda S, eta: np.linalg.inv(np.eye(len(S)) * len(S) + eta * S),
        "nu kept positive": clipped,
        "nu is one": lambda S, eta: np.linalg.matrix_power(
            np.linalg.inv(np.eye(len(S)) + eta * S), 2
        ),
        "divided by its trace": lambda S, eta: (lambda A: A / np.trace(A))(
            np.linalg.matrix_power(np.linalg.inv(np.eye(len(S)) + eta * S), 2)
        ),
        "diagonal only": lambda S, eta: by_root(np.diag(np.diag(S)), eta),
        "rate left out": lambda S, eta: by_root(S, 1.0),
        "rate squared": lambda S, eta: by_root(S, eta**2),
    },
    "a8": {
        "not paired": lambda a, b, level=0.95: interval(a, b, level, paired=False),
        "n in the variance": lambda a, b, level=0.95: interval(a, b, level, ddof=0),
        "normal quantile": lambda a, b, level=0.95: interval(a, b, level, quantile=1.96),
        "the other sign": lambda a, b, level=0.95: interval(a, b, level, sign=-1),
        "one side only": lambda a, b, level=0.95: interval(a, b, 2 * level - 1),
        "level left out": lambda a, b, level=0.95: interval(a, b),
    },
}


def test_there_are_eight_two_per_week():
    weeks = [re.search(r"\*Week (\d)\.", a.text)[1] for a in ALL.values()]
    assert sorted(ALL) == sorted(RIGHT) == sorted(WRONG) and len(ALL) == 8
    assert set(weeks) == set("1234")


@pytest.mark.parametrize("short", sorted(ALL))
def test_our_solution_passes(short):
    assert failures(short, getattr(module(short), ALL[short].function)) == []


@pytest.mark.parametrize("short, k", [(s, k) for s in RIGHT for k in range(len(RIGHT[s]))])
def test_other_right_solutions_pass(short, k):
    assert failures(short, RIGHT[short][k]) == []


@pytest.mark.parametrize("short, mistake", [(s, m) for s in WRONG for m in WRONG[s]])
def test_wrong_solutions_fail(short, mistake):
    assert failures(short, WRONG[short][mistake])


@pytest.mark.parametrize("short", sorted(ALL))
def test_every_test_is_needed_by_some_mistake(short):
    """A test that no mistake fails would be for nothing; the stub fails all of them."""
    found = {name for wrong in WRONG[short].values() for name in failures(short, wrong)}
    assert found == {name for name, _, _ in ALL[short].tests}


def test_students_see_no_solution(tmp_path):
    assignments.write(tmp_path, solved=False)
    for assignment in ALL.values():
        text = (tmp_path / f"{assignment.name}.ipynb").read_text("utf8")
        test = (tmp_path / "tests" / f"{assignment.name}.py").read_text("utf8")
        body = assignment.solution.splitlines()[-1].strip()
        assert "your turn" in text and body not in text + test
        assert "../../" not in text and "/setting.md" not in text
        namespace = {}
        exec(test, namespace)
        assert namespace["test"]["points"] == len(assignment.tests)


def test_the_file_for_otter_accepts_and_rejects(tmp_path):
    """Its doctests run in the standard library as otter runs them."""
    import doctest

    assignments.write(tmp_path, solved=True)
    for function, fails in ((RIGHT["a5"][1], False), (WRONG["a5"]["equally"], True)):
        space = {}
        exec((tmp_path / "tests" / f"{ALL['a5'].name}.py").read_text("utf8"), space)
        failed = 0
        for case in space["test"]["suites"][0]["cases"]:
            parsed = doctest.DocTestParser().get_doctest(
                case["code"], {"best_split": function}, "case", None, 0
            )
            runner = doctest.DocTestRunner(verbose=False)
            runner.run(parsed, out=lambda text: None)
            failed += bool(runner.failures)
        assert (failed > 0) == fails
