// A formula wider than its line is made smaller, down to 70 %. One that is still too wide scrolls,
// and fades out at the side where there is more of it (book.css). Formulas in tables are left alone.
(() => {
  const SMALLEST = 0.7;

  function fit() {
    const formulas = [...document.querySelectorAll("span.math, div.math mjx-container")]
      .filter((formula) => !formula.closest("table"));
    for (const formula of formulas) formula.style.fontSize = "";
    // first all sizes are read, then all are set: the page is laid out twice, not once per formula
    const shares = formulas.map((formula) => formula.clientWidth / formula.scrollWidth);
    formulas.forEach((formula, k) => {
      if (shares[k] < 1) formula.style.fontSize = Math.max(SMALLEST, 0.98 * shares[k]) + "em";
    });
    mark(formulas);
  }

  function mark(formulas) {
    const cut = formulas.map((f) => f.scrollWidth - f.clientWidth - f.scrollLeft > 2);
    formulas.forEach((formula, k) => {
      formula.classList.toggle("cut", cut[k]);
      if (cut[k]) formula.tabIndex = 0; // the arrow keys scroll it
    });
  }

  addEventListener("load", async () => {
    if (!window.MathJax?.startup) return;
    await MathJax.startup.promise;
    fit();
    addEventListener("resize", fit);
    document.addEventListener("toggle", fit, true); // an opened solution
    document.addEventListener("click", (event) => {
      if (event.target.closest?.(".toggle-button, .admonition-title")) setTimeout(fit, 100);
    });
    document.addEventListener("scroll", (event) => {
      if (event.target.matches?.("span.math, div.math mjx-container")) mark([event.target]);
    }, true);
  });
})();
