"""The built pages in a real browser with the network cut: formulas render, nothing is requested.

Needs Chromium (on PATH, or named by the variable CHROMIUM); skipped where there is none.
"""

import os
import re
import shutil
import subprocess

import pytest
from conftest import ROOT

HTML = ROOT / "_build" / "html"
PAGES = sorted(p for d in ("book", "notebooks") for p in (HTML / d).glob("*.html"))
BROWSER = next(
    filter(None, map(shutil.which, [os.environ.get("CHROMIUM", ""), "chromium", "google-chrome"])),
    None,
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=20000",
]
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(HTML)))
def test_page_renders_without_the_network(path, tmp_path):
    log = tmp_path / "net.json"
    command = [
        BROWSER,
        *FLAGS,
        f"--user-data-dir={tmp_path / 'profile'}",
        f"--log-net-log={log}",
        "--dump-dom",
        path.as_uri(),
    ]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    has_formulas = 'class="math' in path.read_text(encoding="utf8")
    assert ("<mjx-container" in dom) == has_formulas, "MathJax did not run"
    assert re.findall(r'data-mjx-error="([^"]*)"', dom) == []
    requested = set(re.findall(r'"url":"((?:https?|wss?)://[^"]+)"', log.read_text()))
    assert requested == set(), "the page asks for something from the network"
