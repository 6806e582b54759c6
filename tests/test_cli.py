"""The command: what it picks, what it writes where, its exit codes, and no traceback."""

import csv
import gc
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import ROOT
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import firal
from firal import cli, cli_announce, cli_output, cli_progress, cli_select, estimate, picking, work
from firal.data import writing
from firal.selection import penalized

WINE = load_wine()
NAMES = WINE.target_names[WINE.target]
KNOWN = np.arange(0, 178, 20)  # nine wines, all three classes


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Features as .npy and labels of nine wines as .csv, in the current folder."""
    monkeypatch.chdir(tmp_path)
    np.save("features.npy", WINE.data)
    lines = [f"{row},{NAMES[row]}" for row in KNOWN]
    (tmp_path / "labels.csv").write_text("\n".join(["row,label", *lines]))
    return tmp_path


def run(capsys, *arguments):
    """Exit code, rows of the CSV written to stdout, and what stands on stderr."""
    code = cli.main(["select", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, [int(line["row"]) for line in csv.DictReader(out.splitlines())], err


def robust(data):
    """Standardized, heavy tails drawn in, standardized again: by scikit-learn."""
    once = np.arcsinh(StandardScaler().fit_transform(data))
    return StandardScaler().fit_transform(once)


def prepared():
    X = np.column_stack([robust(WINE.data), np.ones(178)])
    free = np.setdiff1d(np.arange(178), KNOWN)
    theta = firal.fit(X[KNOWN], WINE.target[KNOWN], 3, 1e-3).theta
    return X, free, theta


@pytest.mark.parametrize("given", [(), ("--strategy", "firal-ridge"), ("--ridge", 0.01)])
def test_the_default_picks_what_the_module_picks(folder, capsys, given):
    X, free, _ = prepared()
    theta = firal.fit(X[KNOWN], WINE.target[KNOWN], 3, 0.01 * 15 / 9, penalty="symmetric").theta
    rng = np.random.default_rng([4, 9])  # the seed advances with the labels
    want = free[firal.STRATEGIES["firal-ridge"](X[free], X[KNOWN], theta, 6, rng)]
    options = ("--labeled", "labels.csv", "--budget", 6, "--seed", 4, *given)
    code, rows, err = run(capsys, "features.npy", *options)
    assert code == 0 and rows == want.tolist()
    assert "178 points, 13 features; 9 labeled in 3 classes (class_1 4, class_0 3, cl" in err


def test_firal_picks_what_the_module_picks(folder, capsys):
    X, free, theta = prepared()
    want = free[firal.select(X[free], X[KNOWN], theta, 6).indices]
    options = ("--labels", "labels.csv", "--budget", 6, "--strategy", "firal")
    code, rows, err = run(capsys, "features.npy", *options)
    assert code == 0 and rows == want.tolist()
    assert "178 points, 13 features; 9 labeled in 3 classes (class_1 4, class_0 3, cl" in err
    eta = free[firal.select(X[free], X[KNOWN], theta, 6, eta=2.0).indices]
    assert run(capsys, "features.npy", *options, "--eta", 2)[1] == eta.tolist()
    assert eta.tolist() != want.tolist()


@pytest.mark.parametrize("strategy", ["random", "kmeans", "entropy", "var-ratios", "bait"])
def test_other_strategies(folder, capsys, strategy):
    X, free, theta = prepared()
    rng = np.random.default_rng([3, 9])
    want = free[firal.STRATEGIES[strategy](X[free], X[KNOWN], theta, 5, rng)]
    options = ("--labeled", "labels.csv", "--budget", 5, "--strategy", strategy, "--seed", 3)
    assert run(capsys, "features.npy", *options)[1] == want.tolist()


def test_options_of_the_model_matter(folder, capsys):
    base = ("features.npy", "--labeled", "labels.csv", "--budget", 6)
    usual = run(capsys, *base)[1]
    assert run(capsys, *base, "--robust")[1] == usual  # the default
    options = (["--ridge", 1], ["--no-standardize"], ["--no-robust"], ["--no-intercept"])
    options += (["--pca", 3], ["--strategy", "firal"], ["--strategy", "firal", "--ridge", 1])
    for option in options:
        code, rows, _ = run(capsys, *base, *option)
        assert code == 0 and len(set(rows)) == 6 and rows != usual, option


def test_a_header_can_be_asserted_or_denied(folder, capsys):
    X = np.round(WINE.data[:, :3], 2)
    lines = [",".join(map(repr, x)) for x in X.tolist()]
    (folder / "plain.csv").write_text("\n".join(lines))
    (folder / "numbers.csv").write_text("\n".join([lines[0], *lines]))
    base = ("--budget", 6)
    np.save("three.npy", X)
    expected = run(capsys, "three.npy", *base)[1]
    assert run(capsys, "plain.csv", *base)[1] == expected
    assert run(capsys, "plain.csv", *base, "--no-header")[1] == expected
    assert "177 points" in run(capsys, "plain.csv", *base, "--header")[2]
    assert run(capsys, "numbers.csv", *base, "--header")[1] == expected
    (folder / "one.csv").write_text("\n".join(["0", *map(str, WINE.target)]))  # 0 is the header
    options = ("three.npy", "--labeled", "one.csv", "--unlabeled", "2", *base)
    code, _, err = run(capsys, *options)
    assert code == 2 and err.endswith("(--header or --no-header)\n")
    code, rows, err = run(capsys, *options, "--header")
    assert code == 0 and set(WINE.target[rows]) == {2} and "130 labeled in 2 classes" in err


def test_a_table_with_labels_and_ids_round_after_round(folder, capsys):
    """The output of a round, with a column label added, is input of the next."""
    with open("points.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *WINE.feature_names, "y"])
        for row, x in enumerate(WINE.data.tolist()):
            writer.writerow([f"wine {row}", *x, NAMES[row] if row in KNOWN else ""])
    base = ("points.csv", "--id-column", "name", "--label-column", "y", "--budget", 4)
    assert run(capsys, *base, "--output", "one.csv")[0] == 0
    expected = run(capsys, "features.npy", "--labeled", "labels.csv", "--budget", 4)[1]
    with open("one.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert [int(line["row"]) for line in table] == expected
    assert [line["name"] for line in table] == [f"wine {row}" for row in expected]
    assert [line["rank"] for line in table] == ["1", "2", "3", "4"]
    with open("one.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, ["name", "label"], extrasaction="ignore")
        writer.writeheader()
        for line in table[:3]:  # one is not labeled yet
            writer.writerow({**line, "label": NAMES[int(line["row"])]})
    code, rows, err = run(capsys, *base, "--labeled", "one.csv")
    assert code == 0 and not set(rows) & {*expected[:3], *KNOWN.tolist()}
    assert "12 labeled" in err


def test_json(folder, capsys):
    options = ("--labeled", "labels.csv", "--budget", 3)
    assert run(capsys, "features.npy", *options, "--output", "picks.json")[0] == 0
    answer = json.loads((folder / "picks.json").read_text())
    assert answer["rows"] == run(capsys, "features.npy", *options)[1]
    assert answer["strategy"] == "firal-ridge" and answer["firal"] == firal.__version__
    assert 0 <= answer["relaxation_gap"] <= penalized.GAP and answer["eta"] is None
    labels = {row: NAMES[row] for row in KNOWN}
    batch = firal.next_batch(WINE.data, labels, 3)
    assert answer["objective"] == batch.selection.objective > 0
    assert answer["ratio"] == batch.selection.ratio >= 1
    assert answer["lambda_min"] == batch.selection.lambda_min
    command = ["select", "features.npy", "--budget", "3", "--format", "json"]
    assert cli.main(command) == 0  # before the first label
    answer = json.loads(capsys.readouterr().out)
    assert answer["strategy"] == "firal-ridge" and answer["objective"] > 0
    assert cli.main([*command, "--strategy", "firal"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["strategy"] == "kmeans" and "objective" not in answer
    assert cli.main([*command, "--strategy", "firal", "--labeled", "labels.csv"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["strategy"] == "firal" and answer["eta"] > 0
    assert 0 <= answer["relaxation_gap"] <= 0.01
    assert not list(folder.glob("*.part"))


def test_json_has_no_number_that_json_does_not_have(folder, capsys):
    """Three points cannot give information of full rank: the paper's ratio is infinite."""
    command = ["select", "features.npy", "--budget", "3", "--format", "json"]
    assert cli.main([*command, "--strategy", "firal", "--labeled", "labels.csv"]) == 0

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    answer = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert answer["lambda_min"] < 1e-12  # zero to rounding
    assert answer["objective"] is None and answer["ratio"] is None


