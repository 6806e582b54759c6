"""The style sheet of the report: light and dark, wide and narrow."""

STYLE = """
:root { color-scheme: light dark; --ink: #1d2129; --soft: #5b6472; --page: #fff; --card: #f4f5f7;
  --line: #d5d9e0; --accent: #0b62a8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ec; --soft: #a3abb8; --page: #15181d;
  --card: #1f242c; --line: #39414d; --accent: #6fb3ea; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-top: 1px solid var(--line);
  padding-top: 1rem; }
h3 { font-size: 1rem; margin: 0 0 .4rem; overflow-wrap: anywhere; }
p { margin: .4rem 0; }
.numbers { display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; list-style: none; }
.numbers li { background: var(--card); border-radius: .5rem; padding: .4rem .8rem; }
.numbers b { font-size: 1.2rem; }
.cards { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); }
article { background: var(--card); border-radius: .5rem; padding: .8rem; font-size: .9rem;
  min-width: 0; }
article p { color: var(--soft); }
article .shown { color: var(--ink); white-space: pre-wrap; overflow-wrap: anywhere; }
article img { max-width: 100%; min-height: 5rem; max-height: 14rem; border-radius: .25rem; }
.p { display: grid; grid-template-columns: minmax(0, 1fr) 5rem 3rem; gap: .4rem;
  align-items: center; }
.p span { overflow-wrap: anywhere; }
.p span:last-child { text-align: right; }
meter { width: 100%; }
figure { margin: .5rem 0; }
svg { max-width: 100%; height: auto; }
figure svg { background: var(--card); border-radius: .5rem; width: 100%; }
svg text { fill: var(--soft); font-size: 13px; }
.end { text-anchor: end; } .mid { text-anchor: middle; }
.pool { fill: var(--soft); opacity: .35; }
.ring { fill: none; stroke: var(--ink); stroke-width: 2; }
.grid { stroke: var(--line); } .bar { stroke: var(--accent); stroke-width: 2; opacity: .6; }
.curve { fill: none; stroke: var(--accent); stroke-width: 2; } .dot { fill: var(--accent); }
.c0 { fill: #0072b2; } .c1 { fill: #e69f00; } .c2 { fill: #009e73; } .c3 { fill: #cc79a7; }
.c4 { fill: #d55e00; } .c5 { fill: #56b4e9; } .c6 { fill: #f0e442; } .c7 { fill: #8a8f99; }
circle[class^=c], polygon[class^=c] { stroke: var(--page); stroke-width: 1; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; list-style: none; }
.legend svg { vertical-align: -2px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem .25rem 0; text-align: left; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
"""
