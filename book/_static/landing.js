// A link into a page lands before the page is laid out. Until then only the section it leads to and
// a screen below it are; book.css hides the rest of the text. Then all of it appears, and the place
// stays where it is on the screen. Without this a slow processor lays out and paints everything
// above the place first, several times while the page is read.
(() => {
  const ENOUGH = 400; // elements below the target, about a screen
  const root = document.documentElement;
  const all = document.getElementsByTagName("*");
  const target = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));
  let first = 0; // how many elements there were when the target was first seen
  let landed = false;
  let fonts = false; // one that comes after the landing moves lines

  function land() {
    target()?.scrollIntoView({ behavior: "instant" });
  }

  function reveal() {
    landed = true;
    if (!root.classList.contains("landing")) return;
    root.classList.remove("landing");
    land();
  }

  // Marks what is laid out at once: the section of the target, and what follows until a screen is
  // full, which it tells. Undefined if the target is not in a part of the text.
  function mark() {
    const text = document.querySelector(".bd-article > section");
    const place = target();
    let part = place;
    if (!text?.contains(part) || part === text || part.closest(".dropdown")) return undefined;
    for (; part.parentElement !== text; part = part.parentElement) {
      if (part.parentElement.matches("details")) part.parentElement.open = true;
    }
    for (; part; part = part.nextElementSibling) {
      part.classList.add("landing-now");
      const end = part.getBoundingClientRect().bottom;
      if (end - place.getBoundingClientRect().top > innerHeight) return true;
    }
    return false;
  }

  function look() {
    if (landed) return;
    const loading = document.readyState === "loading";
    if (!first && target()) first = all.length;
    if (!fonts && loading) return;
    if (loading && (!first || all.length < first + ENOUGH)) return requestAnimationFrame(look);
    const full = mark();
    if (full === undefined) return reveal();
    land();
    if (!full && loading) return requestAnimationFrame(look);
    landed = true;
    requestAnimationFrame(() => setTimeout(painted));
  }

  // in a frame of its own, behind what scripts move when the page has been read
  function painted() {
    const later = () => requestAnimationFrame(() => setTimeout(reveal));
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", later);
    else later();
  }

  if (!location.hash) return;
  root.classList.add("landing");
  // hidden text asks for no fonts
  const wanted = ["Main", "Math", "AMS", "Size1", "Size2"].map((name) =>
    document.fonts.load(`${name === "Math" ? "italic " : ""}16px KaTeX_${name}`));
  Promise.allSettled([...wanted, document.fonts.load("bold 16px KaTeX_Main")]).then(() => {
    fonts = true;
    look();
  });
  document.addEventListener("readystatechange", look);
  addEventListener("load", reveal);
})();
