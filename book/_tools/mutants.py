"""Mutation testing: change one line of the module at a time and see whether a test notices.

    python book/_tools/mutants.py                         everything (hours)
    python book/_tools/mutants.py --only selection/bait   one module, or a folder of them
    python book/_tools/mutants.py --sample 200 --seed 1   so many mutants, drawn at random
    python book/_tools/mutants.py --report                what is known so far, without running

mutmut makes the changes, finds out which tests reach which function, and runs the quickest of these
for every mutant in a forked process, in ``_build/mutants``. A mutant that was caught is not tried
again before its function changes; a survivor without an explanation is, since there may be a new
test. Survivors that ``tests/survivors.txt`` does not explain are printed, with exit status 1.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import survivors

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "_build" / "mutants"
USERS_OF_COMMON = ("ftrl", "normalizer", "relaxation", "block_rows")
# Each folder with the tests that have to notice: its own, and where needed those of its users.
TESTS = {
    "model": ["tests/model", "tests/information", "tests/test_limits.py"],
    "information": ["tests/information", "tests/selection/test_wide.py"],
    "engine": ["tests/engine", "tests/test_streaming.py", "tests/test_limits.py"],
    "selection": ["tests/selection", "tests/test_limits.py"],
    "theory": ["tests/theory", "tests/test_limits.py"],
    "pipeline": ["tests/test_pipeline.py", "tests/test_streaming.py"],
    "picking": ["tests/test_pipeline.py", "tests/test_streaming.py"],
    "streaming": ["tests/test_streaming.py"],
    "placement": ["tests/test_placement.py", "tests/test_pipeline.py", "tests/test_streaming.py"],
    "common": ["tests/common", *(f"tests/selection/test_{name}.py" for name in USERS_OF_COMMON)],
}
# Clusters do not survive a fork, clocks no busy machine, and mutmut is seen in a traceback.
WITHOUT = ["--ignore=tests/engine/test_dask_home.py", "-k", "not ctrl_c and not all_points_tie"]
SECONDS = 20  # of tests per mutant, on an idle machine; all of them could take minutes


def settings(folder):
    """What mutmut is told about one folder of ``firal``, or about the module of that name."""
    return {
        "source_paths": ["firal"],
        "only_mutate": [f"firal/{folder}/*", f"firal/{folder}.py"],
        "do_not_mutate": ["*/__init__.py", "firal/engine/dask_home.py"],
        "also_copy": ["book/_tools", "book/_ext", "book/notebook_times.csv"],
        "pytest_add_cli_args": ["-p", "no:cacheprovider"],
        "pytest_add_cli_args_test_selection": [*TESTS[folder], *WITHOUT],
        "timeout_multiplier": 2.0,
        "timeout_constant": 5.0,
        "track_dependencies": False,
        "use_git_change_detection": False,
        "on_dependency_change": "ignore",
    }


def stage(folder, root=ROOT, work=WORK):
    """A place that looks to mutmut like the project: links, and settings of its own."""
    place = work / folder
    place.mkdir(parents=True, exist_ok=True)
    for name in ("firal", "tests", "book"):
        if not (place / name).exists():
            (place / name).symlink_to(root / name)
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings(folder).items()]
    text = "\n".join(["[tool.mutmut]", *lines, "", "[tool.pytest.ini_options]", ""])
    (place / "pyproject.toml").write_text(text)
    # mutmut numbers the mutants of a function: with other rules, other numbers
    rules = Path(__file__).with_name("mutant_rules.py").read_text(encoding="utf8")
    if not (place / "rules.txt").exists() or (place / "rules.txt").read_text() != rules:
        shutil.rmtree(place / "mutants", ignore_errors=True)
        (place / "rules.txt").write_text(rules)
    return place


def generate():
    """Write all mutants; {name: exit code of its tests, None before they ran} per file."""
    from mutmut import __main__ as mutmut

    with mutmut.CatchOutput(spinner_title="Generating mutants"):
        mutmut.copy_src_dir()
        mutmut.copy_also_copy_files()
        mutmut.create_mutants(1)
    return stored()


def stored():
    """{name of a mutant: (path of its file, exit code)} as far as mutants were written."""
    found = {}
    for meta in sorted(Path("mutants").rglob("*.meta")):
        path = meta.relative_to("mutants").with_suffix("")
        for name, code in json.loads(meta.read_text())["exit_code_by_key"].items():
            found[name] = (path, code)
    return found


def chosen(names, only, sample=None, seed=0):
    """The mutants of some modules or folders, and of these a sample."""
    modules = tuple(f"firal.{m.removesuffix('.py').replace('/', '.')}." for m in only)
    for module in modules:
        if not any(n.startswith(module) for n in names):
            raise SystemExit(f"error: no mutants in {module[:-1]}")
    names = [n for n in names if n.startswith(modules)]
    names = sorted(names)
    if sample is not None and sample < len(names):
        names = sorted(random.Random(seed).sample(names, sample))
    return names


def describe(name, path):
    """The change behind a name."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    # x_function__mutmut_1 or xǁClassǁmethod__mutmut_1
    function = name.rpartition(".")[2].rpartition("__mutmut_")[0][2:].replace("ǁ", ".")
    file = str(Path(path).relative_to("firal"))
    return survivors.from_diff(file, function, get_diff_for_mutant(name, path=path))


