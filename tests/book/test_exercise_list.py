"""Every exercise says how it is worked, how long it takes and how hard it is, and is collected."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from exercise_list import (
    LEVELS,
    WAYS,
    contents,
    exercise_table,
    exercises,
    goal_table,
    goals,
    prose,
)

CHAPTERS = [p for p in sorted((ROOT / "book").glob("*.md")) if "{exercise}" in prose(p)]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

CHAPTER = """# A chapter

## What you will learn

- One thing, $x$.
- Another.

Words.

## Exercises

:::{exercise} First
:label: ex-one

*By hand, 15 minutes, easy.*
Text.
:::
"""
NOTEBOOK = [
    "# A notebook",
    "**1. No exercise.** (By hand, 5 minutes, easy.)",
    "## Exercises\n\n**1. What?** (Numerical, 20 minutes, medium.) Text.\n\n"
    "**2. Why $a$.** (Open, hours, difficult.) Text.",
]


def write(folder, chapter=CHAPTER, notebook=NOTEBOOK):
    """A book of one chapter and one notebook, and a page without exercises before them."""
    for name in ("book", "notebooks"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "_toc.yml").write_text(
        "parts:\n- chapters:\n  - file: book/plain\n  - file: book/one\n"
        "    sections:\n    - file: notebooks/t01_one\n"
    )
    (folder / "book" / "plain.md").write_text("# Plain\n\nText.\n")
    (folder / "book" / "one.md").write_text(chapter)
    cells = [{"cell_type": "markdown", "source": [text]} for text in notebook]
    code = {"cell_type": "code", "source": ["# not a title"], "outputs": []}
    cells.insert(1, {**code, "execution_count": None})
    whole = {
        "cells": [{**cell, "id": f"cell-{k}", "metadata": {}} for k, cell in enumerate(cells)],
        "metadata": {"language_info": {"name": "python", "pygments_lexer": "ipython3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (folder / "notebooks" / "t01_one.ipynb").write_text(json.dumps(whole))
    return folder


CONFIG = """
title: A small book
only_build_toc_files: true
execute: {execute_notebooks: "off"}
parse: {myst_enable_extensions: [colon_fence, dollarmath]}
sphinx:
  extra_extensions: [sphinx_exercise]
  local_extensions: {exercise_list: %s}
  config: {nitpicky: true, myst_heading_anchors: 3}
"""


def test_the_directives_on_a_built_page(tmp_path):
    """Every row reaches the page, and the counts come before the first chapter."""
    write(tmp_path)
    (tmp_path / "_config.yml").write_text(CONFIG % (ROOT / "book" / "_ext"))
    toc = (tmp_path / "_toc.yml").read_text()
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/list\n" + toc)
    page = "# List\n\n```{exercise-list}\n```\n\n## Goals\n\n```{learning-goals}\n```\n"
    (tmp_path / "book" / "list.md").write_text(page)
    program = str(Path(sys.executable).parent / "jupyter-book")
    command = [program, "build", str(tmp_path), "-W", "-n", "--keep-going"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    html = (tmp_path / "_build" / "html" / "book" / "list.html").read_text(encoding="utf8")
    text = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    assert text.index("Numerical 0 1 0 1") < text.index("First By hand 15 minutes easy")
    assert 'href="one.html#ex-one"' in html
    assert 'href="../notebooks/t01_one.html#exercises"' in html
    assert "A chapter One thing," in text


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_no_exercise_of_a_chapter_is_lost(path):
    text = prose(path)
    titles = [title.strip() for title in re.findall(r"^:{3,}\{exercise\}(.*)$", text, re.M)]
    assert [exercise.title for exercise in exercises(path)] == titles
    labels = re.findall(r"^:{3,}\{exercise\}.*\n:label: (\S+)$", text, re.M)
    solved = re.findall(r"^:{3,}\{solution\} (\S+)$", text, re.M)
    assert labels == solved


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_exercise_of_a_notebook_is_lost(path):
    """Every folded solution belongs to one numbered exercise that the list finds."""
    below = prose(path).partition("\n## Exercises\n")[2]
    assert len(exercises(path)) == below.count("<details>") >= 2
    numbers = [int(n) for n in re.findall(r"^\*\*(\d+)\. ", below, re.M)]
    assert numbers == list(range(1, len(exercises(path)) + 1))


def test_every_page_with_exercises_is_in_the_list():
    listed = {page for pages in contents(ROOT) for page in pages}
    assert set(CHAPTERS) | set(NOTEBOOKS) <= listed


def test_titles_are_titles():
    """A title that is a way of working says nothing, and a bar would break the table."""
    titles = [e.title for path in (*CHAPTERS, *NOTEBOOKS) for e in exercises(path)]
    assert len(titles) > 80
    for title in titles:
        assert not title.startswith(WAYS) and "|" not in title, title


def test_the_list_of_a_small_book(tmp_path):
    lines = exercise_table(write(tmp_path))
    assert "| By hand | 1 | 0 | 0 | 1 |" in lines
    assert "| Open | 0 | 0 | 1 | 1 |" in lines
    assert [line for line in lines if line.startswith("## ")] == [
        "## How many",
        "## A chapter",
    ]
    assert lines[-4:-1] == [
        "| {ref}`First <ex-one>` | By hand | 15 minutes | easy |",
        "| [t01, 1: What?](../notebooks/t01_one.ipynb#exercises) | Numerical | 20 minutes "
        "| medium |",
        "| [t01, 2: Why $a$](../notebooks/t01_one.ipynb#exercises) | Open | hours | difficult |",
    ]


@pytest.mark.parametrize(
    "how",
    ["By hand, 15 minutes", "By hand, easy", "15 minutes, easy", "By hand, 15 min, easy", "Open"],
)
def test_an_exercise_without_all_three_is_not_found(tmp_path, how):
    """So the tests above see it: the number of exercises is then wrong."""
    root = write(
        tmp_path,
        CHAPTER.replace("By hand, 15 minutes, easy", how),
        [NOTEBOOK[0], f"## Exercises\n\n**1. What?** ({how}.) Text."],
    )
    assert not [e for pages in contents(root) for page in pages for e in exercises(page)]


def test_goals_are_collected_in_order(tmp_path):
    root = write(tmp_path)
    assert goals(root / "book" / "one.md") == ["One thing, $x$.", "Another."]
    assert goal_table(root)[-4:-1] == [
        "* - [A chapter](one.md)",
        "  - - One thing, $x$.",
        "    - Another.",
    ]


def test_every_chapter_has_goals():
    for path in CHAPTERS:
        assert len(goals(path)) >= 3, path.name
        below = prose(path).partition("\n## What you will learn\n")[2].partition("\n## ")[0]
        assert not re.search(r"^[ \t]+\S", below, re.M), "a goal is one line"


def test_all_words_are_used():
    found = [e for path in (*CHAPTERS, *NOTEBOOKS) for e in exercises(path)]
    assert {e.way for e in found} == set(WAYS)
    assert {e.level for e in found} == set(LEVELS)
    assert {e.time for e in found if e.way == "Open"} == {"hours"}
