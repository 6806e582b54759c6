"""The workflows and the other files for services far away, as far as they can be checked here."""

import re
import subprocess

import pytest
import yaml
from conftest import ROOT

WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf8"))
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf8")
TARGETS = {
    name for line in re.findall(r"^([a-z ]+):(?!=)", MAKEFILE, re.M) for name in line.split()
}


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("name", sorted(WORKFLOWS))
def test_every_command_exists(name):
    """Targets of make, scripts and files that the steps name."""
    commands = "\n".join(step.get("run", "") for step in steps(WORKFLOWS[name]))
    commands += (ROOT / ".readthedocs.yaml").read_text(encoding="utf8")
    called = re.findall(r"\bmake ([a-z]+)", commands)
    assert called and set(called) <= TARGETS
    for file in re.findall(r"(?:\.github/\w+\.sh|book/requirements[\w.-]*)", commands):
        assert (ROOT / file).is_file(), file


@pytest.mark.parametrize("name", sorted(WORKFLOWS))
def test_rights_are_given_job_by_job(name):
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert "permissions" in job and job["timeout-minutes"] <= 180
    for step in steps(workflow):
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] is False
        assert "${{" not in step.get("run", ""), "give it to the script as an environment variable"


def test_the_python_versions_are_those_of_the_package():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf8")
    stated = re.findall(r"Python :: (3\.\d+)", text)
    for job in ("everything", "module"):
        assert WORKFLOWS["tests"]["jobs"][job]["strategy"]["matrix"]["python"] == stated


def test_there_is_one_address():
    """No workflow, badge or configuration names a repository: all take that of _config.yml."""
    files = [*ROOT.glob(".github/**/*"), *ROOT.glob(".binder/*"), ROOT / ".readthedocs.yaml"]
    for path in [*files, ROOT / "pyproject.toml", ROOT / "CITATION.cff"]:
        if path.is_file():
            text = path.read_text(encoding="utf8")
            assert not re.search(r"github\.com/(?!\$)[\w-]+/[\w-]+", text), path.name


def test_binder_finds_what_it_installs():
    """What repo2docker reads: a Python that we test, and files that are there."""
    folder = ROOT / ".binder"
    version = (folder / "runtime.txt").read_text().strip().removeprefix("python-")
    assert version in WORKFLOWS["tests"]["jobs"]["everything"]["strategy"]["matrix"]["python"]
    for line in (folder / "requirements.txt").read_text().split("-r ")[1:]:
        assert (folder / line.strip()).is_file()
    post = folder / "postBuild"
    assert post.stat().st_mode & 0o111 and post.read_text().startswith("#!")


def test_the_report_about_links_is_where_they_are_followed():
    """Jupyter Book's own builder of that name writes among the pages; a custom one does not."""
    assert "jupyter-book build . --builder custom --custom-builder linkcheck\n" in MAKEFILE
    (report,) = (s for s in WORKFLOWS["weekly"]["jobs"]["links"]["steps"] if "env" in s)
    assert report["env"]["REPORT"] == "_build/linkcheck/output.txt"


def test_what_runs_before_a_commit_would_pass():
    """The job ``pre-commit`` fails on texts that do not end with one newline."""
    run = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT)
    files = [ROOT / name for name in run.stdout.splitlines()]
    assert len(files) > 400
    bad = []
    for path in files:
        content = path.read_bytes()
        text = b"\0" not in content[:8000] and path.suffix not in (".svg", ".json", ".ipynb")
        if text and content and (not content.endswith(b"\n") or content.endswith(b"\n\n")):
            bad.append(path.name)
    assert bad == []
