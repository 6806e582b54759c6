"""Directives that render the registry and what the executed notebooks recorded.

``{scoreboard}`` is the table of the paper's items, ``{scoreboard-totals}`` counts them by kind and
verdict, and ``{scoreboard-ours}`` is the table of the results of this book. Nothing of it is typed
by hand: ``book/claims.yml`` says what is claimed, the stored outputs of ``notebooks/*.ipynb`` say
what came out.
"""

import re
import sys
from collections import Counter
from pathlib import Path

from docutils import nodes
from generated import Generated, registry_sources

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from firal.companion import claims  # noqa: E402

VERDICTS = {
    "holds": "✓ holds",
    "holds-corrected": "± holds, corrected",
    "differs": "✗ differs",
    "cannot-test": "– cannot be tested",
    "unexpected": "! unexpected",
    "not reached": "· not reached yet",
}
PAPER = "https://arxiv.org/pdf/2409.07379"  # its anchors are those that hyperref makes
HEAD = ["item", "verdict", "claim", "in the paper", "evidence"]
ORDER = ("unexpected", "differs", "holds-corrected", "cannot-test", "not reached", "holds")
HEADINGS = {
    "unexpected": "Unexpected",
    "differs": "What differs",
    "holds-corrected": "What holds after a correction",
    "cannot-test": "What cannot be tested",
    "not reached": "Not reached yet",
    "holds": "What holds as printed",
}
GROUPS = {
    "Statements": r"(asm|lem|thm|prop|def|cor|rem)-\d+",
    "Algorithms": r"alg-\d+",
    "Figures": r"fig-\d+",
    "Claims in the text": r"txt-.+",
}


def outcomes(root):
    """(entry, records, verdict) of every claim, in the order of the registry.

    Three directives ask for it in every build; ``checkout`` parses each notebook once.
    """
    records = {}
    for notebook in sorted((root / "notebooks").glob("*.ipynb")):
        for record in claims.recorded(notebook):
            records.setdefault(record.id, []).append(record)
    return [
        (entry, records.get(name, []), claims.verdict(records.get(name, [])))
        for name, entry in claims.registry(root / "book" / "claims.yml").items()
    ]


def ours(entry):
    """Whether a claim is a result of this book; all others are items of the paper."""
    return entry["id"].startswith("our-")


def by_group(rows):
    for title, pattern in GROUPS.items():
        yield title, [row for row in rows if re.fullmatch(pattern, row[0]["id"])]


def totals_markdown(rows):
    rows = [row for row in rows if not ours(row[0])]
    rare = ("cannot-test", "unexpected", "not reached")  # a column only if there is one
    head = [v for v in VERDICTS if v not in rare or any(r[2] == v for r in rows)]
    lines = ["| item | " + " | ".join(VERDICTS[v] for v in head) + " | in all |"]
    lines.append("|---|" + "--:|" * (len(head) + 1))
    for title, members in [*by_group(rows), ("**All**", rows)]:
        count = Counter(verdict for _, _, verdict in members)
        cells = [str(count[v]) for v in head]
        lines.append(f"| {title} | " + " | ".join(cells) + f" | {len(members)} |")
    return lines


def evidence(entry, records):
    """Links to the notebook's claims section and to the erratum, and how the checks came out."""
    parts = []
    if records:
        passed = sum(record.passed for record in records)
        failed = len(records) - passed
        controls = sum(record.control is not None for record in records)
        outcome = ", ".join(
            f"{count} {words}"
            for count, words in (
                (passed, f"pass{'es' * (passed == 1)}"),
                (failed, f"fail{'s' * (failed == 1)} as printed"),
                (controls, f"control{'s' * (controls > 1)} fail{'s' * (controls == 1)}"),
            )
            if count
        )
        if records[0].relation is None:
            outcome = records[0].what
        short = entry["notebook"].split("_")[0]
        parts.append(f"[{short}](../notebooks/{entry['notebook']}.ipynb#claims): {outcome}")
    if entry.get("erratum"):
        parts.append(f"[erratum](#{entry['erratum']})")
    return "; ".join(parts)


def by_verdict(rows):
    """(verdict, its rows), what differs first; within a verdict the order of the registry."""
    for verdict in ORDER:
        members = [row for row in rows if row[2] == verdict]
        if members:
            yield verdict, members


