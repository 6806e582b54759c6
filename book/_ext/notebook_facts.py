"""``{notebook-facts}``: one row per notebook, what it runs on and what it takes.

Sizes and inputs come from ``firal.companion.profiles``, the number of checks from the stored
outputs, CPU times from ``book/notebook_times.csv`` (``book/_tools/notebook_times.py``).
"""

import csv
import sys
from pathlib import Path

from exercise_list import contents, heading
from generated import Generated, registry_sources

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from firal.companion import claims, profiles  # noqa: E402

TIMES = "book/notebook_times.csv"


def times(root):
    """{notebook: (CPU seconds at smoke, at book)} as texts; a dash where it was not measured."""
    with open(root / TIMES, encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["notebook"]: (row["smoke"] or "–", row["book"] or "–") for row in rows}


def table(root):
    """Markdown: the table of all notebooks in the order of the book."""
    known = times(root)
    lines = ["| notebook | outputs of profile | data | seed | checks | smoke, s | book, s |"]
    lines.append("|---|---|---|--:|--:|--:|--:|")
    pages = [page for chapter in contents(root) for page in chapter if page.suffix == ".ipynb"]
    for page in pages:
        short = page.stem.split("_")[0]
        seed = profiles.SIZES.get(short, {}).get("seed", ("–", "–"))[1]
        data = profiles.DATA.get(short) or ("record" if records(short) else "–")
        smoke, book = known.get(page.stem, ("–", "–"))
        link = f"[{short}: {heading(page)}](../notebooks/{page.name})"
        profile = profiles.STORED.get(short, "book")
        checks = len(claims.recorded(page))
        lines.append(f"| {link} | {profile} | {data} | {seed} | {checks} | {smoke} | {book} |")
    return lines


def records(short):
    return [i for i in profiles.INPUTS.get(short, ()) if i.startswith("notebooks/data/")]


class NotebookFacts(Generated):
    markdown = staticmethod(table)

    @staticmethod
    def sources(root):
        return [root / TIMES, *registry_sources(root)]


def setup(app):
    app.add_directive("notebook-facts", NotebookFacts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
