"""The assignments: right solutions of other styles pass, typical wrong ones fail."""

import importlib.util
import re

import assignments
import numpy as np
import pytest
from right_answers import RIGHT
from wrong_answers import WRONG

ALL = {a.name[:2]: a for a in assignments.all_assignments()}


def module(short):
    """A source file as a module: its solution and its tests."""
    path = assignments.SOURCES / f"{ALL[short].name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def failures(short, function):
    """Names of the tests that a student's function does not pass."""
    loaded, failed = module(short), []
    for name, _, _ in ALL[short].tests:
        try:
            with np.errstate(all="ignore"):
                getattr(loaded, name)(function)
        except Exception:
            failed.append(name)
    return failed


def test_there_are_eight_two_per_week():
    weeks = [re.search(r"\*Week (\d)\.", a.text)[1] for a in ALL.values()]
    assert sorted(ALL) == sorted(RIGHT) == sorted(WRONG) and len(ALL) == 8
    assert set(weeks) == set("1234")


@pytest.mark.parametrize("short", sorted(ALL))
def test_our_solution_passes(short):
    assert failures(short, getattr(module(short), ALL[short].function)) == []


@pytest.mark.parametrize("short, k", [(s, k) for s in RIGHT for k in range(len(RIGHT[s]))])
def test_other_right_solutions_pass(short, k):
    assert failures(short, RIGHT[short][k]) == []


@pytest.mark.parametrize("short, mistake", [(s, m) for s in WRONG for m in WRONG[s]])
def test_wrong_solutions_fail(short, mistake):
    assert failures(short, WRONG[short][mistake])


@pytest.mark.parametrize("short", sorted(ALL))
def test_every_test_is_needed_by_some_mistake(short):
    """A test that no mistake fails would be for nothing; the stub fails all of them."""
    found = {name for wrong in WRONG[short].values() for name in failures(short, wrong)}
    assert found == {name for name, _, _ in ALL[short].tests}


def test_students_see_no_solution(tmp_path):
    assignments.write(tmp_path, solved=False)
    for assignment in ALL.values():
        text = (tmp_path / f"{assignment.name}.ipynb").read_text("utf8")
        test = (tmp_path / "tests" / f"{assignment.name}.py").read_text("utf8")
        body = assignment.solution.splitlines()[-1].strip()
        assert "your turn" in text and body not in text + test
        assert "../../" not in text and "/setting.md" not in text
        namespace = {}
        exec(test, namespace)
        assert namespace["test"]["points"] == len(assignment.tests)


def test_the_file_for_otter_accepts_and_rejects(tmp_path):
    """Its doctests run in the standard library as otter runs them."""
    import doctest

    assignments.write(tmp_path, solved=True)
    for function, fails in ((RIGHT["a5"][1], False), (WRONG["a5"]["equally"], True)):
        space = {}
        exec((tmp_path / "tests" / f"{ALL['a5'].name}.py").read_text("utf8"), space)
        failed = 0
        for case in space["test"]["suites"][0]["cases"]:
            parsed = doctest.DocTestParser().get_doctest(
                case["code"], {"best_split": function}, "case", None, 0
            )
            runner = doctest.DocTestRunner(verbose=False)
            runner.run(parsed, out=lambda text: None)
            failed += bool(runner.failures)
        assert (failed > 0) == fails
