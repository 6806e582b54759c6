"""``tests/survivors.txt``: the mutants that no test notices, and why that is right.

An entry is the file and the function, the lines as in a diff, and the reason::

    selection/bait.py bait
    - if gain <= 0:
    + if gain < 0:
    why: a gain of exactly zero does not occur

Names and numbers of mutants change with every edit; these lines change only with the code itself.
"""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

FILE = Path("tests/survivors.txt")
CAUGHT = ("killed", "timeout", "segfault", "suspicious")


class Mutant(NamedTuple):
    """One change: the file below ``firal``, the function, the lines before and after."""

    file: str
    function: str
    lines: tuple  # "- old" and "+ new", without indentation

    def __str__(self):
        return "\n".join([f"{self.file} {self.function}", *self.lines])


def from_diff(file, function, diff):
    """The mutant behind a unified diff, as mutmut prints it."""
    body = diff.splitlines()[2:]
    lines = tuple(f"{line[0]} {line[1:].strip()}" for line in body if line[:1] in "-+")
    return Mutant(file, function, lines)


def read(text):
    """{mutant: reason} of the entries in a text; lines that begin with # are remarks."""
    entries = {}
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        head, *changes, why = lines
        if head.count(" ") != 1 or not why.startswith("why: ") or not changes:
            raise ValueError(f"expected file and function, changed lines, why; got:\n{block}")
        mutant = Mutant(*head.split(), tuple(changes))
        if mutant in entries:
            raise ValueError(f"this entry stands there twice:\n{mutant}")
        entries[mutant] = why.removeprefix("why: ")
    return entries


def table(results):
    """Lines of a table per file from {key: (file, status, explained)}."""
    counts = {}
    for file, status, explained in results.values():
        kind = "caught" if status in CAUGHT else "explained" if explained else status
        counts.setdefault(file, Counter())[kind] += 1
    lines = [f"# {'file':<34} mutants  caught  explained  left  share"]
    for file, count in [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]:
        total, caught, explained = count.total(), count["caught"], count["explained"]
        left = total - caught - explained
        share = caught / total if total else 1.0
        lines.append(f"# {file:<34} {total:7} {caught:7} {explained:10} {left:5} {share:6.1%}")
    return lines
