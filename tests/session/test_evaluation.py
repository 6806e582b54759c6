"""Are the labels enough: intervals, agreement and the curve, against scikit-learn and by hand."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score

from firal.session.evaluation import After, advice, cohen_kappa, learning_curve, wilson
from firal.session.fitted_model import features_of, fitted
from firal.session.reasons import expected_gain, predicted_errors, reasons
from firal.session.session import Session

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["red", "white", "rose"])[Y]


@pytest.fixture
def session(tmp_path):
    np.save(tmp_path / "wine.npy", X)
    session = Session.create(tmp_path / "s", tmp_path / "wine.npy", held_out=30)
    session.decide({row: NAMES[row] for row in session.pending[:25]})
    for _ in range(4):
        rows = session.next(6).rows
        session.decide({int(row): NAMES[row] for row in rows})
    return session


@pytest.mark.parametrize(("right", "tested"), [(0, 7), (45, 50), (7, 7), (1, 1), (3, 1000)])
def test_intervals(right, tested):
    want = binomtest(right, tested).proportion_ci(method="wilson")
    np.testing.assert_allclose(wilson(right, tested), (want.low, want.high), atol=1e-6)


def test_agreement():
    rng = np.random.default_rng(0)
    for c in (2, 5):
        one = rng.integers(c, size=80).astype(str)
        two = np.where(rng.random(80) < 0.4, rng.integers(c, size=80).astype(str), one)
        assert cohen_kappa(one, two) == pytest.approx(cohen_kappa_score(one, two))
    assert cohen_kappa(one, one) == 1 and cohen_kappa(np.array(["a"]), np.array(["a"])) == 1


def test_the_curve_is_that_of_scikit_learn_s_model_on_the_labels_of_each_round(session):
    curve, Z = learning_curve(session), features_of(session)
    tested = [row for row in session.state.held_out if row in session.labels]
    rows, before = [], None
    assert [point.round for point in curve] == [1, 2, 3, 4] and len(tested) == 25
    for point, batch in zip(curve, session.rounds[1:], strict=True):
        rows += batch.rows
        model = LogisticRegression(C=1 / (len(rows) * 0.01), fit_intercept=False, max_iter=10_000)
        model.fit(Z[rows], NAMES[rows])
        now = model.predict(Z)
        assert point.right == np.sum(now[tested] == NAMES[tested])
        assert (point.labels, point.tested) == (len(rows), 25)
        if before is not None:
            assert point.kappa == pytest.approx(cohen_kappa_score(before, now), abs=1e-12)
        before = now
    assert curve[0].kappa is None


def test_held_out_labels_do_not_train(session):
    """Wrong ones change the accuracy and nothing else."""
    before = learning_curve(session)
    session.decide({row: "red" for row in session.state.held_out})
    after = learning_curve(session)
    assert [p.kappa for p in before] == [p.kappa for p in after]
    assert after[-1].right < before[-1].right


def test_advice():
    def curve(*kappas):
        return [After(k, 10 * k, 0, 0, kappa) for k, kappa in enumerate([None, *kappas], 1)]

    assert "too early" in advice([]) and "too early" in advice(curve(0.99))
    assert "you may stop" in advice(curve(0.5, 0.98, 0.99))
    assert "go on" in advice(curve(0.99, 0.96)) and "kappa 0.99, 0.96" in advice(curve(0.99, 0.96))


def test_gains_and_predicted_errors_are_what_they_say(session):
    """Against matrices written out point by point."""
    Z, training = features_of(session)[:, [0, 1, 13]], session.state.training
    model = fitted(Z, training)
    known, pending = sorted(training), [3, 60, 100]
    p = model.probabilities(Z)[:, :-1]

    def H(k):
        return np.kron(np.diag(p[k]) - np.outer(p[k], p[k]), np.outer(Z[k], Z[k]))

    penalty = 0.01 * np.kron(np.eye(2) - 1 / 3, np.eye(3))
    H_p = sum(map(H, range(len(Z)))) / len(Z)
    S = sum(map(H, known)) + len(known) * penalty
    inverse = np.linalg.inv(S)
    want = [np.trace(inverse @ H_p @ inverse @ H(k)) for k in range(len(Z))]
    np.testing.assert_allclose(expected_gain(Z, np.array(known), model, 0.01), want, rtol=1e-8)
    total = S + 3 * penalty
    now = np.trace(np.linalg.inv(total) @ H_p) / 2
    later = np.trace(np.linalg.inv(total + sum(map(H, pending))) @ H_p) / 2
    found = predicted_errors(Z, known, pending, model, 0.01)
    np.testing.assert_allclose(found, (now, later), rtol=1e-8)
    assert found[1] < found[0] and predicted_errors(Z, known, [], model, 0.01) is None


def test_reasons(session):
    Z, training = features_of(session), session.state.training
    model = fitted(Z, training)
    row = next(k for k in range(178) if k not in training)
    (found,) = reasons(Z, training, model, [row], 0.01)
    assert [p for _, p in found.probable] == sorted((p for _, p in found.probable), reverse=True)
    away = {k: np.linalg.norm(Z[k] - Z[row]) for k in training}
    assert found.nearest == min(away, key=away.get) and 0 <= found.gain <= 1
    (first,) = reasons(Z, {}, None, [row], 0.01)  # before the first label
    assert first.probable == [] and first.nearest is None and first.gain is not None
