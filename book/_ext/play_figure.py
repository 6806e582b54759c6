"""``{play-figure}``: a chapter shows a figure to play with that a notebook has made.

The figures are made when a notebook runs and stand there, in the gallery. Here the stored output is
taken over as it is. The PDF gets the picture of the first position.

    ```{play-figure} play-pool
    :doc: ../notebooks/u02_play.ipynb
    ```
"""

import hashlib
import os
from base64 import b64decode
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from firal.companion import checkout

MIME = "text/html"


def stored(notebook, name):
    """(markup, picture, words) of the figure with this id in a notebook, or None."""
    for cell in checkout.cells(notebook):
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            markup = "".join(data.get(MIME, ""))
            if f'class="firal-play" id="{name}"' in markup:
                words = "".join(data.get("text/plain", ""))
                return markup, b64decode("".join(data["image/png"])), words
    return None


class PlayFigure(SphinxDirective):
    required_arguments = 1
    option_spec = {"doc": directives.unchanged_required}

    def run(self):
        name = self.arguments[0]
        _, path = self.env.relfn2path(self.options["doc"])
        self.env.note_dependency(path)
        found = stored(Path(path), name) if Path(path).is_file() else None
        if found is None:
            message = f"play-figure: no figure {name!r} in {Path(path).name}"
            return [self.state.document.reporter.warning(message, line=self.lineno)]
        markup, png, words = found
        picture = Path(self.env.mystnb_config.output_folder)
        picture = picture / f"{hashlib.sha256(png).hexdigest()}.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_bytes(png)
        address = "/" + os.path.relpath(picture.resolve(), self.env.srcdir)
        image = nodes.image(uri=address, alt=words, width="100%")
        printed = nodes.figure("", image, nodes.caption("", words))
        here = nodes.raw("", f'<div class="text_html">{markup}</div>', format="html")
        return [here, addnodes.only("", printed, expr="not html")]


def setup(app):
    app.setup_extension("myst_nb")
    app.add_directive("play-figure", PlayFigure)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
