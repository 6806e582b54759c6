"""Figures for light and dark pages, from one source: the SVG that a notebook stored.

The dark one is the same drawing with other colors: those of the methods have a partner in
``firal.companion.play.panels.PALETTE``, others become as light as a dark page needs. A page names
both, shows one, and the browser loads the one that is shown. Their size stands in the page, so
that nothing moves when they arrive. On a phone a figure stays so wide that its smallest letters
have 9 pixels; it scrolls sideways in its own box.
"""

import colorsys
import math
import re
from functools import cache
from pathlib import Path

from firal.companion.play.panels import PALETTE
from firal.companion.plotting import BOUND_COLOR, METHODS

PAPER, INK, LINES = "#121212", "#e6e6e6", "#434a54"  # of a dark page: background, text, grid
SMALLEST = 9  # pixels of a letter on a phone
TABLE = {
    **{light.lower(): dark.lower() for light, dark in PALETTE.values()},
    METHODS["firal-ridge"][1].lower(): "#a79bff",
    BOUND_COLOR.lower(): "#c9c9c9",
    "#d9d9d9": LINES,
    "#ffffff": PAPER,
    "#000000": INK,
}
PAINT = re.compile(r"((?:fill|stroke|stop-color)(?:: ?|=\"))(#[0-9a-fA-F]{6})")
IMAGE = re.compile(r"<img\b[^>]*?src=\"([^\"]*_images/([^\"/]+)\.svg)\"[^>]*>")


def luminance(color):
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


@cache
def dark(color):
    """The color on a dark page: as far from its background as it was from white, at least 3:1."""
    color = color.lower()
    if color in TABLE:
        return TABLE[color]
    hue, light, full = colorsys.rgb_to_hls(*(int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)))
    wanted = min(contrast(color, "#ffffff"), contrast(INK, PAPER))
    steps = (0.09 + 0.01 * k for k in range(92))
    for light in steps:
        rgb = colorsys.hls_to_rgb(hue, light, full)
        found = "#" + "".join(f"{round(255 * v):02x}" for v in rgb)
        if contrast(found, PAPER) >= wanted:
            return found
    return INK


def recolored(svg):
    """The drawing for a dark page. What has no color of its own is text, and black by default."""
    svg = PAINT.sub(lambda found: found[1] + dark(found[2]), svg)
    return svg.replace("<svg ", f'<svg fill="{INK}" ', 1)


def drawn(svg):
    return "<svg" in svg and 'id="figure_1"' in svg


def measures(svg):
    """(width, height, smallest size of letters) in points."""
    width, height = (
        float(v) for v in re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg).groups()
    )
    return (
        width,
        height,
        100 * min((float(v) for v in re.findall(r"scale\((0\.\d+) -", svg)), default=1),
    )


def pair(tag, address, stem, svg):
    """The tag of the light figure, with its size, and that of the dark one."""
    width, height, letters = measures(svg)
    least = math.ceil(SMALLEST * width / max(letters, 1))
    size = f'width="{round(4 / 3 * width)}" height="{round(4 / 3 * height)}" loading="lazy"'
    tag = re.sub(r' (?:width|height|loading|class|style)="[^"]*"', "", tag)
    both = []
    for theme, file in (("light", f"{stem}.svg"), ("dark", f"{stem}.dark.svg")):
        look = f'class="dark-light drawn drawn-{theme}" style="--least: {least}px" {size}'
        both.append(tag.replace(f'src="{address}"', f'src="{Path(address).parent}/{file}" {look}'))
    return f'<span class="drawn-box">{"".join(both)}</span>'


def rewrite(app, pagename, templatename, context, doctree):
    if app.builder.name != "html" or "_images/" not in context.get("body", ""):
        return
    sources = {name: Path(app.srcdir) / uri for uri, name in app.builder.images.items()}

    def replaced(found):
        source = sources.get(f"{found[2]}.svg")
        svg = source.read_text(encoding="utf8") if source else ""
        return pair(found[0], found[1], found[2], svg) if drawn(svg) else found[0]

    context["body"] = IMAGE.sub(replaced, context["body"])


def write_dark(app, exception):
    if exception is None and app.builder.name == "html":
        for file in (Path(app.outdir) / "_images").glob("*.svg"):
            if not file.name.endswith(".dark.svg"):
                svg = file.read_text(encoding="utf8")
                if drawn(svg):
                    file.with_suffix(".dark.svg").write_text(recolored(svg), encoding="utf8")


def setup(app):
    app.connect("html-page-context", rewrite)
    app.connect("build-finished", write_dark)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
