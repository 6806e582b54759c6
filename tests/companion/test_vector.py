"""Figures as SVG: the same bytes for the same figure, light, and left as they were."""

import io
from base64 import b64decode

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from firal.companion import vector


def plot(n, seed=0):
    figure = Figure(figsize=(7, 4))
    ax = figure.subplots()
    ax.plot(*np.random.default_rng(seed).random((2, n)), "o", label="points")
    ax.plot([0, 1], [0, 1], "--", label="line")
    ax.set(title="Title", xlabel=r"$\theta_*$")
    ax.legend()
    return figure


def test_the_same_figure_has_the_same_bytes_and_no_date():
    one, two = vector.svg(plot(20)), vector.svg(plot(20))
    assert one == two != vector.svg(plot(20, seed=1))
    assert "metadata" not in one and "DOCTYPE" not in one and "<image" not in one


def test_many_points_are_embedded_as_a_picture_and_the_figure_is_not_changed():
    figure = plot(4000)
    text = vector.svg(figure)
    assert text.count("<image") == 1 and len(text) <= vector.MOST_BYTES
    assert 'id="text_1"' in text  # the title is a drawing still
    assert not any(line.get_rasterized() for line in figure.axes[0].lines)


@pytest.mark.parametrize(("size", "vectors"), [(4, True), (400, False)])
def test_what_is_too_heavy_has_a_sharp_png_alone(size, vectors):
    figure = plot(5)
    figure.axes[0].imshow(np.random.default_rng(0).random((size, size, 3)))
    assert (vector.svg(figure) is not None) == vectors
    width, _ = Image.open(io.BytesIO(b64decode(vector.png(figure)))).size
    usual = io.BytesIO()
    figure.savefig(usual, format="png", bbox_inches="tight")
    usual = Image.open(usual).size[0]
    assert (width == usual) if vectors else (width > 1.5 * usual)


def test_outside_of_a_notebook_nothing_happens():
    vector.show_as_vectors()
