"""How fast the pages of the built book are in Chromium: first paint, landing, shift, weight.

A page is opened at one of its statements, in each of eight situations: processor as it is or
slowed down four times, light or dark, desktop or phone. Reported are

- *paint*: seconds until the first words are on the screen;
- *landed*: seconds until the statement is where it stays; its place is noted at every frame;
- *work*: the same in processor seconds of the page's main thread. Times by the clock depend on what
  else runs on the machine, and so each is the best of several loads; this one hardly does;
- *whole*: processor seconds until the page has come to rest;
- *shift*: the layout shift that Chromium counts (up to 0.1 is called good); the largest one.

Build the book first (``make html``). Usage: ``python benchmarks/bench_pages.py [--repeats 3]
[--html FOLDER] [page#anchor ...]``.
"""

import argparse
import itertools
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from chromium import BROWSER, Chromium  # noqa: E402

PAGES = [
    "book/excess_risk.html#our-excess-risk",
    "book/guarantee.html#our-sharper",
    "book/constants.html#lem-2",
    "book/probability.html#lem-12",
    "book/real_data.html#fig-real-together",
]
WIDTHS = {"desktop": (1400, 900), "phone": (390, 844)}
WATCH = """
window.firal = {place: null, moved: 0, shift: 0, frames: 0};
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.firal.shift += one.value;
}).observe({type: "layout-shift", buffered: true});
(function look() {
  const seen = window.firal;
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) {
    const place = target.getBoundingClientRect().top;
    if (seen.place === null || Math.abs(place - seen.place) > 1) seen.moved = performance.now();
    seen.place = place;
  }
  if (document.readyState === "complete") seen.frames += 1;
  requestAnimationFrame(look);
})();
"""
QUIET = 75  # looks at a page that has loaded, 0.02 s or more apart


def load(browser, address, width, height, scheme, slower):
    """What one load of a page takes."""
    browser.open("about:blank", width=width, height=height)
    browser.send(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    browser.send("Emulation.setCPUThrottlingRate", rate=slower)
    before = work(browser)
    browser.send("Page.navigate", url=address)
    seen, quiet = [], 0
    while quiet < QUIET:
        time.sleep(0.02)
        now = browser.run("window.firal ? {...window.firal, state: document.readyState} : null")
        if now and now["place"] is not None:
            quiet = quiet + 1 if now["state"] == "complete" and now["frames"] > 3 else 0
            seen.append((now, work(browser) - before))
    last = seen[-1][0]
    stays = len(seen)
    while stays and abs(seen[stays - 1][0]["place"] - last["place"]) <= 1:
        stays -= 1
    paint = browser.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    return {
        "paint": paint / 1000,
        "landed": last["moved"] / 1000,
        "work": seen[stays][1],
        "whole": seen[-1][1],
        "shift": last["shift"],
    }


def work(browser):
    """Processor seconds of the main thread so far."""
    metrics = browser.send("Performance.getMetrics")["metrics"]
    return next(m["value"] for m in metrics if m["name"] == "TaskDuration")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--html", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if BROWSER is None or not arguments.html.is_dir():
        print("no Chromium, or no book: nothing is measured")
        return
    print(f"{'page':44} {'screen':8} {'theme':6} slower  paint landed   work  whole  shift")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with Chromium(folder) as browser:
            browser.send("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
            browser.send("Performance.enable", timeDomain="threadTicks")
            for page in arguments.pages:
                for screen, scheme, slower in itertools.product(WIDTHS, ("light", "dark"), (1, 4)):
                    file, _, anchor = page.partition("#")
                    address = (arguments.html / file).as_uri() + f"#{anchor}"
                    runs = [
                        load(browser, address, *WIDTHS[screen], scheme, slower)
                        for _ in range(arguments.repeats)
                    ]
                    best = {key: min(run[key] for run in runs) for key in runs[0]}
                    best["shift"] = max(run["shift"] for run in runs)
                    print(
                        f"{page:44} {screen:8} {scheme:6} {slower:5}x {best['paint']:6.2f}"
                        f" {best['landed']:6.2f} {best['work']:6.2f} {best['whole']:6.2f}"
                        f" {best['shift']:6.3f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
