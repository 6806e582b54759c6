// What a page looks like in the browser; check_pages.py evaluates it and calls these functions.
window.probe = (() => {
  const article = () => document.querySelector("article") || document.body;
  const shown = (box) => box.getClientRects().length > 0;
  const name = (box) => {
    const mark = box.id ? `#${box.id}` : [...box.classList].slice(0, 2).map((c) => `.${c}`).join("");
    return `${box.tagName.toLowerCase()}${mark}`;
  };

  // letters of text and of drawings in the page, {where: pixels}; formulas have their own rules
  const letters = () => {
    const found = {};
    const walk = document.createTreeWalker(article(), NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const box = node.parentElement;
      if (!node.data.trim() || !shown(box)) continue;
      if (box.closest(".katex, script, style, .visually-hidden, .sr-only")) continue;
      const style = getComputedStyle(box);
      if (style.visibility === "hidden") continue;
      const matrix = box.getScreenCTM ? box.getScreenCTM() : null;
      const size = parseFloat(style.fontSize) * (matrix ? Math.hypot(matrix.a, matrix.b) : 1);
      const key = name(box);
      found[key] = Math.min(found[key] ?? Infinity, size);
    }
    return found;
  };

  // pictures: address, width on the screen, width of the file
  const pictures = () =>
    [...article().querySelectorAll("img")]
      .filter((image) => image.clientWidth)
      .map((image) => [image.src, image.clientWidth, image.naturalWidth]);

  const overflow = () => {
    const root = document.documentElement;
    return root.scrollWidth - root.clientWidth;
  };

  const scrolls = (box) => /auto|scroll/.test(getComputedStyle(box).overflowX);

  // formulas that reach beyond the text or are cut off, and cannot be scrolled
  const formulas = () => {
    const edge = article().getBoundingClientRect().right + 2;
    return [...article().querySelectorAll(".katex")]
      .filter((formula) => {
        if (!shown(formula)) return false;
        const base = [...formula.querySelectorAll(".base")].filter(shown);
        const right = Math.max(...(base.length ? base : [formula])
          .map((part) => part.getBoundingClientRect().right));
        for (let box = formula; box && box !== article(); box = box.parentElement) {
          if (scrolls(box)) return false;
          const hides = getComputedStyle(box).overflowX !== "visible";
          if (hides && right > box.getBoundingClientRect().right + 2) return true;
        }
        return right > edge;
      })
      .map((formula) => formula.textContent.slice(0, 30));
  };

  const height = () => article().scrollHeight;

  // what axe has against our part of the page; `rules` may name the only ones
  const violations = async (rules) => {
    const options = { resultTypes: ["violations"], preload: false };
    if (rules.length) options.runOnly = { type: "rule", values: rules };
    const context = { include: [article()], exclude: [[".katex-html"]] };
    const found = await axe.run(context, options);
    return found.violations.map(
      (v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].target.join(" ")}`.slice(0, 120));
  };

  return { letters, pictures, overflow, formulas, height, violations };
})();
