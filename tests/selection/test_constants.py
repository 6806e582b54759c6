"""The numbers that decide what is picked: whoever changes one means to.

The tests of each module set such numbers to small values, to reach every branch. So nothing else
holds the values that are used, and these are part of what the book measured.
"""

import pytest

from firal import pipeline
from firal.engine import typical
from firal.model import from_sklearn, separation
from firal.selection import (
    bait,
    candidates,
    certificate,
    coordinates,
    end_to_end,
    fir_estimate,
    ftrl,
    normalizer,
    penalized,
    relaxation,
    scoring,
    solver,
    streamed,
    structure,
    typical_first,
    wide,
    working_set,
)

NUMBERS = {
    pipeline: {"STREAM_FROM": 2**30},
    typical: {"NEIGHBORS": 10},
    from_sklearn: {"AGREEMENT": 1e-6, "SMALLEST": 1e-100},
    separation: {"FEASIBLE": 1e-7, "PROGRAM_LIMIT": 500, "SHORT_STEP": 0.5},
    bait: {"LARGEST_LOSS": 1e5},
    candidates: {"SPREAD": 10_000, "MOST": 10_000},
    certificate: {"FLOOR": 1e-10},
    coordinates: {"WEAKEST": 1e10},
    end_to_end: {"MAX_ITER": 1000},
    fir_estimate: {"MOST_ITERATIONS": 1000, "RESIDUAL": 1e-5, "CONTROL_WORK": 2e11},
    ftrl: {"LARGEST_ETA": 1e12},
    normalizer: {"FROM": 600, "NEAR": 5e-5, "AT": 1e-6, "SOUND": 1e-10, "MOST": 4},
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
    solver: {"PLAIN": 0.5, "BOLD": 1.0, "SHYER": 0.7, "LARGE_MATRICES": 600, "NEAR": 2000},
    streamed: {"BEST": 1000},
    structure: {"MOST_WORK": 2e14, "RATE": 2e10, "GRADIENTS": 50, "SHARE": 0.8},
    typical_first: {
        "EARLY": {"clusters": 1.0, "typical": 0.5},
        "LATER": {"clusters": 3.0, "typical": 1.0},
        "PER_CLASS": 8,
        "TYPICAL_SAMPLE": 10_000,
    },
    wide: {"MOST_BYTES": 8 * 2**30, "SPAN_BYTES": 2**28},
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
