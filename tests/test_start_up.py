"""Ctrl-C while the command starts: one line, no traceback; in other programs it is an exception."""

import os
import signal
import subprocess
import sys

import pytest
from conftest import ROOT

from firal.common import start_up

# Python imports this first; Ctrl-C comes just before MODULE is imported.
SITE = """
import os, signal, sys

class Interrupt:
    def find_spec(name, path=None, target=None):
        if name == os.environ["MODULE"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt)
"""
SCRIPT = "import sys\nfrom firal.cli import main\nsys.exit(main())\n"


def start(folder, module, *arguments):
    (folder / "sitecustomize.py").write_text(SITE)
    paths = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "MODULE": module},
        # a shell lets its background jobs ignore Ctrl-C, and a test may run in one
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(
    ("module", "script"), [("numpy", True), ("scipy.linalg", False), ("firal.cli_session", True)]
)
def test_ctrl_c_during_the_imports(module, script, tmp_path):
    (tmp_path / "firal").write_text(SCRIPT)
    arguments = ("firal",) if script else ("-m", "firal")
    done = start(tmp_path, module, *arguments, "--version")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "firal: error: interrupted\n"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_other_programs_get_an_exception(tmp_path):
    code = "try:\n    import firal\nexcept KeyboardInterrupt:\n    print('caught')\n"
    (tmp_path / "program.py").write_text(code)
    done = start(tmp_path, "scipy.linalg", "program.py")
    assert (done.returncode, done.stdout) == (0, "caught\n"), done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_after_the_imports_it_is_an_exception_again(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        start_up.interrupts_end_the_start()
        assert signal.getsignal(signal.SIGINT) is start_up._end
        start_up.interrupts_are_exceptions()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        # a handler of somebody else stays, and so does SIG_IGN of a job in the background
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        start_up.interrupts_end_the_start()
        start_up.interrupts_are_exceptions()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("argv0", "interpreter", "expected"),
    [
        ("/usr/bin/firal", ["python", "/usr/bin/firal", "next"], True),
        ("Scripts/firal.exe", ["python", "Scripts/firal.exe"], True),
        ("firal-script.py", ["python", "firal-script.py"], True),
        ("-m", ["python", "-m", "firal", "next"], True),
        ("-m", ["python", "-X", "dev", "-mfiral"], True),
        ("-m", ["python", "-m", "pytest", "firal"], False),
        ("-c", ["python", "-c", "import firal"], False),
        ("", ["python"], False),
    ],
)
def test_which_process_is_the_command(argv0, interpreter, expected):
    assert start_up.is_command(argv0, interpreter) is expected
