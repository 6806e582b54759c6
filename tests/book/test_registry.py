"""Registry, notebooks, theorem labels and errata say the same."""

import re

import pytest
from conftest import ROOT

from firal.companion import claims

REGISTRY = claims.registry(ROOT / "book" / "claims.yml")
KINDS = set("definition assumption identity inequality rate algorithm figure trend".split())
FIELDS = set("id title where kind claim chapter depends notebook expected erratum".split())
LABEL = re.compile(r"^:label: ((?:asm|lem|thm|prop|def|cor|rem|alg)-\d+)$", re.M)
ERRATUM = re.compile(r"^\((err-[\w-]+)\)=$", re.M)
CHAPTERS = {path.stem: path.read_text(encoding="utf8") for path in (ROOT / "book").glob("*.md")}
NOTEBOOKS = {path.stem: claims.recorded(path) for path in (ROOT / "notebooks").glob("*.ipynb")}
LABELS = {label: stem for stem, text in CHAPTERS.items() for label in LABEL.findall(text)}


def test_every_item_of_the_paper_is_listed():
    numbers = [
        int(i.split("-")[1]) for i in REGISTRY if re.match(r"(asm|lem|thm|prop|def|cor|rem)-", i)
    ]
    assert sorted(numbers) == list(range(1, 50))
    assert [i for i in REGISTRY if i.startswith("alg-")] == ["alg-1", "alg-2", "alg-3"]
    assert [i for i in REGISTRY if i.startswith("fig-")] == [f"fig-{k}" for k in range(1, 17)]
    assert sum(i.startswith("txt-") for i in REGISTRY) >= 14


def test_ids_are_unique():
    ids = re.findall(r"^- id: (\S+)", (ROOT / "book" / "claims.yml").read_text(), re.M)
    assert len(ids) == len(set(ids)) == len(REGISTRY)


@pytest.mark.parametrize("entry", REGISTRY.values(), ids=REGISTRY.keys())
def test_entry(entry):
    assert set(entry) == FIELDS
    assert entry["kind"] in KINDS
    assert entry["claim"].strip() and entry["title"].strip() and entry["where"].strip()
    assert set(entry["depends"]) <= set(REGISTRY), "depends on an unknown claim"
    assert (entry["notebook"] is None) == (entry["expected"] is None)
    if entry["notebook"] is None:
        return
    assert entry["expected"] in claims.STATUSES
    records = [r for r in NOTEBOOKS[entry["notebook"]] if r.id == entry["id"]]
    assert records, f"{entry['notebook']} records no check of {entry['id']}"
    assert claims.verdict(records) == entry["expected"]
    if entry["expected"] != "holds":
        assert entry["erratum"], "a claim that does not hold as printed needs an erratum"
    if not entry["id"].startswith(("fig-", "txt-")):
        assert LABELS.get(entry["id"]) == entry["chapter"], (
            "no block with this label in its chapter"
        )


def test_the_dependencies_have_no_cycle():
    done, open_ = set(), set()

    def visit(name):
        assert name not in open_, f"{name} depends on itself"
        if name not in done:
            open_.add(name)
            for other in REGISTRY[name]["depends"]:
                visit(other)
            open_.discard(name)
            done.add(name)

    for name in REGISTRY:
        visit(name)


def test_every_label_in_the_book_is_registered():
    assert set(LABELS) <= set(REGISTRY)


def test_notebooks_record_their_own_claims_only():
    for notebook, records in NOTEBOOKS.items():
        for record in records:
            assert REGISTRY[record.id]["notebook"] == notebook, f"{record.id} in {notebook}"


def test_errata_are_in_step():
    written = set(ERRATUM.findall(CHAPTERS["errata"]))
    named = {entry["erratum"] for entry in REGISTRY.values()} - {None}
    assert named <= written, "the registry names errata that are not on the page"


def test_every_erratum_has_its_four_fields():
    parts = re.split(r"^\(err-[\w-]+\)=$", CHAPTERS["errata"], flags=re.M)[1:]
    for part in parts:
        for field in ("**Where**", "**Printed**", "**Right**", "**Evidence**"):
            assert field in part, f"{field} missing in: {part.strip().splitlines()[0]}"
        evidence = part.split("**Evidence**")[1]
        assert re.search(r"\.ipynb|test_\w+", evidence), "evidence is a notebook or a test"


def test_every_notebook_and_chapter_is_in_the_table_of_contents():
    toc = (ROOT / "_toc.yml").read_text(encoding="utf8")
    files = set(re.findall(r"(?:file|root): (\S+)", toc))
    assert {f"notebooks/{n}" for n in NOTEBOOKS} | {f"book/{c}" for c in CHAPTERS} == files
