"""Slides for the four weeks, cut out of the built pages: the book stays the one source.

The weeks, lectures and questions come from the page *Teaching with this book*. Statements, pictures
and exercises are the blocks of the chapters and notebooks that it links to, and those that
``STATEMENTS`` adds. One page per week, ``slides/week1.html``: a screen per slide, which scrolls
on a phone and obeys the arrow keys on a projector. ``{course-kit}`` links to them.
"""

import posixpath
import re
from html import escape, unescape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

COURSE = "book/course.html"
# lecture -> labels of statements that its pages prove, in the order of the lecture
STATEMENTS = {
    "Lecture 1": ["our-excess-kl", "our-separable"],
    "Lecture 2": ["prop-23", "lem-24", "lem-25"],
    "Lecture 3": ["thm-3", "prop-31"],
    "Lecture 4": ["thm-32"],
    "Lecture 5": ["lem-5", "prop-6"],
    "Lecture 6": ["prop-7", "prop-8", "our-two-by-two"],
    "Lecture 7": ["our-sharper", "our-distinct"],
    "Lecture 8": ["alg-1"],
}
WEEK = re.compile(r'<section id="(week-\d[\w-]*)">')
PARAGRAPH = re.compile(
    r"<p><strong>((?:Lecture|Lab) \d)\. (.*?)</strong>(.*?)</p>\s*<ul", re.DOTALL
)
LINK = re.compile(r'<a class="[^"]*" href="([^"]+)"')
BLOCK = re.compile(r'<div class="(?:proof|exercise)[^"]*"[^>]*\bid="([^"]+)"')
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="../_static/katex.css">
<link rel="stylesheet" href="../_static/slides.css">
<script defer src="../_static/slides.js"></script>
</head>
<body>
<main>
{slides}
</main>
</body>
</html>
"""


def element(html, start):
    """The element that begins at ``start``, up to its own closing tag."""
    tag = re.match(r"<(\w+)", html[start:])[1]
    depth = 0
    for found in re.compile(rf"<(/?){tag}\b").finditer(html, start):
        depth += -1 if found[1] else 1
        if depth == 0:
            return html[start : html.index(">", found.end()) + 1]
    raise ValueError(f"<{tag}> at {start} is not closed")


def by_id(html, name):
    """The element with an id, or None."""
    found = re.search(rf'<\w+[^<>]*\bid="{re.escape(name)}"', html)
    return element(html, found.start()) if found else None


class Pages:
    """The built pages, read once; blocks come with links that work from ``slides/``."""

    def __init__(self, out):
        self.out, self.texts, self.labels = Path(out), {}, None

    def text(self, page):
        if page not in self.texts:
            self.texts[page] = (self.out / page).read_text(encoding="utf8")
        return self.texts[page]

    def page_of(self, label):
        """The chapter that has the block with this label."""
        if self.labels is None:
            self.labels = {
                found: path.relative_to(self.out).as_posix()
                for path in sorted((self.out / "book").glob("*.html"))
                for found in BLOCK.findall(path.read_text(encoding="utf8"))
            }
        if label not in self.labels:
            raise ValueError(f"slides: no chapter has a block {label!r}")
        return self.labels[label]

    def block(self, page, name):
        found = by_id(self.text(page), name)
        return found and moved(found, page)

    def picture(self, page, section):
        """The first picture of a section of a notebook, with its text, and its dark partner."""
        found = by_id(self.text(page), section)
        image = found and re.search(r"<img\b[^>]*>", found)
        if not image:
            return None
        shown = re.sub(r' (?:loading|style|class)="[^"]*"', "", moved(image[0], page))
        partner = re.match(r'<img\b[^>]*(src="[^"]*\.dark\.svg")', found[image.end() :])
        if not partner:
            return shown
        dark = moved(partner[1], page).replace("src=", "srcset=")
        source = f'<source media="screen and (prefers-color-scheme: dark)" {dark}>'
        return f"<picture>{source}{shown}</picture>"


def moved(html, page):
    """A piece of a page, with its links as seen from ``slides/`` and without marks and folds."""

    def link(match):
        target = unescape(match[2])
        if re.match(r"[a-z]+:", target):
            return match[0]
        if target.startswith("#"):
            return f'{match[1]}="../{page}{escape(target)}"'
        file = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        return f'{match[1]}="../{escape(file)}"'

    html = re.sub(r'<a class="headerlink".*?</a>', "", html)
    html = re.sub(r'\s(?:id|tabindex)="[^"]*"', "", html)
    return re.sub(r'\b(href|src)="([^"]*)"', link, html)


def question(item):
    """(the question, what a lecturer should know) of an item *Ask first.*"""
    text = re.sub(r"^<em>Ask (?:first|again)[.:]?</em>:?\s*", "", item)
    end = text.rfind("”")
    return (text[: end + 1], text[end + 1 :].strip()) if end > 0 else (text, "")


def item_slides(item, pages, notes):
    """Slides of one item of a lecture: a question, or what to show and the exercises."""
    body = moved(item, COURSE)
    in_class = item.partition("<em>At home")[0]
    linked = [posixpath.normpath(posixpath.join("book", to)) for to in LINK.findall(in_class)]
    if re.match(r"<em>Ask", item):
        asked, known = question(body)
        more = f"<details><summary>For the lecturer</summary>{known}</details>"
        return [("ask", f"<p>{asked}</p>" + (more if known and notes else ""))]
    found = []
    for target in linked:
        page, _, anchor = target.partition("#")
        if page.startswith("notebooks/") and anchor and "<em>Show" in item:
            if picture := pages.picture(page, anchor):
                found.append(
                    ("figure", f'{picture}<p><a href="../{target}">{page_name(page)}</a></p>')
                )
        elif "<em>In class" in item and anchor.startswith("ex-"):
            if block := pages.block(page, anchor):
                found.append(("exercise", block))
    return found


def page_name(page):
    return posixpath.basename(page).split("_")[0]


def week_slides(section, pages, notes):
    """(title, slides) of one week."""
    title = re.sub(
        r"<a class=\"headerlink.*?</a>|<[^>]+>", "", re.search(r"<h3>.*?</h3>", section)[0]
    )
    lectures = list(PARAGRAPH.finditer(section))
    contents = "".join(f"<li>{m[1]}. {m[2].rstrip('.')}</li>" for m in lectures)
    slides = [("title", f"<h1>{title}</h1><ul>{contents}</ul>")]
    for k, match in enumerate(lectures):
        end = lectures[k + 1].start() if k + 1 < len(lectures) else len(section)
        where = moved(match[3].strip(), COURSE)
        slides.append(("title", f"<h2>{match[1]}<br>{match[2]}</h2><p>{where}</p>"))
        items = re.findall(r"<li><p>(.*?)</p></li>", section[match.end() : end], re.DOTALL)
        labels = STATEMENTS.get(match[1], [])
        stated = [("statement", pages.block(pages.page_of(label), label)) for label in labels]
        asked = [slide for item in items for slide in item_slides(item, pages, notes)]
        first = next((i + 1 for i, (kind, _) in enumerate(asked) if kind == "ask"), 0)
        slides += asked[:first] + stated + asked[first:]
    return title, slides


def write_slides(out, edition=""):
    """Write one page per week into ``out/slides``; returns how many slides each has."""
    pages, counts = Pages(out), []
    course = pages.text(COURSE)
    (pages.out / "slides").mkdir(exist_ok=True)
    for k, match in enumerate(WEEK.finditer(course), start=1):
        section = element(course, match.start())
        title, slides = week_slides(section, pages, edition == "instructor")
        html = "\n".join(f'<section class="{kind}">\n{body}\n</section>' for kind, body in slides)
        text = PAGE.format(title=title, slides=html)
        (pages.out / "slides" / f"week{k}.html").write_text(text, encoding="utf8")
        counts.append(len(slides))
    if len(counts) != 4:
        raise ValueError(f"slides: the course has {len(counts)} weeks, expected 4")
    return counts


class CourseKit(SphinxDirective):
    """Links to the slides, and in an edition for a class to the assignments."""

    def run(self):
        weeks = " · ".join(f'<a href="../slides/week{k}.html">week {k}</a>' for k in range(1, 5))
        html = f"<p>Slides: {weeks}.</p>"
        if self.config.edition:
            from assignments import ARCHIVE, all_assignments

            links = " · ".join(
                f'<a href="../assignments/{a.name}.ipynb" download>{a.text.splitlines()[0]}</a>'
                for a in all_assignments()
            )
            html += (
                f'<p>Assignments: {links}. <a href="../assignments/{ARCHIVE}" download>All with '
                "their tests</a>, which they need beside them.</p>"
            )
        return [nodes.raw("", html, format="html")]


def finish(app, error):
    if not error and app.builder.format == "html":
        write_slides(app.outdir, app.config.edition)


def setup(app):
    app.add_config_value("edition", "", "html")
    app.add_directive("course-kit", CourseKit)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
