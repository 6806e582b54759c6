"""The API reference: every module is on one page, its chapter links back, docstrings render."""

import importlib
import inspect
import io
import re

import pytest
from conftest import ROOT
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles

import firal

api = pytest.importorskip("api_reference", reason="Sphinx is not installed")

PAGES = {path: path.read_text(encoding="utf8") for path in ROOT.glob("book/api_*.md")}
MODULES = [f"firal.{p.stem}" for p in sorted(ROOT.glob("firal/*.py")) if p.stem[:2] != "__"]


def sections():
    """(page, module, chapters) of every section of the API pages."""
    for path, text in PAGES.items():
        for section in text.split("\n## ")[1:]:
            (module,) = re.findall(r"^\.\. automodule:: (\S+)$", section, re.M)
            chapters = re.findall(r"\]\((\w+\.md)\)", section.split("```")[0])
            yield path.name, module, chapters


def test_every_module_is_on_one_page():
    assert sorted(module for _, module, _ in sections()) == MODULES


def test_chapters_and_modules_link_to_each_other():
    forth = {(module, chapter) for _, module, chapters in sections() for chapter in chapters}
    back = set()
    for path in ROOT.glob("book/*.md"):
        for line in re.findall(r"^In code: (.*)$", path.read_text(encoding="utf8"), re.M):
            back |= {(module, path.name) for module in re.findall(r"\{py:mod\}`(.*?)`", line)}
    assert forth == back


def test_pages_are_in_the_table_of_contents():
    contents = (ROOT / "_toc.yml").read_text(encoding="utf8")
    assert [p.stem for p in PAGES if f"file: book/{p.stem}\n" not in contents] == []


def docstrings():
    for name in MODULES:
        if name == "firal.skactiveml":
            pytest.importorskip("skactiveml", reason="scikit-activeml is not installed")
        module = importlib.import_module(name)
        yield name, module
        for short, thing in vars(module).items():
            if getattr(thing, "__module__", None) == name and not short.startswith("_"):
                yield f"{name}.{short}", thing
                for part, method in vars(thing).items() if inspect.isclass(thing) else ():
                    if inspect.isfunction(method) and part[0] != "_":
                        yield f"{name}.{short}.{part}", method


class CodeBlock(Directive):
    has_content, optional_arguments = True, 1

    def run(self):
        text = "\n".join(self.content)
        return [nodes.literal_block(text, text)]


def parse(lines):
    """The document and what docutils complains about; Sphinx's roles are only code here."""
    for role in ("func", "class", "mod", "meth"):
        roles.register_local_role(role, lambda n, r, text, *_: ([nodes.literal(text, text)], []))
    directives.register_directive("code-block", CodeBlock)
    stream = io.StringIO()
    settings = {"warning_stream": stream, "report_level": 1}
    return publish_doctree("\n".join(lines), settings_overrides=settings), stream.getvalue()


def test_every_docstring_is_clean_markup():
    complaints, count = {}, 0
    for name, thing in docstrings():
        lines = (inspect.getdoc(thing) or "").splitlines()
        api.process(None, "class" if inspect.isclass(thing) else "", name, thing, None, lines)
        _, said = parse(lines)
        count += 1
        if said:
            complaints[name] = said
    assert count > 100
    assert complaints == {}


def test_indented_blocks_are_shown_as_they_stand():
    document, said = parse(
        api.to_rst(
            ["Given z,", "", "    f(z) = |z|^2,", "      t = 1,", "", "    g*", "", "the end."]
        )
    )
    assert said == ""
    (block,) = document.findall(nodes.literal_block)
    assert block.astext() == "f(z) = |z|^2,\n  t = 1,\n\ng*"
    assert not list(document.findall(nodes.block_quote))
    example = api.to_rst(["Use:", "", "    firal.fit(X, y, 2)"])
    assert ".. code-block:: python" in example


def test_lists_columns_and_bars():
    lines = ["- one", "  goes on", "", "  and on", "- two |x| and ``|y|``"]
    document, said = parse(api.to_rst(lines))
    assert said == "" and not list(document.findall(nodes.literal_block))
    assert [item.astext() for item in document.findall(nodes.list_item)] == [
        "one\ngoes on\n\nand on",
        "two |x| and |y|",
    ]
    document, said = parse(
        api.to_rst(["x (n, d)   points", "           of the pool", "y   labels"])
    )
    assert said == ""
    assert [item.astext() for item in document.findall(nodes.list_item)] == [
        "x (n, d): points\nof the pool",
        "y: labels",
    ]


def test_fields_come_with_their_comments():
    found = dict(api.fields(firal.Selection))
    assert found["indices"].startswith("(b,) rows of the pool")
    assert set(found) <= set(firal.Selection._fields)


def test_exported_names_are_known_by_their_homes():
    assert api.home("firal.fit") == "firal.model.logistic.fit"
    assert (
        api.home("firal.relax") == "firal.selection.relaxation.relax"
    )  # the function, not the module
    assert api.home("firal.theory.bounds.alpha") == "firal.theory.bounds.alpha"
    assert api.public_name("firal.model.logistic", "fit") == "firal.fit"
    assert api.public_name("firal.model.logistic", "softmax") is None
    table = "\n".join(api.exports_markdown())
    assert all(f"| `firal.{name}` |" in table for name in firal.__all__)


def test_mentions_in_the_built_book_are_links():
    page = ROOT / "_build" / "html" / "book" / "relaxation.html"
    if not (page.parent / "api_selection.html").is_file():
        pytest.skip("the API pages are not built: make html")
    html = page.read_text(encoding="utf8")
    assert 'href="api_selection.html#firal.selection.relaxation.relax"' in html
    assert 'href="api_selection.html#module-firal.relax"' in html
