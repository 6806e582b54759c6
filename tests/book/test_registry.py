"""Registry, notebooks, theorem labels and errata say the same."""

import re
import sys

import pytest
from conftest import ROOT
from needs import missing_record

from firal.companion import claims

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from scoreboard import (  # noqa: E402
    HEADINGS,
    ORDER,
    VERDICTS,
    evidence,
    ours_markdown,
    outcomes,
    place,
    table_markdown,
    totals_markdown,
)

REGISTRY = claims.registry(ROOT / "book" / "claims.yml")
KINDS = set("definition assumption identity inequality rate algorithm figure trend".split())
FIELDS = set("id title where kind claim chapter depends notebook expected erratum".split())
PAPER = {name: entry for name, entry in REGISTRY.items() if not name.startswith("our-")}
OURS = {name: entry for name, entry in REGISTRY.items() if name.startswith("our-")}
LABEL = re.compile(r"^:label: ((?:(?:asm|lem|thm|prop|def|cor|rem|alg)-\d+)|our-[\w-]+)$", re.M)
ERRATUM = re.compile(r"^\((err-[\w-]+)\)=$", re.M)
CHAPTERS = {path.stem: path.read_text(encoding="utf8") for path in (ROOT / "book").glob("*.md")}
NOTEBOOKS = {path.stem: claims.recorded(path) for path in (ROOT / "notebooks").glob("*.ipynb")}
ERRATA = "\n".join(text for stem, text in CHAPTERS.items() if stem.startswith("errata"))
LABELS = {label: stem for stem, text in CHAPTERS.items() for label in LABEL.findall(text)}
# checks that are expected to pass and have no control: (claim, words), each with the reason
WITHOUT_CONTROL = {}


def test_every_item_of_the_paper_is_listed():
    numbers = [
        int(i.split("-")[1]) for i in PAPER if re.match(r"(asm|lem|thm|prop|def|cor|rem)-", i)
    ]
    assert sorted(numbers) == list(range(1, 50))
    assert [i for i in PAPER if i.startswith("alg-")] == ["alg-1", "alg-2", "alg-3"]
    assert [i for i in PAPER if i.startswith("fig-")] == [f"fig-{k}" for k in range(1, 17)]
    assert sum(i.startswith("txt-") for i in PAPER) == 54
    assert len(PAPER) == 122


def test_our_results_come_last_and_nothing_of_the_paper_rests_on_them():
    assert list(REGISTRY) == [*PAPER, *OURS] and OURS
    assert not [name for name, entry in PAPER.items() if set(entry["depends"]) & set(OURS)]
    for entry in OURS.values():
        assert entry["where"] == "this book" and entry["erratum"] is None
        assert entry["expected"] in ("holds", None), "what does not hold is not a result"


def test_totals_count_the_items_of_the_paper_only():
    rows = outcomes(ROOT)
    assert totals_markdown(rows)[-1].endswith(f"| {len(PAPER)} |")
    order = {verdict: k for k, verdict in enumerate(ORDER)}
    verdicts = {entry["id"]: verdict for entry, _, verdict in rows}
    wanted = sorted(PAPER, key=lambda name: order[verdicts[name]])  # stable: the paper's order
    table = "\n".join(table_markdown(rows)).replace("| Figure ", "| fig-")
    listed = re.findall(r"^\| (?:{prf:ref})?`?([a-z]+-[\w-]+)`? \| \S", table, re.M)
    assert listed == wanted
    assert set(order) == set(VERDICTS) == set(HEADINGS)
    assert re.findall(r"^\| {prf:ref}`([\w-]+)` \|", "\n".join(ours_markdown(rows)), re.M) == list(
        OURS
    )


