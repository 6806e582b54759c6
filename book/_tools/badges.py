"""The badges of the README: small pictures that say what the repository itself can prove.

    python book/_tools/badges.py

Version and Python come from the package, the counts from what the executed notebooks recorded. A
test compares the stored pictures with these. Nothing is asked from a server.
"""

import re
import sys
import tomllib

from downloads import ROOT, VERSION

sys.path.insert(0, str(ROOT / "book" / "_ext"))
FOLDER = ROOT / "book" / "_static" / "badges"
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20"
 role="img" aria-label="{left}: {right}">
<rect width="{width}" height="20" rx="3" fill="#0b5fa5"/>
<path d="M3 0h{split}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#3d4652"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="7" y="14">{left}</text><text x="{second}" y="14">{right}</text></g>
</svg>
"""


def badge(left, right):
    """One picture; letters are taken as seven pixels wide."""
    split, width = 7 * len(left) + 11, 7 * (len(left) + len(right)) + 28
    return SVG.format(left=left, right=right, width=width, split=split, second=split + 10)


def badges():
    """{name: picture} of all badges."""
    from scoreboard import ours, outcomes

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    pythons = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    verdicts = [verdict for entry, _, verdict in outcomes(ROOT) if not ours(entry)]
    counts = [verdicts.count(v) for v in ("holds", "holds-corrected", "differs")]
    return {
        "version": badge("version", VERSION),
        "python": badge("python", f"{pythons[0]} to {pythons[-1]}"),
        "license": badge("license", project["license"]),
        "claims": badge(
            f"{len(verdicts)} claims of the paper",
            "{} hold, {} corrected, {} differ".format(*counts),
        ),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, picture in badges().items():
        (FOLDER / f"{name}.svg").write_text(picture, encoding="utf8")
