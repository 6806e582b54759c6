"""Search that finds: titles and summaries first, and words that mean the same.

Sphinx ranks all pages with a word alike, in the order of their names. Here a page is known by its
title, its headings and its summary (the first paragraph), and ``book/search.yml`` lists words with
the same meaning and the best place for a few common questions. ``search_first.js`` puts what fits
on top; what Sphinx found follows.
"""

import json
from pathlib import Path

import yaml
from docutils import nodes
from page_head import description
from sphinx.util import logging

WORDS = "book/search.yml"
DATA = "search_data.js"

logger = logging.getLogger(__name__)


def remember(app, doctree):
    """The summary of a page, kept with the environment: unchanged pages are not read again."""
    summaries = app.env.__dict__.setdefault("firal_summaries", {})
    summaries[app.env.docname] = description(doctree) or first_words(doctree)


def first_words(doctree):
    for paragraph in doctree.findall(nodes.paragraph):
        return paragraph.astext()[:200]
    return ""


def forget(app, env, docname):
    env.__dict__.setdefault("firal_summaries", {}).pop(docname, None)


def merge(app, env, docnames, other):
    env.__dict__.setdefault("firal_summaries", {}).update(getattr(other, "firal_summaries", {}))


def add_scripts(app, pagename, templatename, context, doctree):
    if pagename == "search":
        app.add_js_file(DATA, priority=500)
        app.add_js_file("search_first.js", priority=501)


def data(app):
    """What the script needs to know; a place that is not in the book is a warning."""
    path = Path(app.srcdir) / WORDS
    words = yaml.safe_load(path.read_text(encoding="utf8")) if path.is_file() else {}
    for question in words.get("questions", ()):
        page = question["page"].partition("#")[0]
        if page not in app.env.all_docs:
            logger.warning("%s: no page %r", WORDS, page)
    summaries = getattr(app.env, "firal_summaries", {})
    return {
        "same": words.get("same", []),
        "questions": words.get("questions", []),
        "summaries": {page: text for page, text in sorted(summaries.items()) if text},
    }


def write(app, exception):
    if exception is None and app.builder.name == "html":
        text = json.dumps(data(app), ensure_ascii=False, separators=(",", ":"))
        target = Path(app.outdir) / "_static" / DATA
        target.write_text(f"const FIRAL_SEARCH={text};\n", encoding="utf8")


def setup(app):
    app.connect("doctree-read", remember)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