def test_every_check_that_passes_has_a_control():
    """The same statistic of a corrupted version fails, so the check can fail.

    A notebook that waits for its record keeps its outputs, from before there were controls.
    """
    checks = [c for name, found in NOTEBOOKS.items() if not missing_record(name) for c in found]
    bare = {(c.id, c.what) for c in checks if c.passed and c.as_expected and c.control is None}
    assert len(checks) > 200 and bare == set(WITHOUT_CONTROL)


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
    if entry["expected"] in ("holds-corrected", "differs"):
        assert entry["erratum"], "a claim that does not hold as printed needs an erratum"
    if not entry["id"].startswith(("fig-", "txt-")):
        assert LABELS.get(entry["id"]) == entry["chapter"], (
            "no block with this label in its chapter"
        )


def test_every_status_has_its_words_on_the_scoreboard():
    assert set(claims.STATUSES) < set(VERDICTS)
    assert len({words[0] for words in VERDICTS.values()}) == len(VERDICTS)  # the sign tells it


def test_evidence_names_how_checks_and_controls_came_out():
    entry = {"notebook": "t01_x", "erratum": None}
    passed = claims.Check("x", "", None, "<", 1.0, False, True, True, "half the bound", None)
    failed = passed._replace(printed=True, passed=False, control=None)
    assert evidence(entry, [passed, failed]).endswith(
        ": 1 passes, 1 fails as printed, 1 control fails"
    )
    assert evidence(entry, [passed, passed]).endswith(": 2 pass, 2 controls fail")
    reason = claims.Check("x", "no constant is given", None, None, None, False, False, True)
    assert evidence(entry, [reason]).endswith(": no constant is given")


def test_every_item_of_the_paper_links_to_its_section():
    """The anchors are the names that hyperref gives: section.3, appendix.E, subsection.G.1."""
    paper = "https://arxiv.org/pdf/2409.07379"
    assert place("Section 3, Lemma 2") == f"[Section 3]({paper}#section.3), Lemma 2"
    assert place("Appendix E, Remark 41") == f"[Appendix E]({paper}#appendix.E), Remark 41"
    assert place("Appendix F.3.2, proof") == (
        f"[Appendix F.3.2]({paper}#subsubsection.F.3.2), proof"
    )
    assert place("Section 5 and Appendix G.1").endswith(f"[Appendix G.1]({paper}#subsection.G.1)")
    assert [name for name, entry in PAPER.items() if paper not in place(entry["where"])] == []


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


def test_every_label_of_the_paper_in_the_book_is_registered():
    assert {label for label in LABELS if not label.startswith("our-")} <= set(PAPER)


def test_labels_are_unique():
    found = [label for text in CHAPTERS.values() for label in LABEL.findall(text)]
    assert sorted(found) == sorted(set(found))


def test_notebooks_record_their_own_claims_only():
    for notebook, records in NOTEBOOKS.items():
        for record in records:
            assert REGISTRY[record.id]["notebook"] == notebook, f"{record.id} in {notebook}"


def test_errata_are_in_step():
    written = set(ERRATUM.findall(ERRATA))
    named = {entry["erratum"] for entry in REGISTRY.values()} - {None}
    assert named <= written, "the registry names errata that are not on the page"


def test_every_erratum_has_its_four_fields():
    parts = re.split(r"^\(err-[\w-]+\)=$", ERRATA, flags=re.M)[1:]
    for part in parts:
        for field in ("**Where**", "**Printed**", "**Right**", "**Evidence**"):
            assert field in part, f"{field} missing in: {part.strip().splitlines()[0]}"
        evidence = part.split("**Evidence**")[1]
        assert re.search(r"\.ipynb|test_\w+", evidence), "evidence is a notebook or a test"


def test_every_notebook_and_chapter_is_in_the_table_of_contents():
    toc = (ROOT / "_toc.yml").read_text(encoding="utf8")
    files = set(re.findall(r"(?:file|root): (\S+)", toc))
    assert {f"notebooks/{n}" for n in NOTEBOOKS} | {f"book/{c}" for c in CHAPTERS} == files
