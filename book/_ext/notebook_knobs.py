"""What the parameters of a notebook were, and what to expect when they are changed.

Below the cell ``parameters``, whose ``None`` hides the values, stands a table of the knobs at the
three profiles, and a box "Change this, expect that". The expectations are in ``book/try_this.yml``.
"""

from functools import cache
from pathlib import Path
from shlex import quote

import yaml
from docutils import nodes

from firal.companion import profiles

TITLE = "Change this, expect that"
RUN = ".venv/bin/python book/_tools/run_notebooks.py --nb {name} --out _build/mine {change}"
NOTES = "book/try_this.yml"


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


def settings(change):
    """The parameters of a change, ``A = 1; B = [2, 3]``, and their values, as they are written."""
    return dict(part.strip().split(" = ", 1) for part in change.split(";"))


def option(change):
    """A change as options of the command."""
    return " ".join(
        f"--profile {value.strip(chr(34))}" if knob == "PROFILE" else f"-p {knob} {quote(value)}"
        for knob, value in settings(change).items()
    )


def changes(app, name):
    """What there is to try in a notebook."""
    path = Path(app.srcdir) / NOTES
    if not path.is_file():
        return []
    app.env.note_dependency(str(path))
    return notes(path, path.stat().st_mtime_ns).get(name, [])


def add_knobs(app, container, stem):
    name = stem.split("_")[0]
    place = container.parent.index(container) + 1
    added = []
    if profiles.SIZES.get(name):
        added.append(knob_table(name))
    if items := changes(app, name):
        added.append(box(name, items))
    container.parent[place:place] = added
