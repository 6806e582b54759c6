"""The address of the repository in the packages: what PyPI shows has no relative link.

``repository.url`` of ``_config.yml`` is the one place. As long as it is empty, nothing changes.
Once it is set, the README of the packages names every picture and file by its address at the tag
of the version, and the packages say where the sources and the book are.
"""

import re

LINK = re.compile(r"(!?)(\[[^\[\]]*\])\((?![a-z]+:|#)([^()\s]+)\)")


def absolute(text, url, version):
    """The README with absolute addresses for what it shows and links to."""

    def at_tag(match):
        picture, words, target = match.groups()
        kind = "raw" if picture else "blob"
        return f"{picture}{words}({url}/{kind}/v{version}/{target})"

    return LINK.sub(at_tag, text)


def put_in(tree, url, version, site=""):
    """Write the address into an unpacked source archive."""
    readme, project = tree / "README.md", tree / "pyproject.toml"
    readme.write_text(absolute(readme.read_text("utf8"), url, version), "utf8")
    urls = {"Source": url, "Issues": f"{url}/issues", "Documentation": site}
    lines = [f'{name} = "{value}"' for name, value in urls.items() if value]
    table = "\n".join(["", "[project.urls]", *lines, ""])
    project.write_text(project.read_text("utf8") + table, "utf8")
