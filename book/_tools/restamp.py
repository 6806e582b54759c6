"""Show that a change of code changed no output, and mark the notebooks as current.

    python book/_tools/restamp.py [--nb t01 ...] [--jobs 2]

Moving or renaming code makes notebooks stale, though their outputs should stay the same. This
executes the stale notebooks into ``_build/restamp`` and compares all outputs with the stored ones:
texts, tables, recorded checks, and pictures by their pixels. Where nothing differs, only the stamp
in the notebook's metadata is renewed. Otherwise the differences are listed, the notebook stays
stale, and the exit code is 1. Cells with the tag ``nbval-ignore-output`` show measured times: they
are not compared.
"""

import argparse
import difflib
import io
import json
import sys
from base64 import b64decode

import nbformat
import numpy as np
from freshness import KEY, ROOT, is_current
from matplotlib.image import imread
from needs import other_data, stored_profile
from run_notebooks import able_to_run, choose, run_all, write

OUT = ROOT / "_build" / "restamp"
IGNORE = "nbval-ignore-output"


def differences(stored, new):
    """Lines on every output that differs between two notebooks with the same cells."""
    sources = [[cell.source for cell in notebook.cells] for notebook in (stored, new)]
    if sources[0] != sources[1]:
        return ["the cells are not the same"]
    lines = []
    for number, (old, now) in enumerate(zip(stored.cells, new.cells, strict=True)):
        if old.cell_type != "code" or IGNORE in old.metadata.get("tags", []):
            continue
        before, after = _flat(old), _flat(now)
        for key in sorted(before.keys() | after.keys()):
            where = f"cell {number}, output {key[0]}, {key[1]}"
            if key not in after:
                lines.append(f"{where}: no longer there")
            elif key not in before:
                lines.append(f"{where}: new")
            else:
                lines += [f"{where}: {line}" for line in _changed(before[key], after[key], key[1])]
    return lines


def _flat(cell):
    """{(number of the output, what it is): content}"""
    found = {}
    for number, output in enumerate(cell.outputs):
        if output.output_type == "stream":
            found[number, output.name] = output.text
        elif output.output_type == "error":
            found[number, "error"] = f"{output.ename}: {output.evalue}"
        else:
            found |= {(number, mime): content for mime, content in output.data.items()}
            found[number, "metadata"] = dict(output.metadata)
    return found


def _changed(old, new, kind):
    """Lines on what differs between two contents of one kind."""
    if kind.endswith("image/png"):
        return _changed_picture(*(imread(io.BytesIO(b64decode(png))) for png in (old, new)))
    if old == new:
        return []
    old, new = (_text(content).splitlines() for content in (old, new))
    marked = difflib.unified_diff(old, new, n=0, lineterm="")
    return [line for line in marked if not line.startswith(("---", "+++", "@@"))]


def _changed_picture(old, new):
    if old.shape != new.shape:
        return [f"picture of {old.shape} pixels -> {new.shape}"]
    changed = int(np.any(old != new, axis=-1).sum())
    return [f"{changed} of {old.shape[0] * old.shape[1]} pixels differ"] if changed else []


def _text(content):
    return content if isinstance(content, str) else json.dumps(content, indent=1, sort_keys=True)


def renew(path, new):
    """Compare a stored notebook with a new execution; write the new stamp if nothing differs."""
    stored, executed = nbformat.read(path, 4), nbformat.read(new, 4)
    lines = differences(stored, executed)
    if not lines:
        stored.metadata[KEY] = executed.metadata[KEY]
        write(stored, path)
    return lines


def with_their_data(notebooks):
    """Leave out, with a line each, those that were stored from other data than are here."""
    for notebook in notebooks:
        if other_data(notebook):
            print(f"  {notebook.stem}: left out, {other_data(notebook)}")
    return [notebook for notebook in notebooks if not other_data(notebook)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nb", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    try:
        notebooks = choose(options.nb)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    stale = [n for n in notebooks if not is_current(n, stored_profile(n))]
    stale = with_their_data(able_to_run(stale))
    if not stale:
        print("nothing to do: all notebooks that can run are current")
        return 0
    failed = run_all(stale, profile=None, out=OUT, jobs=options.jobs)
    differing = 0
    for notebook in (n for n in stale if n.stem not in failed):
        lines = renew(notebook, OUT / notebook.name)
        differing += bool(lines)
        print(f"  {notebook.stem}: " + (f"{len(lines)} differences" if lines else "unchanged"))
        for line in lines:
            print(f"    {line}")
    done = len(stale) - differing - len(failed)
    print(f"{done} notebooks restamped, {differing} differ, {len(failed)} failed")
    return 1 if differing or failed else 0


if __name__ == "__main__":
    sys.exit(main())
