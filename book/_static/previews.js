// Pointing at a link to a statement, an equation or a reference shows it (book/_ext/previews.py).
(() => {
  const pages = new Map(); // page -> promise of {anchor: markup}
  const answers = new Map();
  let box = null;
  let timer = 0;
  let cited = null; // the citation that is shown, meanwhile without its title

  window.firalPreviews = (page, found) => answers.get(page)?.(found);

  function load(page) {
    if (!pages.has(page)) {
      pages.set(page, new Promise((done) => {
        answers.set(page, done);
        const script = document.createElement("script");
        script.src = (document.documentElement.dataset.content_root || "../") + `_static/previews/${page}.js`;
        script.onerror = () => done({});
        document.head.append(script);
      }));
    }
    return pages.get(page);
  }

  // (page, anchor) of a link to a place with a preview
  function place(link) {
    const url = new URL(link.href, location.href);
    const name = /\/book\/([\w-]+)\.html$/.exec(url.pathname);
    const anchor = decodeURIComponent(url.hash.slice(1));
    const known = /^(equation-|(asm|lem|thm|prop|def|cor|rem|alg|our)-)/.test(anchor);
    return name && known ? [name[1], anchor] : null;
  }

  function hide() {
    clearTimeout(timer);
    box?.remove();
    box = null;
    if (cited) cited.link.title = cited.text;
    cited = null;
  }

  // a citation carries its reference as a title, which comes late and not to the keyboard
  const reference = (link) => (link.hash && /\/bibliography\.html$/.test(link.pathname) && link.title) || null;

  async function show(link) {
    const text = reference(link);
    const [page, anchor] = place(link) || [];
    const markup = text ? "<p></p>" : (await load(page))[anchor];
    if (!markup || !link.matches(":hover, :focus")) return;
    hide();
    box = document.createElement("div");
    box.className = "preview";
    box.setAttribute("aria-hidden", "true"); // a screen reader follows the link instead
    box.innerHTML = markup;
    if (text) {
      cited = { link, text };
      link.title = "";
      box.firstChild.textContent = text;
    }
    document.body.append(box);
    const at = link.getBoundingClientRect();
    const size = box.getBoundingClientRect();
    const below = at.bottom + 8 + size.height < innerHeight || at.top < size.height + 8;
    box.style.top = scrollY + (below ? at.bottom + 8 : at.top - 8 - size.height) + "px";
    box.style.left = scrollX + Math.max(8, Math.min(at.left, innerWidth - size.width - 24)) + "px";
  }

  function soon(event) {
    const link = event.target.closest?.("article a.reference.internal");
    if (!link || !(place(link) || reference(link))) return;
    hide();
    timer = setTimeout(show, 200, link);
  }

  // a mouse, not a finger: asked at every move, since a device may have both
  document.addEventListener("pointerover", (event) => event.pointerType === "mouse" && soon(event));
  document.addEventListener("pointerout", (event) => event.target.closest?.("a.reference.internal") && hide());
  document.addEventListener("focusin", (event) => event.target.matches?.(":focus-visible") && soon(event));
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
})();
