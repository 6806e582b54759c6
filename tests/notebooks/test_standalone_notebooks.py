"""Every notebook reads well in plain Jupyter, which knows Markdown and LaTeX but not MyST."""

import re

import pytest
from conftest import ROOT
from exercise_list import prose

PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MACROS = re.findall(r"\\newcommand\{\\(\w+)\}", (ROOT / "book" / "macros.tex").read_text())
MYST_ONLY = {
    "role": r"\{[a-z][\w:+-]*\}`",
    "directive": r"^\s*(?:`{3,}|:{3,})\{",
    "colon fence": r"^:{3,}",
    "label": r"^\([\w-]+\)=$",
    "labeled equation": r"\$\$ \([\w-]+\)",
    "substitution": r"\{\{",
    "macro of the book": rf"\\(?:{'|'.join(MACROS)})(?![a-zA-Z])",
}
LINK = re.compile(r"\]\(([^)\s]+)\)")
QUOTED = re.compile(r"^```.*?^```|`[^`\n]*`(?!`)", re.MULTILINE | re.DOTALL)
RESTATED = re.compile(r"^## The (?:statement|result)s?\b|^## What the paper (?:reports|says)", re.M)


def findings(text):
    """Names of the MyST-only constructions in a text."""
    return [name for name, pattern in MYST_ONLY.items() if re.search(pattern, text, re.MULTILINE)]


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request):
    return request.param


def test_no_syntax_that_only_the_book_knows(path):
    assert findings(prose(path)) == []


def test_links_are_relative_and_lead_to_files(path):
    for target in LINK.findall(QUOTED.sub("", prose(path))):
        if target.startswith(("https://", "http://", "#")):
            continue
        assert not target.startswith("/"), target
        assert (path.parent / target.partition("#")[0]).is_file(), target


def test_one_title_and_it_comes_first(path):
    text = QUOTED.sub("", prose(path))
    assert text.startswith("# ") and len(re.findall(r"^# ", text, re.MULTILINE)) == 1


def test_the_claim_is_restated(path):
    """A reader without the book knows what is checked; using the module claims nothing."""
    if not path.stem.startswith("u"):
        assert RESTATED.search(prose(path))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("see {prf:ref}`thm-3`", "role"),
        ("```{note}\ntext\n```", "directive"),
        (":::\ntext\n:::", "colon fence"),
        ("(eq-here)=", "label"),
        ("$$\nx\n$$ (eq-x)", "labeled equation"),
        ("$\\Hp$", "macro of the book"),
        ("$\\T$", "macro of the book"),
    ],
)
def test_the_check_sees_it(text, name):
    assert name in findings(text)


@pytest.mark.parametrize("text", ["$\\mathbf{H}_p^{\\top}$", "`{1: 2}`", "$\\Theta$", "a {b}"])
def test_the_check_leaves_plain_markdown_alone(text):
    assert findings(text) == []