@pytest.mark.parametrize(
    ("labels", "reason"),
    [(None, "no labels yet"), ("row,label\n3,a\n9,a\n", "all labels are of one class")],
)
def test_cold_start(folder, capsys, labels, reason):
    options = ["features.npy", "--budget", 5]
    known = []
    if labels:
        (folder / "one.csv").write_text(labels)
        options += ["--labeled", "one.csv"]
        known = [3, 9]
    code, rows, err = run(capsys, *options)
    assert code == 0 and f"{reason}: the design assumes that all classes" in err
    assert "K-means" not in err
    X = np.column_stack([robust(WINE.data), np.ones(178)])
    free = np.setdiff1d(np.arange(178), known)
    rng = np.random.default_rng([0, len(known)])
    want = firal.STRATEGIES["firal-ridge"](X[free], X[known] if known else None, None, 5, rng)
    assert rows == free[want].tolist()
    code, rows, err = run(capsys, *options, "--strategy", "firal")
    assert code == 0 and f"{reason}, so there is no model: K-means picks instead of firal" in err
    want = firal.STRATEGIES["kmeans"](
        X[free, :13], None, None, 5, np.random.default_rng([0, len(known)])
    )
    assert rows == free[want].tolist()
    assert "K-means" not in run(capsys, *options, "--strategy", "random")[2]


