"""What screen readers stumble over, as checked with axe.

- An empty corner in the head of a table of pandas is no header.
- An entry of the list of references is an item of a list; its own role is no longer in use.
- The button of a folded cell is called what it shows.
- The arrow beside a chapter in the contents has a name.
"""

from pathlib import Path

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


ARROW = '<summary><span class="toctree-toggle"'


def name_arrows(app, exception):
    """The contents are made by the theme while a page is written, so this comes last."""
    if exception is None and app.builder.name == "html":
        for page in Path(app.outdir).rglob("*.html"):
            html = page.read_text(encoding="utf8")
            if ARROW in html:
                named = ARROW.replace("<summary>", '<summary aria-label="Pages of this chapter">')
                page.write_text(html.replace(ARROW, named), encoding="utf8")


def setup(app):
    app.connect("build-finished", name_arrows)
    app.connect("doctree-resolved", mend_tables)
    app.connect("html-page-context", mend_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
