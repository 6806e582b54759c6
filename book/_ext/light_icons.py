"""Only the icons that the pages show.

The theme ships all 2,000 of Font Awesome in a script of 1.5 MB, which every page loads. About 15
icons are used. The others are taken out of the copy in the built book; light_styles.py takes out
their rules.
"""

import re
from pathlib import Path

SCRIPT = "_static/scripts/fontawesome.js"
USED = re.compile(r"\bfa-([a-z0-9-]+)")
# name:[width,height,[other names and codes],"code","path"], with one path or a list of two
ICON = re.compile(
    r'(?:"([a-z0-9-]+)"|\b([a-z]\w*)):\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]+",(?:"[^"]*"|\[[^\]]*\])\],?'
)


def without_unused(script, used):
    """The script with only those icons that have a name in ``used``."""

    def keep(icon):
        names = {icon[1] or icon[2], *re.findall(r'"([^"]+)"', icon[3])}
        return icon[0] if names & used else ""

    return ICON.sub(keep, script)


def lighten(app, exception):
    path = Path(app.outdir) / SCRIPT
    if exception is not None or app.builder.name != "html" or not path.is_file():
        return
    # the theme's own scripts add icons too
    texts = [*Path(app.outdir).rglob("*.html"), *path.parent.glob("*-theme.js")]
    used = {name for text in texts for name in USED.findall(text.read_text(encoding="utf8"))}
    path.write_text(without_unused(path.read_text(encoding="utf8"), used), encoding="utf8")


def setup(app):
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