def test_a_value_that_means_unlabeled(folder, capsys):
    y = np.full(178, -1)
    y[KNOWN] = WINE.target[KNOWN]
    np.save("y.npy", y)
    options = ("features.npy", "--labeled", "y.npy", "--budget", 6)
    code, _, err = run(capsys, *options)
    assert code == 2 and "'-1' (169 labels) looks like no label" in err
    assert err.endswith("(--map OLD=NEW, --unlabeled, --class)\n")
    rows = run(capsys, *options, "--unlabeled", "-1")[1]
    assert rows == run(capsys, "features.npy", "--labeled", "labels.csv", "--budget", 6)[1]


def test_several_values_that_mean_unlabeled(folder, capsys):
    y = np.full(178, "?", dtype=object)
    y[::2] = "-1.0"
    y[KNOWN] = NAMES[KNOWN]
    (folder / "y.csv").write_text("\n".join(["species", *y]))
    options = ("features.npy", "--labeled", "y.csv", "--budget", 6)
    rows = run(capsys, *options, "--unlabeled", "-1", "--unlabeled", "?")[1]
    assert rows == run(capsys, "features.npy", "--labeled", "labels.csv", "--budget", 6)[1]


@pytest.fixture
def frame(folder):
    """A data frame as pandas writes it: counted columns, and an index without a name."""
    lines = [f"{row + 500},{','.join(map(repr, x))}" for row, x in enumerate(WINE.data.tolist())]
    (folder / "frame.csv").write_text("\n".join([f",{','.join(map(str, range(13)))}", *lines]))
    return folder


def test_the_index_of_a_data_frame(frame, capsys):
    options = ("frame.csv", "--budget", 6)
    code, rows, err = run(capsys, *options)
    assert (code, rows) == (2, []) and "(--header or --no-header," in err
    options += ("--header",)  # columns that are counted look like numbers
    code, rows, err = run(capsys, *options)
    assert (code, rows) == (2, []) and "got '', which is perhaps the index of a data frame" in err
    assert err.endswith(" (--label-column, --id-column, --ignore, --feature)\n")
    expected = run(capsys, "features.npy", "--budget", 6)[1]
    assert run(capsys, *options, "--ignore", "")[1] == expected
    assert run(capsys, *options, "--id-column", "", "--output", "p.csv")[0] == 0
    lines = (frame / "p.csv").read_text().splitlines()
    assert lines[0] == "rank,row,"
    assert lines[1] == f"1,{expected[0]},{expected[0] + 500}"
    lines = [f"{line},{label}" for line, label in zip(lines, ["label", *"abcabc"], strict=True)]
    (frame / "p.csv").write_text("\n".join(lines))  # labeled, and read again by names
    code, rows, err = run(capsys, *options, "--id-column", "", "--labeled", "p.csv")
    assert code == 0 and "6 labeled in 3 classes" in err


@pytest.mark.parametrize("strategy", ["firal", "bait"])
def test_more_features_than_points_are_warned_about_once(folder, capsys, strategy):
    np.save("wide.npy", np.random.default_rng(0).normal(size=(20, 30)))
    (folder / "few.csv").write_text("0,a\n1,b\n2,c\n")
    options = ("wide.npy", "--labeled", "few.csv", "--budget", 3, "--strategy", strategy)
    code, rows, err = run(capsys, *options)
    assert code == 0 and rows == [3, 4, 5]
    assert err.count("warning") == 1 and "All points score equally" in err and "--pca" in err
    assert "warning" not in run(capsys, *options, "--pca", 5)[2]
    options = (*options[:-1], "firal-ridge")  # with a penalty no point is like another
    assert "warning" not in run(capsys, *options)[2]


