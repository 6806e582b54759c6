"""``{exercise-list}`` and ``{learning-goals}``: tables collected from the pages of the book.

Exercises have one format. In a chapter a block ``:::{exercise} Title`` with a label starts with a
line such as ``*By hand, 15 minutes, easy.*``. In a notebook, below the heading ``## Exercises``, a
line starts with ``**1. Title.** (By hand, 15 minutes, easy.)``. Learning goals are the items below
``## What you will learn`` in a chapter. Nothing of the tables is typed twice, and the pages come
in the order of ``_toc.yml``.
"""

import json
import re
from collections import Counter
from typing import NamedTuple

import yaml
from generated import Generated

WAYS = ("By hand", "Numerical", "Open")
LEVELS = ("easy", "medium", "difficult")
HOW = rf"(?P<way>{'|'.join(WAYS)}), (?P<time>\d+ minutes|hours), (?P<level>{'|'.join(LEVELS)})\."
CHAPTER = re.compile(
    rf"^:{{3,}}\{{exercise\}} (?P<title>.+)\n:label: (?P<label>\S+)\n\n\*{HOW}\*$", re.MULTILINE
)
NOTEBOOK = re.compile(rf"^\*\*(?P<number>\d+)\. (?P<title>[^\n]+?)\*\* \({HOW}\)", re.MULTILINE)


class Exercise(NamedTuple):
    """One exercise; ``link`` is Markdown that leads to it from a page in ``book``."""

    title: str
    link: str
    way: str
    time: str
    level: str


def contents(root):
    """The pages of the book: one list per chapter, the chapter first and its notebooks after it."""
    parts = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf8"))["parts"]
    return [
        [source(root, entry["file"]) for entry in (chapter, *chapter.get("sections", ()))]
        for part in parts
        for chapter in part["chapters"]
    ]


def source(root, page):
    """The file of a page that ``_toc.yml`` names without its ending."""
    markdown = root / f"{page}.md"
    return markdown if markdown.is_file() else root / f"{page}.ipynb"


def prose(path):
    """The Markdown of a chapter, or of a notebook without its code."""
    text = path.read_text(encoding="utf8")
    if path.suffix == ".md":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def heading(path):
    """The title of a page."""
    return re.search(r"^# (.+)$", prose(path), re.MULTILINE)[1].strip()


def exercises(path):
    """The exercises of a page, in its order."""
    text = prose(path)
    found = []
    if path.suffix == ".md":
        for match in CHAPTER.finditer(text):
            title = match["title"].strip()
            link = f"{{ref}}`{title} <{match['label']}>`"
            found.append(Exercise(title, link, *match.group("way", "time", "level")))
    else:
        below = text.partition("\n## Exercises\n")[2]
        for match in NOTEBOOK.finditer(below):
            title = match["title"].rstrip(".")
            name = f"{path.stem.split('_')[0]}, {match['number']}"
            link = f"[{name}: {title}](../notebooks/{path.name}#exercises)"
            found.append(Exercise(title, link, *match.group("way", "time", "level")))
    return found


def exercise_table(root):
    """Markdown: how many exercises there are of each kind, then one table per chapter."""
    chapters = [
        (pages[0], [exercise for page in pages for exercise in exercises(page)])
        for pages in contents(root)
    ]
    count = Counter((e.way, e.level) for _, rows in chapters for e in rows)
    # A heading comes first: what stands before it would land behind all sections.
    lines = ["## How many", "", "| way | " + " | ".join(LEVELS) + " | in all |"]
    lines.append("|---|" + "--:|" * (len(LEVELS) + 1))
    for way in WAYS:
        numbers = [count[way, level] for level in LEVELS]
        lines.append(f"| {way} | " + " | ".join(map(str, [*numbers, sum(numbers)])) + " |")
    lines.append("")
    for chapter, rows in chapters:
        if not rows:
            continue
        lines += [f"## {heading(chapter)}", "", "| exercise | how | time | level |"]
        lines.append("|---|---|---|---|")
        lines += [f"| {e.link} | {e.way} | {e.time} | {e.level} |" for e in rows]
        lines.append("")
    return lines


def goals(path):
    """The items below ``## What you will learn``; empty for pages without that section."""
    below = prose(path).partition("\n## What you will learn\n")[2].partition("\n## ")[0]
    return re.findall(r"^- (.+)$", below, re.MULTILINE)


def goal_table(root):
    """Markdown: one row per chapter with its learning goals."""
    lines = [":::{list-table}", ":header-rows: 1", ":widths: 25 75", ":class: longtable", ""]
    lines += ["* - chapter", "  - what you will learn"]
    for chapter, *_ in contents(root):
        if chapter.suffix == ".md" and (items := goals(chapter)):
            lines.append(f"* - [{heading(chapter)}]({chapter.name})")
            lines += [f"  {'- -' if k == 0 else '  -'} {item}" for k, item in enumerate(items)]
    return [*lines, ":::"]


def sources(root):
    """The table of contents and every page in it."""
    return [root / "_toc.yml", *(page for pages in contents(root) for page in pages)]


class ExerciseList(Generated):
    sources, markdown = staticmethod(sources), staticmethod(exercise_table)


class LearningGoals(Generated):
    sources, markdown = staticmethod(sources), staticmethod(goal_table)


def setup(app):
    app.add_directive("exercise-list", ExerciseList)
    app.add_directive("learning-goals", LearningGoals)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
