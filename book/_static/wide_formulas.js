// What is too wide for the screen scrolls: formulas that do not fit at 70 % of their size, and
// tables. Each fades out at the side where there is more of it (book.css), and the arrow keys move it.
(() => {
  const BOXES = "div.math > .katex-display, span.math.wide, .pst-scrollable-table-container";

  function mark(boxes) {
    // first all sizes are read, then all marks are set: the page is laid out once
    const cut = boxes.map((box) => box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
    boxes.forEach((box, k) => {
      box.classList.toggle("cut", cut[k]);
      if (cut[k]) box.tabIndex = 0;
    });
  }

  const all = () => mark([...document.querySelectorAll(BOXES)].filter((box) => box.clientWidth));

  addEventListener("load", () => {
    all();
    addEventListener("resize", all);
    document.addEventListener("toggle", all, true); // an opened solution
    document.addEventListener("click", (event) => {
      if (event.target.closest?.(".toggle-button, .admonition-title")) setTimeout(all, 100);
    });
    document.addEventListener("scroll", (event) => {
      if (event.target.matches?.(BOXES)) mark([event.target]);
    }, true);
  });
})();
