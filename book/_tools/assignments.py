"""Notebooks of the eight assignments, checked by otter-grader, from ``book/teaching/assignments``.

    python book/_tools/assignments.py student FOLDER
    python book/_tools/assignments.py instructor FOLDER

A source is a Python file: its docstring is the text, its one public function the solution, and
each ``test_...`` function a test with its hint in the docstring. In a student's notebook the body
of the function is missing; ``grader.check`` runs the tests: files in otter's "OK" format.
"""

import ast
import inspect
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import nbformat
from downloads import ROOT

SOURCES = ROOT / "book" / "teaching" / "assignments"
ARCHIVE = "assignments.zip"
LINK = re.compile(r"\]\(\.\./\.\./(\w+)\.md\)")
HOW = """\
Run the cells from top to bottom. Write your function in place of the line that raises, then run the
check below it. It needs `pip install otter-grader scipy` and the folder `tests` beside this
notebook; a failed test tells you what it looks at."""


class Assignment(NamedTuple):
    """One assignment, as its source file has it."""

    name: str
    text: str
    imports: str
    solution: str
    stub: str
    tests: tuple  # (name, hint, source)
    function: str


def read(path):
    """Parse one source file."""
    code = path.read_text(encoding="utf8")
    tree = ast.parse(code)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    (asked,) = (f for f in functions if not f.name.startswith("test_"))
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    solution = ast.get_source_segment(code, asked)
    head = "\n".join(code.splitlines()[asked.lineno - 1 : asked.body[0].end_lineno])
    return Assignment(
        name=path.stem,
        text=inspect.cleandoc(ast.get_docstring(tree)),
        imports="\n".join(ast.get_source_segment(code, n) for n in imports),
        solution=solution,
        stub=f'{head}\n    raise NotImplementedError("your turn")',
        tests=tuple(
            (f.name, ast.get_docstring(f), ast.get_source_segment(code, f))
            for f in functions
            if f.name.startswith("test_")
        ),
        function=asked.name,
    )


def all_assignments(folder=SOURCES):
    return [read(path) for path in sorted(folder.glob("a*.py"))]


def notebook(assignment, solved):
    """The notebook of one assignment, with the solution or with the place for it."""
    title, _, text = assignment.text.partition("\n")
    text = LINK.sub(r"](../book/\1.html)", text.strip())
    new = nbformat.v4
    cells = [
        new.new_markdown_cell(f"# {title}\n\n{text}\n\n{HOW}"),
        new.new_code_cell(f"import otter\n{assignment.imports}\n\ngrader = otter.Notebook()"),
        new.new_code_cell(assignment.solution if solved else assignment.stub),
        new.new_code_cell(f'grader.check("{assignment.name}")'),
    ]
    for k, cell in enumerate(cells):
        cell["id"] = f"cell-{k}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def doctest(code):
    """Code as the lines of an interpreter session."""
    lines = [line for line in code.splitlines() if line.strip()]
    return "\n".join((">>> " if k == 0 else "... ") + line for k, line in enumerate(lines))


def test_file(assignment):
    """The tests of one assignment in the format that otter reads."""
    imports = "\n".join(doctest(line) for line in assignment.imports.splitlines())
    cases = [
        {
            "code": f"{imports}\n{doctest(source)}\n>>> {name}({assignment.function})",
            "hidden": False,
            "locked": False,
            "failure_message": hint,
        }
        for name, hint, source in assignment.tests
    ]
    suite = {"cases": cases, "scored": True, "setup": "", "teardown": "", "type": "doctest"}
    test = {"name": assignment.name, "points": len(cases), "suites": [suite]}
    # a Python file: JSON with Python's names for true and false
    text = json.dumps(test, indent=1).replace(": true", ": True").replace(": false", ": False")
    return f"OK_FORMAT = True\n\ntest = {text}\n"


def write(folder, solved):
    """Write all notebooks and tests into ``folder``, and a zip of them."""
    files = {}
    for assignment in all_assignments():
        files[f"{assignment.name}.ipynb"] = nbformat.writes(notebook(assignment, solved)) + "\n"
        files[f"tests/{assignment.name}.py"] = test_file(assignment)
    (folder / "tests").mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            (folder / name).write_text(text, "utf8")
            archive.writestr(zipfile.ZipInfo(f"assignments/{name}"), text, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    edition, target = sys.argv[1:]
    write(Path(target), solved={"student": False, "instructor": True}[edition])
