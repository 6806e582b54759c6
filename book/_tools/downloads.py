"""What the built book carries: wheel, source archive, and notebooks that run alone.

    python book/_tools/downloads.py FOLDER
    python book/_tools/downloads.py --packages FOLDER    only wheel and source archive

A notebook that runs alone is the committed one with one more cell in front. It installs firal where
that is missing, and lays out the files that the notebook reads (``firal.companion.alone``). Links
to pages of the book lead to the published ones, or become plain words as long as there are none.
"""

import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import address
import yaml

# The checkout, also from a copy of the book below _build (profiles, editions).
ROOT = next(f for f in Path(__file__).resolve().parents if (f / "pyproject.toml").is_file())
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "firal/__init__.py").read_text("utf8"))[1]
WHEEL, SDIST = f"firal-{VERSION}-py3-none-any.whl", f"firal-{VERSION}.tar.gz"
ARCHIVE = f"firal-{VERSION}-notebooks.zip"
BACKEND = "import sys; sys.path.insert(0, 'book/_backend'); import build_backend as b; "
BOOK_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((\.\./book/[\w/]+)\.md(#[\w-]+)?\)")
FIRST_CELL = """\
# Downloaded alone, or on Colab: install what is missing, lay out the files that it reads.
import importlib.util

if importlib.util.find_spec("firal") is None:
    %pip install -q "{what}"
from firal.companion import alone

alone.prepare()"""
README = """\
The notebooks of the book "FIRAL, re-derived and checked".

    pip install "firal[notebook]" jupyterlab
    jupyter lab

Each one runs alone: its first cell lays out the files that it reads. For seconds instead of
minutes, set PROFILE = "smoke" in the second code cell. The few notebooks that need a prepared data
set say so at their top, and keep their stored outputs without it.
"""


def repository(root=ROOT):
    """The one address: ``repository.url`` of ``_config.yml``, or an empty text."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf8"))
    return (config["repository"]["url"] or "").rstrip("/")


def published(url):
    """Where GitHub Pages puts the book of a repository; empty for other hosts."""
    match = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+)", url)
    return f"https://{match[1].lower()}.github.io/{match[2]}" if match else ""


def first_cell(url=""):
    what = f"firal[notebook] @ git+{url}" if url else "firal[notebook]"
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": "run-alone",
        "metadata": {},
        "outputs": [],
        "source": FIRST_CELL.format(what=what).splitlines(keepends=True),
    }


def alone(notebook, url=""):
    """A copy of a stored notebook that runs without the repository."""
    site = published(url)
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            to = rf"[\1]({site}\2.html\3)" if site else r"\1"
            text = BOOK_LINK.sub(to, text).replace(f"{site}../book/", f"{site}/book/")
            cell = {**cell, "source": text.splitlines(keepends=True)}
        cells.append(cell)
    k = next(i for i, cell in enumerate(cells) if cell["cell_type"] == "code")
    return {**notebook, "cells": [*cells[:k], first_cell(url), *cells[k:]]}


def notebooks_alone(source=ROOT / "notebooks", url=""):
    """{file name: text} of all notebooks, ready to be downloaded."""
    return {
        path.name: json.dumps(alone(json.loads(path.read_text("utf8")), url), ensure_ascii=False)
        for path in sorted(Path(source).glob("*.ipynb"))
    }


def write_archive(target, texts):
    """The zip of all notebooks, the same bytes for the same notebooks."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {"README.txt": README, **texts}.items():
            archive.writestr(zipfile.ZipInfo(f"firal-notebooks/{name}"), text, zipfile.ZIP_DEFLATED)


def build_packages(target, url=""):
    """Source archive, and the wheel from that: nothing of an old build can slip in."""
    target.mkdir(parents=True, exist_ok=True)
    _backend(f"b.build_sdist({str(target)!r})", ROOT)
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(target / SDIST) as archive:
            # Python 3.11.0 to 3.11.3 have no filters
            archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
            archive.extractall(scratch)
        tree = Path(scratch) / f"firal-{VERSION}"
        if url:
            address.put_in(tree, url, VERSION, published(url))
            _backend(f"b.build_sdist({str(target)!r})", tree)
        _backend(f"b.build_wheel({str(target)!r})", tree)


def _backend(call, folder):
    run = subprocess.run(
        [sys.executable, "-c", BACKEND + call], cwd=folder, capture_output=True, text=True
    )
    if run.returncode:
        raise RuntimeError(f"the package did not build:\n{run.stdout}{run.stderr}")


def packages_are_current(target):
    """Whether wheel and source archive are younger than everything that they are made from."""
    made = [target / WHEEL, target / SDIST]
    if not all(path.is_file() for path in made):
        return False
    sources = [
        *(p for p in (ROOT / "firal").rglob("*") if "files" not in p.parts and p.suffix != ".pyc"),
        *(ROOT / "notebooks" / "data").iterdir(),
        *(ROOT / name for name in ("pyproject.toml", "README.md", "LICENSE", "book/claims.yml")),
        ROOT / "_config.yml",
    ]
    newest = max(p.stat().st_mtime for p in sources if p.is_file())
    return newest < min(p.stat().st_mtime for p in made)


def write(target, source=ROOT / "notebooks", url=""):
    """Fill a folder with wheel, source archive and the zip; returns the notebooks' texts."""
    target = Path(target).resolve()
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("firal-*"):
        if old.name not in (WHEEL, SDIST):
            old.unlink()
    if not packages_are_current(target):
        build_packages(target, url)
    texts = notebooks_alone(source, url)
    write_archive(target / ARCHIVE, texts)
    return texts


def main():
    *options, folder = sys.argv[1:]
    if options == ["--packages"]:
        return build_packages(Path(folder).resolve(), repository())
    texts = write(folder, url=repository())
    (Path(folder) / "notebooks").mkdir(exist_ok=True)
    for name, text in texts.items():
        (Path(folder) / "notebooks" / name).write_text(text, encoding="utf8")


if __name__ == "__main__":
    main()
