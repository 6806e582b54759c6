"""The page about a session: self-contained, every text of the user escaped, and right."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from chromium import BROWSER, Chromium
from sklearn.datasets import load_wine

from firal import cli
from firal.session.drawing import legend, plane, pool_map, text
from firal.session.report import report
from firal.session.session import Session

X, Y = load_wine(return_X_y=True)
EVIL = "</p><script>alert(1)</script><img src=x onerror='alert(2)'>\""
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


class Tags(HTMLParser):
    """All tags with their attributes, and the text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.words, self.open = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "circle", "line", "polyline", "polygon", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture
def session(tmp_path):
    lines = ["name,a,b,c,note"]
    for row in range(60):
        note = '"' + EVIL.replace('"', '""') + f' {row}"' if row % 2 else f"pic{row}.png"
        lines.append(f'"{row} <i>",{X[row * 2, 0]},{X[row * 2, 1]},{X[row * 2, 2]},{note}')
    (tmp_path / "points.csv").write_text("\n".join(lines))
    for row in range(0, 60, 2):
        (tmp_path / f"pic{row}.png").write_bytes(PNG)
    options = {"id_column": "name", "show": "note"}
    return Session.create(tmp_path / "<s>", tmp_path / "points.csv", held_out=10, **options)


def go_on(session, rounds=3):
    session.decide({row: f"{Y[row * 2]}<u>" for row in session.pending})
    for _ in range(rounds):
        rows = session.next(6).rows
        session.decide({int(row): f"{Y[row * 2]}<u>" for row in rows})
    session.next(8)


def check(page):
    """No script, no handler, nothing from the network, all tags closed."""
    found = Tags(page)
    names = {tag for tag, _ in found.tags}
    assert not names & {"script", "iframe", "link", "object", "i", "u", "form"}
    for tag, attributes in found.tags:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        for name in ("src", "href", "xlink:href", "action"):
            assert attributes.get(name, "data:").startswith("data:image/png;base64,") or (
                name not in attributes
            )
    assert not re.search(r"https?://", page) and "url(" not in page and "@import" not in page
    assert found.open == []
    return found


def test_every_text_of_the_user_is_escaped_and_nothing_is_loaded(session):
    check(report(session))  # before the first round
    session.next(5)
    check(report(session))  # before the first label
    go_on(session)
    found = check(report(session))
    words = "".join(found.words)
    assert EVIL in words and "0<u>" in words and "<s>" in words and "<i>" in words
    assert any(tag == "img" for tag, _ in found.tags)
    policy = next(a["content"] for _, a in found.tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_what_the_page_says(session):
    go_on(session)
    words = " ".join("".join(Tags(report(session)).words).split())
    state = session.state
    assert f"{len(state.training)} labels to train" in words and "8 pending" in words
    assert "no other choice of 8 points is better by more than a factor of" in words
    assert "Accuracy on 10 held-out points, with intervals of 95 %" in words
    assert re.search(r"reduce its excess log loss from \d+\.\d\d to \d+\.\d\d, by \d+ %", words)
    assert re.search(r"It tells the model more than \d+ % of the pool", words)
    name = next(iter(session.counts))
    counts = [str(session.counts[name])]
    assert re.search(rf"{re.escape(name)}\s*{counts[0]}", words)


def test_the_command_writes_it(session, capsys, monkeypatch):
    monkeypatch.chdir(session.folder.parent)
    session.next(5)
    assert cli.main(["report", "--session", "<s>"]) == 0
    assert (session.folder / "report.html").read_text() == report(Session(session.folder))
    assert cli.main(["report", "--session", "<s>", "--output", "page.html"]) == 0
    assert "page.html written: open it in a browser" in capsys.readouterr().err


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_the_learning_curve_in_a_browser(session, tmp_path):
    """Its line has the color of its points, and no text leaves the picture."""
    go_on(session)
    (tmp_path / "page.html").write_text(report(session))
    with Chromium(tmp_path / "profile") as browser:
        for width in (1000, 390):
            browser.open((tmp_path / "page.html").as_uri(), width=width)
            stroke = "getComputedStyle(document.querySelector('.curve')).stroke"
            assert browser.run(stroke) == browser.run(stroke.replace("curve", "bar"))
            outside = browser.run(
                "[...document.querySelectorAll('figure svg text')].filter(t => {"
                "const a = t.getBoundingClientRect();"
                "const b = t.ownerSVGElement.getBoundingClientRect();"
                "return a.left < b.left || a.right > b.right || a.bottom > b.bottom})"
                ".map(t => t.textContent)"
            )
            assert browser.run("document.querySelectorAll('figure svg text').length") > 5
            assert outside == []
            assert browser.run("document.documentElement.scrollWidth") <= width


def test_the_map():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 4)) * [5, 3, 0.1, 0]
    places = plane(Z)
    centered = Z - Z.mean(axis=0)
    s = np.linalg.svd(centered, compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(places, axis=0), s[:2])
    assert plane(Z[:, :1]).shape == (50, 2)
    classes = [f"class {k}" for k in range(20)]
    labels = dict(enumerate(classes))
    picture = pool_map(places, labels, [30, 31], classes)
    assert picture.count('class="ring"') == 2 and picture.count('class="pool"') == 50
    assert picture.count("<polygon") == 12 and "class 19" in picture  # shapes beyond eight classes
    assert legend(classes, classes).count("<li>") == 20
    few = legend(classes, classes[18:])  # with the color and shape that they had before
    assert few.count("<li>") == 2 and set(re.findall("<li>.*?</li>", few)) < set(
        re.findall("<li>.*?</li>", legend(classes, classes))
    )
    assert text('<"') == "&lt;&quot;"


def test_one_point_far_away_does_not_squeeze_the_map():
    places = np.random.default_rng(0).normal(size=(300, 2))
    places[7] = [1000.0, -1000.0]

    def middle_half(places):
        x = re.findall(r'cx="([\d.]+)" cy="[\d.]+" r="1.6"', pool_map(places, {}, [], []))
        low, high = np.quantile(np.array(x, dtype=float), [0.25, 0.75])
        return high - low

    assert middle_half(places) > 80  # of 640
    assert middle_half(places[8:]) > 80  # and all of them are inside without it


def test_places_where_half_of_the_points_coincide():
    """The quartiles are equal then, and the rest is still told apart."""
    places = np.zeros((20, 2))
    places[16:] = np.arange(4)[:, None] + 1.0
    circles = re.findall(r'cx="([\d.]+)" cy="([\d.]+)" r="1.6"', pool_map(places, {}, [], []))
    assert len(set(circles)) == 5


def test_a_class_that_was_taken_back_is_not_in_the_legend(session):
    go_on(session)
    row = next(iter(session.state.training))
    before = session.labels[row]
    session.label(row, "mistaken")
    assert "mistaken" in report(session)
    session.label(row, before)
    assert "mistaken" not in report(session)
