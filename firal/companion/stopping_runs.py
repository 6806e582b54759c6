"""What the rule to stop of ``firal status`` does: sessions with all labels at hand, round by round.

A *run* is a session as a user has it: a random part of the pool is held out, every batch is picked
by ``firal.next_batch`` from no label on, and after each the model of ``firal status`` is fitted.
Kept are the number of labels, the accuracy on all points that are not held out, the held-out points
that are right, kappa between this model and the last, and the number of classes seen. The rule is
applied to what was kept, so that other thresholds can be tried without a run.

The record is a table of text, one line per round, to which every finished run is added.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import NamedTuple, get_type_hints

import numpy as np
from threadpoolctl import threadpool_limits

from firal.companion.prepare.tables import load_table
from firal.data.datasets import load_pool
from firal.data.writing import replace_file
from firal.engine.scaling import model_features
from firal.pipeline import next_batch
from firal.selection.penalized import RIDGE
from firal.session.evaluation import STABLE, WINDOW, cohen_kappa
from firal.session.fitted_model import fitted

HELD_OUT = 50
EIGENVECTORS = {"standardize": False, "intercept": False}  # as the chapter on use advises


class Setting(NamedTuple):
    """One pool and how it is labeled.

    batch, rounds    size and number of batches
    starts           number of runs
    points           drawn from the pool for each run
    options          of ``firal.next_batch``
    """

    batch: int
    rounds: int
    starts: int
    points: int
    options: dict


SETTINGS = {
    "wine": Setting(6, 10, 10, 178, {}),
    "breast_cancer": Setting(8, 15, 10, 569, {}),
    "digits": Setting(10, 30, 8, 1797, {"pca": 15}),
    "mnist60k": Setting(10, 40, 8, 3000, EIGENVECTORS),
    "cifar10": Setting(10, 40, 8, 3000, EIGENVECTORS),
    "cifar10-supervised": Setting(10, 40, 8, 3000, EIGENVECTORS),
    "imagenet50": Setting(50, 20, 3, 3000, EIGENVECTORS),
}


class Point(NamedTuple):
    """What was known after one round of a run; the fields are the columns of the record."""

    pool: str
    start: int
    round: int
    labels: int
    accuracy: float  # on the points that are not held out
    right: int  # of the held-out points
    tested: int
    kappa: float  # NaN after the first model
    classes: int  # that have a label
    all_classes: int


class Stop(NamedTuple):
    """Where a rule stopped a run; ``labels`` is None if it never did.

    lost     points of accuracy below those with all labels of the run
    missing  classes without a label at the stop
    """

    labels: int | None
    of: int
    lost: float
    missing: int


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and classes of a pool of ``SETTINGS``."""
    if name in ("wine", "breast_cancer", "digits"):
        return load_table(name)
    name, _, supervised = name.partition("-")
    features = None if name == "mnist60k" else supervised or "selfsup"
    pool = load_pool(name, features=features)
    return pool.features, pool.labels


def run(X, y, setting: Setting, start: int, name: str = "") -> list[Point]:
    """One session; ``start`` draws its points, its held-out part and its seed."""
    rng = np.random.default_rng([start, 21])
    rows = rng.permutation(len(X))[: setting.points]
    X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
    held_out = np.sort(rng.choice(len(X), size=HELD_OUT, replace=False))
    others = np.setdiff1d(np.arange(len(X)), held_out)
    options = {"standardize": True, **setting.options}
    features = model_features(X, **options, robust=options["standardize"])
    truth, known, before, found = y.astype(str), {}, None, []
    for number in range(1, setting.rounds + 1):
        batch = next_batch(
            X, known or None, setting.batch, exclude=held_out, rng=start, **setting.options
        )
        known |= {int(row): truth[row] for row in batch.rows}
        model = fitted(features, known, RIDGE)
        if model is None:
            continue
        now = model.predict(features)
        right = now == truth
        found.append(
            Point(
                pool=name,
                start=start,
                round=number,
                labels=len(known),
                accuracy=round(float(right[others].mean()), 5),
                right=int(right[held_out].sum()),
                tested=HELD_OUT,
                kappa=float("nan") if before is None else round(cohen_kappa(before, now), 5),
                classes=len(set(known.values())),
                all_classes=int(y.max()) + 1,
            )
        )
        before = now
    return found


def complete(path, pools=tuple(SETTINGS), report=print) -> int:
    """Run what a record lacks, and add every run when it is finished; returns their number."""
    done = 0
    for name in pools:
        X = y = None
        for start in range(SETTINGS[name].starts):
            kept = read(path) if Path(path).is_file() else []
            if any((point.pool, point.start) == (name, start) for point in kept):
                continue
            X, y = load(name) if X is None else (X, y)
            with threadpool_limits(1):
                new = run(X, y, SETTINGS[name], start, name)
            write(path, [*kept, *new])
            done += 1
            report(f"{name}, start {start}: {new[-1]}")
    return done


def write(path, points) -> None:
    """Write the record, all or nothing."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Point._fields)
    writer.writerows(points)
    replace_file(Path(path), out.getvalue().encode())


def read(path) -> list[Point]:
    """The points of a record; ValueError if its columns are others."""
    with open(path, newline="", encoding="utf8") as file:
        lines = list(csv.reader(file))
    if not lines or tuple(lines[0]) != Point._fields:
        raise ValueError(f"{Path(path).name} must have the columns {', '.join(Point._fields)}")
    kinds = get_type_hints(Point).values()
    return [Point(*(k(cell) for k, cell in zip(kinds, line, strict=True))) for line in lines[1:]]


def stop(points: list[Point], stable: float = STABLE, window: int = WINDOW) -> Stop:
    """Apply the rule to the points of one run, in their order."""
    last = points[-1]
    for k in range(len(points)):
        kappas = [p.kappa for p in points[: k + 1] if not np.isnan(p.kappa)][-window:]
        if len(kappas) == window and min(kappas) >= stable:
            now = points[k]
            lost = 100 * (last.accuracy - now.accuracy)
            return Stop(now.labels, last.labels, lost, now.all_classes - now.classes)
    return Stop(None, last.labels, 0.0, last.all_classes - last.classes)


def by_run(points: list[Point]) -> dict[tuple[str, int], list[Point]]:
    """The points of every run."""
    found = {}
    for point in points:
        found.setdefault((point.pool, point.start), []).append(point)
    return found


if __name__ == "__main__":
    import sys

    complete(*sys.argv[1:2], pools=tuple(sys.argv[2:]) or tuple(SETTINGS))
