"""Plots with a palette of 256 colors: half the bytes, and no difference for the eye.

A picture that would change visibly, such as a photograph, stays as it is. Every picture has a
partner for dark pages (``dark_pictures.py``); a page names both, and the browser loads the one that
is shown. The size stands in the page, so that nothing moves when it arrives. On a phone it stays
wide enough to be read, and scrolls sideways in its own box.
"""

import io
import re
from pathlib import Path

import numpy as np
from dark_pictures import dark
from PIL import Image

VISIBLE = 1.5  # root of the mean squared difference, of 255
PICTURE = re.compile(
    r"(<img\b(?![^>]* width=)[^>]*?src=\"[^\"]*_images/([^\"/]+\.png)\"[^>]*?) ?/?>"
)
READABLE = 0.42  # of its size: letters of 7 points at 220 dots per inch then have 9 pixels


def lighter(png):
    """The picture with a palette, or the same bytes where that is no gain or visible."""
    picture = Image.open(io.BytesIO(png))
    if picture.mode not in ("RGB", "RGBA"):
        return png
    if picture.mode == "RGBA" and picture.getextrema()[3] == (255, 255):
        picture = picture.convert("RGB")
    method = Image.Quantize.FASTOCTREE if picture.mode == "RGBA" else Image.Quantize.MEDIANCUT
    small = picture.quantize(256, method=method, dither=Image.Dither.NONE)
    there = np.asarray(picture, float)
    change = np.sqrt(np.mean((there - np.asarray(small.convert(picture.mode), float)) ** 2))
    target = io.BytesIO()
    small.save(target, "PNG", optimize=True)
    return target.getvalue() if change < VISIBLE and target.tell() < len(png) else png


def lighten(app, exception):
    if exception is None and app.builder.name == "html":
        for file in (Path(app.outdir) / "_images").glob("*.png"):
            png = file.read_bytes()
            if not file.stem.endswith(".dark"):
                file.with_suffix(".dark.png").write_bytes(lighter(dark(png)))
            if (light := lighter(png)) != png:
                file.write_bytes(light)


def sized(body, sources):
    """The page with two tags for each picture, light and dark, and its size in them.

    sources  {name in the page: file}
    """

    def with_size(found):
        with Image.open(sources[found[2]]) as picture:
            width, height = picture.size
        size = f'width="{width}" height="{height}" loading="lazy"'
        least = f'style="--least: {round(READABLE * width)}px"'
        tag = re.sub(r' class="[^"]*"', "", found[1])
        both = [
            tag.replace(found[2], file) + f' class="dark-light drawn-{theme}" {size} {least} />'
            for theme, file in (("light", found[2]), ("dark", f"{found[2][:-4]}.dark.png"))
        ]
        return f'<span class="drawn-box">{"".join(both)}</span>'

    return PICTURE.sub(with_size, body)


def add_sizes(app, pagename, templatename, context, doctree):
    if app.builder.name == "html" and "_images/" in context.get("body", ""):
        sources = {name: Path(app.srcdir) / uri for uri, name in app.builder.images.items()}
        context["body"] = sized(context["body"], sources)


def setup(app):
    app.connect("html-page-context", add_sizes)
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
