"""The prose is spelled right, in American English.

`codespell` knows common misspellings and some British forms; words that it takes for one of them,
but that are right here, are listed in spelling_words.txt. British forms that it misses, and
that a text like ours might have, are in a pattern. It reads the pages of the book, the README and
its neighbors, the sources of the module and the text cells of the notebooks.
"""

import json
import re
import subprocess
import sys

import yaml
from conftest import ROOT

WORDS = ROOT / "tests" / "book" / "spelling_words.txt"
CHECK = ["-m", "codespell_lib", "--builtin", "clear,rare,en-GB_to_en-US"]
BRITISH = re.compile(
    r"\b(?:(?:neighb|behavi|col|fav|lab|hon)our\w*|(?:label|model|cancel|travel)l(?:ed|ing)"
    r"|(?:re)?(?:general|regular|normal|optim|minim|maxim|random|symmetr|initial|linear|summar"
    r"|real|organ|recogn|character|penal|emphas|special|factor|discret|visual|stabil|parametr)"
    r"is(?:e[sd]?|ing|ations?)|analys(?:ed|ing)|whilst|learnt|grey|artefacts?|centr(?:es?|ed))\b",
    re.IGNORECASE,
)
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "book").glob("*.md"),
    ROOT / "book" / "claims.yml",
    *(ROOT / "firal").rglob("*.py"),
    *(ROOT / "benchmarks").glob("*.py"),
]


def _prose(path):
    """The text of a page; of a notebook, that of its text cells."""
    text = path.read_text(encoding="utf8")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def _reported(folder, texts):
    """What codespell reports about some texts, one line for each word."""
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf8")
    command = [sys.executable, *CHECK, "--ignore-words", WORDS, "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout.splitlines()


def test_spelling(tmp_path):
    paths = [*PAGES, *(ROOT / "notebooks").glob("*.ipynb")]
    texts = {path.relative_to(ROOT).as_posix().replace("/", "-"): _prose(path) for path in paths}
    british = {name: BRITISH.findall(text) for name, text in texts.items()}
    assert {name: words for name, words in british.items() if words} == {}
    assert _reported(tmp_path, texts) == []


def test_a_commit_checks_the_same_files():
    """Not book/search.yml: its synonyms are British on purpose."""
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf8"))
    (hook,) = (h for h in config["repos"][0]["hooks"] if h["id"] == "codespell")
    names = {path.relative_to(ROOT).as_posix() for path in PAGES}
    assert all(re.search(hook["files"], name) for name in names)
    others = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("book/*")} - names
    assert not any(re.search(hook["files"], name) for name in others)


def test_the_check_sees_a_slip_and_british_forms(tmp_path):
    text = "The maximun of a regularised model is the centre of its neighbourhood."
    assert BRITISH.findall(text) == ["regularised", "centre", "neighbourhood"]
    assert "maximun" in " ".join(_reported(tmp_path, {"page": text}))
