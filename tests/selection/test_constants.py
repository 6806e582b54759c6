"""The numbers that decide what is picked: whoever changes one means to.

The tests of each module set such numbers to small values, to reach every branch. So nothing else
holds the values that are used, and these are part of what the book measured.
"""

import ast
from pathlib import Path

import numpy as np
import pytest

from firal import estimate, picking, pipeline, placement, streaming, work
from firal.engine import categories, clusters, columns, inputs, memory, passes, typical
from firal.model import from_sklearn, newton_system, separation
from firal.selection import (
    accelerated,
    bait,
    block_diagonal,
    block_rows,
    bordered,
    candidates,
    certificate,
    coordinates,
    end_to_end,
    few_points,
    fir_estimate,
    ftrl,
    normalizer,
    penalized,
    ratio_bound,
    reduced,
    relaxation,
    scoring,
    screen,
    solver,
    streamed,
    structure,
    typical_first,
    wide,
    wide_sizes,
    working_set,
)
from firal.session import evaluation
from firal.theory import transforms

NUMBERS = {
    pipeline: {"LARGEST_RIDGE": 1e30},
    placement: {"STREAM_FROM": 2**25, "HELD_FROM": 2**30},
    estimate: {
        "SLOW": 120.0,
        "PER_WIDE": 1.2,
        "CANDIDATES": 12_000,
        "BUFFERS": 2e8,
    },
    work: {
        "PASSES": 4,
        "GROWN": 2.5,
        "STEP": 1e7,
        "PAIR": 28.0,
        "ELIMINATION": 10.0,
        "UPDATE": 150.0,
        "REMOVAL": 300.0,
        "EIGENVALUES": 5.0,
        "CLUSTER": 90.0,
        "CLUSTER_POINT": 2500.0,
        "NEIGHBOR": 55.0,
        "DISTANCE": 1.2,
        "READ": 300.0,
        "BLOCK_POINT": 200.0,
        "BLOCK_UPDATE": 40.0,
    },
    evaluation: {"STABLE": 0.97, "WINDOW": 2},
    clusters: {"TIE": 1e-9, "ROUNDING": 1e-24, "PRODUCTS": 64},
    block_diagonal: {"MOST_BYTES": 8 * 2**30},
    categories: {"COLUMNS": 2.0, "MOST": 512},
    columns: {"LARGEST": 1e50},
    inputs: {"LARGEST_DENSE": 2 * 10**9},
    memory: {
        "FACTOR_BYTES": 2**25,
        "POINTS_PER_THREAD": 1000,
        "BYTES_PER_THREAD": 2**24,
        "MOST_PARTS": 8,
    },
    passes: {"BLOCK_BYTES": 2**22, "PART": 16, "MOST_THREADS": 8},  # the order of all sums
    accelerated: {
        "LARGE_MATRICES": 600,
        "POWER": 2.0,
        "MEMORY": 5,
        "GROWTH": 1e-3,
        "DEEPEST": 60.0,
        "ENOUGH": 0.9,
        "FINEST": 2e-3,
        "MOST_SINGLE": 50,
    },
    typical: {"NEIGHBORS": 10, "ROUNDING": 1e-12},
    newton_system: {"SMALL_SYSTEM": 32, "MEDIUM_SYSTEM": 2000, "MAX_CG": 100},
    from_sklearn: {"AGREEMENT": 1e-6, "SMALLEST": 1e-100},
    separation: {"FEASIBLE": 1e-7, "PROGRAM_LIMIT": 500, "SHORT_STEP": 0.5},
    bait: {"LARGEST_LOSS": 1e5},
    bordered: {"SMALLEST": {np.dtype(np.float64): 1e-290, np.dtype(np.float32): 1e-35}},
    candidates: {"SPREAD": 10_000, "MOST": 10_000},
    certificate: {"FLOOR": 1e-10},
    coordinates: {"WEAKEST": 1e10},
    end_to_end: {"MAX_ITER": 1000},
    fir_estimate: {"MOST_ITERATIONS": 1000, "RESIDUAL": 1e-5, "CONTROL_WORK": 2e11},
    ftrl: {"LARGEST_ETA": 1e12},
    normalizer: {"FROM": 600, "NEAR": 3e-7, "AT": 1e-6, "SOUND": 1e-10, "MOST": 4},
    penalized: {
        "RIDGE": 1e-2,
        "LARGEST_SIZE": 600,
        "LARGEST_FIRST": 150,
        "LARGEST_FULL": 1500,
        "CLUSTER_SAMPLE": 5000,
        "GAP": 0.1,
    },
    relaxation: {"LARGE": 10_000},
    scoring: {"TIE": 1e-9},
    ratio_bound: {"FROM": 8, "SPARE": 1.001, "BLOCK_BYTES": 2**20},
    screen: {"UNIT": 2.0**-24, "SPARE": 1.02, "LARGEST": 1e15, "TINY": 1e-16},  # of the proof
    solver: {"NEAR": 2000},
    streamed: {"BEST": 1000},
    structure: {
        "MOST_WORK": 2e14,
        "RATE": 2e10,
        "PER_POOL": 3.5,
        "PER_CUBE": 330.0,
        "PER_FTRL_POOL": 3.0,
        "PER_FTRL_CUBE": 20.0,
        "ETAS": 7,
        "GRADIENTS": 50,
        "MATRICES": 12,
        "LEAST": 4,
        "SHARE": 0.8,
    },
    transforms: {"FARTHEST": 60.0},
    typical_first: {
        "EARLY": {"clusters": 1.0, "typical": 0.5},
        "LATER": {"clusters": 3.0, "typical": 1.0},
        "PER_CLASS": 8,
        "TYPICAL_SAMPLE": 10_000,
    },
    few_points: {"ROUNDING": 1e-9},
    wide: {"SPAN_BYTES": 2**28, "ROUNDING": 1e-9, "RANK": 1e-11},
    reduced: {"MOST_POINTS": 4096},
    block_rows: {"FEWEST": 8},
    picking: {"DEFAULT": "firal-ridge", "RIDGE": 1e-3, "MANY": 300_000},
    streaming: {"SAMPLE": 50_000, "WIDE_SAMPLE": 20_000, "TWINS": 8},
    wide_sizes: {"MOST_BYTES": 4 * 2**30, "LARGEST_ORDER": 800, "LARGEST_BLOCKS": 2**31},
    working_set: {
        "FROM": 2000,
        "TAKEN": 500,
        "SHARE": 500,
        "MOST_TAKEN": 5000,
        "FRESH": 0.2,
        "ROUGH": 0.1,
        "IDLE": 1e-6,
        "PATIENCE": 10,
        "MOST_PASSES": 50,
        "SOUND": 1e-6,
    },
}


