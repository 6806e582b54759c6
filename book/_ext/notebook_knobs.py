"""What the parameters of a notebook were, and what to expect when they are changed.

Below the cell ``parameters``, whose ``None`` hides the values, stands a table of the knobs at the
three profiles, and a box "Change this, expect that". The expectations are in ``book/try_this.yml``.
"""

from functools import cache
from pathlib import Path

import yaml
from docutils import nodes

from firal.companion import profiles

TITLE = "Change this, expect that"
RUN = ".venv/bin/python book/_tools/run_notebooks.py --nb {name} --out _build/mine {change}"
NOTES = "book/try_this.yml"
ANY = {
    "change": "SEED = 7",
    "expect": "other random numbers. A check that comes out otherwise stops the run and says so.",
}
RECORDED = {
    "change": 'PROFILE = "smoke"',
    "expect": "everything is computed, on a small sample and in seconds, instead of read from the"
    " record of a long run. It shows how the notebook works, not what comes out.",
}


def shown(value):
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    return f"{value:,}" if type(value) is int else str(value)


def knob_table(name):
    """Knobs and their values; the profile that is stored is marked."""
    stored = profiles.STORED.get(name, "book")
    knobs = profiles.SIZES.get(name, {})
    group = nodes.tgroup("", *(nodes.colspec(colwidth=25) for _ in range(4)), cols=4)
    head = nodes.row()
    titles = [f"{p} (shown here)" if p == stored else p for p in profiles.PROFILES]
    for text in ("parameter", *titles):
        head += nodes.entry("", nodes.paragraph("", text))
    body = nodes.tbody()
    for knob, values in knobs.items():
        row = nodes.row()
        row += nodes.entry("", nodes.paragraph("", "", nodes.literal("", knob.upper())))
        for profile, value in zip(profiles.PROFILES, values, strict=True):
            text = shown(value)
            inner = nodes.strong("", text) if profile == stored else nodes.Text(text)
            row += nodes.entry("", nodes.paragraph("", "", inner))
        body += row
    group += [nodes.thead("", head), body]
    return nodes.table("", group, classes=["knobs"])


@cache
def notes(path, _changed):
    return yaml.safe_load(path.read_text(encoding="utf8"))


def box(name, items):
    """The box; ``items`` are {change, expect}, the first of them is the command's."""
    found = nodes.admonition("", classes=["tip", "try-this"])
    found += nodes.title("", TITLE)
    entries = nodes.bullet_list()
    for item in items:
        text = nodes.paragraph("", "", nodes.literal("", item["change"]))
        text += nodes.Text(f": {item['expect']}")
        entries += nodes.list_item("", text)
    found += entries
    command = RUN.format(name=name, change=option(items[0]["change"]))
    found += nodes.paragraph(
        "", "Edit the cell above in any Jupyter, or leave the notebook as it is and run:"
    )
    found += nodes.literal_block(command, command, language="shell")
    return found


def option(change):
    """A change as an option of the command."""
    knob, _, value = change.partition(" = ")
    return f"--profile {value.strip(chr(34))}" if knob == "PROFILE" else f"-p {knob} {value}"


def changes(app, name):
    """What there is to try in a notebook; a record of a long run has one seed."""
    path = Path(app.srcdir) / NOTES
    known = {}
    if path.is_file():
        app.env.note_dependency(str(path))
        known = notes(path, path.stat().st_mtime_ns)
    if name in known or not profiles.SIZES.get(name):
        return known.get(name, [])
    return [RECORDED if name in profiles.STORED else ANY]


def add_knobs(app, container, stem):
    name = stem.split("_")[0]
    place = container.parent.index(container) + 1
    added = []
    if profiles.SIZES.get(name):
        added.append(knob_table(name))
    if items := changes(app, name):
        added.append(box(name, items))
    container.parent[place:place] = added
