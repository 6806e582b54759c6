"""Run every downloadable notebook alone, at profile smoke, in an environment made from the wheel.

    python book/_tools/check_alone.py [--python PYTHON] [--nb t01 ...]

Makes a new virtual environment with nothing but ``firal[notebook]``, puts each notebook by itself
into an empty folder outside the repository, and executes it there. ``--python`` takes an
environment that is there already. Notebooks whose prepared data are absent are left out.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import downloads
from run_notebooks import able_to_run, choose

EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=1800, kernel_name="python3").execute()
"""


def smoke(text):
    """The notebook with its parameters cell set to the smallest size."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if "parameters" in cell["metadata"].get("tags", []):
            source = "".join(cell["source"])
            cell["source"] = re.sub(r'PROFILE = "\w+"', 'PROFILE = "smoke"', source)
    return json.dumps(notebook)


def environment(folder, wheel):
    """A new virtual environment with the wheel and its extra ``notebook`` alone."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    what = f"firal[notebook] @ {wheel.resolve().as_uri()}"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", what], check=True)
    return python


def run_alone(python, name, text, scratch):
    """The last lines of the error, or None; the folder holds the one notebook."""
    folder = scratch / Path(name).stem
    folder.mkdir()
    (folder / name).write_text(smoke(text), encoding="utf8")
    command = [str(python), "-c", EXECUTE, name]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return "\n".join(run.stderr.strip().splitlines()[-3:]) if run.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", type=Path)
    parser.add_argument("--nb", nargs="*", default=[])
    options = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        texts = downloads.write(scratch / "downloads", url=downloads.repository())
        wheel = scratch / "downloads" / downloads.WHEEL
        python = options.python or environment(scratch / "venv", wheel)
        for path in able_to_run(choose(options.nb), "smoke"):
            start = time.perf_counter()
            error = run_alone(python, path.name, texts[path.name], scratch)
            words = f"FAILED\n{error}" if error else f"{time.perf_counter() - start:.1f} s"
            print(f"  {path.stem}: {words}", flush=True)
            failed += [path.stem] * bool(error)
    print(f"{len(failed)} notebooks failed" + (f": {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
