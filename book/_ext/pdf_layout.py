"""What the PDF needs and the HTML pages do not.

- The parts of ``_toc.yml`` are parts, and the home page is one chapter before them.
- A proof is text that ends with a box, not a framed note without a title.
- A box that is folded on the web, such as a long proof, is text below its title: it may be broken.
- A statement stays on one page if it is short, and with its heading.
- A solution that is folded on the web has its heading.
- Of a notebook it has the text, the figures and what is printed, not the code.
- Short pieces of code stay on one page.
- The index names the page where the description of a function starts, not the one before.
- References to exercises lead to them (sphinx-exercise sets another label).
- Tables wider than the page get columns in proportion to what stands in them, and long ones may
  continue on the next page.
- The list of references has one heading.
"""

import re

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node
from sphinx_proof.nodes import NODE_TYPES, proof_node, unenumerable_node

HOME = "About this book"
NO_CODE = (
    "The code of the notebooks is not printed here, and of each function of the module there is "
    "one line. All of it stands on the web pages of the book, in the notebooks and in the "
    "docstrings. A figure that a chapter and its notebook show is printed once. In the tables of "
    "checks ✓ means that a claim holds, ± after a correction, ✗ that it fails as printed, ? that "
    "it cannot be tested."
)
LINE = 88  # characters that fit beside each other in a table
ROWS = 8  # a table with more may be broken
LINES = 20  # a statement with more may be broken, but not in its first few
CODE_LINES = 14  # so may code and what it prints
BREAKABLE = 12  # longer names in a table may be broken at a hyphen
EXERCISES = (exercise_node, exercise_enumerable_node)
STATEMENTS = (*NODE_TYPES.values(), unenumerable_node, *EXERCISES)
QED = r"\par\nopagebreak\noindent\hspace*{\fill}\ensuremath{\square}\par"


def arrange(app, doctree, docname):
    if app.builder.format != "latex":
        return
    parts = yaml.safe_load((app.srcdir / "_toc.yml").read_text(encoding="utf8")).get("parts", [])
    set_parts(doctree, {part["chapters"][0]["file"]: part["caption"] for part in parts})
    for parent, cell in inside(doctree, nodes.container):
        if "cell_input" in cell["classes"]:
            parent.remove(cell)
    for parent, box in inside(doctree, nodes.admonition):
        if "dropdown" in box["classes"]:
            title = nodes.paragraph("", "", nodes.strong("", "", *box[0].children))
            place = parent.index(box)
            space = _latex(r"\Needspace{4\baselineskip}")
            parent[place : place + 1] = [*targets_of(box), space, title, *box[1:]]
    for parent, proof in inside(doctree, proof_node):
        place = parent.index(proof)
        parent[place : place + 1] = unframed(proof)
    for parent, statement in inside(doctree, STATEMENTS):
        keep_together(parent, statement)
    for parent, raw in inside(doctree, nodes.raw):
        if found := re.search(r"<summary>(.*?)</summary>", raw.astext()):
            heading = nodes.paragraph("", "", nodes.strong("", f"{found[1]}."))
            place = parent.index(raw)
            parent[place:place] = [_latex(r"\Needspace{6\baselineskip}"), heading]
    for parent, code in inside(doctree, nodes.literal_block):
        keep_code_together(parent, code)
    for parent, description in inside(doctree, addnodes.desc):
        entry = parent.index(description) - 1
        if entry >= 0 and isinstance(parent[entry], addnodes.index):
            parent.insert(entry, _latex(r"\Needspace{4\baselineskip}"))
    exercises = getattr(app.env, "sphinx_exercise_registry", {})
    for parent, exercise in inside(doctree, EXERCISES):
        label = f"{exercises[exercise['label']]['docname']}:{exercise['label']}"
        target = _latex(rf"\phantomsection\label{{\detokenize{{{label}}}}}")
        parent.insert(parent.index(exercise), target)
    for parent, table in inside(doctree, nodes.table):
        for cell in table.findall(nodes.entry):
            break_names(cell)
        fit(table)
        if isinstance(parent, nodes.section) and len(list(table.findall(nodes.row))) > ROWS:
            table["classes"].append("longtable")
    for _, page in inside(doctree, addnodes.start_of_file):
        title = page.next_node(nodes.title)
        if title is not None and page.astext().strip() == title.astext():  # of the references
            page.next_node(nodes.section).remove(title)


def inside(doctree, kinds):
    """(parent, node) of the nodes of these kinds; some nodes do not know their parent."""
    parents = list(doctree.findall(nodes.Element))
    return [(p, node) for p in parents for node in p.children if isinstance(node, kinds)]


def set_parts(doctree, captions):
    """``\\part`` before the pages that ``captions`` names; what precedes them is a chapter."""
    pages = inside(doctree, addnodes.start_of_file)
    first = [(parent, page) for parent, page in pages if page["docname"] in captions]
    if not first:
        return
    top = doctree.next_node(nodes.section)
    own = [node for node in top[1:] if not any(node.findall(addnodes.start_of_file))]
    for parent, page in first:
        title = captions[page["docname"]]
        parent.insert(parent.index(page), _latex(rf"\part{{{title}}}"))
    home = nodes.section("", nodes.title("", HOME), ids=["about-this-book"])
    top.insert(1, home)
    top.children = [node for node in top if node not in own]
    home.extend([*own, nodes.paragraph("", NO_CODE)])


