"""The tour takes an hour by count; from home everything is two clicks away."""

import re

import pytest
from conftest import ROOT
from reading_time import count

HTML = ROOT / "_build" / "html"
HOME = HTML / "book" / "index.html"


def test_what_is_counted():
    text = (
        "# Two words\n\nA formula $x$ here, [a link](page.md#x).\n\n$$\ny\n$$ (eq)\n\n"
        "```{glue:figure} fig\n:doc: a.ipynb\nCaption words.\n```\n\n"
        "```{play-figure} p\n:doc: a.ipynb\n```\n\n```python\na\nb\n```\n\n"
        ":::{admonition} Stop and think, 3 minutes\nWhy?\n:::\n"
    )
    found = count(text)
    assert (found.inline, found.display, found.pictures, found.play, found.code) == (1, 1, 1, 1, 2)
    assert found.questions == 3
    more = count(text + " word" * 1500)
    assert more.minutes() - found.minutes() == pytest.approx(10)


def test_the_tour_takes_an_hour():
    text = (ROOT / "book" / "tour.md").read_text(encoding="utf8")
    assert 50 <= count(text).minutes() <= 60


def test_the_tour_opens_with_a_picture_of_real_data():
    text = (ROOT / "book" / "tour.md").read_text(encoding="utf8")
    assert text.index("```{glue:figure} fig-e10-picked") < 400


def test_the_numbers_of_the_tour_are_those_of_the_notebook():
    """The table of accuracies and the two counts in the text, from the stored outputs of e10."""
    import json

    cells = json.loads((ROOT / "notebooks" / "e10_digits.ipynb").read_text())["cells"]
    outputs = [o for c in cells for o in c.get("outputs", ())]
    printed = "".join("".join(o.get("text", "")) for o in outputs)
    tables = ["".join(o["data"]["text/plain"]) for o in outputs if "text/html" in o.get("data", {})]
    accuracy = {
        line.split("  ")[0]: re.findall(r"(0\.\d+) ±", line)
        for line in next(t for t in tables if t.startswith("accuracy")).splitlines()[1:]
    }
    text = (ROOT / "book" / "tour.md").read_text(encoding="utf8")
    names = ("Random", "K-means", "Entropy", "Var ratios", "BAIT", "FIRAL")
    for labels, column in ((20, 1), (40, 3)):
        row = [f"{100 * float(accuracy[name][column]):.1f}" for name in names]
        assert f"| {labels} | {' | '.join(row)} |" in text
    for name, number in (("Entropy", "2.1"), ("FIRAL", "7.0")):
        assert re.search(rf"^{name}\s+{number} of 10 classes", printed, re.M)
    assert "100 weights above 0.001, the 10 largest hold 42% of the sum" in printed


def links(page):
    """Where the text and the margins of a page lead, as addresses."""
    html = page.read_text(encoding="utf8")
    article = html[html.index("<article") : html.index("</article>")]
    return {
        (page.parent / address.partition("#")[0]).resolve() if address[0] != "#" else page: address
        for address in re.findall(r'<a [^>]*href="([^"]+)"', article)
        if "//" not in address
    }


def two_clicks(page):
    near = {p for p in links(page) if p.suffix == ".html" and p.is_file()}
    return near, near | {q for p in near for q in links(p)}


@pytest.mark.skipif(not HOME.is_file(), reason="build the book first: make html")
@pytest.mark.parametrize(
    ("page", "mark"),
    [
        ("book/excess_risk_proof.html", "Proof"),  # a proof
        ("book/use.html", "features.npy"),  # own data
        ("notebooks/e14_imagenet50.html", "ImageNet"),  # its numbers
        ("notebooks/e10_digits.html", "Change this, expect that"),  # run it with another parameter
        ("book/tour.html", "1,797"),
    ],
)
def test_at_most_two_clicks_from_home(page, mark):
    target = (HTML / page).resolve()
    near, far = two_clicks(HOME)
    assert target in near | far
    assert mark in target.read_text(encoding="utf8")


@pytest.mark.skipif(not HOME.is_file(), reason="build the book first: make html")
def test_four_doors():
    html = HOME.read_text(encoding="utf8")
    doors = re.findall(r'<div class="sd-card-title[^"]*">\s*(.*?)</div>', html, re.S)
    assert [door.strip() for door in doors] == ["Use it", "Learn it", "Teach it", "Check it"]
    assert html.index("Use it") < html.index("What we found") < html.index("<img")


@pytest.mark.skipif(not HOME.is_file(), reason="build the book first: make html")
def test_home_says_how_many_claims_differ():
    html = HOME.read_text(encoding="utf8")
    section = html[html.index('id="verdicts-in-numbers"') :]
    named = section[section.index("came out otherwise") : section.index("</section>")]
    number = named.count(">verdict<")
    words = "no one two three four five six seven eight nine ten".split()
    assert f"{words[number].capitalize()} sentences of its text came out otherwise" in html
