"""What is looked up, run or changed on the web is short in the PDF, or refers to where it stands.

- Of the API reference there is one line for each name: what it is.
- A figure that a chapter and its notebook show is printed once, in the chapter; the notebook says
  which one it is.
- Of a notebook there is no box on how to change it.
- Figures take four fifths of a line; what is printed and tables are in small letters, and what one
  cell prints stands in one box.
"""

import hashlib
from pathlib import Path

from docutils import nodes
from pdf_layout import inside
from PIL import Image
from sphinx import addnodes

REFERENCE, NOTEBOOKS = "book/api", "notebooks/"
WIDTH = 78  # percent of a line: the smallest letters of a figure have about 6 points
LINE = 840  # pixels: a figure as wide as the line, at the dots per inch of the notebooks
ROWS = 3  # a table with more has small letters
PARAGRAPHS = 2  # of the description of a module: where it belongs, and what it is for


def arrange(app, doctree, docname):
    if app.builder.format != "latex":
        return
    pages = list(doctree.findall(addnodes.start_of_file))
    shown = figures_of_chapters(app, pages)
    for page in pages:
        if page["docname"].startswith(REFERENCE):
            for parent, entry in inside(page, addnodes.index):
                parent.remove(entry)  # the chapter is a list of names already
            for section in list(page.findall(nodes.section)):
                shorten(section)
        if page["docname"].startswith(NOTEBOOKS):
            shorten_notebook(app, page, shown)
    for picture in doctree.findall(nodes.image):
        narrow(app, picture)
    for parent, table in inside(doctree, nodes.table):
        if len(list(table.findall(nodes.row))) > ROWS:
            in_small_letters(parent, table, r"\footnotesize")
            if "verdicts" in table["classes"]:
                table["classes"].append("longtable")
    for mark in doctree.findall(nodes.abbreviation):
        mark.attributes.pop("explanation", None)


# the API reference


def shorten(section):
    """Of a section that describes a module: title, two paragraphs, a line for each name."""
    if not any(isinstance(node, addnodes.desc) for node in section):
        return
    kept, left, names = [], [], nodes.bullet_list(bullet="-")
    paragraphs = 0
    for node in section.children:
        if isinstance(node, addnodes.desc):
            names += line_of(node)
        elif isinstance(node, nodes.title | nodes.section | nodes.target):
            kept.append(node)
        elif isinstance(node, nodes.paragraph) and paragraphs < PARAGRAPHS:
            paragraphs += 1
            kept.append(node)
        else:
            left.append(node)
    place = next((k for k, node in enumerate(kept) if isinstance(node, nodes.section)), len(kept))
    known = {name for node in kept for name in [*node["ids"], node.get("refid")]}
    kept[place:place] = [*targets(left, known), *in_letters(r"\footnotesize", names)]
    section.children = []
    section.extend(kept)


def line_of(description):
    """A list item: the name, the first sentence on it, and the names of its methods."""
    content = description.next_node(addnodes.desc_content)
    text = nodes.paragraph("", "", *targets([description]), nodes.strong("", name_of(description)))
    if content is not None and isinstance(summary := next(iter(content), None), nodes.paragraph):
        text += [nodes.Text(": "), *summary.children]
    methods = [name_of(part) for part in description.findall(addnodes.desc)][1:]
    if methods:
        text += nodes.Text(f" Methods: {', '.join(methods)}.")
    return nodes.list_item("", text)


def name_of(description):
    return description.next_node(addnodes.desc_name).astext()


def targets(parts, known=()):
    """An invisible target with all that can be linked to in these nodes."""
    found = {name for part in parts for node in part.findall(nodes.Element) for name in node["ids"]}
    return [nodes.target("", "", ids=sorted(found - set(known)))] if found else []


# notebooks


def figures_of_chapters(app, pages):
    """{content of a picture: (page, id) of the figure in a chapter}."""
    found = {}
    for page in pages:
        for figure in own(page, nodes.figure):
            picture = figure.next_node(nodes.image)
            if not page["docname"].startswith(NOTEBOOKS) and picture is not None and figure["ids"]:
                found.setdefault(content(app, picture), (page["docname"], figure["ids"][0]))
    return found


def own(page, kind):
    """The nodes of a page that do not stand in a page below it."""
    for child in page.children:
        if not isinstance(child, addnodes.start_of_file):
            if isinstance(child, kind):
                yield child
            yield from own(child, kind)


def content(app, picture):
    file = file_of(app, picture)
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else str(file)


def file_of(app, picture):
    forms = picture.get("candidates", {})
    return Path(app.srcdir) / forms.get("image/png", forms.get("*", picture["uri"]))


def shorten_notebook(app, page, shown):
    for parent, box in inside(page, nodes.admonition):
        if "try-this" in box["classes"]:
            parent.remove(box)
    for parent, picture in inside(page, nodes.image):
        if place := shown.get(content(app, picture)):
            parent.replace(picture, reference(*place))
    for parent, note in inside(page, nodes.container):
        place = parent.index(note) - 1
        if "figure-note" in note["classes"] and not any(parent[place].findall(nodes.image)):
            parent.remove(note)  # its caption stands below the figure
    for parent, output in inside(page, nodes.container):
        if "cell_output" in output["classes"]:
            join(output)
            in_small_letters(parent, output, r"\fvset{fontsize=\scriptsize}")


def reference(docname, name):
    label = rf"\detokenize{{{docname}:{name}}}"
    link = rf"\hyperref[{label}]{{Figure~\ref*{{{label}}} on page~\pageref*{{{label}}}}}"
    return nodes.paragraph(
        "", "The figure is ", nodes.raw("", link, format="latex"), nodes.Text(".")
    )


def join(output):
    """Boxes of printed text that follow each other become one."""
    before = None
    for parent, block in inside(output, nodes.literal_block):
        if before is not None and parent is before.parent_of and follows(parent, before, block):
            text = f"{before.rawsource.rstrip()}\n{block.astext().rstrip()}"
            before.rawsource, before.children = text, [nodes.Text(text)]
            parent.remove(block)
        else:
            before, before.parent_of = block, parent
            before.rawsource = block.astext()


def follows(parent, before, block):
    return parent.index(block) == parent.index(before) + 1


# everywhere


def narrow(app, picture):
    """Figures are not as wide as the text; small ones keep their size."""
    file = file_of(app, picture)
    if file.is_file() and file.suffix == ".png" and "width" not in picture:
        with Image.open(file) as opened:
            share = min(opened.width / LINE, 1)
        picture["width"] = f"{round(WIDTH * share)}%"


def in_small_letters(parent, node, size):
    place = parent.index(node)
    parent[place : place + 1] = in_letters(size, node)


def in_letters(size, node):
    start, end = rf"\begingroup{size}", r"\par\endgroup{}"
    return [nodes.raw("", start, format="latex"), node, nodes.raw("", end, format="latex")]


def setup(app):
    app.connect("doctree-resolved", arrange, priority=890)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
