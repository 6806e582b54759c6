"""A directive that parses generated Markdown in place."""

from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective


def registry_sources(root):
    """The registry and the notebooks whose stored outputs give its verdicts."""
    return [root / "book" / "claims.yml", *(root / "notebooks").glob("*.ipynb")]


class Generated(SphinxDirective):
    """Subclasses say what to parse, ``markdown(root)``, and what it is made from,
    ``sources(root)``: the page is built again when one of these changes."""

    def run(self):
        root = Path(self.env.srcdir)
        for source in self.sources(root):
            self.env.note_dependency(str(source))
        container = nodes.container()
        content = StringList(self.markdown(root), source=self.get_source_info()[0])
        self.state.nested_parse(content, self.content_offset, container, match_titles=True)
        return container.children
