"""Figures to play with: right pixels, small, no outside resource, a picture without JavaScript."""

import base64
import itertools
import json
import re
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest
from chromium import BROWSER, Chromium
from conftest import ROOT

from firal.companion.play.axis import number
from firal.companion.play.interactive import MOST_BYTES, Control, PlayFigure, SliderFigure
from firal.companion.play.panels import BOTTOM, LEFT, MARKERS, PALETTE, RIGHT, TOP, WIDTH, Panel
from firal.companion.play.svg import outline

X = np.array([1e4, 1e5, 1e6])
Y = np.array([[1.0, 2.0, 4.0], [0.1, np.nan, 0.4]])
BACKGROUNDS = "#ffffff", "#121212"  # of the book's theme, light and dark


def slider(**changes):
    arguments = {
        "name": "a-figure",
        "x": X,
        "curves": {"a < b": ("line", "red", Y), "dots": ("dots", "#1A8CF0", 2 * Y)},
        "values": [400, 800],
        "slider": "n",
        "xlabel": "x",
        "ylabel": "y",
        "caption": "What </script> it shows",
    }
    return SliderFigure(**(arguments | changes))


def two_controls(name="two", **changes):
    """Frame (i, j) has a dot at (i, j) and a line at height i."""

    def draw(i, j):
        panel = Panel("Title", (0, 2), (0, 3), xlabel="x", ylabel="y")
        panel.dots(i, j, color="red", label="dot")
        panel.line([0, 2], [i, i], color="blue", dash="dashed", label="line")
        panel.text(1, 1, "word")
        return [panel], f"at {i} and {j}"

    controls = [
        Control("Across", ["zero", "one"], choice=True, start=1),
        Control("Up", ["nought", "a", "b"]),
    ]
    arguments = {"controls": controls, "draw": draw, "caption": "A caption."}
    return PlayFigure(name, **(arguments | changes))


def data(html):
    packed = base64.b64decode(re.search(r'atob\("(.*?)"\)', html).group(1))
    options = json.loads(re.search(r"const options=(\[.*\]), root=", html).group(1))
    return {"options": options, **json.loads(zlib.decompress(packed, -15))}


def frame(html, k):
    """{number of a mark: path} in frame k, of the marks that change."""
    return {mark: values[at[k]] for mark, values, at in data(html)["marks"]}


def points(path):
    return np.array([p.split(",") for p in re.findall(r"[ML]([\d.,-]+)", path)], dtype=float)


def test_lines_are_the_data_on_logarithmic_axes():
    line = points(frame(slider().html, 0)[0])
    across = (line[:, 0] - line[0, 0]) / (line[-1, 0] - line[0, 0])
    np.testing.assert_allclose(across, [0, 0.5, 1], atol=1e-3)
    steps = np.diff(line[:, 1])
    assert steps[0] < 0 and steps[0] == pytest.approx(steps[1], abs=0.2)  # equal ratios, upward
    assert line.min() >= 0  # inside the frame of the axes
    assert line[:, 0].max() <= RIGHT - LEFT and line[:, 1].max() <= BOTTOM - TOP


def test_every_combination_of_positions_has_its_frame():
    found = data(two_controls().html)
    for k, (i, j) in enumerate(itertools.product(range(2), range(3))):
        paths = frame(two_controls().html, k)
        x, y = points(paths[0])[0]
        assert x == pytest.approx((RIGHT - LEFT) * i / 2, abs=0.06)
        assert y == pytest.approx((BOTTOM - TOP) * (1 - j / 3), abs=0.06)
        assert found["says"][0][found["says"][1][k]] == f"at {i} and {j}"
    values = next(values for mark, values, _ in found["marks"] if mark == 1)
    assert len(values) == 2  # the line depends on the first control only: stored once per position


def test_missing_values_interrupt_the_line():
    second = frame(slider().html, 1)
    assert second[0].count("M") == 2 and "L" not in second[0]
    assert second[1].count("M") == 2


