"""One numbering: the paper's items keep the paper's numbers, ours have a letter.

- A statement or algorithm whose label is in the registry (``thm-3``) is "Theorem 3 of the paper",
  and a reference to it reads "Theorem 3", whatever stands before it in this book.
- Everything else that is numbered is ours. Each page with such items has a letter, in the order of
  the book, and one count for all kinds of statements: "Theorem L2" is the second of page L.
  Figures and tables have a count of their own, "Fig. L3".
- So "Theorem 3" in a text can only mean the paper's. Every such mention becomes a link: a statement
  to its place in this book, a figure to its row on the scoreboard. A mention of a number that the
  paper does not have is a warning, and so stops the build. Numbers of other works are left alone
  if they have a point ("Theorem 2.8.1") or name their authors ("Lemma 1 of Chaudhuri").
"""

import re
import sys
from pathlib import Path

from api_links import within
from docutils import nodes
from exercise_list import contents
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.nodes import make_refnode
from sphinx_proof.nodes import NODE_TYPES

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from firal.companion import claims  # noqa: E402

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # neither I nor O: they look like numbers
KINDS = {
    "Assumption": "asm",
    "Lemma": "lem",
    "Theorem": "thm",
    "Proposition": "prop",
    "Definition": "def",
    "Corollary": "cor",
    "Remark": "rem",
    "Algorithm": "alg",
    "Figure": "fig",
}
PLURAL = {"Corollaries": "Corollary", "Lemmata": "Lemma"} | {f"{name}s": name for name in KINDS}
SEVERAL = r"\d+(?:(?:, | and |, and | to | or )\d+(?!\.?\d))*"  # behind a plural
MENTION = re.compile(
    rf"\b(?:({'|'.join(PLURAL)})[ \u00a0]({SEVERAL})|({'|'.join(KINDS)})[ \u00a0](\d+))(?!\.?\d)"
)
OTHER_WORK = re.compile(r"\s+(?:of|in)\s+[A-Z][a-z]+\b")  # "of Tropp"
SKIP = (
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    addnodes.pending_xref,
    addnodes.desc_signature,
)

logger = logging.getLogger(__name__)


def registry(root):
    """The ids of the numbered items of the paper."""
    file = Path(root) / "book" / "claims.yml"
    known = claims.registry(file) if file.is_file() else {}
    return {name for name in known if re.fullmatch(r"[a-z]+-\d+", name)}


def prefixes(pages):
    """{page: what its numbers begin with}: a letter, or for a notebook the start of its name."""
    names = iter([*LETTERS, *(first + second for first in LETTERS for second in LETTERS)])
    return {
        page: f"{page.split('/')[1].split('_')[0]}." if "notebooks/" in page else next(names)
        for page in pages
    }


def pages_in_order(env):
    """All pages: the home page, the chapters with their notebooks as the contents list them."""
    listed = [page for chapter in contents(Path(env.srcdir)) for page in chapter]
    listed = [page.relative_to(env.srcdir).with_suffix("").as_posix() for page in listed]
    return [env.config.root_doc, *listed]


def own_statements(env, page, paper):
    """The labels of our statements on a page, in its order."""
    doctree = env.get_doctree(page)
    found = doctree.findall(lambda node: isinstance(node, tuple(NODE_TYPES.values())))
    return [node["label"] for node in found if node["label"] not in paper]


def restore(app, env):
    """Before Sphinx compares its numbers with those of the last build: its own, not ours."""
    env.toc_fignumbers = getattr(env, "firal_plain_numbers", env.toc_fignumbers)
    return []


def assign(app, env):
    """Put the paper's numbers and the letters in place of what Sphinx has counted."""
    env.firal_plain_numbers = env.toc_fignumbers
    paper = registry(env.srcdir)
    numbers = {
        page: {kind: dict(ids) for kind, ids in kinds.items()}
        for page, kinds in env.toc_fignumbers.items()
    }
    proofs = getattr(env, "proof_list", {})
    own = {
        page: own_statements(env, page, paper)
        for page in pages_in_order(env)
        if page in numbers and any(proof["docname"] == page for proof in proofs.values())
    }
    figures = {page: {"figure", "table"} & set(numbers[page]) for page in numbers}
    wanted = [page for page in pages_in_order(env) if own.get(page) or figures.get(page)]
    for page, letter in prefixes(wanted).items():
        place = {label: k for k, label in enumerate(own.get(page, ()), 1)}
        for kind, ids in numbers[page].items():
            for k, name in enumerate(ids, 1):
                if name in paper and proofs.get(name, {}).get("docname") == page:
                    continue
                if name in place:
                    ids[name] = (f"{letter}{place[name]}",)
                elif kind in ("figure", "table"):
                    ids[name] = (f"{letter}{k}",)
    for label in paper & proofs.keys():
        page, kind = proofs[label]["docname"], proofs[label]["countertype"]
        numbers[page][kind][label] = (label.split("-")[1],)
    env.toc_fignumbers = numbers
    return []


