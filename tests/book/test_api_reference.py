"""The API reference: every module on one page, and docstrings and type hints that say enough."""

import importlib
import inspect
import pkgutil
import re
import textwrap
import typing

import pytest
from conftest import ROOT

import firal

api_links = pytest.importorskip("api_links", reason="Sphinx is not installed")
docscrape = pytest.importorskip("numpydoc.docscrape", reason="numpydoc is not installed")
from numpydoc.validate import validate  # noqa: E402

PAGES = {path: path.read_text(encoding="utf8") for path in ROOT.glob("book/api*.md")}
MODULES = [
    "firal",
    *(m.name for m in pkgutil.walk_packages(firal.__path__, "firal.") if "__main__" not in m.name),
]
LAYERS = [name for name in MODULES if not name.startswith("firal.companion")]


# The pages.


def sections():
    """(module, chapters) of every section of the API pages that has a module."""
    for text in PAGES.values():
        for section in re.split(r"\n## ", text):
            chapters = re.findall(r"\]\((\w+\.md)\)", section.split("```")[0])
            for module in re.findall(r"^\.\. automodule:: (\S+)$", section, re.M):
                yield module, chapters


def test_every_module_is_on_one_page():
    on_pages = re.findall(r"\.\. automodule:: (\S+)", "\n".join(PAGES.values()))
    assert sorted(on_pages) == sorted(MODULES)


def test_chapters_and_modules_link_to_each_other():
    forth = {(m, chapter) for m, chapters in sections() for chapter in chapters}
    forth = {(m, chapter) for m, chapter in forth if not chapter.startswith("api")}
    back = set()
    for path in ROOT.glob("book/*.md"):
        for line in re.findall(r"^In code: (.*)$", path.read_text(encoding="utf8"), re.M):
            back |= {(module, path.name) for module in re.findall(r"\{py:mod\}`(.*?)`", line)}
    assert forth == {(module, chapter) for module, chapter in back if module in LAYERS}
    assert {module for module, _ in back} <= set(MODULES)


def test_pages_are_in_the_table_of_contents():
    contents = (ROOT / "_toc.yml").read_text(encoding="utf8")
    assert [p.stem for p in PAGES if f"file: book/{p.stem}\n" not in contents] == []


def test_the_table_of_names_is_complete():
    tables = PAGES[ROOT / "book" / "api.md"].split("currentmodule:: firal")[1]
    assert sorted(re.findall(r"^   (?:~strategies\.)?(\w+)$", tables, re.M)) == sorted(
        firal.__all__
    )


NAME = re.compile(r"`(firal(?:\.\w+)+)(?:\([^`]*\))?`")  # `firal.fit`, `firal.fit(X, y, 2)`


def missing(text):
    """The names of the module that a text mentions in code font and that do not exist."""
    return {name for name in NAME.findall(text) if not exists(name)}


def exists(name):
    try:
        pkgutil.resolve_name(name)
    except (AttributeError, ImportError):
        return False
    return True


def test_every_name_that_the_prose_mentions_exists():
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("book/*.md")]
    paths += ROOT.glob("notebooks/*.ipynb")
    found = {path.name: missing(path.read_text(encoding="utf8")) for path in paths}
    assert {name: names for name, names in found.items() if names} == {}
    assert missing("`firal.fit` `firal.fitt(X)` `firal.relax.solve`") == {
        "firal.fitt",
        "firal.relax.solve",
    }


def test_short_names_lead_to_the_entries():
    assert api_links.home("fir") == "firal.information.fisher.fir"
    assert api_links.home("information") == "firal.information.fisher.information"
    assert api_links.home("STRATEGIES") == "firal.strategies.STRATEGIES"


def built(name):
    page = ROOT / "_build" / "html" / "book" / f"{name}.html"
    if not (page.parent / "api_companion.html").is_file():
        pytest.skip("the API pages are not built: make html")
    return page.read_text(encoding="utf8")


def test_mentions_in_the_built_book_are_links():
    html = built("relaxation")
    assert 'href="api_selection.html#firal.selection.relaxation.relax"' in html
    assert 'href="api_selection.html#module-firal.selection.relaxation"' in html


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_formulas_are_shown_as_they_stand(path):
    """An indented block without ``::`` before it is run together as a quotation."""
    assert "<blockquote" not in built(path.stem)


# The docstrings.

# What numpydoc's own check must not find: no docstring, no summary of one line, parameters that
# are missing, unknown, without type or description, no Returns or Yields.
MUST = "GL03 GL06 GL07 GL08 SS01 SS03 SS06 PR01 PR02 PR04 PR05 PR07 PR10 RT01 RT03 YD01".split()