def test_equal_points_are_warned_about(folder, capsys):
    np.save("equal.npy", np.full((20, 3), 0.1))
    code, rows, err = run(capsys, "equal.npy", "--budget", 4)
    assert code == 0 and rows == [0, 1, 2, 3]
    assert err.count("warning") == 1 and "all points of the pool have the same features\n" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("features.npy", "required: --budget"),
        ("features.npy --budget 0", "--budget: must be an integer >= 1, got '0'"),
        ("features.npy --budget 179", "--budget must be at most 178"),
        ("none.npy --budget 3", "no file none.npy"),
        (". --budget 3", "a table must end in .npy, .npz, .csv, .tsv, .txt, .parquet, .xlsx"),
        ("empty.npy --budget 3", "empty.npy has no rows"),
        ("huge.npy --budget 3", "must be at most 1e+50 in size, got 1e+60 in row 5, column 1"),
        ("twice.csv --budget 1 --id-column a", "column 'a' must hold distinct ids, got '1' twice"),
        ("twice.csv --budget 1 --id-column a --label-column a", "must differ, got 'a'"),
        ("features.npy --budget 3 --output=", "must be the name of a file, or - for stdout"),
        ("features.npy --budget 3 --output . --overwrite", "ordinary file, got a folder, ."),
        ("features.npy --budget 3 --output link --overwrite", "ordinary file, got a folder, link"),
        (
            "features.npy --budget 3 --labeled labels.csv --output labels.csv --overwrite",
            "--output must not be one of the files that are read, got labels.csv",
        ),
        ("features.npy --budget 3 --output alias.npy --overwrite", "must not be one of the files"),
        ("features.npy --budget 3 --strategy best", "invalid choice: 'best'"),
        ("features.npy --budget 3 --labeled none.csv", "no file none.csv"),
        (
            "features.npy --budget 3 --label-column y",
            "features.npy has no column 'y', it has no header",
        ),
        ("features.npy --budget 3 --ridge 0", "--ridge: must be a number > 0, got '0'"),
        ("features.npy --budget 3 --eta nan", "--eta: must be a number > 0, got 'nan'"),
        ("features.npy --budget 3 --eta 2 --strategy bait", "--eta is an option of the strategy f"),
        ("features.npy --budget 3 --eta 2", "--eta is an option of the strategy firal, got 2.0 f"),
        (
            "features.npy --budget 3 --labeled labels.csv --strategy firal --eta theory",
            "needs a budget above 2 d~",
        ),
        (
            "features.npy --budget 3 --no-standardize --robust",
            "--robust must be False without standardize",
        ),
        ("features.npy --budget 3 --pca 14", "--pca must be an integer in 1..13, got 14"),
        ("features.npy --budget 3 --output labels.csv", "labels.csv exists"),
        ("features.npy --budget 3 --output no/picks.csv", "no folder no for --output"),
        ("nan.npy --budget 3", "got nan in row 5, column 1"),
        ("flat.npy --budget 3", "got an array of shape (4,)"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(folder, capsys, arguments, message):
    X = WINE.data.copy()
    X[5, 1] = np.nan
    np.save("nan.npy", X)
    X[5, 1] = 1e60
    np.save("huge.npy", X)
    np.save("empty.npy", X[:0])
    (folder / "twice.csv").write_text("a,b\n1,2\n1,3\n")
    (folder / "link").symlink_to(folder)
    (folder / "alias.npy").symlink_to("features.npy")
    np.save("flat.npy", np.ones(4))
    before = (folder / "labels.csv").read_text()
    code, rows, err = run(capsys, *arguments.split(), "--quiet")
    assert code == 2 and rows == []
    assert err.startswith("firal: error: ") and err.count("\n") == 1
    assert message in err
    assert (folder / "labels.csv").read_text() == before


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX devices")
def test_a_device_is_no_output(folder, capsys):
    code, _, err = run(capsys, "features.npy", "--budget", 3, "--output", os.devnull, "--overwrite")
    assert code == 2 and "must be an ordinary file, got a device" in err


def test_output_to_stdout(folder, capsys):
    expected = run(capsys, "features.npy", "--budget", 3)
    assert run(capsys, "features.npy", "--budget", 3, "--output", "-") == expected
    assert len(expected[1]) == 3 and not (folder / "-").exists()


def test_a_link_to_a_file_is_followed(folder, capsys):
    (folder / "target.csv").write_text("old")
    (folder / "picks.csv").symlink_to("target.csv")
    options = ("features.npy", "--budget", 3, "--output", "picks.csv")
    assert run(capsys, *options)[0] == 2
    assert run(capsys, *options, "--overwrite")[0] == 0
    assert (folder / "picks.csv").is_symlink()
    assert (folder / "target.csv").read_text().startswith("rank,row\n")


def test_a_folder_that_cannot_be_written_is_found_before_the_computation(
    folder, capsys, monkeypatch
):
    def refuses(dir):
        raise PermissionError(13, "Permission denied", f"{dir}/tmp123")

    monkeypatch.setattr(cli_output, "TemporaryFile", refuses)
    monkeypatch.setattr(cli_select, "read_points", lambda *_, **__: pytest.fail("too late"))
    (folder / "locked").mkdir()
    code, _, err = run(capsys, "features.npy", "--budget", 3, "--output", "locked/picks.csv")
    assert code == 2 and "tmp123" not in err
    assert "the folder locked for --output must be writable, got: Permission denied" in err


def test_a_failed_write_names_the_output_and_leaves_nothing(folder, capsys, monkeypatch):
    def fails(source, target):
        raise OSError(28, "No space left on device", source)

    monkeypatch.setattr(writing.os, "replace", fails)
    before = sorted(folder.iterdir())
    code, _, err = run(capsys, "features.npy", "--budget", 3, "--output", "picks.csv")
    assert code == 2 and "--output picks.csv cannot be written: No space left on device\n" in err
    assert sorted(folder.iterdir()) == before


def test_without_stdout(folder, capsys, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        code = cli.main(["select", "features.npy", "--budget", "3"])
    message = "firal: error: there is no stdout to write to: give an --output\n"
    assert code == 2 and capsys.readouterr().err == message


def test_output_is_replaced_only_when_asked(folder, capsys):
    options = ("features.npy", "--budget", 3, "--output", "picks.csv")
    assert run(capsys, *options)[0] == 0
    assert run(capsys, *options)[0] == 2
    assert run(capsys, *options, "--overwrite")[0] == 0


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 1, "not enough memory"),
        (np.linalg.LinAlgError("Singular matrix"), 1, "could not be solved: Singular matrix"),
        (RuntimeError("surprise"), 1, "please report it: RuntimeError('surprise')"),
        (ValueError("two\n  lines"), 2, "two lines"),
    ],
)
def test_failures(folder, capsys, monkeypatch, error, code, message):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(picking, "fit", fails)
    got, rows, err = run(capsys, "features.npy", "--labeled", "labels.csv", "--budget", 2)
    assert (got, rows) == (code, [])
    assert err.splitlines()[-1].startswith("firal: error: ") and message in err


