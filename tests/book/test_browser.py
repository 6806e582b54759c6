"""The built pages in a real browser with the network cut: formulas render, nothing is requested.

Needs Chromium (on PATH, or named by the variable CHROMIUM); skipped where there is none.
"""

import json
import re
import subprocess

import pytest
from chromium import BROWSER, Chromium
from conftest import ROOT

HTML = ROOT / "_build" / "html"
PAGES = sorted(p for d in ("book", "notebooks") for p in (HTML / d).glob("*.html"))
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=20000",
]
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")


def render(path, folder):
    """The page as the browser makes it, and the addresses the page itself asked for."""
    log = folder / "net.json"
    command = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}"]
    run = subprocess.run(
        [*command, "--dump-dom", path.as_uri()], capture_output=True, text=True, timeout=120
    )
    events = [event.get("params", {}) for event in json.loads(log.read_text())["events"]]
    # requests of the browser for itself (updates, accounts) have no origin
    requested = {
        event["url"]
        for event in events
        if event.get("initiator", "not an origin") != "not an origin"
        and event["url"].startswith(("http", "ws"))
    }
    return run.stdout, requested


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(HTML)))
def test_page_renders_without_the_network(path, tmp_path):
    dom, requested = render(path, tmp_path)
    assert dom.count("<math") == path.read_text(encoding="utf8").count("<math")
    assert requested == set(), "the page asks for something from the network"


