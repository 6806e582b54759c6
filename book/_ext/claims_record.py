"""Records for machines in the built book: ``claims.json``, its schema, ``codemeta.json``.

``claims.json`` is the scoreboard as data: every claim with its verdict and every check with its
numbers. The page *Reproducibility* documents it, ``book/claims.schema.json`` says what it may hold.
"""

import json
import sys
import tomllib
from pathlib import Path

import yaml
from scoreboard import HEADINGS, ours, outcomes

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_tools"))
import downloads  # noqa: E402

SCHEMA = "book/claims.schema.json"
CHECK = "what measured relation reference printed passed as_expected control control_measured"


def claims_record(root):
    """The content of ``claims.json``."""
    rows = outcomes(root)
    totals = {verdict: 0 for verdict in HEADINGS}
    for entry, _, verdict in rows:
        totals[verdict] += not ours(entry)
    return {
        "schema": "claims.schema.json",
        "version": downloads.VERSION,
        "paper": "Chen and Biros, FIRAL, NeurIPS 2023",
        "totals_of_the_paper": totals,
        "claims": [claim(*row) for row in rows],
    }


def claim(entry, records, verdict):
    """One claim: what is claimed, where it is, what came out."""
    return {
        "id": entry["id"],
        "title": entry["title"],
        "of": "this book" if ours(entry) else "the paper",
        "where": entry["where"],
        "kind": entry["kind"],
        "claim": entry["claim"].strip(),
        "chapter": f"book/{entry['chapter']}.html",
        "notebook": f"notebooks/{entry['notebook']}.html" if entry.get("notebook") else None,
        "erratum": entry.get("erratum"),
        "expected": entry.get("expected"),
        "verdict": verdict,
        "checks": [{field: getattr(r, field) for field in CHECK.split()} for r in records],
    }


def codemeta(root):
    """Metadata of the software by CodeMeta 2.0, from CITATION.cff and pyproject.toml."""
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf8"))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf8"))["project"]
    paper = citation["preferred-citation"]
    found = {
        "@context": "https://doi.org/10.5063/schema/codemeta-2.0",
        "@type": "SoftwareSourceCode",
        "name": citation["title"],
        "description": project["description"],
        "version": citation["version"],
        "dateModified": str(citation["date-released"]),
        "license": f"https://spdx.org/licenses/{citation['license']}",
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {project['requires-python']}",
        "softwareRequirements": project["dependencies"],
        "keywords": citation["keywords"],
        "author": [{"@type": "Organization", "name": a["name"]} for a in citation["authors"]],
        "referencePublication": {
            "@type": "ScholarlyArticle",
            "name": paper["title"],
            "author": [
                {"@type": "Person", "familyName": a["family-names"], "givenName": a["given-names"]}
                for a in paper["authors"]
            ],
        },
    }
    if url := downloads.repository(root):
        found |= {"codeRepository": url, "issueTracker": f"{url}/issues"}
    return found


def write_records(app, error):
    if error or app.builder.format != "html":
        return
    out, source = Path(app.outdir), Path(app.srcdir)
    for name, content in (
        ("claims.json", claims_record(source)),
        ("codemeta.json", codemeta(downloads.ROOT)),
    ):
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (out / name).write_text(text + "\n", encoding="utf8")
    (out / "claims.schema.json").write_bytes((source / SCHEMA).read_bytes())


def setup(app):
    app.connect("build-finished", write_records)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
