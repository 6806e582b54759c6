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
        controls = sum(record.control is not None for record in records)
        outcome = ", ".join(
            f"{count} {words}"
            for count, words in (
                (passed, "pass"),
                (len(records) - passed, "fail as printed"),
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


def table_markdown(rows):
    lines = []
    for title, members in by_group(rows):
        lines += [f"## {title}", "", "| id | verdict | claim | in the paper | evidence |"]
        lines.append("|---|---|---|---|---|")
        for entry, records, verdict in members:
            where = entry["where"]
            if records and entry["id"].split("-")[0] not in ("fig", "txt"):
                where += f"; here {{prf:ref}}`{entry['id']}`"
            _, _, checked = entry["claim"].partition("Checked:")  # where it is less than the claim
            title = entry["title"] + (f". *Checked:*{checked.rstrip()}" if checked else "")
            lines.append(
                f"| `{entry['id']}` | {VERDICTS[verdict]} | {title} | {where} "
                f"| {evidence(entry, records)} |"
            )
        lines.append("")
    return lines


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


class ScoreboardOurs(Generated):
    sources = staticmethod(registry_sources)

    def markdown(self, root):
        return ours_markdown(outcomes(root))


def setup(app):
    app.add_directive("scoreboard", Scoreboard)
    app.add_directive("scoreboard-totals", ScoreboardTotals)
    app.add_directive("scoreboard-ours", ScoreboardOurs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
