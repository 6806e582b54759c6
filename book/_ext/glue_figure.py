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

RECORD = "application/papermill.record/"


def glued_figure(notebook, key):
    """{suffix: bytes} and alternative text of the figure glued under this key, or None.

    The SVG is for pages, the PNG for print; a heavy figure has no SVG. Where a cell shows the one
    figure that it glues, the picture is stored as shown only.
    """
    for cell in checkout.cells(notebook):
        outputs = cell.get("outputs", [])
        for output in outputs:
            if output.get("metadata", {}).get("scrapbook", {}).get("name") != key:
                continue
            data = {mime.removeprefix(RECORD): v for mime, v in output["data"].items()}
            if "image/png" not in data:
                shown = [o["data"] for o in outputs if "image/png" in o.get("data", {})]
                data = shown[0] if len(shown) == 1 else {}
            if "image/png" in data:
                image = cell["metadata"].get("mystnb", {}).get("image", {})
                forms = {"png": b64decode("".join(data["image/png"]))}
                if "image/svg+xml" in data:
                    forms["svg"] = "".join(data["image/svg+xml"]).encode()
                return forms, image.get("alt", "")
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
        forms, alt = found
        self.options.setdefault("alt", alt)
        folder = Path(env.mystnb_config.output_folder)
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(b"".join(forms.values())).hexdigest()
        for suffix, content in forms.items():
            (folder / f"{name}.{suffix}").write_bytes(content)
        # a star: every builder takes the form that it likes best
        name += ".*" if len(forms) > 1 else ".png"
        self.arguments[0] = "/" + os.path.relpath(folder.resolve() / name, env.srcdir)
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
