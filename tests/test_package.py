"""The package: what it exports, what it needs, what it says about itself."""

import pkgutil
import re
import subprocess
import sys
import tomllib

import badges
import pytest
import readme_picture
import yaml
from conftest import ROOT

import firal

BOOK_ONLY = "matplotlib pandas yaml papermill nbformat IPython jupyter_book sphinx pytest".split()


def test_the_module_needs_none_of_the_books_packages():
    code = f"import sys, firal; print(sorted(set({BOOK_ONLY!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout.strip() == "[]", run.stdout + run.stderr


def test_public_names_exist():
    for name in firal.__all__:
        assert getattr(firal, name).__doc__ or name.isupper(), name


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    assert citation["version"] == firal.__version__


def test_every_package_is_shipped_and_typed():
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["tool"][
        "setuptools"
    ]
    folders = [init.parent for init in ROOT.glob("firal/**/__init__.py")]
    names = [folder.relative_to(ROOT).as_posix().replace("/", ".") for folder in folders]
    assert sorted(setup["packages"]) == sorted(names)
    assert "py.typed" in setup["package-data"]["firal"] and (ROOT / "firal/py.typed").is_file()


def test_the_changelog_begins_with_this_version_and_names_what_exists():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    versions = re.findall(r"^## \[(.+)\]", text, re.M)
    assert versions[0] in (firal.__version__, "Unreleased")
    rows = re.findall(r"^\| (`firal.*) \| (.*`firal.*) \|$", text, re.M)
    assert len(rows) > 30
    for name in re.findall(r"`(firal[\w.]*)`", " ".join(now for _, now in rows)):
        pkgutil.resolve_name(name)


PIN = r'[\w.-]+==[\w.]+( ; (python_version|sys_platform) == "[\w.]+")?'


def test_requirements_are_pinned_exactly():
    for name in (
        "requirements.txt",
        *(f"book/requirements-{n}.txt" for n in ("data", "lab", "lite")),
    ):
        lines = (ROOT / name).read_text(encoding="utf8").splitlines()
        pins = [line for line in lines if line and not line.startswith("#")]
        assert pins and all(re.fullmatch(PIN, pin) for pin in pins)


def test_the_two_commands_are_on_the_first_screen_of_the_readme():
    first = "\n".join((ROOT / "README.md").read_text(encoding="utf8").splitlines()[:40])
    assert "make book" in first and "make test" in first


@pytest.mark.parametrize("name", readme_picture.PICTURES)
def test_the_pictures_are_those_of_the_notebooks(name):
    # a plain comparison of pictures that differ keeps pytest busy with the difference for an hour
    same = readme_picture.target(name).read_bytes() == readme_picture.drawn(name)
    assert same, "run: python book/_tools/readme_picture.py"


def test_the_readme_shows_the_pools():
    file = readme_picture.target("all_pools.png").relative_to(ROOT).as_posix()
    assert f"]({file})" in (ROOT / "README.md").read_text(encoding="utf8")


def test_the_badges_of_the_readme_are_true():
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    for name, picture in badges.badges().items():
        file = badges.FOLDER / f"{name}.svg"
        assert file.read_text(encoding="utf8") == picture, "run: python book/_tools/badges.py"
        assert f"({file.relative_to(ROOT).as_posix()})" in readme
    assert "shields.io" not in readme


def test_the_example_of_the_readme_runs():
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    short, example = re.findall(r"```python\n(.*?)```", readme, re.S)
    namespace = {}
    exec(example, namespace)
    three_lines = {name: namespace[name] for name in ("X", "labels")}
    exec(short, three_lines)
    assert len(three_lines["batch"].rows) == 10
    assert len(namespace["labels"]) == 30
    batch = namespace["batch"]
    assert batch.strategy == "firal-ridge" and batch.theta is not None
    assert batch.selection.ratio >= 1 and batch.selection.relaxation.gap > 0
    assert batch.selection.lambda_min > 0  # what the text says of it


def test_tracked_files_name_no_machine():
    run = subprocess.run(
        ["git", "grep", "-nIE", r"/(work|root|farm|home)/[a-z.]", "--", ".", ":!tests"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert run.stdout == ""
