"""``{reading-time}`` with the name of a page: the minutes that it takes, counted by a tool."""

import sys
from pathlib import Path

from docutils import nodes

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_tools"))
from reading_time import count  # noqa: E402


def minutes(name, rawtext, text, lineno, inliner, options=None, content=None):
    page = Path(inliner.document.settings.env.srcdir) / f"{text}.md"
    found = count(page.read_text(encoding="utf8"))
    return [nodes.Text(f"{found.minutes():.0f}")], []


def setup(app):
    app.add_role("reading-time", minutes)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
