// The scoreboard: find rows by a word or a kind, and sort a table by one of its columns.
addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("form.score-filter");
  if (!form) return;
  const rows = [...document.querySelectorAll("tr.score")];
  const [word, kind, said] = [form.querySelector("input"), form.querySelector("select"), form.querySelector("output")];

  function filter() {
    const kinds = kind.value.split(" ").filter(Boolean);
    const wanted = word.value.trim().toLowerCase();
    const fits = (row) =>
      (!kinds.length || kinds.some((k) => row.classList.contains("of-" + k))) &&
      (!wanted || row.textContent.toLowerCase().includes(wanted));
    for (const row of rows) row.hidden = !fits(row);
    for (const table of new Set(rows.map((row) => row.closest("section")))) {
      table.hidden = ![...table.querySelectorAll("tr.score")].some((row) => !row.hidden);
    }
    if (kinds.length || wanted) for (const box of document.querySelectorAll("details.fold")) box.open = true;
    said.textContent = rows.filter((row) => !row.hidden).length + " of " + rows.length + " items";
  }

  function sort(table, column, button) {
    const up = button.getAttribute("aria-sort") !== "ascending";
    for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
    button.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = table.querySelector("tbody");
    const text = (row) => row.cells[column].textContent.trim();
    const order = (a, b) => text(a).localeCompare(text(b), "en", { numeric: true });
    [...body.rows].sort((a, b) => (up ? order(a, b) : order(b, a))).forEach((row) => body.append(row));
  }

  for (const table of new Set(rows.map((row) => row.closest("table")))) {
    [...table.querySelectorAll("thead th")].forEach((head, column) => {
      const button = document.createElement("button");
      button.append(...head.childNodes);
      button.title = "Sort by this column";
      button.onclick = () => sort(table, column, head);
      head.append(button);
    });
  }
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  filter();
});
