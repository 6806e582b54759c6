"""One meaning per letter: a chapter does not use a letter in two ways.

The page *Letters by chapter* has a table of the letters that mean different things in different
chapters, and a second one of those that mean two things in one chapter, with the reason. The tests
read the chapters: each one that uses a letter of the table is listed with exactly one meaning, or
explained in the second table. Sentences such as "let $\\delta=...$" are read as well: a letter of
the table that one chapter defines in two ways is listed. Exercises have letters of their own and
are left out.
"""

import re

import pytest
from conftest import ROOT

NOTATION = (ROOT / "book" / "notation_letters.md").read_text(encoding="utf8")
CHAPTERS = (
    "setting logistic concordance probability bounded_domain constants excess_risk objective "
    "relaxation sparsification guarantee small_budgets end_to_end penalized cost synthetic "
    "real_data"
).split()
OTHER_ALPHABETS = r"\\(?:mathbf|mathcal|mathbb|mathrm|operatorname|text)\s*(?:\{[^{}]*\}|\w)"
DEFINING = re.compile(
    r"\b(?:[Ll]et|[Ww]rite|[Pp]ut|[Ss]et|[Dd]efine|[Cc]all)\b(?:[^.$]|\$[^$]*\$)*"
)


def prose(text):
    """A chapter without code, generated blocks and exercises."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return re.split(r"^## Exercises", text, flags=re.M)[0]


def formulas(text):
    """All formulas of a text, letters of other alphabets left out."""
    found = re.findall(r"\$\$(.*?)\$\$|\$([^$]+)\$", text, flags=re.S)
    return re.sub(OTHER_ALPHABETS, " ", "\n".join(a or b for a, b in found))


def uses(letter, text):
    """Whether the formulas of a text have this letter, with or without an index."""
    before = "" if letter.startswith("\\") else r"(?<![A-Za-z\\])"
    return re.search(before + re.escape(letter) + r"(?![A-Za-z])", formulas(text)) is not None


def definitions(letter, text):
    """What a text says that the letter is: the right-hand sides of its defining sentences."""
    name = r"\$" + re.escape(letter)
    found = set()
    for sentence in DEFINING.findall(re.sub(r"\$\$.*?\$\$", "", text, flags=re.S)):
        found |= set(
            re.findall(name + r"\s*:?=\s*([^$,]+?)(?:\\[lg]e|\\succ|\\prec|[<>,$])", sentence)
        )
        found |= set(re.findall(name + r"\$ be ((?:the|an?) [\w -]+)", sentence))
    values = r"\\frac|\\sqrt|[-\d.\s{}/]"  # a number is a value, not a meaning
    return {re.sub(r"\s", "", text) for text in found if re.sub(values, "", text)}


def table(heading):
    """Rows of the table below a heading of the page, as lists of cells."""
    part = NOTATION.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


MEANINGS = {}  # letter -> chapter -> meanings
for shown, meaning, chapters in table("Letters that change their meaning"):
    for stem in chapters.split(", "):
        MEANINGS.setdefault(shown.strip("$"), {}).setdefault(stem, []).append(meaning)
TWICE = {(shown.strip("$"), stem): why for shown, stem, why in table("Two meanings in one chapter")}
ONE_MEANING = {  # two formulas, one meaning
    ("\\beta", "constants"): "the residual, also for the reference class",
    ("\\mu", "excess_risk"): "two meshes",
    ("N", "relaxation"): "with and without the cap",
}


def pages(chapter):
    """A chapter and the pages that begin with its name: the theory of ``penalized``."""
    files = sorted((ROOT / "book").glob(f"{chapter}*.md"))
    return "\n".join(prose(file.read_text(encoding="utf8")) for file in files)


TEXTS = {chapter: pages(chapter) for chapter in CHAPTERS}


def test_the_tables_name_chapters_and_give_reasons():
    assert {stem for rows in MEANINGS.values() for stem in rows} <= set(CHAPTERS)
    assert all(why.endswith(".") for why in TWICE.values())
    for letter, rows in MEANINGS.items():
        assert any(uses(letter, TEXTS[stem]) for stem in rows), f"no chapter uses {letter}"
    several = {letter for letter, rows in MEANINGS.items() if len(sum(rows.values(), [])) > 1}
    assert several == set(MEANINGS), "a letter with one meaning does not belong here"


@pytest.mark.parametrize("letter", MEANINGS)
def test_every_chapter_says_which_meaning_its_letter_has(letter):
    using = {stem for stem, text in TEXTS.items() if uses(letter, text)}
    assert using <= set(MEANINGS[letter]), "chapters that use it, and chapters in the table"
    for stem, meanings in MEANINGS[letter].items():
        assert len(meanings) == 1 or (letter, stem) in TWICE, f"{stem}: {meanings}"


@pytest.mark.parametrize("stem", CHAPTERS)
def test_no_letter_is_defined_in_two_ways(stem):
    found = {letter: definitions(letter, TEXTS[stem]) for letter in MEANINGS}
    double = {letter: texts for letter, texts in found.items() if len(texts) > 1}
    known = TWICE | ONE_MEANING
    assert {k: v for k, v in double.items() if (k, stem) not in known} == {}


def test_the_reader_sees_letters_and_definitions():
    text = (
        "Let $\\delta=1/b$ be small. With $N>1$ and $\\mathcal{N}$ we put $\\delta=\\frac12$, and "
        "let $\\delta=\\log n\\le2$.\nLet $\\tau$ be the shift of $q$.\n\n"
        "```\n$\\sigma$\n```\n\n$$\n\\rho_t+\\eta\n$$\n\n## Exercises\n\n$\\kappa$"
    )
    read = prose(text)
    seen = [x for x in ("\\delta", "N", "\\rho", "\\eta", "\\sigma", "\\kappa") if uses(x, read)]
    assert seen == ["\\delta", "N", "\\rho", "\\eta"]
    assert definitions("\\delta", read) == {"1/b", "\\logn"}
    assert definitions("\\tau", read) == {"theshiftof"}
    assert not uses("N", "$\\mathcal N$ and $\\mathbf{N}$") and not uses("\\eta", "$\\theta$")