def public(module):
    """(name, function or class) of what a module defines without a leading underscore."""
    for name, thing in vars(module).items():
        own = getattr(thing, "__module__", None) == module.__name__ and not name.startswith("_")
        if own and (inspect.isfunction(inspect.unwrap(thing)) or inspect.isclass(thing)):
            yield name, thing
            if inspect.isclass(thing):
                for part, method in inspect.getmembers(thing, inspect.isfunction):
                    if method.__module__ == module.__name__ and not part.startswith("_"):
                        yield f"{name}.{part}", method


def fields(thing):
    """Names of the fields of a named tuple or dataclass, in order; empty for all others."""
    return list(getattr(thing, "_fields", getattr(thing, "__dataclass_fields__", ())))


def complaints(thing):
    """What is wrong with the docstring and the type hints of a function or class."""
    doc = docscrape.get_doc_object(thing)
    found = [f"{code} {text}" for code, text in validate(doc)["errors"] if code in MUST]
    known = {f'PR04 Parameter "{name}" has no type' for name in described(doc["Parameters"])}
    found = [text for text in found if text not in known]
    if getattr(thing, "_is_protocol", False):  # nobody calls it
        found = [text for text in found if not text.startswith("PR")]
    elif inspect.isclass(thing) and fields(thing):  # a result: Attributes instead of Parameters
        found = [text for text in found if not text.startswith("PR")]
        if described(doc["Attributes"]) != fields(thing):
            found.append(f"Attributes {described(doc['Attributes'])}, fields {fields(thing)}")
    elif not inspect.isclass(thing):
        found += untyped(thing)
    elif "__init__" in vars(thing):
        found += [text for text in untyped(thing.__init__) if "return" not in text]
    return found


def described(section):
    """Names with a type, or that say where the type is: "As in :func:`firal.select`"."""
    entries = [e for e in section if e.desc and (e.type or re.search(r":\w+:`", e.desc[0]))]
    return [name for entry in entries for name in entry.name.split(", ")]


def untyped(function):
    signature = inspect.signature(function)
    names = [p.name for p in signature.parameters.values() if p.annotation is p.empty]
    names += ["return"] if signature.return_annotation is signature.empty else []
    found = [f"no type hint: {name}" for name in names if name != "self"]
    try:
        typing.get_type_hints(function)
    except NameError as error:  # hints are only read by type checkers: a wrong name stays unseen
        found.append(f"type hint: {error}")
    return found


@pytest.mark.parametrize("name", LAYERS)
def test_docstrings_and_type_hints_are_complete(name):
    if name in ("firal.skactiveml", "firal.skactiveml_base"):
        pytest.importorskip("skactiveml", reason="scikit-activeml is not installed")
    module = importlib.import_module(name)
    assert module.__doc__
    found = {short: complaints(thing) for short, thing in public(module)}
    assert {short: texts for short, texts in found.items() if texts} == {}


def good(x: int, *, scale: float = 1.0) -> int:
    """Scale a number.

    Parameters
    ----------
    x : int
        The number.
    scale : float, default 1.0
        The factor.

    Returns
    -------
    int
        The scaled number.
    """
    return x * scale


# from Python 3.13 on, docstrings lose their indentation
good.__doc__ = textwrap.indent(inspect.cleandoc(good.__doc__) + "\n", "    ").lstrip()

BROKEN = {
    "    x : int\n        The number.\n": "",  # a parameter is missing
    "scale : float": "factor : float",  # a name that the signature does not have
    "x : int": "x",  # no type
    "        The factor.\n": "",  # no description
    "scale : float, default 1.0\n        The": "scale\n        A",  # no type
    "    Returns\n    -------\n    int\n        The scaled number.\n": "",  # no Returns
    "Scale a number.\n": "Scale a\n    number.\n",  # a summary of two lines
    "Returns": "Gives",  # not a section
}


def test_a_good_docstring_passes(monkeypatch):
    assert complaints(good) == []
    elsewhere = good.__doc__.replace("x : int\n        The number", "x\n        As in :func:`f`")
    assert elsewhere != good.__doc__
    monkeypatch.setattr(good, "__doc__", elsewhere)
    assert complaints(good) == []


@pytest.mark.filterwarnings("ignore::UserWarning")  # numpydoc warns about unknown sections
@pytest.mark.parametrize("old", BROKEN)
def test_a_broken_docstring_is_found(old):
    def broken(x: int, *, scale: float = 1.0) -> int:
        return x * scale

    assert old in good.__doc__
    broken.__doc__ = good.__doc__.replace(old, BROKEN[old])
    assert complaints(broken)


def test_a_missing_type_hint_or_field_is_found():
    def broken(x, *, scale: float = 1.0):
        return x * scale

    broken.__doc__ = good.__doc__
    assert complaints(broken) == ["no type hint: x", "no type hint: return"]
    broken.__annotations__["x"] = "Intt"
    assert "type hint: name 'Intt' is not defined" in complaints(broken)
    one_field = type("Result", (), {"__doc__": "A result.\n", "_fields": ("z",)})
    assert complaints(one_field) == ["Attributes [], fields ['z']"]
