"""What the PDF needs, on a book of two pages: the LaTeX source is written, not typeset."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

CONFIG = """
title: Two pages
only_build_toc_files: true
exclude_patterns: [_build]
execute: {execute_notebooks: "off"}
latex: {latex_documents: {targetname: book.tex}}
sphinx:
  extra_extensions: [sphinx_proof, sphinx_exercise]
  local_extensions: {pdf_layout: %s}
  config: {numfig: true}
"""
TOC = """
format: jb-book
root: home
parts:
  - caption: The only part
    chapters:
      - file: page
      - file: run
"""
HOME = "# Home\n\nFirst words.\n\n## A section\n\nSee {ref}`the exercise <ex-one>`.\n"
LONG = "many words that need the room of several lines in a column of the page " * 2
CODE = "\n".join(f"line_{n} = {n}" for n in range(40))
ROWS = "\n".join(f"| {n} |" for n in range(20))
PAGE = f"""# Page

```{{prf:theorem}}
:label: thm
One is one.
```

```{{prf:proof}}
It is clear.
```

```{{exercise}} A title
:label: ex-one
Do it.
```

| key | what it means |
|---|---|
| a | {LONG} |

| x | y |
|---|---|
| `txt-a-long-name` | `x-1` |

```python
one = 1
two = 2
```

```python
{CODE}
```

````{{solution}} ex-one
```python
three = 3
```
````

A word before it.

```python
four = 4
```

<details>
<summary>Solution</summary>

It is two.

</details>

```{{admonition}} A folded box
:class: dropdown

Its words.
```

## A heading

```{{prf:lemma}}
:label: lem
A short one.
```

```{{eval-rst}}
.. py:function:: one()

   Returns 1.
```

| n |
|---|
{ROWS}
"""

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": "# Run\n\nWhat it does."},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "source": "the_code()",
            "outputs": [{"name": "stdout", "output_type": "stream", "text": "what it says"}],
        },
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 4,
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    texts = {"home.md": HOME, "page.md": PAGE, "run.ipynb": json.dumps(NOTEBOOK), "_toc.yml": TOC}
    texts["_config.yml"] = CONFIG % (ROOT / "book" / "_ext")
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf8")
    program = str(Path(sys.executable).parent / "jupyter-book")
    command = [program, "build", str(folder), "--builder", "latex"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return (folder / "_build" / "latex" / "book.tex").read_text(encoding="utf8")


def test_the_home_page_is_a_chapter_before_the_parts(source):
    order = [
        r"\chapter{About this book}",
        "First words.",
        "A section",
        r"\part{The only part}",
        r"\chapter{Page}",
    ]
    places = [source.index(text) for text in order]
    assert places == sorted(places)


def test_of_a_notebook_there_is_what_it_says_and_not_its_code(source):
    assert "What it does." in source and "what it says" in source
    assert "the_code" not in source.replace(r"\_", "_")
    assert "one = 1" in source.replace(r"\PYG{o}{=}", "=").replace(r"\PYG{n}{one}", "one").replace(
        r"\PYG{l+m+mi}{1}", "1"
    )  # code of a chapter stays


def test_a_proof_ends_with_a_box_and_has_no_frame(source):
    proof = source[source.index("One is one.") : source.index("Do it.")]
    assert r"\sphinxstylestrong{Proof.} It is clear." in proof
    assert proof.index("It is clear.") < proof.index(r"\square")
    assert "sphinxadmonition" not in proof[proof.index("Proof.") : proof.index(r"\square")]


def test_a_box_that_is_folded_on_the_web_has_no_frame(source):
    at = source.index(r"\sphinxstylestrong{A folded box}")
    assert "sphinxadmonition" not in source[at : source.index("Its words.")]


def test_references_to_exercises_have_a_target(source):
    (target,) = re.findall(r"hyperref\[\\detokenize\{(\S*ex-one)\}\]", source)
    assert rf"\label{{\detokenize{{{target}}}}}" in source


def test_only_wide_tables_have_columns_of_given_width(source):
    wide, narrow = re.findall(r"\\begin\{tabular\w*\}.*?\n", source)  # the third one is long
    shares = [int(a) / int(b) for a, b in re.findall(r"\\X\{(\d+)\}\{(\d+)\}", wide)]
    assert len(shares) == 2
    assert shares[0] < 0.15 < 0.8 < shares[1]
    assert r"\X" not in narrow


def test_long_tables_may_be_broken(source):
    start = source.index(r"\begin{longtable}")
    assert source.index("A short one.") < start
    assert source.count(r"\begin{longtable}") == 1


def test_a_folded_solution_has_its_heading(source):
    at = source.index(r"\sphinxstylestrong{Solution.}")
    assert at < source.index("It is two.")
    assert r"\Needspace{6\baselineskip}" in source[at - 60 : at]


def test_short_code_stays_on_one_page_and_long_code_does_not_begin_at_its_foot(source):
    spaces = re.findall(
        r"\\Needspace\{([\d.]+)\\baselineskip\}\s*\\begin\{sphinxVerbatim\}", source
    )
    assert spaces == ["3.4", "5.0"]


def test_code_stays_with_what_leads_to_it(source):
    assert r"\Needspace" not in source[source.index("Solution to") : source.index("three")]
    at = source.index("A word before it.")
    assert r"\Needspace{4.6\baselineskip}" in source[at - 80 : at]
    assert r"\Needspace" not in source[at : source.index("four")]


def test_long_names_in_tables_may_be_broken(source):
    row = source[source.index("txt") :]
    row = row[: row.index(r"\\")]
    assert row.count(r"\allowbreak{}") == 3  # txt- a- long- name, and not x-1


def test_a_short_statement_stays_together_and_with_its_heading(source):
    lines, after = re.search(
        r"\\Needspace\{(\d+)\\baselineskip\}(.{0,99}A heading)", source, re.S
    ).groups()
    assert 8 <= int(lines) <= 11
    assert "Needspace" not in after
    assert "Needspace" not in source[source.index("A heading") : source.index("A short one.")]


def test_the_index_names_the_page_of_a_function(source):
    at = source.index(r"\index{built")
    assert source[:at].rstrip().endswith(r"\Needspace{4\baselineskip}")
