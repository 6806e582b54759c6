"""One numbering: the paper's items keep its numbers, ours have letters, and mentions are links."""

import re
import sys
from functools import cache
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from conftest import ROOT
from docutils import nodes
from sphinx import addnodes

from firal.companion import claims

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from numbering import KINDS, MENTION, OTHER_WORK, number_in_latex, prefixes  # noqa: E402

HTML = ROOT / "_build" / "html"
PAGES = sorted(p for d in ("book", "notebooks") for p in (HTML / d).glob("*.html"))
REGISTRY = claims.registry(ROOT / "book" / "claims.yml")
TITLE = re.compile(r"(\w+) ([A-Z]*\d+) (of the paper )?")


class Page(HTMLParser):
    """Texts outside links and code, links to statements, and the titles of boxes and captions."""

    SKIPPED = {"a", "code", "pre", "svg", "script", "style", "math"}
    VOID = {"img", "br", "hr", "input", "meta", "link", "col", "path", "rect", "polyline"}

    def __init__(self, html):
        super().__init__()
        self.open, self.texts, self.links, self.titles, self.captions = [], [], [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag in self.VOID:
            return
        a = dict(attributes)
        self.open.append((tag, a.get("id"), a.get("class") or "", a.get("href") or ""))
        if "admonition-title" in (a.get("class") or ""):
            box = next((o for o in reversed(self.open[:-1]) if o[0] == "div"), None)
            if box and re.match(r"proof |.* proof", box[2]):
                self.titles.append([box[1], ""])
        if tag == "a":
            self.links.append([a.get("href") or "", ""])
        if "caption-number" in (a.get("class") or ""):
            self.captions.append("")
        if tag in ("p", "li", "td", "h1", "h2", "h3", "h4", "dd", "dt", "div", "figcaption"):
            self.texts.append("")

    def handle_endtag(self, tag):
        if any(one[0] == tag for one in self.open):  # there are end tags without a start
            while self.open.pop()[0] != tag:
                pass

    def handle_data(self, data):
        tags = {o[0] for o in self.open}
        classes = " ".join(o[2] for o in self.open)
        if "article" not in tags:
            return
        if "a" in tags:
            self.links[-1][1] += data
        if "admonition-title" in classes and self.titles and "katex" not in classes:
            self.titles[-1][1] += data
        if "caption-number" in classes:
            self.captions[-1] += data
        elif self.texts and not tags & self.SKIPPED and "katex" not in classes:
            self.texts.append(data)


@cache
def parsed(path):
    return Page(path.read_text(encoding="utf8"))


def mentions(page):
    """Numbered mentions in the text of a page that are not links: (words, what follows)."""
    for text in page.texts:
        yield from ((found[0], text[found.end() :]) for found in MENTION.finditer(text))


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_every_mention_of_a_number_is_a_link(path):
    """On the scoreboard the rows of the figures have nowhere else to lead to."""
    bare = [words for words, rest in mentions(parsed(path)) if not OTHER_WORK.match(rest)]
    if path.stem == "scoreboard":
        bare = [words for words in bare if not words.startswith("Figure")]
    assert bare == []


def test_a_bare_mention_is_found_and_another_work_is_known():
    def found(html):
        page = Page(f"<article>{html}</article>")
        return [words for words, rest in mentions(page) if not OTHER_WORK.match(rest)]

    assert found("<p>Run Algorithm 1 and Theorems 3 and 4.</p>") == [
        "Algorithm 1",
        "Theorems 3 and 4",
    ]
    assert found("<p><a>Theorem 3</a>, Lemma 2.8.1, Lemma 1 of Chaudhuri, Theorem L2</p>") == []


def test_numbers_of_items_of_the_paper_are_the_papers():
    seen = set()
    for path in PAGES:
        for label, title in parsed(path).titles:
            kind, number, papers = TITLE.match(" ".join(title.split()) + " ").groups()
            if label in REGISTRY and not label.startswith("our-"):
                assert f"{KINDS[kind]}-{number}" == label and papers
            else:
                assert re.fullmatch(r"[A-Z]+\d+", number) and not papers, "ours has a letter"
                assert number not in seen
                seen.add(number)
    assert len(seen) > 90


def test_links_say_what_they_lead_to():
    """The text of every link to a statement is its kind and number, or words of the author."""
    wrong, checked = [], 0
    for path in PAGES:
        for href, text in parsed(path).links:
            label = href.rsplit("#")[-1].removeprefix("score-")
            found = re.fullmatch(r"(\w+) (\d+)", text)
            if found and found[1] in KINDS and label in REGISTRY:  # else a section, an erratum
                checked += 1
                if f"{KINDS[found[1]]}-{found[2]}" != label:
                    wrong.append((path.stem, text, href))
    assert checked > 500
    assert wrong == []


def test_letters_follow_the_book_and_notebooks_have_their_names():
    pages = ["book/index", "notebooks/e10_digits", *(f"book/p{k}" for k in range(24))]
    names = prefixes(pages)
    assert names["book/index"] == "A" and names["notebooks/e10_digits"] == "e10."
    assert names["book/p22"] == "Z" and names["book/p23"] == "AA"
    assert not {"I", "O"} & set(names.values())


def test_figures_have_letters():
    for path in PAGES:
        for caption in parsed(path).captions:
            if caption.startswith(("Fig.", "Table")):
                assert re.match(r"(?:Fig\.|Table) (?:[A-Z]+|[a-z]\d\d\.)\d+", caption)


def test_latex_is_told_the_numbers_of_every_page():
    """The PDF is one tree of all pages; what stands on a page has another parent there."""
    pages = []
    for name in ("first", "second"):
        alone = nodes.section("", nodes.section("", nodes.figure("", ids=["fig-one"])))
        page = addnodes.start_of_file("", docname=name)
        page.children = alone.children  # as Sphinx does
        pages.append(page)
    numbers = {
        name: {"figure": {"fig-one": (number,)}}
        for name, number in (("first", "A"), ("second", "B"))
    }
    app = SimpleNamespace(
        builder=SimpleNamespace(format="latex"), env=SimpleNamespace(toc_fignumbers=numbers)
    )
    number_in_latex(app, nodes.section("", *pages), "home")
    told = [page[0][0].astext() for page in pages]
    assert told == [rf"\renewcommand{{\thefigure}}{{{letter}}}" for letter in "AB"]
    assert [type(page[0][1]) for page in pages] == [nodes.figure] * 2


def test_no_section_is_named_like_its_page():
    """Else sphinx-proof does not know the page in the PDF, and its statements have no numbers."""
    for path in sorted((ROOT / "book").glob("*.md")):
        text = re.sub(r"^```.*?^```", "", path.read_text("utf8"), flags=re.M | re.S)
        title, *sections = [h.lower() for h in re.findall(r"^#+ (.+)$", text, flags=re.M)]
        assert title not in sections, path.name
