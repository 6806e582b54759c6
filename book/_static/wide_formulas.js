// A formula wider than its line is made smaller, down to 70 %. One that is still too wide scrolls,
// and fades out at the side where there is more of it (book.css). Tables that are too wide fade
// out, too; formulas in them are left alone.
(() => {
  const SMALLEST = 0.7;
  const WIDE = "span.math, div.math mjx-container, .pst-scrollable-table-container";

  function fit() {
    const formulas = [...document.querySelectorAll("span.math, div.math mjx-container")]
      .filter((formula) => !formula.closest("table"));
    for (const formula of formulas) formula.style.fontSize = "";
    // first all sizes are read, then all are set: the page is laid out twice, not once per formula
    const shares = formulas.map((formula) => formula.clientWidth / formula.scrollWidth);
    formulas.forEach((formula, k) => {
      if (shares[k] < 1) formula.style.fontSize = Math.max(SMALLEST, 0.98 * shares[k]) + "em";
    });
    mark([...formulas, ...document.querySelectorAll(".pst-scrollable-table-container")]);
  }

  function mark(boxes) {
    const cut = boxes.map((box) => box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
    boxes.forEach((box, k) => {
      box.classList.toggle("cut", cut[k]);
      if (cut[k]) box.tabIndex = 0; // the arrow keys scroll it
    });
  }

  addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    fit();
    addEventListener("resize", fit);
    document.addEventListener("toggle", fit, true); // an opened solution
    document.addEventListener("click", (event) => {
      if (event.target.closest?.(".toggle-button, .admonition-title")) setTimeout(fit, 100);
    });
    document.addEventListener("scroll", (event) => {
      if (event.target.matches?.(WIDE)) mark([event.target]);
    }, true);
  });
})();
