"""Execute notebooks with papermill, two at a time, and store them clean.

    python book/_tools/run_notebooks.py                       the stale ones, in place
    python book/_tools/run_notebooks.py --nb t01 --force      one of them, anew
    python book/_tools/run_notebooks.py --profile smoke --out _build/smoke/notebooks
    python book/_tools/run_notebooks.py --nb t01 --out _build/mine -p SEED 7

A notebook is replaced only after it ran to its end. So a failure or Ctrl-C never damages a stored
notebook, and what is finished stays finished.
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
from currency import ROOT, is_current, stamp
from papermill.exceptions import PapermillExecutionError
from tqdm import tqdm

from firal import profiles

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
    """Run one notebook and store it; returns the seconds it took."""
    start = time.perf_counter()
    if profile != "book":
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
    if not parameters:
        stamp(notebook, source.stem, profile)
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
    """Execute the notebooks, show progress, return {name: error} of those that failed."""
    os.environ.update(ENVIRONMENT)
    failed = {}
    with (
        tqdm(total=len(notebooks), unit="notebook", desc=f"profile {profile}") as bar,
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


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nb", nargs="*", default=[], help="names, or how they start: t01 e02")
    parser.add_argument("--profile", default="book")
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
        profiles.check_profile(options.profile)
        notebooks = choose(options.nb)
        check_parameters(notebooks, parameters)
        if options.out is None and (options.profile != "book" or parameters):
            raise ValueError("the stored notebooks are those of profile 'book': give --out")
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    out = options.out.resolve() if options.out else None
    stale = [
        n
        for n in notebooks
        if options.force or out is not None or not is_current(n, options.profile)
    ]
    if not stale:
        print(f"all {len(notebooks)} notebooks are current")
        return 0
    try:
        failed = run_all(
            stale, profile=options.profile, out=out, parameters=parameters, jobs=options.jobs
        )
    except KeyboardInterrupt:
        print("interrupted: what had finished is kept, the next run goes on from there")
        return 130
    if failed:
        print(f"{len(failed)} of {len(stale)} notebooks failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
