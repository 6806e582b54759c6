"""The built book carries the software: wheel, source archive, notebooks that run alone.

``book/_tools/downloads.py`` makes them; after the build they lie in ``downloads/`` of the HTML. The
notebook that a page offers for download is the one that runs alone. ``{install-lines}`` shows the
commands, which work beside the folder of the book as they stand; ``install_lines.js`` puts in the
address that the page was opened from.
"""

import sys
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_tools"))
import downloads  # noqa: E402

# words, file, extra: pip takes a path with the extra behind it
LINES = (
    ("The module alone:", downloads.WHEEL, ""),
    ("With all that the notebooks import:", downloads.WHEEL, "[notebook]"),
    ("From the source archive:", downloads.SDIST, ""),
)
FILES = (
    (downloads.WHEEL, "the wheel"),
    (downloads.SDIST, "the source archive"),
    (downloads.ARCHIVE, "all notebooks, each runs alone"),
)


class InstallLines(SphinxDirective):
    """Links to the files, and one block of code per way to install."""

    def run(self):
        up = "../" * self.env.docname.count("/")
        items = "".join(
            f'<li><a class="download" href="{up}downloads/{name}" download>{name}</a>: {what}</li>'
            for name, what in FILES
        )
        found = [nodes.raw("", f"<ul>{items}</ul>", format="html")]
        for words, name, extra in LINES:
            code = f'pip install "./downloads/{name}{extra}"'
            block = nodes.literal_block(code, code, language="shell", classes=["install-line"])
            found += [nodes.paragraph("", words), block]
        return found


class LiteLink(SphinxDirective):
    """A sentence on the notebooks in the browser: only a book with an address has them."""

    def run(self):
        site = downloads.published(downloads.repository(Path(self.env.srcdir)))
        if not site:
            return []
        link = nodes.reference("", "Four light notebooks", refuri=f"{site}/lite/lab/index.html")
        words = " also run in the browser without a server: u01, u02, t01 and t13, at the smallest "
        words += "size. They load Python from the network; nothing else in the book does. Seen in "
        words += "a browser: the page, its Python, and firal installed in it. NumPy and what needs "
        words += "it were out of reach there, so the notebooks were run in an ordinary Python "
        words += "with the browser's versions of the packages, and without what a browser lacks."
        return [nodes.paragraph("", "", link, nodes.Text(words))]


def write_downloads(app, error):
    if error or app.builder.format != "html":
        return
    out, source = Path(app.outdir), Path(app.srcdir)
    texts = downloads.write(out / "downloads", source / "notebooks", downloads.repository(source))
    sources = out / "_sources" / "notebooks"
    for path in sources.glob("*.ipynb"):
        path.write_text(texts[path.name], encoding="utf8")


def doors(name, url, branch):
    """The line below the title of a notebook page: ways to run it."""
    links = [
        (f"../_sources/notebooks/{name}.ipynb", "Download", f' download="{name}.ipynb"'),
    ]
    if url:
        repo = url.removeprefix("https://github.com/")
        file = f"notebooks/{name}.ipynb"
        colab = f"https://colab.research.google.com/github/{repo}/blob/alone/{file}"
        binder = f"https://mybinder.org/v2/gh/{repo}/{branch}?urlpath=lab/tree/{file}"
        links += [(colab, "Open in Colab", ""), (binder, "Open in Binder", "")]
    made = [f'<a href="{escape(to)}"{more}>{words}</a>' for to, words, more in links]
    here = f"Run it here: <code>make lab NB={name.split('_')[0]}</code>"
    why = "it runs alone, after <code>pip install</code>"
    how = f'<a href="../book/get.html">{why}</a>'
    return (
        f'<p class="ways">{made[0]} ({how})'
        + "".join(f" · {m}" for m in made[1:])
        + (f" · {here}</p>")
    )


def add_doors(app, pagename, templatename, context, doctree):
    if not pagename.startswith("notebooks/") or "</h1>" not in context.get("body", ""):
        return
    url = app.config.html_theme_options.get("repository_url", "")
    branch = app.config.html_theme_options.get("repository_branch") or "main"
    line = doors(pagename.partition("/")[2], url, branch)
    context["body"] = context["body"].replace("</h1>", "</h1>\n" + line, 1)


def setup(app):
    app.add_directive("install-lines", InstallLines)
    app.add_directive("lite-link", LiteLink)
    app.add_js_file("install_lines.js", loading_method="defer")
    app.connect("html-page-context", add_doors)
    app.connect("build-finished", write_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
