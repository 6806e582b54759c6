"""Before the work: one line of what will happen and what it takes; a refusal of what cannot be."""

from __future__ import annotations

import argparse
import logging
from collections import Counter

import numpy as np

from firal.common.rounds import check_budget
from firal.data.classes import table_of_classes
from firal.data.columns import listed_features
from firal.data.points import Points, telling
from firal.engine.homes import as_home
from firal.engine.passes import Home
from firal.estimate import (
    SLOW,
    estimate,
    estimate_streamed,
    fewer_features,
    machine_rate,
    size_text,
    time_text,
    total_memory,
    why_impossible,
)
from firal.placement import is_held, largest_held

log = logging.getLogger("firal")


def announce(
    points: Points,
    options: argparse.Namespace,
    pending: list[int],
    excluded: list[int],
    P: np.ndarray | None = None,
) -> None:
    """Say what will happen and what it takes; refuse what is impossible.

    Parameters
    ----------
    points : Points
        The pool.
    options : argparse.Namespace
        Of the command.
    pending, excluded : list of int
        Rows that are not to be picked.
    P : np.ndarray of shape (n, c), optional
        Class probabilities in place of a model.

    Raises
    ------
    ValueError
        If there are too few points, or the machine has too little memory; the message says what
        helps.
    """
    X = points.features
    if len(X.shape) != 2:
        return  # the module refuses it
    n, d = X.shape
    out = {*points.labels, *pending, *excluded}
    check_budget(options.budget, n - len(out))
    classes = Counter(points.labels.values())
    if points.has_header:
        log.info(f"features: {listed_features(points.names)}")
    for name in telling(points):
        log.warning(f"warning: the feature {name!r} has one value per class: is it the label?")
    parts = [f"{n} points, {d} features; {len(points.labels)} labeled in {len(classes)} classes"]
    if classes:
        parts[0] += f" ({table_of_classes(points.labels)})"
    parts[0] += f", {n - len(out)} to choose from"
    if pending:
        parts.append(f"{len(pending)} pending")
    if excluded:
        parts.append(f"{len(set(excluded))} left out")
    n_classes = len(classes)
    if P is not None:
        n_classes = max(n_classes, P.shape[1])
        parts.append(f"no fit: probabilities of {P.shape[1]} classes from {options.probabilities}")

    columns = d if options.pca is None else options.pca
    most = largest_held(columns, n_classes, options.budget, options.strategy, P is not None)
    if isinstance(X, Home) or not is_held(n, d, most):
        plan = estimate_streamed(
            n,
            d,
            columns + options.intercept,
            n_classes,
            len(points.labels),
            options.budget,
            options.strategy,
        )
        time, memory = time_text(plan.seconds(machine_rate())), size_text(plan.memory)
        where = as_home(X).kind
        log.info("; ".join([*parts, f"read block by block from {where}: {time}, {memory}"]))
        return

    def plan_for(pca):
        features = (d if pca is None else pca) + options.intercept
        m = max(n - len(out), 1)
        return estimate(
            m, features, n_classes, len(points.labels), options.budget, options.strategy
        )

    plan, rate, memory = plan_for(options.pca), machine_rate(), total_memory()
    quicker = fewer_features(plan_for, d if options.pca is None else options.pca, rate, memory)
    remedy = "use fewer features (--pca) or fewer points"
    if quicker:
        k, better = quicker
        remedy = f"--pca {k} takes {time_text(better.seconds(rate))}, {size_text(better.memory)}"
    reason = why_impossible(plan, memory)
    if reason:
        raise ValueError(f"{options.strategy} is not possible here: {reason}; {remedy}")
    how = {
        "full": f", full matrices of order {plan.order}",
        "block-diagonal": f", {max(n_classes, 2)} blocks of order {plan.order}",
        "wide": f", {plan.order} columns without a matrix",
        "none": "",
    }[plan.structure]
    seconds = plan.seconds(rate)
    parts.append(f"{options.strategy}{how}: {time_text(seconds)}, {size_text(plan.memory)}")
    log.info("; ".join(parts))
    if seconds > SLOW and quicker:
        log.info(f"this is long: {remedy}")
