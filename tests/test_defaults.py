"""Default arguments: those of this table, and those that the docstrings promise.

Tests pass small values for speed, so nothing else holds what a user gets who passes none.
"""

import ast
import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest

import firal
from firal import pipeline

# {function: its defaults other than None}
DEFAULTS = {
    "model.fitting.fit": {"ridge": 0.0, "penalty": "reference", "tol": 1e-8, "max_iter": 100},
    "engine.clusters.cluster_centers": {"starts": 3},
    "engine.columns.check_numbers": {"start": 0},
    "engine.moments.streamed_feature_map": {
        "standardize": True,
        "robust": False,
        "intercept": True,
    },
    "engine.regression.fit_by_blocks": {"penalty": "reference", "tol": 1e-8, "max_iter": 100},
    "engine.scaling.FeatureMap.apply": {"dtype": np.float64},
    "engine.scaling.model_features": {"standardize": True, "robust": False, "intercept": True},
    "engine.scaling.feature_map": {"standardize": True, "robust": False, "intercept": True},
    "engine.typical.neighbor_distance": {"neighbors": 10},
    "model.packing.packed_curvature": {"weights": 1.0},
    "selection.block_diagonal.prepare_blocks": {
        "ridge": 0.0,
        "if_too_large": "blocks are for distinct points",
    },
    "selection.block_rounding.BlockScorer.best": {"ratio": np.inf},
    "selection.block_rows._some": {"piece": 4096},
    "selection.few_points.least_objective": {"first_squares": 0.0},
    "selection.normalizer.from_eigenvalues": {"weights": 1.0},
    "selection.normalizer.from_factors": {"miss": 0.0, "scale": 1.0},
    "selection.runs.rounded": {"replace": False},
    "selection.scoring.PoolScorer.best": {"ratio": np.inf},
    "selection.summed_blocks.SummedBlocks.__init__": {"penalty": 0.0},
    "selection.wide.select_wide": {"tol": 0.1},
    "selection.adaptive.adaptive_sparsify": {
        "ridge": 0.0,
        "structure": "auto",
        "candidates": "all",
        "replace": False,
    },
    "selection.bait.bait": {"ridge": 0.0, "structure": "auto"},
    "selection.candidates.bait_from_candidates": {"tol": 0.1},
    "selection.candidates.select_from_candidates": {"rounding": "ftrl", "tol": 1e-2},
    "selection.end_to_end.select": {
        "ridge": 0.0,
        "structure": "auto",
        "replace": False,
        "capped": True,
        "tol": 1e-2,
    },
    "selection.fir_estimate.estimate_fir": {"ridge": 0.0, "probes": 32, "confidence": 0.95},
    "selection.fir_estimate.pair_spectrum": {"ridge": 0.0},
    "selection.ftrl.sparsify": {
        "ridge": 0.0,
        "structure": "auto",
        "candidates": "all",
        "replace": False,
    },
    "selection.greedy.greedy": {"replace": False},
    "selection.inputs.checked_inputs": {"ridge": 0.0},
    "selection.penalized.select_penalized": {"ridge": 1e-2},
    "selection.problem.prepare_problem": {"ridge": 0.0, "factorize": True},
    "selection.problem.problem_of": {"factorize": True},
    "selection.relaxation.relax": {
        "ridge": 0.0,
        "structure": "auto",
        "capped": True,
        "tol": 1e-2,
        "max_iter": 1000,
    },
    "selection.streamed.prepare_streamed": {"ridge": 0.0, "effects": 0.0, "structure": "full"},
    "selection.structure.prepare": {"ridge": 0.0, "factorize": True},
    "selection.structure.prepare_with_weights": {
        "structure": "full",
        "ridge": 0.0,
        "factorize": False,
    },
    "theory.bounds.alpha": {"C3": 1.0},
    "theory.bounds.sample_bounds": {"C1": 1.0, "C2": 1.0},
    "theory.bounds.bounded_domain": {"printed": False},
    "theory.orlicz.psi_norm_density": {"support": (-np.inf, np.inf)},
    "theory.orlicz.quadrature": {"low": -np.inf, "high": np.inf},
    "theory.second_order.second_order": {"fixed_design": False},
    "theory.transforms.dilate": {"center": 0.0},
    "theory.transforms.solve_dilation": {"center": 0.0},
    "pipeline.next_batch": {
        "strategy": "firal-ridge",
        "standardize": True,
        "intercept": True,
        "rng": 0,
    },
}


def defaults_of(function):
    """{parameter: default}, where there is one."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}


def resolved(name):
    """The function behind a dotted name below ``firal``."""
    parts, place = name.split("."), 2 if name.startswith("pipeline") else 3
    found = importlib.import_module(".".join(["firal", *parts[: place - 1]]))
    for part in parts[place - 1 :]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_those_of_the_table(name):
    assert said(resolved(name)) == DEFAULTS[name]


def said(function):
    """Its defaults but None, and but the number of threads, on which no result depends."""
    found = defaults_of(function).items()
    return {key: value for key, value in found if value is not None and key != "threads"}


def functions_of(module):
    """(name, function) of all functions and methods that a module defines."""
    for name, found in vars(module).items():
        if getattr(found, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(found):
            yield name, found
        elif inspect.isclass(found):
            for key, method in vars(found).items():
                if inspect.isfunction(method) and method.__module__ == module.__name__:
                    yield f"{name}.{key}", method


def test_the_table_is_complete():
    """So mutation testing need not change them."""
    seen = set()
    for package in ("model", "information", "engine", "selection", "theory"):
        where = importlib.import_module(f"firal.{package}")
        for info in pkgutil.iter_modules(where.__path__):
            module = importlib.import_module(f"{where.__name__}.{info.name}")
            functions = functions_of(module)
            seen |= {f"{package}.{info.name}.{name}" for name, f in functions if said(f)}
    seen |= {f"pipeline.{name}" for name, f in functions_of(pipeline) if said(f)}
    assert seen == set(DEFAULTS)


def documented():
    """(function, parameter, default in its docstring) for all functions of the module."""
    for package in ("model", "information", "engine", "selection", "theory", None):
        where = importlib.import_module(f"firal.{package}" if package else "firal")
        for info in pkgutil.iter_modules(where.__path__):
            if info.ispkg or info.name == "__main__":
                continue
            module = importlib.import_module(f"{where.__name__}.{info.name}")
            for function in vars(module).values():
                if inspect.isfunction(function) and function.__module__ == module.__name__:
                    pattern = r"^ *(\w[\w, ]*) : .*\bdefault ([^\s,]+)$"
                    for names, text in re.findall(pattern, function.__doc__ or "", re.MULTILINE):
                        for name in names.split(", "):
                            yield function, name, text


def test_docstrings_promise_the_defaults_of_the_code():
    seen = 0
    for function, name, text in documented():
        try:
            promised = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            continue  # a name or a phrase
        found = defaults_of(function)[name]
        assert found == promised, f"{function.__module__}.{function.__name__}: {name}"
        seen += 1
    assert seen > 40


def test_the_public_names_have_them_too():
    assert firal.relax is resolved("selection.relaxation.relax")
    assert firal.select is resolved("selection.end_to_end.select")
    assert firal.next_batch is resolved("pipeline.next_batch")
