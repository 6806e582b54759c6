"""``{statement-map}``: how the statements of the paper depend on each other, drawn as a graph.

Made from ``depends`` in ``book/claims.yml`` and from the verdicts of the executed notebooks. In
HTML it is an inline SVG: every box is a link to its statement, and pointing at a box, or moving to
it with the Tab key, marks what it rests on and what rests on it. The PDF has the same drawing,
and a list. Pages are read once for all builders, so each format stands in its own block.
"""

import posixpath
from html import escape

from generated import Generated, registry_sources
from scoreboard import VERDICTS, outcomes

WIDTH, HEIGHT, GAP_X, GAP_Y = 68, 26, 12, 9  # of a box and between boxes, in pixels
SWEEPS = 24  # passes of the ordering; more change nothing here
NAMES = {
    "asm": "Asm.",
    "lem": "Lem.",
    "thm": "Thm.",
    "prop": "Prop.",
    "def": "Def.",
    "cor": "Cor.",
    "rem": "Rem.",
    "alg": "Alg.",
}
PENS = {
    "holds": "green!45!black,thick",
    "holds-corrected": "orange!75!black,thick,dashed",
    "differs": "red!75!black,ultra thick",
    "cannot-test": "gray,thick,dotted",
}

SCRIPT = """(function(){const root=document.getElementById("statement-map");
const boxes=new Map([...root.querySelectorAll("a.box")].map(b=>[b.dataset.id,b]));
const lines=[...root.querySelectorAll("path.edge")];
function reach(id,from,to){const seen=new Set([id]),todo=[id];
while(todo.length){const now=todo.pop();for(const e of lines)
if(e.dataset[from]===now&&!seen.has(e.dataset[to])){seen.add(e.dataset[to]);todo.push(e.dataset[to]);}}
return seen;}
function mark(id){const needs=reach(id,"to","from"),serves=reach(id,"from","to");
root.classList.add("marked");
boxes.forEach((b,k)=>{b.classList.toggle("needs",needs.has(k));b.classList.toggle("serves",serves.has(k));});
lines.forEach(e=>{e.classList.toggle("needs",needs.has(e.dataset.to));
e.classList.toggle("serves",serves.has(e.dataset.from));});}
function clear(){root.classList.remove("marked");}
boxes.forEach((b,k)=>{b.addEventListener("mouseenter",()=>mark(k));b.addEventListener("focus",()=>mark(k));
b.addEventListener("mouseleave",clear);b.addEventListener("blur",clear);});})();"""


def statements(rows):
    """{id: (entry, verdict)} of the statements and algorithms and of what they rest on."""
    every = {entry["id"]: (entry, verdict) for entry, _, verdict in rows}
    shown = [i for i in every if i.split("-")[0] in NAMES]
    shown += [d for i in shown for d in every[i][0]["depends"] if d not in shown]
    return {i: every[i] for i in dict.fromkeys(shown)}


def columns(uses):
    """Lists of ids, left to right: whatever an item uses stands in an earlier column.

    uses  {id: ids it uses}. An item stands as far right as what it serves allows, so that lines
    are short; the items that serve nothing stand where their own needs put them.
    """
    depth = {}

    def longest(i):
        if i not in depth:
            depth[i] = 1 + max((longest(j) for j in uses[i]), default=-1)
        return depth[i]

    for i in uses:
        longest(i)
    users = {i: [j for j in uses if i in uses[j]] for i in uses}
    for i in sorted(uses, key=depth.get, reverse=True):
        if users[i]:
            depth[i] = min(depth[j] for j in users[i]) - 1
    layers = [[i for i in uses if depth[i] == k] for k in range(max(depth.values()) + 1)]
    for sweep in range(SWEEPS):  # each item moves to the mean height of its neighbors
        near = uses if sweep % 2 == 0 else users
        height = {i: (k + 0.5) / len(layer) for layer in layers for k, i in enumerate(layer)}
        for layer in layers:
            layer.sort(key=lambda i: _mean([height[j] for j in near[i]], height[i]))
            height.update({i: (k + 0.5) / len(layer) for k, i in enumerate(layer)})
    return layers


def _mean(values, default):
    return sum(values) / len(values) if values else default


def short_name(name):
    """``Thm. 3`` for thm-3; a claim in the text has no number."""
    kind, _, number = name.partition("-")
    return f"{NAMES[kind]} {number}" if kind in NAMES else "text"


