"""The book's own Sphinx extensions, on a book of one page."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

CONFIG = """
title: One page
only_build_toc_files: true
exclude_patterns: [_build]
execute: {execute_notebooks: "off"}
repository: {url: "%s", branch: main}
sphinx:
  extra_extensions: [sphinx_proof]
  local_extensions: {katex_math: %s, line_breaks: %s, page_head: %s, repository_buttons: %s}
  config: {nitpicky: true}
"""


def build(folder, text, url=""):
    """Build a one-page book; returns the exit code, what was printed, and the page."""
    extensions = ROOT / "book" / "_ext"
    (folder / "book").mkdir()
    (folder / "book" / "macros.tex").write_text("\\newcommand{\\R}{\\mathbb{R}}\n")
    (folder / "_config.yml").write_text(CONFIG % (url, *[extensions] * 4))
    (folder / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    (folder / "page.md").write_text("# Page\n\n" + text + "\n")
    program = str(Path(sys.executable).parent / "jupyter-book")
    command = [program, "build", str(folder), "-W", "-n", "--keep-going"]
    run = subprocess.run(command, capture_output=True, text=True)
    page = folder / "_build" / "html" / "page.html"
    html = page.read_text(encoding="utf8") if page.is_file() else ""
    return run.returncode, run.stdout + run.stderr, html


def test_known_mathematics_builds(tmp_path):
    code, printed, html = build(
        tmp_path,
        r"$x \in \R$, $\sqrt{2} \preceq \lVert a \rVert$, $\operatorname{tr} A$, $\text{words}$"
        "\n\n$$\n\\begin{bmatrix} 1 \\\\ \\ddots \\end{bmatrix} \\otimes \\widetilde{d}"
        " \\begin{cases} 1 & x \\ge 0 \\end{cases}\n$$\n",
    )
    assert code == 0, printed
    assert html.count("<math") == html.count('aria-hidden="true"><span class=base') == 5
    assert "cdn" not in html and "MathJax" not in html
    sheet = (tmp_path / "_build" / "html" / "_static" / "katex.css").read_text()
    assert "KaTeX_Main" in sheet and ".woff)" not in sheet and ".ttf" not in sheet


def test_a_formula_is_typeset_wherever_it_stands(tmp_path):
    """Title of a theorem, heading, table, caption, equation with a number and a link to it."""
    code, printed, html = build(
        tmp_path,
        "## Case $x_1$\n\n:::{prf:theorem} Bound $x_2$\n:label: t\nText $x_3$.\n:::\n\n"
        "| a |\n|---|\n| $x_4$ |\n\n:::{table} Caption $x_5$\n| b |\n|---|\n| c |\n:::\n\n"
        "$$x_6$$ (eq-six)\n\nSee {eq}`eq-six` and {prf:ref}`t`.\n",
    )
    assert code == 0, printed
    article = html[html.index("<article") : html.index("</article>")]
    for k in range(1, 7):
        assert f"<mn>{k}</mn>" in article
    assert html.count("<mn>1</mn>") >= 2  # the contents of the page have it, too
    assert re.search(r'<div[^>]*id="equation-eq-six"[^>]*><span class="eqno">\(1\)', article)
    assert '<a class="reference internal" href="#equation-eq-six">(1)</a>' in article
    assert "\\(" not in article and "tabindex" not in article


def test_a_mark_stays_with_its_formula(tmp_path):
    code, printed, html = build(tmp_path, "So ($x$), then $y$ and $z$.")
    assert code == 0, printed
    glued = re.findall(r'<span class="glued">(.*?)<span class="math">', html)
    assert glued == ["(", ""]
    assert "</span>),</span> then" in html and "</span>.</span>" in html


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r"$\nosuchmacro$", r"Undefined control sequence: \nosuchmacro"),
        ("$$\n\\begin{nosuchenv} 1 \\end{nosuchenv}\n$$", "No such environment: nosuchenv"),
        (r"$\frac{1}{2$", "expected '}'"),
        (r"$x^2 + \sqrt\R$", r"put braces around \R here"),
        (r"$x_\R$", r"put braces around \R here"),
        ("{prf:ref}`nowhere`", "nowhere"),
        ("{doc}`missing`", "missing"),
        ("[text](missing.md)", "missing.md"),
    ],
)
def test_mistakes_stop_the_build_and_are_named(tmp_path, text, message):
    code, printed, _ = build(tmp_path, text)
    assert code != 0
    assert message in printed
    assert ("page.md:3" if "$" in text else "page.md") in printed


def test_buttons_follow_the_address(tmp_path):
    """One address switches every button on; test_built_book sees that none is there without."""
    code, printed, html = build(tmp_path, "Text.", url="https://github.com/example/firal")
    assert code == 0, printed
    assert "https://github.com/example/firal" in html
    assert "Suggest edit" in html
    assert "Open issue" in html


def test_an_empty_corner_of_a_table_is_no_header():
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    from screen_readers import without_empty_headers

    head = '<thead><tr><th></th><th colspan="2">labels</th></tr></thead>'
    assert without_empty_headers(head) == head.replace("<th></th>", "<td></td>")


def test_a_percent_sign_stays_with_its_number():
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    from docutils import nodes
    from line_breaks import bind_percent

    prose, code = nodes.paragraph("", "with 50 % or 7% of %"), nodes.literal("", "5 % 3")
    bind_percent(None, nodes.section("", prose, code), "page")
    assert prose.astext() == "with 50\N{NO-BREAK SPACE}% or 7% of %"
    assert code.astext() == "5 % 3"


def test_only_long_names_may_break():
    from docutils import nodes
    from line_breaks import mark_long_names

    names = ["--quiet", "a few words that are short", "sklearn.linear_model.LogisticRegression"]
    document = nodes.paragraph("", "", *(nodes.literal(name, name) for name in names))
    mark_long_names(None, document, "page")
    assert [name["classes"] for name in document] == [[], [], ["long"]]
