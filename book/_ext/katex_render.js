// Runs when the book is built, inside QuickJS, after KaTeX itself. The answer is JSON: the markup
// of a formula and how wide it is in em, or what is wrong with it.

// sizes of TeX, from \tiny to \Huge: KaTeX marks them as "sizing reset-size6 size3"
const SIZES = [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.44, 1.728, 2.074, 2.488];
const EMPTY = new Set(["katex-mathml", "strut", "pstrut", "frac-line", "accent-body", "llap", "rlap", "vlist-s"]);
const LENGTHS = ["width", "minWidth", "marginLeft", "marginRight", "paddingLeft"];

// The width of a box of KaTeX: its parts beside each other, or the widest of those in a pile.
function width(node) {
  const classes = node.classes || [];
  if (classes.some((name) => EMPTY.has(name))) return 0;
  if (classes.includes("nulldelimiter")) return 0.12;
  const style = node.style || {};
  let sum = 0;
  for (const name of LENGTHS) if (/em$/.test(style[name] || "")) sum += parseFloat(style[name]);
  // words and numbers are one node that has the width of its first letter
  const letters = (node.text || "").length;
  if (node.text !== undefined) return sum + (letters > 1 ? letters / 2 : node.width || 0) + (node.italic || 0);
  const parts = (node.children || []).map(width);
  const pile = classes.includes("vlist") && parts.length > 0;
  sum += pile ? Math.max(...parts) : parts.reduce((a, b) => a + b, 0);
  const reset = classes.map((name) => /^reset-size(\d+)$/.exec(name)).find(Boolean);
  const size = classes.map((name) => /^size(\d+)$/.exec(name)).find(Boolean);
  return reset && size ? (sum * SIZES[size[1] - 1]) / SIZES[reset[1] - 1] : sum;
}

function found(node, name) {
  if ((node.classes || []).includes(name)) return [node];
  return (node.children || []).flatMap((child) => found(child, name));
}

function render(tex, displayMode, macros) {
  const options = { displayMode, throwOnError: true, strict: "ignore", output: "htmlAndMathml" };
  try {
    const tree = katex.__renderToDomTree(tex, { ...options, macros: JSON.parse(macros) });
    const bases = found(tree, "base").map(width);
    return JSON.stringify({
      markup: tree.toMarkup(),
      width: bases.reduce((a, b) => a + b, 0),
      widest: Math.max(0, ...bases),
    });
  } catch (error) {
    return JSON.stringify({ error: error.message });
  }
}
