"""The checks that a cell of a notebook recorded, as a table of marks, measured and expected values.

Notebooks store each check as JSON beside its line of text (``firal.companion.claims``). In the book
the lines of a cell become one table.
"""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes

from firal.companion import claims

KINDS = {
    "asm": "Assumption",
    "lem": "Lemma",
    "thm": "Theorem",
    "prop": "Proposition",
    "def": "Definition",
    "cor": "Corollary",
    "rem": "Remark",
    "alg": "Algorithm",
    "fig": "Figure",
}
SYMBOLS = {"<=": "≤", ">=": "≥", "==": "="}
HEAD = ("verdict", "claim", "what was checked", "measured", "expected", "control, which must fail")
WIDTHS = (6, 16, 34, 12, 12, 20)
MARKS = {
    "✓": "holds",
    "±": "holds after a correction",
    "✗": "fails as printed",
    "?": "cannot be tested",
    "!": "came out otherwise than expected",
}


def recorded(cell):
    """{line of text: check} of the checks of a cell, in its order."""
    found = {}
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if claims.MIME in data:
            found["".join(data["text/plain"])] = claims.Check(**data[claims.MIME])
    return found


def mark(check, expected):
    """One of MARKS; ``expected`` is the status in the registry."""
    if check.relation is None:
        return "?"
    if not check.as_expected:
        return "!"
    if not check.passed:
        return "✗"
    return "±" if expected == "holds-corrected" else "✓"


def measured(check):
    if check.relation is None:
        return "–"
    if check.measured is None:
        return "inside" if check.passed else "outside"
    return f"{check.measured:g}"


def bound(check):
    if check.relation is None:
        return "–"
    return f"{SYMBOLS.get(check.relation, check.relation)}\N{NO-BREAK SPACE}{check.reference:g}"


def control(check):
    if check.control is None:
        return "–"
    number = "" if check.control_measured is None else f": {check.control_measured:g}"
    return f"{check.control}{number}"


def name(check, entry, docname):
    """The claim, with a link: to the scoreboard, or for a result of ours to its statement."""
    start, _, number = check.id.partition("-")
    if start in KINDS and number.isdigit():
        return nodes.Text(f"{KINDS[start]} {number}")  # numbering.py makes the link
    ours = start == "our"
    link = addnodes.pending_xref(
        "",
        refdomain="prf" if ours else "std",
        reftype="ref",
        reftarget=check.id if ours else f"score-{check.id}",
        refexplicit=not ours,
        refdoc=docname,
        refwarn=True,
    )
    link += nodes.inline("", check.id if ours else entry["title"])
    return link


def table(checks, registry, docname):
    """A table of docutils with a row for each check."""
    group = nodes.tgroup(cols=len(HEAD))
    group += [nodes.colspec(colwidth=width) for width in WIDTHS]
    head = nodes.row()
    for text in HEAD:
        head += nodes.entry("", nodes.paragraph("", text))
    body = nodes.tbody()
    for check in checks:
        entry = registry[check.id]
        sign = mark(check, entry["expected"])
        cells = [
            nodes.abbreviation("", sign, explanation=MARKS[sign], classes=["verdict-mark"]),
            name(check, entry, docname),
            nodes.Text(check.what + (" (as printed)" if check.printed else "")),
            nodes.Text(measured(check)),
            nodes.Text(bound(check)),
            nodes.Text(control(check)),
        ]
        row = nodes.row(classes=["verdict", f"verdict-{list(MARKS).index(sign)}"])
        row += [nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells]
        body += row
    group += [nodes.thead("", head), body]
    return nodes.table("", group, classes=["verdicts"])


def add_verdicts(app, container, cell):
    """In place of the lines of a cell, the table."""
    checks = recorded(cell)
    if not checks:
        return
    registry = claims.registry(Path(app.srcdir) / "book" / "claims.yml")
    output = container.children[-1]
    lines = [child for child in output.children if text_of(child) in checks]
    if not lines:
        return
    place = output.index(lines[0])
    rows = table([checks[text_of(line)] for line in lines], registry, app.env.docname)
    for line in lines:
        output.remove(line)
    output.insert(place, rows)


def text_of(child):
    """The line of text of an output."""
    for block in child.findall(nodes.literal_block):
        return block.astext().strip("\n")
    return ""