def test_warnings_are_one_line(folder, capsys, monkeypatch):
    true = firal.fit
    monkeypatch.setattr(picking, "fit", lambda *a, **named: true(*a, **named, max_iter=1))
    options = ("features.npy", "--labeled", "labels.csv", "--budget", 2)
    code, rows, err = run(capsys, *options)
    assert code == 0 and len(rows) == 2
    assert "firal: warning: fit did not converge in 1 iterations" in err
    assert run(capsys, *options, "--quiet")[2] == ""


def test_progress_is_shown_off_a_terminal_too(folder, capsys, monkeypatch):
    options = ("features.npy", "--labeled", "labels.csv", "--budget", 2)
    assert "so far" not in run(capsys, *options)[2]  # it took less than two seconds
    monkeypatch.setattr(cli_progress, "FIRST", 0.0)
    monkeypatch.setattr(cli_progress, "LATER", (1e-3, 2e-3, 3e-3, 4e-3))
    err = run(capsys, *options)[2]
    assert re.search(r"^firal: [\w .]+, \d+ s so far$", err, re.MULTILINE)
    for silent in ("--no-progress", "--quiet"):
        assert "so far" not in run(capsys, *options, silent)[2]


def test_what_is_shown():
    """Plain lines, or one line that is rewritten on a terminal and removed at the end."""
    ticker = cli_progress.Ticker(io.StringIO())
    ticker("greedy", 10, 40)
    ticker.began -= 20
    ticker.stage_began -= 10
    assert ticker.text() == "firal: picking, 10 of 40, 20 s so far, about 30 s left"
    ticker("relax", 7, 1000)  # the most it may take says nothing
    assert ticker.text() == "firal: weighing the points, step 7, 20 s so far"
    ticker("reading x.csv")
    assert ticker.text() == "firal: reading x.csv, 20 s so far"


