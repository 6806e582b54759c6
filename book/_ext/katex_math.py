"""Formulas are typeset when the book is built: HTML for the eye, MathML for screen readers.

* KaTeX runs in QuickJS. Its script, style sheet and fonts are those of one wheel, wagtail-katex,
  which is used as a data package (``book/requirements-data.txt``), so their versions match. No page
  needs a script, or the network, to show a formula.
* ``book/macros.tex`` defines the macros for the HTML pages and for the PDF, which reads
  ``book/preamble.tex`` too.
* A formula that KaTeX does not understand is a warning with its file and line, and the book is
  built with warnings as errors. So is a macro of ours as a root, index or exponent without braces:
  KaTeX takes it, LaTeX stops.
* Every formula knows its width in em (``--w``), so that the style sheet can make it smaller on a
  narrow screen before anything is shown (``katex_render.js``).
"""

import base64
import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile

import quickjs
from docutils import nodes
from katex_markup import compact, named, rules
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

MACRO = re.compile(r"^\\newcommand\{\\(\w+)\}(?:\[(\d)\])?\{(.*)\}\s*$", re.M)
BARE = re.compile(r"(?:\\sqrt|[_^])\s*\\([a-zA-Z]+)")
ANNOTATION = re.compile(r"<annotation .*?</annotation>", re.S)
FONT = re.compile(
    r"url\((fonts/KaTeX_([\w-]+)\.woff2)\) format\(.woff2.\)(?:,url\([^)]*\) [^,;}]*)*"
)
# Fonts of nearly every page: a part of the style sheet, so that no line moves when they arrive.
COMMON = "Main-Regular Main-Bold Math-Italic AMS-Regular Size1-Regular Size2-Regular".split()
WIDE = 14  # em: on a phone, a piece of a formula in the text that is wider gets smaller
BREAKS = 8  # em: a longer formula in the text may go on in the next line
SHEET = "katex.css"

logger = logging.getLogger(__name__)


class FormulaError(ValueError):
    """KaTeX does not understand a formula."""


def katex_folder():
    """The folder with the script, the style sheet and the fonts of KaTeX."""
    found = find_spec("wagtailkatex")  # looked up, not imported: that would need Wagtail
    if found is None:
        raise ImportError("no package wagtail-katex: `make install` adds it")
    return Path(found.origin).parent / "static" / "wagtailkatex" / "katex"


@cache
def known_classes():
    return named((katex_folder() / "katex.min.css").read_text(encoding="utf8"))


@cache
def engine():
    """The function ``render`` of katex_render.js in a JavaScript engine of its own."""
    context = quickjs.Context()
    context.eval((katex_folder() / "katex.min.js").read_text(encoding="utf8"))
    context.eval(Path(__file__).with_name("katex_render.js").read_text(encoding="utf8"))
    return context, context.get("render")


@cache
def typeset(tex, display, macros):
    """(markup, width, width of the widest piece that stays on one line), widths in em.

    macros  JSON of {command with its backslash: body}
    """
    _context, render = engine()
    answer = json.loads(render(tex, display, macros))
    if "error" in answer:
        raise FormulaError(answer["error"])
    markup = ANNOTATION.sub("", answer["markup"])
    markup = markup.replace("<semantics>", "").replace("</semantics>", "")
    return compact(markup, known_classes()), answer["width"], answer["widest"]


def display_tex(node):
    """The TeX of a block: as Sphinx hands it to LaTeX, without automatic numbers."""
    text = node.astext()
    if node.get("nowrap"):
        return re.sub(r"(\\(?:begin|end)\{(?:align|gather|equation|alignat))\}", r"\1*}", text)
    rows = [part.strip() for part in text.split("\n\n") if part.strip()]
    rows = [rf"\begin{{split}}{row}\end{{split}}" if r"\\" in row else row for row in rows]
    if len(rows) > 1:
        return r"\begin{aligned}" + r"\\".join(rows) + r"\end{aligned}"
    return "".join(rows)


def visit_inline(self, node):
    markup, width, widest = typeset(node.astext(), False, self.config.firal_macros)
    classes = "math breaks" if width > BREAKS else "math"
    wide = {"CLASS": f"{classes} wide", "STYLE": f"--w:{width:.1f}"} if widest > WIDE else {}
    self.body.append(self.starttag(node, "span", "", **{"CLASS": classes, **wide}))
    self.body.append(f"{markup}</span>")
    raise nodes.SkipNode


def visit_block(self, node):
    markup, width, _widest = typeset(display_tex(node), True, self.config.firal_macros)
    self.body.append(self.starttag(node, "div", "", CLASS="math", STYLE=f"--w:{width:.1f}"))
    if node.get("number"):
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    self.body.append(f"{markup}</div>\n")
    raise nodes.SkipNode


def check_formulas(app, doctree):
    """Warn about what cannot be typeset; later such a formula stands there as its source."""
    names = {name.removeprefix("\\") for name in json.loads(app.config.firal_macros)}
    for node in list(doctree.findall(lambda n: isinstance(n, nodes.math | nodes.math_block))):
        display = isinstance(node, nodes.math_block)
        tex = display_tex(node) if display else node.astext()
        try:
            typeset(tex, display, app.config.firal_macros)
        except FormulaError as error:
            logger.warning("formula: %s", error, location=_place(app, node))
            node.replace_self(nodes.literal(node.astext(), node.astext()))
        for name in sorted(names & set(BARE.findall(node.astext()))):
            message = "put braces around \\%s here: LaTeX needs them"
            logger.warning(message, name, location=_place(app, node))


def _place(app, node):
    """(page, line); a formula in the text has the line of its paragraph."""
    while node is not None and node.line is None:
        node = node.parent
    return app.env.docname, node.line if node is not None else None


def load_macros(app, config):
    book = Path(app.srcdir) / "book"
    text = (book / "macros.tex").read_text(encoding="utf8")
    macros = {f"\\{name}": body for name, _count, body in MACRO.findall(text)}
    config.firal_macros = json.dumps(macros)
    config.html_math_renderer = "katex"
    preamble = book / "preamble.tex"
    if preamble.is_file():
        text = preamble.read_text(encoding="utf8") + text
    config.latex_elements = {**config.latex_elements, "preamble": text}


def style_sheet(folder):
    """The style sheet of KaTeX with the common fonts inside; the others stay files, as WOFF2."""

    def source(found):
        file, name = found.groups()
        if name not in COMMON:
            return f'url({file}) format("woff2")'
        font = base64.b64encode((folder / file).read_bytes()).decode()
        return f'url(data:font/woff2;base64,{font}) format("woff2")'

    return FONT.sub(source, (folder / "katex.min.css").read_text(encoding="utf8")) + rules()


def copy_style(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    folder, target = katex_folder(), Path(app.outdir) / "_static"
    (target / "fonts").mkdir(parents=True, exist_ok=True)
    sheet = style_sheet(folder)
    (target / SHEET).write_text(sheet, encoding="utf8")
    for file in re.findall(r"url\((fonts/[\w-]+\.woff2)\)", sheet):
        copyfile(folder / file, target / file)


def setup(app):
    app.add_config_value("firal_macros", "{}", "env", types=[str])
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.add_css_file(SHEET, priority=100)  # before the sheets of theme and book
    app.connect("config-inited", load_macros, priority=400)
    app.connect("doctree-read", check_formulas)
    app.connect("build-finished", copy_style)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