def place(where):
    """Where a claim stands in the paper: the section is a link into the paper's PDF."""

    def linked(found):
        number, depth = found[1], found[1].count(".")
        kind = "sub" * depth + "section" if depth or number.isdigit() else "appendix"
        return f"[{found[0]}]({PAPER}#{kind}.{number})"

    return re.sub(r"(?:Section|Appendix) ([1-9A-G](?:\.\d)*)", linked, where)


def item(entry):
    """What a claim is called: a statement with a link to it, a figure, or the id of a sentence."""
    kind, _, number = entry["id"].partition("-")
    if kind == "fig":
        return f"Figure {number}"
    return f"`{entry['id']}`" if kind == "txt" else f"{{prf:ref}}`{entry['id']}`"


def table_markdown(rows):
    lines = []
    for verdict, members in by_verdict([row for row in rows if not ours(row[0])]):
        lines += [
            f"## {HEADINGS[verdict]}",
            "",
            *(folded(members) if verdict == "holds" else []),
            "| item | verdict | claim | in the paper | evidence |",
        ]
        lines.append("|---|---|---|---|---|")
        for entry, records, _ in members:
            _, _, checked = entry["claim"].partition("Checked:")  # where it is less than the claim
            title = entry["title"] + (f". *Checked:*{checked.rstrip()}" if checked else "")
            lines.append(
                f"| {item(entry)} | {VERDICTS[verdict]} | {title} | {place(entry['where'])} "
                f"| {evidence(entry, records)} |"
            )
        lines.append("")
    return lines


def folded(members):
    """The longest table is folded on the web; a link or the filter opens it."""
    return [f":::{{fold-section}} {len(members)} items", ":::", ""]


def mark_rows(app, doctree):
    """Anchors ``score-thm-3`` for the rows, and classes for their color and the filter."""
    tables = [table for table in doctree.findall(nodes.table) if _head(table) == HEAD]
    found = [row for table in tables for row in table.next_node(nodes.tbody)]
    if not found:
        return
    rows = [row for row in outcomes(Path(app.srcdir)) if not ours(row[0])]
    order = [row for _, members in by_verdict(rows) for row in members]
    known, page = app.env.get_domain("std"), app.env.docname
    for row, (entry, _, verdict) in zip(found, order, strict=True):
        row["classes"] += ["score", f"score-{verdict.replace(' ', '-')}"]
        row["classes"].append(f"of-{entry['id'].split('-')[0]}")
        anchor = f"score-{entry['id']}"
        row[0][0].insert(0, nodes.target("", "", ids=[anchor]))
        known.anonlabels[anchor] = (page, anchor)
        known.labels[anchor] = (page, anchor, entry["title"])


def _head(table):
    return [cell.astext() for head in table.findall(nodes.thead) for cell in head[0]]


def ours_markdown(rows):
    lines = ["| result | verdict | what it says | evidence |", "|---|---|---|---|"]
    for entry, records, verdict in rows:
        if ours(entry):
            lines.append(
                f"| {{prf:ref}}`{entry['id']}` | {VERDICTS[verdict]} | {entry['title']} "
                f"| {evidence(entry, records)} |"
            )
    return lines


class Scoreboard(Generated):
    sources = staticmethod(registry_sources)

    def markdown(self, root):
        return table_markdown(outcomes(root))


class ScoreboardTotals(Generated):
    sources = staticmethod(registry_sources)

    def markdown(self, root):
        return totals_markdown(outcomes(root))


def differs_markdown(rows):
    """One line per claim that differs: its name, and links to its verdict and its erratum."""
    found = [entry for entry, _, verdict in rows if verdict == "differs" and not ours(entry)]
    links = "({{ref}}`verdict <score-{id}>`, [erratum](#{erratum}))"
    return [f"- {entry['title']} {links.format(**entry)}" for entry in found]


class ScoreboardDiffers(Generated):
    sources = staticmethod(registry_sources)

    def markdown(self, root):
        return differs_markdown(outcomes(root))


class ScoreboardOurs(Generated):
    sources = staticmethod(registry_sources)

    def markdown(self, root):
        return ours_markdown(outcomes(root))


def setup(app):
    app.add_directive("scoreboard", Scoreboard)
    app.add_directive("scoreboard-totals", ScoreboardTotals)
    app.add_directive("scoreboard-ours", ScoreboardOurs)
    app.add_directive("scoreboard-differs", ScoreboardDiffers)
    app.connect("doctree-read", mark_rows)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
