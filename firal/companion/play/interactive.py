"""Figures to play with that need no kernel, no library and no network.

Everything is computed when the notebook runs: every combination of the controls' positions is a
*frame*, drawn by one Python function. The page holds the first frame as SVG, and as compressed JSON
the paths that differ in the others; a few lines of JavaScript swap them. So the page works offline.
Without JavaScript and on paper it still shows a frame, and a PDF gets a picture of the first.

The controls are ordinary sliders and lists: Tab reaches them, arrow keys, Home and End move them,
and a screen reader hears the value and the sentence below the figure.
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from html import escape
from itertools import product
from typing import NamedTuple

import numpy as np

from firal.companion.play.panels import PALETTE, Panel
from firal.companion.play.print import png
from firal.companion.play.svg import outline, paint, path, svg

MOST_BYTES = 250_000  # of one figure
LEGEND_KEY = 28, 12  # width and height of a sample in the legend

SCRIPT = """(function(){
const options=%(options)s, root=document.getElementById("%(name)s");
const controls=[...root.querySelectorAll("input,select")], paths=root.querySelectorAll("path.m");
const text=root.querySelector(".says");
if(!window.DecompressionStream)return;
const packed=Uint8Array.from(atob("%(frames)s"),c=>c.charCodeAt(0));
const unpacked=new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
const frames=new Response(unpacked).json();
async function show(){const data=await frames; let frame=0;
controls.forEach((control,k)=>{const i=+control.value; frame=frame*options[k].length+i;
if(control.type==="range"){const says=options[k][i];
control.setAttribute("aria-valuetext",says);
root.querySelector("output[for="+control.id+"]").textContent=says;}});
for(const [k,values,at] of data.marks)paths[k].setAttribute("d",values[at[frame]]);
text.textContent=data.says[0][data.says[1][frame]];}
root.querySelector(".controls").hidden=false;
controls.forEach(control=>control.addEventListener("input",show)); show();})();"""

STYLE = """.firal-play{margin:0 0 1em;%(light)s}
html[data-theme=dark] .firal-play,body[data-jp-theme-light=false] .firal-play{%(dark)s}
.text_html:has(>.firal-play){background:none!important;color:inherit!important}
.firal-play .panels{display:flex;flex-wrap:wrap;gap:.4em 1em}
.firal-play .panels>*{flex:1 1 300px;max-width:500px;min-width:0}
.firal-play .panels svg{width:100%%;height:auto;display:block}
.firal-play .says{margin:.5em 0;min-height:3em}
.firal-play .panels>:last-child{max-width:none}
.firal-play ul{list-style:none!important;padding:0!important;margin:.5em 0}
.firal-play ul{display:flex;flex-wrap:wrap;gap:.1em 1em}
.firal-play li{margin:0;white-space:nowrap}
.firal-play li svg{display:inline-block!important;width:%(key)spx!important;margin-right:.4em}
.firal-play .controls:not([hidden]){display:flex;flex-wrap:wrap;gap:.4em 1.5em;margin:.3em 0}
.firal-play .controls>div{flex:1 1 240px;max-width:480px}
.firal-play input{width:100%%;height:28px;margin:0}
.firal-play select{min-height:28px;font:inherit;max-width:100%%}
.firal-play :is(input,select):focus-visible{outline:3px solid currentColor;outline-offset:2px}
@media print{.firal-play{color:#000;%(light)s}.firal-play .controls{display:none!important}}"""


class Control(NamedTuple):
    """A slider over ``options``, the texts of its positions; or with ``choice`` a list of them."""

    label: str
    options: list
    choice: bool = False
    start: int = 0


class PlayFigure:
    """Display object: panels, controls, a legend and a sentence that says what is to be seen.

    name      id in the page: letters, digits and hyphens, unique in the book
    controls  list of :class:`Control`
    draw      draw(i, j, ..) -> (list of Panel, str) for the positions of the controls. The panels
              have the same axes, the same number of marks and the same looks in every frame.
    caption   what to see in it
    """

    def __init__(self, name, controls, draw, *, caption):
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", name):
            raise ValueError(f"name must be letters, digits and hyphens, got {name!r}")
        for control in controls:
            if not 0 <= control.start < len(control.options):
                raise ValueError(
                    f"start of {control.label!r} must be a position 0..{len(control.options) - 1}, "
                    f"got {control.start!r}"
                )
        positions = list(product(*(range(len(control.options)) for control in controls)))
        paths, says = [], []
        self.panels, self.says = draw(*(control.start for control in controls))
        fixed = _fixed_part(self.panels)
        for position in positions:
            panels, text = draw(*position)
            if _fixed_part(panels) != fixed:
                raise ValueError(f"axes and looks must not change, but do at {position}")
            paths.append([outline(p, mark) for p in panels for mark in p.marks if _moves(mark)])
            says.append(text)
        self.caption = caption
        self.state = "; ".join(f"{c.label}: {c.options[c.start]}" for c in controls)
        count = " by ".join(str(len(c.options)) for c in controls)
        self.text = (
            f"{caption} Interactive in the HTML book ({count} positions). Here {self.state}."
        )
        self.html = self._page(name, controls, paths, says)
        if len(self.html.encode()) > MOST_BYTES:
            raise ValueError(
                f"the figure has {len(self.html.encode())} bytes, more than {MOST_BYTES}: "
                "take fewer positions or points"
            )

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {
            "text/html": self.html,
            "image/png": b64encode(self.png()).decode(),
            "text/plain": self.text,
        }

    def png(self):
        """The first frame with its legend, for print."""
        return png(self.panels, _legend(self.panels), self.state)

    def _page(self, name, controls, paths, says):
        moving = zip(*paths, strict=True)
        marks = [[k, *_table(values)] for k, values in enumerate(moving) if len(set(values)) > 1]
        script = SCRIPT % {
            "name": name,
            "options": _json([c.options for c in controls]).replace("</", "<\\/"),
            "frames": packed({"says": _table(says), "marks": marks}),
        }
        variables = [
            "".join(f"--fp-{color}:{values[k]};" for color, values in PALETTE.items())
            for k in (0, 1)
        ]
        style = STYLE % {"light": variables[0], "dark": variables[1], "key": LEGEND_KEY[0]}
        parts = [
            f'<figure class="firal-play" id="{name}"><style>{style}</style>',
            '<div class="controls" hidden>',
            *(_control(f"{name}-c{k}", control) for k, control in enumerate(controls)),
            '</div><div class="panels">',
        ]
        for k, panel in enumerate(self.panels):
            parts.append(f"<div>{svg(panel, f'{name}-p{k}')}</div>")
        keys = "".join(
            f"<li>{_sample(mark)}{escape(mark.look.label)}</li>" for mark in _legend(self.panels)
        )
        parts += [
            f'<div><p class="says" aria-live="polite">{escape(self.says)}</p>',
            f"<ul>{keys}</ul></div></div>",
            f"<figcaption>{escape(self.caption)}</figcaption>",
            f"<script>{script}</script>",
            "</figure>",
        ]
        return "\n".join(parts)


class SliderFigure(PlayFigure):
    """A log-log plot with one set of curves per position of one slider.

    name     id in the page: letters, digits and hyphens, unique in the book
    x        (K,) positive numbers
    curves   {label: (style, color, Y)} with Y (F, K): one row per slider position. Style is dots,
             line, dashed or dotted. Entries that are not positive and finite are not drawn.
    values   (F,) what the slider stands at, one label per position; ``slider`` is its name
    """

    def __init__(self, name, x, curves, values, *, slider, xlabel, ylabel, caption, start=0):
        x = np.asarray(x, dtype=float)
        if x.ndim != 1 or x.size < 2 or not (np.isfinite(x).all() and x.min() > 0):
            raise ValueError(f"x must hold at least two positive numbers, got {x!r:.80}")
        looks = {
            "dots": {"marker": "o"},
            "line": {},
            "dashed": {"dash": "dashed"},
            "dotted": {"dash": "dotted"},
        }
        for label, (style, _, Y) in curves.items():
            if style not in looks:
                raise ValueError(f"unknown style {style!r}: expected one of {', '.join(looks)}")
            if np.shape(Y) != (len(values), x.size):
                raise ValueError(
                    f"curve {label!r} must have shape {(len(values), x.size)}, got {np.shape(Y)}"
                )
        everything = np.concatenate([np.ravel(Y).astype(float) for _, _, Y in curves.values()])
        seen = everything[np.isfinite(everything) & (everything > 0)]
        wider = np.array([1 / 1.2, 1.2])

        def draw(frame):
            panel = Panel(
                f"{ylabel[:1].upper()}{ylabel[1:]} against {xlabel}",
                wider * [x.min(), x.max()],
                wider * [seen.min(), seen.max()],
                xlabel=xlabel,
                ylabel=ylabel,
                xlog=True,
                ylog=True,
            )
            for label, (style, color, Y) in curves.items():
                add = panel.dots if style == "dots" else panel.line
                y = np.where(np.isfinite(Y[frame]) & (Y[frame] > 0), Y[frame], np.nan)
                add(x, y, color=color, label=label, **looks[style])
            return [panel], f"{slider} = {values[frame]}"

        control = Control(slider, [str(value) for value in values], start=start)
        super().__init__(name, [control], draw, caption=caption)


def packed(data):
    """JSON, deflated, as text: a fifth of the bytes. A page unpacks it by itself."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b64encode(deflate.compress(_json(data).encode()) + deflate.flush()).decode()


def _json(data):
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def _moves(mark):
    return mark.kind != "text"


def _fixed_part(panels):
    """What has to be the same in every frame."""
    out = []
    for panel in panels:
        texts = [(m.text, *m.x, *m.y) for m in panel.marks if not _moves(m)]
        looks = [(m.kind, m.look) for m in panel.marks]
        out.append((panel.title, panel.across.limits, panel.up.limits, texts, looks))
    return out


def _table(values):
    """Distinct values, and for every entry which of them it is."""
    distinct = {value: k for k, value in enumerate(dict.fromkeys(values))}
    return [list(distinct), [distinct[value] for value in values]]


def _legend(panels):
    """The first mark with each label."""
    found = {}
    for panel in panels:
        for mark in panel.marks:
            if mark.look.label:
                found.setdefault(mark.look.label, mark)
    return list(found.values())


def _sample(mark):
    """A short piece of the mark, for the legend."""
    w, h = LEGEND_KEY
    shapes = {
        "line": ([1, w - 1], [h / 2, h / 2]),
        "dots": ([w / 2], [h / 2]),
        "area": ([2, w - 2, w - 2, 2], [1, 1, h - 1, h - 1]),
    }
    a, b = map(np.array, shapes[mark.kind])
    mark = mark._replace(look=mark.look._replace(size=min(mark.look.size, h / 2 - 1.5)))
    return (
        f'<svg viewBox="0 0 {w} {h}" aria-hidden="true"><path {paint(mark)} '
        f'd="{path(mark, a, b)}"/></svg>'
    )


def _control(name, control):
    label = escape(control.label)
    if control.choice:
        options = "".join(
            f'<option value="{i}"{" selected" * (i == control.start)}>{escape(option)}</option>'
            for i, option in enumerate(control.options)
        )
        return (
            f'<div><label for="{name}">{label}</label> <select id="{name}">{options}</select></div>'
        )
    now = escape(control.options[control.start])
    return (
        f'<div><label for="{name}">{label}: <output for="{name}">{now}</output></label>'
        f'<input id="{name}" type="range" min="0" max="{len(control.options) - 1}" step="1" '
        f'value="{control.start}" aria-valuetext="{now}"></div>'
    )
