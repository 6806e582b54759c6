"""Tables of numbers, for screen readers: an empty corner of a table's head is no header."""

from docutils import nodes


def without_empty_headers(html):
    """The same table of pandas with plain cells where the head has nothing to say."""
    return html.replace("<th></th>", "<td></td>")


def mend(app, doctree, docname):
    for table in doctree.findall(nodes.raw):
        if 'class="dataframe"' in table.astext():
            table.children = [nodes.Text(without_empty_headers(table.astext()))]


def setup(app):
    app.connect("doctree-resolved", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
