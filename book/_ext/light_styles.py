"""Style sheets without the rules that no page of the book needs.

The theme ships rules for everything it can show: every page would load 250 kB that change nothing.
A rule stays if each class it names stands in a page, or as a word in a script, which may add it.
"""

import re
from pathlib import Path

SHEETS = (
    "styles/pydata-sphinx-theme.css",
    "styles/sphinx-book-theme.css",
    "sphinx-design.min.css",
)
NESTED = ("@media", "@supports", "@container", "@layer")
OPTIONAL = re.compile(r":(?:not|is|where)\((?:[^()]|\([^()]*\))*\)")  # names in it need not exist


def blocks(css):
    """(head, body) of the rules of a style sheet; the body of ``@import ...;`` is None."""
    start = 0
    while (brace := css.find("{", start)) >= 0:
        end = css.find(";", start)
        if 0 <= end < brace and css[start:end].lstrip().startswith("@"):
            yield css[start : end + 1], None
            start = end + 1
            continue
        depth, end = 1, brace + 1
        while depth:
            depth += (css[end] == "{") - (css[end] == "}")
            end += 1
        yield css[start:brace], css[brace + 1 : end - 1]
        start = end


def without_unused(css, used):
    """The style sheet with those selectors only whose classes are all in ``used``."""
    kept = []
    for head, body in blocks(re.sub(r"/\*.*?\*/", "", css, flags=re.S)):
        if body is None:
            kept.append(head)
            continue
        if head.strip().startswith(NESTED):
            body = without_unused(body, used)
        elif not head.strip().startswith("@"):
            selectors = re.split(r",(?![^(]*\))", head)
            head = ",".join(s for s in selectors if classes(OPTIONAL.sub("", s)) <= used)
        if head.strip() and body.strip():
            kept.append(f"{head}{{{body}}}")
    return "".join(kept)


def classes(selector):
    return set(re.findall(r"\.([a-zA-Z_-][\w-]*)", selector))


def names(folder):
    """The classes in the pages of a folder, and the words in the scripts."""
    used = set()
    for page in folder.rglob("*.html"):
        for value in re.findall(r'class="?([^">]*)', page.read_text(encoding="utf8")):
            used.update(value.split())
    for script in (folder / "_static").rglob("*.js"):
        if script.name != "fontawesome.js":  # it has the names of all icons
            used.update(re.findall(r"[\w-]+", script.read_text(encoding="utf8")))
    return used


def lighten(app, exception):
    if exception is None and app.builder.name == "html":
        folder = Path(app.outdir)
        used = names(folder)
        for file in (folder / "_static" / sheet for sheet in SHEETS):
            if file.is_file():
                text = file.read_text(encoding="utf8")
                file.write_text(without_unused(text, used), encoding="utf8")


def setup(app):
    app.connect("build-finished", lighten, priority=600)  # behind light_icons
    return {"parallel_read_safe": True, "parallel_write_safe": True}
