"""How a notebook is shown: the results first, the code that a reader can do without folded.

- Set-up, drawing and recording cells are folded on the web; a line says what is inside.
- Every figure has a caption: that of the chapter that shows the figure, else the alternative text.
- The checks that a cell recorded stand there as a table (``notebook_verdicts.py``), and below the
  parameters what they were in this run (``notebook_knobs.py``).
"""

import re
from pathlib import Path

from docutils import nodes
from notebook_knobs import add_knobs
from notebook_verdicts import add_verdicts

from firal.companion import checkout

SHORT = 6  # lines: shorter code is read faster than it is opened


def source(cell):
    return "".join(cell["source"])


def kind(cell):
    """What a code cell is for: "parameters", "setup", "record", "figure", or "step"."""
    text = source(cell)
    outputs = [output.get("data", {}) for output in cell.get("outputs", ())]
    if "parameters" in cell["metadata"].get("tags", ()):
        return "parameters"
    if "profiles.load(" in text:
        return "setup"
    if re.search(r"\bclaims\.(check|cannot_test|transcribed)\(", text):
        return "record"
    return "figure" if any("image/png" in data for data in outputs) else "step"


def folded(cell):
    """What the line of a folded cell says, or None for a cell that stays open."""
    text = source(cell)
    count = len(text.splitlines())
    helpers = len(re.findall(r"^def ", text, re.M))
    which = kind(cell)
    if which == "setup":
        with_helpers = f", {helpers} helper{'s' * (helpers > 1)}" if helpers else ""
        what = f"Set-up: imports, sizes, random numbers{with_helpers}"
    elif which == "record" and count > SHORT:
        what = "Code that records the checks below"
    elif which == "figure" and count > SHORT:
        what = "Code of the figure below"
    else:
        return None
    return f"{what} ({count} lines)"


def captions(root):
    """{name of a glued figure: its caption in a chapter}, as plain text."""
    found = {}
    for page in sorted((root / "book").glob("*.md")):
        lines = iter(page.read_text(encoding="utf8").splitlines())
        for line in lines:
            if not line.startswith("```{glue:figure}"):
                continue
            words = []
            for inner in lines:
                if inner.startswith("```"):
                    break
                if not inner.startswith(":"):
                    words.append(inner)
            found.setdefault(line.split()[1], plain(" ".join(words)))
    return found


def plain(text):
    """Markdown without links and roles; sentences that were only a link are dropped."""
    text = re.sub(r"\{[\w:]+\}`([^`<]*?)\s*(?:<[^`]*>)?`", r"\1", text)
    kept = [s for s in re.split(r"(?<=[.?!])\s+", text) if not re.search(r"\]\(|\{|our-\w", s)]
    return " ".join(kept).replace("`", "").strip()


def caption_of(cell, known):
    """(caption of a figure, its alternative text)."""
    alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
    for output in cell.get("outputs", ()):
        name = output.get("metadata", {}).get("scrapbook", {}).get("name")
        if known.get(name):
            return known[name], alt
    return alt, alt


def add_caption(container, cell, known):
    """Pictures of a cell that are no figure yet become one; the last has the caption."""
    pictures = [
        picture
        for picture in container.findall(nodes.image)
        if not isinstance(picture.parent, nodes.figure)
    ]
    text, alt = caption_of(cell, known)
    if not pictures or not text or has_play(cell):
        return
    picture = pictures[-1]
    if text == alt:  # a screen reader need not hear it twice
        picture["alt"] = re.split(r"(?<=[a-z0-9)])[.:;] ", alt)[0].rstrip(".")
    bundle = picture.parent
    while bundle.parent is not None and bundle.parent.get("nb_element") != "cell_code_output":
        bundle = bundle.parent
    note = nodes.container("", classes=["figure-note"])
    note += nodes.paragraph("", "", *formulas(text))
    bundle.parent.insert(bundle.parent.index(bundle) + 1, note)


def formulas(text):
    """The nodes of a text in which ``$...$`` is mathematics."""
    parts = text.split("$")
    return [
        nodes.math(part, part) if k % 2 else nodes.Text(part)
        for k, part in enumerate(parts)
        if part
    ]


def has_play(cell):
    return any(
        "firal-play" in "".join(output.get("data", {}).get("text/html", ""))
        for output in cell.get("outputs", ())
    )


def fold(container, cell):
    words = folded(cell)
    if words and "hide_mode" not in container:
        container["hide_mode"] = "input"
    if container.get("hide_mode") == "input":
        container["prompt_show"] = words or f"Code ({len(source(cell).splitlines())} lines)"
        container["prompt_hide"] = container["prompt_show"]


def arrange(app, doctree):
    page = Path(app.env.doc2path(app.env.docname))
    if page.suffix != ".ipynb":
        return
    cells = checkout.cells(page)
    known = captions(Path(app.srcdir))
    containers = {
        node["cell_index"]: node
        for node in doctree.findall(nodes.container)
        if node.get("nb_element") == "cell_code"
    }
    for index, container in containers.items():
        cell = cells[index]
        fold(container, cell)
        add_caption(container, cell, known)
        add_verdicts(app, container, cell)
        if kind(cell) == "parameters":
            add_knobs(app, container, page.stem)


def setup(app):
    app.connect("doctree-read", arrange, priority=300)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