def test_what_is_far_outside_stays_a_modest_number():
    panel = Panel("t", (0, 1), (1e-3, 1), ylog=True).line([0, 1, 2], [1e300, 0.0, 0.5])
    path = outline(panel, panel.marks[0])
    assert path.startswith("M0.0,-3000.0M572.0") and np.abs(points(path)).max() <= 3000


def test_polygons_close_and_bars_stand_on_zero():
    panel = Panel("t", (0, 4), (0, 2)).bars([1, 2, 3], [1.0, np.nan, 2.0])
    path = outline(panel, panel.marks[0])
    assert path.count("M") == path.count("Z") == 2
    floor = BOTTOM - TOP
    assert [b for _, b in points(path)] == [floor, floor / 2, floor / 2, floor, floor, 0, 0, floor]


def test_equal_axes_have_one_unit():
    panel = Panel("t", (-1, 1), (-5, 5), equal=True)
    assert panel.across([0, 1])[1] - panel.across([0])[0] == pytest.approx(
        -(panel.up([1])[0] - panel.up([0])[0])
    )
    assert panel.up.limits == pytest.approx((-5, 5)) and np.mean(panel.across.limits) == 0


@pytest.mark.parametrize(
    ("limits", "log", "labels"),
    [
        ((0, 1.1), False, ["0", "0.5", "1"]),
        ((-7, 9), False, ["−5", "0", "5"]),
        ((-0.65, 0.65), False, ["−0.5", "0", "0.5"]),
        ((2e-3, 0.15), True, ["0.01", "0.1"]),
        ((90, 600), True, ["100", "200", "500"]),
        ((1e-9, 10), True, ["10⁻⁹", "10⁻⁷", "10⁻⁵", "0.001", "0.1", "10"]),
    ],
)
def test_ticks_are_round_numbers(limits, log, labels):
    assert [label for _, label in Panel("t", limits, (0, 1), xlog=log).across.ticks()] == labels


def test_numbers_in_sentences():
    assert [number(v) for v in (0.01234, 3.46e-6, 0.0, 12.0)] == ["0.012", "3.5·10⁻⁶", "0", "12"]


def test_first_position_is_drawn_without_javascript():
    html = two_controls().html
    static = html.split("<script>")[0]
    assert all(f'd="{path}"' in static for path in frame(html, 3).values())  # frame (1, 0)
    assert "at 1 and 0" in static and '<div class="controls" hidden>' in static
    assert '<option value="1" selected>one' in static and 'value="0"' in static


def test_markup_is_escaped_balanced_and_needs_no_network():
    html = slider().html
    assert "a &lt; b" in html and "&lt;/script&gt;" in html
    assert html.count("</script>") == 1
    assert not re.search(r"https?:|src=|href=|import |fetch", html)
    stack, ids = [], []

    class Balance(HTMLParser):
        def handle_starttag(self, tag, attrs):
            ids.extend(value for key, value in attrs if key == "id")
            if tag != "input":
                stack.append(tag)

        def handle_startendtag(self, tag, attrs):
            pass

        def handle_endtag(self, tag):
            assert stack.pop() == tag

    Balance().feed(html)
    assert stack == [] and len(ids) == len(set(ids))
    assert '<label for="a-figure-c0">' in html and 'aria-labelledby="a-figure-p0"' in html


def test_texts_cannot_end_the_script():
    controls = [Control("</script>", ["<b>", "</script>"]), Control("u", list("abc"))]
    html = two_controls(controls=controls).html
    assert html.count("</script>") == 1 and "<b>" not in html.split("<script>")[0]


