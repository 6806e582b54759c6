"""What makes the pages light: no unused rules, small pictures, short markup, folded proofs."""

import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pydata_sphinx_theme
from conftest import ROOT
from docutils import nodes
from PIL import Image

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from fold_proofs import fold, lines  # noqa: E402
from katex_markup import SHORT, compact, named, rules  # noqa: E402
from katex_math import FormulaError, known_classes, typeset  # noqa: E402
from light_icons import drawings, drawn  # noqa: E402
from light_pictures import lighter, sized  # noqa: E402
from light_styles import without_unused  # noqa: E402
from page_head import description  # noqa: E402
from sphinx_proof.nodes import proof_node  # noqa: E402


def test_rules_for_classes_that_are_not_there_go():
    css = "@import 'a';/* .x */.used{a:b}.used .gone,p{c:d}.gone{e:f}@media x{.gone{g:h}.used{i:j}}"
    css += "@media y{.gone{k:l}}.used:not(.gone){m:n}@font-face{o:p}"
    assert without_unused(css, {"used"}) == (
        "@import 'a';.used{a:b}p{c:d}@media x{.used{i:j}}.used:not(.gone){m:n}@font-face{o:p}"
    )


def png(pixels):
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "PNG")
    return target.getvalue()


def test_a_plot_gets_a_palette_and_a_photograph_does_not():
    rng = np.random.default_rng(0)
    plot = rng.integers(0, 256, (40, 3), dtype=np.uint8)[rng.integers(0, 40, (100, 100))]
    light = lighter(png(plot))
    assert len(light) < len(png(plot)) and Image.open(io.BytesIO(light)).mode == "P"
    change = np.asarray(Image.open(io.BytesIO(light)).convert("RGB"), float) - plot
    assert np.abs(change).mean() < 1.5
    noise = rng.integers(0, 256, (100, 100, 3), dtype=np.uint8)
    assert lighter(png(noise)) == png(noise)
    assert lighter(light) == light


def test_the_size_of_a_picture_stands_in_the_page(tmp_path):
    file = tmp_path / "stored.png"
    file.write_bytes(png(np.zeros((20, 1000, 3), np.uint8)))
    page = '<p><img alt="A" src="../_images/a.png" /><img width="9" src="../_images/a.png" /></p>'
    assert sized(page, {"a.png": file}) == (
        '<p><span class="drawn-box">'
        '<img alt="A" src="../_images/a.png" class="dark-light drawn-light"'
        ' width="1000" height="20" loading="lazy" style="--least: 420px" />'
        '<img alt="A" src="../_images/a.dark.png" class="dark-light drawn-dark"'
        ' width="1000" height="20" loading="lazy" style="--least: 420px" /></span>'
        '<img width="9" src="../_images/a.png" /></p>'
    )


def test_the_short_markup_has_the_same_text_and_only_known_classes():
    long = r'<span class="mord mathnormal" style="margin-right:0.05em;">x</span>'
    assert compact(long, {"mathnormal"}) == (
        '<span class=mathnormal style="margin-right:.05em">x</span>'
    )
    assert compact('<span class="mord">2</span>', set()) == "<span>2</span>"
    markup, width, widest = typeset(r"\frac{a+1}{2}=b_i", False, "{}")
    found = re.findall(r'class=(?:"([^"]*)"|([\w-]+))', markup)
    classes = {name for quoted, bare in found for name in (quoted or bare).split()}
    assert classes <= known_classes() | named(rules()) | {"katex-mathml"}
    assert 3 < width < 5 and widest < width
    assert {name for name, _ in SHORT.values()} == named(rules()) - {"katex"}


def test_wider_formulas_are_known_to_be_wider():
    widths = [typeset("+".join("x" * n), True, "{}")[1] for n in (1, 2, 10)]
    assert widths[0] < widths[1] < widths[2] / 3
    small, large = (typeset(tex, True, "{}")[1] for tex in ("x^{abc}", "xabc"))
    assert small < large
    words = typeset(r"\text{twenty letters here}", True, "{}")[1]
    assert 8 < words < 13
    try:
        typeset(r"\frac{1", True, "{}")
    except FormulaError as error:
        assert "expected" in str(error)
    else:
        raise AssertionError("a broken formula passed")


def a_proof(paragraphs):
    proof = proof_node("", *(nodes.paragraph("", "word " * 38) for _ in range(paragraphs)))
    return nodes.section("", nodes.paragraph("", "before"), proof, nodes.paragraph("", "after"))