def targets_of(box):
    return [nodes.target("", "", ids=box["ids"])] if box["ids"] else []


def unframed(proof):
    """The blocks of a proof, with its first word set off and a box at its end."""
    blocks = list(proof[0].children)
    start = blocks[0][0]
    if isinstance(start, nodes.Text) and start.startswith("Proof."):
        rest = nodes.Text(start.removeprefix("Proof."))
        blocks[0].replace(start, [nodes.strong("", "Proof."), rest])
    return [*blocks, _latex(QED)]


def keep_together(parent, statement):
    """A new page before a statement that would not fit; its heading, if any, comes along."""
    lines = 5 + sum(map(_lines, statement.findall(_is_block)))
    lines = lines if lines <= LINES else 10
    hidden = nodes.raw | nodes.target | nodes.comment
    before = [node for node in parent[: parent.index(statement)] if not isinstance(node, hidden)]
    flush = ""
    if isinstance(parent, nodes.section) and all(isinstance(n, nodes.title) for n in before):
        parent, statement, lines = parent.parent, parent, lines + 3
        flush = r"\FloatBarrier"  # a section does that, too, and then there is less space
    text = rf"{flush}\Needspace{{{lines}\baselineskip}}"
    parent, place = before_labels(parent, parent.index(statement))
    parent.insert(place, _latex(text))


def before_labels(parent, place):
    """The place before the labels that lead here: behind a space they would be set twice.

    Labels of a section stand at the end of the section before it.
    """
    here, end = parent, place
    while end and isinstance(here[end - 1], nodes.section):
        here = here[end - 1]
        end = len(here)
    if not end or not isinstance(here[end - 1], nodes.target):
        return parent, place
    while end and isinstance(here[end - 1], nodes.target):
        end -= 1
    return here, end


def keep_code_together(parent, code):
    """A new page before short code that would not fit, and before the short text that leads in."""
    lines = _lines(code)
    space = 1 + 0.8 * (lines if lines <= CODE_LINES else 5)  # its letters are small
    place = parent.index(code)
    before = [node for node in parent[:place] if not isinstance(node, nodes.raw)]
    if before and isinstance(before[-1], nodes.paragraph) and _lines(before[-1]) <= 2:
        place, space = parent.index(before[-1]), space + 1 + _lines(before[-1])
    if place:  # what a box begins with stays with its title
        parent.insert(place, _latex(rf"\Needspace{{{space:.1f}\baselineskip}}"))


def _is_block(node):
    return isinstance(node, nodes.paragraph | nodes.math_block | nodes.literal_block)


def _lines(block):
    """About how many lines a paragraph, a formula or a piece of code takes."""
    if isinstance(block, nodes.paragraph):
        return 1 + int(_length(block) / LINE)
    rows = block.astext().count("\\\\" if isinstance(block, nodes.math_block) else "\n")
    return 3 + 2 * rows if isinstance(block, nodes.math_block) else 1 + rows


def break_names(cell):
    """Long names in typewriter letters may be broken behind a hyphen."""
    for parent, name in inside(cell, nodes.literal):
        pieces = re.findall(r"[^-]+-?|-", name.astext())
        if len(name.astext()) > BREAKABLE and len(pieces) > 1:
            parts = [[nodes.literal(piece, piece), _latex(r"\allowbreak{}")] for piece in pieces]
            place = parent.index(name)
            parent[place : place + 1] = sum(parts, [])[:-1]


def fit(table):
    """Set the widths of the columns of a table that is too wide, unless the source gives them."""
    columns = list(table.findall(nodes.colspec))
    rows = [list(row) for row in table.findall(nodes.row)]
    if "colwidths-given" in table["classes"] or any(len(row) != len(columns) for row in rows):
        return
    lengths = [[_length(row[k]) for row in rows] for k in range(len(columns))]
    if sum(map(max, lengths)) <= LINE:
        return
    least = [max(_longest_word(row[k]) for row in rows) + 2 for k in range(len(columns))]
    mean = [sum(column) / len(column) for column in lengths]
    spare = max(LINE - sum(least), 0)
    for k, column in enumerate(columns):
        column["colwidth"] = round(least[k] + spare * mean[k] / sum(mean))
    table["classes"].append("colwidths-given")


def _pieces(cell):
    """(text, width of a character) of the words and formulas of a cell."""
    for leaf in cell.findall(lambda node: isinstance(node, nodes.Text | nodes.math)):
        if isinstance(leaf, nodes.math):
            yield re.sub(r"[\s{}_^]", "", re.sub(r"\\[a-zA-Z]+|\\.", "x", leaf.astext())), 1
        elif isinstance(leaf.parent, nodes.literal):
            yield leaf.astext(), 1.2
        elif not isinstance(leaf.parent, nodes.math):
            yield from ((word, 1) for word in leaf.astext().split())


def _length(cell):
    return sum(len(text) * width + 1 for text, width in _pieces(cell))


def _longest_word(cell):
    return max((min(len(text) * width, LINE / 3) for text, width in _pieces(cell)), default=1)


def _latex(text):
    return nodes.raw("", text, format="latex")


def setup(app):
    app.connect("doctree-resolved", arrange, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
