"""The record of the runs on tables: one file of plain arrays, written after every table.

It says what it was made with, and is refused for other settings. ``check`` fits again on the picks
of one start and compares the accuracies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from firal.companion.table_runs import COUNTS, POINTS, Runs, batch_size, draw_start, score
from firal.data.writing import replacing
from firal.engine.scaling import model_features


def complete(path, tables: Sequence[str], load: Callable, settings: dict, run: Callable) -> int:
    """Run the tables that a record lacks and write it after every table; returns their number.

    load, run   name -> (X, y), and (X, y) -> ``Runs``
    """
    done = 0
    for name in tables:
        found = read(path, settings) if Path(path).is_file() else {}
        if name not in found:
            _write(path, found | {name: run(*load(name))}, settings)
            done += 1
    return done


def read(path, settings: dict) -> dict[str, Runs]:
    """The runs of a record by table; ValueError if it was made with other settings."""
    path = Path(path)
    with np.load(path, allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    recorded, wanted = json.loads(str(arrays["settings"])), json.loads(json.dumps(settings))
    if recorded != wanted:
        raise ValueError(
            f"{path.name} was recorded with {recorded}, expected {wanted}: use those settings, or "
            "remove the file and run the tables again"
        )
    names = [key.removesuffix(".methods") for key in arrays if key.endswith(".methods")]
    out = {}
    for name in names:
        fields = {field: arrays[f"{name}.{field}"] for field in Runs._fields}
        fields["methods"] = tuple(fields["methods"].tolist())
        out[name] = Runs(**fields)
    return out


def check(runs: Runs, X, y, *, seed: int = 0, start: int = 0, points: int = POINTS) -> int:
    """Fit again on the picks of one start; ValueError unless all accuracies are found again.

    Returns the number of fits.
    """
    drawn = draw_start(X, y, start, seed=seed, points=points)
    F, b, fits = model_features(drawn.X), batch_size(y), 0
    for i, name in enumerate(runs.methods):
        for k in range(COUNTS):
            if runs.picks[i, start, 0] < 0:
                continue
            now = score(F, drawn.y, runs.picks[i, start, : (k + 1) * b])[0]
            recorded = runs.accuracy[i, start, k]
            if not abs(now - recorded) <= 2 / len(F):  # what another BLAS may do
                raise ValueError(
                    f"the picks of {name} give accuracy {now:.4f} with {(k + 1) * b} labels, but "
                    f"{recorded:.4f} is recorded: the record does not fit the table"
                )
            fits += 1
    return fits


def _write(path, found, settings):
    path = Path(path)
    arrays = {"settings": np.array(json.dumps(settings, sort_keys=True))}
    for name, runs in found.items():
        kept = runs._asdict() | {
            "methods": np.array(runs.methods),
            "accuracy": runs.accuracy.astype(np.float32),
            "balanced": runs.balanced.astype(np.float32),
            "picks": runs.picks.astype(np.int16),
        }
        arrays |= {f"{name}.{field}": array for field, array in kept.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)
