"""The markup of KaTeX with half the bytes, for pages with a thousand formulas.

What the page looks like does not change: classes that no rule of the style sheet names are dropped,
the most frequent styles become classes with a rule here, and MathML in HTML needs no namespace.
"""

import re

SHORT = {  # what a frequent piece of markup becomes, and the rule that keeps its look
    'class="mspace" style="margin-right:0.2778em;"': ("k1", "margin-right:.2778em"),
    'class="mspace" style="margin-right:0.2222em;"': ("k2", "margin-right:.2222em"),
    'class="mspace" style="margin-right:0.1667em;"': ("k3", "margin-right:.1667em"),
    'class="pstrut" style="height:2.7em;"': ("k4", "height:2.7em"),
    'class="pstrut" style="height:3em;"': ("k5", "height:3em"),
    'class="strut" style="height:1em;vertical-align:-0.25em;"': (
        "k6",
        "height:1em;vertical-align:-.25em",
    ),
    'class="sizing reset-size6 size3 mtight"': ("k7", "font-size:.7em"),
    'class="frac-line" style="border-bottom-width:0.04em;"': ("k8", "border-bottom-width:.04em"),
}
# rules of the style sheet that the short names need, too
LIKE = {
    "k1": "display:inline-block",
    "k2": "display:inline-block",
    "k3": "display:inline-block",
    "k4": "overflow:hidden;width:0",
    "k5": "overflow:hidden;width:0",
    "k6": "display:inline-block",
    "k8": "border-bottom-style:solid;display:inline-block;min-height:1px;width:100%",
}
TAG = re.compile(r'<span (?P<attributes>class="(?P<classes>[^"]*)"(?P<rest>[^>]*))>')
NUMBER = re.compile(r"(?<=[:-])0(?=\.\d)")


def rules():
    """The rules for the short names."""
    return "".join(
        f".katex .{name}{{{';'.join(filter(None, (LIKE.get(name), rule)))}}}"
        for name, rule in SHORT.values()
    )


def named(sheet):
    """The classes that a style sheet names."""
    return frozenset(re.findall(r"\.([a-zA-Z][\w-]*)", re.sub(r"url\([^)]*\)", "", sheet)))


def compact(markup, known):
    """The same formula with fewer bytes; ``known`` are the classes of the style sheet."""

    def tag(found):
        if found["attributes"] in SHORT:
            return f"<span class={SHORT[found['attributes']][0]}>"
        classes = " ".join(name for name in found["classes"].split() if name in known)
        rest = NUMBER.sub("", found["rest"]).replace(';"', '"')
        if " " in classes:
            classes = f'"{classes}"'
        return f"<span class={classes}{rest}>" if classes else f"<span{rest}>"

    return TAG.sub(tag, markup).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
