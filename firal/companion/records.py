"""Small committed records of long runs: ``notebooks/data/*.npz``.

A comparison of strategies that takes hours is kept as what it decided and measured: per round the
picks, accuracy, Fisher information ratio, numbers of classes, eta and seconds. From it figures and
tables are made again within a minute. A record also says what it belongs to: the settings, the
SHA-256 of the data, and the version of ``firal``. It is refused for other settings or data, and
``check_runs`` fits again on the picks to see that they give the recorded accuracies.
``complete_runs`` computes what a record lacks and writes it after every trial, so hours of work can
be spread over many sessions.

The file holds plain arrays, without pickled objects. ``KIND.FIELD`` has one entry per round of the
runs of that kind; the picks stand one after another in ``KIND.picked``, and the weights z of some
rounds in the rows of ``KIND.z``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from firal.data.writing import replacing
from firal.loop import accuracy, initial_rows
from firal.model.fitting import fit
from firal.trial import Round

NUMBERS = {
    "trial": np.int16,
    "round": np.int16,
    "n_labels": np.int32,
    "accuracy": np.float64,
    "fir": np.float64,
    "classes": np.int16,
    "new_classes": np.int16,
    "seconds": np.float64,
}
TOLERANCE = 1e-3  # share of the pool that another BLAS may classify otherwise


def save_runs(path, kinds, settings, *, weights_of=(), version=None):
    """Write the runs of ``firal.loop.compare`` to one file, replacing it at once.

    kinds       {name: list of Round}, such as one entry per kind of features
    settings    what must be the same for a reader: plain values, such as the seed
    weights_of  trials whose weights z are kept; they take most of the space
    version     of ``firal`` that made the runs (default: this one)
    """
    arrays = {"settings": np.array(json.dumps(settings, sort_keys=True))}
    # From the loaded package, not by an import: a new version does not change what is recorded.
    arrays["version"] = np.array(version or sys.modules["firal"].__version__)
    for kind, rounds in kinds.items():
        if not rounds:
            continue
        found = {
            field: np.array([getattr(r, field) for r in rounds], dtype)
            for field, dtype in NUMBERS.items()
        }
        found["strategy"] = np.array([r.strategy for r in rounds])
        found["eta"] = np.array([np.nan if r.eta is None else r.eta for r in rounds])
        found["n_picked"] = np.array([len(r.picked) for r in rounds], np.int32)
        found["picked"] = np.concatenate([r.picked for r in rounds]).astype(np.int32)
        kept = [i for i, r in enumerate(rounds) if r.z is not None and r.trial in weights_of]
        found["z_of"] = np.array(kept, np.int32)
        found["z"] = np.array([rounds[i].z for i in kept])
        arrays |= {f"{kind}.{field}": array for field, array in found.items()}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)


def load_runs(path, kind, settings, *, strategies, trials, rounds) -> list[Round]:
    """Runs of one kind from a record, in the order of ``firal.loop.compare``.

    The record must have been made with these settings, and hold these strategies for the trials
    0 .. trials - 1 with at least so many rounds.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no record {path.name}: compute the runs, which writes it")
    found = _by_key(_recorded(path, settings), kind)
    keys = [(s, t, k) for t in range(trials) for s in strategies for k in range(rounds + 1)]
    missing = [key for key in keys if key not in found]
    if missing:
        raise ValueError(
            f"{path.name} lacks {len(missing)} of {len(keys)} rounds of the {kind} runs, such as "
            "{} in trial {}, round {}: compute the runs that are missing".format(*missing[0])
        )
    return [found[key] for key in keys]


def complete_runs(path, kind, settings, compute, *, strategies, trials, rounds, weights_of=()):
    """Compute what the record lacks, one trial at a time, and write it after every trial.

    ``compute(trial, strategies)`` gives the rounds of these runs; the other arguments are those of
    ``load_runs`` and ``save_runs``. Returns the number of trials that were computed.
    """
    path, computed = Path(path), 0
    for trial in range(trials):
        arrays = _recorded(path, settings) if path.is_file() else {}
        found = _by_key(arrays, kind)
        missing = [s for s in strategies if (s, trial, rounds) not in found]
        if not missing:
            continue
        kept = [
            r for r in found.values() if (r.strategy, r.trial) not in {(s, trial) for s in missing}
        ]
        others = {k: _rounds(arrays, k) for k in _kinds(arrays) if k != kind}
        new = compute(trial, missing)
        save_runs(path, others | {kind: [*kept, *new]}, settings, weights_of=weights_of)
        computed += 1
    return computed


def _recorded(path, settings):
    """The arrays of a record; ValueError if it was made with other settings."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    recorded, wanted = json.loads(str(arrays["settings"])), json.loads(json.dumps(settings))
    for key in sorted(recorded.keys() | wanted.keys()):
        if recorded.get(key) != wanted.get(key):
            raise ValueError(
                f"{path.name} was recorded with {key} = {recorded.get(key)!r}, "
                f"expected {wanted.get(key)!r}: use those data and settings, or recompute the runs"
            )
    return arrays


def _kinds(arrays):
    return [key.removesuffix(".strategy") for key in arrays if key.endswith(".strategy")]


def _by_key(arrays, kind):
    return {(r.strategy, r.trial, r.round): r for r in _rounds(arrays, kind)}


def _rounds(arrays, kind):
    """The records of one kind as ``Round``; none if the file has no such kind."""
    if f"{kind}.strategy" not in arrays:
        return []
    own = {field: arrays[f"{kind}.{field}"] for field in (*NUMBERS, "strategy", "eta")}
    ends = np.cumsum(arrays[f"{kind}.n_picked"])
    picks = np.split(arrays[f"{kind}.picked"].astype(np.intp), ends[:-1])
    weights = dict(zip(arrays[f"{kind}.z_of"].tolist(), arrays[f"{kind}.z"], strict=True))
    out = []
    for i, picked in enumerate(picks):
        row = {field: column[i].item() for field, column in own.items()}
        row["eta"] = None if np.isnan(row["eta"]) else row["eta"]
        out.append(Round(**row, picked=picked, z=weights.get(i)))
    return out


def check_runs(rounds, pool, labels, *, seed, ridge, trial=0) -> int:
    """Fit on the start and all picks of every strategy in one trial; compare the accuracies.

    Returns the number of fits. Raises ``ValueError`` where a recorded accuracy is not found again.
    """
    runs = {}
    for r in rounds:
        if r.trial == trial:
            runs.setdefault(r.strategy, []).append(r)
    initial = initial_rows(labels, seed, trial)
    n_classes = int(np.max(labels)) + 1
    for strategy, run in runs.items():
        known = np.concatenate([initial, *(r.picked for r in run)])
        theta = fit(pool[known], labels[known], n_classes, ridge).theta
        now, recorded = accuracy(pool, labels, theta), run[-1].accuracy
        if not abs(now - recorded) <= TOLERANCE:
            raise ValueError(
                f"the picks of {strategy} in trial {trial} give accuracy {now:.4f} after round "
                f"{run[-1].round}, but {recorded:.4f} is recorded: the record does not fit the data"
            )
    return len(runs)