def test_a_page_that_uses_the_network_is_noticed(tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<img src="http://example.org/a.png"><script>fetch("https://x.test")</script>')
    assert render(page, tmp_path)[1] == {"http://example.org/a.png", "https://x.test/"}


def awaited(browser, script):
    """What the promise of the script becomes."""
    answer = browser.send(
        "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
    )
    return answer["result"]["value"]


STATES = """(async () => {
  await new Promise((done) => setTimeout(done, 500));
  return [...document.querySelectorAll("div.math > .katex-display, p span.math.wide")]
    .filter((f) => !f.closest("table") && f.clientWidth)
    .map((f) => [f.scrollWidth - f.clientWidth > 2, f.classList.contains("cut"),
                 parseFloat(getComputedStyle(f).fontSize) < 16, f.tabIndex]);
})()"""


def test_a_formula_that_is_cut_off_says_so_on_a_phone(tmp_path):
    with Chromium(tmp_path) as browser:
        browser.open((HTML / "book" / "probability.html").as_uri(), width=390, height=900)
        states = awaited(browser, STATES)
    fit = [smaller for wide, _, smaller, _ in states if not wide]
    assert any(fit) and len(fit) >= 0.9 * len(states)  # smaller, or in two lines
    assert all(wide == marked == (stop == 0) for wide, marked, _, stop in states)


# every frame: how far the page has been read, where the target stands; what moves besides
WATCHED = """
window.seen = {frames: [], shift: 0};
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.seen.shift += one.value;
}).observe({type: "layout-shift", buffered: true});
(function look() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) window.seen.frames.push([document.readyState, target.getBoundingClientRect().top]);
  requestAnimationFrame(look);
})();
"""
LANDING = """(async () => {
  await document.fonts.ready;
  await new Promise((done) => setTimeout(done, 1000));
  return [seen, document.documentElement.className, document.fonts.check("16px KaTeX_Main"),
    [...document.querySelectorAll("p > .math")].filter((f) => !f.closest("details, .dropdown"))
      .every((f) => f.getClientRects().length)];
})()"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "place",
    ["excess_risk.html#thm-3", "constants.html#lem-2", "probability.html#lem-12"],
)
def test_a_link_to_a_theorem_lands_at_once_and_nothing_moves_later(width, place, tmp_path):
    with Chromium(tmp_path) as browser:
        browser.send("Page.addScriptToEvaluateOnNewDocument", source=WATCHED)
        browser.open((HTML / "book").as_uri() + f"/{place}", width=width, height=900)
        seen, classes, fonts, shown = awaited(browser, LANDING)
        room = browser.run("scrollY")
    assert fonts and shown and "landing" not in classes
    tops = [top for state, top in seen["frames"] if state == "complete"]
    assert room > 500 and all(0 < top < 120 for top in tops) and max(tops) - min(tops) <= 1
    assert seen["shift"] < 0.01


@pytest.mark.parametrize(
    "end", ["#the-guarantee", "#nothing-here", "#ex-guarantee-1", "#summary", ""]
)
def test_wherever_a_link_leads_the_whole_page_appears(end, tmp_path):
    """The title, no place at all, an exercise, the end of the page."""
    parts = "[...document.querySelectorAll('.bd-article > section > section')]"
    with Chromium(tmp_path) as browser:
        browser.open((HTML / "book" / "guarantee.html").as_uri() + end)
        hidden = browser.run(f"{parts}.filter((part) => !part.getClientRects().length).length")
        footer = browser.run("document.querySelector('.bd-footer').getClientRects().length")
        place = browser.run(f"document.getElementById('{end[1:]}')?.getBoundingClientRect().top")
        bottom = browser.run("scrollY + innerHeight - document.documentElement.scrollHeight")
    assert hidden == 0 and footer == 1
    assert place is None or 0 <= place < 120 or (place < 1000 and bottom > -5)


WIDTHS = """(async () => {
  await new Promise((done) => setTimeout(done, 300));
  return [document.documentElement.scrollWidth, document.documentElement.clientWidth];
})()"""


@pytest.mark.parametrize(
    "name", ["index", "errata", "excess_risk", "api_data", "use", "scoreboard"]
)
def test_no_page_is_wider_than_a_phone(name, tmp_path):
    with Chromium(tmp_path) as browser:
        browser.open((HTML / "book" / f"{name}.html").as_uri(), width=375, height=800)
        needed, there = awaited(browser, WIDTHS)
    assert needed <= there


SLIDES = sorted((HTML / "slides").glob("week*.html"))
CUT = """(() => {
  const slides = [...document.querySelectorAll("main > section")];
  const formulas = [...document.querySelectorAll("div.math, div.math > .katex-display")];
  const wide = (boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth + 2).length;
  const broken = [...document.images].filter((i) => i.complete && !i.naturalWidth).length;
  return [slides.length > 10, wide(slides), wide(formulas), broken];
})()"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("path", SLIDES, ids=lambda p: p.stem)
def test_slides_fit_a_phone_and_a_projector(path, width, tmp_path):
    with Chromium(tmp_path / "profile") as browser:
        browser.open(path.as_uri(), width=width, height=720)
        assert browser.run(CUT) == [True, 0, 0, 0]


SHAPES = """[...document.querySelectorAll(".drawn-box img")].filter((i) => i.clientWidth)
  .map((i) => i.clientWidth / i.clientHeight * i.getAttribute("height") / i.getAttribute("width"))
"""


@pytest.mark.parametrize("width", [390, 1400])
def test_pictures_keep_their_proportions(width, tmp_path):
    """Plots are SVG; pictures of data are PNG and have other rules."""
    pages = [page for page in PAGES if re.search(r"_images/\w+\.png", page.read_text("utf8"))]
    assert pages
    with Chromium(tmp_path) as browser:
        for page in pages:
            browser.open(page.as_uri(), width=width)
            shapes = browser.run(SHAPES)
            assert shapes and all(abs(shape - 1) < 0.02 for shape in shapes), page.stem


def test_a_dark_page_is_printed_open_and_in_light_colors(tmp_path):
    state = """[document.documentElement.dataset.theme, getComputedStyle(document.body).color,
      [...document.querySelectorAll("details.fold")].every((box) => box.open)]"""
    with Chromium(tmp_path) as browser:
        dark = [{"name": "prefers-color-scheme", "value": "dark"}]
        browser.send("Emulation.setEmulatedMedia", features=dark)
        browser.open((HTML / "book" / "relaxation.html").as_uri())
        before = browser.run(state)
        browser.run("dispatchEvent(new Event('beforeprint'))")
        printed = browser.run(state)
        browser.run("dispatchEvent(new Event('afterprint'))")
        after = browser.run(state)
    assert before[0] == after[0] == "dark" and not before[2]
    red, green, blue = (int(part) for part in re.findall(r"\d+", printed[1])[:3])
    assert printed[0] == "light" and max(red, green, blue) < 100 and printed[2]


def test_the_contents_show_what_is_read_and_no_other_link_is_marked(tmp_path):
    marked = "[...document.querySelectorAll('a.active')].map((a) => a.closest('nav')?.id)"
    with Chromium(tmp_path) as browser:
        browser.open((HTML / "book" / "objective.html").as_uri(), width=1400)
        browser.run("scrollTo({top: 3000, behavior: 'instant'})")
        awaited(browser, "new Promise((done) => setTimeout(() => done(0), 500))")
        assert browser.run(marked) == ["pst-page-toc-nav"]


ERRORS = "window.errors = []; addEventListener('error', (event) => errors.push(event.message))"


@pytest.mark.parametrize(
    "page", ["book/index", "book/scoreboard", "notebooks/u02_play", "notebooks/e10_digits"]
)
def test_no_script_of_a_page_fails(page, tmp_path):
    with Chromium(tmp_path) as browser:
        browser.send("Page.addScriptToEvaluateOnNewDocument", source=ERRORS)
        browser.open((HTML / f"{page}.html").as_uri())
        awaited(browser, "new Promise((done) => setTimeout(() => done(0), 300))")
        assert browser.run("errors") == []


FOUND = """(() => {
  const box = document.querySelector("details.fold");
  const word = document.querySelector("form.score-filter input");
  const before = box.open;
  word.value = "hessian";
  word.dispatchEvent(new Event("input", {bubbles: true}));
  const left = [...box.querySelectorAll("tr.score")].filter((row) => row.getClientRects().length);
  return [before, box.open, left.length, left.every((row) => /hessian/i.test(row.textContent))];
})()"""


def test_the_filter_of_the_scoreboard_opens_the_folded_table(tmp_path):
    with Chromium(tmp_path) as browser:
        browser.open((HTML / "book" / "scoreboard.html").as_uri())
        before, after, count, fit = browser.run(FOUND)
    assert not before and after and count and fit
