"""Execute notebooks with papermill, two at a time, and store them clean.

    python book/_tools/run_notebooks.py                       the stale ones, in place
    python book/_tools/run_notebooks.py --nb t01 --force      one of them, anew
    python book/_tools/run_notebooks.py --profile smoke --out _build/smoke/notebooks
    python book/_tools/run_notebooks.py --nb t01 --out _build/mine -p SEED 7

A notebook is replaced only after it ran to its end. So a failure or Ctrl-C never damages a stored
notebook, and what is finished stays finished. Notebooks whose data are absent, or that take hours
and are not named, are left out with the reason (``needs.py``).
"""

import argparse
import os
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import nbformat
import papermill
import yaml
from currency import KEY, ROOT, is_current, stamp
from needs import cost, is_named, missing_data, stored_profile
from papermill.exceptions import PapermillExecutionError
from tqdm import tqdm

from firal.companion import profiles

# One BLAS thread per kernel: reproducible sums, and two kernels do not fight for two cores.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "JUPYTER_PREFER_ENV_PATH": "1",
}


def clean(notebook):
    """Drop what changes from run to run or from machine to machine: timings, versions."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata.pop("widgets", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    for cell in notebook.cells:
        for key in ("papermill", "execution", "collapsed"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs = merge_streams(cell.outputs)
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = "injected-parameters"
    return notebook


def merge_streams(outputs):
    """Printed text arrives in pieces that depend on timing: join neighbors of the same stream."""
    merged = []
    for output in outputs:
        last = merged[-1] if merged else {}
        if output.output_type == "stream" and last.get("name") == output.name:
            last["text"] += output.text
        else:
            merged.append(output)
    return merged


def execute(source, target, profile, parameters):
    """Run one notebook at a profile (None: the stored one); returns the seconds it took."""
    start = time.perf_counter()
    stored = stored_profile(source.stem)  # what the notebook's own parameters cell says
    if profile not in (None, stored):
        parameters = {"PROFILE": profile, **parameters}
    # Without parameters papermill injects no cell: the committed notebooks are run this way.
    notebook = papermill.execute_notebook(
        str(source),
        None,
        parameters=parameters,
        cwd=str(source.parent),
        kernel_name="python3",
        progress_bar=False,
        record_timing=False,
        extra_arguments=["--log-level=CRITICAL"],  # no remarks of the kernel in the progress bar
    )
    clean(notebook)
    notebook.metadata.pop(KEY, None)  # the stamp of the stored outputs is not that of these
    if not parameters:
        stamp(notebook, source.stem, stored)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_suffix(".tmp")
    nbformat.write(notebook, scratch)
    os.replace(scratch, target)
    return time.perf_counter() - start


def choose(patterns, folder=ROOT / "notebooks"):
    """Notebooks whose names start with one of the patterns; all of them without a pattern."""
    notebooks = sorted(folder.glob("*.ipynb"))
    chosen = [n for n in notebooks if not patterns or n.stem.startswith(tuple(patterns))]
    for pattern in patterns:
        if not any(n.stem.startswith(pattern) for n in notebooks):
            known = ", ".join(n.stem for n in notebooks)
            raise ValueError(f"no notebook starts with {pattern!r}: there are {known}")
    return chosen


def check_parameters(notebooks, parameters):
    """papermill takes unknown parameters silently; refuse them before anything runs."""
    for notebook in notebooks:
        known = set(papermill.inspect_notebook(str(notebook)))
        unknown = sorted(set(parameters) - known)
        if unknown:
            raise ValueError(
                f"{notebook.stem} has no parameter {', '.join(unknown)}: "
                f"it has {', '.join(sorted(known))}"
            )


def plain(error):
    """What went wrong, in one or a few lines, without colour codes."""
    text = str(error)
    if isinstance(error, PapermillExecutionError):
        text = f"cell {error.exec_count}: {error.ename}: {error.evalue}"
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def run_all(notebooks, *, profile, out=None, parameters=None, jobs=2):
    """Execute the notebooks at a profile, or each at its stored one if that is None.

    Shows progress, returns {name: error} of those that failed.
    """
    os.environ.update(ENVIRONMENT)
    failed = {}
    title = "stored profiles" if profile is None else f"profile {profile}"
    with (
        tqdm(total=len(notebooks), unit="notebook", desc=title) as bar,
        ProcessPoolExecutor(jobs) as pool,
    ):
        running = {
            pool.submit(execute, n, (out or n.parent) / n.name, profile, parameters or {}): n.stem
            for n in notebooks
        }
        try:
            for future in as_completed(running):
                name = running[future]
                try:
                    bar.write(f"  {name}: {future.result():.1f} s")
                except Exception as error:
                    failed[name] = plain(error)
                    bar.write(f"  {name}: FAILED, {failed[name]}")
                bar.update()
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return failed


def able_to_run(notebooks):
    """Those whose data are there; says which are left out, and why."""
    missing = {n: missing_data(n) for n in notebooks}
    for notebook, reason in missing.items():
        if reason:
            print(f"  {notebook.stem}: left out, {reason}")
    return [n for n in notebooks if not missing[n]]


def to_refresh(notebooks, patterns, force=False):
    """Stale notebooks to execute in place; says which stale ones keep their outputs, and why."""
    chosen = []
    for notebook in notebooks:
        if not force and is_current(notebook, stored_profile(notebook)):
            continue
        reason = missing_data(notebook)
        if not is_named(notebook, patterns):
            reason = cost(notebook) or reason
        if reason:
            print(f"  {notebook.stem}: not current, keeps its stored outputs: {reason}")
        else:
            chosen.append(notebook)
    return chosen


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nb", nargs="*", default=[], help="names, or how they start: t01 e02")
    parser.add_argument("--profile", help="smoke, book or paper (default: as stored)")
    parser.add_argument("--out", type=Path, help="folder for the results (default: in place)")
    parser.add_argument("--force", action="store_true", help="run also what is current")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), dest="parameters"
    )
    return parser.parse_args()


def main():
    options = arguments()
    parameters = {name: yaml.safe_load(value) for name, value in options.parameters}
    try:
        if options.profile is not None:
            profiles.check_profile(options.profile)
        notebooks = choose(options.nb)
        check_parameters(notebooks, parameters)
        if options.out is None and (options.profile is not None or parameters):
            raise ValueError("--profile and -p are not for the stored notebooks: give --out")
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    out = options.out.resolve() if options.out else None
    if out is None:
        chosen = to_refresh(notebooks, options.nb, options.force)
    else:
        chosen = able_to_run(notebooks)
    if not chosen:
        print("nothing to execute" + (": all that can run is current" if out is None else ""))
        return 0
    try:
        failed = run_all(
            chosen, profile=options.profile, out=out, parameters=parameters, jobs=options.jobs
        )
    except KeyboardInterrupt:
        print("interrupted: what had finished is kept, the next run goes on from there")
        return 130
    if failed:
        print(f"{len(failed)} of {len(chosen)} notebooks failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
