"""``firal select``: read files, say what will happen, pick, write the picks.

Nothing is remembered between two calls; ``firal init`` begins a session that does.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

import firal
from firal.cli_announce import announce
from firal.cli_output import check_output, write
from firal.cli_progress import Ticker
from firal.data.classes import refuse_doubts
from firal.data.labels import read_rows
from firal.data.output import check_suffix, table_bytes
from firal.data.points import Points, read_points
from firal.data.probabilities import read_probabilities
from firal.data.streams import dask_client


def run(options: argparse.Namespace, ticker: Ticker) -> None:
    """Run the command.

    Parameters
    ----------
    options : argparse.Namespace
        As ``firal.cli_options`` makes them.
    ticker : Ticker
        Where to report progress.

    Raises
    ------
    ValueError
        If the input is bad or the selection impossible.
    """
    check_output(options.output, _sources(options), options.overwrite, options.format)
    ticker(f"reading {options.features.name}")
    with dask_client(options.dask):
        _select(options, ticker)


def _select(options, ticker):
    labeled, dask = options.labeled, options.dask is not None
    points = read_points(options.features, **reading(options), labeled=labeled, dask=dask)
    refuse_doubts(points.labels, options.confirmed_class)
    n, excluded = len(points.features), []
    for path in options.exclude:
        excluded += read_rows(path, n, points.ids, options.id_column, options.header)
    pending = [row for row in points.pending if row not in set(excluded)]
    P = probabilities(options, points, options.id_column, points.labels.values(), options.header)
    announce(points, options, pending, excluded, P)
    ticker("fitting the model")
    batch = firal.next_batch(
        points.features,
        points.labels,
        options.budget,
        **model_options(options),
        exclude=excluded,
        pending=pending,
        probabilities=P,
        rng=options.seed,
        progress=ticker,
    )
    write(options, rendered(options, batch, points))


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments of ``read_points`` that the options stand for.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command.

    Returns
    -------
    dict
        All but the files of labels.
    """
    return {
        "id_column": options.id_column,
        "label_column": options.label_column,
        "ignore": options.ignore,
        "confirmed": options.feature,
        "header": options.header,
        "unlabeled": options.unlabeled,
        "renamed": dict(options.map),
        "one_hot": options.one_hot,
        "impute": options.impute,
    }


def probabilities(
    options: argparse.Namespace,
    points: Points,
    id_column: str | None,
    labels: Iterable[str],
    header: bool | None = None,
) -> np.ndarray | None:
    """Read the class probabilities that the options name.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command.
    points : Points
        The pool.
    id_column : str, optional
        Name of the column of ids.
    labels : iterable of str
        Labels so far.
    header : bool, optional
        Whether texts begin with a header.

    Returns
    -------
    np.ndarray of shape (n, c), or None
        None if the option is not there.
    """
    if options.probabilities is None:
        return None
    n, classes = len(points.features), sorted(set(labels))
    return read_probabilities(options.probabilities, n, points.ids, id_column, header, classes)


def model_options(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments of ``next_batch`` that the options stand for.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command.

    Returns
    -------
    dict
        Strategy and model.
    """
    names = ("strategy", "ridge", "standardize", "robust", "pca", "intercept", "eta")
    return {name: getattr(options, name) for name in names}


def rendered(options: argparse.Namespace, batch: firal.Batch, points: Points) -> bytes:
    """Make the file of the picks.

    Parameters
    ----------
    options : argparse.Namespace
        Of the command.
    batch : Batch
        The picks.
    points : Points
        The pool.

    Returns
    -------
    bytes
        A table with rank, row and perhaps id; or JSON with classes and certificate too.
    """
    rows, ids = batch.rows.tolist(), points.ids
    suffix = f".{options.format}" if options.format else ".csv"
    if options.format is None and options.output is not None:
        suffix = check_suffix(options.output)
    if suffix != ".json":
        names, columns = ["rank", "row"], [list(range(1, len(rows) + 1)), rows]
        if ids is not None:
            names.append(options.id_column)
            columns.append([ids[row] for row in rows])
        return table_bytes(names, columns, suffix)
    answer = {"firal": firal.__version__, "strategy": batch.strategy, "rows": rows}
    if ids is not None:
        answer["ids"] = [ids[row] for row in rows]
    answer["classes"] = dict(zip(map(str, batch.classes), batch.counts.tolist(), strict=True))
    answer["features"] = points.names
    if batch.selection is not None:
        answer["eta"] = batch.selection.eta
        answer["objective"] = _finite(batch.selection.objective)
        answer["ratio"] = _finite(batch.selection.ratio)
        answer["lambda_min"] = _finite(batch.selection.lambda_min)
        answer["relaxation_gap"] = batch.selection.relaxation.gap
    return (json.dumps(answer, indent=1) + "\n").encode()


def _finite(value):
    """None for what JSON has no number for, such as what wide designs do not compute."""
    return value if value is not None and np.isfinite(value) else None


def _sources(options):
    paths = [options.features, *options.labeled, *options.exclude]
    paths += [] if options.probabilities is None else [options.probabilities]
    return [path for path in paths if path.exists()]