def test_long_proofs_are_folded_on_the_web_only():
    web = SimpleNamespace(builder=SimpleNamespace(format="html"))
    page, short = a_proof(10), a_proof(2)
    assert lines(page[1]) > 18 > lines(short[1])
    for section in (page, short):
        fold(web, section, "page")
    assert [type(node).__name__ for node in page] == [
        "paragraph",
        "raw",
        "proof_node",
        "raw",
        "paragraph",
    ]
    assert "<summary>Proof, about" in page[1].astext() and page[3].astext() == "</details>"
    assert len(short) == 3
    pdf = SimpleNamespace(builder=SimpleNamespace(format="latex"))
    page = a_proof(10)
    fold(pdf, page, "page")
    assert len(page) == 3


def test_a_page_is_described_by_its_first_paragraph():
    formula = nodes.math("", r"\lambda_{\min}")
    text = nodes.paragraph("", "How large is ", formula, nodes.Text(" when there are few labels?"))
    page = nodes.section("", nodes.title("", "Title"), nodes.paragraph("", "Short."), text)
    assert description(page) == "How large is lambda_min when there are few labels?"
    point = nodes.paragraph("", "How to get from a table to the points to label next.")
    learn = nodes.section("", nodes.bullet_list("", nodes.list_item("", point)), text.deepcopy())
    assert description(nodes.section("", learn)) == point.astext()
    words = description(nodes.section("", nodes.paragraph("", "many words " * 50)))
    assert len(words) <= 202 and words.endswith("words …")


class Builder:
    format = "html"


def test_the_rest_of_a_section_is_folded_on_the_web_and_open_in_the_pdf():
    from fold_proofs import FoldMark

    class App:
        builder = Builder()

    def section():
        parts = [nodes.title("", "T"), nodes.paragraph("", "result"), FoldMark(words="Steps")]
        return nodes.section(
            "", *parts, nodes.paragraph("", "step one"), nodes.section("", ids=["s"])
        )

    web = section()
    fold(App, nodes.section("", web), "page")
    kinds = [type(child).__name__ for child in web]
    assert kinds == ["title", "paragraph", "raw", "paragraph", "section", "raw"]
    assert "<summary>Steps, about 1 lines</summary>" in web[2].astext()
    App.builder.format = "latex"
    paper = section()
    fold(App, nodes.section("", paper), "page")
    App.builder.format = "html"
    assert [type(child).__name__ for child in paper] == [
        "title",
        "paragraph",
        "paragraph",
        "section",
    ]


def test_the_font_of_icons_has_the_signs_of_the_style_sheets_and_no_others(tmp_path):
    from fontTools.ttLib import TTFont
    from light_fonts import shorten, signs

    bell, moon = 0xF0F3, 0xF186
    (tmp_path / "a.css").write_text(f'.a{{content:"\\{moon:x}"}}.b{{--x:"{chr(bell)}"}}', "utf8")
    assert signs(tmp_path) == {bell, moon}
    file = tmp_path / "icons.ttf"
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
    file.write_bytes((theme / "vendor/fontawesome/webfonts/fa-solid-900.ttf").read_bytes())
    shorten(file, {bell, moon})
    with TTFont(file) as font:
        assert set(font.getBestCmap()) == {bell, moon}
    assert file.stat().st_size < 5_000


def test_an_icon_becomes_a_drawing_with_its_size_and_its_words():
    script = 'x={bars:[448,512,["navicon",8],"f0c9","M0 1z"],"file-pdf":[512,512,[],"f1c1","M2"]}'
    known = drawings(script)
    assert known == dict.fromkeys(["bars", "navicon"], ("448", "512", "M0 1z")) | {
        "file-pdf": ("512", "512", "M2")
    }
    page = '<script src="a/scripts/fontawesome.js?v=1"></script><p>'
    page += '<i class="fa-solid fa-navicon fa-lg" data-mode="dark" title="Menu"></i><i>text</i>'
    assert drawn(page, known) == (
        '<p><svg class="svg-inline--fa fa-navicon fa-lg" data-mode="dark" role="img" '
        'aria-label="Menu" viewBox="0 0 448 512"><path fill="currentColor" d="M0 1z"/></svg>'
        "<i>text</i>"
    )
    assert 'aria-hidden="true"' in drawn('<span class="fas fa-file-pdf"></span>', known)
