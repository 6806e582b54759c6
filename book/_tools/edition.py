"""Stage the book for a class: without solutions for students, with all answers for instructors.

    python book/_tools/edition.py student
    python book/_tools/edition.py instructor

The sources are copied to ``_build/EDITION`` and changed there, so that the pages, their sources,
the search and the downloads of an edition agree: what is left out is nowhere in it. ``make
student`` and ``make instructor`` then build it. The exam and its answers are only in the latter.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import assignments
import yaml

ROOT = Path(__file__).resolve().parents[2]
SOLUTION = re.compile(r"^(:{3,})\{solution\}[^\n]*\n.*?^\1$\n*", re.MULTILINE | re.DOTALL)
FOLDED = re.compile(
    r"<details>\s*<summary>(?:Solution|Answer)s?</summary>.*?</details>\n*", re.DOTALL
)
EXAM = ("book/teaching/exam", "book/teaching/exam_answers")
# what follows a question to the room on the page for lecturers
TOLD = re.compile(r'^(- \*Ask (?:first|again)[.:]?\*:? .*")[^"\n]+$', re.MULTILINE)
# what pages say about the solutions, and students would look for in vain
PROMISES = re.compile(
    r"; the solutions stand below them| and solutions(?=\]\(exercises\.md)| The solution then says"
    r"[^.\n]*\.|^(?:The |\*\*)solutions(?:\*\*)? stand[^\n]*\n",
    re.MULTILINE | re.IGNORECASE,
)


def without_solutions(text):
    """A chapter, or the Markdown of a notebook, without the solutions of its exercises."""
    return TOLD.sub(r"\1", FOLDED.sub("", SOLUTION.sub("", text)))


def strip_notebook(notebook):
    """A notebook without solutions; cells of which nothing is left go."""
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = without_solutions("".join(cell["source"])).rstrip()
            cell = {**cell, "source": text.splitlines(keepends=True)}
        if cell["source"]:
            cells.append(cell)
    return {**notebook, "cells": cells}


def with_exam(contents):
    """The table of contents with the exam and its answers below the course."""
    for part in contents["parts"]:
        for chapter in part["chapters"]:
            if chapter["file"] == "book/course":
                chapter["sections"] = [
                    *chapter.get("sections", []),
                    *({"file": file} for file in EXAM),
                ]
    return contents


def stage(edition, target, root=ROOT):
    """Copy the sources and change them for one edition."""
    shutil.rmtree(target / "notebooks", ignore_errors=True)
    shutil.rmtree(target / "book", ignore_errors=True)
    skip = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for folder in ("book", "notebooks"):
        shutil.copytree(root / folder, target / folder, ignore=skip)
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf8"))
    config["title"] = f"{config['title']}: {edition} edition"
    config["sphinx"]["config"]["edition"] = edition
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf8"))
    if edition == "instructor":
        contents = with_exam(contents)
    else:
        shutil.rmtree(target / "book" / "teaching")
        for path in (target / "book").glob("*.md"):
            path.write_text(PROMISES.sub("", without_solutions(path.read_text("utf8"))), "utf8")
        for path in (target / "notebooks").glob("*.ipynb"):
            text = json.dumps(strip_notebook(json.loads(path.read_text("utf8"))), indent=1)
            path.write_text(text + "\n", "utf8")
    for name, content in (("_config.yml", config), ("_toc.yml", contents)):
        (target / name).write_text(yaml.safe_dump(content, sort_keys=False), "utf8")
    assignments.write(target / "_build" / "html" / "assignments", edition == "instructor")


if __name__ == "__main__":
    (chosen,) = sys.argv[1:]
    if chosen not in ("student", "instructor"):
        sys.exit(f"error: unknown edition {chosen!r}: expected student or instructor")
    stage(chosen, ROOT / "_build" / chosen)
