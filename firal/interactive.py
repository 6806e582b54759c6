"""A figure with a slider that needs no kernel, no library and no network.

All curves are computed when the notebook runs. Python turns them into SVG paths, draws the first
position, and stores the paths of the others as JSON; a few lines of JavaScript swap them. So the
page works offline, and without JavaScript it still shows a figure. The slider is an ordinary range
input: arrow keys, Home and End move it, and a screen reader hears the value.
"""

from __future__ import annotations

import json
import re
from html import escape

import numpy as np

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 630, 12, 345  # the frame of the axes, in pixels
STYLES = {"dots": "", "line": "", "dashed": "6 4", "dotted": "2 4"}

SCRIPT = """(function(){
const paths=%(paths)s, says=%(says)s, root=document.getElementById("%(name)s");
const input=root.querySelector("input"), output=root.querySelector("output");
const curves=root.querySelectorAll("path.curve");
function show(){const i=+input.value; output.textContent=says[i];
input.setAttribute("aria-valuetext",says[i]);
curves.forEach((curve,k)=>curve.setAttribute("d",paths[i][k]));}
input.addEventListener("input",show); show();})();"""


class SliderFigure:
    """Display object of a log-log plot with one set of curves per slider position.

    name     id in the page: letters, digits and hyphens, unique in the book
    x        (K,) positive numbers
    curves   {label: (style, color, Y)} with Y (F, K): one row per slider position. Style is dots,
             line, dashed or dotted. Entries that are not positive and finite are not drawn.
    values   (F,) what the slider stands at, one label per position; ``slider`` is its name
    """

    def __init__(self, name, x, curves, values, *, slider, xlabel, ylabel, caption, start=0):
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", name):
            raise ValueError(f"name must be letters, digits and hyphens, got {name!r}")
        x = np.asarray(x, dtype=float)
        if x.ndim != 1 or x.size < 2 or not (np.isfinite(x).all() and x.min() > 0):
            raise ValueError(f"x must hold at least two positive numbers, got {x!r:.80}")
        curves = {
            label: (style, color, np.asarray(Y, dtype=float))
            for label, (style, color, Y) in curves.items()
        }
        for label, (style, _, Y) in curves.items():
            if style not in STYLES:
                raise ValueError(f"unknown style {style!r}: expected one of {', '.join(STYLES)}")
            if Y.shape != (len(values), x.size):
                raise ValueError(
                    f"curve {label!r} must have shape {(len(values), x.size)}, got {Y.shape}"
                )
        if not 0 <= start < len(values):
            raise ValueError(f"start must be a position 0..{len(values) - 1}, got {start!r}")
        everything = np.concatenate([Y.ravel() for _, _, Y in curves.values()])
        drawn = everything[np.isfinite(everything) & (everything > 0)]
        across = _Axis(x, LEFT + 10, RIGHT - 10)
        up = _Axis(drawn, BOTTOM - 10, TOP + 10)
        paths = [
            [_path(across(x), up, Y[frame], style) for style, _, Y in curves.values()]
            for frame in range(len(values))
        ]
        says = [f"{slider} = {value}" for value in values]
        self.caption = caption
        self.text = f"Figure with a slider over {slider}, {len(values)} positions: {caption}"
        self.html = _page(name, curves, paths, says, start, across, up, xlabel, ylabel, caption)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": self.text}


class _Axis:
    """Map positive numbers to pixels, logarithmically, and choose ticks."""

    def __init__(self, values, start, stop):
        self.low, self.high = np.log10(values.min()), np.log10(values.max())
        self.start, self.scale = start, (stop - start) / max(self.high - self.low, 1e-9)

    def __call__(self, value):
        return self.start + (np.log10(value) - self.low) * self.scale

    def ticks(self):
        decades = range(int(np.floor(self.low)), int(np.ceil(self.high)) + 1)
        few = self.high - self.low > 1.5
        candidates = [m * 10.0**k for k in decades for m in ((1,) if few else (1, 2, 5))]
        return [v for v in candidates if self.low - 1e-9 <= np.log10(v) <= self.high + 1e-9]


def _path(px, up, y, style):
    """The d attribute of one curve; values that cannot be drawn interrupt it."""
    pieces, broken = [], True
    for a, value in zip(px, y, strict=True):
        if not (np.isfinite(value) and value > 0):
            broken = True
            continue
        b = up(value)
        if style == "dots":
            pieces.append(f"M{a - 4:.1f},{b:.1f}a4,4 0 1,0 8,0a4,4 0 1,0 -8,0")
        else:
            pieces.append(f"{'M' if broken else 'L'}{a:.1f},{b:.1f}")
        broken = False
    return "".join(pieces)


def _page(name, curves, paths, says, start, across, up, xlabel, ylabel, caption):
    parts = [
        f'<figure class="firal-slider" id="{name}" style="margin:0;max-width:{WIDTH}px">',
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{name}-caption" '
        'style="width:100%;height:auto" font-size="13" fill="currentColor">',
        f'<rect x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" height="{BOTTOM - TOP}" '
        'fill="none" stroke="currentColor" stroke-opacity=".4"/>',
    ]
    for v in across.ticks():
        parts.append(
            f'<text x="{across(v):.1f}" y="{BOTTOM + 17}" text-anchor="middle">{v:g}</text>'
        )
    for v in up.ticks():
        b = up(v)
        parts.append(f'<text x="{LEFT - 6}" y="{b + 4:.1f}" text-anchor="end">{v:g}</text>')
        parts.append(
            f'<path d="M{LEFT},{b:.1f}H{RIGHT}" stroke="currentColor" stroke-opacity=".12"/>'
        )
    middle = (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2
    parts.append(
        f'<text x="{middle[0]}" y="{HEIGHT - 12}" text-anchor="middle">{escape(xlabel)}</text>'
    )
    parts.append(
        f'<text transform="translate(16 {middle[1]}) rotate(-90)" text-anchor="middle">'
        f"{escape(ylabel)}</text>"
    )
    for k, (label, (style, color, _)) in enumerate(curves.items()):
        ink = f'fill="{color}"' if style == "dots" else f'fill="none" stroke="{color}"'
        look = f'{ink} stroke-width="2" stroke-dasharray="{STYLES[style]}"'
        b = TOP + 20 + 19 * k
        sample = _path([LEFT + 14, LEFT + 38], lambda v, b=b: b - 4, np.ones(2), style)
        parts.append(f'<path class="curve" {look} d="{paths[start][k]}"/>')
        parts.append(f'<path {look} d="{sample}"/>')
        parts.append(f'<text x="{LEFT + 50}" y="{b}">{escape(label)}</text>')
    data = {
        "paths": json.dumps(paths, separators=(",", ":")),
        "says": json.dumps(says).replace("</", "<\\/"),
        "name": name,
    }
    parts += [
        "</svg>",
        f'<label for="{name}-input"><output for="{name}-input">{escape(says[start])}</output>'
        "</label>",
        f'<input id="{name}-input" type="range" min="0" max="{len(paths) - 1}" value="{start}" '
        f'step="1" style="width:100%" aria-valuetext="{escape(says[start])}">',
        f'<figcaption id="{name}-caption">{escape(caption)}</figcaption>',
        f"<script>{SCRIPT % data}</script>",
        "</figure>",
    ]
    return "\n".join(parts)
