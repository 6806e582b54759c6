// A link into something folded opens it, and printing opens everything. A link lands as soon as the
// page is read: by itself a browser waits until all scripts have run.
(() => {
  function openTarget({land = false} = {}) {
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
    if (closed || land) target.scrollIntoView({behavior: "instant"});
  }

  document.addEventListener("readystatechange", () => {
    if (document.readyState === "interactive") openTarget({land: true});
  });
  addEventListener("hashchange", () => openTarget());
  addEventListener("load", () => openTarget());
  addEventListener("beforeprint", () => {
    for (const box of document.querySelectorAll("details.fold")) box.open = true;
  });
})();
