"""No line ends between a formula and the mark that belongs to it.

MathJax makes every inline formula a box of its own, and browsers may break a line beside a box. On
a phone a full stop would often stand alone. So the two are put into one element that stays on one
line.
"""

import re

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


def setup(app):
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
