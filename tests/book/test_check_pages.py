"""`make pages` sees what is broken: for every check, small pages that break it and nothing else."""

import pytest
import yaml
from check_pages import AXE, CHECKS, LIMITS, allows, broken, without_allowed
from chromium import BROWSER, Chromium
from conftest import ROOT
from page_measures import measure

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf8"><title>A page</title>
<style>body {margin: 0; color: #111; background: #fff} article {overflow: clip} %s</style>
</head><body><main><article>
<h1>A title</h1><p>Some text.</p>%s</article></main></body></html>"""
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="700.0pt" height="400.0pt"
 viewBox="0 0 700 400"><g id="figure_1"><g transform="translate(9 9) scale(0.08 -0.08)"/></g>
</svg>"""
WIDE = '<span class="katex"><span class="base" style="display:inline-block;width:600px">x</span>'
DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
DARK = "@media (prefers-color-scheme: dark) {body {color: #222; background: #111}}"

# check: (rules, part of a page)
FAULTS = {
    "console": [
        ("", "<script>console.error('bad')</script>"),
        ("", "<script>console.warn('bad')</script>"),
        ("", "<script>nothing.at.all</script>"),
        ("", "<script>if (matchMedia('(prefers-color-scheme: dark)').matches) bad()</script>"),
    ],
    "requests": [
        ("", '<img alt="A" src="../elsewhere.png" width="9" height="9">'),
        ("", "<script>fetch('https://x.test/').catch(() => 0)</script>"),
    ],
    "axe": [("", f'<img src="{DOT}" width="300">'), (DARK, ""), ("p {color: #ccc}", "")],
    "overflow": [
        ("article {overflow: visible}", '<div style="width:600px">Wide</div>'),  # on a phone
        ("article {overflow: visible}", '<div style="width:2000px">Wide</div>'),
    ],
    "letters": [
        ("p {font-size: 8px}", ""),
        ("", '<img alt="A" src="a.svg" style="width:100%">'),
        ("", '<svg width="100" viewBox="0 0 200 100"><text y="50" font-size="16">A</text></svg>'),
        ("", '<img alt="A" src="_images/a.png" style="width:300px">'),
    ],
    "formulas": [
        ("", f"<p>{WIDE}</span></p>"),
        ("", f'<div style="overflow:hidden">{WIDE}</span></div>'),
    ],
    "height": [("", '<div style="height:11000px"></div>')],
    "weight": [("", '<img alt="A" src="heavy.png" width="300" loading="lazy">')],
}
FINE = (
    "",
    '<img alt="A" src="a.svg" style="width:800px;max-width:none">'
    f'<div style="overflow-x:auto" tabindex="0">{WIDE}</span></div>'
    f'<img alt="A" src="{DOT}" width="9">',
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    html = folder / "html"
    (html / "_images").mkdir(parents=True)
    (html / "a.svg").write_text(SVG)
    picture = pytest.importorskip("PIL.Image").new("RGB", (1000, 20), "red")
    picture.save(html / "_images" / "a.png")
    picture.save(folder / "elsewhere.png")
    picture.save(html / "heavy.png")
    with open(html / "heavy.png", "ab") as file:
        file.write(bytes(2_000_000))
    return html


def faults(site, tmp_path, rules, part, axe=""):
    page = site / "page.html"
    page.write_text(PAGE % (rules, part), encoding="utf8")
    with Chromium(tmp_path / "profile") as browser:
        return broken(measure(browser, page, site, axe))


CASES = [(check, *case) for check in FAULTS for case in FAULTS[check]]


@needs_browser
@pytest.mark.parametrize(("check", "rules", "part"), CASES, ids=[case[0] for case in CASES])
def test_a_broken_page_is_red_and_only_where_it_is_broken(site, tmp_path, check, rules, part):
    if check == "axe" and not AXE.is_file():
        pytest.skip("no axe: make pages")
    axe = AXE.read_text(encoding="utf8") if check == "axe" else ""
    found = set(faults(site, tmp_path, rules, part, axe))
    if "https:" in part:  # a browser without a network complains, too
        found.discard("console")
    assert found == {check}


@needs_browser
def test_a_page_without_faults_is_green(site, tmp_path):
    axe = AXE.read_text(encoding="utf8") if AXE.is_file() else ""
    assert faults(site, tmp_path, *FINE, axe) == {}


def test_every_check_has_a_page_that_breaks_it():
    assert set(FAULTS) == set(CHECKS)


def test_what_is_allowed_is_allowed_there_only_and_up_to_its_limit():
    high = {"page": "book/long", "check": "height", "most": 12_000, "why": "one table"}
    noise = {"page": "notebooks/*", "check": "console", "what": "^known", "why": "not ours"}
    assert allows(high, "book/long", "height", "11,000")
    assert not allows(high, "book/long", "height", "12,001")
    assert not allows(high, "book/other", "height", "11,000")
    assert not allows(high, "book/long", "weight", "11,000")
    left = without_allowed("notebooks/a", {"console": ["known", "an unknown"]}, [high, noise])
    assert left == {"console": ["an unknown"]} and "used" in noise and "used" not in high


def test_the_limits_are_those_of_the_other_tests():
    import test_built_book
    import test_page_heights

    assert LIMITS["height"] == test_page_heights.LIMIT
    assert LIMITS["weight"] == test_built_book.LIMIT


def test_every_exception_has_a_reason():
    path = ROOT / "book" / "_tools" / "pages_allowed.yml"
    for entry in yaml.safe_load(path.read_text(encoding="utf8")):
        assert len(entry["why"]) > 20 and entry["check"] in CHECKS
        assert ("most" in entry) != ("what" in entry)