def layout(items):
    """What each item uses, (x, y) of the corner of its box, width and height of the drawing."""
    uses = {i: [j for j in entry["depends"] if j in items] for i, (entry, _) in items.items()}
    free = [i for i in uses if not uses[i] and not any(i in u for u in uses.values())]
    layers = columns({i: u for i, u in uses.items() if i not in free})
    tall = max(map(len, layers))
    place = {}
    for k, layer in enumerate(layers):
        space = tall * (HEIGHT + GAP_Y) / len(layer)
        for row, i in enumerate(layer):
            place[i] = (k * (WIDTH + GAP_X) + 2, (row + 0.5) * space - HEIGHT / 2)
    per_row = len(layers)
    for k, i in enumerate(free):  # what stands alone goes below
        place[i] = (
            (k % per_row) * (WIDTH + GAP_X) + 2,
            (tall + 0.6 + k // per_row) * (HEIGHT + GAP_Y),
        )
    width = len(layers) * (WIDTH + GAP_X) - GAP_X + 4
    height = max(y for _, y in place.values()) + HEIGHT + 4
    return uses, place, width, height


def svg(items, link):
    """The drawing; ``link(id)`` gives where a box leads."""
    uses, place, width, height = layout(items)
    parts = []
    for i, needed in uses.items():
        for j in needed:
            (x0, y0), (x1, y1) = place[j], place[i]
            x0, y0, y1 = x0 + WIDTH, y0 + HEIGHT / 2, y1 + HEIGHT / 2
            bend = (x1 - x0) / 2
            parts.append(
                f'<path class="edge" data-from="{j}" data-to="{i}" d="M{x0:.0f} {y0:.0f}'
                f'C{x0 + bend:.0f} {y0:.0f} {x1 - bend:.0f} {y1:.0f} {x1:.0f} {y1:.0f}"/>'
            )
    for i, (x, y) in place.items():
        entry, verdict = items[i]
        label = f"{VERDICTS[verdict][0]} {short_name(i)}"
        words = f"{label}, {entry['title']}: {VERDICTS[verdict][2:]} ({i})"
        parts.append(
            f'<a class="box {verdict.replace(" ", "-")}" data-id="{i}" href="{escape(link(i))}" '
            f'aria-label="{escape(words)}"><title>{escape(words)}</title>'
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="4"/>'
            f'<text x="{x + WIDTH / 2:.0f}" y="{y + HEIGHT / 2 + 4:.0f}">'
            f"{escape(label)}</text></a>"
        )
    return (
        f'<div class="statement-map" id="statement-map" tabindex="0" role="region" '
        f'aria-label="Map of the statements">'
        f'<svg viewBox="0 0 {width} {height:.0f}" width="{width}" height="{height:.0f}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg></div>'
        f"<script>{SCRIPT}</script>"
    )


def tikz(items):
    """The drawing for the PDF, as wide as the text."""
    uses, place, *_ = layout(items)
    parts = [
        r"\noindent\resizebox{\linewidth}{!}{\begin{tikzpicture}[x=1bp,y=-1bp]",
        r"\sffamily\fontsize{12.5}{15}\selectfont",
    ]
    for i, needed in uses.items():
        for j in needed:
            (x0, y0), (x1, y1) = place[j], place[i]
            x0, y0, y1 = x0 + WIDTH, y0 + HEIGHT / 2, y1 + HEIGHT / 2
            middle = (x0 + x1) / 2
            parts.append(
                rf"\draw[gray!60] ({x0:.0f},{y0:.0f}) .. controls ({middle:.0f},{y0:.0f}) "
                rf"and ({middle:.0f},{y1:.0f}) .. ({x1:.0f},{y1:.0f});"
            )
    for i, (x, y) in place.items():
        entry, verdict = items[i]
        page = f"book/{entry['chapter']}:" + (i if i.split("-")[0] in NAMES else ":doc")
        label = f"{VERDICTS[verdict][0]} {short_name(i)}"
        parts.append(
            rf"\draw[{PENS.get(verdict, 'black')},fill=white,rounded corners=3bp] "
            rf"({x:.0f},{y:.0f}) rectangle +({WIDTH},{HEIGHT});"
            rf"\node at ({x + WIDTH / 2:.0f},{y + HEIGHT / 2:.0f}) "
            rf"{{\hyperref[\detokenize{{{page}}}]{{{label}}}}};"
        )
    return "\n".join([*parts, r"\end{tikzpicture}}"])


def listing(items):
    """The same as Markdown lines: what every statement rests on."""

    def name(i):
        return short_name(i) if i.split("-")[0] in NAMES else f'"{items[i][0]["title"]}"'

    lines = []
    for i, (entry, _) in items.items():
        needs = ", ".join(name(j) for j in entry["depends"] if j in items)
        if needs:
            title = f", {entry['title']}" if i.split("-")[0] in NAMES else ""
            lines.append(f"- {name(i)}{title}: rests on {needs}")
    return lines


class StatementMap(Generated):
    sources = staticmethod(registry_sources)

    def markdown(self, root):
        items = statements(outcomes(root))
        here = posixpath.dirname(self.env.docname)

        def link(i):
            page = posixpath.relpath(f"book/{items[i][0]['chapter']}.html", here)
            return f"{page}#{i}" if i.split("-")[0] in NAMES else page

        return [
            *("```{raw} html", *svg(items, link).splitlines(), "```", ""),
            *("```{raw} latex", *tikz(items).splitlines(), "```", ""),
            *("````{only} not html", *listing(items), "````"),
        ]


def setup(app):
    app.add_directive("statement-map", StatementMap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
