"""Copy the pictures of the README and of the social card out of the notebooks that draw them."""

import sys

from freshness import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from glue_figure import glued_figure  # noqa: E402

# file in book/_static -> notebook, name of the figure
PICTURES = {
    "headline.png": ("e10_digits", "fig-e10-accuracy"),  # the card: it is wider than high
    "all_pools.png": ("e20_default_images", "fig-e20-all-pools"),  # README
}


def target(name):
    return ROOT / "book" / "_static" / name


def drawn(name):
    """The picture as the notebook has it."""
    notebook, figure = PICTURES[name]
    return glued_figure(ROOT / "notebooks" / f"{notebook}.ipynb", figure)[0]["png"]


def main():
    for name in PICTURES:
        png, file = drawn(name), target(name)
        if not file.is_file() or file.read_bytes() != png:
            file.write_bytes(png)


if __name__ == "__main__":
    main()
