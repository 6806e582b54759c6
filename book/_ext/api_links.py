"""Names of the module lead to their entries in the API reference.

- ``firal.fit`` is the entry of ``firal.model.fitting.fit``: in roles, tables and docstrings.
- A documented name in code font, as in `firal.fit(X, y, 2)`, becomes a link.
- The fields of a named tuple are not listed again: its docstring has them under Attributes.
"""

import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx.util.nodes import make_refnode

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import firal  # noqa: E402

MENTION = re.compile(r"(firal(?:\.\w+)+)(?:\(.*\))?")


def home(name):
    """Where a name of ``firal.__all__`` is documented: "firal.model.fitting.fit" for "fit"."""
    module = getattr(getattr(firal, name), "__module__", "firal.strategies")  # STRATEGIES
    return f"{module}.{name}"


def add_short_names(app, env):
    entries = env.get_domain("py").objects
    for name in firal.__all__:
        if home(name) in entries:
            entries[f"firal.{name}"] = entries[home(name)]._replace(aliased=True)


def link_mentions(app, doctree, docname):
    entries = app.env.get_domain("py").objects
    for literal in list(doctree.findall(nodes.literal)):
        match = MENTION.fullmatch(literal.astext())
        entry = entries.get(match[1]) if match else None
        if entry and not within(literal, (nodes.reference, nodes.title)):
            place = app.builder, docname, entry.docname, entry.node_id
            literal.replace_self(make_refnode(*place, literal.deepcopy(), match[1]))


def within(node, kinds):
    """Whether a node is one of these kinds, or stands in one."""
    while node is not None and not isinstance(node, kinds):
        node = node.parent
    return node is not None


def skip_fields(app, what, name, obj, skip, options):
    return True if type(obj).__name__ == "_tuplegetter" else None


def setup(app):
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("env-updated", add_short_names)
    app.connect("doctree-resolved", link_mentions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
