"""What a browser finds out about one built page: ``measure`` opens it three times.

Desktop and light: console, requests, axe, overflow, height, weight. Desktop and dark: console,
requests and contrast. Phone: overflow, letters and formulas.
"""

import re
import sys
import time
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "book" / "_ext")]
from chromium import BROWSER, Chromium  # noqa: E402, F401
from two_themes import drawn, measures  # noqa: E402

PROBE = (Path(__file__).parent / "page_probe.js").read_text(encoding="utf8")
DESKTOP, PHONE = (1280, 900), (390, 844)
SMALL = 7 / 72 * 220  # pixels of the smallest letters in a figure that is a PNG
LOUD = {"error", "warning", "assert"}


def measure(browser, page, root, axe=""):
    """{check: what breaks it, as a list of words, or a number}.

    page, root  the file and the folder that no request may leave
    axe         the script of axe; without it there is no check of accessibility
    """
    found = {"console": [], "requests": [], "overflow": [], "axe": []}
    run = browser.run
    for theme in ("light", "dark"):
        load(browser, page, DESKTOP, theme)
        if axe:
            run(axe)
            rules = "[]" if theme == "light" else '["color-contrast"]'
            found["axe"] += [f"{theme}: {v}" for v in run(f"probe.violations({rules})")]
        if theme == "light":
            found["overflow"] += too_wide(browser, "desktop")
            found["height"] = run("probe.height()")
            everything(browser, found["height"])
            found["weight"] = weight(browser.events, root)
        found["console"] += console(browser.events)
        found["requests"] += outside(browser.events, root)
    load(browser, page, PHONE, "light")
    found["overflow"] += too_wide(browser, "phone")
    everything(browser, run("probe.height()"), PHONE[0])
    found["letters"] = letters(browser)
    found["formulas"] = run("probe.formulas()")
    return {check: sorted(set(v)) if isinstance(v, list) else v for check, v in found.items()}


def load(browser, page, size, theme):
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.send("Emulation.setEmulatedMedia", features=features)
    for domain in ("Runtime", "Log", "Network"):
        browser.send(f"{domain}.enable")
    browser.open(page.as_uri(), width=size[0], height=size[1])
    browser.run(PROBE)
    settle(browser)


def settle(browser):
    """Wait until fonts are there and scripts that wait for them have run."""
    browser.run("document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 300)))")


def everything(browser, height, width=DESKTOP[0]):
    """Make the window as high as the page, so that all pictures are loaded."""
    size = {"width": width, "height": int(height) + 2000, "deviceScaleFactor": 1}
    browser.send("Emulation.setDeviceMetricsOverride", mobile=False, **size)
    settle(browser)
    for _ in range(50):
        if browser.run("[...document.images].every((i) => !i.clientWidth || i.complete)"):
            return
        time.sleep(0.1)


def too_wide(browser, screen):
    wider = browser.run("probe.overflow()")
    return [f"{screen}: {wider} px"] if wider > 0 else []


def console(events):
    """Errors and warnings, those of scripts and of the browser."""
    found = []
    for event in events:
        details = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            what = details["exceptionDetails"]
            found.append(what.get("exception", {}).get("description", what["text"]).split("\n")[0])
        elif event["method"] == "Runtime.consoleAPICalled" and details["type"] in LOUD:
            words = [str(a.get("value", a.get("description"))) for a in details["args"]]
            found.append(" ".join(words))
        elif event["method"] == "Log.entryAdded" and details["entry"]["level"] in LOUD:
            found.append(details["entry"]["text"])
    return found


def requested(events):
    sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return {request["request"]["url"].partition("#")[0] for request in sent}


def local(address, root):
    """The file of an address in the folder, or None."""
    parts = urlsplit(address)
    path = Path(unquote(parts.path))
    return path if parts.scheme == "file" and path.is_relative_to(root) else None


def outside(events, root):
    inline = ("data:", "blob:", "about:")
    urls = requested(events)
    return [url for url in urls if not url.startswith(inline) and local(url, root) is None]


def weight(events, root):
    """Bytes of all files that the page has asked for, as if nothing were compressed."""
    files = {local(url, root) for url in requested(events)} - {None}
    return sum(file.stat().st_size for file in files if file.is_file())


def letters(browser):
    """{place: pixels of its smallest letters}: in the page, in drawings, in pictures."""
    sizes = browser.run("probe.letters()")
    for address, width, natural in browser.run("probe.pictures()"):
        file = Path(unquote(urlsplit(address).path))
        if file.suffix == ".svg" and (scale := points(file)):
            sizes[file.name] = width * scale
        elif file.suffix == ".png" and "_images" in file.parts:
            sizes[file.name] = width * SMALL / max(natural, 1)
    return sizes


@cache
def points(file):
    """Smallest letters of a drawing, as a part of its width; None if it is no drawing of ours."""
    svg = file.read_text(encoding="utf8")
    if not drawn(svg) or not re.search(r"scale\(0\.\d+ -", svg):
        return None
    width, _, size = measures(svg)
    return size / width
