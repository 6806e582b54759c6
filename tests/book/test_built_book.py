"""Checks on the built HTML that Sphinx does not make. `make test` builds it first."""

import re
from functools import cache
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from conftest import ROOT

HTML = ROOT / "_build" / "html"
PAGES = sorted(p for d in ("book", "notebooks") for p in (HTML / d).glob("**/*.html"))
LISTINGS = sorted((HTML / "_modules").glob("**/*.html"))  # source code
LIMIT = 2_000_000  # bytes of a page with all it loads


class Page(HTMLParser):
    """What a page links to, loads, and says outside code."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads, self.images, self.text = set(), [], [], [], []
        self.skip = self.article = 0
        self.feed(path.read_text(encoding="utf8"))

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if a.get("id"):
            self.ids.add(a["id"])
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        if a.get("src") or (tag == "link" and a.get("href")):
            self.loads.append(a.get("src") or a["href"])
        if tag == "img":
            self.images.append((a.get("src"), a.get("alt") or ""))
        self.skip += tag in ("pre", "script", "style", "code")
        self.article += tag == "article"

    def handle_endtag(self, tag):
        self.skip -= tag in ("pre", "script", "style", "code")
        self.article -= tag == "article"

    def handle_data(self, data):
        if self.article and not self.skip:
            self.text.append(data)


@cache
def parsed(path):
    return Page(path)


def local_target(path, url):
    """The file a relative address points to, or None for addresses elsewhere."""
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return None
    return (path.parent / unquote(parts.path)).resolve() if parts.path else path


def test_there_are_pages():
    assert PAGES, "build the book first: make html"


@pytest.fixture(params=PAGES, ids=lambda p: str(p.relative_to(HTML)))
def path(request):
    return request.param


def test_nothing_is_loaded_from_the_network(path):
    assert [u for u in parsed(path).loads if re.match(r"(https?:)?//", u)] == []


def test_links_and_anchors_are_alive(path):
    page = parsed(path)
    for url in page.loads + page.links:
        target = local_target(path, url)
        if target is None:
            continue
        assert target.is_file(), f"dead link {url}"
        fragment = unquote(urlsplit(url).fragment)
        if fragment and target.suffix == ".html":
            assert fragment in parsed(target).ids, f"dead anchor {url}"


def test_no_unparsed_markup_is_left(path):
    text = " ".join(parsed(path).text)
    assert re.findall(r"`{3,}|:{3,}|\{[a-z:]+\}`|\^\{\[|\$\$", text) == []


def test_pictures_have_alternative_text(path):
    missing = [src for src, alt in parsed(path).images if not alt or alt.endswith(".png")]
    assert missing == []


def test_pictures_have_their_size_in_the_page(path):
    tags = re.findall(r"<img [^>]*_images/[^>]*>", path.read_text(encoding="utf8"))
    assert [tag for tag in tags if " width=" not in tag or " height=" not in tag] == []


def test_axe_has_nothing_against_what_we_write(path):
    html = path.read_text(encoding="utf8")
    assert not re.search(r"<th\b[^>]*>(\s|</?p>)*</th>", html)
    assert "doc-biblioentry" not in html


def test_page_weight(path):
    """Page, styles, scripts, pictures and all fonts of formulas, as if nothing were compressed.

    Of a figure that has two variants a browser loads the one that it shows.
    """
    page = parsed(path)
    files = {local_target(path, url) for url in page.loads} - {None}
    files = {p for p in files if p.suffix != ".html" and ".dark." not in p.name}
    assert {".css", ".js"} <= {p.suffix for p in files}
    fonts = {p for p in (HTML / "_static" / "fonts").glob("*.woff2") if font_is_used(path, p.stem)}
    weight = path.stat().st_size + sum(p.stat().st_size for p in files | fonts)
    assert weight < LIMIT, f"{weight:,} bytes"


def test_hidden_variants_of_figures_are_not_loaded(path):
    html = path.read_text(encoding="utf8")
    dark = re.findall(r"<img [^>]*\.dark\.(?:svg|png)[^>]*>", html)
    assert [tag for tag in dark if "drawn-dark" not in tag or 'loading="lazy"' not in tag] == []
    assert len(dark) == len(re.findall(r"<img [^>]*drawn-dark[^>]*>", html))


def font_is_used(path, font):
    """Whether a page has a formula with letters of KaTeX_Caligraphic-Regular or the like."""
    names = {"Caligraphic": "mathcal", "Fraktur": "mathfrak", "Script": "mathscr"}
    names |= {"SansSerif": "mathsf", "Typewriter": "mathtt", "Main": "textit", "Math": "boldsymbol"}
    family = font.removeprefix("KaTeX_").split("-")[0]
    return names.get(family, "size") in path.read_text(encoding="utf8")


def test_formulas_are_typeset_and_speak(path):
    """Each is HTML for the eye and MathML for a screen reader, and no Tab stop."""
    html = path.read_text(encoding="utf8")
    visible = re.findall(r'<span (?:aria-hidden="true" )?class="?katex-html"?', html)
    spoken = re.findall(r'<span class="?katex-mathml"?><math', html)
    places = re.findall(r'<(?:span|div)[^>]*\bclass="math\b', html)
    assert len(visible) == len(spoken) == len(places) == html.count("<math")
    assert "katex-error" not in html and "MathJax" not in html
    assert re.findall(r'class="math[^>]*tabindex', html) == []
    assert re.findall(r"\\\(|\\\[", " ".join(parsed(path).text)) == []


def test_icons_are_drawings_and_need_no_script(path):
    html = path.read_text(encoding="utf8")
    assert re.findall(r'fontawesome\.js|<(?:i|span)[^>]*class="[^"]*\bfa(?:s|-solid)\b', html) == []
    assert html.count('<svg class="svg-inline--fa') > 30


def test_the_fonts_of_formulas_are_in_the_book():
    sheet = (HTML / "_static" / "katex.css").read_text(encoding="utf8")
    files = set(re.findall(r"url\((?!data:)([^)]+)\)", sheet))
    assert len(files) > 10 and all((HTML / "_static" / file).is_file() for file in files)
    assert sheet.count("data:font/woff2") == 6


@pytest.mark.parametrize("path", LISTINGS, ids=lambda p: str(p.relative_to(HTML)))
def test_links_of_the_source_listings_are_alive(path):
    test_links_and_anchors_are_alive(path)


def test_every_page_says_what_it_is(path):
    html = path.read_text(encoding="utf8")
    (words,) = re.findall(r'<meta name="description" content="([^"]*)"', html)
    assert 20 <= len(words) <= 210 and "\\" not in words
    assert 'property="og:image"' in html and 'rel="icon"' in html
    assert "Project name not set" not in html
    assert "thebe" not in html and 'data-default-mode="auto"' in html


def test_no_script_writes_to_the_console():
    scripts = list((HTML / "_static").rglob("*.js"))
    assert len(scripts) > 10
    assert [s.name for s in scripts if "console.log(" in s.read_text(encoding="utf8")] == []


def test_notebooks_can_be_downloaded():
    for page in (HTML / "notebooks").glob("*.html"):
        name = f"../_sources/notebooks/{page.stem}.ipynb"
        assert name in parsed(page).links, f"no download button for {page.stem}"
        assert (page.parent / name).resolve().is_file()


def test_no_button_leads_nowhere():
    """No repository address is set, so no button may ask for one."""
    config = (ROOT / "_config.yml").read_text(encoding="utf8")
    if 'url: ""' not in config:
        pytest.skip("the repository address is set")
    for page in PAGES:
        html = page.read_text(encoding="utf8")
        assert not re.search(r"mybinder|colab\.research|/issues/new|/edit/", html), page.name
