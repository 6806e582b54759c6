"""Pointing at a link to a statement or an equation shows it.

Pages on the disk may not read each other, but they may load scripts. So each page with statements
has a script beside it, ``_static/previews/NAME.js``, with the markup of its statements and
equations, cut out of the built page. ``previews.js`` loads it when a link to that page is pointed
at. Citations need none of this: their links carry the reference as a title.
"""

import json
import re
from pathlib import Path

FOLDER = "previews"
START = re.compile(r'<div class="(?:proof [a-z]+ admonition|math)" id="([^"]+)"[^>]*>')
SPEECH = re.compile(r"<span class=\"?katex-mathml\"?>.*?</math></span>", re.S)
LONGEST = 20_000  # characters; a longer statement is read in its place


def block(html, start):
    """The element that begins at a place, up to its own end."""
    depth = 0
    for tag in re.compile(r"<(/?)div\b").finditer(html, start):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return html[start : html.index(">", tag.end()) + 1]
    return html[start:]


def quiet(markup):
    """For the eye only: no speech, no ids that would be there twice, nothing to click."""
    markup = SPEECH.sub("", markup)
    markup = re.sub(r'<a class="headerlink".*?</a>', "", markup, flags=re.S)
    markup = re.sub(r"<a\b[^>]*>", "<span>", markup).replace("</a>", "</span>")
    return re.sub(r'\s(?:id|tabindex)="[^"]*"', "", markup)


def previews(html):
    """{anchor: markup} of the statements and equations of a page."""
    found = {}
    for start in START.finditer(html):
        markup = quiet(block(html, start.start()))
        if len(markup) <= LONGEST:
            found[start[1]] = markup
    return found


def write(app, exception):
    if exception is not None or app.builder.name != "html":
        return
    folder = Path(app.outdir) / "_static" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.js"):
        old.unlink()
    for page in sorted(Path(app.outdir).glob("book/*.html")):
        if found := previews(page.read_text(encoding="utf8")):
            text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
            script = f"firalPreviews({json.dumps(page.stem)},{text});\n"
            (folder / f"{page.stem}.js").write_text(script, encoding="utf8")


def setup(app):
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
