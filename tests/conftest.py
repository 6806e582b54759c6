"""Shared by all tests: where things are, and how hypothesis runs."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
for folder in (ROOT / "book" / "_tools", ROOT / "book" / "_ext", ROOT / "tests"):
    sys.path.insert(0, str(folder))

# No deadline: a busy machine is slow, not wrong. Derandomized: CI fails the same way twice.
settings.register_profile(
    "firal", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("firal")
