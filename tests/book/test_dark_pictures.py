"""Pictures on dark pages: what is around photographs changes, the photographs do not."""

import io

import numpy as np
import pytest
from conftest import ROOT
from dark_pictures import dark, pictures
from PIL import Image
from two_themes import INK, PAPER, contrast

SIDE, STEP = 60, 100
HTML = ROOT / "_build" / "html"


def mosaic(rows=3, columns=4):
    """Photographs in rows and columns with a line of text below each; the first has white edges."""
    rng = np.random.default_rng(0)
    page = np.full((rows * STEP, columns * STEP, 3), 255, np.uint8)
    inside = np.zeros(page.shape[:2], bool)
    for top in range(10, rows * STEP, STEP):
        for left in range(10, columns * STEP, STEP):
            page[top : top + SIDE, left : left + SIDE] = rng.integers(0, 240, (SIDE, SIDE, 3))
            inside[top : top + SIDE, left : left + SIDE] = True
            page[top + SIDE + 10 : top + SIDE + 13, left : left + SIDE] = 0
    page[10:30, 10 : 10 + SIDE] = 255
    return page, inside


def darkened(page):
    target = io.BytesIO()
    Image.fromarray(page).save(target, "PNG")
    with Image.open(io.BytesIO(dark(target.getvalue()))) as picture:
        return np.asarray(picture.convert("RGB"))


def test_photographs_stay_and_background_and_text_change():
    page, inside = mosaic()
    seen = darkened(page)
    assert (seen[inside] == page[inside]).all()
    around = {f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in seen[~inside]}
    assert around == {PAPER, INK}


def test_without_rows_and_columns_a_white_edge_belongs_to_the_page():
    """The control: it is the grid that keeps the white part of a photograph."""
    page, inside = mosaic(1, 2)
    kept = pictures(page)
    assert not kept[10:30, 10:70].any() and kept[40:70, 10:70].all()
    assert not kept[~inside].any()


def test_a_cloud_of_marks_is_no_photograph_and_keeps_its_hue():
    rng = np.random.default_rng(1)
    page = np.full((300, 400, 3), 255, np.uint8)
    for row, column in rng.normal((150, 200), (40, 55), (400, 2)).astype(int).clip(12, 285):
        page[row : row + 12, column : column + 12] = (178, 34, 34)
    seen = darkened(page)
    marks = seen[(page != 255).any(2)].astype(int)
    assert (marks == marks[0]).all() and marks[0, 0] > marks[0, 1] + 100 and marks[0, 1] > 18
    assert contrast("#{:02x}{:02x}{:02x}".format(*marks[0]), PAPER) > 3


@pytest.mark.skipif(not HTML.is_dir(), reason="no built book")
def test_every_picture_of_the_book_has_its_partner():
    stored = [p for p in (HTML / "_images").glob("*.png") if not p.stem.endswith(".dark")]
    assert stored
    for file in stored:
        with Image.open(file) as light, Image.open(file.with_suffix(".dark.png")) as partner:
            assert light.size == partner.size
