"""Icons as drawings in the pages, and no script for them.

The theme ships the 2,000 icons of Font Awesome in a script of 1.5 MB. Loaded by a page, it adds a
style sheet, for which the whole page is styled again, and puts a drawing in place of each icon,
which moves what stands beside it. About 15 icons are used. Here their drawings are written into
the pages of the built book, with the size and place that the script would give them (book.css).
"""

import re
from html import escape
from pathlib import Path

SCRIPT = "_static/scripts/fontawesome.js"
LOADED = re.compile(r'\s*<script src="[^"]*scripts/fontawesome\.js[^"]*"></script>')
# name:[width,height,[other names and codes],"code","path"], with one path or a list of two
ICON = re.compile(
    r'(?:"([a-z0-9-]+)"|\b([a-z]\w*)):\[(\d+),(\d+),\[([^\]]*)\],"[0-9a-f]+","([^"]*)"\]'
)
PLACE = re.compile(r'<(i|span)\b([^>]*\bclass="([^"]*\bfa(?:s|-solid)\b[^"]*)"[^>]*)></\1>')


def drawings(script):
    """{name: (width, height, path)} of the icons in the script of the theme."""
    found = {}
    for icon in ICON.finditer(script):
        for name in (icon[1] or icon[2], *re.findall(r'"([^"]+)"', icon[5])):
            found[name] = (icon[3], icon[4], icon[6])
    return found


def drawn(html, known):
    """The page with drawings in place of icons; a title is what a screen reader says."""

    def draw(place):
        classes = place[3].split()
        name = next(c[3:] for c in classes if c[:3] == "fa-" and c[3:] in known)
        width, height, path = known[name]
        kept = " ".join(["svg-inline--fa", *(c for c in classes if c not in ("fas", "fa-solid"))])
        mode = re.search(r'data-mode="\w+"', place[2])
        title = re.search(r'title="([^"]*)"', place[2])
        return (
            f'<svg class="{kept}"{" " + mode[0] if mode else ""} role="img" '
            + (f'aria-label="{escape(title[1])}"' if title else 'aria-hidden="true"')
            + f' viewBox="0 0 {width} {height}"><path fill="currentColor" d="{path}"/></svg>'
        )

    return LOADED.sub("", PLACE.sub(draw, html))


def lighten(app, exception):
    path = Path(app.outdir) / SCRIPT
    if exception is not None or app.builder.name != "html" or not path.is_file():
        return
    known = drawings(path.read_text(encoding="utf8"))
    for page in Path(app.outdir).rglob("*.html"):
        html = page.read_text(encoding="utf8")
        if (new := drawn(html, known)) != html:
            page.write_text(new, encoding="utf8")
    path.unlink()


def setup(app):
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
