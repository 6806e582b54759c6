// A link into something folded opens it. Printing opens everything, in the colors of a light page.
// A link lands as soon as its target and a screen below it are read: by itself a browser waits for
// all of the page and its scripts.
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

  function early() {
    if (document.readyState !== "loading") return;
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const below = target && document.documentElement.scrollHeight - scrollY - target.getBoundingClientRect().top;
    if (below > innerHeight) openTarget({land: true});
    else requestAnimationFrame(early);
  }

  if (location.hash) requestAnimationFrame(early);
  document.addEventListener("readystatechange", () => {
    if (document.readyState === "interactive") openTarget({land: true});
  });
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
