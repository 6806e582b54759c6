"""Long proofs are folded on the web: the results come first, and a click opens the rest.

- A proof of many lines is folded by itself.
- ``{fold-section}`` folds the rest of the section it stands in; its argument says what is inside.

In the PDF everything stands open. A link into something folded opens it, and so does printing
(folds.js).
"""

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx_proof.nodes import proof_node

LONG = 8  # lines; a shorter proof is read faster than it is opened
LINE = 95  # characters of a line on the web
FORMULA = 3  # lines of a formula of its own


class FoldMark(nodes.Invisible, nodes.Element):
    """Where the folded rest of a section begins."""


class FoldSection(Directive):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        return [FoldMark(words=self.arguments[0])]


def lines(block):
    """About how many lines something takes."""
    text = sum(1 + len(part.astext()) // LINE for part in block.findall(nodes.paragraph))
    return text + FORMULA * len(list(block.findall(nodes.math_block)))


def opened(words, count):
    start = f'<details class="fold"><summary>{words}, about {count} lines</summary>'
    return nodes.raw("", start, format="html")


def closed():
    return nodes.raw("", "</details>", format="html")


def fold(app, doctree, docname):
    marks = list(doctree.findall(FoldMark))
    if app.builder.format == "html":
        for mark in marks:
            section = mark.parent
            rest = section[section.index(mark) + 1 :]
            section.insert(section.index(mark), opened(mark["words"], sum(map(lines, rest))))
            section.append(closed())
        for proof in list(doctree.findall(proof_node)):
            count = lines(proof)
            if count >= LONG and proof.parent is not None:
                place = proof.parent.index(proof)
                proof.parent.insert(place + 1, closed())
                proof.parent.insert(place, opened("Proof", count))
    for mark in marks:
        mark.parent.remove(mark)


def setup(app):
    app.add_node(FoldMark)
    app.add_directive("fold-section", FoldSection)
    app.connect("doctree-resolved", fold, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