@pytest.mark.parametrize("terminal", [False, True])
def test_a_thread_shows_it(monkeypatch, terminal):
    monkeypatch.setattr(cli_progress, "FIRST", 0.01)
    monkeypatch.setattr(cli_progress, "REFRESH", 0.01)
    stream = io.StringIO()
    ticker = cli_progress.Ticker(stream, terminal=terminal)
    ticker("one long product")
    with ticker:
        time.sleep(0.2)  # nobody reports anything
    text = stream.getvalue()
    if terminal:
        assert text.count("\r") > 3 and text.endswith("\r") and "\n" not in text
    else:
        assert re.fullmatch(r"firal: one long product, \d s so far\n", text)


def test_it_is_said_before_what_will_happen(folder, capsys):
    head = "firal: 178 points, 13 features; 9 labeled in 3 classes (class_1 4, class_0 3, class_2 2"
    err = run(capsys, "features.npy", "--labeled", "labels.csv", "--budget", 2)[2]
    assert err.startswith(head)
    assert "169 to choose from; firal-ridge, full matrices of order 36: about 1 s, 1 MB\n" in err
    err = run(capsys, "features.npy", "--budget", 2, "--strategy", "random")[2]
    assert (
        err == "firal: 178 points, 13 features; 0 labeled in 0 classes, 178 to choose from; rando"
        "m: about 1 s, 1 MB\n"
    )


def test_what_is_impossible_is_refused_at_once_with_what_helps(folder, capsys, monkeypatch):
    monkeypatch.setattr(cli_announce, "total_memory", lambda: 60_000)
    monkeypatch.setattr(firal, "next_batch", lambda *_, **__: pytest.fail("too late"))
    options = ("features.npy", "--labeled", "labels.csv", "--budget", 2)
    code, rows, err = run(capsys, *options)
    assert (code, rows) == (2, []) and "firal-ridge is not possible here: it needs 1 MB of" in err
    assert re.search(r"--pca \d takes about 1 s", err)
    monkeypatch.setattr(cli_announce, "total_memory", lambda: 10)
    assert "use fewer features (--pca) or fewer points" in run(capsys, *options)[2]


def test_what_is_long_is_said_with_what_is_quicker(folder, capsys, monkeypatch):
    monkeypatch.setattr(cli_announce, "machine_rate", lambda: 3e4)
    monkeypatch.setattr(work, "STEP", 0.0)  # what fewer features do not save
    monkeypatch.setattr(estimate, "SLOW", 1000.0)
    err = run(capsys, "features.npy", "--labeled", "labels.csv", "--budget", 2)[2]
    assert re.search(r"this is long: --pca \d+ takes about \d+ min", err)