def in_order(tests, name, durations):
    """Tests for a mutant, as many as ``SECONDS`` allow: quick ones and the module's own first."""
    own = f"/test_{name.split('.')[-2]}.py::"
    # a slow test of its own must not keep all others from being run
    tests = sorted(tests, key=lambda test: durations.get(test, 0.0) * (0.2 if own in test else 1))
    total = itertools.accumulate(durations.get(test, 0.0) for test in tests)
    return [test for test, seconds in zip(tests, total, strict=True) if seconds <= SECONDS] or tests


def quick_tests_first():
    """mutmut itself runs all tests of a mutant in any order, up to the first failure."""
    from mutmut.runners.harness import PytestRunner
    from mutmut.state import state

    run = PytestRunner.run_tests

    def run_some(self, *, mutant_name, tests):
        if mutant_name:
            tests = in_order(tests, mutant_name, state().duration_by_test)
        return run(self, mutant_name=mutant_name, tests=tests)

    PytestRunner.run_tests = run_some


def patience(factor=20):
    """A loop without end uses up its processor time; a busy machine only takes long."""
    from mutmut.workers import isolation

    wait = isolation.register_timeout
    isolation.register_timeout = lambda pid, timeout_s: wait(pid, factor * timeout_s)


def report(names, explanations):
    """Print survivors without explanation and the table; returns how many survivors there are."""
    from mutmut.stats import status_by_exit_code

    found, results, left = stored(), {}, []
    for name in names:
        path, code = found[name]
        status = status_by_exit_code[code]
        if status == "not checked":
            continue
        explained = False
        if status not in survivors.CAUGHT:
            mutant = describe(name, path)
            explained = mutant in explanations
            if not explained:
                left.append((name, status, mutant))
        results[name] = (str(Path(path).relative_to("firal")), status, explained)
    for name, status, mutant in left:
        print(f"\n# {status}: {name}\n{mutant}")
    lines = survivors.table(results)
    Path("table.txt").write_text("\n".join(lines) + "\n")
    print("", *lines, sep="\n")
    if len(results) < len(names):
        print(f"# {len(names) - len(results)} mutants were not tried")
    return len(left)


def one_folder(folder, options):
    """Try the mutants of one folder; how many survivors have no explanation."""
    os.chdir(stage(folder))  # mutmut reads its settings here, when it is imported
    explanations = survivors.read((ROOT / survivors.FILE).read_text(encoding="utf8"))
    import mutant_rules
    from mutmut import __main__ as mutmut
    from mutmut.stats import status_by_exit_code

    mutant_rules.install()
    quick_tests_first()
    patience()
    found = stored() if options.report else generate()
    names = chosen(found, options.only, options.sample, options.seed)
    to_try = []
    for name in names:
        path, code = found[name]
        if status_by_exit_code[code] in survivors.CAUGHT:
            continue
        if code is None or describe(name, path) not in explanations:
            to_try.append(name)
    if to_try and not options.report:
        print(f"{len(to_try)} of {len(names)} mutants to try")
        try:
            mutmut._run(to_try, options.jobs)
        except SystemExit as stop:
            if stop.code:
                raise
    return report(names, explanations)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="*", help="modules below firal, such as selection/bait")
    parser.add_argument("--sample", type=int, help="so many mutants of a folder, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    parser.add_argument("--report", action="store_true", help="only print what is known")
    options = parser.parse_args()
    options.only = options.only or list(TESTS)
    folders = {module.partition("/")[0].removesuffix(".py") for module in options.only}
    if not folders <= set(TESTS):
        parser.error(f"--only: expected {', '.join(TESTS)}, or modules below these")
    if len(folders) == 1:
        return 1 if one_folder(*folders, options) else 0
    # mutmut keeps what it knows in globals: a process for every folder
    begin = [word for word in sys.argv if word != "--only" and word not in options.only]
    codes = [
        subprocess.call([sys.executable, *begin, "--only", *parts])
        for folder in TESTS
        if (parts := [m for m in options.only if m.startswith(folder)])
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
