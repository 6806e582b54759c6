"""Execute notebooks with papermill, two at a time, and store them clean.

    python book/_tools/run_notebooks.py                       the stale ones, in place
    python book/_tools/run_notebooks.py --nb t01 --force      one of them, also if current
    python book/_tools/run_notebooks.py --profile smoke --out _build/smoke/notebooks
    python book/_tools/run_notebooks.py --nb t01 --out _build/mine -p SEED 7

A notebook is replaced only after it ran to its end. So a failure or Ctrl-C never damages a stored
notebook, and what is finished stays finished. Notebooks whose data are absent are left out with the
reason (``needs.py``). A notebook that reads the outputs of others runs after them.
"""

import argparse
import os
import re
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import nullcontext
from graphlib import TopologicalSorter
from pathlib import Path

import nbformat
import papermill
import yaml
from freshness import KEY, ROOT, input_graph, is_current, stamp, with_dependents
from needs import missing_data, missing_record, stored_profile
from notebook_times import timed
from papermill.exceptions import PapermillExecutionError
from tqdm import tqdm

from firal.companion import profiles
from firal.data.writing import replace_file

# One BLAS thread per kernel: reproducible sums, and two kernels do not fight for two cores.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "JUPYTER_PREFER_ENV_PATH": "1",
}


GLUED_PICTURE = "application/papermill.record/image/"


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
            store_once(cell.outputs)
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = "injected-parameters"
    return notebook


def store_once(outputs):
    """Drop the pictures that ``glue`` recorded where the cell shows its one figure anyway."""
    glued = [output for output in outputs if "scrapbook" in output.get("metadata", {})]
    shown = [output for output in outputs if "image/png" in output.get("data", {})]
    if len(glued) == len(shown) == 1:
        for mime in [m for m in glued[0].data if m.startswith(GLUED_PICTURE)]:
            del glued[0].data[mime]


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


def with_a_kernel(source, parameters, tries=3):
    """The executed notebook. Two kernels that start at once can choose the same port: try again."""
    for left in reversed(range(tries)):
        try:
            return papermill.execute_notebook(
                str(source),
                None,
                parameters=parameters,
                cwd=str(source.parent),
                kernel_name="python3",
                progress_bar=False,
                record_timing=False,
                extra_arguments=["--log-level=CRITICAL"],  # no remarks in the progress bar
            )
        except RuntimeError as error:
            if left == 0 or "before replying to kernel_info" not in str(error):
                raise


def execute(source, target, profile, parameters):
    """Run one notebook at a profile (None: the stored one); returns the seconds it took."""
    start = time.perf_counter()
    stored = stored_profile(source.stem)  # what the notebook's own parameters cell says
    clock = nullcontext() if parameters else timed(source.stem, profile or stored)
    if profile not in (None, stored):
        parameters = {"PROFILE": profile, **parameters}
    # Before the kernel starts: a file that is edited during the run makes the notebook stale.
    mark = None if parameters else stamp(nbformat.read(source, 4), source.stem, stored)
    # Without parameters papermill injects no cell: the committed notebooks are run this way.
    with clock:
        notebook = with_a_kernel(source, parameters)
    clean(notebook)
    notebook.metadata.pop(KEY, None)  # the stamp of the stored outputs is not that of these
    if mark:
        notebook.metadata[KEY] = mark
    target.parent.mkdir(parents=True, exist_ok=True)
    write(notebook, target)
    return time.perf_counter() - start


def write(notebook, target):
    """Replace a notebook at once, so that no half of it is ever left."""
    replace_file(target, f"{nbformat.writes(notebook).rstrip()}\n".encode())


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
    graph = input_graph(notebooks)
    order = TopologicalSorter(graph)
    order.prepare()
    failed, running = {}, {}
    title = "stored profiles" if profile is None else f"profile {profile}"
    with (
        tqdm(total=len(notebooks), unit="notebook", desc=title) as bar,
        ProcessPoolExecutor(jobs) as pool,
    ):

        def finish(notebook, line, error=None):
            if error is not None:
                failed[notebook.stem] = error
            bar.write(f"  {notebook.stem}: {line}")
            bar.update()
            order.done(notebook)

        try:
            while order.is_active():
                for n in order.get_ready():
                    broken = sorted(i.stem for i in graph[n] if i.stem in failed)
                    if broken:
                        reason = f"it reads {', '.join(broken)}, which failed"
                        finish(n, f"not executed, {reason}", reason)
                    else:
                        target = (out or n.parent) / n.name
                        running[pool.submit(execute, n, target, profile, parameters or {})] = n
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    n = running.pop(future)
                    try:
                        finish(n, f"{future.result():.1f} s")
                    except Exception as error:
                        finish(n, f"FAILED, {plain(error)}", plain(error))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return failed


def able_to_run(notebooks, profile=None):
    """Those whose data are there; says which are left out, and why.

    The record of a long run is needed at the profile of the stored outputs only.
    """
    missing = {
        n: missing_data(n) or (missing_record(n) if profile in (None, stored_profile(n)) else None)
        for n in notebooks
    }
    for notebook, reason in missing.items():
        if reason:
            print(f"  {notebook.stem}: left out, {reason}")
    return [n for n in notebooks if not missing[n]]


def to_refresh(notebooks, force=False):
    """What to execute in place: the stale notebooks, and those that read them.

    Says which stale ones keep their outputs, and why.
    """
    stale = []
    for notebook in notebooks:
        if not force and is_current(notebook, stored_profile(notebook)):
            continue
        reason = missing_data(notebook) or missing_record(notebook)
        if reason:
            print(f"  {notebook.stem}: not current, keeps its stored outputs: {reason}")
        else:
            stale.append(notebook)
    readers = with_dependents(stale, notebooks)
    return [n for n in readers if n in stale or not (missing_data(n) or missing_record(n))]


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
        chosen = to_refresh(notebooks, options.force)
    else:
        chosen = able_to_run(notebooks, options.profile)
    if not chosen:
        print(
            "nothing to execute"
            + (": all notebooks that can run are current" if out is None else "")
        )
        return 0
    try:
        failed = run_all(
            chosen, profile=options.profile, out=out, parameters=parameters, jobs=options.jobs
        )
    except KeyboardInterrupt:
        print("interrupted: finished notebooks are kept, the next run executes the others")
        return 130
    if failed:
        print(f"{len(failed)} of {len(chosen)} notebooks failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
