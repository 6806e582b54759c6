"""Where lines end: not between a formula and its mark, but inside a name too long for a phone.

The pieces of a formula are boxes, and browsers may break a line beside a box. On a phone a full
stop would often stand alone. So a formula and the marks around it are put into one element: the
style sheet allows a line break inside a long formula, but not beside it. The space between a number
and its percent sign becomes one that does not break. Long names in code get the class "long", which
the style sheet lets break on a phone; options such as --quiet do not.
"""

import re

from docutils import nodes

LONG = 24  # characters
BEFORE = re.compile(r"[(“‘]+$")
AFTER = re.compile(r"^[.,;:?!)”’]+")


def glue(app, doctree, docname):
    """Formulas and the marks around them become the content of one element."""
    if app.builder.format != "html":
        return
    for parent in list(doctree.findall(nodes.TextElement)):
        if any(isinstance(child, nodes.math) for child in parent.children):
            parent.children = glued(parent.children)
            for child in parent.children:
                child.parent = parent


def glued(children):
    """The same nodes, with the marks around each formula moved into an element with it."""
    children = list(children)
    result = []
    for place, child in enumerate(children):
        if not isinstance(child, nodes.math):
            result.append(child)
            continue
        before = after = ""
        if result and isinstance(result[-1], nodes.Text) and (found := BEFORE.search(result[-1])):
            before = found[0]
            result[-1] = nodes.Text(result[-1][: found.start()])
        follower = children[place + 1] if place + 1 < len(children) else None
        if isinstance(follower, nodes.Text) and (found := AFTER.search(follower)):
            after = found[0]
            children[place + 1] = nodes.Text(follower[found.end() :])
        if before or after:
            parts = [nodes.Text(before), child, nodes.Text(after)]
            child = nodes.inline("", "", *(part for part in parts if part != ""), classes=["glued"])
        result.append(child)
    return result


def bind_percent(app, doctree, docname):
    for parent in doctree.findall(nodes.Element):  # some nodes do not know their parent
        if isinstance(parent, nodes.literal | nodes.literal_block | nodes.raw):
            continue
        for place, text in enumerate(parent.children):
            if isinstance(text, nodes.Text) and "%" in text:
                bound = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)
                parent.children[place] = nodes.Text(bound)


def mark_long_names(app, doctree, docname):
    for name in doctree.findall(nodes.literal):
        if max(map(len, name.astext().split()), default=0) > LONG:
            name["classes"].append("long")


def setup(app):
    app.connect("doctree-resolved", bind_percent)
    app.connect("doctree-resolved", mark_long_names)
    app.connect("doctree-resolved", glue)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
