"""Where lines end: not between a formula and its mark, but inside a name too long for a phone.

MathJax makes every inline formula a box of its own, and browsers may break a line beside a box. On
a phone a full stop would often stand alone. So the two are put into one element that stays on one
line. The space between a number and its percent sign becomes one that does not break. Long names in
code get the class "long", which the style sheet lets break on a phone; options such as --quiet do
not.
"""

import re

from docutils import nodes

LONG = 24  # characters
FORMULA = r'<span class="math notranslate nohighlight">\\\(.*?\\\)</span>'
GLUED = re.compile(rf"([(“‘]*)({FORMULA})([.,;:?!)”’]*)", re.S)


def glue(html):
    """The page with formulas and the marks around them kept together."""

    def together(found):
        before, formula, after = found.groups()
        if not (before or after):
            return formula
        return f'<span class="glued">{before}{formula}{after}</span>'

    return GLUED.sub(together, html)


def mend(app, pagename, templatename, context, doctree):
    if "body" in context:
        context["body"] = glue(context["body"])


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
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
