// The search page: titles and summaries first, words that mean the same, answers to common questions.
// On the document, and before the listener of Sphinx: one on the window would come too late.
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined" || typeof FIRAL_SEARCH === "undefined") return;
  const { same, questions, summaries } = FIRAL_SEARCH;
  const stemmer = new Stemmer();
  const stem = (word) => stemmer.stemWord(word.toLowerCase());
  const words = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || []).map(stem);
  const EMPTY = new Set(words("a an and are can do does for how i if in is it of on or the to use what where which with"));
  const groups = same.map((group) => new Set(group.map(stem)));
  const meanings = (word) => new Set([word, ...groups.filter((g) => g.has(word)).flatMap((g) => [...g])]);
  const escaped = (text) => text.replace(/[&<>"]/g, (c) => "&#" + c.charCodeAt(0) + ";");

  // formulas in headings: the index has their source
  const SIGNS = { eta: "η", zeta: "ζ", lambda: "λ", rho: "ρ", sigma: "σ", theta: "θ", sqrt: "√", times: "×", fir: "FIR" };
  const readable = (text) => text.replace(/\\(\w+?)(?![a-zA-Z])/g, (_, name) => SIGNS[name] || name).replace(/[{}$]/g, "").replace(/: +\((.+)\)$/, ": exercise, $1");

  // how well a place fits: each word of the question counts where it stands most prominently
  function fit(asked, title, summary) {
    const [head, rest] = [words(title), words(summary || "")];
    let score = 0;
    for (const word of asked) {
      const near = meanings(word);
      if (head.includes(word)) score += 10;
      else if (head.some((w) => near.has(w))) score += 6;
      else if (head.some((w) => w.startsWith(word) && word.length > 2)) score += 5;
      else if (rest.includes(word)) score += 4;
      else if (rest.some((w) => near.has(w))) score += 2;
      else return 0;
    }
    return score + 5 / (1 + head.length); // short titles say it best
  }

  const plain = Search._performSearch;
  Search._performSearch = (query, ...rest) => {
    const asked = words(query).filter((word) => !EMPTY.has(word));
    const { docnames, filenames, titles, alltitles } = Search._index;
    const file = Object.fromEntries(docnames.map((name, k) => [name, filenames[k]]));
    const found = new Map(); // page and anchor -> result
    const add = (page, title, anchor, about, score) => {
      const key = page + anchor;
      if (score > 0 && (!found.has(key) || found.get(key)[4] < score)) {
        found.set(key, [page, escaped(readable(title)), anchor, about && escaped(about), score, file[page]]);
      }
    };
    if (asked.length) {
      for (const { words: wanted, page, title } of questions) {
        const near = asked.map(meanings);
        const all = wanted.every((w) => near.some((m) => m.has(stem(w))));
        const [name, anchor] = page.split("#");
        // as many words of the question as possible, and none that is asked for in vain
        const share = asked.filter((w) => wanted.some((v) => meanings(stem(v)).has(w))).length / asked.length;
        if (all) add(name, title, anchor ? "#" + anchor : "", summaries[name], 100 * share + wanted.length);
      }
      docnames.forEach((name, k) => {
        const score = fit(asked, titles[k], summaries[name]);
        add(name, titles[k], "", summaries[name], score && score + 5);
      });
      for (const [title, places] of Object.entries(alltitles)) {
        const score = fit(asked, title);
        for (const [k, id] of places) {
          if (id && titles[k] !== title) add(docnames[k], `${titles[k]}: ${title}`, "#" + id, summaries[docnames[k]], score);
        }
      }
    }
    const first = [...found.values()].sort((a, b) => a[4] - b[4]).slice(-12);
    const taken = new Set(first.map(([page, , anchor]) => page + anchor));
    const others = plain(query, ...rest).filter(([page, , anchor]) => !taken.has(page + anchor));
    // a result without a description would be fetched, which a page on the disk must not
    for (const item of others) item[1] = readable(item[1]);
    for (const item of others) item[3] ||= escaped(summaries[item[0]] || titles[docnames.indexOf(item[0])] || "");
    return [...others, ...first]; // the last is shown first
  };
});
