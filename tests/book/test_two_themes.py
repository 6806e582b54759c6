"""Figures on dark pages: every color stands out, and nothing but colors changes."""

import re
import sys

import pytest
from conftest import ROOT
from matplotlib.figure import Figure

from firal.companion import vector
from firal.companion.plotting import METHODS

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import two_themes as themes  # noqa: E402


@pytest.mark.parametrize("name", METHODS)
def test_methods_stand_out_on_a_dark_page(name):
    color = METHODS[name][1]
    assert themes.contrast(themes.dark(color), themes.PAPER) >= 3
    assert themes.contrast("#000000", "#ffffff") == pytest.approx(21)


def test_methods_stay_apart():
    assert len({themes.dark(color) for _, color, _ in METHODS.values()}) == len(METHODS)


@pytest.mark.parametrize("color", ["#1f77b4", "#00204d", "#555555", "#008000", "#123456"])
def test_any_color_is_as_far_from_the_page_as_before(color):
    before = themes.contrast(color, "#ffffff")
    after = themes.contrast(themes.dark(color), themes.PAPER)
    assert after >= min(before, 10)


def test_pale_colors_stay_pale():
    assert themes.contrast(themes.dark("#f0f0f0"), themes.PAPER) < 1.5
    assert themes.dark("#FFFFFF") == themes.PAPER


def drawing():
    figure = Figure(figsize=(7, 4), facecolor="white")
    ax = figure.subplots()
    ax.plot([0, 1], color=METHODS["firal"][1])
    ax.set_title("black by default", fontsize=12)
    ax.tick_params(labelsize=8)
    return vector.svg(figure)


def test_only_colors_change():
    light = drawing()
    dark = themes.recolored(light)
    bare = [
        re.sub(r"#[0-9a-f]{6}", "#", s.replace(f'fill="{themes.INK}" ', "")) for s in (light, dark)
    ]
    assert bare[0] == bare[1]
    assert METHODS["firal"][1].lower() in light and METHODS["firal"][1].lower() not in dark
    assert "#ffffff" in light and "#ffffff" not in dark and "#000000" not in dark


def test_the_smallest_letters_set_the_width_on_a_phone():
    svg = drawing()
    width, height, letters = themes.measures(svg)
    assert letters == pytest.approx(8) and width > height > 200
    both = themes.pair('<img alt="A" src="../_images/a.svg"/>', "../_images/a.svg", "a", svg)
    least = int(re.search(r"--least: (\d+)px", both).group(1))
    assert 9 <= letters * least / width < 9.1
    assert both.count('alt="A"') == 2 and "_images/a.dark.svg" in both
