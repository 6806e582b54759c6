"""The API reference: what autodoc makes of docstrings that were written to be read as plain text.

- An indented block is a formula or an example: shown as it stands, not run together as a quotation.
- Aligned columns, name and meaning, are a list.
- A bar such as in |x| or p(y|x) is a bar.
- The fields of a result are listed with the comments that explain them in the source.
- A function that ``firal`` exports says so; ``firal.fit`` leads to ``firal.model.logistic.fit``.
- ``{api-exports}`` is the table of these functions.
- Wherever the book mentions a documented name in code font, as in `firal.fit`, it becomes a link.
"""

import inspect
import itertools
import re
import sys
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import firal  # noqa: E402

FIELD = re.compile(r"    (\w+): .*?  # (.*)")
ENTRY = re.compile(r"(\S+(?: \S+)*) {2,}(\S.*)")
ITEM = re.compile(r"\s*([-*]|\d+\.) ")
MENTION = re.compile(r"(firal(?:\.\w+)+)(?:\(.*\))?")


def to_rst(lines):
    """Plain docstring lines as reStructuredText lines."""
    out, before = [], ""
    for block in _paragraphs(lines):
        kind = _kind(block, before)
        if kind == "block" != before:
            code = re.match(r"\s+(from|import|firal\.|\w+ = firal\.)", block[0])
            out += [f".. code-block:: {'python' if code else 'text'}", ""]
        if kind == "table":  # "name   meaning" in aligned columns
            entries = [ENTRY.fullmatch(line) for line in block]
            out += [
                f"- **{entry[1]}**: {_with_bars(entry[2])}" if entry else "  " + line.strip()
                for entry, line in zip(entries, block, strict=True)
            ]
        else:
            out += block if kind == "block" else [_with_bars(line) for line in block]
        out.append("")
        before = kind
    return out


def _kind(block, before):
    """One of block (formula or code), table, list, text; ``before`` is that of the one before."""
    if block[0].startswith(" "):
        return "list" if before == "list" else "block"
    if ITEM.match(block[0]):
        return "list"
    aligned = [bool(ENTRY.fullmatch(line)) or line.startswith("    ") for line in block]
    return "table" if ENTRY.fullmatch(block[0]) and len(block) > 1 and all(aligned) else "text"


def _paragraphs(lines):
    for blank, block in itertools.groupby(lines, lambda line: not line.strip()):
        if not blank:
            yield list(block)


def _with_bars(line):
    """Escape | outside ``code``."""
    parts = re.split(r"(``.*?``)", line)
    return "".join(p if p.startswith("``") else p.replace("|", "\\|") for p in parts)


def fields(cls):
    """(name, comment) of the fields that have a comment in the source of a class."""
    found = []
    for line in inspect.getsource(cls).splitlines():
        if re.match(r"    (def|@|class) ?", line):
            break
        if match := FIELD.fullmatch(line):
            found.append(match.groups())
    return found


def public_name(module, name):
    """``firal.name`` if the package exports what ``module.name`` is, else None."""
    exported = name in firal.__all__ and getattr(firal, name)
    return f"firal.{name}" if getattr(exported, "__module__", None) == module else None


def home(name):
    """``firal.model.logistic.fit`` for ``firal.fit``; other names as they are."""
    package, _, short = name.rpartition(".")
    if package == "firal" and short in firal.__all__:
        return f"{getattr(getattr(firal, short), '__module__', name)}.{short}"
    return name


def exports_markdown():
    """Table of what the package exports: name, and the first sentence about it."""
    lines = ["| name | what it is |", "|---|---|"]
    for name in firal.__all__:
        thing = getattr(firal, name)
        if isinstance(thing, dict):
            first = "dictionary with the keys " + ", ".join(f"`{key}`" for key in thing)
        else:
            first = inspect.getdoc(thing).split("\n\n")[0].replace("\n", " ")
            first = re.sub(r":\w+:`([^`]*)`", r"`\1`", first).replace("``", "`")
        lines.append(f"| `firal.{name}` | " + first.replace("|", "\\|") + " |")
    return lines


class ApiExports(SphinxDirective):
    def run(self):
        holder = nodes.container()
        self.state.nested_parse(StringList(exports_markdown(), "exports"), 0, holder)
        return holder.children


def process(app, what, name, obj, options, lines):
    result = to_rst(lines)
    if what == "class" and (hasattr(obj, "_fields") or hasattr(obj, "__dataclass_fields__")):
        result += ["", *(f"- **{field}**: {_with_bars(note)}" for field, note in fields(obj))]
    if what in ("class", "function"):
        module, _, short = name.rpartition(".")
        if exported := public_name(module, short):
            result += ["", f"*Exported as* {exported}."]
    lines[:] = [*result, ""]


def skip(app, what, name, obj, skip, options):
    """The fields of a named tuple are listed by ``process``."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def resolve(app, env, node, contnode):
    """``firal.fit`` in a docstring's role is where it is documented."""
    if node.get("refdomain") == "py":
        return _link(app, node["refdoc"], node["reftarget"], contnode)


def link_mentions(app, doctree, docname):
    """Names of documented things in code font become links."""
    for literal in list(doctree.findall(nodes.literal)):
        match = MENTION.fullmatch(literal.astext())
        if match and not _inside(literal, (nodes.reference, nodes.title)):
            link = _link(app, docname, match[1], literal.deepcopy())
            if link is not None:
                literal.replace_self(link)


def _inside(node, kinds):
    while node is not None and not isinstance(node, kinds):
        node = node.parent
    return node is not None


def _link(app, docname, name, content):
    known = app.env.get_domain("py").objects
    entry = known.get(home(name)) or known.get(name)
    if entry is None:
        return None
    return make_refnode(app.builder, docname, entry.docname, entry.node_id, content, name)


def setup(app):
    app.add_directive("api-exports", ApiExports)
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    app.connect("missing-reference", resolve)
    app.connect("doctree-resolved", link_mentions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
