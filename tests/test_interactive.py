"""The slider figure: right pixels, no outside resource, and a picture without JavaScript."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

from firal.interactive import BOTTOM, LEFT, RIGHT, TOP, SliderFigure

X = np.array([1e4, 1e5, 1e6])
Y = np.array([[1.0, 2.0, 4.0], [0.1, np.nan, 0.4]])


def figure(**changes):
    arguments = {
        "name": "a-figure",
        "x": X,
        "curves": {"a < b": ("line", "#111", Y), "dots": ("dots", "#222", 2 * Y)},
        "values": [400, 800],
        "slider": "n",
        "xlabel": "x",
        "ylabel": "y",
        "caption": "What </script> it shows",
    }
    return SliderFigure(**(arguments | changes))


def stored_paths(html):
    return json.loads(re.search(r"const paths=(\[.*?\]\]), says=", html).group(1))


def test_paths_are_the_data_on_logarithmic_axes():
    line = stored_paths(figure().html)[0][0]
    points = np.array([p.split(",") for p in re.findall(r"[ML]([\d.,]+)", line)], dtype=float)
    across = (points[:, 0] - points[0, 0]) / (points[-1, 0] - points[0, 0])
    np.testing.assert_allclose(across, [0, 0.5, 1], atol=1e-3)
    steps = np.diff(points[:, 1])
    assert steps[0] < 0 and steps[0] == pytest.approx(steps[1], abs=0.2)  # equal ratios, upward
    assert points[:, 0].min() >= LEFT and points[:, 0].max() <= RIGHT
    assert points[:, 1].min() >= TOP and points[:, 1].max() <= BOTTOM


def test_missing_values_interrupt_the_line():
    line, dots = stored_paths(figure().html)[1]
    assert line.count("M") == 2 and "L" not in line
    assert dots.count("M") == 2


def test_first_position_is_drawn_without_javascript():
    html = figure(start=1).html
    static = html.split("<script>")[0]
    assert all(f'd="{path}"' in static for path in stored_paths(html)[1])
    assert "n = 800" in static and 'value="1"' in static


def test_markup_is_escaped_balanced_and_needs_no_network():
    html = figure().html
    assert "a &lt; b" in html and "&lt;/script&gt;" in html
    assert html.count("</script>") == 1
    assert not re.search(r"https?:|src=|href=|import|fetch", html)
    stack, void = [], {"input"}

    class Balance(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in void:
                stack.append(tag)

        def handle_startendtag(self, tag, attrs):
            pass

        def handle_endtag(self, tag):
            assert stack.pop() == tag

    Balance().feed(html)
    assert stack == []
    assert '<label for="a-figure-input">' in html and 'aria-labelledby="a-figure-caption"' in html


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the script")
def test_moving_the_slider_redraws_every_curve():
    html = figure().html
    script = re.search(r"<script>(.*)</script>", html, re.S).group(1)
    page = """
    let listener; const curve=()=>({d:"", setAttribute(k,v){this[k]=v}});
    const curves=[curve(),curve()], output={}, said={};
    const input={value:"0", setAttribute(k,v){said[k]=v}, addEventListener(k,f){listener=f}};
    const root={querySelector:q=>q==="input"?input:output, querySelectorAll:q=>curves};
    const document={getElementById:id=>root};
    %s
    input.value="1"; listener();
    console.log(JSON.stringify([output.textContent, said["aria-valuetext"], curves.map(c=>c.d)]));
    """
    run = subprocess.run(["node", "-e", page % script], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == ["n = 800", "n = 800", stored_paths(html)[1]]


def test_both_forms_are_offered():
    bundle = figure()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"} and "2 positions" in bundle["text/plain"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "a b"}, "letters, digits"),
        ({"x": [0.0, 1.0, 2.0]}, "positive"),
        ({"values": [1, 2, 3]}, "must have shape"),
        ({"start": 2}, "start must be"),
        ({"curves": {"a": ("wavy", "#111", Y)}}, "unknown style 'wavy'"),
    ],
)
def test_bad_input_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        figure(**changes)
