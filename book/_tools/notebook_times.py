"""How long notebooks take: CPU seconds of their runs, for the tables of the book.

    python book/_tools/notebook_times.py

Every run of a notebook leaves a note in ``_build/times/PROFILE``. This command takes the notes into
``book/notebook_times.csv``; what was not run keeps its number. It is called by hand, after a run on
the machine that the page *Reproducibility* describes.
"""

import csv
import os
from contextlib import contextmanager

from downloads import ROOT

NOTES = ROOT / "_build" / "times"
TABLE = ROOT / "book" / "notebook_times.csv"
PROFILES = ("smoke", "book")


@contextmanager
def timed(name, profile, notes=NOTES):
    """Note the CPU seconds of the processes that are started and end in the block."""
    before = sum(os.times()[2:4])
    yield
    (notes / profile).mkdir(parents=True, exist_ok=True)
    (notes / profile / name).write_text(f"{sum(os.times()[2:4]) - before:.1f}\n", encoding="utf8")


def merge(notes=NOTES, table=TABLE, notebooks=ROOT / "notebooks"):
    """Take the notes into the table, one row per notebook that exists."""
    with open(table, encoding="utf8", newline="") as file:
        rows = {row["notebook"]: row for row in csv.DictReader(file)}
    names = sorted(path.stem for path in notebooks.glob("*.ipynb"))
    lines = [",".join(("notebook", *PROFILES))]
    for name in names:
        cells = [name]
        for profile in PROFILES:
            note = notes / profile / name
            known = rows.get(name, {}).get(profile) or ""
            cells.append(note.read_text("utf8").strip() if note.is_file() else known)
        lines.append(",".join(cells))
    table.write_text("\n".join(lines) + "\n", encoding="utf8")


if __name__ == "__main__":
    merge()
