"use strict";
// Tables sort by a click on a heading: up, down, and back to the order they came in.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const headings = [...table.tHead.rows[0].cells];
  const key = (row, place) => {
    const cell = row.cells[place];
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const text = cell.textContent;
    return text === "–" || text === "n/a" || text === "" ? null : text;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true });
  headings.forEach((heading, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "none" };
      const order = next[heading.ariaSort] ?? "ascending";
      for (const each of headings) each.ariaSort = "none";
      heading.ariaSort = order;
      const keyed = original.map((row) => [key(row, place), row]);
      if (order !== "none") {
        const sign = order === "ascending" ? 1 : -1;
        keyed.sort(([a], [b]) =>
          a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b));
      }
      body.append(...keyed.map(([, row]) => row));
    });
  });
}
