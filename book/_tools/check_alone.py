"""Run every downloadable notebook alone, at profile smoke, in an environment made from the wheel.

    python book/_tools/check_alone.py [--python PYTHON] [--profile book] [--nb t01 ...]

Makes a new virtual environment with nothing but ``firal[notebook]``, puts each notebook by itself
into an empty folder outside the repository, and executes it there. ``--python`` takes an
environment that is there already. Notebooks whose prepared data are absent are left out. The CPU
seconds of those that ran are noted for ``notebook_times.py``.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import downloads
from notebook_times import timed
from run_notebooks import able_to_run, choose

EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=1800, kernel_name="python3").execute()
"""


def at_profile(text, profile):
    """The notebook with its parameters cell set to a profile."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if "parameters" in cell["metadata"].get("tags", []):
            source = "".join(cell["source"])
            cell["source"] = re.sub(r'PROFILE = "\w+"', f'PROFILE = "{profile}"', source)
    return json.dumps(notebook)


def environment(folder, wheel):
    """A new virtual environment with the wheel and its extra ``notebook`` alone."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    what = f"firal[notebook] @ {wheel.resolve().as_uri()}"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", what], check=True)
    return python


def run_alone(python, name, text, scratch):
    """Execute a notebook in a folder of its own; RuntimeError with the last lines if it fails."""
    folder = scratch / Path(name).stem
    folder.mkdir()
    (folder / name).write_text(text, encoding="utf8")
    command = [str(python), "-c", EXECUTE, name]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError("\n".join(run.stderr.strip().splitlines()[-3:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", type=Path)
    parser.add_argument("--nb", nargs="*", default=[])
    parser.add_argument("--profile", default="smoke")
    options = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        texts = downloads.write(scratch / "downloads", url=downloads.repository())
        wheel = scratch / "downloads" / downloads.WHEEL
        python = options.python or environment(scratch / "venv", wheel)
        for path in able_to_run(choose(options.nb), options.profile):
            text = at_profile(texts[path.name], options.profile)
            try:
                with timed(path.stem, options.profile):
                    run_alone(python, path.name, text, scratch)
                print(f"  {path.stem}: runs", flush=True)
            except RuntimeError as error:
                print(f"  {path.stem}: FAILED\n{error}", flush=True)
                failed.append(path.stem)
    print(f"{len(failed)} notebooks failed" + (f": {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