def contrast(a, b):
    def light(color):
        c = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
        c = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        return c @ [0.2126, 0.7152, 0.0722]

    low, high = sorted([light(a), light(b)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_colors_stand_out_on_light_and_dark_pages(theme):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    for name, values in PALETTE.items():
        assert contrast(values[theme], BACKGROUNDS[theme]) >= 3, name


def test_three_forms_are_offered_and_print_has_a_picture():
    bundle = two_controls()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert "2 by 3 positions" in bundle["text/plain"] and "Across: one" in bundle["text/plain"]


def test_the_picture_shows_every_kind_of_mark():
    def draw(_):
        panel = Panel("t", (0, 9), (0.1, 9), ylog=True, equal=False)
        for k, marker in enumerate(MARKERS):
            panel.dots(k, 1, marker=marker, hollow=bool(k % 2), label=marker)
        panel.line([0, 9], [1, 1], dash="dotted", label="l").area([1, 2, 2], [1, 1, 2], label="a")
        return [panel, panel, panel.text(1, 1, "word")], ""

    assert len(PlayFigure("many", [Control("c", ["0"])], draw, caption="").png()) > 5000


def changing(*, limits=None, looks=None, text=None):
    def draw(i, j):
        panel = Panel("t", (0, 2 + (limits or 0) * j), (0, 3))
        panel.line([0, 1], [i, j], width=2 + (looks or 0) * j).text(1, 1 + (text or 0) * j, "x")
        return [panel], ""

    return {"draw": draw}


@pytest.mark.parametrize(
    ("build", "changes", "message"),
    [
        (slider, {"name": "a b"}, "letters, digits"),
        (slider, {"x": [0.0, 1.0, 2.0]}, "positive"),
        (slider, {"values": [1, 2, 3]}, "must have shape"),
        (slider, {"start": 2}, "start of 'n' must be a position 0..1"),
        (slider, {"curves": {"a": ("wavy", "red", Y)}}, "unknown style 'wavy'"),
        (slider, {"curves": {"a": ("line", "#123456", Y)}}, "unknown color '#123456'"),
        (two_controls, changing(limits=1), "must not change, but do at"),
        (two_controls, changing(looks=1), "must not change"),
        (two_controls, changing(text=1), "must not change"),
    ],
)
def test_bad_input_is_refused(build, changes, message):
    with pytest.raises(ValueError, match=message):
        build(**changes)


def test_the_changing_pieces_alone_are_fine():
    assert two_controls(**changing()).says == ""


def test_a_figure_that_is_too_heavy_is_refused():
    def draw(i):
        noise = np.random.default_rng(i).random((2, 1000))
        return [Panel("t", (0, 1), (0, 1)).dots(*noise)], ""

    with pytest.raises(ValueError, match=f"more than {MOST_BYTES}"):
        PlayFigure("heavy", [Control("c", [str(k) for k in range(99)])], draw, caption="")


def test_unknown_looks_and_limits_are_refused():
    with pytest.raises(ValueError, match="unknown look 'solid' 'q'"):
        Panel("t", (0, 1), (0, 1)).dots(0, 0, marker="q")
    with pytest.raises(ValueError, match="two positive numbers, the lower first"):
        Panel("t", (0, 1), (0, 1), xlog=True)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if BROWSER is None:
        pytest.skip("no Chromium on this machine")
    with Chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def page(tmp_path):
    file = tmp_path / "page.html"
    body = two_controls().html + slider().html
    file.write_text(f'<!doctype html><meta charset="utf-8">{body}', encoding="utf8")
    return file.as_uri()


NOW = """[document.activeElement.id, document.querySelector("#two .says").textContent,
document.querySelector("#two path.m").getAttribute("d"),
document.querySelector("#two-c1").getAttribute("aria-valuetext"),
document.querySelector("#two output").textContent]"""


def test_the_keyboard_moves_every_control(browser, page):
    browser.open(page)
    html = two_controls().html
    browser.press("Tab")
    browser.press("Tab")
    assert browser.run(NOW) == ["two-c1", "at 1 and 0", frame(html, 3)[0], "nought", "nought"]
    assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press("ArrowRight")
    assert browser.run(NOW) == ["two-c1", "at 1 and 1", frame(html, 4)[0], "a", "a"]
    browser.press("End")
    assert browser.run(NOW) == ["two-c1", "at 1 and 2", frame(html, 5)[0], "b", "b"]
    browser.run("document.getElementById('two-c0').focus()")
    browser.press("Home")
    assert browser.run(NOW) == ["two-c0", "at 0 and 2", frame(html, 2)[0], "b", "b"]
    browser.press("Tab")
    browser.press("Tab")
    browser.press("ArrowRight")
    assert browser.run("document.querySelector('#a-figure .says').textContent") == "n = 800"


def test_without_javascript_there_is_a_figure_and_no_dead_control(browser, page):
    browser.open(page, scripts=False)
    boxes = browser.run(
        "[...document.querySelectorAll('#two .panels svg, #two input')]"
        ".map(e => e.getBoundingClientRect().width > 0)"
    )
    assert boxes[:2] == [False, True]  # the slider, the panel
    browser.open(page)
    assert browser.run("document.querySelector('#two input').getBoundingClientRect().width") > 0


def test_print_leaves_the_controls_out(browser, page):
    browser.open(page)
    browser.send("Emulation.setEmulatedMedia", media="print")
    hidden = browser.run("getComputedStyle(document.querySelector('#two .controls')).display")
    browser.send("Emulation.setEmulatedMedia", media="")
    assert hidden == "none"


def test_a_phone_shows_it_without_scrolling_sideways_and_readable(browser, page):
    browser.open(page, width=360)
    assert browser.run("document.documentElement.scrollWidth") <= 360
    width = browser.run("document.querySelector('#two .panels svg').getBoundingClientRect().width")
    assert 12 * width / WIDTH >= 10.5  # pixels of the letters


def test_the_dark_theme_has_its_own_colors(browser, page):
    browser.open(page)
    color = "getComputedStyle(document.querySelector('#two path.m')).stroke"
    light = browser.run(color)
    browser.run("document.documentElement.dataset.theme = 'dark'")
    assert (light, browser.run(color)) == ("rgb(179, 38, 30)", "rgb(255, 138, 128)")


BUILT = ROOT / "_build" / "html" / "notebooks" / "u02_play.html"
STATE = "[...document.querySelectorAll('#%s path.m')].map(p => p.getAttribute('d')).join()"
TEXTS = """[...document.querySelectorAll('.firal-play :is(text, p, label, li, figcaption, select)')]
.map(e => getComputedStyle(e)).map(s => s.fill !== 'rgb(0, 0, 0)' ? s.fill : s.color)
.concat(getComputedStyle(document.querySelector('.firal-play')).color)"""


@pytest.mark.skipif(not BUILT.is_file(), reason="build the book first: make html")
def test_in_the_book_every_control_changes_its_figure(browser):
    browser.open(BUILT.as_uri())
    figures = browser.run("[...document.querySelectorAll('.firal-play')].map(f => f.id)")
    assert len(figures) == 6
    for name in figures:
        inputs = browser.run(f"[...document.querySelectorAll('#{name} [id*=-c]')].map(c => c.id)")
        for control in inputs:
            before = browser.run(STATE % name)
            browser.run(f"document.getElementById('{control}').focus()")
            browser.press("Home")
            first = browser.run(STATE % name)
            browser.press("End")
            last = browser.run(STATE % name)
            assert len({before, first, last}) >= 2, control


@pytest.mark.skipif(not BUILT.is_file(), reason="build the book first: make html")
@pytest.mark.parametrize("theme", [0, 1])
def test_in_the_book_text_stands_out(browser, theme):
    browser.open(BUILT.as_uri())
    browser.run(f"document.documentElement.dataset.theme = '{('light', 'dark')[theme]}'")
    for color in set(browser.run(TEXTS)):
        rgb = [int(v) for v in re.findall(r"\d+", color)[:3]]
        assert contrast("#" + bytes(rgb).hex(), BACKGROUNDS[theme]) >= 4.5, color
