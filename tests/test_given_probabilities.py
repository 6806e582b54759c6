"""Class probabilities of any classifier: in next_batch, in the command, in a session."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import firal
from firal import cli
from firal.data.probabilities import read_probabilities
from firal.engine.scaling import model_features
from firal.session.session import Session

WINE = load_wine()
X, Y = WINE.data, WINE.target
NAMES = np.array(["red", "white", "rose"])[Y]
KNOWN = np.arange(0, 178, 20)
LABELS = {int(row): NAMES[row] for row in KNOWN}
STRATEGIES = ("firal-ridge", "firal", "bait", "entropy", "var-ratios")


def forest():
    model = RandomForestClassifier(20, min_samples_leaf=2, random_state=0).fit(X[KNOWN], Y[KNOWN])
    return 0.9 * model.predict_proba(X) + 0.1 / 3


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_probabilities_of_the_own_model_pick_what_the_model_picks(strategy):
    own = firal.next_batch(X, LABELS, 6, strategy=strategy)
    Z = model_features(X, robust=True)
    P = firal.probabilities(Z, own.theta)
    given = firal.next_batch(X, LABELS, 6, strategy=strategy, probabilities=P)
    assert given.rows.tolist() == own.rows.tolist() and given.theta is None
    other = firal.next_batch(X, LABELS, 6, strategy=strategy, probabilities=forest())
    assert other.rows.tolist() != own.rows.tolist()
    assert not set(other.rows) & set(KNOWN) and len(set(other.rows)) == 6


def test_without_labels_and_with_more_classes_than_labels():
    P = np.column_stack([forest(), np.zeros(178)])
    batch = firal.next_batch(X, None, 5, probabilities=P)
    assert len(set(batch.rows)) == 5 and batch.classes == ()
    waiting = [int(batch.rows[0])]
    again = firal.next_batch(X, None, 5, probabilities=P, pending=waiting, exclude=[3])
    assert not set(again.rows) & {3, *waiting}


@pytest.mark.parametrize("strategy", ["firal-ridge", "bait", "firal"])
def test_a_pending_point_is_as_good_as_a_labeled_one(strategy):
    """With given probabilities labels only say which points are known; they need not be sorted."""
    P, waiting = forest() ** 3, [100, 7, 55]  # sharp: it matters whose probabilities they are
    P /= P.sum(axis=1, keepdims=True)
    options = dict(strategy=strategy, probabilities=P)
    rng = np.random.default_rng
    pending = firal.next_batch(X, LABELS, 6, pending=waiting, rng=rng(0), **options)
    more = {**LABELS, **{row: NAMES[row] for row in waiting}}
    labeled = firal.next_batch(X, more, 6, rng=rng(0), **options)
    assert pending.rows.tolist() == labeled.rows.tolist()
    assert pending.selection is None or pending.selection.objective == pytest.approx(
        labeled.selection.objective, rel=1e-9
    )


BAD = {
    "sums": (np.full((178, 3), 0.4), "sums from 1.2 to 1.2, first in row 0: divide by the sum"),
    "scores": (np.tile([2.0, -1, 0], (178, 1)), "got entries from -1 on .*: apply a softmax"),
    "rows": (np.full((177, 3), 1 / 3), r"must have shape \(178, c >= 2\).* got shape \(177, 3\)"),
    "one column": (np.ones((178, 1)), r"got shape \(178, 1\)"),
    "classes": (np.full((178, 2), 0.5), "got 2 columns and 3 classes among the labels"),
    "nan": (np.full((178, 3), np.nan), "probabilities must be finite"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_are_no_probabilities(name):
    P, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        firal.next_batch(X, LABELS, 5, probabilities=P)


def test_who_does_not_use_them(monkeypatch):
    for strategy in ("random", "kmeans"):
        with pytest.raises(ValueError, match=f"got {strategy}, which does not use them"):
            firal.next_batch(X, LABELS, 5, probabilities=forest(), strategy=strategy)
    monkeypatch.setattr("firal.placement.HELD_FROM", 1000)
    with pytest.raises(ValueError, match="probabilities need a table in memory"):
        firal.next_batch(X, LABELS, 5, probabilities=forest())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    lines = [f"wine {row}," + ",".join(map(repr, x)) for row, x in enumerate(X.tolist())]
    header = ",".join(["name", *(f"f{k}" for k in range(13))])
    (tmp_path / "x.csv").write_text("\n".join([header, *lines]))
    text = "\n".join(["row,label", *(f"{row},{name}" for row, name in LABELS.items())])
    (tmp_path / "labels.csv").write_text(text)
    return tmp_path


def run(capsys, *arguments):
    code = cli.main([*map(str, arguments)])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def write(path, P, names, key, keys, order):
    lines = [",".join([key, *names])]
    lines += [",".join([keys[row], *map(repr, P[row].tolist())]) for row in order]
    path.write_text("\n".join(lines))


def test_the_command_reads_them_in_every_form(folder, capsys):
    P = forest()
    want = firal.next_batch(X, LABELS, 6, probabilities=P).rows.tolist()
    np.save("p.npy", P)
    plain = "\n".join(",".join(map(repr, p)) for p in P.tolist())
    (folder / "plain.csv").write_text(plain)
    (folder / "classes.csv").write_text("red,white,rose\n" + plain)
    order = np.random.default_rng(0).permutation(178)
    rows = [str(row) for row in range(178)]
    write(folder / "rows.csv", P, ["red", "white", "rose"], "row", rows, order)
    for file in ("p.npy", "plain.csv", "classes.csv", "rows.csv"):
        options = ("--labeled", "labels.csv", "--budget", 6, "--probabilities", file)
        code, out, err = run(capsys, "select", "x.npy", *options, "--format", "json")
        assert code == 0 and json.loads(out)["rows"] == want, (file, err)
        assert f"no fit: probabilities of 3 classes from {file}" in err
    ids = [f"wine {row}" for row in range(178)]
    write(folder / "ids.csv", P, ["red", "white", "rose"], "name", ids, order)
    options = ("--id-column", "name", "--labeled", "labels.csv", "--budget", 6)
    code, out, _ = run(
        capsys, "select", "x.csv", *options, "--probabilities", "ids.csv", "--format", "json"
    )
    assert code == 0 and json.loads(out)["rows"] == want


def test_what_the_command_says_about_bad_files(folder, capsys):
    P, rows = forest(), [str(row) for row in range(178)]
    base = ("select", "x.npy", "--labeled", "labels.csv", "--budget", 6, "--probabilities")
    write(folder / "p.csv", P, ["red", "white", "pink"], "row", rows, range(178))
    code, _, err = run(capsys, *base, "p.csv")
    assert code == 2 and "p.csv must have a column for every class, got labels of 'rose'" in err
    rows[7] = "8"
    write(folder / "p.csv", P, ["red", "white", "rose"], "row", rows, range(178))
    code, _, err = run(capsys, *base, "p.csv")
    assert code == 2 and "p.csv must name every point once, got row 8 twice" in err
    np.save("p.npy", P[:-1])
    code, _, err = run(capsys, *base, "p.npy")
    assert code == 2 and "p.npy must have one row for each of the 178 points" in err
    np.save("p.npy", 100 * P)
    code, _, err = run(capsys, *base, "p.npy")
    assert code == 2 and "--probabilities must have rows of nonnegative numbers with sum 1" in err
    code, _, err = run(capsys, *base, "absent.csv")
    assert code == 2 and "no file absent.csv" in err
    np.save("p.npy", P)
    code, _, err = run(capsys, *base, "p.npy", "--strategy", "random")
    assert code == 2 and "--probabilities are for the strategies" in err
    (folder / "p.csv").write_text("red,white,rose\n" + "0.5,half,0\n" * 178)
    code, _, err = run(capsys, *base, "p.csv")
    assert code == 2 and "column 'white' of p.csv must hold numbers, got 'half' in line 2" in err
    assert "--label-column" not in err and "probabilities of all points" in err


def test_a_session_takes_them_round_by_round(folder, capsys):
    P = forest()
    np.save("p.npy", P)
    code, _, err = run(capsys, "init", "x.npy", "--labeled", "labels.csv")
    assert code == 0, err
    code, out, err = run(capsys, "next", 6, "--probabilities", "p.npy")
    assert code == 0 and "no fit: probabilities of 3 classes from p.npy" in err
    session = Session("firal-session")
    assert (
        list(session.rounds[0].rows)
        == firal.next_batch(X, LABELS, 6, probabilities=P).rows.tolist()
    )
    assert session.rounds[0].details["note"] == "class probabilities were given"
    second = session.next(4, probabilities=P)
    assert not set(second.rows) & set(session.rounds[0].rows)


def test_a_file_without_a_header_and_a_logistic_regression(folder):
    model = LogisticRegression(max_iter=5000).fit(X[KNOWN], Y[KNOWN])
    P = model.predict_proba(X)
    np.savetxt("p.txt", P, delimiter=",", fmt="%.17g")
    np.testing.assert_array_equal(read_probabilities("p.txt", 178), P)