@pytest.mark.parametrize("module", NUMBERS, ids=lambda module: module.__name__)
def test_the_numbers_are_those_of_the_measurements(module):
    assert {name: getattr(module, name) for name in NUMBERS[module]} == NUMBERS[module]


# Only speed and memory, up to the order of sums.
SPEED = {
    "model.hessians": {"CACHED", "ROWS", "FEW_BLOCKS", "LARGEST"},
    "information.fisher": {"PROBABILITY_BYTES"},
    "engine.clusters": {"BLOCK_BYTES"},
    "engine.homes": {"GATHERED"},
    "engine.parquet": {"READ_ROWS"},
    "engine.scaling": {"BLOCK_BYTES"},
    "engine.typical": {"TASK", "TILE", "BLOCK_BYTES"},
    "selection.block_greedy": {"PENDING_BYTES", "FEWEST_PENDING"},
    "selection.block_rows": {"PIECE", "HALVED", "TASK", "PARTS"},
    "selection.class_operator": {"POINT_BYTES"},
    "selection.picked": {"CACHED"},
    "selection.scoring": {
        "BLOCK_BYTES",
        "PRODUCT_BYTES",
        "SCREEN_FROM",
        "SCREEN_SIZE",
        "FIRST",
        "PAUSE",
    },
    "selection.streamed": {"PIECE"},
    "selection.summed_blocks": {"STORED_BYTES"},
    "selection.wide_forms": {"ROWS"},
    "streaming": {"CENTERS"},
    "theory.second_order": {"BLOCK_BYTES"},
}


def numbers_of(path):
    """Names in capitals that stand for a number in the source of a module."""
    for node in ast.parse(path.read_text(encoding="utf8")).body:
        if isinstance(node, ast.Assign):
            names = [n.id for target in node.targets for n in ast.walk(target) if hasattr(n, "id")]
            parts = list(ast.walk(node.value))
            if any(isinstance(p, ast.Constant) and type(p.value) in (int, float) for p in parts):
                yield from (name for name in names if name.isupper())


def test_every_number_is_in_one_of_the_tables():
    root = Path(pipeline.__file__).parent
    held = {module.__name__.partition(".")[2]: set(names) for module, names in NUMBERS.items()}
    seen = 0
    for folder in ("model", "information", "engine", "selection", "theory", "."):
        for path in sorted((root / folder).glob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            if folder == "." and name not in ("pipeline", "picking", "placement", "streaming"):
                continue
            known = held.get(name, set()) | SPEED.get(name, set())
            found = set(numbers_of(path))
            assert found <= known, f"{name}: {sorted(found - known)}"
            assert SPEED.get(name, set()) <= found, f"{name}: gone"
            seen += len(found)
    assert seen > 100
