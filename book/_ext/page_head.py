"""What stands in the head of a page: a description, a card for messages, and no script for nothing.

- The description of a page is its first paragraph, or the first point of what one will learn.
  Search engines, messages and the search of the book show it.
- Thebe, which runs cells on a server far away, is switched off: it would load from the network, and
  its script stands twice in each page.
- The theme starts in the mode of the reader's system; without a word it complains in the console.
- The scripts of the theme write nothing to the console, so that what stands there is ours.
"""

import re
from html import escape
from pathlib import Path

from docutils import nodes

LENGTH = 200  # characters of a description
CARD = "headline.png"


def without_thebe(app, config):
    for listeners in app.events.listeners.values():
        listeners[:] = [one for one in listeners if one.handler.__module__ != "sphinx_thebe"]
    config.html_context = {**config.html_context, "default_mode": "auto"}


def description(doctree):
    """The first paragraph or point of a page as plain text, cut at the end of a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.list_item):
            text = re.sub(r"\s+", " ", plain(paragraph)).strip()
            if len(text) > LENGTH:
                text = text[:LENGTH].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"
            if len(text) > 40:
                return text
    return ""


def plain(node):
    """The text of a node; a formula is its source without the signs of TeX."""
    if isinstance(node, nodes.math):
        return re.sub(r"[\\{}$]", "", node.astext())
    if not isinstance(node, nodes.Element):
        return node.astext()
    if node.get("refdomain") == "cite":  # not resolved yet: the key of a reference
        return ""
    return "".join(map(plain, node.children))


def add_tags(app, pagename, templatename, context, doctree):
    context["css_files"] = [one for one in context["css_files"] if "thebe" not in str(one)]
    if doctree is None:
        return
    title = re.sub(r"<[^>]*>", "", context.get("title", "")) or app.config.html_title
    words = description(doctree) or app.config.html_title
    picture = context["pathto"](f"_static/{CARD}", resource=True)
    if app.config.html_baseurl:
        picture = f"{app.config.html_baseurl.rstrip('/')}/_static/{CARD}"
    tags = {
        'name="description"': words,
        'property="og:title"': title,
        'property="og:description"': words,
        'property="og:type"': "article",
        'property="og:site_name"': app.config.html_title,
        'property="og:image"': picture,
        'name="twitter:card"': "summary_large_image",
    }
    context["metatags"] = context.get("metatags", "") + "".join(
        f'\n    <meta {name} content="{escape(value)}" />' for name, value in tags.items()
    )


def silence(app, exception):
    if exception is None and app.builder.name == "html":
        for script in (Path(app.outdir) / "_static").rglob("*.js"):
            text = script.read_text(encoding="utf8")
            if "console.log(" in text:
                script.write_text(text.replace("console.log(", "void ("), encoding="utf8")


def setup(app):
    app.connect("config-inited", without_thebe, priority=900)
    app.connect("html-page-context", add_tags)
    app.connect("build-finished", silence)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
