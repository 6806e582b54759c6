"""Only the icons that the pages show.

The theme ships all 2,000 of Font Awesome in a script of 1.5 MB, and rules for them in its style
sheet. Every page loads both. About 15 icons are used. The others are taken out of the copies in
the built book.
"""

import re
from pathlib import Path

SCRIPT = "_static/scripts/fontawesome.js"
STYLES = "_static/styles/pydata-sphinx-theme.css"
USED = re.compile(r"\bfa-([a-z0-9-]+)")
# name:[width,height,[other names and codes],"code","path"], with one path or a list of two
ICON = re.compile(
    r'(?:"([a-z0-9-]+)"|\b([a-z]\w*)):\[\d+,\d+,\[([^\]]*)\],"[0-9a-f]+",(?:"[^"]*"|\[[^\]]*\])\],?'
)
RULE = re.compile(r'((?:\.fa-[a-z0-9-]+:before,?)+)\{content:"[^"]*"\}')


def without_unused_rules(styles, used):
    """The style sheet with only those rules for icons that have a name in ``used``."""
    return RULE.sub(lambda rule: rule[0] if used & set(USED.findall(rule[1])) else "", styles)


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
    for name, keep in ((SCRIPT, without_unused), (STYLES, without_unused_rules)):
        file = Path(app.outdir) / name
        file.write_text(keep(file.read_text(encoding="utf8"), used), encoding="utf8")


def setup(app):
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
