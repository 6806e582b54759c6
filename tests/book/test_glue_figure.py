"""A chapter shows a figure of a notebook, with caption and alternative text, or the build fails."""

import base64
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT

CONFIG = """
title: Two pages
only_build_toc_files: true
exclude_patterns: [_build]
execute: {execute_notebooks: "off"}
sphinx:
  local_extensions: {glue_figure: %s, two_themes: %s}
"""
PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d7"
        "63f8cfc000000301010018dd8db00000000049454e44ae426082"
    )
).decode()


DRAWING = '<svg id="figure_1" width="72pt" height="36pt" xmlns="http://www.w3.org/2000/svg"/>'


def build(folder, key, svg=False, shown=False):
    """Build a chapter that shows one figure of a notebook: exit code, what was printed, page."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Notebook")])
    cell = nbformat.v4.new_code_cell("glue(...)", execution_count=1)
    cell.metadata["mystnb"] = {"image": {"alt": "what the cell says about the picture"}}
    record = {"name": "fig-known", "mime_prefix": "application/papermill.record/"}
    cell.outputs = [
        nbformat.v4.new_output(
            "display_data",
            data={"application/papermill.record/image/png": PIXEL},
            metadata={"scrapbook": record},
        )
    ]
    prefix = "application/papermill.record/"
    if svg:
        cell.outputs[0].data[prefix + "image/svg+xml"] = DRAWING
    if shown:  # the picture is stored once
        data = {mime.removeprefix(prefix): v for mime, v in cell.outputs[0].data.items()}
        cell.outputs[0].data = {prefix + "text/plain": "<Figure>"}
        cell.outputs.append(nbformat.v4.new_output("display_data", data=data))
    notebook.cells.append(cell)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    (folder / "notebooks").mkdir()
    nbformat.write(notebook, folder / "notebooks" / "n.ipynb")
    (folder / "_config.yml").write_text(CONFIG % ((ROOT / "book" / "_ext",) * 2))
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: page\nchapters:\n- file: notebooks/n\n"
    )
    (folder / "page.md").write_text(
        f"# Page\n\n```{{glue:figure}} {key}\n:doc: notebooks/n.ipynb\n:name: fig-label\n"
        "A caption with $x^2$.\n```\n\nSee {numref}`fig-label`.\n"
    )
    program = str(Path(sys.executable).parent / "jupyter-book")
    command = [program, "build", str(folder), "-W", "-n", "--keep-going"]
    run = subprocess.run(command, capture_output=True, text=True)
    page = folder / "_build" / "html" / "page.html"
    return run.returncode, run.stdout + run.stderr, page.read_text(encoding="utf8")


def test_figure_has_picture_caption_and_alternative_text(tmp_path):
    code, printed, html = build(tmp_path, "fig-known")
    assert code == 0, printed
    assert 'alt="what the cell says about the picture"' in html
    assert "A caption with" in html and 'id="fig-label"' in html
    pictures = list((tmp_path / "_build" / "html" / "_images").glob("*.png"))
    assert [p.read_bytes() for p in pictures] == [base64.b64decode(PIXEL)]


def test_a_drawing_is_preferred_and_has_a_dark_partner(tmp_path):
    code, printed, html = build(tmp_path, "fig-known", svg=True, shown=True)
    assert code == 0, printed
    there = {p.name for p in (tmp_path / "_build" / "html" / "_images").iterdir()}
    pictures = set(re.findall('src="_images/([^"]+)"', html))
    light = next(name for name in pictures if not name.endswith(".dark.svg"))
    assert light.endswith(".svg") and pictures == {light, light.replace(".svg", ".dark.svg")}
    assert pictures <= there
    for name in pictures:
        tag = next(tag for tag in re.findall("<img[^>]*>", html) if name in tag)
        assert 'width="96" height="48" loading="lazy"' in tag
        assert 'alt="what the cell says about the picture"' in tag


@pytest.mark.parametrize("key", ["fig-unknown"])
def test_a_missing_figure_fails_the_build(tmp_path, key):
    code, printed, _ = build(tmp_path, key)
    assert code != 0
    assert f"no figure '{key}' is glued in n.ipynb" in printed
