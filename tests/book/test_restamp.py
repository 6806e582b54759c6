"""Restamping: a notebook whose outputs are unchanged gets a new stamp, and nothing else."""

import json

import nbformat
import pytest
import restamp
import small_tree
from freshness import KEY, stamp
from run_notebooks import run_all
from small_tree import edit, write_notebook

from firal.companion import claims

PICTURE = (
    "import matplotlib.pyplot as plt\nplt.figure(figsize=(1, 1))\nplt.plot([0, {}])\nplt.show()"
)
CHECK = claims.Check("prop-1", "slope", 1.0, "<=", 2.0, False, True, True)


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A notebook that prints, shows a number, draws a picture and shows a time, executed."""
    folder = tmp_path_factory.mktemp("restamp")
    sources = ("print('a name')", "0.5", PICTURE.format(1), "import time\ntime.perf_counter()")
    path = write_notebook(folder / "t99_x.ipynb", *sources)
    edit(path, '"id": "c4",\n   "metadata": {}', '"id": "c4",\n   "metadata": {"tags": ["ignore"]}')
    edit(path, '"ignore"', f'"{restamp.IGNORE}"')
    assert run_all([path], profile=None, out=path.parent / "new", jobs=1) == {}
    return path.parent / "new" / path.name


@pytest.fixture
def stored(executed, tmp_path):
    """The same, with an old stamp, as a committed notebook."""
    notebook = nbformat.read(executed, 4)
    notebook.metadata[KEY]["fingerprint"] = "old"
    nbformat.write(notebook, tmp_path / executed.name)
    return tmp_path / executed.name


def changed(stored, executed, cell, change):
    """Apply a change to the stored outputs of a cell; return the lines and the stored stamp."""
    notebook = nbformat.read(stored, 4)
    change(notebook.cells[cell].outputs)
    nbformat.write(notebook, stored)
    before = stored.read_bytes()
    lines = restamp.renew(stored, executed)
    assert lines and stored.read_bytes() == before
    return lines


def test_unchanged_outputs_give_a_new_stamp_and_nothing_else(stored, executed):
    before = json.loads(stored.read_text())
    edit(stored, '"execution_count": 2', '"execution_count": 7')
    assert restamp.renew(stored, executed) == []
    after = json.loads(stored.read_text())
    assert after["metadata"].pop(KEY) == nbformat.read(executed, 4).metadata[KEY]
    assert before["metadata"].pop(KEY)["fingerprint"] == "old"
    assert "".join(stored.read_text().split()).count('"execution_count":7') > 0
    for notebook in (before, after):
        for cell in notebook["cells"]:
            cell.pop("execution_count")
    assert before == after


def test_the_stamp_is_that_of_the_present_code(executed):
    notebook = nbformat.read(executed, 4)
    assert notebook.metadata[KEY] == stamp(notebook, executed.stem, "book")


def test_a_changed_name_is_listed(stored, executed):
    def change(outputs):
        outputs[0].text = "another name\n"

    lines = changed(stored, executed, 1, change)
    assert lines == [f"cell 1, output 0, stdout: {x}" for x in ("-another name", "+a name")]


def test_a_changed_number_is_listed(stored, executed):
    def change(outputs):
        outputs[0].data["text/plain"] = "0.25"

    lines = changed(stored, executed, 2, change)
    assert lines == [f"cell 2, output 0, text/plain: {x}" for x in ("-0.25", "+0.5")]


def test_a_changed_picture_is_listed(stored, executed, tmp_path):
    write_notebook(tmp_path / "t98_y.ipynb", PICTURE.format(2))
    assert run_all([tmp_path / "t98_y.ipynb"], profile=None, out=tmp_path / "y", jobs=1) == {}
    other = nbformat.read(tmp_path / "y" / "t98_y.ipynb", 4).cells[1].outputs[0].data["image/png"]

    def change(outputs):
        outputs[0].data["image/png"] = other

    (line,) = changed(stored, executed, 3, change)
    assert line.startswith("cell 3, output 0, image/png: ") and "differ" in line


def test_pictures_are_compared_by_their_pixels(stored, executed):
    """The same picture in other bytes: compressed again, with a comment."""
    import io
    from base64 import b64decode, b64encode

    from PIL import Image, PngImagePlugin

    notebook = nbformat.read(stored, 4)
    data = notebook.cells[3].outputs[0].data
    comment = PngImagePlugin.PngInfo()
    comment.add_text("Software", "another version")
    file = io.BytesIO()
    Image.open(io.BytesIO(b64decode(data["image/png"]))).save(file, "PNG", pnginfo=comment)
    again = b64encode(file.getvalue()).decode()
    assert again != data["image/png"]
    data["image/png"] = again
    nbformat.write(notebook, stored)
    assert restamp.renew(stored, executed) == []


def test_changed_checks_and_new_data_are_listed(stored, executed):
    def change(outputs):
        outputs[0].data[claims.MIME] = CHECK._asdict()

    assert changed(stored, executed, 2, change) == [
        f"cell 2, output 0, {claims.MIME}: no longer there"
    ]
    old, new = nbformat.read(stored, 4), nbformat.read(stored, 4)
    new.cells[2].outputs[0].data[claims.MIME] = CHECK._replace(measured=1.5)._asdict()
    assert [line.split(": ", 1)[1].strip() for line in restamp.differences(old, new)] == [
        '- "measured": 1.0,',
        '+ "measured": 1.5,',
    ]
    assert restamp.differences(nbformat.read(executed, 4), new) == [
        f"cell 2, output 0, {claims.MIME}: new"
    ]


def test_a_missing_output_is_listed(stored, executed):
    lines = changed(stored, executed, 1, lambda outputs: outputs.clear())
    assert lines == ["cell 1, output 0, stdout: new"]


def test_measured_times_are_not_compared(stored, executed):
    notebook = nbformat.read(stored, 4)
    notebook.cells[4].outputs[0].data["text/plain"] = "-1"
    nbformat.write(notebook, stored)
    assert restamp.renew(stored, executed) == []


def test_other_cells_are_not_compared(stored, executed):
    edit(stored, "print('a name')", "print('another name')")
    assert restamp.renew(stored, executed) == ["the cells are not the same"]


def test_the_command_restamps_or_fails(tmp_path, monkeypatch, capsys):
    """One stale notebook whose stored output is right, one whose stored output is not."""
    small_tree.without_real_tables(monkeypatch)
    folder = tmp_path / "notebooks"
    folder.mkdir()
    right, wrong = (write_notebook(folder / f"t0{k}_x.ipynb", "print(1)") for k in (1, 2))
    assert run_all([right, wrong], profile=None) == {}
    for path in (right, wrong):
        edit(path, '"fingerprint": "', '"fingerprint": "x')
    edit(wrong, '"1\\n"', '"2\\n"')
    monkeypatch.setattr(restamp, "OUT", tmp_path / "out")
    monkeypatch.setattr(restamp, "choose", lambda patterns: [right, wrong])
    monkeypatch.setattr("sys.argv", ["restamp.py"])
    assert restamp.main() == 1
    out = capsys.readouterr().out
    assert "t01_x: unchanged" in out and "t02_x: 2 differences" in out
    assert "1 notebooks restamped, 1 differ, 0 failed" in out
    assert '"fingerprint": "x' not in right.read_text()
    assert '"fingerprint": "x' in wrong.read_text() and '"2\\n"' in wrong.read_text()
    edit(wrong, '"2\\n"', '"1\\n"')
    assert restamp.main() == 0 and restamp.main() == 0
    assert "nothing to do" in capsys.readouterr().out
