"""Execute every notebook again and report what changed against the committed results.

    python book/_tools/reproduce.py [--nb t01 ...] [--jobs 2] [--strict]

The committed notebooks stay as they are; the new ones go to ``_build/reproduce``, with what was
found in ``report.md``. The exit code is 0 when every verdict is the committed one, also where
numbers moved; with ``--strict`` only when no number moved. Notebooks whose data are absent are left
out with the reason.
"""

import argparse
import os
import platform
import sys
from importlib.metadata import version

from freshness import ROOT
from run_notebooks import able_to_run, choose, run_all

from firal.companion import claims

OUT = ROOT / "_build" / "reproduce"


def compare(committed, new):
    """Lines on what changed between two lists of checks, and whether a verdict did.

    Checks are matched by claim, words and side; repeated ones by their order.
    """
    lines, verdict_changed = [], False
    old_by_key, new_by_key = keyed(committed), keyed(new)
    for key in [*old_by_key, *(k for k in new_by_key if k not in old_by_key)]:
        old, now = old_by_key.get(key), new_by_key.get(key)
        label = f"{key[0]} | {key[1]}"
        if old is None or now is None:
            lines.append(f"{label}: {'new here' if old is None else 'no longer recorded'}")
            verdict_changed = True
            continue
        if old.passed != now.passed:
            words = {True: "holds", False: "fails"}
            lines.append(f"{label}: verdict {words[old.passed]} -> {words[now.passed]}")
            verdict_changed = True
        for field in ("measured", "reference"):
            a, b = getattr(old, field), getattr(now, field)
            if a != b and None not in (a, b):
                relative = f", {abs(b - a) / abs(a):.2%}" if a else ""
                lines.append(f"{label}: {field} {a:g} -> {b:g} (by {b - a:+.3g}{relative})")
    return lines, verdict_changed


def keyed(records):
    """Checks by (claim, words, side, number of earlier ones with the same three)."""
    seen, result = {}, {}
    for record in records:
        base = (record.id, record.what, record.printed)
        seen[base] = seen.get(base, 0) + 1
        result[(*base, seen[base])] = record
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nb", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--strict", action="store_true", help="a number that moved is a failure")
    options = parser.parse_args()
    os.environ["FIRAL_CLAIMS"] = "record"  # list every changed verdict, stop at none
    try:
        notebooks = choose(options.nb)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    notebooks = able_to_run(notebooks)
    failed = run_all(notebooks, profile=None, out=OUT, jobs=options.jobs) if notebooks else {}
    total, changed, verdicts = 0, [], 0
    for notebook in notebooks:
        if notebook.stem in failed:
            continue
        committed = claims.recorded(notebook)
        lines, verdict_changed = compare(committed, claims.recorded(OUT / notebook.name))
        total += len(committed)
        verdicts += verdict_changed
        changed += [f"{notebook.stem}: {line}" for line in lines]
    summary = (
        f"{total} recorded checks compared, {len(changed)} differences, "
        f"verdicts changed in {verdicts} notebooks, {len(failed)} notebooks failed"
    )
    print("".join(f"  {line}\n" for line in changed) + summary)
    write_report(OUT / "report.md", summary, changed, failed)
    return 1 if failed or verdicts or (options.strict and changed) else 0


def write_report(path, summary, changed, failed):
    """The same as Markdown, with the versions it was made with: the text of an issue."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    lines = [summary + ".", "", f"Python {platform.python_version()}, {versions}.", ""]
    lines += [f"- {line}" for line in changed]
    lines += [f"- {name} failed: {error.splitlines()[0]}" for name, error in failed.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


if __name__ == "__main__":
    sys.exit(main())
