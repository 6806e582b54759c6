"""No chapter is longer than about ten screens: results first, proofs folded, one idea per page.

Where Chromium and the built book are there, pages that may be too long are measured, in a window
1,400 pixels wide with everything folded as a reader finds it. Everywhere, the height is estimated
from the source. The estimate was fitted to 30 chapters in Chromium and is off by at most 14 %.
"""

import re

import pytest
from chromium import BROWSER, Chromium
from conftest import ROOT

HTML = ROOT / "_build" / "html"
LIMIT = 10_500  # pixels
LISTS = {"scoreboard", "exercises", "bibliography"}  # to look things up, with filter or search
ONE_PAGE = {"tour"}  # one hour, from top to bottom
CHAPTERS = [
    path
    for path in sorted((ROOT / "book").glob("*.md"))
    if path.stem not in LISTS | ONE_PAGE and not path.stem.startswith("api_")
]
# pixels of a line of text, the space between blocks, a figure, one to play with, a row of a table
LINE, BLOCK, FIGURE, PLAY, ROW = 24, 43, 380, 1130, 51
LETTERS = 105  # of a line
SHORT = 700  # letters of a proof that stays open


def unfolded(text):
    """The source without what is folded: solutions, long proofs, boxes and ends of sections."""
    box = r"(?ms)^(:{3,}|`{3,})\{%s.*?^\1\n"
    text = re.sub(box % r"solution\}", "", text)
    text = re.sub(box % r"[^\n]*\n(?::[^\n]*\n)*:class: [^\n]*dropdown", "folded\n", text)
    proof = re.compile(box % r"prf:proof\}")
    text = proof.sub(lambda found: found[0] if len(found[0]) < SHORT else "folded\n", text)
    return re.sub(r"(?ms)^:::\{fold-section\}.*?(?=^## |\Z)", "folded\n", text)


def estimated_height(text):
    text = unfolded(text)
    figures = len(re.findall(r"(?m)^`{3,}\{(?:glue:)?figure\}", text))
    rows = len(re.findall(r"(?m)^(?:\||\* - )", text))
    text = re.sub(r"(?ms)^ *\$\$.*?\$\$|^\|.*?$", "", text)  # formulas are in the space of blocks
    text = re.sub(r"\$[^$]*\$", "formula", text)
    text = re.sub(r"\]\([^)]*\)|\{[\w:]+\}`", "", text)
    paragraphs = [part for part in re.split(r"\n\s*\n|\n(?=- |\d+\. )", text) if part.strip()]
    lines = sum(1 + len(part) // LETTERS for part in paragraphs)
    blocks = sum(bool(part.strip()) for part in re.split(r"\n\s*\n", text))
    play = text.count("{play-figure}")
    return LINE * lines + BLOCK * blocks + FIGURE * figures + PLAY * play + ROW * rows


def test_long_pages_are_noticed_and_folded_parts_do_not_count():
    sentence = "Twelve words of plain text that fill about a line of it. "
    page = "# Title\n\n" + "\n\n".join([sentence * 4] * 40)
    assert 4_000 < estimated_height(page) < 6_000
    assert estimated_height(page * 3) > LIMIT
    folded = f"# Title\n\n:::{{prf:proof}}\n{sentence * 400}\n:::\n"
    assert estimated_height(folded) < 300 < estimated_height(folded.replace("proof", "theorem"))
    figures = "\n\n".join(["```{glue:figure} a\nWords.\n```"] * 30)
    assert estimated_height(figures) > LIMIT


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_no_chapter_is_estimated_to_be_too_long(path):
    assert estimated_height(path.read_text(encoding="utf8")) < 1.1 * LIMIT


@pytest.mark.skipif(BROWSER is None or not HTML.is_dir(), reason="no Chromium, or no built book")
def test_no_chapter_is_too_long_in_a_browser(tmp_path):
    near = [p for p in CHAPTERS if estimated_height(p.read_text(encoding="utf8")) > 0.8 * LIMIT]
    assert near
    heights = {}
    with Chromium(tmp_path) as browser:
        for path in near:
            browser.open((HTML / "book" / f"{path.stem}.html").as_uri(), width=1400)
            heights[path.stem] = browser.run("document.querySelector('article').scrollHeight")
    assert {name: height for name, height in heights.items() if height > LIMIT} == {}
