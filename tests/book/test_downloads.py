"""What the built book carries: notebooks that run alone, packages, records, doors."""

import filecmp
import json
import os
import re
import sys
import tarfile
import tomllib
import zipfile

import address
import claims_record
import downloads
import jsonschema
import lite
import pytest
import yaml
from conftest import ROOT
from downloads_in_book import doors
from packaging.requirements import Requirement

from firal.companion import alone, checkout, profiles

sys.path.insert(0, str(ROOT / "book" / "_backend"))
SCHEMA = json.loads((ROOT / "book" / "claims.schema.json").read_text(encoding="utf8"))
URL = "https://github.com/Someone/firal"


@pytest.fixture(scope="module")
def backend():
    try:
        import build_backend
    except ImportError:
        pytest.skip("this setuptools has no build backend")
    return build_backend


def code(notebook):
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


@pytest.fixture(scope="module")
def texts():
    return downloads.notebooks_alone(url=URL)


def test_every_notebook_gets_one_cell_in_front_and_no_other_change(texts):
    stored = {p.name: json.loads(p.read_text("utf8")) for p in ROOT.glob("notebooks/*.ipynb")}
    assert sorted(texts) == sorted(stored)
    for name, text in texts.items():
        first, *others = code(json.loads(text))
        assert others == code(stored[name])
        assert f'"firal[notebook] @ git+{URL}"' in first and first.endswith("alone.prepare()")


def test_without_an_address_the_name_is_installed_and_links_are_words():
    link = "See [the *text*](../book/setting.md#idea) and [t02](t02_x.ipynb)."
    cells = [
        {"cell_type": "markdown", "source": [link], "metadata": {}},
        {"cell_type": "code", "source": ["1"], "metadata": {}},
    ]
    plain = downloads.alone({"cells": cells})["cells"]
    assert plain[0]["source"] == ["See the *text* and [t02](t02_x.ipynb)."]
    assert '"firal[notebook]"' in "".join(plain[1]["source"])
    linked = downloads.alone({"cells": cells}, URL)["cells"][0]["source"][0]
    assert "(https://someone.github.io/firal/book/setting.html#idea)" in linked


