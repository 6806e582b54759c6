"""The font of icons with only those signs that the style sheets draw.

The theme's style sheets draw about 30 signs of Font Awesome, such as the bell of a theorem. Every
page would load the whole font for them, 156 kB. Icons in the pages themselves are drawings:
light_icons.py.
"""

import logging
import re
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

SHEET = "_static/styles/pydata-sphinx-theme.css"
FONT = "_static/vendor/fontawesome/webfonts/fa-solid-900"
SIGN = re.compile(r"\\([ef][0-9a-f]{3})|([\ue000-\uf8ff])")  # written as a number, or as itself
PACKED = re.compile(r'url\([^)]*fa-solid-900\.woff2\) format\("woff2"\),')


def signs(folder):
    """The signs in the style sheets of a folder, as numbers."""
    texts = (sheet.read_text(encoding="utf8") for sheet in folder.rglob("*.css"))
    found = (match for text in texts for match in SIGN.findall(text))
    return {int(code, 16) if code else ord(sign) for code, sign in found}


def shorten(file, wanted):
    """Leave only the wanted signs in a font."""
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it reports every table that it cuts
    options = subset.Options()
    options.layout_features = []
    options.hinting = False
    with TTFont(file) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=wanted)
        subsetter.subset(font)
        font.save(file)


def lighten(app, exception):
    folder = Path(app.outdir)
    sheet, font = folder / SHEET, folder / f"{FONT}.ttf"
    if exception is None and app.builder.name == "html" and sheet.is_file() and font.is_file():
        shorten(font, signs(folder / "_static"))
        text = sheet.read_text(encoding="utf8")
        sheet.write_text(PACKED.sub("", text), encoding="utf8")


def setup(app):
    app.connect("build-finished", lighten, priority=700)  # behind light_styles
    return {"parallel_read_safe": True, "parallel_write_safe": True}