def wine_table(folder, labels, **columns):
    """points.csv with a column kind, and others in front."""
    with open(folder / "points.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*columns, *WINE.feature_names, "kind"])
        for row, x in enumerate(WINE.data.tolist()):
            writer.writerow([*(column[row] for column in columns.values()), *x, labels[row]])
    return ("points.csv", "--label-column", "kind", "--budget", 4)


def blank_but(**labels):
    kinds = [NAMES[row] if row in KNOWN else "" for row in range(178)]
    for row, label in labels.items():
        kinds[int(row[1:])] = label
    return kinds


def test_random_differs_from_round_to_round(folder, capsys):
    """With one seed for all rounds, ten rounds of ten would draw the same places of the pool."""
    seen, lines, before = [], ["row,label"], []
    for k in range(6):
        (folder / "all.csv").write_text("\n".join(lines))
        options = ("--labeled", "all.csv") if k else ()
        rows = run(capsys, "features.npy", *options, "--budget", 10, "--strategy", "random")[1]
        free = np.setdiff1d(np.arange(178), seen)
        places = np.sort(np.searchsorted(free, rows)) / len(free)  # as shares of the pool
        lines += [f"{row},{NAMES[row]}" for row in rows]
        seen += rows
        if k:
            assert (
                np.abs(places - before).max() > 0.05
            )  # one seed: the same shares but for rounding
        before = places
    assert len(set(seen)) == 60


def test_a_label_among_the_features_is_refused_by_name(folder, capsys):
    options = wine_table(folder, blank_but(), target=WINE.target)
    code, rows, err = run(capsys, *options)
    assert (code, rows) == (2, []) and "'target', which is named like a label" in err
    assert err.endswith("(--label-column, --id-column, --ignore, --feature)\n")
    code, _, err = run(capsys, *options, "--ignore", "target")
    assert code == 0 and "features: alcohol, malic_acid, ash, " in err and "target" not in err
    code, _, err = run(capsys, *options, "--feature", "target")
    assert code == 0 and "features: target, alcohol, " in err and "14 features" in err


def test_a_label_under_another_name_is_warned_about(folder, capsys):
    kinds = [NAMES[row] if row % 5 == 0 else "" for row in range(178)]
    err = run(capsys, *wine_table(folder, kinds, grape=WINE.target))[2]
    assert "firal: warning: the feature 'grape' has one value per class: is it the label?" in err
    assert "warning" not in run(capsys, *wine_table(folder, kinds))[2]


def test_suspicious_classes_must_be_mapped_or_confirmed(folder, capsys):
    options = wine_table(folder, blank_but(r3="?", r5="Class_0", r7="N/A"))
    code, rows, err = run(capsys, *options)
    assert (code, rows) == (2, [])
    assert "'?' (1 label) looks like no label; 'N/A' (1 label) looks like no label; " in err
    assert "'class_0' (3) and 'Class_0' (1) differ by case only" in err
    assert err.endswith("(--map OLD=NEW, --unlabeled, --class)\n")
    options += ("--unlabeled", "?", "--map", "Class_0=class_0")
    assert "'N/A'" in run(capsys, *options)[2]
    code, rows, err = run(capsys, *options, "--map", "N/A=")
    assert code == 0 and "10 labeled in 3 classes (class_0 4, class_1 4, class_2 2)" in err
    code, rows, err = run(capsys, *options, "--class", "N/A")
    assert code == 0 and "11 labeled in 4 classes" in err and "N/A 1" in err


def test_headerless_labels_name_ids(folder, capsys):
    """`7,cat` is about the point with the id 7, wherever it stands."""
    ids = [str((row * 5 + 2) % 178) for row in range(178)]
    options = wine_table(folder, [""] * 178, case=ids)
    (folder / "ids.csv").write_text("\n".join(f"{ids[row]},{NAMES[row]}" for row in KNOWN))
    options = (options[0], "--ignore", "kind", "--id-column", "case", "--budget", 6)
    code, rows, _ = run(capsys, *options, "--labeled", "ids.csv")
    assert code == 0
    assert rows == run(capsys, "features.npy", "--labeled", "labels.csv", "--budget", 6)[1]


def test_a_batch_that_waits_for_labels_is_not_picked_again(folder, capsys):
    base = ("features.npy", "--labeled", "labels.csv", "--budget", 8)
    assert run(capsys, *base, "--output", "one.csv")[0] == 0
    one = [int(line["row"]) for line in csv.DictReader(open("one.csv"))]
    code, two, err = run(capsys, *base, "--exclude", "one.csv")
    assert code == 0 and not set(one) & set(two) and "; 8 left out; " in err
    lines = (folder / "one.csv").read_text().splitlines()
    half = [line + ("," + NAMES[one[k]] if k < 4 else ",") for k, line in enumerate(lines[1:])]
    (folder / "one.csv").write_text("\n".join([lines[0] + ",label", *half]))
    code, two, err = run(capsys, *base, "--labeled", "one.csv")
    assert code == 0 and not set(one) & set(two) and "13 labeled" in err and "; 4 pending; " in err
    assert run(capsys, *base, "--exclude", "none.csv")[0] == 2
    assert "no column 'x'" in run(capsys, *base, "--ignore", "x")[2]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "parquet", "xlsx"])
