"""The map of the statements: what a statement rests on stands to its left, and links lead on."""

import re
import sys
from html import escape
from types import SimpleNamespace

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from scoreboard import outcomes  # noqa: E402
from statement_map import StatementMap, columns, listing, statements, svg, tikz  # noqa: E402


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
    for j in set().union(*uses.values()):  # as far right as what it serves allows
        assert column[j] == min(column[i] for i in uses if j in uses[i]) - 1


def test_lines_that_need_not_cross_do_not():
    assert columns({"a": [], "b": [], "c": ["b"], "d": ["a"]}) == [["a", "b"], ["d", "c"]]


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


def test_lines_join_the_sides_of_their_boxes(items):
    drawing = svg(items, str)
    box = r'data-id="([^"]+)".*?<rect x="(\d+)" y="(-?\d+)" width="(\d+)" height="(\d+)"'
    boxes = {i: tuple(map(int, spot)) for i, *spot in re.findall(box, drawing)}
    line = r'data-from="([^"]+)" data-to="([^"]+)" d="M(-?\d+) (-?\d+)C.*? (-?\d+) (-?\d+)"'
    lines = re.findall(line, drawing)
    assert len(lines) == drawing.count('class="edge"') > 50
    for j, i, *ends in lines:
        (x0, y0, width, height), (x1, y1, *_) = boxes[j], boxes[i]
        wanted = [x0 + width, y0 + height / 2, x1, y1 + height / 2]
        assert list(map(int, ends)) == pytest.approx(wanted, abs=1)  # whole pixels


def test_every_box_is_named_and_leads_to_where_its_statement_stands(items):
    page_of_the_map = SimpleNamespace(env=SimpleNamespace(docname="book/index"))
    html = "\n".join(StatementMap.markdown(page_of_the_map, ROOT))
    boxes = re.findall(r'data-id="([^"]+)" href="([^"#]+)#?([^"]*)" aria-label="(.*?)"', html)
    assert len(boxes) == len(items)
    for i, page, anchor, label in boxes:
        entry, _ = items[i]
        assert escape(entry["title"]) in label
        if i.startswith("txt-"):
            assert (page, anchor) == (f"{entry['chapter']}.html", "")
        else:
            chapter = (ROOT / "book" / page).with_suffix(".md").read_text(encoding="utf8")
            assert anchor == i and f":label: {i}\n" in chapter


def test_the_drawing_of_the_pdf_has_the_same_boxes_lines_and_links(items):
    page, drawing = svg(items, str), tikz(items)
    spots = re.findall(r'<rect x="(\d+)" y="(-?\d+)"', page)
    assert re.findall(r"\((\d+),(-?\d+)\) rectangle", drawing) == spots
    ends = re.findall(r'd="M(-?\d+) (-?\d+)C.*? (-?\d+) (-?\d+)"', page)
    lines = r"\((-?\d+),(-?\d+)\) \.\. controls .*? \.\. \((-?\d+),(-?\d+)\);"
    assert re.findall(lines, drawing) == ends != []
    assert re.findall(r"\{book/(\w+):(.*?)\}", drawing) == [
        (items[i][0]["chapter"], ":doc" if i.startswith("txt-") else i)
        for i in re.findall(r'data-id="(.*?)"', page)
    ]


def test_the_list_for_other_builders_names_what_is_used(items):
    line = next(line for line in listing(items) if line.startswith("- Thm. 3,"))
    assert line.endswith("rests on Asm. 1, Thm. 32")
    line = next(line for line in listing(items) if line.startswith("- Prop. 8,"))
    assert '"The FTRL action in closed form"' in line
