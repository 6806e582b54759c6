// A link into something folded opens it. Printing opens everything, in the colors of a light page.
(() => {
  function openTarget() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    let closed = false;
    for (let box = target.parentElement; box; box = box.parentElement) {
      if (box.matches("details:not([open])")) closed = box.open = true;
      if (box.matches(".toggle-hidden")) {
        closed = true;
        box.querySelector(":scope > .admonition-title").click();
      }
    }
    if (closed) target.scrollIntoView({behavior: "instant"});
  }

  addEventListener("hashchange", () => openTarget());
  addEventListener("load", () => openTarget());
  const page = document.documentElement.dataset;
  let theme;
  addEventListener("beforeprint", () => {
    for (const box of document.querySelectorAll("details.fold")) box.open = true;
    theme = page.theme;
    page.theme = "light";
  });
  addEventListener("afterprint", () => (page.theme = theme));
})();
