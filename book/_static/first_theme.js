// The theme of the page from its first moment. The theme's own script decides it at the end, when
// no reader has chosen one before: then borders appear and the whole page is styled once more.
if (!["light", "dark"].includes(document.documentElement.dataset.theme)) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