def test_the_output_has_the_format_of_its_suffix(folder, capsys, suffix):
    pytest.importorskip("pyarrow")
    pytest.importorskip("openpyxl")
    pandas = pytest.importorskip("pandas")
    options = ("features.npy", "--labeled", "labels.csv", "--budget", 3)
    want = run(capsys, *options)[1]
    assert run(capsys, *options, "--output", f"picks.{suffix}")[0] == 0
    if suffix == "json":
        answer = json.loads((folder / "picks.json").read_text())
        assert answer["rows"] == want and answer["features"] == [str(k) for k in range(13)]
        assert answer["classes"] == {"class_0": 3, "class_1": 4, "class_2": 2}
        return
    readers = {"csv": pandas.read_csv, "tsv": pandas.read_table, "parquet": pandas.read_parquet}
    table = readers.get(suffix, pandas.read_excel)(folder / f"picks.{suffix}")
    assert table["row"].tolist() == want and table["rank"].tolist() == [1, 2, 3]
    table["label"] = NAMES[want]  # and the labeled batch is read again, in its format
    writers = {"csv": table.to_csv, "parquet": table.to_parquet, "xlsx": table.to_excel}
    if suffix in writers:
        writers[suffix](folder / f"next.{suffix}", index=False)
        err = run(capsys, *options, "--labeled", f"next.{suffix}")[2]
        assert "12 labeled in 3 classes" in err


def test_an_unknown_format_is_refused_before_the_work(folder, capsys, monkeypatch):
    monkeypatch.setattr(cli_select, "read_points", lambda *_, **__: pytest.fail("too late"))
    for name in ("picks.xls", "picks", "picks.txt.gz"):
        code, _, err = run(capsys, "features.npy", "--budget", 3, "--output", name)
        assert code == 2 and "an output must end in .csv, .tsv, .txt, .json, .parquet, .xls" in err
    code, _, err = run(
        capsys, "features.npy", "--budget", 3, "--output", "p.csv", "--format", "json"
    )
    assert code == 2 and "--format must be that of --output, p.csv, got json" in err


def command(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "firal", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,
    )


def test_as_a_program(folder):
    process = command("--version")
    assert process.communicate()[0] == f"firal {firal.__version__}\n" and process.returncode == 0
    process = command("select", "--help")
    assert "examples:" in process.communicate()[0] and process.returncode == 0
    process = command()
    _, err = process.communicate()
    assert process.returncode == 2 and err.startswith("firal: error: ") and err.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_interrupted(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.normal(size=(60_000, 20)).astype(np.float32))
    np.save(tmp_path / "y.npy", np.r_[np.arange(10), np.full(59_990, np.nan)])
    process = command(
        *("select", "X.npy", "--labeled", "y.npy", "--budget", "50", "--output", "p.csv"),
        cwd=tmp_path,
        # a shell lets its background jobs ignore Ctrl-C, and a test may run in one
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        first = process.stderr.readline()  # it has begun
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
    finally:
        process.kill()
    assert first.startswith("firal: 60000 points")
    assert (process.returncode, out) == (130, "") and err == "firal: error: interrupted\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["X.npy", "y.npy"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("module", "code_at_end"), [("numpy", 130), ("scipy", -9)])
def test_interrupted_inside_one_long_matrix_operation(module, code_at_end):
    """Python hears of Ctrl-C only after the factorization, which takes many seconds.

    numpy lets other threads run meanwhile, and scipy does not.
    """
    code = (
        f"import numpy as np, {module}.linalg as linalg\n"
        "from firal.cli_progress import ends_at_once\n"
        "A = np.random.default_rng(0).normal(size=(4000, 4000))\n"
        "A += A.T\n"
        "with ends_at_once():\n"
        "    print('begun', flush=True)\n"
        "    linalg.eigh(A)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.5)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=100)
        seconds = time.monotonic() - start
    finally:
        process.kill()
    assert process.returncode == code_at_end and "firal: error: interrupted\n" in err
    assert seconds < 10  # two times 0.8, on a busy machine; the operation takes three times as long


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_closed_pipe_is_no_error(folder):
    process = command("select", "features.npy", "--budget", "3", "--quiet")
    process.stdout.close()
    assert process.wait(timeout=60) == 0 and process.stderr.read() == ""
    process.stderr.close()


def open_files():
    gc.collect()
    return set(os.listdir("/dev/fd")) if os.path.isdir("/dev/fd") else set()


@pytest.mark.parametrize("missing", ["threads", "processes"])
def test_the_command_runs_where_nothing_can_be_started(missing, tmp_path, monkeypatch, capsys):
    """As in a browser; no file descriptor is left open."""

    def no(*_, **__):
        raise (RuntimeError if missing == "threads" else OSError)(f"no {missing}")

    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(20, 3)))
    if missing == "threads":
        monkeypatch.setattr(threading.Thread, "start", no)
    else:
        monkeypatch.setattr(subprocess, "Popen", no)
    before = open_files()
    assert cli.main(["select", str(tmp_path / "x.npy"), "--budget", "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert open_files() <= before  # a worker of the test run may close one of its own meanwhile
