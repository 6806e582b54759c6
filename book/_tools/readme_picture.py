"""Copy the picture of the README out of the executed notebook that draws it."""

import sys

from freshness import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from glue_figure import glued_figure  # noqa: E402

NOTEBOOK = ROOT / "notebooks" / "e10_digits.ipynb"
FIGURE = "fig-e10-accuracy"
TARGET = ROOT / "book" / "_static" / "headline.png"


def main():
    png = glued_figure(NOTEBOOK, FIGURE)[0]["png"]
    if not TARGET.is_file() or TARGET.read_bytes() != png:
        TARGET.write_bytes(png)


if __name__ == "__main__":
    main()
