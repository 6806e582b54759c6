"""Which notebooks take long at the profile of the book: ``make nightly`` compares their outputs.

    python book/_tools/nightly.py      their names, for ``make test``

``make test`` executes every notebook once. The quick ones are executed as they are stored, and
nbval compares their outputs. The slow ones are executed at profile smoke; that their stored outputs
belong to the present code is known by their stamps (``freshness.py``).
"""

import csv

from notebook_times import TABLE

SLOW = 25.0  # CPU seconds


def slow_notebooks(table=TABLE):
    """Names of the notebooks that take longer than ``SLOW``; what was never measured is quick."""
    with open(table, encoding="utf8", newline="") as file:
        return [row["notebook"] for row in csv.DictReader(file) if float(row["book"] or 0) > SLOW]


if __name__ == "__main__":
    print(*(name.split("_")[0] for name in slow_notebooks()))
