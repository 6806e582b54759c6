"""Mathematics without the network, from one source of macros.

* MathJax is served from the built book: one file with SVG output and no fonts, taken from the
  wheel of ``sphinx-mathjax-offline`` (used as a data package; its own setup copies 24 MB).
* ``book/macros.tex`` defines the macros for the HTML pages and for the PDF, which reads
  ``book/preamble.tex`` too.
* Sphinx never looks into formulas. So every command and environment in a formula is looked up
  here, in the macros and in MathJax's own tables; an unknown one is a warning with its place,
  and the book is built with warnings as errors. So is a macro of ours as a root, index or exponent
  without braces: MathJax takes it, LaTeX stops.
"""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile

from docutils import nodes
from sphinx.util import logging

NAME = "tex-svg-full.js"
MACRO = re.compile(r"^\\newcommand\{\\(\w+)\}(?:\[(\d)\])?\{(.*)\}\s*$", re.M)
COMMAND = re.compile(r"\\([a-zA-Z]+)")
ENVIRONMENT = re.compile(r"\\begin\s*\{([a-zA-Z]+\*?)\}")
BARE = re.compile(r"(?:\\sqrt|[_^])\s*\\([a-zA-Z]+)")
TEXT = re.compile(r"\\(?:text|textbf|textit|mbox)\s*\{[^{}]*\}")

logger = logging.getLogger(__name__)


def mathjax_file():
    return Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax" / NAME


@cache
def mathjax_names():
    """Commands and environments MathJax knows: the keys of the tables in its bundle."""
    bundle = mathjax_file().read_text(encoding="utf8")
    return frozenset(re.findall(r"""[{,]\s*["']?(?:\\\\)?([a-zA-Z]+\*?)["']?\s*:""", bundle))


def load_macros(app, config):
    book = Path(app.srcdir) / "book"
    text = (book / "macros.tex").read_text(encoding="utf8")
    macros = {name: [body, int(n)] if n else body for name, n, body in MACRO.findall(text)}
    mathjax = config.mathjax3_config = dict(config.mathjax3_config or {})
    mathjax["tex"] = {
        **mathjax.get("tex", {}),
        "macros": macros,
        "packages": {"[-]": ["noundefined"]},  # an undefined macro shows as an error, not as text
    }
    preamble = book / "preamble.tex"
    if preamble.is_file():
        text = preamble.read_text(encoding="utf8") + text
    config.latex_elements = {**config.latex_elements, "preamble": text}
    app.firal_macros = frozenset(macros)


def check_formulas(app, doctree):
    for node in doctree.findall(lambda n: isinstance(n, nodes.math | nodes.math_block)):
        formula = TEXT.sub(" ", node.astext())
        used = set(COMMAND.findall(formula)) | set(ENVIRONMENT.findall(formula))
        for name in sorted(used - app.firal_macros - mathjax_names()):
            logger.warning(
                "unknown LaTeX command or environment '%s': define it in book/macros.tex",
                name,
                location=node,
            )
        for name in sorted(app.firal_macros & set(BARE.findall(formula))):
            logger.warning("put braces around \\%s here: LaTeX needs them", name, location=node)


def copy_mathjax(app, exception):
    if exception is None and app.builder.format == "html":
        target = Path(app.outdir) / "_static" / "mathjax" / NAME
        target.parent.mkdir(parents=True, exist_ok=True)
        copyfile(mathjax_file(), target)


def setup(app):
    app.config.mathjax_path = f"mathjax/{NAME}"
    app.connect("config-inited", load_macros, priority=400)
    app.connect("doctree-read", check_formulas)
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
