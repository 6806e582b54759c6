"""Long proofs are folded on the web: the results come first, and a click opens the rest.

In the PDF they stand open. A link into a folded proof opens it, and so does printing (folds.js).
"""

from docutils import nodes
from sphinx_proof.nodes import proof_node

LONG = 18  # lines; a shorter proof is read faster than it is opened
LINE = 95  # characters of a line on the web
FORMULA = 3  # lines of a formula of its own


def lines(proof):
    """About how many lines a proof takes."""
    text = sum(1 + len(block.astext()) // LINE for block in proof.findall(nodes.paragraph))
    return text + FORMULA * len(list(proof.findall(nodes.math_block)))


def fold(app, doctree, docname):
    if app.builder.format != "html":
        return
    for proof in list(doctree.findall(proof_node)):
        count = lines(proof)
        if count < LONG or proof.parent is None:
            continue
        place = proof.parent.index(proof)
        start = f'<details class="fold"><summary>Proof, about {count} lines</summary>'
        proof.parent.insert(place + 1, nodes.raw("", "</details>", format="html"))
        proof.parent.insert(place, nodes.raw("", start, format="html"))


def setup(app):
    app.connect("doctree-resolved", fold, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
