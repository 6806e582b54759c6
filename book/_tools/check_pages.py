"""Every page of the built book in Chromium: what a reader would stumble over, in one table.

Console, requests that leave the folder, accessibility (axe, light and dark), pages wider than the
screen, letters below 9 pixels and formulas cut off on a phone, height and weight. What is allowed
nevertheless stands with its reason in ``pages_allowed.yml``. Exit code 1 when something is broken.

Usage: ``check_pages.py [--html FOLDER] [--axe FILE] [page ...]``, after ``make html``.
"""

import argparse
import re
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

import yaml
from page_measures import BROWSER, ROOT, Chromium, measure

LIMITS = {"height": 10_500, "weight": 2_000_000, "letters": 9}
CHECKS = ("console", "requests", "axe", "overflow", "letters", "formulas", "height", "weight")
ALLOWED = Path(__file__).parent / "pages_allowed.yml"
AXE = ROOT / "_build" / "pages" / "axe_playwright_python" / "axe.min.js"


def broken(found):
    """{check: what breaks it, as a list of words} of the measures of a page."""
    smallest = LIMITS["letters"] - 0.05
    faults = {check: found[check] for check in CHECKS if isinstance(found.get(check), list)}
    sizes = found.get("letters", {}).items()
    faults["letters"] = [f"{place}: {size:.1f} px" for place, size in sizes if size < smallest]
    for check in ("height", "weight"):
        value = round(found.get(check, 0))
        faults[check] = [f"{value:,}"] * (value > LIMITS[check])
    return {check: words for check, words in faults.items() if words}


def without_allowed(page, faults, allowed):
    """The faults without those that an entry allows; entries that were used are marked."""
    left = {}
    for check, words in faults.items():
        kept = []
        for word in words:
            entry = next((e for e in allowed if allows(e, page, check, word)), None)
            if entry is None:
                kept.append(word)
            else:
                entry["used"] = True
        if kept:
            left[check] = kept
    return left


def allows(entry, page, check, word):
    if not fnmatch(page, entry["page"]) or entry["check"] != check:
        return False
    if "most" in entry:
        return int(word.replace(",", "")) <= entry["most"]
    return re.search(entry["what"], word) is not None


def row(page, found, faults):
    """One line of the table."""
    numbers = {
        "height": f"{round(found['height']):,}",
        "weight": f"{found['weight'] / 1e6:.2f}",
        "letters": f"{min(found['letters'].values(), default=0):.1f}",
    }
    cells = []
    for check in CHECKS:
        text = numbers.get(check) or str(len(found[check]))
        cells.append(f"{text}{'!' if check in faults else ' '}".rjust(9))
    return f"{page:42}{''.join(cells)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="such as book/index; default all")
    parser.add_argument("--html", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--axe", type=Path, default=AXE)
    arguments = parser.parse_args()
    root = arguments.html.resolve()
    if BROWSER is None or not root.is_dir() or not arguments.axe.is_file():
        sys.exit("error: needs Chromium, the built book and axe: make html, then make pages")
    files = sorted(p for d in ("book", "notebooks") for p in (root / d).glob("*.html"))
    if arguments.pages:
        files = [root / f"{name}.html" for name in arguments.pages]
    allowed = yaml.safe_load(ALLOWED.read_text(encoding="utf8")) or []
    axe = arguments.axe.read_text(encoding="utf8")
    print(f"{'page':42}" + "".join(f"{check} ".rjust(9) for check in CHECKS))
    red = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with Chromium(folder) as browser:
            for file in files:
                page = str(file.relative_to(root).with_suffix(""))
                found = measure(browser, file, root, axe)
                faults = without_allowed(page, broken(found), allowed)
                red += [f"{page}: {check}: {w}" for check, words in faults.items() for w in words]
                print(row(page, found, faults), flush=True)
    if not arguments.pages:
        red += [f"allowed, but not found: {e}" for e in allowed if not e.get("used")]
    print(f"\n{len(files)} pages, {len(red)} faults (limits: {LIMITS})", *red, sep="\n")
    sys.exit(bool(red))


if __name__ == "__main__":
    main()
