"""Directives that render the registry and what the executed notebooks recorded.

``{scoreboard}`` is the whole table, ``{scoreboard-totals}`` the counts by kind and verdict.
Nothing of it is typed by hand: ``book/claims.yml`` says what is claimed, the stored outputs of
``notebooks/*.ipynb`` say what came out.
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


def by_group(rows):
    for title, pattern in GROUPS.items():
        yield title, [row for row in rows if re.fullmatch(pattern, row[0]["id"])]


def totals_markdown(rows):
    rare = ("unexpected", "not reached")  # a column only if there is one
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
        failed = f", {len(records) - passed} fail as printed" if passed < len(records) else ""
        short = entry["notebook"].split("_")[0]
        parts.append(
            f"[{short}](../notebooks/{entry['notebook']}.ipynb#claims): {passed} pass{failed}"
        )
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


class Scoreboard(Generated):
    sources = staticmethod(registry_sources)

    def markdown(self, root):
        return table_markdown(outcomes(root))


class ScoreboardTotals(Generated):
    sources = staticmethod(registry_sources)

    def markdown(self, root):
        return totals_markdown(outcomes(root))


def setup(app):
    app.add_directive("scoreboard", Scoreboard)
    app.add_directive("scoreboard-totals", ScoreboardTotals)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
