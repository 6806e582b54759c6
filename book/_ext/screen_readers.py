"""What screen readers stumble over, as checked with axe.

- An empty corner in the head of a table of pandas is no header.
- An entry of the list of references is an item of a list; its own role is no longer in use.
- The button of a folded cell is called what it shows.
"""

from docutils import nodes

ROLES = {
    'role="doc-biblioentry"': 'role="listitem"',
    '<summary aria-label="Toggle hidden content">': "<summary>",
}


def without_empty_headers(html):
    """The same table of pandas with plain cells where the head has nothing to say."""
    return html.replace("<th></th>", "<td></td>")


def with_plain_roles(html):
    """The same page with roles and names that screen readers know."""
    for old, new in ROLES.items():
        html = html.replace(old, new)
    return html


def mend_tables(app, doctree, docname):
    for table in doctree.findall(nodes.raw):
        if 'class="dataframe"' in table.astext():
            table.children = [nodes.Text(without_empty_headers(table.astext()))]


def mend_page(app, pagename, templatename, context, doctree):
    if "body" in context:
        context["body"] = with_plain_roles(context["body"])


def setup(app):
    app.connect("doctree-resolved", mend_tables)
    app.connect("html-page-context", mend_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
