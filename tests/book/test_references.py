"""Every reference can be looked up and is cited; every citation has its reference."""

import re

import pytest
from conftest import ROOT

BIB = (ROOT / "book" / "references.bib").read_text(encoding="utf8")
ENTRY = re.compile(r"^@(\w+)\{([^,\s]+),\n(.*?)\n\}$", re.M | re.S)
FIELD = re.compile(r"^  (\w+)\s*= \{(.*?)\},?$", re.M | re.S)
CITE = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")
REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "book": {"author", "title", "publisher", "year"},
    "incollection": {"author", "title", "booktitle", "publisher", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "misc": {"author", "title", "year"},
}
IDENTIFIERS = {  # what makes an entry findable, and how it is written
    "doi": r"10\.\d{4,9}/[^\s{}]+",
    "eprint": r"\d{4}\.\d{4,5}|[a-z-]+/\d{7}",
    "isbn": r"97[89][-\d]{10,14}",
    "url": r"https://\S+",
}


def _cited():
    """The keys that the pages of the book cite, with the pages."""
    pages = {}
    for path in sorted((ROOT / "book").glob("*.md")):
        for group in CITE.findall(path.read_text(encoding="utf8")):
            for key in group.split(","):
                pages.setdefault(key.strip(), []).append(path.name)
    return pages


ENTRIES = [(kind, key, dict(FIELD.findall(body))) for kind, key, body in ENTRY.findall(BIB)]
KEYS = [key for _, key, _ in ENTRIES]


def test_every_entry_was_read():
    assert len(ENTRIES) == len(re.findall(r"^@", BIB, re.M)) > 0
    assert len(set(KEYS)) == len(KEYS)


@pytest.mark.parametrize(("kind", "key", "fields"), ENTRIES, ids=KEYS)
def test_entry(kind, key, fields):
    assert REQUIRED[kind] <= set(fields)
    assert re.fullmatch(r"(19|20)\d\d", fields["year"])
    assert re.fullmatch(rf"[a-z]+{fields['year']}[a-z]+", key), "the key is author, year, word"
    assert fields.get("archiveprefix", "arXiv") == "arXiv"
    found = IDENTIFIERS.keys() & fields.keys()
    assert found, "no DOI, arXiv id, ISBN or address to look it up"
    for name in found:
        assert re.fullmatch(IDENTIFIERS[name], fields[name])
    if "isbn" in fields:
        digits = [int(digit) for digit in fields["isbn"].replace("-", "")]
        assert len(digits) == 13 and (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0


def test_identifiers_are_not_shared():
    for name in IDENTIFIERS:
        values = [fields[name].lower() for *_, fields in ENTRIES if name in fields]
        assert len(set(values)) == len(values)


def test_no_work_is_listed_twice():
    works = [fields["author"] + fields["title"] for *_, fields in ENTRIES]
    works = [re.sub(r"[^a-z0-9]", "", work.lower()) for work in works]
    assert len(set(works)) == len(works)


def test_every_entry_is_cited_and_every_citation_exists():
    cited = _cited()
    missing = {key: pages for key, pages in cited.items() if key not in KEYS}
    assert not missing
    assert sorted(set(KEYS) - set(cited)) == []


def test_papers_are_cited_not_linked():
    for path in (ROOT / "book").glob("*.md"):
        text = path.read_text(encoding="utf8")
        assert not re.search(r"\]\(https?://(\w+\.)?(arxiv|doi)\.org", text), path.name
