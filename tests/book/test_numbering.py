"""One numbering: the paper's items keep its numbers, ours have letters, and mentions are links."""

import re
import sys

import pytest
from bs4 import BeautifulSoup
from conftest import ROOT

from firal.companion import claims

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from numbering import KINDS, MENTION, OTHER_WORK, PLURAL, prefixes  # noqa: E402

HTML = ROOT / "_build" / "html"
PAGES = sorted(p for d in ("book", "notebooks") for p in (HTML / d).glob("*.html"))
REGISTRY = claims.registry(ROOT / "book" / "claims.yml")
TITLE = re.compile(r"(\w+) ([A-Z]*\d+) (of the paper )?")


def article(path):
    return BeautifulSoup(path.read_text(encoding="utf8"), "html.parser").find("article")


def mentions(soup):
    """Numbered mentions in the text of a page that are not links: (words, what follows)."""
    for text in soup.find_all(string=MENTION):
        around = [tag for tag in text.parents if tag.name]
        names = {tag.name for tag in around}
        classes = {name for tag in around for name in tag.get("class", ())}
        if names & {"a", "code", "pre", "svg", "script", "style"} or "caption-number" in classes:
            continue
        yield from ((found[0], text[found.end() :]) for found in MENTION.finditer(text))


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_every_mention_of_a_number_is_a_link(path):
    """On the scoreboard the rows of the figures have nowhere else to lead to."""
    bare = [words for words, rest in mentions(article(path)) if not OTHER_WORK.match(rest)]
    if path.stem == "scoreboard":
        bare = [words for words in bare if not words.startswith("Figure")]
    assert bare == []


def test_a_bare_mention_is_found_and_another_work_is_known():
    def found(html):
        soup = BeautifulSoup(html, "html.parser")
        return [words for words, rest in mentions(soup) if not OTHER_WORK.match(rest)]

    assert found("<p>Run Algorithm 1 and Theorems 3 and 4.</p>") == [
        "Algorithm 1",
        "Theorems 3 and 4",
    ]
    assert found("<p><a>Theorem 3</a>, Lemma 2.8.1, Lemma 1 of Chaudhuri, Theorem L2</p>") == []


def test_numbers_of_items_of_the_paper_are_the_papers():
    seen = set()
    for path in PAGES:
        for box in article(path).select("div.proof"):
            label, title = box.get("id"), box.select_one(".admonition-title")
            if title is None:
                continue  # the proof of a statement
            kind, number, papers = TITLE.match(" ".join(title.get_text().split()) + " ").groups()
            if label in REGISTRY and not label.startswith("our-"):
                assert f"{KINDS[kind]}-{number}" == label and papers
            else:
                assert number[0].isalpha() and not papers, "ours has a letter"
                assert (kind, number) not in seen and number not in {n for _, n in seen}
                seen.add((kind, number))
    assert len(seen) > 90


def test_links_say_what_they_lead_to():
    """The text of every link to a statement is its kind and number, or words of the author."""
    wrong = []
    for path in PAGES:
        for link in article(path).find_all("a", href=re.compile(r"#(?:[a-z]+-\d+)$")):
            label = link["href"].rsplit("#")[-1]
            found = re.fullmatch(r"(\w+) (\d+)", link.get_text())
            if found and found[1] in PLURAL | KINDS:
                kind = PLURAL.get(found[1], found[1])
                if f"{KINDS[kind]}-{found[2]}" != label.removeprefix("score-"):
                    wrong.append((path.stem, link.get_text(), label))
    assert wrong == []


def test_letters_follow_the_book_and_notebooks_have_their_names():
    pages = ["book/index", "notebooks/e10_digits", *(f"book/p{k}" for k in range(24))]
    names = prefixes(pages)
    assert names["book/index"] == "A" and names["notebooks/e10_digits"] == "e10."
    assert names["book/p22"] == "Z" and names["book/p23"] == "AA"
    assert not {"I", "O"} & set(names.values())


def test_figures_have_letters():
    for path in PAGES:
        for caption in article(path).select("figcaption .caption-number, table .caption-number"):
            assert re.match(r"(?:Fig\.|Table) (?:[A-Z]+|[a-z]\d\d\.)\d+", caption.get_text()), (
                path.stem
            )
