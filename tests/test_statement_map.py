"""The map of the statements: what a statement rests on stands to its left, and links lead on."""

import re
import sys

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from scoreboard import outcomes  # noqa: E402
from statement_map import columns, listing, statements, svg  # noqa: E402


@st.composite
def acyclic(draw):
    """{id: earlier ids it uses}"""
    n = draw(st.integers(1, 12))
    return {k: sorted(draw(st.sets(st.integers(0, k - 1)))) if k else [] for k in range(n)}


@given(acyclic())
def test_needs_stand_in_earlier_columns(uses):
    layers = columns(uses)
    column = {i: k for k, layer in enumerate(layers) for i in layer}
    assert sorted(column) == sorted(uses) and sum(map(len, layers)) == len(uses)
    assert all(column[j] < column[i] for i, needed in uses.items() for j in needed)


@pytest.fixture(scope="module")
def items():
    return statements(outcomes(ROOT))


def test_every_statement_and_every_dependence_is_drawn(items):
    drawing = svg(items, lambda i: f"page.html#{i}")
    boxes = re.findall(r'data-id="([^"]+)" href="page.html#([^"]+)"', drawing)
    assert len(boxes) == len(items) and all(a == b for a, b in boxes)
    assert (
        sum(name.split("-")[0] != "txt" for name, _ in boxes) == 52
    )  # 49 statements, 3 algorithms
    drawn = set(re.findall(r'data-from="([^"]+)" data-to="([^"]+)"', drawing))
    assert drawn == {
        (j, i) for i, (entry, _) in items.items() for j in entry["depends"] if j in items
    }


def test_boxes_do_not_overlap(items):
    spots = re.findall(r'<rect x="(\d+)" y="(-?\d+)" width="(\d+)" height="(\d+)"', svg(items, str))
    corners = [tuple(map(int, spot)) for spot in spots]
    for k, (x, y, width, height) in enumerate(corners):
        for u, v, *_ in corners[k + 1 :]:
            assert abs(u - x) >= width or abs(v - y) >= height


def test_the_list_for_other_builders_names_what_is_used(items):
    line = next(line for line in listing(items) if line.startswith("- `thm-3`"))
    assert "`asm-1`" in line and "`thm-32`" in line
