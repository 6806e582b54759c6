"""A changed extension makes Sphinx read all pages again."""

import io
import sys

import pytest
from conftest import ROOT

pytest.importorskip("sphinx", reason="Sphinx is not installed")
sys.path.insert(0, str(ROOT / "book" / "_ext"))

from all_again import version_of  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402
from sphinx.util.docutils import docutils_namespace  # noqa: E402


def pages_read(folder):
    said = io.StringIO()
    with docutils_namespace():
        out = folder / "out"
        Sphinx(folder, folder, out, out / ".doctrees", "dummy", status=said, warning=None).build()
    return "0 added, 0 changed" not in said.getvalue()


def test_pages_are_read_again_when_an_extension_changes(tmp_path, monkeypatch):
    extensions = tmp_path / "ext"
    extensions.mkdir()
    for name in ("all_again.py", "page_head.py"):
        code = (ROOT / "book" / "_ext" / name).read_text(encoding="utf8")
        (extensions / name).write_text(code, encoding="utf8")
    (tmp_path / "index.rst").write_text("Title\n=====\n", encoding="utf8")
    settings = "import sys\nsys.path.insert(0, 'ext')\nextensions = ['all_again']\n"
    (tmp_path / "conf.py").write_text(settings, encoding="utf8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(extensions), *sys.path])

    def built():
        monkeypatch.delitem(sys.modules, "all_again", raising=False)
        return pages_read(tmp_path)

    assert built() and not built()
    other = extensions / "page_head.py"
    other.write_text(other.read_text(encoding="utf8") + "# changed\n", encoding="utf8")
    assert built() and not built()


def test_a_file_more_is_a_change(tmp_path):
    numbers = [version_of(tmp_path)]
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("pass\n", encoding="utf8")
        numbers.append(version_of(tmp_path))
    (tmp_path / "b.py").rename(tmp_path / "c.py")
    numbers.append(version_of(tmp_path))
    assert len(set(numbers)) == 4 and min(numbers) > 0