def test_the_zip_is_the_same_twice(tmp_path):
    for name in "ab":
        downloads.write_archive(tmp_path / name, {"x.ipynb": "{}"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert "firal-notebooks/x.ipynb" in zipfile.ZipFile(tmp_path / "a").namelist()


def test_what_notebooks_read_is_collected(backend, tmp_path):
    backend.collect(files=tmp_path)
    for items in profiles.INPUTS.values():
        for item in items:
            if "/" in item:
                assert filecmp.cmp(tmp_path / item, ROOT / item, shallow=False)
            else:
                (copy,) = (tmp_path / "notebooks").glob(f"{item}_*.ipynb")
                mime = backend.TABLE
                original = checkout.displayed(ROOT / "notebooks" / copy.name, mime)
                assert original and checkout.displayed(copy, mime) == original
                assert copy.stat().st_size < 20_000


def test_packages_hold_the_module_and_nothing_half(tmp_path, monkeypatch):
    """Also built by Python 3.11.0 to 3.11.3, whose tarfile has no filters."""
    monkeypatch.delattr(tarfile, "data_filter")
    downloads.build_packages(tmp_path)
    wheel = set(zipfile.ZipFile(tmp_path / downloads.WHEEL).namelist())
    with tarfile.open(tmp_path / downloads.SDIST) as archive:
        source = {name.partition("/")[2] for name in archive.getnames()}
    module = {p.relative_to(ROOT).as_posix() for p in ROOT.glob("firal/**/*.py")}
    files = {"firal/companion/alone/files/book/claims.yml", "firal/py.typed"}
    assert module | files <= wheel and module | files <= source
    folders = {name.split("/")[0] for name in source if "/" in name}
    assert folders == {"firal", "firal.egg-info", "book"}
    assert {name for name in source if name.endswith(".py")} == module | {
        "book/_backend/build_backend.py"
    }
    assert not (ROOT / "MANIFEST.in").exists()


def relative_links(text):
    return [to for to in re.findall(r"\]\(([^()\s]+)\)", text) if not re.match(r"[a-z]+:|#", to)]


def members(archive):
    """{path inside the source archive: text}."""
    with tarfile.open(archive) as opened:
        files = [member for member in opened.getmembers() if member.isfile()]
        return {m.name.partition("/")[2]: opened.extractfile(m).read() for m in files}


def test_with_an_address_the_packages_show_it(tmp_path):
    """What PyPI shows: pictures and files at the tag, and where the sources are."""
    downloads.build_packages(tmp_path / "plain")
    downloads.build_packages(tmp_path / "set", URL)
    before, after = (members(tmp_path / f / downloads.SDIST) for f in ("plain", "set"))
    assert before.keys() == after.keys()
    changed = {name for name in before if before[name] != after[name]}
    changed.discard("firal.egg-info/SOURCES.txt")  # setuptools lists its own setup.cfg
    assert changed == {"PKG-INFO", "README.md", "pyproject.toml", "firal.egg-info/PKG-INFO"}
    wheel = zipfile.ZipFile(tmp_path / "set" / downloads.WHEEL)
    (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    for text in (after["PKG-INFO"].decode(), wheel.read(name).decode()):
        assert relative_links(before["PKG-INFO"].decode()) and not relative_links(text)
        at = f"{URL}/raw/v{downloads.VERSION}/book/_static/all_pools.png"
        assert f"]({at})" in text and f"Project-URL: Source, {URL}\n" in text
        assert "Project-URL: Documentation, https://someone.github.io/firal\n" in text
    assert (ROOT / "README.md").read_bytes() == before["README.md"]
    for to in relative_links((ROOT / "README.md").read_text("utf8")):
        assert (ROOT / to).is_file(), to


def test_only_links_of_the_repository_change():
    text = "![a](b/c.png) [d](e.md#f) [g](https://h) [i](#j) [k](mailto:l) `[m]`(n o)"
    found = address.absolute(text, URL, "1")
    rest = "[g](https://h) [i](#j) [k](mailto:l) `[m]`(n o)"
    assert found == f"![a]({URL}/raw/v1/b/c.png) [d]({URL}/blob/v1/e.md#f) {rest}"


def test_a_notebook_alone_finds_its_files(backend, tmp_path, monkeypatch):
    backend.collect(files=tmp_path / "files")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(ValueError, match="was not found"):
        checkout.root()
    folder = alone.prepare(tmp_path / "files")
    assert folder == tmp_path / "empty" / alone.FOLDER == checkout.root()
    own = folder / "benchmarks" / "cost.csv"
    own.write_text("mine")
    os.chdir(tmp_path / "empty")
    alone.prepare(tmp_path / "files")
    assert own.read_text() == "mine"


def test_alone_says_what_is_missing_and_leaves_a_checkout_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="install the wheel"):
        alone.prepare(tmp_path / "nothing")
    monkeypatch.chdir(ROOT / "notebooks")
    assert alone.prepare(tmp_path / "nothing") is None


def test_doors_follow_the_address():
    assert "colab" not in doors("t01_x", "", "main") and "download=" in doors("t01_x", "", "main")
    html = doors("t01_x", URL, "main")
    assert "colab.research.google.com/github/Someone/firal/blob/alone/notebooks/t01_x.ipynb" in html
    assert "mybinder.org/v2/gh/Someone/firal/main?urlpath=lab/tree/notebooks/t01_x.ipynb" in html
    assert "make lab NB=t01" in html


def test_claims_json_follows_its_schema():
    record = claims_record.claims_record(ROOT)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    validator.validate(record)
    paper = [c for c in record["claims"] if c["of"] == "the paper"]
    assert sum(record["totals_of_the_paper"].values()) == len(paper)
    assert any(check["control"] for claim in paper for check in claim["checks"])
    record["claims"][0]["verdict"] = "certainly"
    assert not validator.is_valid(record)


def test_metadata_files_agree():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf8"))
    meta = claims_record.codemeta(ROOT)
    assert zenodo["title"] == meta["name"] == citation["title"]
    assert zenodo["keywords"] == meta["keywords"] == citation["keywords"]
    assert zenodo["license"] == citation["license"] and citation["license"] in meta["license"]
    assert meta["version"] == downloads.VERSION
    assert [c["name"] for c in zenodo["creators"]] == [a["name"] for a in citation["authors"]]


def test_the_lock_file_has_every_pin_with_hashes():
    def name(line):
        return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", line)[0]).lower()

    pins = (ROOT / "requirements.txt").read_text(encoding="utf8")
    lock = (ROOT / "book" / "requirements.lock").read_text(encoding="utf8")
    entries = re.split(r"\n(?=[\w-]+[\w.-]*==)", lock)[1:]
    locked = {name(e): re.search(r"==([^\s;]+)", e)[1] for e in entries}
    assert all("--hash=sha256:" in entry for entry in entries)
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)", pins, re.M))
    pinned = {name(pin): version for pin, version in pinned.items()}
    for pin, version in pinned.items():
        assert locked[pin] == version, f"{pin}: make lock"
    other = {name(e) for e in entries if "implementation_name" in e.splitlines()[0]}  # PyPy
    assert locked.keys() - other == pinned.keys(), "requirements.txt must name all that is locked"


def test_the_browser_installs_what_its_notebooks_import():
    """Besides firal and what it needs only what the first cell names, or stands in for."""
    line = re.search(r"%pip install -q (.+)", lite.FIRST_CELL)[1].split()
    there = {*line, "numpy", "scipy", "sklearn", "joblib", "IPython", "myst_nb"}
    notebooks = lite.contents()
    assert [name.split("_")[0] for name in notebooks] == sorted(lite.NOTEBOOKS)
    for name, notebook in notebooks.items():
        first, parameters, *others = code(notebook)
        assert first == lite.FIRST_CELL and 'PROFILE = "smoke"' in parameters
        imported = re.findall(r"^(?:import|from) (\w+)", "\n".join(others), re.M)
        assert set(imported) - sys.stdlib_module_names <= there, name
        assert not any(cell.get("outputs") for cell in notebook["cells"])


def test_the_browser_has_versions_that_suffice():
    """Those of the Pyodide that the pinned kernel loads, against what the package asks for."""
    pyodide = (ROOT / "book" / "requirements-pyodide.txt").read_text(encoding="utf8")
    kernel = re.search(r"jupyterlite-pyodide-kernel (\S+) loads", pyodide)[1]
    lite_pins = (ROOT / "book" / "requirements-lite.txt").read_text(encoding="utf8")
    assert f"jupyterlite-pyodide-kernel=={kernel}\n" in lite_pins, "look up its Pyodide"
    versions = dict(re.findall(r"^([\w-]+)==(\S+)$", pyodide, re.M))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    installed = re.search(r"%pip install -q firal (.+)", lite.FIRST_CELL)[1].split()
    extra = list(map(Requirement, project["optional-dependencies"]["notebook"]))
    asked = [*map(Requirement, project["dependencies"]), *(r for r in extra if r.name in installed)]
    assert len(asked) == len(project["dependencies"]) + len(installed)
    for requirement in asked:
        assert requirement.specifier.contains(versions[requirement.name]), requirement
