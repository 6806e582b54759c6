"""JupyterLite: four light notebooks that run in the browser, with the wheel beside them.

    python book/_tools/lite.py          build it, into _build/lite
    python book/_tools/lite.py --check  run the four here, as far as the browser can be imitated
    python book/_tools/lite.py --check PYTHON    the same with the Python of another environment

The browser's Python is Pyodide, loaded from the network when a page is opened; so the result is for
the published book, and the offline book does not know it. ``--check`` runs the same notebooks in
this Python with what Pyodide lacks taken away: threads, processes, POSIX modules, a standard output
with bytes below it, and the package myst-nb. Pyodide's versions of the packages are in
``book/requirements-pyodide.txt``: an environment of these is PYTHON. What neither can show is that
the packages work in WebAssembly, and how fast they are.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import downloads
from check_alone import at_profile
from run_notebooks import choose

OUT = downloads.ROOT / "_build" / "lite"
NOTEBOOKS = ("u01", "u02", "t01", "t13")
FIRST_CELL = """\
# In the browser: install what is missing, and stand in for what it cannot have.
import os
import sys
import types

os.environ["JOBLIB_MULTIPROCESSING"] = "0"
if sys.platform == "emscripten":
    %pip install -q firal matplotlib pandas pyyaml ipython
try:
    import myst_nb
except ImportError:  # it only names figures for the book

    def glue(name, value, display=True):
        from IPython.display import display as show

        if display:
            show(value)

    sys.modules["myst_nb"] = types.SimpleNamespace(glue=glue)
from firal.companion import alone

alone.prepare()"""
# One process without Jupyter, threads and processes, as in the browser.
IMITATION = """\
import json, subprocess, sys, threading, types
import matplotlib
import matplotlib.font_manager  # the first time it lists the fonts, beside a thread
from IPython.core.interactiveshell import InteractiveShell

matplotlib.use("Agg")
sys.modules["myst_nb"] = None
shell = InteractiveShell.instance()


class Stream:  # like that of the kernel in the browser
    encoding, text = "utf-8", ""

    def write(self, text):
        Stream.text += text

    def flush(self):
        pass

    def isatty(self):
        return False


def start(self):
    raise RuntimeError("can't start new thread")


def no_process(*arguments, **options):
    raise OSError("emscripten does not support processes.")


threading.Thread.start = start
subprocess.Popen.__init__ = no_process
for name in ("fcntl", "resource", "termios"):  # the kernel has them, but empty
    sys.modules[name] = types.ModuleType(name)
sys.stdout = Stream()
for cell in json.load(open(sys.argv[1], encoding="utf8"))["cells"]:
    if cell["cell_type"] == "code":
        shell.run_cell("".join(cell["source"])).raise_error()
"""


def lite(text):
    """A notebook for the browser: smallest size, own first cell, no stored outputs."""
    notebook = json.loads(at_profile(text, "smoke"))
    for cell in notebook["cells"]:
        if cell.get("id") == "run-alone":
            cell["source"] = FIRST_CELL
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return notebook


def contents():
    """{file name: notebook} of the four."""
    texts = downloads.notebooks_alone(url=downloads.repository())
    return {path.name: lite(texts[path.name]) for path in choose(NOTEBOOKS)}


def build():
    """Write the site with ``jupyter lite build``; its own pages need no network to build."""
    shutil.rmtree(OUT, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        downloads.build_packages(scratch / "packages", downloads.repository())
        (scratch / "files").mkdir()
        for name, notebook in contents().items():
            (scratch / "files" / name).write_text(json.dumps(notebook), encoding="utf8")
        command = [sys.executable, "-m", "jupyter", "lite", "build", "--no-sourcemaps"]
        command += ["--contents", scratch / "files", "--output-dir", OUT]
        command += ["--piplite-wheels", scratch / "packages" / downloads.WHEEL]
        subprocess.run([str(part) for part in command], cwd=scratch, check=True)
    print(f"Serve it: {sys.executable} -m http.server --directory {OUT.relative_to(Path.cwd())}")


def check(python=sys.executable):
    """Run the four without threads, processes and myst-nb; returns the names that failed."""
    environment = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(downloads.ROOT)}
    failed = []
    for name, notebook in contents().items():
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / name
            file.write_text(json.dumps(notebook), encoding="utf8")
            run = subprocess.run(
                [str(python), "-c", IMITATION, str(file)],
                cwd=downloads.ROOT / "notebooks",
                env={**os.environ, **environment, "IPYTHONDIR": scratch},
                capture_output=True,
                text=True,
            )
        words = f"FAILED\n{run.stdout[-1500:]}{run.stderr[-500:]}" if run.returncode else "runs"
        print(f"  {name}: {words}", flush=True)
        failed += [name] * bool(run.returncode)
    return failed


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        sys.exit(bool(check(*map(os.path.abspath, sys.argv[2:]))))
    build()
