// The install commands name the files of this very book: by the address of the page, or, opened
// from a disk, by their place on it. Without a script they work inside the folder of the book.
document.querySelectorAll(".install-line pre").forEach((block) => {
  const found = block.textContent.match(/"\.\/downloads\/([^"[]+)(\[\w+\])?"/);
  if (!found) return;
  const address = new URL("../downloads/" + found[1], document.location).href;
  block.textContent = `pip install "firal${found[2] || ""} @ ${address}"\n`;
});
