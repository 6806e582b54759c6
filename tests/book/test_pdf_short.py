"""The PDF is shorter than the pages: a small book as LaTeX, with the extension and without it."""

import base64
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from PIL import Image

CONFIG = """
title: Two pages
only_build_toc_files: true
exclude_patterns: [_build]
execute: {execute_notebooks: "off"}
latex: {latex_documents: {targetname: book.tex}}
sphinx:
  local_extensions: {%s}
  config: {numfig: true}
"""
TOC = """
format: jb-book
root: book/home
chapters:
  - file: book/page
  - file: notebooks/run
  - file: book/api_part
"""
PAGE = """# Page

```{figure} ../shown.png
:name: fig-shown
A caption.
```

See {py:func}`one` and {py:meth}`Two.of`.

| n | square |
|---|---|
| 1 | 1 |
| 2 | 4 |
| 3 | 9 |

| m | cube |
|---|---|
| 1 | 1 |
"""
API = """# A part of the API

```{eval-rst}
.. py:function:: one(first, second)

   Return the *first*.

   Parameters: a long list of them.

.. py:class:: Two

   A pair.

   .. py:method:: of

      Long words on a method.
```
"""


def picture(color):
    target = io.BytesIO()
    Image.new("RGB", (840, 20), color).save(target, "PNG")
    return target.getvalue()


def cell(*outputs):
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "source": "code",
        "outputs": list(outputs),
    }


def display(color):
    data = {"image/png": base64.b64encode(picture(color)).decode()}
    return {"output_type": "display_data", "data": data, "metadata": {}}


def printed(name, text):
    return {"output_type": "stream", "name": name, "text": text}


BOX = ":::{admonition} Change this\n:class: tip try-this\nHow to change it.\n:::"
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": f"# Run\n\n{BOX}"},
        cell(display("red")),
        cell(display("blue")),
        cell(printed("stdout", "said first\n"), printed("stderr", "said second\n")),
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 4,
}


def built(folder, extensions):
    (folder / "book").mkdir()
    (folder / "notebooks").mkdir()
    here = ROOT / "book" / "_ext"
    (folder / "_config.yml").write_text(
        CONFIG % ", ".join(f"{name}: {here}" for name in extensions), encoding="utf8"
    )
    (folder / "_toc.yml").write_text(TOC, encoding="utf8")
    (folder / "book" / "home.md").write_text("# Home\n\nWords.\n", encoding="utf8")
    (folder / "book" / "page.md").write_text(PAGE, encoding="utf8")
    (folder / "book" / "api_part.md").write_text(API, encoding="utf8")
    (folder / "notebooks" / "run.ipynb").write_text(json.dumps(NOTEBOOK), encoding="utf8")
    (folder / "shown.png").write_bytes(picture("red"))
    program = str(Path(sys.executable).parent / "jupyter-book")
    command = [program, "build", str(folder), "--builder", "latex"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return (folder / "_build" / "latex" / "book.tex").read_text(encoding="utf8")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return built(tmp_path_factory.mktemp("short"), ["pdf_layout", "pdf_short"])


@pytest.fixture(scope="module")
def long_source(tmp_path_factory):
    return built(tmp_path_factory.mktemp("long"), ["pdf_layout"])


def pictures(source):
    return re.findall(r"\\sphinxincludegraphics(?:\[(.*?)\])?\{\{", source)


def test_a_figure_is_printed_once_and_the_notebook_refers_to_it(source, long_source):
    assert len(pictures(long_source)) == 3 and len(pictures(source)) == 2  # the blue one stays
    label = r"\detokenize{book/page:fig-shown}"
    assert rf"\hyperref[{label}]{{Figure~\ref*{{{label}}}" in source
    assert rf"\label{{{label}}}" in source and "ref*" not in long_source


def test_figures_are_not_as_wide_as_the_text(source, long_source):
    assert all("width=0.78" in options for options in pictures(source))
    assert not any("width" in options for options in pictures(long_source))


def test_of_a_function_there_is_a_line_and_links_lead_to_it(source, long_source):
    assert "Return the" in source and "A pair." in source and "Methods: of." in source
    for words in ("Parameters: a long list", "Long words on a method"):
        assert words in long_source and words not in source
    for name in ("one", "Two.of"):
        label = rf"\detokenize{{book/api_part:{name}}}"
        assert rf"\hyperref[{label}]" in source
        assert source.count(rf"\label{{{label}}}") == 1


def test_there_is_no_index_of_what_one_chapter_lists(source, long_source):
    assert r"\index{" in long_source and r"\index{" not in source


def test_how_to_change_a_notebook_is_not_printed(source, long_source):
    assert "How to change it" in long_source and "How to change it" not in source


def test_what_a_cell_prints_is_in_one_box_and_in_small_letters(source, long_source):
    boxes = re.findall(r"\\begin\{sphinxVerbatim\}.*?\\end\{sphinxVerbatim\}", source, re.S)
    assert [("said first" in box, "said second" in box) for box in boxes] == [(True, True)]
    assert long_source.count(r"\begin{sphinxVerbatim}") == 2
    assert r"\fvset{fontsize=\scriptsize}" in source[: source.index("said first")]


def test_long_tables_are_in_small_letters(source):
    first, second = (source.index(word) for word in ("square", "cube"))
    assert r"\begingroup\footnotesize" in source[first - 600 : first]
    assert r"\endgroup" in source[first:second]
    assert r"\footnotesize" not in source[source.index(r"\endgroup", first) : second]