def mark_the_papers(app, doctree):
    """The box of an item of the paper says so."""
    paper = registry(app.srcdir)
    for node in doctree.findall(lambda node: isinstance(node, tuple(NODE_TYPES.values()))):
        if node["label"] in paper:
            node[0].insert(0, nodes.Text(" of the paper "))  # LaTeX puts no space itself


def link_mentions(app, doctree, docname):
    paper = registry(app.srcdir)
    if not paper:
        return
    for parent in list(doctree.findall(nodes.TextElement)):
        if within(parent, SKIP):
            continue
        for text in [child for child in parent.children if isinstance(child, nodes.Text)]:
            place = parent.children.index(text)
            after = parent.children[place + 1] if place + 1 < len(parent.children) else None
            cited = after is not None and after.astext().startswith("[")
            pieces = linked(app, docname, text, paper, _page(parent, docname), cited)
            if any(isinstance(piece, nodes.reference) for piece in pieces):
                parent.children[place : place + 1] = pieces
                for piece in pieces:
                    piece.parent = parent


def linked(app, docname, text, paper, page, cited=False):
    """The pieces of a text, with each number of the paper's items in a link.

    cited  whether a citation follows: "Theorem 2 of [12]" is not the paper's
    """
    pieces, start = [], 0
    for found in MENTION.finditer(text):
        kind = PLURAL.get(found[1]) or found[3]
        which = 2 if found[2] else 4
        rest = text[found.end() :]
        if OTHER_WORK.match(rest) or (cited and re.fullmatch(r"\s+(?:of|in)\s+", rest)):
            continue
        for number in re.finditer(r"\d+", found[which]):
            label = f"{KINDS[kind]}-{number[0]}"
            first = found.start() if number.start() == 0 else found.start(which) + number.start()
            last = found.start(which) + number.end()
            target = _target(app.env, label, paper)
            if target and target[0] == docname == "book/scoreboard":
                continue  # the row of a figure need not lead to itself
            if target is None:
                message = "'%s %s': the paper has no such item. Name the other work right behind it"
                logger.warning(message, kind, number[0], location=page)
                continue
            words = nodes.inline("", text[first:last])
            link = make_refnode(app.builder, docname, *target, words)
            pieces += [nodes.Text(text[start:first]), link]
            start = last
    return [piece for piece in [*pieces, nodes.Text(text[start:])] if piece.astext()]


def _target(env, label, paper):
    """(page, anchor) of an item of the paper; None for other labels."""
    proof = getattr(env, "proof_list", {}).get(label)
    if label not in paper:
        return None
    return (proof["docname"], label) if proof else ("book/scoreboard", f"score-{label}")


def _page(node, docname):
    """The page that a node comes from; the PDF is one tree of all of them."""
    while node is not None:
        if isinstance(node, addnodes.start_of_file):
            return node["docname"]
        node = node.parent
    return docname


def on_pages(node, page):
    """(page, parent, node) of everything in a tree; the tree of the PDF has all pages in it.

    From the top: in that tree not every node knows its parent.
    """
    for child in list(node.children):
        here = child["docname"] if isinstance(child, addnodes.start_of_file) else page
        yield here, node, child
        yield from on_pages(child, here)


def number_in_latex(app, doctree, docname):
    """LaTeX counts figures and tables itself: tell it our numbers."""
    if app.builder.format != "latex":
        return
    kinds = {nodes.figure: "figure", nodes.table: "table"}
    for page, parent, node in list(on_pages(doctree, docname)):
        name = kinds.get(type(node))
        if name and node["ids"]:
            numbers = app.env.toc_fignumbers.get(page, {}).get(name, {})
            if number := numbers.get(node["ids"][0]):
                text = rf"\renewcommand{{\the{name}}}{{{'.'.join(map(str, number))}}}"
                parent.insert(parent.index(node), nodes.raw("", text, format="latex"))


def setup(app):
    app.connect("doctree-read", mark_the_papers)
    app.connect("env-get-updated", restore, priority=100)
    app.connect("env-get-updated", assign, priority=900)
    app.connect("doctree-resolved", link_mentions, priority=450)
    app.connect("doctree-resolved", number_in_latex, priority=800)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
