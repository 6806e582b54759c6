"""``{glue:figure}`` with a ``:doc:`` option: a chapter shows a figure of a notebook.

myst-nb pastes a glued figure into its own page only. Across pages it has ``{glue:any}``, which
knows neither a caption nor an alternative text. Here the picture is taken from the stored output
of the notebook. Its alternative text is that of the cell, unless the directive gives another one.

    ```{glue:figure} fig-name
    :doc: ../notebooks/t02_probability_tools.ipynb
    :name: fig-label
    Caption that states the finding.
    ```
"""

import hashlib
import os
from base64 import b64decode
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from myst_nb.ext.glue.directives import PasteFigureDirective
from sphinx.directives.patches import Figure

from firal.companion import checkout

PNG = "application/papermill.record/image/png"


def glued_figure(notebook, key):
    """PNG and alternative text of the figure that a cell glued under this key, or None."""
    for cell in checkout.cells(notebook):
        for output in cell.get("outputs", []):
            record = output.get("metadata", {}).get("scrapbook", {})
            if record.get("name") == key and PNG in output["data"]:
                image = cell["metadata"].get("mystnb", {}).get("image", {})
                return b64decode(output["data"][PNG]), image.get("alt", "")
    return None


class NotebookFigure(Figure):
    """A figure whose picture comes from a notebook; all options of ``{figure}`` work."""

    option_spec = {**Figure.option_spec, "doc": directives.unchanged}

    def run(self):
        env = self.state.document.settings.env
        key = self.arguments[0]
        _, path = env.relfn2path(self.options.pop("doc"))
        env.note_dependency(path)
        if not Path(path).is_file():
            return [self._problem(f"no notebook {Path(path).name}")]
        found = glued_figure(Path(path), key)
        if found is None:
            return [self._problem(f"no figure {key!r} is glued in {Path(path).name}")]
        png, alt = found
        self.options.setdefault("alt", alt)
        picture = Path(env.mystnb_config.output_folder) / f"{hashlib.sha256(png).hexdigest()}.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_bytes(png)
        self.arguments[0] = "/" + os.path.relpath(picture.resolve(), env.srcdir)
        return super().run()

    def _problem(self, message):
        return self.state.document.reporter.warning(f"glue:figure: {message}", line=self.lineno)


class GlueFigure(PasteFigureDirective):
    """myst-nb's directive, or with the option ``doc`` the one above."""

    option_spec = {
        **PasteFigureDirective.option_spec,
        **Figure.option_spec,
        "doc": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        if "doc" not in self.options:
            return super().run()
        return NotebookFigure(
            self.name,
            self.arguments,
            self.options,
            self.content,
            self.lineno,
            self.content_offset,
            self.block_text,
            self.state,
            self.state_machine,
        ).run()


def setup(app):
    app.setup_extension("myst_nb")
    app.add_directive_to_domain("glue", "figure", GlueFigure, override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
