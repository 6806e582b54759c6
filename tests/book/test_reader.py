"""What a reader does in the browser: search, point at a reference, play with a figure."""

import pytest
from chromium import BROWSER, Chromium
from conftest import ROOT

HTML = ROOT / "_build" / "html"
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")

WAIT = "new Promise((done) => setTimeout(done, %d))"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Chromium(tmp_path_factory.mktemp("browser")) as one:
        yield one


def later(browser, milliseconds, expression):
    script = f"(async () => {{ await {WAIT % milliseconds}; return {expression}; }})()"
    answer = browser.send(
        "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
    )
    return answer["result"].get("value")


ANSWERS = {  # question -> the best place, and how far down the list it may stand
    "own data": ("book/use.html", 1),
    "change parameter": ("book/course.html#with-other-numbers", 1),
    "parameter": ("book/course.html#with-other-numbers", 1),
    "run this with another parameter": ("book/course.html#with-other-numbers", 1),
    "run": ("book/index.html#run-it", 1),
    "install": ("book/use.html#five-minutes", 1),
    "ridge": ("book/penalized.html", 1),
    "BAIT": ("book/real_data.html", 1),
    "eta": ("notebooks/t15_eta.html", 1),
    "learning rate": ("notebooks/t15_eta.html", 3),
    "certificate": ("book/relaxation.html#a-certificate", 1),
    "memory": ("book/cost.html#memory", 1),
    "how long does it take": ("book/cost.html", 1),
    "cite": ("book/index.html#how-to-cite", 1),
    "errata": ("book/errata.html", 1),
    "seed": ("book/course.html#with-other-numbers", 1),
    "slides": ("book/course.html#in-the-classroom", 1),
    "when to stop": ("notebooks/u04_when_to_stop.html", 1),
    "pseudo self-concordance": ("book/concordance.html", 1),
}


@pytest.mark.parametrize("question", ANSWERS)
def test_the_first_answers_of_the_search(browser, question):
    page, place = ANSWERS[question]
    address = (HTML / "search.html").as_uri() + "?q=" + question.replace(" ", "+")
    browser.open(address)
    links = "[...document.querySelectorAll('ul.search li > a:first-child')]"
    found = later(
        browser, 500, f"{links}.slice(0, 12).map((a) => [a.getAttribute('href'), a.text])"
    )
    assert page in [href for href, _ in found[:place]], found[:3]
    assert not [title for _, title in found if "\\" in title or "{" in title]
    # nothing was fetched: a page on the disk may not
    assert browser.run(
        "performance.getEntriesByType('resource').every(r=>r.initiatorType!='fetch')"
    )


@pytest.mark.parametrize(
    ("page", "end", "words"),
    [
        ("tour", "#prop-8", ("Proposition 8", "FTRL")),
        ("logistic", "#def-26", ("Definition 26",)),
        ("guarantee", "bibliography.html#id2", ("Chen", "Biros", "FIRAL")),
    ],
)
def test_pointing_at_a_reference_shows_what_it_refers_to(browser, page, end, words):
    browser.open((HTML / "book" / f"{page}.html").as_uri())
    link = "[...document.querySelectorAll('article a.reference.internal')]"
    link += f".find((a) => a.href.endsWith('{end}'))"
    browser.run(f"{link}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    title = browser.run(f"{link}.title")
    left, top = browser.run(f"(({{x, y}}) => [x + 4, y + 4])({link}.getBoundingClientRect())")
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=left, y=top)
    shown = later(browser, 700, "document.querySelector('.preview')?.textContent")
    assert all(word in shown for word in words)
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    assert later(browser, 100, "document.querySelector('.preview')") is None
    assert browser.run(f"{link}.title") == title


def test_a_figure_plays_resets_and_has_an_address(browser):
    page = (HTML / "book" / "tour.html").as_uri()
    says = "document.querySelector('#play-pool .says').textContent"
    browser.open(page)
    plain = browser.run(says)
    browser.open("about:blank")
    browser.open(page + "#play-pool=8,0")
    assert later(browser, 300, says) != plain
    assert browser.run("document.querySelector('#play-pool').getBoundingClientRect().top") < 200
    play, reset = (
        f"document.querySelectorAll('#play-pool .play-buttons button')[{k}]" for k in (0, 1)
    )
    browser.run(f"{reset}.click()")
    assert browser.run(says) == plain
    assert browser.run("location.hash") == "#play-pool=4,8"
    browser.run(f"{play}.click()")
    assert later(browser, 1000, says) != plain
    browser.run(f"{reset}.click()")


CHAPTERS = {
    "excess_risk": "play-bounds",
    "synthetic": "play-pool",
    "sparsification": "play-ftrl",
    "real_data": "play-rounds",
    "penalized": "play-ridge",
    "scale": "play-passes",
}


@pytest.mark.parametrize(("chapter", "name"), CHAPTERS.items())
def test_every_figure_stands_in_its_chapter_with_all_it_needs(browser, chapter, name):
    browser.open((HTML / "book" / f"{chapter}.html").as_uri())
    says = f"document.querySelector('#{name} .says').textContent"
    before = browser.run(says)
    slider = f"[...document.querySelectorAll('#{name} input')].pop()"
    browser.run(f"{slider}.focus()")
    browser.press("End")
    assert later(browser, 100, says) != before
    last = browser.run(f"[...document.querySelectorAll('#{name} [id*=-c]')].map(c => c.value)")
    assert browser.run("decodeURIComponent(location.hash)") == f"#{name}={','.join(last)}"
    names = browser.run(
        f"[...document.querySelectorAll('#{name} .play-buttons button')].map(b => b.textContent)"
    )
    assert names == ["▶ Play", "↺ Reset"]
    # what it says stands right below the controls, above the panels
    tops = browser.run(
        f"['.controls', '.says', '.panels svg'].map((s) => "
        f"document.querySelector('#{name} ' + s).getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)


def test_a_figure_tells_the_value_under_the_pointer(browser):
    browser.open((HTML / "book" / "tour.html").as_uri())
    tip = browser.run("""(() => {
      const panel = [...document.querySelectorAll("#play-pool .panels > div > svg")][1];
      const inner = panel.querySelector("svg");
      const last = [...inner.querySelectorAll("path.m")].pop();
      const [, u, v] = /M([-\\d.]+),([-\\d.]+)/.exec(last.getAttribute("d"));
      const at = new DOMPoint(+u + +inner.getAttribute("x"), +v + +inner.getAttribute("y"))
        .matrixTransform(panel.getScreenCTM());
      const where = { clientX: at.x, clientY: at.y, bubbles: true };
      panel.dispatchEvent(new MouseEvent("mousemove", where));
      return document.querySelector(".play-tip").textContent;
    })()""")
    name, value, other, second = tip.replace(",", "").split()
    assert (name, other) == ("θ₁", "θ₂")
    assert abs(float(value) - 1) < 0.02 and abs(float(second.replace("−", "-"))) < 0.02
